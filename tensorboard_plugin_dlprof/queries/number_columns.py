"""Pages of a table of numbers from its columns, each read whole once and kept, in place of asking every row again.

Hundreds of thousands of rows have no index for every column. SQLite takes a tenth of a second to work out what each of
them is sorted by, and seconds for a filter that most of them pass. Read once, they are numbers that are compared and
ordered in milliseconds. The answers are SQLite's: whole numbers are exact, a quotient is that of two doubles, what is
unknown passes no filter and comes last, equal ones are in the order of their rows.
"""

from __future__ import annotations

import math
import operator
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.queries.chosen import Flags, Places
from tensorboard_plugin_dlprof.queries.filters import Condition
from tensorboard_plugin_dlprof.queries.table import Column
from tensorboard_plugin_dlprof.queries.table_query import TableQuery, Value
from tensorboard_plugin_dlprof.queries.whole_numbers import NotWholeNumbers, read_columns

FEW_ROWS = 1_000
"""Of so many rows SQLite finds a page in a millisecond."""

MOST_ROWS = 1_000_000
"""A column takes up to eight megabytes."""

_KEPT_BYTES = 16 << 20
"""Of the columns that a connection keeps; those that were not asked for longest go first."""

_ROWS_AT_ONCE = 65_536
"""Their text is far shorter than the longest value that is read (``opening.sqlite_file``)."""

Numbers: TypeAlias = "npt.NDArray[Any]"
"""Whole numbers, or doubles of which some are unknown."""

_SIZES = (np.int8, np.int16, np.int32, np.int64)

_COMPARISONS: Mapping[str, Callable[[Numbers, float], Any]] = MappingProxyType(
    {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq}
)


class NumberColumns:
    """The columns of the rows of a scope, of which the ids follow each other.

    Args:
        connection: where they are.
        query: a request for some of them.
        first: id of the first row.
        rows: how many there are.
    """

    def __init__(self, connection: sqlite3.Connection, query: TableQuery, first: int, rows: int) -> None:
        self._connection, self._query = connection, query
        self._first, self._rows = first, rows
        kept: dict[str, OrderedDict[object, Numbers]] = getattr(connection, "kept", {})
        self._kept = kept.setdefault("number_columns", OrderedDict())

    @classmethod
    def find(cls, connection: sqlite3.Connection, query: TableQuery, rows: int) -> NumberColumns | None:
        """Those of a request; nothing where SQLite is as fast, or where the rows do not lie as ours do."""
        table = query.table
        has_index = not query.is_filtered and not query.sorted_by.base
        if not table.in_order or has_index or query.numbers is None or not FEW_ROWS < rows <= MOST_ROWS:
            return None
        # The ends of an index; the rows between them are counted as they are read.
        number = table.column(table.default_sort).sql
        end = f"SELECT {table.row_id} FROM {table.base} WHERE {table.where} ORDER BY {number}"
        first, last = (
            connection.execute(f"{end} {direction} LIMIT 1", query.scope_values).fetchone()
            for direction in ("ASC", "DESC")
        )
        if first is None or last is None or last[0] - first[0] + 1 != rows:
            return None
        return cls(connection, query, first[0], rows)

    def page(self, offset: int, limit: int) -> tuple[list[int], int] | None:
        """The ids of the rows of a page, and how many rows pass; nothing where a column is damaged."""
        try:
            places = self._passing()
            keys = self._keys()
        except NotWholeNumbers:
            return None
        if places is not None:
            keys = keys[places]
        chosen = ranked(keys, offset, limit, is_descending=self._query.is_descending)
        if places is not None:
            chosen = places[chosen]
        ids: list[int] = (chosen + self._first).tolist()
        return ids, len(keys)

    def _passing(self) -> Places | None:
        """The rows that pass, counted from the first one; nothing where there is no condition."""
        flags: Flags | None = None
        for column, condition in self._query.numbers or ():
            found = passes(self._column(column), condition)
            flags = found if flags is None else flags & found
        return None if flags is None else np.flatnonzero(flags)

    def _keys(self) -> Numbers:
        """What the rows are sorted by: what is unknown comes last in both directions."""
        column = self._query.sorted_by
        if column.order:
            return self._whole_numbers(self._query.table.in_order, [column.order])[0]
        return self._column(column, unknown=-math.inf if self._query.is_descending else math.inf)

    def _column(self, column: Column, unknown: float = math.nan) -> Numbers:
        """All its values."""
        table = self._query.table
        source, sql = column.alone or (table.source(column.joins, table.in_order), column.sql)
        if column.quotient is None:
            return self._whole_numbers(source, [sql])[0]
        above, below = self._whole_numbers(source, column.quotient)
        found: Numbers = np.divide(above, below, out=np.full(len(below), unknown), where=below != 0)
        return found

    def _whole_numbers(self, source: str, expressions: Sequence[str]) -> list[Numbers]:
        scope = tuple(self._query.scope_values.items())
        missing = [sql for sql in expressions if (source, scope, sql) not in self._kept]
        found = dict(zip(missing, self._read(source, missing), strict=True)) if missing else {}
        for sql in expressions:
            if sql not in found:
                found[sql] = self._kept.pop((source, scope, sql))
            self._kept[source, scope, sql] = found[sql]
        while len(self._kept) > 1 and sum(numbers.nbytes for numbers in self._kept.values()) > _KEPT_BYTES:
            self._kept.popitem(last=False)
        return [found[sql] for sql in expressions]

    def _read(self, source: str, expressions: Sequence[str]) -> list[Numbers]:
        """Values of all rows, in the order of their ids."""
        table = self._query.table
        rows = (
            f"FROM {source} WHERE ({table.where}) AND {table.row_id} BETWEEN :first AND :last ORDER BY {table.row_id}"
        )
        parts: list[list[Numbers]] = []
        for first in range(self._first, self._first + self._rows, _ROWS_AT_ONCE):
            last = min(first + _ROWS_AT_ONCE, self._first + self._rows) - 1
            asked: dict[str, Value] = {**self._query.scope_values, "first": first, "last": last}
            parts.append([*read_columns(self._connection, expressions, rows, asked)])
        found = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        if len(found[0]) != self._rows:
            raise NotWholeNumbers
        return [_narrow(numbers) for numbers in found]


