from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.analysis.dlprof_detectors import detect
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.profile.tables import Profile, TimeSpans
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
    profile = msgspec.structs.replace(profile, gpu_memory_bytes=(1_000, 235))
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


@pytest.mark.parametrize(
    ("loading", "says"),
    [(0, "No DALI ops detected"), (49, None), (51, "5.1% of the profiled time is spent in the data loader")],
)
def test_dali_is_proposed_without_a_loader_and_for_a_slow_one(loading: int, says: str | None) -> None:
    """A loader that keeps up is no problem: the GPU is busy for 900 of 1,000 ns, and waits from 900 on."""
    profile = msgspec.structs.replace(
        _profile(), data_loader=TimeSpans(np.array([900], np.int64), np.array([900 + loading], np.int64))
    )
    rows = [row for row in detect(profile, aggregate(profile)) if row.detector == "dataloader_detector"]
    assert [row.problem[: len(says)] for row in rows if says] == ([says] if says else [])
    assert len(rows) == (says is not None)
    assert all("DALI" in row.recommendation for row in rows)


def test_who_has_dali_is_told_of_a_slow_loader_alone() -> None:
    """Its op is in the profile."""
    profile = _profile(op="DALIITERATOR")
    assert "dataloader_detector" not in _detected(profile)
    slow = msgspec.structs.replace(
        profile, data_loader=TimeSpans(np.array([900], np.int64), np.array([1_000], np.int64))
    )
    rows = [row for row in detect(slow, aggregate(slow)) if row.detector == "dataloader_detector"]
    assert [row.recommendation for row in rows] == ["Reduce the work of the input pipeline, or give it more workers."]


def test_the_largest_of_what_the_gpu_waits_for_is_named() -> None:
    """The loader where it takes more than the CPU's ops do."""
    profile = msgspec.structs.replace(
        _profile(work=[Work("kernel", (0, 100), (0, 1))]),
        data_loader=TimeSpans(np.array([100], np.int64), np.array([900], np.int64)),
    )
    row = next(row for row in detect(profile, aggregate(profile)) if row.detector == "underutilized_gpu_detector")
    assert row.recommendation.startswith("Dataloader has the highest (non-GPU) usage at 80.0%. ")


@pytest.mark.parametrize(("used", "fires"), [(0, False), (250, True), (251, False)])
def test_little_memory_is_up_to_a_quarter(used: int, fires: bool) -> None:
    """And nothing is said where it was not measured."""
    profile = msgspec.structs.replace(_profile(), gpu_memory_bytes=(1_000, used))
    assert ("batch_size_detector" in _detected(profile)) == fires


@pytest.mark.parametrize(("busy", "fires"), [(499, True), (500, False)])
def test_the_gpu_is_underutilised_below_half(busy: int, fires: bool) -> None:
    """Of the wall time of 1,000 ns."""
    profile = _profile(work=[Work("kernel", (0, busy), (0, 1))])
    assert ("underutilized_gpu_detector" in _detected(profile)) == fires
