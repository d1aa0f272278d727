"""How much of what shorter kernels save is lost, because the host decides when the next one begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, rows_by_value
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Diagnosis, Row
from tensorboard_plugin_dlprof.diagnosis.calls import blocking_class, waits_for_gpu
from tensorboard_plugin_dlprof.diagnosis.parts import BLOCK_NS, LONG_NS, NEAR_NS, SHORT_NS, Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile

Float64s = npt.NDArray[np.float64]

_OF_THE_HOST = (Part.BLOCKED, Part.LAUNCHING, Part.HOST_OP, Part.HOST_CODE, Part.DATA_LOADER, Part.IO, Part.UNRECORDED)
_KEPT, _LOST, _UNKNOWN = 0.0, 1.0, np.nan


def lost_shares(profile: Profile, diagnosis: Diagnosis, rows: Int64s) -> Float64s:
    """What share of what each of some kernels would save becomes idle time.

    All of it does where the GPU runs dry after the kernel while the host is busy with something else: the host launches
    what follows no sooner. None does where the host waits for the GPU then, or in between, and so goes on sooner; that
    shows, too, where it records nothing for long and goes on as the GPU runs dry. Where neither is known, as many do as
    of the others; if it is known of none, the share is not a number.
    """
    result = np.zeros(len(rows))
    kernels = profile.kernels
    for device in diagnosis.devices:
        mine = np.flatnonzero(kernels.device[rows] == device.device)
        begin_ns, fate, ends_in_one = _dry(profile, device)
        if not len(mine) or not len(begin_ns):
            continue
        end_ns = kernels.end_ns[rows[mine]]
        follows = np.searchsorted(begin_ns, end_ns)
        awaited = _awaited(profile, device.device)
        until_ns = np.append(begin_ns, diagnosis.stop_ns[-1])[follows]
        waited = np.searchsorted(awaited, until_ns, side="right") > np.searchsorted(awaited, end_ns)
        # What the last of several iterations leaves to do is done when the next one would have begun.
        lost = np.where(waited, _KEPT, np.append(fate, _UNKNOWN if ends_in_one else _KEPT)[follows])
        known = ~np.isnan(lost)
        time = (end_ns - kernels.start_ns[rows[mine]])[known]
        lost[~known] = np.average(lost[known], weights=time) if time.sum() > 0 else _UNKNOWN
        result[mine] = lost
    return result


def launching_ns(profile: Profile, rows: Int64s) -> Int64s:
    """How long (ns) a host took to launch each of some kernels, from what it launched before on; at most ``BLOCK_NS``,
    as other work may be between them, and 0 where the call launched others, too, as of a graph, or is not recorded."""
    kernels, result = profile.kernels, np.zeros(len(rows), np.int64)
    tables = (kernels, profile.memcpys, profile.memsets)
    thread, end_ns = (
        np.concatenate([getattr(table, name) for table in tables]) for name in ("thread_id", "api_end_ns")
    )
    for number, own in rows_by_value(kernels.thread_id[rows]):
        ends, calls = np.unique(end_ns[thread == number], return_counts=True)
        place = np.searchsorted(ends, kernels.api_end_ns[rows[own]])
        took = ends[place] - np.append(ends[:1] - BLOCK_NS, ends)[place]
        result[own] = np.minimum(took, BLOCK_NS) * ((calls[place] == 1) & (kernels.launched[rows[own]] != 0))
    return result


def limit_of(profile: Profile, rows: Sequence[Row]) -> Part:
    """What the host does for most of the time in which a GPU waits for nothing but it.

    Args:
        profile: the recording.
        rows: the causes of the GPU's idle time.
    """
    times = Counter[Part]()
    for row in rows:
        if _fate(profile, row.cause) == _LOST:
            times[Part(row.cause.part)] += row.time_ns
    return max(times, key=lambda part: times[part], default=Part.LAUNCHING)


def _awaited(profile: Profile, device: int) -> Int64s:
    """The ends of work on a GPU that the host waited for, ascending."""
    tables = (profile.kernels, profile.memcpys, profile.memsets, profile.graphs)
    never = np.full(1, np.iinfo(np.int64).min)
    ends = np.sort(np.concatenate([never, *(table.end_ns[table.device == device] for table in tables)]))
    calls = [(profile.syncs.api_start_ns, profile.syncs.api_end_ns)]
    for table in (profile.calls, profile.memcpys):
        names = distinct_values(table.name).tolist()
        waiting = are_among(
            table.name, [name for name in names if blocking_class(profile.strings[name]) in ("sync", "copy")]
        )
        calls.append((table.api_start_ns[waiting], table.api_end_ns[waiting]))
    found = []
    for start_ns, end_ns in calls:
        last = ends[np.searchsorted(ends, end_ns, side="right") - 1]
        found.append(last[last > start_ns])
    copies = profile.memcpys
    # The host waits in what is called asynchronous, too, where its memory is pageable.
    held = (copies.start_ns - copies.api_start_ns >= NEAR_NS) & (copies.api_end_ns >= copies.end_ns)
    found.append(copies.end_ns[held & (copies.device == device)])
    return np.sort(np.concatenate(found))


def _dry(profile: Profile, device: DeviceDiagnosis) -> tuple[Int64s, Float64s, bool]:
    """When a GPU ran dry, ascending, what share of what the kernels before would save is lost then, and whether it did
    in the last of several iterations."""
    pieces = device.clipped
    idle = pieces.part > Part.QUEUED
    begins = idle.copy()
    begins[1:] &= ~idle[:-1] | (pieces.start_ns[1:] != pieces.stop_ns[:-1])
    rows = np.flatnonzero(begins)
    fates = np.array([_fate(profile, cause) for cause in profile.activity.causes] or [_KEPT])
    ends_in_one = len(rows) > 0 and pieces.window[rows[-1]] == pieces.windows - 1 > 0
    begin_ns = pieces.start_ns[rows]
    fate = np.where(_resumes(profile, begin_ns), _KEPT, fates[pieces.cause[rows]])
    return begin_ns, fate, bool(ends_in_one)


def _resumes(profile: Profile, dry_ns: Int64s) -> Bools:
    """Whether the host, of which nothing is recorded for ``LONG_NS``, goes on as a GPU runs dry: it waited for the GPU,
    though not in a call that was recorded."""
    tables = (profile.kernels, profile.memcpys, profile.memsets, profile.syncs, profile.calls)
    start_ns = np.concatenate([profile.instances.start_ns, *(table.api_start_ns for table in tables)])
    end_ns = np.concatenate([profile.instances.end_ns, *(table.api_end_ns for table in tables)])
    order = np.argsort(start_ns, kind="stable")
    never = np.iinfo(np.int64).max // 2
    start_ns, end_ns = np.append(start_ns[order], never), np.maximum.accumulate(np.append(-never, end_ns[order]))
    follows = np.searchsorted(start_ns, dry_ns, side="right")
    # Nothing at all before is no silence: the recording may begin there.
    silent = (follows > 0) & (dry_ns - end_ns[follows] >= LONG_NS)
    result: Bools = silent & (start_ns[follows] - dry_ns <= SHORT_NS)
    return result


def _fate(profile: Profile, cause: Cause) -> float:
    """What becomes of what kernels save before the GPU is idle for a cause."""
    if cause.part not in _OF_THE_HOST:
        return _UNKNOWN
    if cause.part == Part.BLOCKED and cause.detail in ("sync", "copy"):
        return _KEPT
    if any(waits_for_gpu(name) for name in (cause.call, cause.path.rpartition("/")[2])):
        return _KEPT
    # XLA's own waits are no API calls, and not all of them are recorded.
    is_named = cause.part not in (Part.LAUNCHING, Part.UNRECORDED) or (cause.path and cause.part == Part.LAUNCHING)
    return _LOST if is_named or profile.info.source_format != "xplane" else _UNKNOWN
