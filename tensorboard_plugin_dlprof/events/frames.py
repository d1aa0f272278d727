"""Leaves out Python frames in which nothing happens that a profile tells of.

Python calls thousands of functions between two ops; of a capture with stacks nine ranges of ten may be
frames without any op, annotation, module or API call inside. Nothing has them in its stack trace.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.cleaning import rows_of
from tensorboard_plugin_dlprof.events.nesting import rows_by_value
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind

_BLOCK = 1 << 18
"""Frames at a time, so that memory does not grow with them."""


def without_empty_frames(capture: Capture) -> Capture:
    """The capture without frames in which no other range and no call starts; other tables are shared."""
    ranges, calls = capture.ranges, capture.calls
    is_frame = ranges.kind == RangeKind.FRAME
    if not is_frame.any():
        return capture
    keep = ~is_frame
    other = np.flatnonzero(keep)
    thread = np.concatenate([ranges.thread[other], calls.thread])
    time_ns = np.concatenate([ranges.start_ns[other], calls.start_ns])
    times = {index: np.sort(time_ns[rows]) for index, rows in rows_by_value(thread)}
    frames = np.flatnonzero(is_frame)
    for low in range(0, len(frames), _BLOCK):
        capture.spill.rest()
        block = frames[low : low + _BLOCK]
        for index, members in rows_by_value(ranges.thread[block]):
            rows = block[members]
            if index in times:
                first = np.searchsorted(times[index], ranges.start_ns[rows], side="left")
                keep[rows] = first < np.searchsorted(times[index], ranges.end_ns[rows], side="right")
    keep[frames] |= _are_last(ranges.thread[frames], ranges.end_ns[frames])
    keep[np.argmin(ranges.start_ns)] = True  # a capture without iterations starts with its first event
    return replace(capture, ranges=rows_of(ranges, keep, capture.spill))


def _are_last(thread: Int32s, end_ns: Int64s) -> npt.NDArray[np.bool_]:
    """Frames with the latest end of their thread: calls whose return was not seen, which nesting tells by it."""
    latest = np.zeros(int(thread.max()) + 1, np.int64)
    np.maximum.at(latest, thread, end_ns)
    ends_last: npt.NDArray[np.bool_] = end_ns == latest[thread]
    return ends_last
