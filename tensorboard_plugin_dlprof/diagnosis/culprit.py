"""The headline of a diagnosis, with the place in which the time is lost that it blames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.group import are_among, numbered
from tensorboard_plugin_dlprof.diagnosis.activity import communication_names
from tensorboard_plugin_dlprof.diagnosis.answer import DeviceDiagnosis, Diagnosis, Row, working
from tensorboard_plugin_dlprof.diagnosis.calls import without_version
from tensorboard_plugin_dlprof.diagnosis.directions import direction_said, directions
from tensorboard_plugin_dlprof.diagnosis.exposed import exposed_ns, stretches
from tensorboard_plugin_dlprof.diagnosis.headline import NO_GPU_WORK, Longest, headline
from tensorboard_plugin_dlprof.diagnosis.parts import HOST, Part
from tensorboard_plugin_dlprof.diagnosis.places import by_place, names_of
from tensorboard_plugin_dlprof.diagnosis.segments import Cause
from tensorboard_plugin_dlprof.diagnosis.set_up import set_up_places
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, covered, within
from tensorboard_plugin_dlprof.profile.tables import Copies, Kernels
from tensorboard_plugin_dlprof.units import percentage

_NAMED: Final = (Part.COMMUNICATION, Part.COPY, *HOST)
"""Parts in which the GPU waits for something that has a name."""

_MOST = 0.5
_LEAST = 0.3
"""Share of the time that is blamed below which a place is not named: there are others like it."""

_LOADER: Final = "DataLoaderIter.__next__"
"""The end of PyTorch's own range, which says no more than that it is the data loader."""

_ALIKE = 0.98
"""GPUs whose computing differs by no more compute alike: none of them least."""


def headline_of(
    diagnosis: Diagnosis, rows: Mapping[int, Sequence[Row]], start_up_ns: Mapping[str, int], missing: str
) -> str:
    """One or two sentences: how much of the time is computing, and what takes most of the rest.

    Args:
        diagnosis: of all GPUs.
        rows: those of each GPU, from ``rows_of``.
        start_up_ns: time in calls that block which a finding tells of as first calls, by GPU.
        missing: what findings say of missing GPU work: ``some``, ``throughout``, or nothing.
    """
    if not diagnosis.devices:
        return NO_GPU_WORK
    devices, info = working(diagnosis), diagnosis.profile.info
    computing = {each.device: int(diagnosis.mean(each.parts_ns)[: Part.COMMUNICATION].sum()) for each in devices}
    worst = min(devices, key=lambda device: computing[device.device])
    parts, queued = diagnosis.mean(worst.parts_ns), diagnosis.mean(worst.queued_ns)
    wall = diagnosis.wall_ns[diagnosis.selected]
    whose = ""
    if len(devices) > 1:
        busy = " busy ones" if len(devices) < len(diagnosis.devices) else ""
        is_least = computing[worst.device] < _ALIKE * max(computing.values())
        whose = f"on GPU {worst.device}, {'which computes least' if is_least else 'one'} of {len(devices)}{busy}"
    elif info.rank >= 0 and info.world_size > 1:
        whose = f"on rank {info.rank} of {info.world_size:,}, GPU {worst.device}"
    elif len(diagnosis.devices) > 1:
        whose = f"on GPU {worst.device}, the only busy one"
    return headline(
        diagnosis.mean_wall_ns,
        {part: int(parts[part]) for part in Part},
        marked=diagnosis.marked,
        unit=diagnosis.matrix_unit,
        missing_ns=int(queued[2:].sum()),
        is_lower_bound=bool({"missing_work", "launches_without_work"} & set(diagnosis.lower_bound)),
        lacks_work=bool(missing),
        lacks_launches=missing == "throughout",
        capturing_ns=diagnosis.captured[1] // max(len(diagnosis.selected), 1),
        median_ns=int(np.median(wall)) if len(wall) else 0,
        longest=_longest(diagnosis, worst),
        whose=whose,
        where=lambda part: (
            " Mostly start-up, which happens once."
            if part == Part.BLOCKED and start_up_ns.get(str(worst.device), 0) > _MOST * parts[part]
            else culprit(diagnosis, worst, rows[worst.device], part)
        ),
    )


def _longest(diagnosis: Diagnosis, device: DeviceDiagnosis) -> Longest | None:
    """The longest of the iterations that means are made of; None where there is one."""
    if len(diagnosis.selected) < 2:
        return None
    position = max(diagnosis.selected, key=lambda each: int(diagnosis.wall_ns[each]))
    return Longest(
        str(diagnosis.candidate.values[position]),
        int(diagnosis.wall_ns[position]),
        {part: int(device.parts_ns[position, part]) for part in Part},
        int(device.queued_ns[position, 2:].sum()),
        int(diagnosis.wall_ns[position]) / max(int(diagnosis.wall_ns[diagnosis.selected].sum()), 1),
    )


