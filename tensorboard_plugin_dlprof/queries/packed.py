"""Pages of an iteration with millions of kernels, from the orders that the import stored (``ext_kernel_orders``).

A *place* numbers the kernels of the iteration from 0, in the order of their rows. What kernels have in common is a
launch, of which there are few: conditions on ops, names, grids, ... are asked of the launches and hold for all their
kernels. Times differ from kernel to kernel; for each of them the places are stored in its order, so that a condition on
a time is a slice, found by looking up two dozen kernels.

Parts are read one after the other, so memory does not grow beyond a byte for each kernel.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from mmap import mmap
from types import MappingProxyType
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.queries.filters import Condition

PART = 65_536
"""As ``database.kernel_orders`` stores them."""

_NUMBER_BYTES = 4

_FEW = 100
"""Rows of a page, which are looked up one by one; more are read a part at a time."""

Places: TypeAlias = "npt.NDArray[np.int64]"
Chosen: TypeAlias = "npt.NDArray[np.bool_]"
Value: TypeAlias = "str | int | float"


class Packed(msgspec.Struct, frozen=True):
    """How a table of kernels is asked of launches. All texts are ours."""

    base: str
    """FROM of the launches; ``kernel`` is one of each launch's kernels."""
    row_id: str
    joins: Mapping[str, str]
    """Those that differ from the table's."""
    orders: Mapping[str, str]
    """Column that differs from kernel to kernel -> kind of its order."""
    where: str = "1"


class Question(msgspec.Struct, frozen=True):
    """One request, in the words of the launches."""

    launches: str
    """Ids of the launches that pass; empty where all do."""
    sorted_launches: str
    """Ids of the launches and what to sort by, in the order wanted; empty where the order is that of ``order``."""
    order: str
    """Kind of the order."""
    descending: bool
    ranges: Sequence[TimeRange]
    values: Mapping[str, Value] = msgspec.field(default_factory=lambda: MappingProxyType({}))


class TimeRange(msgspec.Struct, frozen=True):
    """A condition on a column that differs from kernel to kernel; ``None`` is no limit."""

    order: str
    sql: str
    """Expression of the column, of ``node`` and ``kernel``."""
    low: float | None = None
    high: float | None = None
    low_is_in: bool = True
    high_is_in: bool = True


def time_range(order: str, sql: str, found: Condition) -> TimeRange:
    """The condition that a filter puts on a column of this order."""
    operator, first = found.sql.split()[1], float(found.values[0])
    if operator == "BETWEEN":
        return TimeRange(order, sql, first, float(found.values[1]))
    return TimeRange(
        order,
        sql,
        first if operator in (">", ">=", "=") else None,
        first if operator in ("<", "<=", "=") else None,
        operator != ">",
        operator != "<",
    )


class PackedIteration:
    """The stored orders of one iteration."""

    def __init__(self, connection: sqlite3.Connection, aggregation: int, iteration: int) -> None:
        self._connection = connection
        self._of = (aggregation, iteration)
        self._nodes: dict[int, npt.NDArray[np.int32]] = {}
        """Parts that were read: an export in the order of a time goes through all of them again and again."""
        bounds = connection.execute(
            "SELECT part, length(data) FROM ext_kernel_orders WHERE aggr_id = ? AND iter_value = ? AND kind = 'node' "
            "ORDER BY part DESC LIMIT 1",
            self._of,
        ).fetchone()
        self.kernels = bounds[0] * PART + bounds[1] // _NUMBER_BYTES if bounds else 0
        """0 where the orders were not stored, because SQLite is fast enough."""

    def count(self, question: Question) -> int:
        """How many kernels pass."""
        chosen = self.chosen(question)
        return self.kernels if chosen is None else int(np.count_nonzero(chosen))

    def chosen(self, question: Question) -> Chosen | None:
        """Whether each place passes; nothing where all do."""
        chosen = self._by_launch(question)
        for wanted in question.ranges:
            low, high = self._slice(wanted)
            inside = _none_of(self.kernels)
            for begin, places in self._parts(wanted.order, low // PART):
                if begin >= high:
                    break
                some = places[max(low - begin, 0) : high - begin]
                inside[some] = True
            chosen = inside if chosen is None else np.logical_and(chosen, inside, out=chosen)
        return chosen

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

    def _by_launch(self, question: Question) -> Chosen | None:
        if not question.launches:
            return None
        passing = [row[0] for row in self._connection.execute(question.launches, question.values)]
        passes = np.zeros(self._launches() + 1, np.bool_)
        passes[passing] = True
        chosen = _none_of(self.kernels)
        if not passing:
            return chosen
        for begin, launch in self._parts("launch"):
            # Any other mode than clipping copies what it takes once more.
            np.take(passes, launch, out=chosen[begin : begin + len(launch)], mode="clip")
        return chosen

    def _launches(self) -> int:
        return int(self._connection.execute("SELECT max(id) FROM ext_launches").fetchone()[0] or 0)

    def _ranks(self, question: Question) -> tuple[npt.NDArray[np.int32], int]:
        """For each launch the number of its value in the order wanted; launches of one value have one number."""
        rank = np.zeros(self._launches() + 1, np.int32)
        number = 0
        rows = self._connection.execute(question.sorted_launches, question.values)
        for _, group in groupby(rows, key=lambda row: row[1]):
            rank[[row[0] for row in group]] = number
            number += 1
        return rank, number

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

    def _of_rank(
        self, question: Question, chosen: Chosen | None, rank: npt.NDArray[np.int32], value: int
    ) -> Iterator[Places]:
        for begin, launch in self._parts("launch", descending=question.descending):
            wanted = rank[launch] == value
            if chosen is not None:
                wanted &= chosen[begin : begin + len(launch)]
            places = np.flatnonzero(wanted) + begin
            yield places[::-1] if question.descending else places

    def _between(
        self, question: Question, chosen: Chosen | None, rank: npt.NDArray[np.int32], first: int, last: int
    ) -> Places:
        found: list[Places] = []
        ranks: list[npt.NDArray[np.int32]] = []
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

    def _slice(self, wanted: TimeRange) -> tuple[int, int]:
        low = 0 if wanted.low is None else self._rank(wanted, wanted.low, wanted.low_is_in)
        high = self.kernels if wanted.high is None else self._rank(wanted, wanted.high, not wanted.high_is_in)
        return low, max(low, high)

    def _rank(self, wanted: TimeRange, limit: float, is_in: bool) -> int:
        """How many kernels have less than the limit; or at most, where it is not in."""
        value = self._value(wanted)
        low, high = 0, self.kernels
        while low < high:
            middle = (low + high) // 2
            found = value(middle)
            if found < limit or (found == limit and not is_in):
                low = middle + 1
            else:
                high = middle
        return low

    def _value(self, wanted: TimeRange) -> Callable[[int], float]:
        def value(rank: int) -> float:
            place = rank if wanted.order == "node" else self._number(wanted.order, rank)
            row = self._connection.execute(
                f"SELECT {wanted.sql} FROM kernel_iteration_node AS node JOIN read_only_kernels AS kernel "
                "ON kernel.id = node.read_only_kernel_id WHERE node.id = ?",
                (self._number("node", place),),
            ).fetchone()
            found: float = row[0]
            return found

        return value

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


def _none_of(count: int) -> Chosen:
    """A flag for each of millions of kernels, in memory that goes back to the system: every thread of a server would
    keep as much of what it frees."""
    return np.frombuffer(mmap(-1, max(count, 1)), np.bool_, count)


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
