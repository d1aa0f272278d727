"""Divides the wall time into the seven exclusive parts, for each device and each window of time.

Precedence: Tensor Core kernels, other kernels, memory work, data loader, I/O, CPU, other. Each part is the
time of its intervals that no earlier part covers. GPU work counts in the window in which it
runs, not in that of the op that launched it. So the seven parts add up to the window, and none exceeds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import Intervals, Piece, clock_within, covered, union_of
from tensorboard_plugin_dlprof.aggregation.tables import Bools, Part
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, GraphLaunches, Kernels, Profile, Syncs

Work: TypeAlias = "tuple[Int64s, Int64s, Int32s]"
"""Starts, stops and devices of the rows of a table."""


def devices_in_use(profile: Profile) -> Bools:
    """Which of ``Profile.devices`` have any work."""
    used = set()
    for table in (profile.kernels, profile.memcpys, profile.memsets, profile.graphs):
        used.update(distinct_values(table.device).tolist())
    return np.array([device.device_id in used for device in profile.devices], np.bool_)


def device_work(profile: Profile) -> list[Work]:
    """Starts, stops and devices of kernels, graphs, copies and sets."""
    tables: list[Kernels | Copies | GraphLaunches] = [profile.kernels, profile.graphs, profile.memcpys, profile.memsets]
    return [(table.start_ns, table.end_ns, table.device) for table in tables]


def device_parts(profile: Profile, start: Int64s, stop: Int64s) -> tuple[Int64s, Int64s]:
    """The parts of each window from ``start[i]`` to ``stop[i]``, in nanoseconds.

    One row for each device in use, and last, if there are others or none at all, one for a device that did nothing.

    Returns:
        The parts, shape (rows, windows, 7), indexed by ``Part``. And, shape (rows, windows), the part of
        ``OTHER_KERNEL`` with kernels whose Tensor Core use is unknown, or CUDA graphs recorded as a whole, running:
        ``TENSOR_CORE`` may be larger by up to this.
    """
    in_use = devices_in_use(profile)
    is_any_idle = not in_use.any() or not in_use.all()
    parts = np.zeros((int(in_use.sum()) + is_any_idle, len(start), len(Part)), np.int64)
    unknown = np.zeros(parts.shape[:2], np.int64)
    host = list(_unions(_host_work(profile)))
    # The parts of the host are the same for all devices, and so are all parts of devices that did nothing.
    parts[:, :, Part.DATA_LOADER : Part.OTHER] = _added([covered(union, start, stop) for union in host])
    used = [device.device_id for device, is_used in zip(profile.devices, in_use, strict=True) if is_used]
    for row, device_id in enumerate(used):
        busy = Intervals(start, stop)
        on_gpu: list[Int64s] = []
        for union in _unions(_gpu_work(profile, device_id)):
            on_gpu.append(covered(union, start, stop) if union is not busy else on_gpu[-1])
            busy = union
        added = _added(on_gpu)
        unknown[row] = added[:, 1]
        parts[row, :, Part.TENSOR_CORE] = added[:, 0]
        parts[row, :, Part.OTHER_KERNEL] = added[:, 1] + added[:, 2]
        parts[row, :, Part.MEMORY] = added[:, 3]
        host_times = [covered(busy, start, stop, clock_within(union)) for union in host]
        parts[row, :, Part.DATA_LOADER : Part.OTHER] -= _added(host_times)
    parts[:, :, Part.OTHER] = (stop - start) - parts.sum(axis=2)
    return parts, unknown


def of_devices(times: Int64s, in_use: Bools) -> Int64s:
    """The row of each device among those of ``device_parts``, and of what is made of them."""
    return times[np.where(in_use, np.cumsum(in_use) - 1, len(times) - 1)]


def mean_parts(parts: Int64s, in_use: Bools) -> Int64s:
    """Mean over the devices in use, shape (windows, 7), in whole nanoseconds; the remainder goes to ``OTHER``.

    If no device is in use, it is that of a device that did nothing.
    """
    wall = parts[0].sum(axis=1)
    mean = mean_time(parts, in_use)
    mean[:, Part.OTHER] += wall - mean.sum(axis=1)
    return mean


def mean_time(times: Int64s, in_use: Bools) -> Int64s:
    """Mean over the devices in use, along the first axis, rounded down, so that a part is never more than the whole."""
    selected = times[: max(int(in_use.sum()), 1)]
    mean: Int64s = selected.sum(axis=0) // len(selected)
    return mean


def _unions(by_precedence: Iterable[Sequence[Piece]]) -> Iterator[Intervals]:
    """For each item, the time that it and all before it cover."""
    taken = Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))
    for intervals in by_precedence:
        if any(len(piece[0]) for piece in intervals):
            taken = union_of([(taken.start, taken.stop), *intervals])
        yield taken


def _added(lengths: Sequence[Int64s]) -> Int64s:
    """The difference of each item to the one before it, along a new last axis."""
    so_far = np.stack(lengths, axis=-1)
    so_far[..., 1:] -= so_far[..., :-1].copy()
    return so_far


def _gpu_work(profile: Profile, device_id: int) -> list[Sequence[Piece]]:
    """Tensor Core kernels, work that may be Tensor Core kernels, other kernels, and memory work of a device."""

    def piece(work: Work, selected: Bools | None = None) -> Piece:
        start, stop, device = work
        here = device == device_id
        return start, stop, here if selected is None else here & selected

    kernels, graphs, *memory = device_work(profile)
    unit = profile.kernels.matrix_unit
    unknown = unit == MatrixUnit.UNKNOWN
    pieces = ((kernels, unknown, bool(unknown.any())), (graphs, None, len(graphs[0]) > 0))
    return [
        [piece(kernels, unit == MatrixUnit.YES)],
        # Most profiles have neither, and then this takes no time.
        [piece(work, selected) for work, selected, is_any in pieces if is_any],
        [piece(kernels, unit == MatrixUnit.NO)],
        [piece(table) for table in memory],
    ]


def _host_work(profile: Profile) -> list[Sequence[Piece]]:
    """The data loader, input and output, and the CPU's work.

    The CPU's work are the ranges of ops on any thread. DLProf counts the ranges of all ops; its unassociated ops are
    calls. If the ops do not come from DLProf's markers, API calls on any thread are counted instead of these; a call
    that was not recorded has no length.
    """
    instances, loader, io = profile.instances, profile.data_loader, profile.io
    before: list[Sequence[Piece]] = [[(loader.start_ns, loader.stop_ns)], [(io.start_ns, io.stop_ns)]]
    if profile.dlprof_markers:
        return [*before, [(instances.start_ns, instances.end_ns)]]
    associated = np.array([op.eligibility != Eligibility.UNASSOCIATED for op in profile.ops], np.bool_)
    of_ops = associated[instances.op] if len(associated) else np.zeros(0, np.bool_)
    tables: list[Kernels | Copies | Syncs | Calls] = [profile.kernels, profile.memcpys, profile.memsets]
    calls = [(table.api_start_ns, table.api_end_ns) for table in (*tables, profile.syncs, profile.calls)]
    return [*before, [(instances.start_ns, instances.end_ns, of_ops), *calls]]
