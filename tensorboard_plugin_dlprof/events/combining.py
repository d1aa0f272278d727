"""Combines columns of integers into one column of keys: equal for equal rows, and in the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.tables import Int64s

_LIMIT = 1 << 62

_BLOCK = 1 << 18
"""Rows processed at a time."""


def combine(*columns: npt.NDArray[Any]) -> Int64s:
    """One key per row, which orders rows by the first column, then the second, and so on.

    Args:
        columns: At least one; integers, all of the same length.
    """
    combined = np.zeros(len(columns[0]), np.int64)
    if not len(combined):
        return combined
    size = 1
    for column in columns:
        values, low, high = column, int(column.min()), int(column.max())
        if high - low >= _LIMIT // size:
            values, count = _dense(values)
            low, high = 0, count - 1
            if count >= _LIMIT // size:
                combined, size = _dense(combined)
        width = high - low + 1
        for begin in range(0, len(combined), _BLOCK) if width > 1 else ():
            block = combined[begin : begin + _BLOCK]
            block *= width
            block += np.subtract(values[begin : begin + _BLOCK], low, dtype=np.int64)
        size *= width
    return combined


def _dense(values: npt.NDArray[Any]) -> tuple[Int64s, int]:
    distinct, dense = numbered(values)
    return dense, len(distinct)
