"""Communication and copies of a GPU in the typical iterations, and which GPU comes late to collectives."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.analysis import thresholds
from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.diagnosis.activity import communication_names
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Diagnosis, working
from tensorboard_plugin_dlprof.diagnosis.exposed import exposed_ns, stretches
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, covered
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Copies, Kernels, Profile


class Transfers(msgspec.Struct):
    """The communication or copies of a GPU in the typical iterations."""

    device: DeviceDiagnosis
    exposed_ns: int
    """In a typical iteration, while no kernel computes (or no kernel runs, for copies)."""
    rows: Int64s
    """Rows of the table, those that run in these iterations."""
    length_ns: Int64s
    """How long each runs in them."""
    alone_ns: Int64s
    """How much of that is exposed; two that run together count both."""
    exposed: Spans
    """When any is exposed (``diagnosis.exposed.stretches``)."""


def most_exposed(diagnosis: Diagnosis, part: Part) -> tuple[DeviceDiagnosis, int] | None:
    """The GPU with most of a part of the time, and how much; None if there is none."""
    result = [(int(diagnosis.mean(each.parts_ns)[part]), each) for each in working(diagnosis)]
    time, device = max(result, key=lambda each: each[0], default=(0, None))
    return (device, time) if device is not None and time else None


def inside(diagnosis: Diagnosis, table: Kernels | Copies, rows: Int64s) -> tuple[Int64s, Int64s]:
    """Those of some rows that run in the typical iterations, and how long."""
    start, stop = diagnosis.start_ns[diagnosis.selected], diagnosis.stop_ns[diagnosis.selected]
    begin, end = table.start_ns[rows], table.end_ns[rows]
    length = np.zeros(len(rows), np.int64)
    window = np.searchsorted(stop, begin, side="right")
    for _ in range(2):  # what runs longer than into a second iteration is rare, and counted for two
        here = np.minimum(window, len(start) - 1)
        length += np.maximum(np.minimum(end, stop[here]) - np.maximum(begin, start[here]), 0) * (window < len(start))
        window = window + 1
    retained = length > 0
    return rows[retained], length[retained]


def collectives(profile: Profile, diagnosis: Diagnosis) -> Transfers | None:
    """Those of the GPU with most exposed communication."""
    most = most_exposed(diagnosis, Part.COMMUNICATION)
    if most is None:
        return None
    kernels = profile.kernels
    selected = are_among(kernels.long_name, communication_names(profile)) & (kernels.device == most[0].device)
    rows, length = inside(diagnosis, kernels, np.flatnonzero(selected))
    return transfers_of(diagnosis, most, Part.COMMUNICATION, kernels, rows, length)


def exposed_copies(profile: Profile, diagnosis: Diagnosis) -> Transfers | None:
    """Exposed copies of the GPU with most time in them; None if there are none. The part ``copy`` counts memory that is
    set, too, which is left out here."""
    table, most = profile.memcpys, None
    for device in working(diagnosis):
        rows, length = inside(diagnosis, table, np.flatnonzero(table.device == device.device))
        result = transfers_of(diagnosis, (device, 0), Part.COPY, table, rows, length)
        some = result.alone_ns > 0
        rows, length, alone = rows[some], length[some], result.alone_ns[some]
        once = covered(Spans(table.start_ns[rows], table.end_ns[rows], rows))
        time = int(exposed_ns(result.exposed, once.start, once.stop).sum()) // max(len(diagnosis.selected), 1)
        if time > (most.exposed_ns if most is not None else 0):
            most = Transfers(device, time, rows, length, alone, result.exposed)
    return most


def transfers_of(
    diagnosis: Diagnosis,
    most: tuple[DeviceDiagnosis, int],
    part: Part,
    table: Kernels | Copies,
    rows: Int64s,
    length_ns: Int64s,
) -> Transfers:
    """Those of the GPU from ``most_exposed`` with how much of each is exposed; rows and lengths are from ``inside``."""
    exposed = stretches(most[0].clipped, diagnosis.selected, part)
    alone = exposed_ns(exposed, table.start_ns[rows], table.end_ns[rows])
    return Transfers(*most, rows, length_ns, alone, exposed)


class Late(msgspec.Struct):
    """A GPU that comes late to collectives, in which another one waits for it."""

    device: int
    waiting: int
    """The GPU with most exposed communication."""
    lost_ns: int
    """How long that one waits in an iteration."""
    collectives: int
    """To how many in all iterations."""


def find_late(profile: Profile, diagnosis: Diagnosis) -> Late | None:
    """The GPU for which the one with most exposed communication waits longest; None if the recording has no other GPU
    with the same collectives."""
    result = collectives(profile, diagnosis) if len(diagnosis.devices) > 1 else None
    if result is None or not len(result.rows):
        return None
    kernels = profile.kernels
    selected = are_among(kernels.long_name, communication_names(profile))
    waited = _by_order(kernels, result.rows)
    best: Late | None = None
    for other in diagnosis.devices:
        if other.device == result.device.device:
            continue
        rows, _ = inside(diagnosis, kernels, np.flatnonzero(selected & (kernels.device == other.device)))
        theirs = _by_order(kernels, rows)
        both = min(len(waited), len(theirs))
        if not both or (kernels.name[waited[:both]] != kernels.name[theirs[:both]]).any():
            continue
        mine = kernels.end_ns[waited[:both]] - kernels.start_ns[waited[:both]]
        his = kernels.end_ns[theirs[:both]] - kernels.start_ns[theirs[:both]]
        late = mine >= thresholds.LATE_TIMES * np.maximum(his, 1)
        lost = int((mine - his)[late].sum()) // max(len(diagnosis.selected), 1)
        if lost and (best is None or lost > best.lost_ns):
            best = Late(other.device, result.device.device, lost, int(late.sum()))
    return best


def _by_order(kernels: Kernels, rows: Int64s) -> Int64s:
    return rows[np.argsort(kernels.start_ns[rows], kind="stable")]
