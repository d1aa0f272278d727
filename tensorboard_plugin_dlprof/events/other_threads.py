"""Gives launches of threads without ranges to the range that the thread which drives them is in.

``loss.backward()`` runs on the main thread, but autograd launches from threads of its own. Where these record no ops,
their launches belong to the innermost range of the user's, or module, that is open on the main thread of their process.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.instances import USER, has_role
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.names import Role
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s, RangeKind
from tensorboard_plugin_dlprof.events.trees import Flags, nearest_of


def with_launches_of_other_threads(capture: Capture, nesting: Nesting, links: Links, role: Int8s) -> Links:
    """The links, with a place for each launch of a thread without ranges while the main thread is in one.

    Args:
        capture: The events.
        nesting: The nesting of ``capture.ranges``.
        links: From ``link``.
        role: The role of the range at each place.
    """
    by_user = has_role(role, *USER)
    if not by_user.any():
        return links
    calls = distinct_values(links.work_call[links.work_call >= 0])
    place = links.call_place[calls]
    means = ~has_role(role, Role.HIDDEN, Role.FRAME)
    calls = calls[nearest_of(place, means, nesting.parent, nesting.stop) < 0]
    thread = capture.calls.thread[calls]
    main = _main_threads(capture, nesting, by_user)[thread]
    rows = np.flatnonzero((main >= 0) & (main != thread))
    around = nesting.innermost(main[rows], capture.calls.start_ns[calls[rows]])
    own = nearest_of(around, by_user, nesting.parent, nesting.stop)
    if not (own >= 0).any():
        return links
    of_call = links.call_place.copy()
    of_call[calls[rows[own >= 0]]] = own[own >= 0]
    return msgspec.structs.replace(links, call_place=of_call)


def _main_threads(capture: Capture, nesting: Nesting, by_user: Flags) -> Int32s:
    """For each thread, the main one of its process: that marks the iterations, else with most time in users' ranges; -1
    if none has any."""
    ranges, count = capture.ranges, len(capture.threads)
    marks = np.flatnonzero(ranges.kind == RangeKind.ITERATION)
    marked = np.bincount(ranges.thread[marks], ranges.end_ns[marks] - ranges.start_ns[marks], count)
    places = np.flatnonzero(by_user)
    spent = np.bincount(ranges.thread[nesting.row[places]], nesting.end_ns[places] - nesting.start_ns[places], count)
    process = np.array([thread.process_id for thread in capture.threads], np.int64)
    main = np.full(count, -1, np.int32)
    order: Int64s = np.lexsort((spent, marked))
    for thread in order[(spent > 0)[order]].tolist():  # The last one stays.
        main[process == process[thread]] = thread
    return main
