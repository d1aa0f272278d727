"""Finds the time in which CUDA graphs are captured: what is launched then does not run."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Profile

_CAPTURE: Final = Expression(r"(?:cuda|hip|cu)Stream(Begin|End)Capture")

_MOST: Final = 0.5
"""Share of the time in which graphs are captured, from which idle time is their capture's."""


def captured(profile: Profile, start: int, stop: int) -> tuple[int, int]:
    """How many CUDA graphs are captured in a window, and for how many nanoseconds; 0 and 0 if that is the lesser part
    of it."""
    calls, strings = profile.calls, profile.strings
    capturing = {
        text: match[1] == "Begin"
        for text in distinct_values(calls.name).tolist()
        if (match := _CAPTURE.match(strings[text]))
    }
    rows = np.flatnonzero(are_among(calls.name, capturing))
    begun: dict[tuple[int, int], int] = {}
    spans = []
    for row in rows[np.argsort(calls.api_start_ns[rows], kind="stable")].tolist():
        thread = int(calls.process_id[row]), int(calls.thread_id[row])
        if capturing[int(calls.name[row])]:
            begun[thread] = int(calls.api_start_ns[row])
        elif thread in begun:
            spans.append((begun.pop(thread), int(calls.api_end_ns[row])))
    inside = [(max(begin, start), min(end, stop)) for begin, end in spans if begin < stop and end > start]
    time_ns = sum(end - begin for begin, end in inside)
    return (len(inside), min(time_ns, stop - start)) if time_ns >= _MOST * (stop - start) else (0, 0)
