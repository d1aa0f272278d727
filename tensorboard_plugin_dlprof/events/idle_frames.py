"""Finds the Python functions that the host ran while the GPU was idle.

In each long gap between two pieces of device work, the GPU waits for the thread that launches the second, so the
functions of that thread count. While it is in no function, as an autograd thread before its first op, those of the
thread that launched the first count. All long gaps are examined here; findings later select some of them by iteration
and cause.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.frames import is_own
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, rows_by_value
from tensorboard_plugin_dlprof.diagnosis.parts import LONG_NS
from tensorboard_plugin_dlprof.events.cleaning import rows_of
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.nesting import Nesting, nest
from tensorboard_plugin_dlprof.events.tables import Capture, Frames, Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.profile.tables import IdleFrames


class _Gaps(msgspec.Struct):
    """Long gaps of one GPU: disjoint, ascending. Threads are rows of ``Capture.threads``."""

    start_ns: Int64s
    stop_ns: Int64s
    next_thread: Int32s
    """Thread that launched the work after the gap; for the last gap, the last work of all. -1 if unknown."""
    last_thread: Int32s
    """Thread that launched the work before the gap; -1 if unknown, or if ``next_thread`` is."""

    def at(self, time_ns: Int64s) -> Int64s:
        """Index of the last gap that starts at or before each time; 0 if there is none."""
        return np.maximum(np.searchsorted(self.start_ns, time_ns, side="right") - 1, 0)


def find_idle_frames(capture: Capture, links: Links) -> IdleFrames:
    """The functions in the long gaps of the GPU with the lowest id; no rows without recorded frames or device work."""
    if not len(capture.frames.start_ns) or not len(capture.work.start_ns):
        return empty(IdleFrames)
    gaps = _long_gaps(capture, links)
    frames = _within(capture, gaps)
    if not len(frames.start_ns):
        return empty(IdleFrames)
    return _innermost(gaps, frames, nest(frames), capture.strings)


def _long_gaps(capture: Capture, links: Links) -> _Gaps:
    work = capture.work
    rows = np.flatnonzero(work.device == work.device.min())
    rows = rows[np.argsort(work.start_ns[rows], kind="stable")]
    begins = np.append(work.start_ns[rows], capture.info.end_ns)
    ended = np.append(0, np.maximum.accumulate(work.end_ns[rows]))
    gap = np.flatnonzero(begins - ended >= LONG_NS)
    call = links.work_call[rows]
    thread = np.full(len(rows), -1, np.int32)
    thread[call >= 0] = capture.calls.thread[call[call >= 0]]
    next_thread, last_thread = np.append(thread, thread[-1])[gap], np.insert(thread, 0, -1)[gap]
    # If it is unknown which thread the GPU waited for, the previous one proves nothing.
    return _Gaps(ended[gap], begins[gap], next_thread, np.where(next_thread < 0, -1, last_thread))


def _within(capture: Capture, gaps: _Gaps) -> Frames:
    """The frames that overlap a gap, on threads that count for some gap."""
    frames = capture.frames
    if not len(gaps.start_ns):
        return rows_of(frames, np.zeros(len(frames.start_ns), np.bool_), capture.store)
    threads = distinct_values(np.concatenate((gaps.next_thread, gaps.last_thread)))
    gap = np.minimum(np.searchsorted(gaps.stop_ns, frames.start_ns, side="right"), len(gaps.stop_ns) - 1)
    inside = (gaps.start_ns[gap] < frames.end_ns) & (frames.start_ns < gaps.stop_ns[gap])
    return rows_of(frames, inside & are_among(frames.thread, threads.tolist()), capture.store)


def _innermost(gaps: _Gaps, frames: Frames, nesting: Nesting, strings: Strings) -> IdleFrames:
    """The innermost functions throughout the gaps: one row per interval in which they do not change."""
    start = _changes(gaps, nesting)
    gap = gaps.at(start)
    stop = np.minimum(np.append(start[1:], gaps.stop_ns[-1]), gaps.stop_ns[gap])
    place = nesting.innermost(gaps.next_thread[gap], start)
    nowhere = np.flatnonzero(place < 0)
    place[nowhere] = nesting.innermost(gaps.last_thread[gap[nowhere]], start[nowhere])
    known = (place >= 0) & (start < stop)
    start, stop, place = start[known], stop[known], place[known]
    name = frames.name[nesting.row]
    function = nesting.inherit(_are_own(name, strings), name)[place]
    function[function < 0] = 0
    return _joined(IdleFrames(start, stop, function, name[place]))


def _changes(gaps: _Gaps, nesting: Nesting) -> Int64s:
    """The starts of gaps, and the times within gaps at which the innermost function may change: ascending."""
    result = [gaps.start_ns]
    both = np.concatenate((gaps.next_thread, gaps.last_thread))
    for thread, rows in rows_by_value(both):
        if thread not in nesting.threads:
            continue
        here = nesting.threads[thread]
        times = np.concatenate((nesting.start_ns[here], nesting.end_ns[here]))
        own = np.sort(rows % len(gaps.start_ns))  # A gap occurs twice if both of its threads are this one.
        gap = own[np.maximum(np.searchsorted(gaps.start_ns[own], times, side="right") - 1, 0)]
        result.append(times[(gaps.start_ns[gap] < times) & (times < gaps.stop_ns[gap])])
    return distinct_values(np.concatenate(result))


def _are_own(name: Int32s, strings: Strings) -> npt.NDArray[np.bool_]:
    own = [text for text in distinct_values(name).tolist() if is_own(strings[text])]
    return are_among(name, own)


def _joined(frames: IdleFrames) -> IdleFrames:
    """Merges adjacent intervals in the same functions."""
    same = frames.start_ns[1:] == frames.stop_ns[:-1]
    for column in (frames.function, frames.innermost):
        same &= column[1:] == column[:-1]
    heads = np.append(True, ~same)[: len(frames.start_ns)]
    tails = np.append(~same, True)[: len(frames.start_ns)]
    return IdleFrames(frames.start_ns[heads], frames.stop_ns[tails], frames.function[heads], frames.innermost[heads])
