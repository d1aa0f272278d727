"""How launches reach a GPU in a window: how many wait, how long, and which work is shorter than its call.

A launch is a call with all work that it launched: a CUDA graph of which each kernel is recorded is one launch.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.empty import empty, some_rows
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound
from tensorboard_plugin_dlprof.queries.item_facts import Facts
from tensorboard_plugin_dlprof.queries.tracks import (
    Int64s,
    Items,
    TrackRow,
    items_in,
    items_numbered,
    items_of_part,
    joined,
    parts_in,
    recorded_tracks,
)
from tensorboard_plugin_dlprof.timeline.tables import CALL, COPY, GRAPH, SET, STREAM

FARTHEST_NS = 1 << 60
MOST_WORK = 200_000
"""Pieces of work that are read for the statistics of one window."""
_MOST_OPS = 20
_DELAYS_NS = (0, *(10**power for power in range(3, 10)))
"""Where the bars of the histogram of delays begin."""
_LENGTHS = (0, 1, 2, 10, 100, 1_000)
"""Where the bars of the histogram of queue lengths begin."""


class Launches(msgspec.Struct):
    """Launches of one GPU, by the number of their call."""

    call_start: Int64s
    call_stop: Int64s
    work_start: Int64s
    """Begin of the first piece of work."""
    work_stop: Int64s
    """End of the last."""
    work_ns: Int64s
    """Sum of all."""
    work_class: Int64s
    """Of the first."""
    ref: Int64s
    """What the first is, as in ``Items``."""


def launches_until(
    con: sqlite3.Connection, tracks: list[TrackRow], device: int, start_ns: int, stop_ns: int, most: int
) -> Launches | None:
    """The launches of a GPU whose calls begin before a window ends, and whose work ends in it or later.

    Some that end earlier are among them. None if more than about ``most`` pieces of work are to be read.
    """
    calls = [track for track in tracks if track.kind == CALL]
    works, begun, seen = list[Items](), list[Items](), 0
    for track in tracks:
        if track.kind != STREAM or track.device != device:
            continue
        for part, items in parts_in(con, track, start_ns, FARTHEST_NS):
            seen += items
            if seen > most + items:
                return None
            work = items_of_part(con, track, part)
            work = some_rows(work, work.call >= 0)
            of_calls = joined([items_numbered(con, call, distinct_values(work.call)) for call in calls])
            works.append(work)
            begun.append(of_calls)
            if len(of_calls.start) and int(of_calls.start.min()) >= stop_ns:
                break
    result = _by_call(joined(works), joined(begun))
    return some_rows(result, (result.call_start < stop_ns) & (result.work_stop >= start_ns))


def _by_call(work: Items, calls: Items) -> Launches:
    work = some_rows(work, are_among(work.call, distinct_values(calls.number).tolist()))
    order = np.lexsort((work.start, work.call))
    work = some_rows(work, order)
    first = np.flatnonzero(np.append(True, work.call[1:] != work.call[:-1])[: len(work.call)])
    by_number = np.argsort(calls.number, kind="stable")
    calls = some_rows(calls, by_number[np.searchsorted(calls.number[by_number], work.call[first])])
    if not len(first):
        return empty(Launches)
    return Launches(
        calls.start,
        calls.stop,
        work.start[first],
        np.maximum.reduceat(work.stop, first),
        np.add.reduceat(work.stop - work.start, first),
        work.work_class[first],
        work.ref[first],
    )


def launch_statistics(con: sqlite3.Connection, device: int, start_ns: int, stop_ns: int) -> dict[str, Any]:
    """The launches of a GPU whose calls begin in a window: queue length, delay, and what is shorter than its call.

    Raises:
        NotFound: the database has no tracks, or no such GPU.
        BadRequest: there are too many.
    """
    tracks = recorded_tracks(con)
    streams = [track for track in tracks if track.kind == STREAM and track.device == device]
    if not streams:
        raise NotFound(f"There is no GPU {device} with work in this profile.")
    result = launches_until(con, tracks, device, start_ns, stop_ns, MOST_WORK)
    if result is None:
        raise BadRequest(f"This window holds more than {MOST_WORK:,} launches; zoom in.")
    inside = some_rows(result, result.call_start >= start_ns)
    kernels = some_rows(inside, _is_kernel(inside))
    earlier = (result.call_start < start_ns) & (result.work_start >= start_ns) & _is_kernel(result)
    begun = joined([items_in(con, track, start_ns, stop_ns) for track in streams])
    begun = some_rows(begun, (begun.call < 0) & (begun.start >= start_ns))
    graphs = int(np.count_nonzero(begun.work_class == GRAPH))
    ahead = int(inside.work_stop.max() - inside.call_stop.max()) if len(inside.call_stop) else 0
    return {
        "device": device,
        "from": start_ns,
        "to": stop_ns,
        "launches": len(kernels.call_start),
        "earlier": int(np.count_nonzero(earlier)),
        "graphs": graphs,
        "unrecorded": len(begun.call) - graphs,
        "host_ahead_ns": max(ahead, 0) if len(inside.call_stop) else None,
        "delay": _delays(kernels),
        "short": _short(con, streams[0], kernels),
        "queue": queue_lengths(result, start_ns, stop_ns),
    }


def _is_kernel(launches: Launches) -> npt.NDArray[np.bool_]:
    return ~are_among(launches.work_class, (COPY, SET))


def _delays(kernels: Launches) -> dict[str, Any]:
    """How long kernels wait after their calls; those that begin while their call runs do not wait."""
    delay = np.sort(np.maximum(kernels.work_start - kernels.call_stop, 0))
    middle, late = len(delay) // 2, min(len(delay) * 95 // 100, len(delay) - 1)
    counts = np.bincount(np.searchsorted(_DELAYS_NS, delay, side="right") - 1, minlength=len(_DELAYS_NS))
    return {
        "median_ns": int(delay[middle]) if len(delay) else None,
        "p95_ns": int(delay[late]) if len(delay) else None,
        "before_call": int(np.count_nonzero(kernels.work_start < kernels.call_start)),
        "bins": [{"from_ns": edge, "launches": count} for edge, count in zip(_DELAYS_NS, counts.tolist(), strict=True)],
    }


def _short(con: sqlite3.Connection, track: TrackRow, kernels: Launches) -> dict[str, Any]:
    """Launches whose work takes less time than their call, in all and by ops that do the same."""
    call_ns = kernels.call_stop - kernels.call_start
    rows = kernels.work_ns < call_ns
    work_ns, call_ns, ref, of_class = kernels.work_ns[rows], call_ns[rows], kernels.ref[rows], kernels.work_class[rows]
    kinds, number = np.unique(np.stack([of_class, ref]), axis=1, return_inverse=True)
    number = number.reshape(-1)
    sums = [np.bincount(number, minlength=kinds.shape[1]).tolist()]
    for each in (work_ns, call_ns):
        total = np.zeros(kinds.shape[1], np.int64)
        np.add.at(total, number, each)
        sums.append(total.tolist())
    ops: dict[str, list[int]] = {}
    ids: dict[str, set[str]] = {}
    for fact, count, work, call in zip(Facts(con).of(track, kinds[0], kinds[1]), *sums, strict=True):
        path = path_pattern(str(fact.get("op", "")))
        ids.setdefault(path, set()).add(str(fact.get("op_id", "")))
        row = ops.setdefault(path, [0, 0, 0])
        row[0], row[1], row[2] = row[0] + count, row[1] + work, row[2] + call
    longest = sorted(ops.items(), key=lambda one: (-one[1][2], one[0]))[:_MOST_OPS]
    return {
        "launches": int(np.count_nonzero(rows)),
        "work_ns": int(work_ns.sum()),
        "call_ns": int(call_ns.sum()),
        "ops": [
            {
                "op": path,
                "op_id": next(iter(ids[path])) if len(ids[path]) == 1 else "",
                "launches": count,
                "work_ns": work,
                "call_ns": call,
            }
            for path, (count, work, call) in longest
        ],
    }


def queue_lengths(launches: Launches, start_ns: int, stop_ns: int) -> dict[str, Any]:
    """How long how many launches wait: their calls have begun, and their work has not. The times add up."""
    waits = (
        (launches.call_start < stop_ns) & (launches.work_start > start_ns) & (launches.work_start > launches.call_start)
    )
    begins, ends = np.maximum(launches.call_start[waits], start_ns), np.minimum(launches.work_start[waits], stop_ns)
    moments = np.concatenate([[start_ns], begins, ends, [stop_ns]])
    change = np.concatenate([[0], np.ones(len(begins), np.int64), -np.ones(len(ends), np.int64), [0]])
    order = np.argsort(moments, kind="stable")
    lengths, times = np.cumsum(change[order])[:-1], np.diff(moments[order])
    sums = np.zeros(len(_LENGTHS), np.int64)
    np.add.at(sums, np.searchsorted(_LENGTHS, lengths, side="right") - 1, times)
    return {
        "mean": float((lengths * times).sum() / max(stop_ns - start_ns, 1)),
        "most": int(lengths[times > 0].max()),
        "bins": [{"from": edge, "ns": ns} for edge, ns in zip(_LENGTHS, sums.tolist(), strict=True)],
    }
