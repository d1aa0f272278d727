"""The findings in the form in which a diagnosis lists them (``dlprof diagnose``)."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_dlprof.analysis.tables import Evidence, Finding, Verdict
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.diagnosis.headings import heading_of
from tensorboard_plugin_dlprof.profile.tables import Profile

_MOST_TIMES = 3
"""A gain whose upper end is more than this many times its lower end says too little to be shown."""

CAUSES = {
    "cuda_graph_detector": "graphs_whole",
    "memory_limit_detector": "memory",
    "batch_size_detector": "batch_size",
    "data_parallel_detector": "host",
}
"""The cause of rules that do not say it themselves."""


def as_findings(profile: Profile, verdict: Verdict) -> list[dict[str, Any]]:
    """The findings of a verdict, in its order."""
    paths = {op.op_id: op.name for op in profile.ops}
    info = profile.info
    shift_ns = info.base_time_ns if info.source_format == "nsight_systems" else 0
    gpus = distinct_values(profile.kernels.device).tolist()
    only = gpus[0] if len(gpus) == 1 else None
    return [_finding(each, verdict, paths, shift_ns, only) for each in verdict.findings]


def _finding(
    finding: Finding, verdict: Verdict, paths: dict[str, str], shift_ns: int, only_gpu: int | None
) -> dict[str, Any]:
    iterations = max(verdict.iterations, 1)
    wall = max(verdict.iteration_ns, 1)
    return {
        "rule": finding.detector,
        "heading": heading_of(finding.detector, finding.numbers),
        "cause": CAUSES.get(finding.detector, finding.cause),
        "title": finding.problem_text(),
        "action": finding.recommendation_text(),
        "severity": finding.severity.name.lower(),
        "confidence": finding.confidence.name.lower(),
        "part": finding.part or None,
        "time_ns": finding.time_ns,
        "share": _share(finding, wall),
        "per": "once" if finding.once else "iteration",
        "gain": _gain(finding, wall),
        "evidence": [_evidence(each, paths, iterations, shift_ns, only_gpu) for each in finding.evidence],
        "overlaps_with": list(finding.overlaps_with),
        "missing_work": finding.missing_work or None,
        "link": finding.link or None,
    }


def _share(finding: Finding, wall_ns: int) -> float | None:
    """Of a typical iteration; None for what happens once, or in slow ones alone. Kernels may run in parallel."""
    if finding.time_ns is None or finding.once:
        return None
    if finding.time_ns > wall_ns:
        return 1.0 if finding.part == "compute" else None
    return finding.time_ns / wall_ns


def _gain(finding: Finding, wall_ns: int) -> dict[str, Any] | None:
    gain = finding.gain
    if gain is None and not finding.cannot_tell:
        return None
    nothing: dict[str, Any] = dict.fromkeys(("low_ns", "high_ns", "share_low", "share_high", "how"))
    nothing |= {"most_ns": finding.most_ns, "none_while": finding.none_while or None}
    if gain is None:
        return {**nothing, "cannot_tell": finding.cannot_tell}
    high = gain.high_ns if finding.time_ns is None else min(gain.high_ns, finding.time_ns)
    if high > _MOST_TIMES * gain.low_ns:
        return {**nothing, "how": gain.reasoning, "cannot_tell": "the range would be too wide to be of use"}
    low = min(gain.low_ns, high)
    return {
        **nothing,
        "low_ns": low,
        "high_ns": high,
        "share_low": low / wall_ns,
        "share_high": high / wall_ns,
        "how": gain.reasoning,
        "cannot_tell": None,
    }


def _evidence(
    each: Evidence, paths: dict[str, str], iterations: int, shift_ns: int, only_gpu: int | None
) -> dict[str, Any]:
    is_op = each.kind == "op"
    # Where there is one GPU, findings do not name it; a moment on the timeline is of a GPU.
    gpu = only_gpu if each.device is None and each.from_ns is not None else each.device
    device = each.key if each.kind == "device" else None if gpu is None else str(gpu)
    return {
        "path": each.path or (paths.get(each.key, each.key) if is_op else each.key),
        "call": each.call or None,
        "kind": each.kind,
        "op": each.key if is_op else None,
        "device": device,
        "count": None if each.count is None else max(round(each.count / iterations), 1),
        "time_ns": None if each.time_ns is None else each.time_ns // iterations,
        "iteration": each.iteration,
        "from_ns": None if each.from_ns is None else each.from_ns + shift_ns,
        "to_ns": None if each.to_ns is None else each.to_ns + shift_ns,
        "detail": each.detail or None,
    }
