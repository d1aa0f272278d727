"""Builds columns from batches, without keeping them in memory twice."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import column_types
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.store import ColumnStore, GrowingColumn
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s

_Integer = TypeVar("_Integer", bound=np.signedinteger)
_Table = TypeVar("_Table", bound=msgspec.Struct)

_LATEST_NS = 1 << 62


class Batches:
    """Columns of one table, which grow batch by batch.

    Args:
        store: holds the columns.
    """

    def __init__(self, store: ColumnStore) -> None:
        self._store = store
        self._columns: dict[str, GrowingColumn] = {}

    def add(self, **columns: npt.NDArray[np.signedinteger]) -> None:
        """Adds a batch: an array for each column."""
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = self._store.growing(values.dtype.char)
            self._columns[name].append(values)

    def table(self, kind: type[_Table], **given: Any) -> _Table:
        """The whole table, once all batches were added: of columns that were ``given``, and of those that were added
        under the names of its others."""
        taken = {name: self.take(name, dtype) for name, dtype in column_types(kind).items() if name not in given}
        return kind(**taken, **given)

    def take(self, name: str, dtype: type[_Integer]) -> npt.NDArray[_Integer]:
        """The whole column, once all batches were added. Each column can be taken once."""
        column = self._columns.pop(name, None)
        return np.zeros(0, dtype) if column is None else np.asarray(column.whole(), dtype)


def possible(start: Int64s, end: Int64s) -> npt.NDArray[np.bool_]:
    """Which events have possible times: the end not before the start, and both within 146 years of zero."""
    return (start > -_LATEST_NS) & (end < _LATEST_NS) & (end >= start)


def narrow(values: Int64s) -> Int32s:
    """The values as 32-bit integers, clipped to their range."""
    info = np.iinfo(np.int32)
    return np.clip(values, info.min, info.max).astype(np.int32)


def mapped(values: Int64s, table: dict[int, int]) -> Int32s:
    """``table`` applied to each value; every value must be a key."""
    keys = distinct_values(values)
    targets = np.array([table[key] for key in keys.tolist()], np.int32)
    return targets[np.searchsorted(keys, values)] if len(keys) else np.zeros(0, np.int32)
