"""A profile of millions of kernels from a small one: its work again and again in time, written without an import.

Importing ten million kernels takes minutes and gigabytes; the result is used to measure questions, which do not
depend on how it was made.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.profile.tables import (
    Calls,
    Copies,
    GraphLaunches,
    Instances,
    IterationCandidate,
    Kernels,
    Profile,
    SubOps,
    Syncs,
    TimeSpans,
)

_GAP_NS = 100_000

_Rows = TypeVar("_Rows", Instances, Kernels, Copies, Syncs, Calls, GraphLaunches)

_TIMES = ("cpu_start", "cpu_stop", "api_start", "api_stop", "gpu_start", "gpu_stop")


def tile_profile(profile: Profile, kernels: int, *, iterations: bool = True) -> Profile:
    """The profile with at least as many kernels.

    Args:
        profile: one with kernels.
        kernels: the least number of kernels.
        iterations: cut every copy as the profile is cut; else all of it is one iteration.
    """
    copies = max(1, -(-kernels // len(profile.kernels.op)))
    period = profile.info.end_ns + _GAP_NS
    calls = np.bincount(profile.instances.op, minlength=len(profile.ops))
    end = copies * period

    def tiled(rows: _Rows) -> _Rows:
        return _tiled(rows, copies, period, calls)

    return msgspec.structs.replace(
        profile,
        info=msgspec.structs.replace(profile.info, end_ns=end),
        instances=tiled(profile.instances),
        kernels=tiled(profile.kernels),
        memcpys=tiled(profile.memcpys),
        memsets=tiled(profile.memsets),
        syncs=tiled(profile.syncs),
        calls=tiled(profile.calls),
        graphs=tiled(profile.graphs),
        data_loader=_spans(profile.data_loader, copies, period),
        io=_spans(profile.io, copies, period),
        iterations=[_candidate(candidate, copies, period) for candidate in profile.iterations]
        if iterations
        else [IterationCandidate("whole_capture", "", *(np.array([value]) for value in (0, 0, end)))],
        sub_ops=_sub_ops(profile, copies),
    )


def _order(op: npt.NDArray[np.int32], group: npt.NDArray[Any], copies: int) -> npt.NDArray[np.int64]:
    """Places of the copies' rows so that those of one group of one op lie side by side, copy after copy."""
    starts = np.flatnonzero(np.append(True, (op[1:] != op[:-1]) | (group[1:] != group[:-1])))
    lengths = np.diff(np.append(starts, len(op)))
    tiled = [
        (np.arange(start, start + length) + np.arange(copies)[:, None] * len(op)).reshape(-1)
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
    ]
    return np.concatenate(tiled)


def _tiled(rows: _Rows, copies: int, period: int, calls: npt.NDArray[np.int64]) -> _Rows:
    count = len(rows.op)
    if not count:
        return rows
    number = np.repeat(np.arange(copies, dtype=np.int64), count)
    owner = rows.op if isinstance(rows, (Instances, GraphLaunches)) else rows.name
    order = _order(rows.op, owner, copies)
    columns: dict[str, Any] = {}
    for name in rows.__struct_fields__:
        column = getattr(rows, name)
        if column is None:
            continue
        whole = np.tile(column, (copies, 1) if column.ndim == 2 else copies)
        if name in _TIMES:
            whole = whole + number * period
        elif name == "instance":
            whole = (whole + number * np.tile(calls[rows.op], copies)).astype(column.dtype)
        columns[name] = whole[order]
    return msgspec.structs.replace(rows, **columns)


def _spans(spans: TimeSpans, copies: int, period: int) -> TimeSpans:
    moved = np.repeat(np.arange(copies, dtype=np.int64) * period, len(spans.start_ns))
    return TimeSpans(np.tile(spans.start_ns, copies) + moved, np.tile(spans.stop_ns, copies) + moved)


def _candidate(candidate: IterationCandidate, copies: int, period: int) -> IterationCandidate:
    moved = np.repeat(np.arange(copies, dtype=np.int64), len(candidate.values))
    stride = int(candidate.values[-1] - candidate.values[0]) + 1
    return IterationCandidate(
        candidate.source,
        candidate.label,
        np.tile(candidate.values, copies) + moved * stride,
        np.tile(candidate.start_ns, copies) + moved * period,
        np.tile(candidate.stop_ns, copies) + moved * period,
    )


def _sub_ops(profile: Profile, copies: int) -> SubOps:
    """Those of the first copy: what they tell does not grow."""
    instances = profile.instances
    order = _order(instances.op, instances.op, copies)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return msgspec.structs.replace(profile.sub_ops, instance=place[: len(instances.op)][profile.sub_ops.instance])
