"""Computes the five times of every op instance (DLProf database reference, section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import by_op
from tensorboard_plugin_dlprof.aggregation.intervals import are_shared, union_lengths
from tensorboard_plugin_dlprof.columns.group import is_ascending
from tensorboard_plugin_dlprof.columns.store import release_pages, spilled
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile

_INSTANCES = 1 << 18
"""Instances of one op that are handled at once."""


class InstanceTimes(msgspec.Struct):
    """One row per row of ``Profile.instances``, in nanoseconds. CPU time and overhead are computed on request."""

    start_ns: Int64s
    end_ns: Int64s
    gpu: Int64s
    api: Int64s
    gpu_idle: Int64s
    overhead_is_positive: bool
    """Whether the part of an API call after the end of its op is left out."""

    def cpu(self, rows: Int64s) -> Int64s:
        """CPU time of the instances ``rows``."""
        return self.end_ns[rows] - self.start_ns[rows]

    def columns(self, rows: Int64s) -> list[Int64s]:
        """The five times of the instances ``rows``, in the order of ``TimeMetrics``."""
        cpu, api = self.cpu(rows), self.api[rows]
        overhead = cpu - api
        if self.overhead_is_positive:
            np.maximum(overhead, 0, out=overhead)
        return [cpu, self.gpu[rows], api, overhead, self.gpu_idle[rows]]


class InstanceRows(msgspec.Struct):
    """The row of ``Profile.instances`` that each piece of work and each call belongs to."""

    kernels: Int64s
    memcpys: Int64s
    memsets: Int64s
    graphs: Int64s
    syncs: Int64s
    calls: Int64s


def instance_rows(profile: Profile) -> InstanceRows:
    """The rows of the instances. They are ordered by op, so a row is the first of its op plus the number within it."""
    first = np.searchsorted(profile.instances.op, np.arange(len(profile.ops)))

    def rows(op: Int32s, instance: Int32s) -> Int64s:
        row = first[op].astype(np.int64, copy=False)
        row += instance
        return row

    return InstanceRows(
        kernels=rows(profile.kernels.op, profile.kernels.instance),
        memcpys=rows(profile.memcpys.op, profile.memcpys.instance),
        memsets=rows(profile.memsets.op, profile.memsets.instance),
        graphs=rows(profile.graphs.op, profile.graphs.instance),
        syncs=rows(profile.syncs.op, profile.syncs.instance),
        calls=rows(profile.calls.op, profile.calls.instance),
    )


def instance_times(profile: Profile, rows: InstanceRows) -> InstanceTimes:
    """CPU, GPU and API time, overhead and idle of every instance."""
    count = len(profile.instances.op)
    kernels, memcpys, memsets = profile.kernels, profile.memcpys, profile.memsets
    gpu, idle = np.zeros(count, np.int64), np.zeros(count, np.int64)
    work: list[_Work] = [
        (kernels.op, rows.kernels, kernels.start_ns, kernels.end_ns),
        (memcpys.op, rows.memcpys, memcpys.start_ns, memcpys.end_ns),
        (memsets.op, rows.memsets, memsets.start_ns, memsets.end_ns),
        (profile.graphs.op, rows.graphs, profile.graphs.start_ns, profile.graphs.end_ns),
    ]
    for some, instance, start, stop in _portions(profile, work):
        gpu[some] = union_lengths(instance, start, stop, some.stop - some.start)
        idle[some] = _spans(instance, start, stop, some.stop - some.start) - gpu[some]
    gpu, idle = spilled(gpu), spilled(idle)
    release_pages()

    api = np.zeros(count, np.int64)
    calls: list[_Work] = [
        (kernels.op, rows.kernels, kernels.api_start_ns, kernels.api_end_ns),
        (memcpys.op, rows.memcpys, memcpys.api_start_ns, memcpys.api_end_ns),
        (memsets.op, rows.memsets, memsets.api_start_ns, memsets.api_end_ns),
        (profile.syncs.op, rows.syncs, profile.syncs.api_start_ns, profile.syncs.api_end_ns),
        (profile.calls.op, rows.calls, profile.calls.api_start_ns, profile.calls.api_end_ns),
    ]
    for some, instance, start, stop in _portions(profile, calls):
        api[some] = union_lengths(instance, start, stop, some.stop - some.start)

    # A call belongs to the op in which it starts, but with rounded times it may end after the op.
    return InstanceTimes(
        profile.instances.start_ns, profile.instances.end_ns, gpu, spilled(api), idle, not profile.dlprof_markers
    )


_Work = tuple[Int32s, Int64s, Int64s, Int64s]
"""Op, row of the instance, start and stop of each row of a table."""


def _portions(profile: Profile, tables: Sequence[_Work]) -> Iterator[tuple[slice, Int64s, Int64s, Int64s]]:
    """Portions of instances. For each, the slice, and for each row of work its instance (from 0), start and stop."""
    ops = [profile.instances.op, *(table[0] for table in tables)]
    for some, *slices in by_op(len(profile.ops), *ops):
        work = [
            (rows[part], start[part], stop[part]) for (_, rows, start, stop), part in zip(tables, slices, strict=True)
        ]
        # One op may have millions of instances, such as a repeated call of the driver.
        is_long = some.stop - some.start > 2 * _INSTANCES
        if is_long:
            work = [_by_instance(*columns) for columns in work]
        for begin in range(some.start, some.stop, _INSTANCES if is_long else some.stop - some.start):
            end = min(begin + _INSTANCES, some.stop) if is_long else some.stop
            parts = [slice(*np.searchsorted(rows, (begin, end))) if is_long else slice(None) for rows, _, _ in work]
            instance, start, stop = (
                np.concatenate([columns[number][part] for columns, part in zip(work, parts, strict=True)])
                for number in range(3)
            )
            yield slice(begin, end), instance - begin, start, stop


def _by_instance(rows: Int64s, start: Int64s, stop: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    if is_ascending(rows):
        return rows, start, stop
    order = np.argsort(rows, kind="stable")
    return rows[order], start[order], stop[order]


def _spans(segment: npt.NDArray[np.integer], start: Int64s, stop: Int64s, segments: int) -> Int64s:
    """Time from the first start to the last stop in each segment; 0 for an empty one."""
    spans = np.zeros(segments, np.int64)
    shared = are_shared(segment, segments)
    alone = ~shared
    spans[segment[alone]] = stop[alone] - start[alone]
    if shared.any():
        segment, start, stop = segment[shared], start[shared], stop[shared]
        order = np.argsort(segment, kind="stable")
        ordered = segment[order]
        heads = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        last, first = np.maximum.reduceat(stop[order], heads), np.minimum.reduceat(start[order], heads)
        spans[ordered[heads]] = last - first
    return spans