def culprit(diagnosis: Diagnosis, device: DeviceDiagnosis, rows: Sequence[Row], part: Part) -> str:
    """A sentence about the place that a part of a GPU's time is lost in; empty if no place holds enough of it.

    Args:
        diagnosis: of all GPUs.
        device: one of them.
        rows: the causes of its idle time.
        part: what is blamed.
    """
    if part not in _NAMED:
        return ""
    time_ns = int(diagnosis.mean(device.parts_ns)[part])
    is_transfer = part in (Part.COMMUNICATION, Part.COPY)
    own = _exposed_rows(diagnosis, device, part) if is_transfer else [row for row in rows if row.cause.part == part]
    if not diagnosis.marked:
        once = set_up_places(diagnosis.profile, ((row.cause.path, row.time_ns) for row in own), time_ns)
        if once:
            names = " and ".join(f"`{name}`" for name in once)
            return f" Mostly in {names}, which {'runs' if len(once) == 1 else 'run'} once."
    return _copied(own, time_ns) if part == Part.COPY else place_of_most(own, time_ns)


def _copied(rows: Sequence[Row], time_ns: int) -> str:
    """A sentence about the direction of most of the copies, with the path of most of these."""
    spent, of_path = Counter[str](), Counter[tuple[str, str]]()
    for row in rows:
        spent[row.cause.detail] += row.time_ns
        of_path[row.cause.detail, row.cause.path] += row.time_ns
    where, most_ns = max(spent.items(), key=lambda each: each[1], default=("", 0))
    if not where or most_ns < _LEAST * time_ns:
        return ""
    mine = [row for row in rows if row.cause.detail == where and row.cause.path]
    first = max(mine, key=lambda each: of_path[where, each.cause.path], default=None)
    if first is not None and of_path[where, first.cause.path] >= _MOST * most_ns:
        where += f", in `{names_of(first)[-1]}`"
    return (
        f" Mostly {where}." if most_ns >= _MOST * time_ns else f" Of that, {percentage(most_ns / time_ns)} is {where}."
    )


def place_of_most(rows: Sequence[Row], time_ns: int) -> str:
    """A sentence about the place with most of some time, if it has a name and a fair share."""
    row, spent_ns = next(iter(by_place(rows)), (None, 0))
    if row is None or spent_ns < _LEAST * time_ns:
        return ""
    if row.cause.path.endswith(_LOADER) and not row.cause.call:
        return ""
    place = " in ".join(f"`{name}`" for name in names_of(row))
    if row.cause.part == Part.UNRECORDED:
        place = f"before {place}"  # The next call is not the cause.
    elif not row.cause.call:
        place = f"in {place}"
    return f" {_portion(spent_ns, time_ns)} {place}."


def _portion(spent_ns: int, time_ns: int) -> str:
    return "Mostly" if spent_ns >= _MOST * time_ns else f"Of that, {percentage(spent_ns / time_ns)} is"


def _exposed_rows(diagnosis: Diagnosis, device: DeviceDiagnosis, part: Part) -> list[Row]:
    """The exposed communication by op and kernel, or copies by op, call and direction; where some run together, each
    has that time."""
    profile = diagnosis.profile
    table: Kernels | Copies = profile.memcpys if part == Part.COPY else profile.kernels
    selected = table.device == device.device
    if part == Part.COMMUNICATION:
        selected &= are_among(profile.kernels.long_name, communication_names(profile))
    exposed, rows = stretches(device.clipped, diagnosis.selected, part), np.flatnonzero(selected)
    rows = rows[exposed_ns(exposed, table.start_ns[rows], table.end_ns[rows]) > 0]
    pairs, number = numbered(table.op[rows].astype(np.int64) << 32 | table.name[rows])
    direction = directions(profile.memcpys, rows) if part == Part.COPY else np.full(len(rows), -1)
    directed, number = numbered(number.astype(np.int64) << 8 | (direction + 1))
    groups: dict[tuple[str, str, str], list[int]] = {}
    for at, key in enumerate(directed.tolist()):
        pair, where = int(pairs[key >> 8]), (key & 0xFF) - 1
        op, name = profile.ops[pair >> 32], without_version(profile.strings[pair & 0xFFFFFFFF])
        path = path_pattern(op.name) if op.eligibility != Eligibility.UNASSOCIATED else ""
        towards = direction_said(where) if where >= 0 else ""
        groups.setdefault((path, name.split("(")[0].split("<")[0], towards), []).append(at)
    result = []
    for (path, name, towards), members in groups.items():
        own = rows[are_among(number, members)]
        together = covered(Spans(table.start_ns[own], table.end_ns[own], own))
        here, _ = within(together, exposed)
        time_ns = int((here.stop - here.start).sum()) // max(len(diagnosis.selected), 1)
        result.append(Row(Cause(int(part), towards, name, path, "op"), len(own), time_ns, 0, (0, 0)))
    return result
