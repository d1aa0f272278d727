"""Which kernels would gain nothing by being shorter, because the host decides when the next one begins."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Diagnosis
from tensorboard_plugin_dlprof.diagnosis.calls import blocking_class
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile

_OF_THE_HOST = (Part.BLOCKED, Part.LAUNCHING, Part.HOST_OP, Part.HOST_CODE, Part.DATA_LOADER, Part.IO)


def absorbed(profile: Profile, diagnosis: Diagnosis, rows: Int64s) -> Bools:
    """Whether what each of some kernels would save becomes idle time.

    It does where the GPU runs dry after the kernel while the host is busy with something else: the host launches what
    follows no sooner. It does not where the host waits for the GPU then, or in between, and so goes on sooner.
    """
    result = np.zeros(len(rows), np.bool_)
    waits = _waits(profile)
    for device in diagnosis.devices:
        mine = np.flatnonzero(profile.kernels.device[rows] == device.device)
        begin_ns, of_the_host = _dry(profile.activity.causes, device)
        if not len(mine) or not len(begin_ns):
            continue
        end_ns = profile.kernels.end_ns[rows[mine]]
        gap = np.searchsorted(begin_ns, end_ns)
        follows = np.minimum(gap, len(begin_ns) - 1)
        waited = np.searchsorted(waits, begin_ns[follows], side="right") > np.searchsorted(waits, end_ns, side="right")
        result[mine] = (gap < len(begin_ns)) & of_the_host[follows] & ~waited
    return result


def _waits(profile: Profile) -> Int64s:
    """When calls end in which the host waits for a GPU, ascending; CUPTI records a synchronisation for some of them."""
    ends = [profile.syncs.api_end_ns]
    for table in (profile.calls, profile.memcpys):
        names = distinct_values(table.name).tolist()
        waiting = [name for name in names if blocking_class(profile.strings[name]) in ("sync", "copy")]
        ends.append(table.api_end_ns[are_among(table.name, waiting)])
    return np.sort(np.concatenate(ends))


def _dry(causes: list[Cause], device: DeviceDiagnosis) -> tuple[Int64s, Bools]:
    """When a GPU ran dry, ascending, and whether the host was busy with something else than waiting for it then."""
    pieces = device.clipped
    idle = pieces.part > Part.QUEUED
    begins = idle.copy()
    begins[1:] &= ~idle[:-1] | (pieces.start_ns[1:] != pieces.stop_ns[:-1])
    rows = np.flatnonzero(begins)
    busy = [
        cause.part in _OF_THE_HOST and not (cause.part == Part.BLOCKED and cause.detail in ("sync", "copy"))
        for cause in causes
    ]
    return pieces.start_ns[rows], np.array(busy or [False], np.bool_)[pieces.cause[rows]]
