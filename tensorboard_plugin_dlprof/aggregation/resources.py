"""What the wall time was spent on: the seven exclusive parts, for each device and each window of time.

Precedence: Tensor Core kernels, other kernels, memory work, data loader, I/O, CPU, other. Each part is the
time of its intervals that none before it covers, by the clock: GPU work counts in the window in which it
runs, not in that of the op that launched it. So the seven add up to the window, and none exceeds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import Intervals, Piece, covered, union_of
from tensorboard_plugin_dlprof.aggregation.tables import Bools, Part
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.distinct import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, Kernels, Profile, Syncs


def devices_in_use(profile: Profile) -> Bools:
    """Which of ``Profile.devices`` have any work."""
    used = set()
    for table in (profile.kernels, profile.memcpys, profile.memsets, profile.graphs):
        used.update(distinct_values(table.device).tolist())
    return np.array([device.device_id in used for device in profile.devices], np.bool_)


def device_parts(profile: Profile, start: Int64s, stop: Int64s) -> Int64s:
    """Shape (devices, windows, 7), by ``Part``: nanoseconds of each window from ``start[i]`` to ``stop[i]``.

    The first row of a profile without devices is that of a device that did nothing.
    """
    devices = [device.device_id for device in profile.devices] or [-1]
    # Many machines have devices that did nothing, all alike.
    idle = [row for row, used in enumerate(devices_in_use(profile).tolist()) if not used]
    cpu = _cpu_work(profile)
    if len(devices) - max(len(idle) - 1, 0) > 1:  # For one alone they are joined with what goes before them only.
        joined = union_of(cpu)
        cpu = [(joined.start, joined.stop)]
    host = [
        [(profile.data_loader.start_ns, profile.data_loader.stop_ns)],
        [(profile.io.start_ns, profile.io.stop_ns)],
        cpu,
    ]
    parts = np.zeros((len(devices), len(start), len(Part)), np.int64)
    for row, device in enumerate(devices):
        if row in idle[1:]:
            parts[row] = parts[idle[0]]
            continue
        for part, exclusive in enumerate(_exclusive([*_gpu_work(profile, device), *host], start, stop)):
            parts[row, :, part] = exclusive
    parts[:, :, Part.OTHER] = (stop - start) - parts.sum(axis=2)
    return parts


def mean_parts(parts: Int64s, in_use: Bools) -> Int64s:
    """Shape (windows, 7): mean over the devices in use, in whole nanoseconds; what is left over goes to ``OTHER``.

    Without a device in use every device idles alike, and the first stands for all.
    """
    wall = parts[0].sum(axis=1)
    chosen = parts[in_use] if in_use.any() else parts[:1]
    mean: Int64s = chosen.sum(axis=0) // len(chosen)
    mean[:, Part.OTHER] += wall - mean.sum(axis=1)
    return mean


def _exclusive(by_precedence: Iterable[Sequence[Piece]], start: Int64s, stop: Int64s) -> Iterator[Int64s]:
    """Nanoseconds of each window that intervals cover and none before them does: what they add to all before them."""
    taken = Intervals(start[:0], start[:0])
    before = np.zeros(len(start), np.int64)
    for intervals in by_precedence:
        if any(len(piece[0]) for piece in intervals):
            taken = union_of([(taken.start, taken.stop), *intervals])
        so_far = covered(taken, start, stop)
        yield so_far - before
        before = so_far


def _gpu_work(profile: Profile, device: int) -> list[Sequence[Piece]]:
    """Tensor Core kernels, other kernels, memory work. A graph recorded as a whole counts as other kernels."""
    kernels, graphs = profile.kernels, profile.graphs
    here = kernels.device == device
    on_matrix_unit = here & (kernels.matrix_unit == MatrixUnit.YES)
    elsewhere = here & ~on_matrix_unit
    graph = graphs.device == device
    memory = [(table, table.device == device) for table in (profile.memcpys, profile.memsets)]
    return [
        [(kernels.gpu_start, kernels.gpu_stop, on_matrix_unit)],
        [(kernels.gpu_start, kernels.gpu_stop, elsewhere), (graphs.gpu_start, graphs.gpu_stop, graph)],
        [(table.gpu_start, table.gpu_stop, rows) for table, rows in memory],
    ]


def _cpu_work(profile: Profile) -> Sequence[Piece]:
    """Op ranges of any thread, and, unless DLProf's own markers made them, API calls of any thread.

    DLProf takes the ranges of all ops, unassociated ones too, which there are calls. Elsewhere the calls are
    taken themselves; one that was not recorded has no length.
    """
    instances = profile.instances
    if profile.dlprof_markers:
        return [(instances.cpu_start, instances.cpu_stop)]
    associated = np.array([op.eligibility != Eligibility.UNASSOCIATED for op in profile.ops], np.bool_)
    of_ops = associated[instances.op] if len(associated) else np.zeros(0, np.bool_)
    tables: list[Kernels | Copies | Syncs | Calls] = [profile.kernels, profile.memcpys, profile.memsets]
    calls = [(table.api_start, table.api_stop) for table in (*tables, profile.syncs, profile.calls)]
    return [(instances.cpu_start, instances.cpu_stop, of_ops), *calls]
