"""Pages of the kernels of one iteration from orders that the import stored, in place of reading all of them.

A *place* numbers the kernels of the iteration from 0, in the order of their rows. What kernels have in common is a
launch, of which there are few: conditions on ops, names, grids, ... are asked of the launches and hold for all their
kernels. Times differ from kernel to kernel; for each of them the places are stored in its order, so that a condition on
a time is a slice, found by looking up two dozen kernels.

There are two forms, of which ``database.kernel_orders`` tells when it writes which: ``small_iteration`` and
``large_iteration``.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.queries.chosen import Chosen, Flags, Places
from tensorboard_plugin_dlprof.queries.filters import Condition

_KEPT_ANSWERS = 64
_MOST_KEPT_LAUNCHES = 2_000
_LONGEST_KEPT_SQL = 4_000
"""So a connection keeps two megabytes at most."""

_OF_THE_PAGE = frozenset({"iteration", "offset", "limit"})
"""What launches are not asked about."""

Value: TypeAlias = "str | int | float"


class Question(msgspec.Struct, frozen=True):
    """One request, in the words of the launches."""

    launches: str
    """Ids of the launches that pass, with a condition at its end; empty where all do."""
    sorted_launches: str
    """Ids of the launches and what to sort by; empty where the order is that of ``order``."""
    order_of_launches: str
    """The order wanted of these: what is unknown comes last."""
    launch_id: str
    """Expression of the id of a launch in both."""
    order: str
    """Kind of the order."""
    descending: bool
    ranges: Sequence[TimeRange]
    values: Mapping[str, Value] = msgspec.field(default_factory=lambda: MappingProxyType({}))

    def key(self, sql: str) -> tuple[str, tuple[tuple[str, Value], ...]]:
        """What a statement about launches asks: neither about the iteration or the page, nor about times."""
        return sql, tuple(
            (name, value) for name, value in self.values.items() if name not in _OF_THE_PAGE and f":{name}" in sql
        )


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


class Passing(msgspec.Struct, frozen=True):
    """Which kernels pass: of those in the order of a question, from one rank to before another, the chosen ones."""

    low: int
    high: int
    chosen: Chosen | None = None
    """All of them, where there is none."""


class StoredOrders(ABC):
    """The stored orders of one iteration."""

    few: int
    """As many rows SQLite finds faster."""

    def __init__(self, connection: sqlite3.Connection, aggregation: int, iteration: int, kernels: int) -> None:
        self._connection = connection
        self._of = (aggregation, iteration)
        self._kept: dict[str, Any] = getattr(connection, "kept", {})
        """For the questions that follow, where the file is not changed."""
        self.kernels = kernels
        self._passed: tuple[Question, Passing] | None = None
        """The question asked last, and what passes."""

    def count(self, question: Question) -> int:
        """How many kernels pass."""
        passing = self._passing(question)
        low, high, chosen = passing.low, passing.high, passing.chosen
        if chosen is None:
            return high - low
        if high - low == self.kernels:
            return chosen.count()
        # What is less to read: those in the range, or those outside.
        if high - low <= self.kernels // 2:
            return self._count(question.order, low, high, chosen)
        outside = self._count(question.order, 0, low, chosen)
        return chosen.count() - outside - self._count(question.order, high, self.kernels, chosen)

    @abstractmethod
    def _count(self, order: str, low: int, high: int, chosen: Chosen) -> int:
        """How many are chosen of those in an order from one rank to before another."""

    @abstractmethod
    def places(self, question: Question, at_once: int) -> Iterator[Places]:
        """All places that pass, in the order of the question, as many at once, and at last the rest."""

    @abstractmethod
    def page(self, question: Question, offset: int, limit: int) -> list[int]:
        """``kernel_iteration_node.id`` of one page."""

    @abstractmethod
    def ids(self, places: Places) -> list[int]:
        """``kernel_iteration_node.id`` of some places."""

    def _passing(self, question: Question) -> Passing:
        """Which kernels pass; worked out once for the count and for the page."""
        if self._passed is None or self._passed[0] is not question:
            self._passed = question, self._found_passing(question)
        return self._passed[1]

    def _found_passing(self, question: Question) -> Passing:
        chosen = self._by_launch(question) if question.launches else None
        low, high = 0, self.kernels
        for wanted in question.ranges:
            if wanted.order == question.order:
                # What is sorted by the same times is a part of the order.
                first, behind = self._slice(wanted)
                low, high = max(low, first), min(high, behind)
            else:
                inside = self._within(wanted)
                chosen = inside if chosen is None else chosen.both(inside)
        return Passing(low, max(low, high), chosen)

    def _passes(self, question: Question, among: str = "1") -> Flags:
        """Whether each launch passes, by its id; ``among`` is a condition on the launches to ask for."""
        (passing,) = self._of_launches(f"SELECT group_concat(id) FROM ({question.launches} AND ({among}))", question)
        passes = np.zeros(self._last_launch() + 1, np.bool_)
        passes[passing] = True
        return passes

    def _ranks(self, question: Question, among: str = "1") -> tuple[Places, int]:
        """The place of each launch's value in the order wanted, by id of the launch, and how many values there are."""
        ids, rank = self._of_launches(
            "SELECT group_concat(id), group_concat(place) FROM "
            f"(SELECT id, dense_rank() OVER ({question.order_of_launches}) AS place "
            f"FROM ({question.sorted_launches} WHERE {among}))",
            question,
        )
        ranks = np.zeros(self._last_launch() + 1, np.int64)
        ranks[ids] = rank - 1
        return ranks, int(rank.max(initial=0))

    def _of_launches(self, sql: str, question: Question) -> Sequence[Places]:
        """Lists of numbers, in one row: for every row, threads may have to wait for each other.

        Launches are those of all iterations, so one answer serves the pages of many; some are kept.
        """
        key = question.key(sql)
        kept: OrderedDict[Any, Sequence[Places]] = self._kept.setdefault("answers_of_launches", OrderedDict())
        found = kept.get(key)
        if found is None:
            lists = self._connection.execute(sql, question.values).fetchone()
            found = [np.fromstring(numbers or "", np.int64, sep=",") for numbers in lists]
            if len(sql) < _LONGEST_KEPT_SQL and all(len(numbers) <= _MOST_KEPT_LAUNCHES for numbers in found):
                kept[key] = found
                while len(kept) > _KEPT_ANSWERS:
                    kept.popitem(last=False)
        return found

    def _last_launch(self) -> int:
        (last,) = self._connection.execute("SELECT max(id) FROM ext_launches").fetchone()
        return int(last or 0)

    @abstractmethod
    def _by_launch(self, question: Question) -> Chosen:
        """Whether the launch of each place passes."""

    @abstractmethod
    def _within(self, wanted: TimeRange) -> Chosen:
        """Whether each place is in the range."""

    @abstractmethod
    def _node(self, place: int) -> int:
        """``kernel_iteration_node.id`` of a place."""

    @abstractmethod
    def _place(self, order: str, rank: int) -> int:
        """The place with a rank in an order."""

    def _slice(self, wanted: TimeRange) -> tuple[int, int]:
        low = 0 if wanted.low is None else self._rank(wanted, wanted.low, wanted.low_is_in)
        high = self.kernels if wanted.high is None else self._rank(wanted, wanted.high, not wanted.high_is_in)
        return low, max(low, high)

    def _rank(self, wanted: TimeRange, limit: float, is_in: bool) -> int:
        """How many kernels have less than the limit; or at most, where it is not in."""
        value = self._value(wanted)
        low, high = self._bounds(wanted, limit, is_in)
        while low < high:
            middle = (low + high) // 2
            if is_below(value(middle), limit, is_in):
                low = middle + 1
            else:
                high = middle
        return low

    def _bounds(self, wanted: TimeRange, limit: float, is_in: bool) -> tuple[int, int]:
        """Between what ``_rank`` lies."""
        return 0, self.kernels

    def _value(self, wanted: TimeRange) -> Callable[[int], float]:
        def value(rank: int) -> float:
            place = rank if wanted.order == "node" else self._place(wanted.order, rank)
            row = self._connection.execute(
                f"SELECT {wanted.sql} FROM kernel_iteration_node AS node JOIN read_only_kernels AS kernel "
                "ON kernel.id = node.read_only_kernel_id WHERE node.id = ?",
                (self._node(place),),
            ).fetchone()
            found: float = row[0]
            return found

        return value


def is_below(value: float, limit: float, is_in: bool) -> bool:
    """Whether a value lies before a limit; one that equals it does unless the limit ``is_in`` what comes behind."""
    return value < limit or (value == limit and not is_in)
