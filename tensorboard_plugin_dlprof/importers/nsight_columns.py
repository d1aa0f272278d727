"""Building columns from batches, without holding them twice."""

from __future__ import annotations

from array import array
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.distinct import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.spilling import Spill

_Integer = TypeVar("_Integer", bound=np.signedinteger)

_LATEST_NS = 1 << 62


_TYPECODES = {1: "b", 4: "i", 8: "q"}
"""Bytes of an integer -> its type in ``array``."""


class Parts:
    """Columns of one table, which grow batch by batch.

    Args:
        spill: where they lie.
    """

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._columns: dict[str, Any] = {}
        self._same: dict[str, tuple[int, int]] = {}
        """Columns that had one value so far: the value, and how often. Most know no domain, shapes, graphs."""

    def add(self, **columns: npt.NDArray[np.signedinteger]) -> None:
        """One batch: an array for each column."""
        for name, values in columns.items():
            if not len(values):
                continue
            if name not in self._columns:
                value, count = self._same.pop(name, (int(values[0]), 0))
                if (values == value).all():
                    self._same[name] = value, count + len(values)
                    continue
                self._columns[name] = array(_TYPECODES[values.itemsize], [value]) * count
            self._columns[name].frombytes(values.tobytes())
        self._spill.relieve([self._columns])

    def take(self, name: str, dtype: type[_Integer]) -> npt.NDArray[_Integer]:
        """The whole column, once all batches were added. Each can be taken once.

        One with the same value everywhere takes no memory and cannot be written to.
        """
        if name in self._same:
            value, count = self._same.pop(name)
            return np.broadcast_to(np.array([value], dtype), count)
        self._spill.complete([self._columns])
        column: npt.NDArray[_Integer] = np.asarray(self._columns.pop(name, ()), dtype)
        return column


def possible(start: Int64s, end: Int64s) -> npt.NDArray[np.bool_]:
    """Which events have times that can be: not before their start, and within 146 years of zero."""
    return (start > -_LATEST_NS) & (end < _LATEST_NS) & (end >= start)


def narrow(values: Int64s) -> Int32s:
    """As 32-bit integers; what does not fit becomes the nearest that does."""
    info = np.iinfo(np.int32)
    return np.clip(values, info.min, info.max).astype(np.int32)


def mapped(values: Int64s, table: dict[int, int]) -> Int32s:
    """``table`` applied to each value; every value must be a key."""
    keys = distinct_values(values)
    targets = np.array([table[key] for key in keys.tolist()], np.int32)
    return targets[np.searchsorted(keys, values)] if len(keys) else np.zeros(0, np.int32)
