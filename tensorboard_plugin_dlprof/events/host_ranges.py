"""Finds the ranges and modules that the user's program named: what the timeline shows above the ops."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.diagnosis.calls import LIBRARY_DOMAIN
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind
from tensorboard_plugin_dlprof.events.trees import inside
from tensorboard_plugin_dlprof.profile.tables import HostRanges

LEVELS = 3


def find_host_ranges(capture: Capture, nesting: Nesting) -> HostRanges:
    """Users' ranges and modules with at most two of their kind around them, by thread and start."""
    ranges = capture.ranges
    kind = ranges.kind[nesting.row]
    own = (kind == RangeKind.MODULE) | (kind == RangeKind.ANNOTATION)
    if own.any():
        domains = [
            text for text in distinct_values(ranges.domain).tolist() if LIBRARY_DOMAIN.match(capture.strings[text])
        ]
        own &= ~are_among(ranges.domain[nesting.row], domains)
    places, levels = list[Int64s](), list[Int64s]()
    for level in range(LEVELS):
        if not own.any():
            break
        # Those with none of their kind around them; the next level is found without them.
        outermost = np.flatnonzero(own & ~inside(own, nesting.stop))
        places.append(outermost)
        levels.append(np.full(len(outermost), level))
        own = own.copy()
        own[outermost] = False
    place, level_of = (np.concatenate([np.zeros(0, np.int64), *each]) for each in (places, levels))
    order = np.argsort(place, kind="stable")
    place, level_of = place[order], level_of[order]
    row = nesting.row[place]
    thread = ranges.thread[row]
    process_ids = np.array([one.process_id for one in capture.threads], np.int64)
    thread_ids = np.array([one.thread_id for one in capture.threads], np.int64)
    return HostRanges(
        start_ns=nesting.start_ns[place],
        stop_ns=nesting.end_ns[place],
        process_id=process_ids[thread] if len(thread) else np.zeros(0, np.int64),
        thread_id=thread_ids[thread] if len(thread) else np.zeros(0, np.int64),
        level=level_of.astype(np.int8),
        name=ranges.name[row],
    )
