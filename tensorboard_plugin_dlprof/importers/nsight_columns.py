"""Building columns from batches, without holding them twice."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s

_Integer = TypeVar("_Integer", bound=np.signedinteger)

_LATEST_NS = 1 << 62


class Parts:
    """Columns of one table, batch by batch."""

    def __init__(self, *names: str) -> None:
        self._parts: dict[str, list[npt.NDArray[np.signedinteger]]] = {name: [] for name in names}

    def add(self, **columns: npt.NDArray[np.signedinteger]) -> None:
        """One batch: an array for each column."""
        for name, values in columns.items():
            self._parts[name].append(values)

    def take(self, name: str, dtype: type[_Integer]) -> npt.NDArray[_Integer]:
        """The whole column. Its batches are let go, so each column can be taken once."""
        parts, self._parts[name] = self._parts[name], []
        return np.concatenate([np.zeros(0, dtype), *parts], dtype=dtype, casting="same_kind")


def possible(start: Int64s, end: Int64s) -> npt.NDArray[np.bool_]:
    """Which events have times that can be: not before their start, and within 146 years of zero."""
    return (start > -_LATEST_NS) & (end < _LATEST_NS) & (end >= start)


def narrow(values: Int64s) -> Int32s:
    """As 32-bit integers; what does not fit becomes the nearest that does."""
    info = np.iinfo(np.int32)
    return np.clip(values, info.min, info.max).astype(np.int32)


def distinct(values: Int64s) -> Int64s:
    """Distinct values, ascending. Fast where equal values stand together, as they do in a capture."""
    if not len(values):
        return values
    changes = np.concatenate(([True], values[1:] != values[:-1]))
    return np.unique(values[changes])


def mapped(values: Int64s, table: dict[int, int]) -> Int32s:
    """``table`` applied to each value; every value must be a key."""
    keys = distinct(values)
    targets = np.array([table[key] for key in keys.tolist()], np.int32)
    return targets[np.searchsorted(keys, values)] if len(keys) else np.zeros(0, np.int32)
