"""Groups rows by integer keys, and computes sums, extremes and DLProf's metrics of each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.tables import Metrics
from tensorboard_plugin_dlprof.columns.group import distinct_values, is_ascending, numbered
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.events.tables import Int64s, Strings

_BLOCK = 1 << 18
"""Rows whose intermediate arrays fit into the processor's cache."""


class Groups(msgspec.Struct):
    """Rows grouped by a key from 0 to ``size`` - 1. Results have length ``size``, with 0 for empty groups."""

    size: int
    rows: int
    order: Int64s | None
    """The rows sorted by key; None if they are sorted already."""
    heads: Int64s
    """Where each non-empty group begins among the sorted rows."""
    present: Int64s
    """Keys of the non-empty groups, ascending."""

    @classmethod
    def of(cls, keys: npt.NDArray[np.integer], size: int) -> Groups:
        """Groups of the rows of ``keys``."""
        order, ordered = None, keys
        if not is_ascending(keys):
            order = np.argsort(keys, kind="stable")
            ordered = keys[order]
            order = spilled(order)
        changes = np.ones(len(keys), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
        heads = np.flatnonzero(changes)
        return cls(size, len(keys), order, spilled(heads), spilled(ordered[heads].astype(np.int64)))

    def portions(self) -> Iterator[tuple[slice | Int64s, Int64s, Int64s]]:
        """Splits the sorted rows into portions: rows, where each group begins among them, and the groups' keys."""
        if self.rows <= _BLOCK:
            if self.rows:
                yield slice(0, self.rows) if self.order is None else self.order, self.heads, self.present
            return
        bounds = np.searchsorted(self.heads, np.arange(0, self.rows, _BLOCK))
        bounds = distinct_values(np.append(bounds, len(self.heads)))
        rows_at = np.append(self.heads, self.rows)
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            rows = slice(int(rows_at[begin]), int(rows_at[end]))
            heads = self.heads[begin:end] - rows.start
            yield rows if self.order is None else self.order[rows], heads, self.present[begin:end]

    def count(self) -> Int64s:
        """The number of rows in each group."""
        counts = np.zeros(self.size, np.int64)
        counts[self.present] = np.diff(np.append(self.heads, self.rows))
        return counts

    def sum(self, values: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Int64s:
        """Sum of each group."""
        return self._reduced(np.add, values)

    def min(self, values: Int64s) -> Int64s:
        """Smallest value of each group."""
        return self._reduced(np.minimum, values)

    def max(self, values: Int64s) -> Int64s:
        """Largest value of each group."""
        return self._reduced(np.maximum, values)

    def _reduced(self, reduce: np.ufunc, values: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Int64s:
        result = np.zeros(self.size, np.int64)
        for rows, heads, present in self.portions():
            result[present] = reduce.reduceat(values[rows].astype(np.int64, copy=False), heads)
        return result

    def metrics(self, values: Int64s) -> Metrics:
        """DLProf's metric of each group."""
        return Metrics(count=self.count(), max=self.max(values), min=self.min(values), sum=self.sum(values))


def summed(keys: npt.NDArray[np.integer], values: npt.NDArray[Any], size: int) -> Int64s:
    """As ``Groups.sum``, but without sorting the rows, which is faster for unsorted rows in small groups."""
    total = np.zeros(size, np.int64)
    for begin in range(0, len(keys), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        np.add.at(total, keys[rows], values[rows].astype(np.int64, copy=False))
    return total


def counted(keys: npt.NDArray[np.integer], size: int) -> Int64s:
    """As ``Groups.count``, but without sorting the rows."""
    return np.bincount(keys, minlength=size).astype(np.int64, copy=False)


def codes(*columns: npt.NDArray[np.integer]) -> tuple[Int64s, Int64s]:
    """Numbers the distinct rows of a table in ascending order, compared by the columns from first to last. They are
    ordered by op and name, so if most equal the row before, only the others are compared.

    Returns:
        The number of each row, and the first row with each number.
    """
    changes = np.zeros(len(columns[0]), np.bool_)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    if 2 * np.count_nonzero(changes) > len(changes):
        del changes
        return _codes(*columns)
    heads = np.flatnonzero(changes).astype(np.int64)
    number, first = _codes(*(column[heads] for column in columns))
    return np.repeat(number, np.diff(np.append(heads, len(changes)))), heads[first]


def alike(*columns: npt.NDArray[np.integer]) -> tuple[Int64s, Int64s]:
    """As ``codes``, but numbered in the order of first use."""
    number, first = codes(*columns)
    by_use = np.argsort(first)
    place = np.empty(len(first), np.int64)
    place[by_use] = np.arange(len(first))
    return place[number], first[by_use]


def _codes(*columns: npt.NDArray[np.integer]) -> tuple[Int64s, Int64s]:
    code = np.zeros(len(columns[0]), np.int64)
    first = np.zeros(min(len(code), 1), np.int64)
    for column in columns:
        values, position = numbered(column)
        code *= max(len(values), 1)
        code += position
        del position
        # Renumber after every column, so that the product stays below rows x rows.
        code, first = _renumbered(code)
    return code, first


def _renumbered(code: Int64s) -> tuple[Int64s, Int64s]:
    """Numbers the distinct values in ascending order; returns as ``codes``."""
    distinct, number = numbered(code)
    first = np.empty(len(distinct), np.int64)
    # NumPy keeps the last of several assignments to an element; hence in reverse order.
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    return number, first


def byte_ranks(strings: Strings, texts: npt.NDArray[np.integer]) -> Int64s:
    """The rank of each text in DLProf's order, which is that of UTF-8 bytes; equal texts have equal ranks."""
    distinct, position = numbered(texts)
    in_order = sorted(range(len(distinct)), key=lambda index: sort_bytes(strings[int(distinct[index])]))
    rank = np.empty(len(distinct), np.int64)
    rank[in_order] = np.arange(len(distinct))
    ranks: Int64s = rank[position]
    return ranks


def sort_bytes(text: str) -> bytes:
    """Sort key of a text. Lone surrogates, which broken sources contain, sort somewhere instead of failing."""
    return text.encode("utf-8", "surrogatepass")


_ROWS = 1 << 18


def by_op(ops: int, *columns: npt.NDArray[np.integer]) -> Iterator[Sequence[slice]]:
    """Split tables into portions of hundreds of thousands of rows, which contain whole ops.

    Intermediate results of a portion stay in the processor's cache, in memory that the next portion reuses. For whole
    columns of ten million rows, memory would be requested from the system, and returned, at every step.

    Args:
        columns: for each table, the op of each row.

    Returns:
        For each portion, its slice of rows in each table; a single portion if a table is not ordered by op.
    """
    if not all(is_ascending(column) for column in columns):
        yield [slice(0, len(column)) for column in columns]
        return
    rows = sum((np.bincount(column, minlength=ops) for column in columns), np.zeros(ops, np.int64))
    portion = np.cumsum(rows) // _ROWS
    first = np.flatnonzero(np.append(True, portion[1:] != portion[:-1])) if ops else np.zeros(0, np.int64)
    bounds = [np.append(np.searchsorted(column, first), len(column)).tolist() for column in columns]
    for number in range(len(first)):
        yield [slice(bound[number], bound[number + 1]) for bound in bounds]
