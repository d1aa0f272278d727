"""Finds the call that launched each piece of device work, and the range in which each call was made.

Device work and synchronisations are matched to their call by process and correlation id, which is unique only within a
process. A call belongs to the innermost range of its thread around its start.
"""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s


class Links(msgspec.Struct):
    """The links of one capture; -1 means no link."""

    work_call: Int64s
    """Row of ``Capture.calls`` for each piece of device work."""
    sync_call: Int64s
    """Row of ``Capture.calls`` for each synchronisation."""
    call_place: Int32s
    """Place (of ``Nesting``) of the innermost range around each call."""
    call_process: Int64s
    """Process id of each call."""


def link(capture: Capture, nesting: Nesting) -> Links:
    """Find all links of a capture."""
    calls, work, syncs = capture.calls, capture.work, capture.syncs
    process_of_thread = np.array([thread.process_id for thread in capture.threads], np.int64)
    call_process = process_of_thread[calls.thread]
    tables = ((work.process, work.correlation), (syncs.process, syncs.correlation))
    any_process = np.broadcast_to(np.int64(0), len(call_process))
    one_process = not work.process.any() and not syncs.process.any()
    work_call, sync_call = matched = _matched(capture, any_process if one_process else call_process, *tables)
    if not one_process:
        # Work of an unknown process is matched by its correlation alone.
        unknown = [(process, np.where(process == 0, correlation, -1)) for process, correlation in tables]
        for result, of_any in zip(matched, _matched(capture, any_process, *unknown), strict=True):
            np.copyto(result, of_any, where=result < 0)
    return Links(
        work_call=work_call,
        sync_call=sync_call,
        call_place=nesting.innermost(calls.thread, calls.start_ns),
        call_process=call_process,
    )


def _matched(capture: Capture, process: Int64s, *tables: tuple[Int32s, Int64s]) -> list[Int64s]:
    """For each row of some tables, the call with the same process and correlation; -1 for none.

    Args:
        process: Process id of each call.
        tables: Each table's columns of process and correlation; correlations below 1 match nothing.
    """
    correlation = capture.calls.correlation
    rows = [np.flatnonzero(other > 0) for _, other in tables]
    matched = [np.full(len(other), -1, np.int64) for _, other in tables]
    if not any(map(len, rows)):
        return matched
    callers = _with_one_of(
        correlation, np.concatenate([table[1][some] for table, some in zip(tables, rows, strict=True)])
    )
    if not len(callers):
        return matched
    keys = _pair(
        np.concatenate([process[callers], *(table[0][some] for table, some in zip(tables, rows, strict=True))]),
        np.concatenate([correlation[callers], *(table[1][some] for table, some in zip(tables, rows, strict=True))]),
    )
    ends = np.cumsum([len(callers), *map(len, rows)])
    callers, own = _preferred_last(capture, callers, keys[: ends[0]])
    for result, some, first, last in zip(matched, rows, ends[:-1], ends[1:], strict=True):
        sought = keys[first:last]
        place = np.searchsorted(own, sought, side="right") - 1
        hit = (place >= 0) & (own[place] == sought)
        result[some[hit]] = callers[place[hit]]
    return matched


def _with_one_of(correlation: Int64s, wanted: Int64s) -> Int64s:
    """Rows of the calls whose correlation may be wanted, to reduce later sorting: few calls launch anything.

    Exact if the wanted numbers are dense, otherwise all calls within their range of numbers.
    """
    low, high = int(wanted.min()), int(wanted.max())
    is_dense = high - low <= 2 * len(correlation)
    # The last element, which is False, is for all numbers outside.
    is_wanted = np.zeros(high - low + 2 if is_dense else 0, np.bool_)
    if is_dense:
        is_wanted[wanted - low] = True
    inside = (correlation >= low) & (correlation <= high)
    return np.flatnonzero(is_wanted[np.where(inside, correlation - low, -1)] if is_dense else inside)


def _preferred_last(capture: Capture, callers: Int64s, keys: Int64s) -> tuple[Int64s, Int64s]:
    """Rows of calls and their keys, sorted by key; of calls with the same key, the preferred one comes last.

    A driver call inside a runtime call can have the same correlation (``cuLaunchKernel`` in ``cudaLaunchKernel``). The
    outer call is preferred, because that is the one the program made.
    """
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        callers, keys = callers[order], keys[order]
    equal = keys[1:] == keys[:-1]
    if equal.any():
        tied = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
        rows = callers[tied]
        calls = capture.calls
        callers = callers.copy()
        callers[tied] = rows[np.lexsort((calls.end_ns[rows], -calls.start_ns[rows], keys[tied]))]
    return callers, keys


def _pair(process: Int64s, correlation: Int64s) -> Int64s:
    """A key for each (process, correlation), equal only for equal pairs. Correlations are not negative."""
    dense: Int64s = process - process.min()  # Process ids are close to each other, and mostly there is just one.
    if int(dense.max()) >= 1 << 22:
        dense = np.unique(process, return_inverse=True)[1].astype(np.int64)
    if int(correlation.max()) >= 1 << 40 or int(dense.max()) >= 1 << 22:
        correlation = np.unique(correlation, return_inverse=True)[1].astype(np.int64)
    dense <<= 40
    dense |= correlation
    return dense
