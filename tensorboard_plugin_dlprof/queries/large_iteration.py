"""Pages of an iteration with millions of kernels, from ``ext_kernel_orders``.

Parts are read one after the other, so memory does not grow beyond a byte for each kernel.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.queries.packed import Chosen, Places, Question, StoredOrders, TimeRange, none_of

PART = 65_536
"""As ``database.kernel_orders`` stores them."""

_NUMBER_BYTES = 4

_FEW = 100
"""Rows of a page, which are looked up one by one; more are read a part at a time."""


class LargeIteration(StoredOrders):
    """An iteration of which the import stored every order by itself."""

    few = 20_000

    def __init__(self, connection: sqlite3.Connection, aggregation: int, iteration: int, kernels: int) -> None:
        super().__init__(connection, aggregation, iteration, kernels)
        self._nodes: dict[int, npt.NDArray[np.int32]] = {}
        """Parts that were read: an export in the order of a time goes through all of them again and again."""

    @classmethod
    def find(cls, connection: sqlite3.Connection, aggregation: int, iteration: int) -> LargeIteration | None:
        """That of this number, where it is stored."""
        bounds = connection.execute(
            "SELECT part, length(data) FROM ext_kernel_orders WHERE aggr_id = ? AND iter_value = ? AND kind = 'node' "
            "ORDER BY part DESC LIMIT 1",
            (aggregation, iteration),
        ).fetchone()
        return (
            cls(connection, aggregation, iteration, bounds[0] * PART + bounds[1] // _NUMBER_BYTES) if bounds else None
        )

    def _within(self, wanted: TimeRange) -> Chosen:
        low, high = self._slice(wanted)
        inside = none_of(self.kernels)
        for begin, places in self._parts(wanted.order, low // PART):
            if begin >= high:
                break
            inside[places[max(low - begin, 0) : high - begin]] = True
        return inside

    def places(self, question: Question, chosen: Chosen | None, at_once: int) -> Iterator[Places]:
        """All places that pass, in the order of the question, as many at once, and at last the rest."""
        waiting = np.zeros(0, np.int64)
        for found in self._by_rank(question, chosen) if question.sorted_launches else self._in_order(question, chosen):
            waiting = np.concatenate([waiting, found])
            whole = len(waiting) - len(waiting) % at_once
            yield from (waiting[start : start + at_once] for start in range(0, whole, at_once))
            waiting = waiting[whole:]
        if len(waiting):
            yield waiting

    def page(self, question: Question, chosen: Chosen | None, offset: int, limit: int) -> list[int]:
        """``kernel_iteration_node.id`` of one page."""
        if question.sorted_launches:
            return self.ids(self._page_by_rank(question, chosen, offset, limit))
        # Without a condition, the part in which the page begins is known.
        skip, offset = self._skipped(offset, question.descending) if chosen is None else (0, offset)
        return self.ids(_cut(self._in_order(question, chosen, skip), offset, limit))

    def ids(self, places: Places) -> list[int]:
        """``kernel_iteration_node.id`` of some places."""
        if len(places) <= _FEW:
            return [self._number("node", place) for place in places.tolist()]
        for part in np.unique(places // PART).tolist():
            if part not in self._nodes:
                self._nodes[part] = self._part("node", part)
        return [int(self._nodes[place // PART][place % PART]) for place in places.tolist()]

    def _in_order(self, question: Question, chosen: Chosen | None, skip: int = 0) -> Iterator[Places]:
        for _, found in self._parts(question.order, skip, question.descending):
            some = found if chosen is None else found[chosen[found]]
            yield some[::-1] if question.descending else some

    def _skipped(self, offset: int, descending: bool) -> tuple[int, int]:
        """How many parts lie before a row of the order, and the offset of the row behind them."""
        first = (self.kernels - 1) % PART + 1 if descending else PART
        if offset < first:
            return 0, offset
        parts, rest = divmod(offset - first, PART)
        return parts + 1, rest

    def _by_launch(self, question: Question) -> Chosen:
        passes = self._passes(question)
        chosen = none_of(self.kernels)
        if not passes.any():
            return chosen
        for begin, launch in self._parts("launch"):
            # Any other mode than clipping copies what it takes once more.
            np.take(passes, launch, out=chosen[begin : begin + len(launch)], mode="clip")
        return chosen

    def _page_by_rank(self, question: Question, chosen: Chosen | None, offset: int, limit: int) -> Places:
        rank, number = self._ranks(question)
        counts = np.zeros(number, np.int64)
        for begin, launch in self._parts("launch"):
            ranks = rank[launch]
            counts += np.bincount(
                ranks if chosen is None else ranks[chosen[begin : begin + len(ranks)]], minlength=number
            )
        ends = np.cumsum(counts)
        first = int(np.searchsorted(ends, offset, side="right"))
        last = min(int(np.searchsorted(ends, offset + limit)), number - 1)
        found: list[Places] = []
        wanted = offset - int(ends[first] - counts[first])
        for value in range(first, last + 1) if last - first < 2 else (first, None, last):
            if value is None:
                # Those between the first and the last value are all on the page.
                found.append(self._between(question, chosen, rank, first, last))
                continue
            need = limit - sum(map(len, found))
            found.append(_cut(self._of_rank(question, chosen, rank, value), wanted, need))
            wanted = 0
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _by_rank(self, question: Question, chosen: Chosen | None) -> Iterator[Places]:
        rank, number = self._ranks(question)
        for value in range(number):
            yield from self._of_rank(question, chosen, rank, value)

    def _of_rank(self, question: Question, chosen: Chosen | None, rank: Places, value: int) -> Iterator[Places]:
        for begin, launch in self._parts("launch", descending=question.descending):
            wanted = rank[launch] == value
            if chosen is not None:
                wanted &= chosen[begin : begin + len(launch)]
            places = np.flatnonzero(wanted) + begin
            yield places[::-1] if question.descending else places

    def _between(self, question: Question, chosen: Chosen | None, rank: Places, first: int, last: int) -> Places:
        found: list[Places] = []
        ranks: list[Places] = []
        for begin, launch in self._parts("launch", descending=question.descending):
            ranked = rank[launch]
            wanted = (ranked > first) & (ranked < last)
            if chosen is not None:
                wanted &= chosen[begin : begin + len(launch)]
            places = np.flatnonzero(wanted)
            if question.descending:
                places = places[::-1]
            found.append(places + begin)
            ranks.append(ranked[places])
        order = np.argsort(np.concatenate(ranks), kind="stable")
        return np.concatenate(found)[order]

    def _node(self, place: int) -> int:
        return self._number("node", place)

    def _place(self, order: str, rank: int) -> int:
        return self._number(order, rank)

    def _number(self, kind: str, place: int) -> int:
        row = self._connection.execute(
            f"SELECT substr(data, ?, {_NUMBER_BYTES}) FROM ext_kernel_orders "
            "WHERE aggr_id = ? AND iter_value = ? AND kind = ? AND part = ?",
            (place % PART * _NUMBER_BYTES + 1, *self._of, kind, place // PART),
        ).fetchone()
        return int.from_bytes(row[0], "little")

    def _part(self, kind: str, part: int) -> npt.NDArray[np.int32]:
        row = self._connection.execute(
            "SELECT data FROM ext_kernel_orders WHERE aggr_id = ? AND iter_value = ? AND kind = ? AND part = ?",
            (*self._of, kind, part),
        ).fetchone()
        return np.frombuffer(row[0], "<i4")

    def _parts(self, kind: str, skip: int = 0, descending: bool = False) -> Iterator[tuple[int, Places]]:
        """The parts of an order, each with the place or rank at which it begins."""
        count = -(-self.kernels // PART)
        for number in range(count - 1 - skip, -1, -1) if descending else range(skip, count):
            if kind == "node":
                # The order of the places themselves.
                yield number * PART, np.arange(number * PART, min((number + 1) * PART, self.kernels))
            else:
                yield number * PART, self._part(kind, number).astype(np.int64)


def _cut(parts: Iterator[Places], offset: int, limit: int) -> Places:
    found: list[Places] = []
    for part in parts:
        if limit <= 0:
            break
        some = part[offset : offset + limit]
        offset = max(offset - len(part), 0)
        limit -= len(some)
        found.append(some)
    return np.concatenate(found) if found else np.zeros(0, np.int64)
