"""Why the GPU was idle: every moment without device work within the iterations, by its cause.

In this order: the data loader ran; input or output did; the driver set something up (memory, modules, contexts), or
the GPU had not begun or had ended, where no iterations are marked; the GPU ran dry behind a call that waited for it
(synchronisation); in a short gap the host called for the next work too late, or, where its call is not recorded, was
inside an op or API call (it launches too slowly); in a long one it was inside an op or API call (it is busy with
something else); nothing recorded went on, or the gap is the GPU's own, between kernels that were launched in time.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import (
    Intervals,
    Piece,
    covered,
    intersect,
    length,
    subtract,
    union,
    union_of,
)
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Bools
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.distinct import are_among, distinct_values
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Copies, GraphLaunches, Kernels, Profile

BLOCKING = Expression(
    r"(?:cuda|hip|cu)(?:(?:Stream|Device|Event|Ctx)Synchronize|Memcpy(?!\w*Async)\w*|MemcpyWithStream)"
    r"(?:_v\d+|_ptsz|_ptds)*\Z"
)
"""Calls that return only when the GPU has done what they wait for."""

SETTING_UP = Expression(
    r"(?:cuda|hip|cu)(?!\w*Async)(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister|Library|Module|Init|GetDeviceProp|"
    r"StreamCreate|GetProcAddress|DevicePrimaryCtx|Ctx(?:Create|Destroy)|DeviceReset|Mem(?:Alloc|Free|Create|Release|Map|"
    r"Unmap|SetAccess|AddressReserve|AddressFree|HostAlloc|FreeHost))\w*\Z"
)
"""Calls that allocate, load or set up, which a loop that has warmed up does not make."""

LAUNCH_GAP_NS = 1_000_000
"""A longer gap is none of launching, which takes microseconds: the host does something else (nsys-ai: 1 ms)."""

_RETURN_NS = 20_000
"""A gap belongs to a wait that ended at most so long before it: the host needs some time to get on."""

DEVICE_TO_HOST = 2

_BLOCK = 1 << 18
"""Gaps at a time: where a program calls the driver by the million, there are as many between the calls."""


class Waits(msgspec.Struct):
    """Calls that waited for the GPU, of all tables, by start."""

    op: Int64s
    name: Int64s
    start_ns: Int64s
    stop_ns: Int64s
    idle_ns: Int64s
    """Idle time of the GPU behind each, within the iterations; mean over the devices in use."""


class Idle(msgspec.Struct):
    """Idle time of the GPU within the iterations, in nanoseconds: mean over the devices in use."""

    data_loader_ns: int
    io_ns: int
    setup_ns: int
    sync_ns: int
    launch_ns: int
    """In short gaps."""
    host_ns: int
    """In long ones."""
    other_ns: int
    waits: Waits
    launch_gaps: Intervals
    """The moments of ``launch_ns`` on the first device in use; likewise the two below."""
    host_gaps: Intervals
    setup_gaps: Intervals

    @property
    def total_ns(self) -> int:
        """All of it."""
        known = self.data_loader_ns + self.io_ns + self.setup_ns + self.sync_ns + self.launch_ns
        return known + self.host_ns + self.other_ns


def idle_time(profile: Profile, aggregation: Aggregation) -> Idle:
    """The idle time of an aggregation; nothing where no device has any work."""
    windows = union(aggregation.iterations.start_ns, aggregation.iterations.stop_ns)
    waits = _waits(profile)
    behind = np.zeros(len(waits.op), np.int64)
    devices = aggregation.devices.device_id[aggregation.devices.in_use].tolist()
    loader = union(profile.data_loader.start_ns, profile.data_loader.stop_ns)
    io = union(profile.io.start_ns, profile.io.stop_ns)
    host, setting_up = _host_work(profile), _setting_up(profile)
    unmarked = aggregation.candidate.source == "whole_capture"
    nothing = Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))
    sums, first = np.zeros(7, np.int64), (nothing, nothing, nothing)
    for device in reversed(devices):
        busy = _busy(profile, device)
        idle = subtract(windows, busy)
        loaded = subtract(idle, loader)
        rest = subtract(loaded, io)
        outside = _outside(busy, windows) if unmarked else Intervals(busy.start[:0], busy.start[:0])
        after = subtract(subtract(rest, setting_up), outside)
        caused = _behind(after, busy, waits, behind)
        gaps = Intervals(after.start[~caused], after.stop[~caused])
        short = gaps.stop - gaps.start < LAUNCH_GAP_NS
        few, many = (Intervals(gaps.start[chosen], gaps.stop[chosen]) for chosen in (short, ~short))
        late, working = _late(few, host, *_first_calls(profile, device)), intersect(many, host)
        first = subtract(rest, after), late, working
        # Each is a part of the one before it, or of the gaps: what is left of these needs no intervals.
        idle_ns, loaded_ns, gaps_ns = length(idle), length(loaded), length(gaps)
        setup_ns, late_ns, working_ns = (length(part) for part in first)
        sums += [
            *(idle_ns - loaded_ns, loaded_ns - length(rest), setup_ns, length(after) - gaps_ns, late_ns, working_ns),
            gaps_ns - late_ns - working_ns,
        ]
    count = max(len(devices), 1)
    waits.idle_ns = behind // count
    loader_ns, io_ns, setup_ns, sync_ns, launch_ns, host_ns, other_ns = (int(value) // count for value in sums)
    return Idle(
        data_loader_ns=loader_ns,
        io_ns=io_ns,
        setup_ns=setup_ns,
        sync_ns=sync_ns,
        launch_ns=launch_ns,
        host_ns=host_ns,
        other_ns=other_ns,
        waits=waits,
        launch_gaps=first[1],
        host_gaps=first[2],
        setup_gaps=first[0],
    )


def _outside(busy: Intervals, windows: Intervals) -> Intervals:
    """Before the first and after the last work of a device."""
    if not len(busy.start) or not len(windows.start):
        return windows
    return subtract(windows, Intervals(busy.start[:1], busy.stop[-1:]))


def _setting_up(profile: Profile) -> Intervals:
    calls, texts = profile.calls, profile.strings
    names = [name for name in distinct_values(calls.name).tolist() if SETTING_UP.match(texts[name])]
    rows = are_among(calls.name, names)
    return union(calls.api_start[rows], calls.api_stop[rows])


def _behind(rest: Intervals, busy: Intervals, waits: Waits, behind: Int64s) -> Bools:
    """Which gaps follow a wait, adding their length to that wait.

    A wait causes the gap in which it ends, where the GPU works again after it: the queue was empty, so the host
    had to launch anew. The wait itself began before the gap or in it.
    """
    caused = np.zeros(len(rest.start), np.bool_)
    if not len(waits.op) or not len(rest.start) or not len(busy.start):
        return caused
    order = np.argsort(waits.stop_ns, kind="stable")
    stops = waits.stop_ns[order]
    for begin in range(0, len(caused), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        start, stop = rest.start[some], rest.stop[some]
        last = np.searchsorted(stops, stop, side="right") - 1
        found = np.maximum(last, 0)
        wait = order[found]
        began = waits.start_ns[wait] <= start + _RETURN_NS
        works_again = stop <= int(busy.start[-1])
        by_wait = (last >= 0) & (stops[found] >= start - _RETURN_NS) & began & works_again
        np.add.at(behind, wait[by_wait], (stop - start)[by_wait])
        caused[some] = by_wait
    return caused


def _first_calls(profile: Profile, device: int) -> tuple[Int64s, Int64s]:
    """The starts of a device's work, and where the host's call for it ended; -1 where no call was recorded."""
    starts, returned = list[Int64s](), list[Int64s]()
    tables: list[Kernels | Copies] = [profile.kernels, profile.memcpys, profile.memsets]
    for table in tables:
        here = table.device == device
        starts.append(table.gpu_start[here])
        returned.append(np.where(table.launched[here] != 0, table.api_stop[here], -1))
    start, stop = np.concatenate(starts), np.concatenate(returned)
    order = np.argsort(start, kind="stable")
    return start[order], stop[order]


def _late(gaps: Intervals, host: Intervals, start: Int64s, returned: Int64s) -> Intervals:
    """The moments of short gaps that launching too slowly caused.

    The whole gap where the call for the work that ends it returned after the gap had begun: with the interpreter's time
    between ops. Where that call is not recorded, what of the gap the host spent in ops and calls.
    """
    if not len(start):
        return intersect(gaps, host)
    unanswered, late = np.zeros(len(gaps.start), np.bool_), np.zeros(len(gaps.start), np.bool_)
    for begin in range(0, len(gaps.start), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        next_work = np.minimum(np.searchsorted(start, gaps.stop[some]), len(start) - 1)
        answer = np.where(start[next_work] == gaps.stop[some], returned[next_work], -1)
        unanswered[some], late[some] = answer < 0, answer > gaps.start[some]
    unknown = intersect(Intervals(gaps.start[unanswered], gaps.stop[unanswered]), host)
    return union_of([(gaps.start, gaps.stop, late), (unknown.start, unknown.stop)])


def _waits(profile: Profile) -> Waits:
    """Synchronisations, blocking calls, and copies to the host, whose result the program is waiting for."""
    names = profile.strings
    texts = {int(name) for table in (profile.calls, profile.syncs) for name in distinct_values(table.name)}
    blocking = [name for name in texts if BLOCKING.match(names[name])]
    columns: list[tuple[Int64s, ...]] = []
    for table in (profile.syncs, profile.calls):
        rows = are_among(table.name, blocking)
        columns.append(
            (table.op[rows].astype(np.int64), table.name[rows].astype(np.int64), table.api_start[rows],
             table.api_stop[rows])
        )  # fmt: skip
    copies = profile.memcpys
    # An asynchronous copy whose call returns only after it has run waited for it.
    rows = (copies.launched != 0) & (copies.api_stop >= copies.gpu_stop)
    rows &= np.isin(copies.copy_kind, (1, DEVICE_TO_HOST))
    columns.append(
        (copies.op[rows].astype(np.int64), copies.name[rows].astype(np.int64), copies.api_start[rows],
         copies.api_stop[rows])
    )  # fmt: skip
    op, name, start, stop = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.argsort(start, kind="stable")
    return Waits(op[order], name[order], start[order], stop[order], np.zeros(len(order), np.int64))


def _busy(profile: Profile, device: int) -> Intervals:
    tables: list[Kernels | Copies | GraphLaunches] = [profile.kernels, profile.memcpys, profile.memsets, profile.graphs]
    return union_of([(table.gpu_start, table.gpu_stop, table.device == device) for table in tables])


def _host_work(profile: Profile) -> Intervals:
    """Op instances with recorded host time, and API calls. An instance of a call in no op is the call once more."""
    associated = np.array([op.eligibility != Eligibility.UNASSOCIATED for op in profile.ops], np.bool_)
    of_ops = associated[profile.instances.op] if len(associated) else np.zeros(0, np.bool_)
    pieces: list[Piece] = [(profile.instances.cpu_start, profile.instances.cpu_stop, of_ops)]
    pieces += [(table.api_start, table.api_stop) for table in (profile.calls, profile.syncs)]
    tables: list[Kernels | Copies] = [profile.kernels, profile.memcpys, profile.memsets]
    pieces += [(table.api_start, table.api_stop, table.launched != 0) for table in tables]
    return union_of(pieces)


def exposed(profile: Profile, aggregation: Aggregation, chosen: Bools) -> int:
    """Nanoseconds within the iterations in which chosen kernels run and no other does; mean over the devices in use."""
    windows = union(aggregation.iterations.start_ns, aggregation.iterations.stop_ns)
    devices = aggregation.devices.device_id[aggregation.devices.in_use].tolist()
    kernels, total = profile.kernels, 0
    for device in devices if chosen.any() else ():
        here = kernels.device == device
        mine, others = here & chosen, here & ~chosen
        alone = subtract(
            union_of([(kernels.gpu_start, kernels.gpu_stop, mine)]),
            union_of([(kernels.gpu_start, kernels.gpu_stop, others)]),
        )
        total += int(covered(alone, windows.start, windows.stop).sum())
    return total // max(len(devices), 1)


def exposed_copies(profile: Profile, aggregation: Aggregation, *, since_first_kernel: bool = False) -> int:
    """Nanoseconds of copies between host and device beside which no kernel runs; mean over the devices in use."""
    windows = union(aggregation.iterations.start_ns, aggregation.iterations.stop_ns)
    devices = aggregation.devices.device_id[aggregation.devices.in_use].tolist()
    kernels, copies, total = profile.kernels, profile.memcpys, 0
    between = np.isin(copies.copy_kind, (1, DEVICE_TO_HOST))
    if since_first_kernel and len(kernels.gpu_start):
        between &= copies.gpu_start >= kernels.gpu_start.min()
    for device in devices:
        here = (copies.device == device) & between
        if not here.any():
            continue
        working = kernels.device == device
        alone = subtract(
            union_of([(copies.gpu_start, copies.gpu_stop, here)]),
            union_of([(kernels.gpu_start, kernels.gpu_stop, working)]),
        )
        total += int(covered(alone, windows.start, windows.stop).sum())
    return total // max(len(devices), 1)
