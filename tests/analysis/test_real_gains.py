"""What mixed precision gains on real profiles: what a replay of their traces with shorter kernels tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tensorboard_plugin_dlprof.samples.job import Plan, write_job
from tensorboard_plugin_dlprof.units import short_duration
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
    assert gain["none_while"] == limits
    assert gain["cannot_tell"].startswith(f"none while {limits}: kernels get ")


@pytest.mark.parametrize("pattern", ["torch/v100_resnet50_memory/*.gz", "torch/v100_resnet50_oldest/*.gz"])
def test_fewer_kernels_gain_at_most_what_the_host_takes_for_them_where_the_data_loader_limits(pattern: str) -> None:
    """It loads on the thread that launches. A replay of the first without 0.85 of these kernels gains 4.9 ms if the
    host saves their calls alone, 31 ms if it saves all from one launch to the next; with shorter ones, nothing."""
    (source,) = shared_data().glob(pattern)
    gain = _gain(source, "fusion_detector")
    assert gain["low_ns"] is None
    assert gain["cannot_tell"].startswith(f"at most {short_duration(gain['most_ns'])}, ")
    assert 31_900_000 < gain["most_ns"] < 33_000_000
    assert gain["cannot_tell"].endswith(" nothing while the data loader limits.")


@pytest.mark.parametrize(
    ("pattern", "low_ms", "high_ms"),
    [
        ("nsight/h100_2gpu_torchrun_nccl/*.sqlite", 51.2, 100),
        ("compare/a100_batch_series/batch_size_128/*.json.gz", 6.66, 20.7),
    ],
)
def test_fewer_kernels_gain_their_launches_where_launching_limits(pattern: str, low_ms: float, high_ms: float) -> None:
    """A replay of the traces without 0.3 and 0.85 of these kernels and their launches gains the limits; with shorter
    ones alone, nothing. Of idle time that goes with them, which it has too, the finding does not speak."""
    (source,) = shared_data().glob(pattern)
    finding = _finding(source, "fusion_detector")
    low_ns, high_ns = finding["gain"]["low_ns"], finding["gain"]["high_ns"]
    assert (low_ms * 1e6) / 2 < low_ns < 0.31 * finding["time_ns"]
    assert high_ns < high_ms * 1e6
    assert high_ns == pytest.approx(0.85 * finding["time_ns"], rel=0.2)
    assert "what the host takes to launch them" in finding["gain"]["how"]


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
