"""The findings in the form in which a diagnosis lists them (``dlprof diagnose``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard_plugin_dlprof.analysis.tables import Evidence, Finding, Verdict
from tensorboard_plugin_dlprof.profile.tables import Profile

_MOST_TIMES = 3
"""A gain whose upper end is more than this many times its lower end says too little to be shown."""

CAUSES = {
    "dataloader_detector": "data_loader",
    "allocation_detector": "allocation",
    "sync_detector": "sync",
    "launch_detector": "launching",
    "host_detector": "host",
    "unrecorded_detector": "unrecorded",
    "io_detector": "io",
    "communication_detector": "communication",
    "copy_detector": "copies",
    "pageable_copy_detector": "copies",
    "cuda_graph_detector": "graphs_whole",
    "no_iterations_detector": "iterations",
    "iteration_range_detector": "iterations",
    "memory_full_detector": "memory",
    "coverage_detector": "coverage",
    "batch_size_detector": "batch_size",
    "profiler_overhead_detector": "profiler_overhead",
    "unused_gpu_detector": "unused_gpu",
    "underutilized_gpu_detector": "underutilized",
    "data_parallel_detector": "host",
}
"""The cause of each detector; that of all others is ``compute``."""


def as_findings(profile: Profile, verdict: Verdict) -> list[dict[str, Any]]:
    """The findings of a verdict, in its order."""
    paths = {op.op_id: op.name for op in profile.ops}
    return [_finding(found, verdict, paths) for found in verdict.findings]


def _finding(found: Finding, verdict: Verdict, paths: dict[str, str]) -> dict[str, Any]:
    wall = max(verdict.iteration_ns, 1)
    return {
        "rule": found.detector,
        "cause": CAUSES.get(found.detector, "compute"),
        "title": found.problem_text(),
        "action": found.recommendation_text(),
        "severity": found.severity.name.lower(),
        "confidence": found.confidence.name.lower(),
        "part": None,
        "time_ns": None,
        "share": None,
        "gain": _gain(found, wall),
        "evidence": _evidence(found.evidence, paths),
        "overlaps_with": [],
        "link": found.link or None,
    }


def _gain(found: Finding, wall_ns: int) -> dict[str, Any] | None:
    gain = found.gain
    if gain is None:
        return None
    nothing = {"low_ns": None, "high_ns": None, "share_low": None, "share_high": None, "how": gain.reasoning}
    if gain.high_ns > _MOST_TIMES * gain.low_ns:
        return {**nothing, "cannot_tell": "the range would be too wide to be of use"}
    return {
        "low_ns": gain.low_ns,
        "high_ns": gain.high_ns,
        "share_low": gain.low_ns / wall_ns,
        "share_high": gain.high_ns / wall_ns,
        "how": gain.reasoning,
        "cannot_tell": None,
    }


def _evidence(evidence: Sequence[Evidence], paths: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "path": paths.get(each.key, each.key) if each.kind == "op" else each.key,
            "call": None,
            "kind": each.kind,
            "op": each.key if each.kind == "op" else None,
            "device": each.key if each.kind == "device" else None,
            "count": each.count,
            "time_ns": each.time_ns,
            "iteration": None,
            "from_ns": None,
            "to_ns": None,
            "detail": each.detail or None,
        }
        for each in evidence
    ]
