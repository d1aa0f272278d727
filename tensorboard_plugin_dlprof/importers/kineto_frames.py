"""Selects Python frames: the long ones, and, as ranges, those that contain something that a profile shows.

Python calls thousands of functions between two ops. In a capture with stacks, nine of ten ranges may be frames without
any op, annotation, module or API call inside, which appear in no stack trace. A few of them took long, and may explain
why a GPU waited. Frames are examined block by block, before any table is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.group import rows_by_value
from tensorboard_plugin_dlprof.events.tables import Frames, Int32s, Int64s, RangeKind, Strings
from tensorboard_plugin_dlprof.importers.kineto_rows import CallRows, HostRows
from tensorboard_plugin_dlprof.importers.kineto_threads import used_ids
from tensorboard_plugin_dlprof.importers.kineto_times import Kept, Mask, Times, blocks

_NEVER_NS = np.iinfo(np.int64).max
_NO_ROW = -1

LONG_FRAME_US = 10.0
"""Shorter calls count as part of their caller: this is a hundredth of the gaps that are explained by functions. Of the
frames that Python's profiler records, 85 to 98 % are shorter."""


def is_module(name: str) -> bool:
    """Whether a frame with this name is a call of a module (``nn.Module``)."""
    return name.startswith("nn.Module: ")


def long_frames(frames: Kept[HostRows], times: Times) -> Frames:
    """The calls of functions that took long, whatever they contain. The table is not changed."""
    duration_us = frames.peek("duration_us")
    rows = np.flatnonzero(duration_us >= LONG_FRAME_US)
    start_ns, end_ns = times.span(frames.peek("start_us")[rows], duration_us[rows])
    kind = np.full(len(rows), RangeKind.FRAME, np.int8)
    return Frames(start_ns, end_ns, frames.peek("thread")[rows], kind, frames.peek("name")[rows])


def leave_out_empty_frames(
    frames: Kept[HostRows], ranges: Sequence[Kept[Any]], calls: Kept[CallRows], times: Times, strings: Strings
) -> None:
    """Keeps only modules, and frames during which a module, another range or an API call of their thread starts.

    Two kinds of frames are kept for another reason: the last frame to end on each thread, because calls whose return
    was not recorded end with it, and a frame that starts before all other ranges, because a capture without iterations
    starts there.

    Args:
        frames: calls of Python functions, from which rows are left out.
        ranges: all other host ranges.
        calls: all API calls.
        times: converts the times of the trace.
        strings: the texts of the names.
    """
    keep = _are_modules(frames.peek("name"), strings)
    if keep.all():
        return
    start_us, duration_us, thread = map(frames.peek, ("start_us", "duration_us", "thread"))
    modules = np.flatnonzero(keep)
    tables = [(table.peek("start_us"), table.peek("thread")) for table in (calls, *ranges)]
    tables.append((start_us[modules], thread[modules]))
    starts = [(times.points(begin_us), of_thread) for begin_us, of_thread in tables]
    inside = _by_thread(starts)
    first = min((int(start_ns.min(initial=_NEVER_NS)), _NO_ROW) for start_ns, _ in starts[1:])
    last: list[tuple[int, int, Int64s]] = []
    for block in blocks(len(keep)):
        here = np.flatnonzero(~keep[block]) + block.start
        start_ns, end_ns = times.span(start_us[here], duration_us[here])
        for number, members in rows_by_value(thread[here]):
            start, end, rows = start_ns[members], end_ns[members], here[members]
            if number in inside:
                keep[rows] = inside[number][np.searchsorted(inside[number], start)] <= end
            first = min(first, (int(start.min()), int(rows[start.argmin()])))
            latest = int(end.max())
            last.append((number, latest, rows[end == latest]))
    ends = dict(sorted((number, latest) for number, latest, _ in last))
    for number, latest, rows in last:
        if latest == ends[number]:
            keep[rows] = True
    if first[1] != _NO_ROW:
        keep[first[1]] = True
    frames.narrow(keep)


def _are_modules(name: Int32s, strings: Strings) -> Mask:
    modules = np.zeros(len(strings), np.bool_)
    modules[[text for text in used_ids(name) if is_module(strings[text])]] = True
    return modules[name]


def _by_thread(starts: Sequence[tuple[Int64s, Int32s]]) -> dict[int, Int64s]:
    """The starts on each thread, ascending, followed by a time that is never reached."""
    start_ns, thread = map(np.concatenate, zip(*starts, strict=True))
    return {number: np.append(np.sort(start_ns[rows]), _NEVER_NS) for number, rows in rows_by_value(thread)}
