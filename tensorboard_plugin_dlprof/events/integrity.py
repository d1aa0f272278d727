"""Invariants of every finished profile. A violation is a bug of ours, never the input's fault.

Bad input is dropped and counted earlier (importers, ``cleaning``). A profile that violates an invariant would show
wrong numbers, so the build fails instead.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import Capture, WorkKind
from tensorboard_plugin_dlprof.profile.tables import Profile


class IntegrityError(AssertionError):
    """A profile violates an invariant."""


def check(capture: Capture, profile: Profile) -> None:
    """Check the invariants of a profile, and that it accounts for all device work of its capture.

    Raises:
        IntegrityError: An invariant is violated; the message says which.
    """
    _check_instances(profile)
    tables = (profile.kernels, profile.memcpys, profile.memsets, profile.syncs, profile.calls, profile.graphs)
    for table in tables:
        _check_owners(profile, table)
    _check_counts(capture, profile)
    _check_iterations(profile)


def _require(holds: Any, rule: str) -> None:
    if not holds:
        raise IntegrityError(rule)


def _check_instances(profile: Profile) -> None:
    instances = profile.instances
    op = instances.op
    _require(not len(op) or (op.min() >= 0 and op.max() < len(profile.ops)), "an instance has no op")
    _require(len(distinct_values(op)) == len(profile.ops), "an op has no instance")
    _require((instances.end_ns >= instances.start_ns).all(), "an instance ends before it starts")
    same = op[1:] == op[:-1]
    ordered = (op[1:] > op[:-1]) | (same & (instances.start_ns[1:] >= instances.start_ns[:-1]))
    _require(ordered.all(), "instances are not in the order of op and start")
    names = [(op.name.encode(), op.op_id.encode()) for op in profile.ops]
    _require(all(a <= b for a, b in itertools.pairwise(names)), "ops are not in the order of their names")
    _require(len({op.op_id for op in profile.ops}) == len(profile.ops), "two ops have one id")


def _check_owners(profile: Profile, table: Any) -> None:
    kind = type(table).__name__
    calls = np.bincount(profile.instances.op, minlength=len(profile.ops))
    op, instance = table.op, table.instance
    if not len(op):
        return
    _require(op.min() >= 0 and op.max() < len(profile.ops), f"{kind}: a row has no op")
    _require((instance >= 0).all() and (instance < calls[op]).all(), f"{kind}: a row has no instance")
    if hasattr(table, "start_ns"):
        _require((table.end_ns >= table.start_ns).all(), f"{kind}: device work ends before it starts")
    if hasattr(table, "api_start_ns"):
        _require((table.api_end_ns >= table.api_start_ns).all(), f"{kind}: a call ends before it starts")
        _require((np.diff(op) >= 0).all(), f"{kind}: rows are not in the order of ops")


def _check_counts(capture: Capture, profile: Profile) -> None:
    counts = np.bincount(capture.work.kind, minlength=max(WorkKind) + 1)
    result = {
        WorkKind.KERNEL: len(profile.kernels.op),
        WorkKind.MEMCPY: len(profile.memcpys.op),
        WorkKind.MEMSET: len(profile.memsets.op),
        WorkKind.GRAPH: len(profile.graphs.op),
    }
    for kind, count in result.items():
        _require(counts[kind] == count, f"{count} of {counts[kind]} pieces of device work ({kind.name}) have a row")
    kernel = capture.work.kind == WorkKind.KERNEL
    duration = int((capture.work.end_ns - capture.work.start_ns)[kernel].sum())
    _require(duration == int((profile.kernels.end_ns - profile.kernels.start_ns).sum()), "kernel time changed")


def _check_iterations(profile: Profile) -> None:
    _require(profile.iterations, "there is no iteration candidate")
    for candidate in profile.iterations:
        start, stop = candidate.start_ns, candidate.stop_ns
        _require(len(start) == len(stop) == len(candidate.values) > 0, f"{candidate.source}: columns differ in length")
        _require((stop >= start).all() and (start[1:] >= stop[:-1]).all(), f"{candidate.source}: not disjoint")
        _require((np.diff(candidate.values) > 0).all(), f"{candidate.source}: values are not ascending")
