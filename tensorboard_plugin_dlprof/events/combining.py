"""Columns of integers as one: equal numbers for equal rows, in the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.distinct import numbered
from tensorboard_plugin_dlprof.events.tables import Int64s

_LIMIT = 1 << 62


def combine(*columns: npt.NDArray[Any]) -> Int64s:
    """One number per row that orders rows as the columns do, the first column first."""
    combined = np.zeros(len(columns[0]), np.int64)
    if not len(combined):
        return combined
    size = 1
    for column in columns:
        values = column.astype(np.int64)
        low, high = int(values.min()), int(values.max())
        if high - low >= _LIMIT // size:
            values, width = _dense(values)
            if width >= _LIMIT // size:
                combined, size = _dense(combined)
        else:
            values, width = values - low, high - low + 1
        combined = combined * width + values
        size *= width
    return combined


def _dense(values: Int64s) -> tuple[Int64s, int]:
    distinct, dense = numbered(values)
    return dense, len(distinct)
