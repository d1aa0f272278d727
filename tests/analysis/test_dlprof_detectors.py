from __future__ import annotations

import dataclasses

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.analysis.dlprof_detectors import detect
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.drafts import Call, DraftOp, Work, profile_of

BUSY = [Work("kernel", (0, 900), (0, 1))]


def _profile(
    data_type: str = "float16",
    work: list[Work] | None = None,
    devices: tuple[int, ...] = (0,),
    op: str = "LINEAR",
) -> Profile:
    """One eligible op on a busy GPU, of a half type: nothing to say but that iterations and DALI are missing."""
    call = Call(0, 1_000, BUSY if work is None else work)
    draft = DraftOp(f"{op}_1", f"/net/{op.lower()}", [call], Eligibility.ELIGIBLE, data_type)
    return profile_of([draft], devices=devices, dlprof_markers=True, source="whole_capture")


def _detected(profile: Profile) -> list[str]:
    return [row.detector for row in detect(profile, aggregate(profile))]


def test_dlprofs_rows_come_in_its_order() -> None:
    """All of them for one idle, float32 profile with convolutions and little memory used."""
    profile = _profile("float32", work=[Work("kernel", (0, 1), (0, 1))], op="CONV2D")
    profile = dataclasses.replace(profile, gpu_memory_bytes=(1_000, 235))
    profile.model_config.cudnn_benchmark_disabled = 1
    rows = detect(profile, aggregate(profile))
    assert [row.detector for row in rows] == [
        "amp_detector",
        "underutilized_gpu_detector",
        "dataloader_detector",
        "no_iterations_detector",
        "cudnn_benchmark_detector",
        "batch_size_detector",
    ]
    assert rows[0].javascript_function == "ShowBadDataTypeOps"
    assert rows[1].problem.startswith("The GPU is underutilized: Only 0.1% of")
    assert "at 99.9%" in rows[1].recommendation
    assert "key op  not found" in rows[3].problem
    assert rows[5].problem == "GPU Memory is underutilized: Only 23% of GPU Memory is used"
    assert "by 4x" in rows[5].recommendation


def test_a_half_type_anywhere_silences_the_amp_detector() -> None:
    """It says that none is using FP16."""
    assert "amp_detector" not in _detected(_profile("float16"))
    assert "amp_detector" in _detected(_profile("float32"))


def test_an_idle_gpu_is_named_in_the_place_of_low_utilisation() -> None:
    """Both would be said of the same GPUs."""
    profile = _profile(devices=(0, 3, 4))
    rows = [row for row in detect(profile, aggregate(profile)) if row.detector == "underutilized_gpu_detector"]
    assert [row.problem for row in rows] == ["The following GPU device IDs are not being used: 3, 4"]


@pytest.mark.parametrize(("used", "fires"), [(0, False), (250, True), (251, False)])
def test_little_memory_is_up_to_a_quarter(used: int, fires: bool) -> None:
    """And nothing is said where it was not measured."""
    profile = dataclasses.replace(_profile(), gpu_memory_bytes=(1_000, used))
    assert ("batch_size_detector" in _detected(profile)) == fires


@pytest.mark.parametrize(("busy", "fires"), [(499, True), (500, False)])
def test_the_gpu_is_underutilised_below_half(busy: int, fires: bool) -> None:
    """Of the wall time of 1,000 ns."""
    profile = _profile(work=[Work("kernel", (0, busy), (0, 1))])
    assert ("underutilized_gpu_detector" in _detected(profile)) == fires
