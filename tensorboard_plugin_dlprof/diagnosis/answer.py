"""The diagnosis of a profile: what every page, report and command says about where the time goes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.architecture import matrix_unit_of
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.group import begins_new, stable_order
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.diagnosis.captures import captured
from tensorboard_plugin_dlprof.diagnosis.clip import Clipped
from tensorboard_plugin_dlprof.diagnosis.parts import HOST, Part
from tensorboard_plugin_dlprof.diagnosis.queue import Launches, QueueTimes, launches_of, queue_times, ran_ahead
from tensorboard_plugin_dlprof.diagnosis.segments import Activity, Cause, Int32s, Int64s, Segments
from tensorboard_plugin_dlprof.diagnosis.windows import Typical, find_typical
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile
from tensorboard_plugin_dlprof.units import percentage

MISSING_FRACTION: Final = 0.05
"""Share of the time in which work waited for something that was not recorded, from which busy time is a lower bound."""

UNMATCHED_FRACTION: Final = 0.01
"""Share of launches without work, or of work without a launch, from which the recording lacks some."""

USED_FRACTION: Final = 0.1
"""Share of the busiest GPU's busy time below which a GPU is not one that the program works with."""

OUTSIDE_FRACTION: Final = 0.05
"""Share of the GPUs' work from which it is told that it is in no iteration."""

QUEUED = ("turnaround", "dependency", "graph", "unexplained")


class Row(msgspec.Struct):
    """One named cause of a part within some windows."""

    cause: Cause
    count: int
    time_ns: int
    worst: int
    """Position of the window with most of it."""
    longest: tuple[int, int]
    """Start and stop of its longest stretch in that window."""


class DeviceDiagnosis(msgspec.Struct):
    """One GPU in all windows."""

    device: int
    clipped: Clipped
    parts_ns: Int64s
    """Shape (n, 14), by ``Part``."""
    queued_ns: Int64s
    """Shape (n, 4), by ``QUEUED``."""
    communication_ns: Int64s
    copy_ns: Int64s
    graph_ns: Int64s
    queue: QueueTimes
    launches: Launches


class Diagnosis(msgspec.Struct):
    """Where the time of the windows of a profile goes."""

    profile: Profile
    candidate: IterationCandidate
    marked: bool
    labels: list[str]
    start_ns: Int64s
    stop_ns: Int64s
    typical: Typical
    selected: list[int]
    """Positions of the windows that means are made of."""
    devices: list[DeviceDiagnosis]
    causes: list[Cause]
    """Those of the activity without what tells repetitions apart."""
    merged: Int64s
    """The position in ``causes`` of each cause of the activity."""

    @property
    def wall_ns(self) -> Int64s:
        """Length of each window."""
        wall: Int64s = self.stop_ns - self.start_ns
        return wall

    @property
    def mean_wall_ns(self) -> int:
        """Mean length of the chosen windows."""
        return int(self.wall_ns[self.selected].sum()) // max(len(self.selected), 1)

    @property
    def matrix_unit(self) -> str:
        """What the vendor calls the matrix units of the GPUs."""
        return matrix_unit_of((device.name for device in self.profile.devices), self.profile.info.cuda_version)

    def mean(self, values: Int64s) -> Int64s:
        """Integer means of the chosen rows."""
        mean: Int64s = values[self.selected].sum(axis=0) // max(len(self.selected), 1)
        return mean

    @property
    def lower_bound(self) -> list[str]:
        """Why the busy time is only a lower bound; empty if it is not."""
        return _lower_bound(self)

    @property
    def outside(self) -> str:
        """A sentence about the work of the GPUs that is in no iteration; empty where it is little."""
        return _outside(self)

    @property
    def captured(self) -> tuple[int, int]:
        """How many CUDA graphs are captured in the chosen windows, and for how many nanoseconds (``captures``)."""
        if not self.selected:
            return 0, 0
        return captured(self.profile, int(self.start_ns[self.selected[0]]), int(self.stop_ns[self.selected[-1]]))


def rows_of(
    diagnosis: Diagnosis, device: DeviceDiagnosis, windows: Sequence[int] | None = None, *, busy: bool = False
) -> list[Row]:
    """The causes of a GPU's idle time, most time first; times and counts are means per window.

    Args:
        diagnosis: of all GPUs.
        device: one of them.
        windows: positions of windows; by default, those that means are made of.
        busy: whether busy time is included.
    """
    positions = diagnosis.selected if windows is None else windows
    return _rows(device.clipped, diagnosis.causes, diagnosis.merged, positions, Part(0) if busy else Part.QUEUED)


