"""What a profile does not tell is asked for, or said."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.analysis.tables import Severity
from tensorboard_plugin_dlprof.importers.kineto.events import COUNTER_RANGES
from tensorboard_plugin_dlprof.memory.answer import not_recorded
from tests.analysis.cases import (
    graphs,
)
from tests.analysis.scenes import STEP_NS, Step, scene, verdict


def test_graphs_recorded_as_a_whole_hide_their_kernels() -> None:
    """Six tenths of the GPU's time: what is lost, with which option it would be there, and which op launches them."""
    profile = graphs(0.6)
    (finding,) = verdict(profile).findings
    assert finding.problem_text().startswith(
        "1 launch of CUDA graphs, 600 µs or 60.0 % of the kernel time, was recorded"
    )
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
    profile.graphs.end_ns, profile.kernels.end_ns = profile.graphs.start_ns, profile.kernels.start_ns
    assert "cuda_graph_detector" not in {finding.detector for finding in verdict(profile).findings}


def test_what_is_not_recorded_is_asked_for() -> None:
    """Memory and shapes of a profile without."""
    missing = {each.detector: each for each in verdict(scene(lambda step: step.good(0, STEP_NS))).undecided}
    assert set(missing) == {"batch_size_detector", "shape_detector"}
    assert "profile_memory=True" in missing["batch_size_detector"].hint


@pytest.mark.parametrize("source_format", ["nsight_systems", "dlprof"])
def test_nsight_systems_is_asked_for_by_its_own_options(source_format: str) -> None:
    """PyTorch's profiler did not record it, nor what DLProf made a database of."""
    profile = scene(lambda step: step.good(0, STEP_NS))
    profile.info.source_format = source_format
    assert "profile_memory" not in not_recorded(source_format, ())
    missing = {each.detector: each for each in verdict(profile).undecided}
    assert "--cuda-memory-usage=true" in missing["batch_size_detector"].hint


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
