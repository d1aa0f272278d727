"""Columns with one value in all rows: one that stands for all, which takes no memory and cannot be written to.

Most captures have one process, calls on one thread, and no shapes.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Column = TypeVar("_Column", bound=npt.NDArray[Any])

_BLOCK = 1 << 18
"""Values at a time: most columns that are not steady show it in the first."""


def steady(values: _Column) -> _Column:
    """The column, steady where all its values are the same."""
    return np.broadcast_to(values[:1].copy(), values.shape) if len(values) and _are_same(values) else values  # type: ignore[return-value]


def taken(values: _Column, rows: npt.NDArray[np.integer]) -> _Column:
    """``values[rows]``, steady where the values or the rows are."""
    if len(rows) and rows.strides == (0,):
        return np.broadcast_to(values[rows[:1]], rows.shape)  # type: ignore[return-value]
    if len(rows) and values.strides == (0,):
        return np.broadcast_to(values[:1], rows.shape)  # type: ignore[return-value]
    return values[rows]  # type: ignore[no-any-return]


def joined_steady(*columns: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """One column after the other; steady where all of them are, with one value."""
    filled = [column for column in columns if len(column)]
    if filled and all(len(column) == 1 or column.strides == (0,) for column in filled):
        values = {int(column[0]) for column in filled}
        if len(values) == 1:
            return np.broadcast_to(np.array(list(values), np.int64), sum(map(len, filled)))
    return np.concatenate(columns).astype(np.int64, copy=False)


def _are_same(values: npt.NDArray[Any]) -> bool:
    if values.strides == (0,):
        return True
    blocks = (values[begin : begin + _BLOCK] for begin in range(0, len(values), _BLOCK))
    return all(bool((block == values[0]).all()) for block in blocks)
