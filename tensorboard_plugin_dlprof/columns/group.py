"""Groups rows by integer columns: distinct values, the number of each row's value among them, rows by value.

Ids are dense, so that a table with an element for each possible value replaces sorting. ``np.unique`` and ``np.isin``
always sort, and load NumPy's masked arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt


def is_ascending(keys: npt.NDArray[np.integer]) -> bool:
    """Whether no key is smaller than the one before it."""
    return bool((keys[1:] >= keys[:-1]).all())


def stable_order(keys: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """``np.argsort`` of keys that are not negative; rows with equal keys stay in order. Short integers are sorted by
    their digits, in one pass each."""
    return np.argsort(keys.astype(np.uint16) if not len(keys) or int(keys.max()) < 1 << 16 else keys, kind="stable")


def is_dense(values: npt.NDArray[Any]) -> bool:
    """Whether a table with one element for each number from minimum to maximum is at most a few columns large."""
    return bool(len(values)) and int(values.max()) - int(values.min()) <= 2 * len(values) + 1_000


def distinct_values(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The distinct values, ascending."""
    if is_dense(values):
        low = int(values.min())
        is_present = np.zeros(int(values.max()) - low + 1, np.bool_)
        is_present[np.subtract(values, low, dtype=np.int64)] = True
        return np.flatnonzero(is_present) + low
    ordered = np.sort(values)
    return ordered[_is_first(ordered)].astype(np.int64)


def numbered(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The distinct values, ascending, and the index of each row's value among them."""
    if is_dense(values):
        distinct = distinct_values(values)
        number = np.zeros(int(distinct[-1] - distinct[0]) + 1, np.int64)
        number[distinct - distinct[0]] = np.arange(len(distinct))
        return distinct, number[np.subtract(values, distinct[0], dtype=np.int64)]
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_first = _is_first(ordered)
    index = np.empty(len(values), np.int64)
    index[order] = np.cumsum(is_first) - 1
    return ordered[is_first].astype(np.int64), index


def ordered_by_value(
    values: npt.NDArray[np.integer],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Sort the row numbers of n values stably by value.

    Returns:
        The n row numbers in the order of their values; the m distinct values, ascending; and m + 1 bounds: the rows of
        value i are those from bound i to before bound i + 1.
    """
    order = stable_order(values) if int(values.min(initial=0)) >= 0 else np.argsort(values, kind="stable")
    ordered = values[order]
    begins = np.append(np.flatnonzero(_is_first(ordered)), len(values))
    return order, ordered[begins[:-1]], begins


def rows_by_value(values: npt.NDArray[np.integer]) -> list[tuple[int, npt.NDArray[np.int64]]]:
    """Each distinct value and its row numbers, both ascending."""
    order, distinct, begins = ordered_by_value(values)
    bounds = begins.tolist()
    return [(value, order[begin:end]) for value, begin, end in zip(distinct.tolist(), bounds, bounds[1:], strict=False)]


def begins_new(order: npt.NDArray[np.integer], *columns: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether each row, in an order of rows, differs from the one before it in any of some columns."""
    is_new = np.zeros(len(order), np.bool_)
    is_new[:1] = True
    for column in columns:
        ordered = column[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    return is_new


def are_among(values: npt.NDArray[Any], wanted: Iterable[int]) -> npt.NDArray[np.bool_]:
    """``np.isin`` for ids.

    Args:
        values: Integers; the table has one element for each number from their minimum to their maximum.
        wanted: The values to find; they may be outside that range.
    """
    low, high = int(values.min(initial=0)), int(values.max(initial=-1))
    table = np.zeros(high - low + 1, np.bool_)
    table[[value - low for value in wanted if low <= value <= high]] = True
    is_wanted: npt.NDArray[np.bool_] = table[np.subtract(values, low, dtype=np.int64) if low else values]
    return is_wanted


def _is_first(ordered: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether each value differs from the one before it."""
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first
