"""Tables that are read piece by piece, without being in memory twice."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import column_types
from tensorboard_plugin_dlprof.columns.store import ColumnStore, GrowingColumn

_Integer = TypeVar("_Integer", bound=np.signedinteger)
_Table = TypeVar("_Table", bound=msgspec.Struct)


class GrowingTable:
    """Columns of one table, which grow batch by batch."""

    def __init__(self, store: ColumnStore) -> None:
        self._store = store
        self._columns: dict[str, GrowingColumn] = {}

    def add(self, **columns: npt.NDArray[np.signedinteger]) -> None:
        """Adds a batch: an array for each column."""
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = self._store.growing(values.dtype.char)
            self._columns[name].append(values)

    def add_some(self, wanted: npt.NDArray[np.bool_], /, **columns: npt.NDArray[np.signedinteger]) -> None:
        """Adds the chosen rows of a batch."""
        rows = np.flatnonzero(wanted)
        self.add(**{name: values[rows] for name, values in columns.items()})

    def table(self, kind: type[_Table], /, **given: Any) -> _Table:
        """The whole table, once all batches were added: of columns that were ``given``, and of those that were added
        under the names of its others."""
        taken = {name: self.take(name, dtype) for name, dtype in column_types(kind).items() if name not in given}
        return kind(**taken, **given)

    def take(self, name: str, dtype: type[_Integer]) -> npt.NDArray[_Integer]:
        """The whole column, once all batches were added. Each column can be taken once."""
        column = self._columns.pop(name, None)
        return np.zeros(0, dtype) if column is None else np.asarray(column.whole(), dtype)
