"""The five times of every op instance (DLProf database reference, section 6)."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.intervals import union_lengths
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, GraphLaunches, Kernels, Profile, Syncs


class InstanceTimes(msgspec.Struct):
    """One row per row of ``Profile.instances``."""

    cpu: Int64s
    gpu: Int64s
    api: Int64s
    cpu_overhead: Int64s
    gpu_idle: Int64s

    def columns(self) -> list[Int64s]:
        """In the order of ``TimeMetrics``."""
        return [self.cpu, self.gpu, self.api, self.cpu_overhead, self.gpu_idle]


class InstanceRows(msgspec.Struct):
    """The row of ``Profile.instances`` that each piece of work and each call belongs to."""

    kernels: Int64s
    memcpys: Int64s
    memsets: Int64s
    graphs: Int64s
    syncs: Int64s
    calls: Int64s


def instance_rows(profile: Profile) -> InstanceRows:
    """Instances lie by op, so the row is that of the op's first instance plus the number within the op."""
    first = np.searchsorted(profile.instances.op, np.arange(len(profile.ops)))

    def rows(op: Int32s, instance: Int32s) -> Int64s:
        return (first[op] + instance).astype(np.int64)

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
    cpu = profile.instances.cpu_stop - profile.instances.cpu_start

    work: list[Kernels | Copies | GraphLaunches] = [
        profile.kernels,
        profile.memcpys,
        profile.memsets,
        profile.graphs,
    ]
    on_gpu = np.concatenate([rows.kernels, rows.memcpys, rows.memsets, rows.graphs])
    gpu_start = np.concatenate([table.gpu_start for table in work])
    gpu_stop = np.concatenate([table.gpu_stop for table in work])
    gpu = union_lengths(on_gpu, gpu_start, gpu_stop, count)

    calls: list[Kernels | Copies | Syncs | Calls] = [
        profile.kernels,
        profile.memcpys,
        profile.memsets,
        profile.syncs,
        profile.calls,
    ]
    in_api = np.concatenate([rows.kernels, rows.memcpys, rows.memsets, rows.syncs, rows.calls])
    api_start = np.concatenate([table.api_start for table in calls])
    api_stop = np.concatenate([table.api_stop for table in calls])
    api = union_lengths(in_api, api_start, api_stop, count)

    overhead = cpu - api
    if not profile.dlprof_markers:
        # A call belongs to the op in which it starts; rounded times let it end after the op.
        overhead = np.maximum(overhead, 0)
    return InstanceTimes(cpu, gpu, api, overhead, _spans(on_gpu, gpu_start, gpu_stop, count) - gpu)


def _spans(segment: npt.NDArray[np.integer], start: Int64s, stop: Int64s, segments: int) -> Int64s:
    """From the first start to the last stop of each segment; 0 of none."""
    spans = np.zeros(segments, np.int64)
    if len(segment):
        order = np.argsort(segment, kind="stable")
        ordered = segment[order]
        heads = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        last, first = np.maximum.reduceat(stop[order], heads), np.minimum.reduceat(start[order], heads)
        spans[ordered[heads]] = last - first
    return spans
