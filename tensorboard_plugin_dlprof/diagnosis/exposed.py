"""When communication or copies are exposed: the GPU does nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorboard_plugin_dlprof.diagnosis.clip import Clipped
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import Int64s
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, within


def stretches(clipped: Clipped, windows: Sequence[int], part: Part) -> Spans:
    """The longest intervals that belong to one part of a GPU's time alone, disjoint and ascending, with their window.

    Args:
        clipped: of the GPU.
        windows: positions of those that count.
        part: one of the parts.
    """
    counts = np.zeros(clipped.windows, np.bool_)
    counts[list(windows)] = True
    rows = np.flatnonzero((clipped.part == part) & counts[clipped.window])
    start, stop, window = clipped.start_ns[rows], clipped.stop_ns[rows], clipped.window[rows]
    # What else runs cuts it into several.
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (start[1:] != stop[:-1]) | (window[1:] != window[:-1])
    ends = np.append(begins[1:], True)[: len(rows)]
    return Spans(start[begins], stop[ends], window[begins])


def exposed_ns(exposed: Spans, start_ns: Int64s, stop_ns: Int64s) -> Int64s:
    """How much of each of some intervals lies in ``stretches``."""
    if not len(exposed.start):
        return np.zeros(len(start_ns), np.int64)
    before = np.append(0, np.cumsum(exposed.stop - exposed.start))

    def until(time: Int64s) -> Int64s:
        place = np.searchsorted(exposed.start, time, side="right")
        last = np.maximum(place - 1, 0)
        reached = np.minimum(time, exposed.stop[last]) - exposed.start[last]
        result: Int64s = before[last] + np.where(place > 0, reached, 0)
        return result

    return until(stop_ns) - until(start_ns)


def longest_exposed(exposed: Spans, start_ns: Int64s, stop_ns: Int64s) -> tuple[int, int, int] | None:
    """The longest piece of some intervals that lies in ``stretches``: start, stop, window; None if none does."""
    pieces, stretch = within(Spans(start_ns, stop_ns, np.arange(len(start_ns))), exposed)
    if not len(stretch):
        return None
    longest = int((pieces.stop - pieces.start).argmax())
    return int(pieces.start[longest]), int(pieces.stop[longest]), int(exposed.row[stretch[longest]])
