"""Leaves out Python frames in which nothing happens that a profile tells of.

Python calls thousands of functions between two ops; of a capture with stacks nine ranges of ten may be
frames without any op, annotation, module or API call inside. Nothing has them in its stack trace.
They are looked at in blocks, so that what is made of them takes no memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.cleaning import rows_of
from tensorboard_plugin_dlprof.events.nesting import rows_by_value
from tensorboard_plugin_dlprof.events.tables import Calls, Capture, Int64s, RangeKind, Ranges
from tensorboard_plugin_dlprof.events.trees import BLOCK, Flags


def without_empty_frames(capture: Capture) -> Capture:
    """The capture without frames in which no other range and no call starts; other tables are shared."""
    if not (capture.ranges.kind == RangeKind.FRAME).any():
        return capture
    return msgspec.structs.replace(capture, ranges=rows_of(capture.ranges, _kept(capture), capture.spill))


def _kept(capture: Capture) -> Flags:
    ranges = capture.ranges
    keep: Flags = ranges.kind != RangeKind.FRAME
    inside = _starts(ranges, np.flatnonzero(keep), capture.calls)
    latest = np.zeros(int(ranges.thread.max()) + 1, np.int64)
    frames = ~keep
    for rows in _blocks(frames):
        capture.spill.rest()
        for thread, members in rows_by_value(ranges.thread[rows]):
            here = rows[members]
            end = ranges.end_ns[here]
            latest[thread] = max(latest[thread], end.max())
            if thread in inside:
                first = np.searchsorted(inside[thread], ranges.start_ns[here], side="left")
                keep[here] = first < np.searchsorted(inside[thread], end, side="right")
    for rows in _blocks(frames):
        # Calls whose return was not seen end with the last of their thread, and nesting tells them by it.
        keep[rows] |= ranges.end_ns[rows] == latest[ranges.thread[rows]]
    keep[np.argmin(ranges.start_ns)] = True  # a capture without iterations starts with its first event
    return keep


def _starts(ranges: Ranges, rows: Int64s, calls: Calls) -> dict[int, Int64s]:
    """When ranges of some rows, and all calls, start on each thread, ascending."""
    thread = np.concatenate([ranges.thread[rows], calls.thread])
    start_ns = np.concatenate([ranges.start_ns[rows], calls.start_ns])
    return {index: np.sort(start_ns[here]) for index, here in rows_by_value(thread)}


def _blocks(chosen: Flags) -> Iterator[Int64s]:
    for low in range(0, len(chosen), BLOCK):
        rows = np.flatnonzero(chosen[low : low + BLOCK])
        if len(rows):
            yield rows + low
