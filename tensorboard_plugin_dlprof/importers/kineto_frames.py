"""Chooses among Python frames: those that took long, and, as ranges, those that contain something a profile shows.

Python calls thousands of functions between two ops; in a capture with stacks, nine of ten ranges may be frames without
any op, annotation, module or API call inside, which are in no stack trace. A few of those took long, and may be why a
GPU waited. Frames are examined block by block, before any table is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.distinct import rows_by_value
from tensorboard_plugin_dlprof.events.tables import Frames, Int32s, Int64s, RangeKind, Strings
from tensorboard_plugin_dlprof.importers.kineto_rows import CallRows, HostRows
from tensorboard_plugin_dlprof.importers.kineto_threads import used_ids
from tensorboard_plugin_dlprof.importers.kineto_times import Kept, Mask, Times, blocks

_NEVER_NS = np.iinfo(np.int64).max
_NO_ROW = -1

LONG_FRAME_US = 10.0
"""What is shorter counts for its caller: a hundredth of the gaps that are explained by functions. Of a hundred frames
that Python's profiler records it is 85 to 98."""


def is_module(name: str) -> bool:
    """Whether a frame of this name is a call of a module."""
    return name.startswith("nn.Module: ")


def long_frames(frames: Kept[HostRows], times: Times) -> Frames:
    """The calls of functions that took long, be there anything in them or not. The table stays as it is."""
    duration_us = frames.peek("duration_us")
    rows = np.flatnonzero(duration_us >= LONG_FRAME_US)
    start_ns, end_ns = times.span(frames.peek("start_us")[rows], duration_us[rows])
    kind = np.full(len(rows), RangeKind.FRAME, np.int8)
    return Frames(start_ns, end_ns, frames.peek("thread")[rows], kind, frames.peek("name")[rows])


def leave_out_empty_frames(
    frames: Kept[HostRows], ranges: Sequence[Kept[Any]], calls: Kept[CallRows], times: Times, strings: Strings
) -> None:
    """Keeps modules, and frames in which a module, another range or a call of their thread starts.

    Two more stay for what they tell besides: the last frames to end on each thread, since calls whose return was not
    seen end with them, and a frame that starts before all other ranges, as a capture without iterations starts there.

    Args:
        frames: calls of Python functions; rows are left out here.
        ranges: all other host ranges.
        calls: all API calls.
        times: those of the trace.
        strings: has the names.
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
    """The starts on each thread, ascending, with a time at the end that is never reached."""
    start_ns, thread = map(np.concatenate, zip(*starts, strict=True))
    return {number: np.append(np.sort(start_ns[rows]), _NEVER_NS) for number, rows in rows_by_value(thread)}
