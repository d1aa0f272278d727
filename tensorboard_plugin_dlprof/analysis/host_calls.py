"""Finds what the host did while the GPU was idle: calls that waited or set something up, ops and other calls."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.intervals import Intervals, Piece, union, union_of
from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.events.tables import HOST_COPIES, Int64s
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, Kernels, Profile, Syncs

BLOCKING = Expression(
    r"(?:cuda|hip|cu)(?:(?:Stream|Device|Event|Ctx)Synchronize|Memcpy(?!\w*Async)\w*|MemcpyWithStream)"
    r"(?:_v\d+|_ptsz|_ptds)*\Z"
)
"""Calls that return only after the GPU has finished what they wait for."""

SETTING_UP = Expression(
    r"(?:cuda|hip|cu)(?!\w*Async)(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister|Library|Module|Init|GetDeviceProp|"
    r"StreamCreate|GetProcAddress|DevicePrimaryCtx|Ctx(?:Create|Destroy)|DeviceReset|Mem(?:Alloc|Free|Create|Release|Map|"
    r"Unmap|SetAccess|AddressReserve|AddressFree|HostAlloc|FreeHost))\w*\Z"
)
"""Calls that allocate, load or set up, which do not occur in a loop after warm-up."""


class Waits(msgspec.Struct):
    """Calls that waited for the GPU, of all tables, by start."""

    op: Int64s
    name: Int64s
    start_ns: Int64s
    stop_ns: Int64s
    host_ns: Int64s
    """Duration of the op around each call, or of the call itself if there is none: what removing the call may save."""
    idle_ns: Int64s
    """Idle time of the GPU that each call caused within the iterations; mean over the devices in use."""


def setting_up(profile: Profile) -> Intervals:
    """The time in calls that set something up."""
    calls, texts = profile.calls, profile.strings
    names = [name for name in distinct_values(calls.name).tolist() if SETTING_UP.match(texts[name])]
    rows = are_among(calls.name, names)
    return union(calls.api_start[rows], calls.api_stop[rows])


def find_waits(profile: Profile) -> Waits:
    """Synchronisations, blocking calls, and copies between host and device whose call returned after the copy."""
    names = profile.strings
    texts = {int(name) for table in (profile.calls, profile.syncs) for name in distinct_values(table.name)}
    blocking = [name for name in texts if BLOCKING.match(names[name])]
    columns = [_waits_of(profile, table, are_among(table.name, blocking)) for table in (profile.syncs, profile.calls)]
    copies = profile.memcpys
    rows = (copies.launched != 0) & (copies.api_stop >= copies.gpu_stop)
    rows &= np.isin(copies.copy_kind, HOST_COPIES)
    columns.append(_waits_of(profile, copies, rows))
    op, name, start, stop, host = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.argsort(start, kind="stable")
    return Waits(op[order], name[order], start[order], stop[order], host[order], np.zeros(len(order), np.int64))


def _waits_of(profile: Profile, table: Syncs | Calls | Copies, rows: Bools) -> tuple[Int64s, ...]:
    """The columns of ``Waits`` except the last."""
    instances, op = profile.instances, table.op[rows]
    # Instances are ordered by op.
    around = np.searchsorted(instances.op, op) + table.instance[rows]
    start, stop = table.api_start[rows], table.api_stop[rows]
    host = np.maximum(instances.cpu_stop[around] - instances.cpu_start[around], stop - start)
    return op.astype(np.int64), table.name[rows].astype(np.int64), start, stop, host


def host_work(profile: Profile) -> Intervals:
    """The time of op instances with recorded host time, and of API calls; unassociated ops only repeat the latter."""
    associated = np.array([op.eligibility != Eligibility.UNASSOCIATED for op in profile.ops], np.bool_)
    of_ops = associated[profile.instances.op] if len(associated) else np.zeros(0, np.bool_)
    pieces: list[Piece] = [(profile.instances.cpu_start, profile.instances.cpu_stop, of_ops)]
    pieces += [(table.api_start, table.api_stop) for table in (profile.calls, profile.syncs)]
    tables: list[Kernels | Copies] = [profile.kernels, profile.memcpys, profile.memsets]
    pieces += [(table.api_start, table.api_stop, table.launched != 0) for table in tables]
    return union_of(pieces)