def candidate_of(profile: Profile) -> IterationCandidate:
    """The iterations to diagnose. Captures with DLProf's markers show the whole capture first, but iterations that the
    program marked are what its user waits for."""
    first, *others = profile.iterations
    if profile.dlprof_markers and first.source == "whole_capture" and others:
        return others[0] if others[0].source in ("profiler_step", "numbered_range") else first
    return first


def diagnose(profile: Profile, candidate: IterationCandidate | None = None) -> Diagnosis:
    """Clip the activity of a profile to its iterations, or to the time with GPU work if none are marked.

    Args:
        profile: with the complete activity (``activity.complete``).
        candidate: the iterations; by default ``candidate_of(profile)``.
    """
    candidate, activity = candidate or candidate_of(profile), profile.activity
    marked = candidate.source != "whole_capture"
    start, stop, labels = candidate.start_ns, candidate.stop_ns, _labels(candidate)
    busy = [_busy_bounds(activity, device) for device in activity.devices]
    if not marked and busy:
        start, stop = np.array([min(bounds[0] for bounds in busy)]), np.array([max(bounds[1] for bounds in busy)])
        labels = ["From the first to the last GPU work"]
    if not busy:
        start, stop, labels = start[:0], stop[:0], []
    devices = [
        _of_device(profile, device, start, stop)
        for device, (first, last) in zip(activity.devices, busy, strict=True)
        if last > start[0] and first < stop[-1]
    ]
    typical = Typical(0, len(start) - 1, (), (), (0, len(start) - 1))
    if len(start):
        work, ahead = np.zeros(len(start), np.bool_), np.zeros(len(start), np.bool_)
        for by_device in devices:
            work |= by_device.parts_ns[:, : Part.QUEUED].sum(axis=1) > 0
            ahead |= ran_ahead(by_device.launches, start, stop)
        typical = find_typical((stop - start).tolist(), work.tolist(), ahead.tolist())
    return Diagnosis(
        profile, candidate, marked, labels, start, stop, typical, typical.selected, devices, *_merged(activity.causes)
    )


def _labels(candidate: IterationCandidate) -> list[str]:
    label = candidate.label
    stem = label.removesuffix("N") if label.endswith(("#N", " N")) else f"{label} "
    return [f"{stem}{number}" for number in candidate.values.tolist()]


def _busy(activity: Activity, device: Segments) -> Int64s:
    """The segments in which a GPU works."""
    is_busy = np.array([cause.part < Part.QUEUED for cause in activity.causes], np.bool_)[device.cause]
    return np.flatnonzero(is_busy)


def _busy_bounds(activity: Activity, device: Segments) -> tuple[int, int]:
    """Begin and end of a GPU's work."""
    rows = _busy(activity, device)
    return (int(device.start_ns[rows[0]]), int(device.stop_ns[rows[-1]])) if len(rows) else (0, 0)


def _of_device(profile: Profile, device: Segments, start: Int64s, stop: Int64s) -> DeviceDiagnosis:
    clipped = Clipped(profile.activity, device, start, stop)
    launches = launches_of(profile, device.device)
    release_freed()
    queue = queue_times(launches, start, stop)
    release_freed()
    return DeviceDiagnosis(
        device=device.device,
        clipped=clipped,
        parts_ns=clipped.parts_ns(),
        queued_ns=np.stack([clipped.queued_ns(detail) for detail in QUEUED], axis=1),
        communication_ns=clipped.communication_ns(),
        copy_ns=clipped.copy_ns(),
        graph_ns=clipped.graph_ns(),
        queue=queue,
        launches=launches,
    )


_BLOCK = 1 << 18
"""Pieces that are summed at a time, whole windows each: there may be tens of millions."""


