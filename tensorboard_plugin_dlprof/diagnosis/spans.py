"""Arithmetic on disjoint intervals that remember where they come from, vectorised: sorting and searching, no loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values

Int64s = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """Intervals ``[start, stop)`` in nanoseconds, with the row of a table or another number for each."""

    start: Int64s
    stop: Int64s
    row: npt.NDArray[np.signedinteger]

    def some(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.signedinteger]) -> Spans:
        """The chosen intervals."""
        return Spans(self.start[rows], self.stop[rows], self.row[rows])


def no_spans() -> Spans:
    """No intervals."""
    nothing = np.zeros(0, np.int64)
    return Spans(nothing, nothing, nothing)


def joined(parts: list[Spans]) -> Spans:
    """All intervals of several lists, one list after the other."""
    if not parts:
        return no_spans()
    if len(parts) == 1:
        return parts[0]
    return Spans(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def outermost(spans: Spans) -> Spans:
    """Disjoint intervals, ascending: at each time the one of those that are open that started first."""
    start, stop, row = _by_start(spans)
    reach = np.maximum.accumulate(stop) if len(stop) else stop
    begin = start.copy()
    np.maximum(start[1:], reach[:-1], out=begin[1:])
    is_real = stop > begin
    return Spans(begin[is_real], stop[is_real], row[is_real])


def innermost(spans: Spans) -> Spans:
    """Disjoint intervals, ascending: at each time the one of those that are open that started last."""
    start, stop, row = _by_start(spans)
    if not len(start) or (start[1:] >= np.maximum.accumulate(stop)[:-1]).all():
        return Spans(start, stop, row)
    edges = distinct_values(np.concatenate((start, stop)))
    inside = np.full(len(edges), -1, np.int64)
    bounds = zip(np.searchsorted(edges, start).tolist(), np.searchsorted(edges, stop).tolist(), strict=True)
    for number, (first, last) in enumerate(bounds):
        inside[first:last] = number  # later ones are painted over earlier ones
    heads = np.flatnonzero(np.append(True, inside[1:] != inside[:-1]))
    item, first_edge, last_edge = inside[heads], edges[heads], np.append(edges[heads[1:]], edges[-1])
    known = item >= 0
    return Spans(first_edge[known], last_edge[known], row[item[known]])


def covered(spans: Spans) -> Spans:
    """The union, as disjoint ascending intervals; their rows mean nothing."""
    start, stop = np.sort(spans.start, kind="stable"), np.sort(spans.stop, kind="stable")
    begins = np.ones(len(start), np.bool_)
    np.greater(start[1:], stop[:-1], out=begins[1:])
    ends = np.append(begins[1:], True)[: len(stop)]
    return Spans(start[begins], stop[ends], np.zeros(int(begins.sum()), np.int64))


def meeting(spans: Spans, items: Spans) -> npt.NDArray[np.bool_]:
    """Which intervals overlap any of the disjoint ascending ``items``."""
    first = np.searchsorted(items.stop, spans.start, side="right")
    meets: npt.NDArray[np.bool_] = first < np.searchsorted(items.start, spans.stop, side="left")
    return meets


def within(spans: Spans, items: Spans) -> tuple[Spans, Int64s]:
    """The pieces of disjoint intervals inside of disjoint ascending ``items``.

    Returns:
        The pieces, with the rows of ``spans``; and the number of the item of each.
    """
    pieces, item, _, _ = _within(spans, items)
    return pieces, item


def split(spans: Spans, items: Spans) -> tuple[Spans, Int64s, Spans]:
    """Divide disjoint intervals by disjoint ascending ``items``.

    Returns:
        The pieces inside items, with the rows of ``spans``; the row of the item of each; and the pieces outside.
    """
    inside, item, met, end = _within(spans, items)
    if not len(item):
        return inside, item, spans
    start, stop, row = spans.some(met)
    # Before each piece there may be one outside, and one after the last of each interval.
    before = np.append(0, inside.stop[:-1])
    before[np.append(0, end[:-1])] = start
    outside = Spans(
        np.concatenate((before, inside.stop[end - 1])),
        np.concatenate((inside.start, stop)),
        np.concatenate((inside.row, row)),
    )
    outside = outside.some(outside.stop > outside.start)
    return inside, items.row[item], joined([spans.some(count_is_zero(spans, met)), outside])


def _within(spans: Spans, items: Spans) -> tuple[Spans, Int64s, Int64s, Int64s]:
    """As ``within``; and the numbers of the intervals that have pieces, and behind which piece each of them ends."""
    nothing = np.zeros(0, np.int64)
    if not len(items.start) or not len(spans.start):
        return no_spans(), nothing, nothing, nothing
    first = np.searchsorted(items.stop, spans.start, side="right")
    count = np.searchsorted(items.start, spans.stop, side="left") - first
    np.maximum(count, 0, out=count)
    met = np.flatnonzero(count)
    if not len(met):
        return no_spans(), nothing, nothing, nothing
    first, count = first[met], count[met]
    end = np.cumsum(count)
    item = np.arange(int(end[-1])) + np.repeat(first - (end - count), count)
    pieces = Spans(
        np.maximum(items.start[item], np.repeat(spans.start[met], count)),
        np.minimum(items.stop[item], np.repeat(spans.stop[met], count)),
        np.repeat(spans.row[met], count),
    )
    return pieces, item, met, end


def count_is_zero(spans: Spans, met: Int64s) -> npt.NDArray[np.bool_]:
    """Which intervals are not among those with the numbers ``met``."""
    free = np.ones(len(spans.start), np.bool_)
    free[met] = False
    return free


def _by_start(spans: Spans) -> Spans:
    spans = spans.some(spans.stop > spans.start)
    if (spans.start[1:] > spans.start[:-1]).all():
        return spans
    return spans.some(np.lexsort((-spans.stop, spans.start)))
