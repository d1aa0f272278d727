"""Finds the time in which CUDA graphs are captured: what is launched then does not run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Rows
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Profile

_CAPTURE: Final = Expression(r"(?:cuda|hip|cu)Stream(Begin|End)Capture")

_MOST: Final = 0.5
"""Share of the time in which graphs are captured, from which idle time is their capture's."""


def captured(profile: Profile, start: int, stop: int) -> tuple[int, int]:
    """How many CUDA graphs are captured in a window, and for how many nanoseconds; 0 and 0 if that is the lesser part
    of it."""
    calls = profile.calls
    names = {text: profile.strings[text] for text in distinct_values(calls.name).tolist()}
    threads, thread = numbered(calls.thread_id)
    thread = thread + len(threads) * numbered(calls.process_id)[1]
    spans = capture_spans(names, calls.name, calls.api_start_ns, calls.api_end_ns, thread)
    inside = [(max(begin, start), min(end, stop)) for _, begin, end in spans if begin < stop and end > start]
    time_ns = sum(end - begin for begin, end in inside)
    return (len(inside), min(time_ns, stop - start)) if time_ns >= _MOST * (stop - start) else (0, 0)


def capture_spans(
    texts: Mapping[int, str], name: Int32s, start_ns: Int64s, end_ns: Int64s, thread: Rows | Int64s
) -> list[tuple[int, int, int]]:
    """On which thread, and from when until when, each CUDA graph is captured; in the order of their ends.

    Args:
        texts: of the names of calls.
        name: of each call.
        start_ns: of each call.
        end_ns: of each call.
        thread: of each call; any number that is the thread's own.
    """
    capturing = {text: match[1] == "Begin" for text, word in texts.items() if (match := _CAPTURE.match(word))}
    rows = np.flatnonzero(are_among(name, capturing))
    begun: dict[int, int] = {}
    spans = []
    for row in rows[np.argsort(start_ns[rows], kind="stable")].tolist():
        if capturing[int(name[row])]:
            begun[int(thread[row])] = int(start_ns[row])
        elif int(thread[row]) in begun:
            spans.append((int(thread[row]), begun.pop(int(thread[row])), int(end_ns[row])))
    return spans