def _rows(clipped: Clipped, causes: list[Cause], merged: Int64s, windows: Sequence[int], from_part: Part) -> list[Row]:
    inside = np.zeros(clipped.windows, np.bool_)
    inside[list(windows)] = True
    count, spent, most, worst, longest = np.zeros((5, len(causes)), np.int64)
    for begin, end in _blocks(clipped.window, min(windows, default=0), max(windows, default=-1)):
        rows = begin + np.flatnonzero(inside[clipped.window[begin:end]] & (clipped.part[begin:end] >= from_part))
        if not len(rows):
            continue
        cause = merged[clipped.cause[rows]]
        # By cause, then by window, in whose order they are.
        order = stable_order(cause)
        heads = np.flatnonzero(begins_new(order, cause, clipped.window[rows]))
        rows, cause = rows[order], cause[order[heads]]
        length = clipped.stop_ns[rows] - clipped.start_ns[rows]
        time, pieces = np.add.reduceat(length, heads), np.diff(np.append(heads, len(rows)))
        np.add.at(count, cause, pieces)
        np.add.at(spent, cause, time)
        by_time = np.lexsort((-time, cause))
        first = by_time[begins_new(by_time, cause)]
        first = first[time[first] > most[cause[first]]]
        # NumPy keeps the last of several writes to one element: that of several longest ones.
        of_longest = np.flatnonzero(length == np.repeat(np.maximum.reduceat(length, heads), pieces))
        last = np.empty(len(heads), np.int64)
        last[np.searchsorted(heads, of_longest, side="right") - 1] = of_longest
        most[cause[first]], worst[cause[first]] = time[first], clipped.window[rows[heads[first]]]
        longest[cause[first]] = rows[last[first]]
    some, means = np.flatnonzero(count), len(windows)
    columns = (some, count[some], spent[some], worst[some])
    times = (clipped.start_ns[longest[some]], clipped.stop_ns[longest[some]]) if len(some) else (some, some)
    result = [
        Row(causes[which], max(1, round(pieces / means)), time // means, window, (start, stop))
        for which, pieces, time, window, start, stop in zip(*(each.tolist() for each in columns + times), strict=True)
    ]
    return sorted(result, key=lambda row: -row.time_ns)


def _blocks(window: Int32s, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Where blocks of pieces begin and end that are in the windows from the first to the last."""
    # A number of another type would make NumPy convert all windows for each search.
    begin, stop = map(int, np.searchsorted(window, np.array((first, last + 1), window.dtype)))
    while begin < stop:
        end = int(np.searchsorted(window, window[min(begin + _BLOCK, stop) - 1], side="right"))
        yield begin, end
        begin = end


_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])")
"""A number that is a word of its own: ``blocks.18`` and ``step 5``, not ``conv2d``."""


def _merged(causes: list[Cause]) -> tuple[list[Cause], Int64s]:
    """The causes without what tells repetitions apart, such as the index of a layer or the number of a request, and the
    row there of each cause.

    An op keeps its id if it is the only one, and a range its number.
    """
    numbered_alike = Counter(_NUMBER.sub("*", path) for path in {each.path for each in causes if each.kind == "range"})
    sums: dict[Cause, int] = {}
    ops: dict[int, str] = {}
    rows = np.zeros(len(causes), np.int64)
    for row, cause in enumerate(causes):
        path = path_pattern(cause.path) if cause.kind == "op" or cause.path.startswith("/") else cause.path
        if cause.kind == "range" and numbered_alike[alike := _NUMBER.sub("*", path)] > 1:
            path = alike
        key = msgspec.structs.replace(cause, path=path, op_id="", overlaps=0)
        rows[row] = sums.setdefault(key, len(sums))
        ops[int(rows[row])] = cause.op_id if ops.get(int(rows[row]), cause.op_id) == cause.op_id else ""
    return [msgspec.structs.replace(cause, op_id=ops[row]) for cause, row in sums.items()], rows


def _lower_bound(diagnosis: Diagnosis) -> list[str]:
    activity, kernels = diagnosis.profile.activity, diagnosis.profile.kernels
    wall = diagnosis.mean_wall_ns
    bounds = []
    missing = [int(diagnosis.mean(device.queued_ns)[2:].sum()) for device in diagnosis.devices]
    if any(time and time >= MISSING_FRACTION * wall for time in missing):
        bounds.append("missing_work")
    if activity.launch_calls_without_work > UNMATCHED_FRACTION * max(activity.launch_calls, 1):
        bounds.append("launches_without_work")
    if np.count_nonzero(kernels.launched == 0) > UNMATCHED_FRACTION * max(len(kernels.op), 1):
        bounds.append("work_without_launch")
    if any(device.graph_ns.any() for device in diagnosis.devices):
        bounds.append("graphs_whole")
    return bounds


def _outside(diagnosis: Diagnosis) -> str:
    if not diagnosis.marked or not len(diagnosis.start_ns):
        return ""
    activity, first, last = diagnosis.profile.activity, int(diagnosis.start_ns[0]), int(diagnosis.stop_ns[-1])
    inside = sum(int(device.parts_ns[:, : Part.QUEUED].sum()) for device in diagnosis.devices)
    before = after = whole = 0
    for device in activity.devices:
        rows = _busy(activity, device)
        start, stop = device.start_ns[rows], device.stop_ns[rows]
        whole += int((stop - start).sum())
        before += int((np.minimum(stop, first) - np.minimum(start, first)).sum())
        after += int((np.maximum(stop, last) - np.maximum(start, last)).sum())
    outside = whole - inside
    if outside < OUTSIDE_FRACTION * max(whole, 1):
        return ""
    most = "before the first" if 2 * before > outside else "after the last" if 2 * after > outside else ""
    where = f", most of it {most}" if most else ""
    whose = "GPUs'" if len(activity.devices) > 1 else "GPU's"
    return f"{percentage(outside / whole)} of the {whose} work is in no iteration{where}."


def lead_in(diagnosis: Diagnosis) -> dict[str, Any]:
    """What came before the first GPU work, where no iterations are marked."""
    if diagnosis.marked:
        return {}
    profile = diagnosis.profile
    begun = [profile.instances.start_ns, profile.calls.api_start_ns, profile.syncs.api_start_ns]
    begun += [table.api_start_ns for table in (profile.kernels, profile.memcpys, profile.memsets)]
    first_call = min((int(column.min()) for column in begun if len(column)), default=0)
    result = {}
    for device, segments in zip(diagnosis.devices, profile.activity.devices, strict=False):
        first = int(_busy_bounds(profile.activity, segments)[0])
        begin = min(first_call, first)
        returned = int(device.launches.returned_ns.min(initial=np.iinfo(np.int64).max))
        queued = min(max(first - returned, 0), first - begin)
        parts = {part.label: 0 for part in Part if part > Part.QUEUED}
        if begin < first:
            clipped = Clipped(profile.activity, segments, np.array([begin]), np.array([max(first - queued, begin)]))
            parts = {part.label: int(clipped.parts_ns()[0, part]) for part in Part if part > Part.QUEUED}
        result[str(device.device)] = {"wall_ns": first - begin, "queued_ns": queued, "parts": parts}
    return result


# ---- what it means ---------------------------------------------------------------------------------------------------


def working(diagnosis: Diagnosis) -> list[DeviceDiagnosis]:
    """The GPUs that the program works with: not those that only copy, or get a kernel now and then, beside one that
    computes."""
    parts = [diagnosis.mean(device.parts_ns) for device in diagnosis.devices]
    busy, in_kernels = ([int(each[:end].sum()) for each in parts] for end in (Part.QUEUED, Part.COPY))
    least, computes = USED_FRACTION * max(busy, default=0), any(in_kernels)
    return [
        device
        for device, time, kernels in zip(diagnosis.devices, busy, in_kernels, strict=True)
        if time >= least and (kernels or not computes)
    ]


def far_ahead(diagnosis: Diagnosis) -> bool:
    """Whether the host is far ahead of every GPU, so that nothing it does sooner would help."""
    selected = diagnosis.selected
    if not diagnosis.devices or not selected:
        return False
    wall = int(diagnosis.wall_ns[selected].sum())
    result = []
    for device in working(diagnosis):
        medians = device.queue.median[selected]
        median = middle(medians[medians >= 0])
        is_never_empty = (
            bool(device.queue.launches[selected].any()) and device.queue.empty_ns[selected].sum() < 0.01 * wall
        )
        result.append((median or 0) > 100 or is_never_empty)
    return bool(result) and all(result)


def host_bound(diagnosis: Diagnosis) -> bool:
    """Whether most of the idle time, and a fifth of all, is the host's."""
    for device in working(diagnosis):
        parts = diagnosis.mean(device.parts_ns)
        idle = int(parts[Part.QUEUED :].sum())
        host = int(sum(parts[part] for part in HOST))
        if 2 * host > idle and 5 * idle > diagnosis.mean_wall_ns:
            return True
    return False


def middle(numbers: Int64s) -> int | None:
    """The middle one, the upper of two; None if there are none."""
    return int(np.sort(numbers)[len(numbers) // 2]) if len(numbers) else None