def _narrow(numbers: npt.NDArray[np.int64]) -> Numbers:
    """The same in as few bytes as they need."""
    low, high = int(numbers.min()), int(numbers.max())
    size = next(size for size in _SIZES if np.iinfo(size).min <= low and high <= np.iinfo(size).max)
    return numbers.astype(size)


def passes(numbers: Numbers, condition: Condition) -> Flags:
    """Which numbers a filter lets through (``filters.condition``), as SQLite compares them."""
    name = condition.sql.split()[1]
    first, *more = (float(value) if isinstance(value, str) else value for value in condition.values)
    if more:
        return _compared(numbers, ">=", first) & _compared(numbers, "<=", more[0])
    return _compared(numbers, name, first)


def _compared(numbers: Numbers, name: str, limit: float) -> Flags:
    if numbers.dtype.kind == "i" and not float(limit).is_integer():
        # A whole number is above a fraction where it is above what lies below that; as a double it may be another one.
        if name == "=":
            return np.zeros(len(numbers), np.bool_)
        limit = math.floor(limit) if name in (">", "<=") else math.ceil(limit)
    elif numbers.dtype.kind == "i":
        limit = int(limit)
    flags: Flags = _COMPARISONS[name](numbers, limit)
    return flags


def ranked(keys: Numbers, offset: int, limit: int, *, is_descending: bool) -> Places:
    """Where the keys of a page are, in order: the ``limit`` of them behind the first ``offset``.

    Equal ones are in the order of their places, or in its reverse where the order is descending. Only those between the
    first and the last of the page are sorted.
    """
    limit = min(limit, len(keys) - offset)
    if limit <= 0:
        return np.empty(0, np.int64)
    first = len(keys) - offset - limit if is_descending else offset
    ends = [first, first + limit - 1]
    low, high = np.partition(keys, ends)[ends]
    between = np.flatnonzero((keys >= low) & (keys <= high))
    first -= int(np.count_nonzero(keys < low))
    places = between[np.argsort(keys[between], kind="stable")][first : first + limit]
    return places[::-1] if is_descending else places
