"""Which call launched a piece of device work, and in which range a call was made.

Device work and synchronisations lead to their call by the correlation id, which is unique within a
process only; a call leads to the innermost range of its thread around its start.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s


class Links(msgspec.Struct):
    """The links of one capture. -1 where there is none."""

    work_call: Int64s
    """Row of ``Capture.calls`` for each piece of device work."""
    sync_call: Int64s
    """Row of ``Capture.calls`` for each synchronisation."""
    call_place: Int64s
    """Place (of ``Nesting``) of the innermost range around each call."""
    call_process: Int64s
    """Process id of each call."""


def link(capture: Capture, nesting: Nesting) -> Links:
    """Finds all links of a capture."""
    process_of_thread = np.array([thread.process_id for thread in capture.threads], np.int64)
    call_process = process_of_thread[capture.calls.thread] if len(capture.calls.thread) else np.zeros(0, np.int64)
    calls = _callers(capture, call_process)
    one_process = not capture.work.process.any() and not capture.syncs.process.any()
    process = np.zeros_like(call_process) if one_process else call_process
    return Links(
        work_call=_match(calls, process, capture.calls.correlation, capture.work.process, capture.work.correlation),
        sync_call=_match(calls, process, capture.calls.correlation, capture.syncs.process, capture.syncs.correlation),
        call_place=nesting.innermost(capture.calls.thread, capture.calls.start_ns),
        call_process=call_process,
    )


def _callers(capture: Capture, process: Int64s) -> Int64s:
    """Rows of calls that may own work, the preferred one of each correlation last.

    A driver call inside a runtime call can carry the same correlation (``cuLaunchKernel`` in
    ``cudaLaunchKernel``): the outer one, which the program made, is preferred.
    """
    rows = np.flatnonzero(capture.calls.correlation > 0)
    start, end = capture.calls.start_ns[rows], capture.calls.end_ns[rows]
    return rows[np.lexsort((end, -start))]


def _match(
    callers: Int64s, process: Int64s, correlation: Int64s, other_process: Int32s, other_correlation: Int64s
) -> Int64s:
    """For each row of another table the call of the same process and correlation."""
    matched = np.full(len(other_correlation), -1, np.int64)
    rows = np.flatnonzero(other_correlation > 0)
    if not len(rows) or not len(callers):
        return matched
    keys = _pair(
        np.concatenate((process[callers], other_process[rows].astype(np.int64))),
        np.concatenate((correlation[callers], other_correlation[rows])),
    )
    own, sought = keys[: len(callers)], keys[len(callers) :]
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    found = np.searchsorted(ordered, sought, side="right") - 1
    hit = (found >= 0) & (ordered[found] == sought)
    matched[rows[hit]] = callers[order[found[hit]]]
    return matched


def _pair(process: Int64s, correlation: Int64s) -> Int64s:
    """One key for each (process, correlation)."""
    dense = process - process.min()  # numbers of processes lie close to each other, most often there is one
    if int(dense.max()) >= 1 << 22:
        _, dense = np.unique(process, return_inverse=True)
    if int(correlation.max()) >= 1 << 40 or int(dense.max()) >= 1 << 22:
        _, correlation = np.unique(correlation, return_inverse=True)
    keys: Int64s = (dense.astype(np.int64) << 40) | correlation
    return keys
