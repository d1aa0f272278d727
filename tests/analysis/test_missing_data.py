"""What a profile does not tell is asked for, or said."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof.analysis.tables import Severity
from tensorboard_plugin_dlprof.importers.kineto.tables import COUNTER_RANGES
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.analysis.cases import (
    CASES,
    good,
    graphs,
    idle,
)
from tests.analysis.scenes import A100, STEP_NS, Step, scene, verdict


def test_graphs_recorded_as_a_whole_hide_their_kernels() -> None:
    """Six tenths of the GPU's time: what is lost, with which option it would be there, and which op launches them."""
    profile = graphs(0.6)
    (finding,) = verdict(profile).findings
    assert finding.problem_text().startswith("1 launch of CUDA graphs, 600 µs or 60 % of the kernel time, was recorded")
    assert "Tensor Cores" in finding.problem_text()
    assert "--cuda-graph-trace=node" in finding.recommendation_text()
    assert [(row.kind, row.key) for row in finding.evidence] == [
        ("call", "cudaGraphLaunch"),
        ("op", profile.ops[0].op_id),
    ]
    assert finding.severity == Severity.WARNING


def test_graphs_that_took_no_time_hide_nothing() -> None:
    """Nor is there a kernel that did."""
    profile = graphs(0.6)
    profile.graphs.gpu_stop, profile.kernels.gpu_stop = profile.graphs.gpu_start, profile.kernels.gpu_start
    assert "cuda_graph_detector" not in {finding.detector for finding in verdict(profile).findings}


def test_what_is_not_recorded_is_asked_for() -> None:
    """Memory and shapes of a profile without."""
    missing = {each.detector: each for each in verdict(scene(lambda step: step.good(0, STEP_NS))).undecided}
    assert set(missing) == {"batch_size_detector", "shape_detector"}
    assert "profile_memory=True" in missing["batch_size_detector"].hint


def test_input_that_is_not_recorded_is_asked_for_where_the_gpu_waits() -> None:
    """For no recorded reason, a quarter of the time; a busy GPU waits for no file."""
    waiting = idle(lambda _step, _begin, _stop: None, step_ns=20 * STEP_NS)(0.25)
    assert "io_detector" in undecided(waiting)
    waiting.info.recorded = frozenset({"io"})
    assert undecided(waiting) >= {"dataloader_detector"}
    assert "io_detector" not in undecided(waiting)
    assert not undecided(good()) & {"io_detector", "dataloader_detector"}


@pytest.mark.parametrize("detector", ["dataloader_detector", "io_detector"])
def test_nothing_is_said_of_a_gpu_that_did_nothing(detector: str) -> None:
    """The program waits as well where no GPU work was recorded."""
    profile = CASES[detector].make(0.5)
    assert "GPU" in said_of(profile, detector)
    for table in (profile.kernels, profile.memcpys, profile.memsets):
        for column in table.__struct_fields__:
            values = getattr(table, column)
            setattr(table, column, values[:0] if isinstance(values, np.ndarray) else values)
    assert "GPU" not in said_of(profile, detector)


def said_of(profile: Profile, detector: str) -> str:
    """What a detector says is wrong."""
    return next(each.problem_text() for each in verdict(profile).findings if each.detector == detector)


def undecided(profile: Profile) -> set[str]:
    """The detectors that lack data."""
    return {each.detector for each in verdict(profile).undecided}


def test_gpus_without_work_are_told_unless_other_ranks_use_them() -> None:
    """A trace lists every GPU of the machine."""
    profile = scene(lambda step: step.good(0, STEP_NS))
    profile.devices = [A100, msgspec.structs.replace(A100, device_id=1)]
    said = verdict(profile).findings
    assert [finding.problem_text() for finding in said] == ["1 of 2 GPUs did nothing in this profile: 1."]
    profile.info.world_size = 2
    assert verdict(profile).findings == []


def test_a_profile_without_gpu_work_gets_no_advice_but_is_told() -> None:
    """A trace of the CPU alone."""

    def body(step: Step) -> None:
        step.line("main", "op", 10, 900_000, "aten::mm")

    profile = scene(body)
    said = verdict(profile)
    assert said.findings == []
    assert [each.missing for each in said.undecided] == ["any GPU work"]
    assert "nsys" in said.undecided[0].hint
    profile.info.source_format = "pytorch"
    assert "activities" in verdict(profile).undecided[0].hint
    profile.coverage.skipped[COUNTER_RANGES] = 3
    assert "--counters" in verdict(profile).undecided[0].hint
