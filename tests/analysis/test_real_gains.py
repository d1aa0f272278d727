"""What mixed precision gains on real profiles: what a replay of their traces with shorter kernels tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.diagnosis.headings import NONE_YET
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tests.shared_data import REPOSITORY, shared_data


def _finding(source: Path, rule: str) -> dict[str, Any]:
    told = diagnose_source(source, "typical", ImportOptions(), lambda _stage, _fraction: None)
    finding: dict[str, Any] = next(each for each in told["findings"] if each["rule"] == rule)
    return finding


def _gain(source: Path, rule: str = "amp_detector") -> dict[str, Any]:
    gain: dict[str, Any] = _finding(source, rule)["gain"]
    return gain


@pytest.mark.parametrize(
    ("pattern", "limits"),
    [
        ("torch/v100_resnet50_memory/*.gz", "the data loader limits"),
        ("torch/t4_fp32/*.json", "the data loader limits"),
        ("torch/h100_transformer_steps/*.json", "launching limits"),
    ],
)
def test_shorter_kernels_gain_nothing_where_the_gpu_waits_for_a_host_that_never_waits(
    pattern: str, limits: str
) -> None:
    """What limits is what the headline says."""
    (source,) = shared_data().glob(pattern)
    gain = _gain(source)
    assert gain["low_ns"] is None
    assert gain["cannot_tell"].startswith(f"{NONE_YET}{limits}: kernels get ")


@pytest.mark.parametrize("pattern", ["torch/v100_resnet50_memory/*.gz", "torch/v100_resnet50_oldest/*.gz"])
def test_fewer_kernels_gain_at_most_what_the_host_takes_for_them_where_the_data_loader_limits(pattern: str) -> None:
    """It loads on the thread that launches. A replay of the first without 0.85 of these kernels gains 4.9 ms if the
    host saves their calls alone, 31 ms if it saves all from one launch to the next; with shorter ones, nothing."""
    (source,) = shared_data().glob(pattern)
    gain = _gain(source, "fusion_detector")
    assert gain["low_ns"] is None
    assert gain["cannot_tell"].startswith("at most 32.")
    assert gain["cannot_tell"].endswith(" nothing while the data loader limits.")


def test_fewer_kernels_gain_their_launches_where_launching_limits() -> None:
    """A third of the kernels' time is before the GPU waits for launches, which take less than these kernels."""
    (source,) = shared_data().glob("nsight/h100_2gpu_torchrun_nccl/*.sqlite")
    finding = _finding(source, "fusion_detector")
    assert 0.6 * 0.3 * finding["time_ns"] < finding["gain"]["low_ns"] < 0.3 * finding["time_ns"]
    assert "what the host takes to launch them" in finding["gain"]["how"]


def test_fewer_kernels_gain_at_most_what_the_gpu_waits_for_launches() -> None:
    """Before the host falls behind it was far ahead: launching what goes takes longer than the GPU waits for all of
    it, of which nobody knows how much goes with it. It is the time that launching sooner is about, too."""
    (source,) = shared_data().glob("compare/a100_batch_series/batch_size_128/*.json.gz")
    fusion, launch = _finding(source, "fusion_detector"), _finding(source, "launch_detector")
    assert fusion["gain"]["low_ns"] is fusion["gain"]["high_ns"] is None
    assert fusion["gain"]["cannot_tell"].startswith("at most 3.12 ms, for which the GPU waits for launches; ")
    assert launch["time_ns"] == 3_115_804
    assert "launch_detector" in fusion["overlaps_with"]
    assert "fusion_detector" in launch["overlaps_with"]


@pytest.mark.parametrize("pattern", ["torch/v100_resnet_ns_times/*.gz", "torch/t4_vgg16_minimal/*.json"])
def test_shorter_kernels_gain_where_the_gpu_has_work(pattern: str) -> None:
    """The host is far ahead."""
    (source,) = shared_data().glob(pattern)
    assert _gain(source)["low_ns"] is not None


def test_shorter_kernels_gain_where_each_step_ends_in_a_wait_for_the_gpu() -> None:
    """The sample of JAX: its data loader runs when ``block_until_ready`` returns, so nothing of a gain is lost."""
    gain = _gain(REPOSITORY / "tensorboard_plugin_dlprof/samples/data/generated-transformer-jax.xplane.pb")
    assert gain["share_low"] == pytest.approx(0.272, abs=0.01)
    assert gain["share_high"] == pytest.approx(0.321, abs=0.01)
    assert "limit" not in gain["how"]


def test_shorter_kernels_gain_where_all_were_launched_long_before(tmp_path: Path) -> None:
    """The sample of a job: its host launches an iteration in 85 us, and the next one when the GPU is done."""
    gain = _gain(write_job(Plan(), tmp_path)[0], "older_attention_detector")
    assert gain["cannot_tell"] is None
    assert gain["low_ns"] > 0


def test_communication_of_one_of_several_ranks_says_that_waits_are_in_its_gain(tmp_path: Path) -> None:
    """How long they are shows beside the other ranks' recordings."""
    finding = _finding(write_job(Plan(), tmp_path)[0], "communication_detector")
    assert finding["gain"]["low_ns"] > 0
    assert finding["title"].endswith(" Waits for other ranks, which cannot be hidden, are not taken out.")
