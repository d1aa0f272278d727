"""The columns of a table as its struct declares them, and tables without rows, or of some of the rows."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, get_args

import msgspec
import numpy as np
import numpy.typing as npt

_Table = TypeVar("_Table", bound=msgspec.Struct)


def empty(table: type[_Table]) -> _Table:
    """A table without rows: an array of its type for each column that has no default."""
    return table(*(np.zeros(0, dtype) for dtype in column_types(table).values()))


def some_rows(table: _Table, rows: npt.NDArray[Any]) -> _Table:
    """The table of some rows: flags of all, or numbers in the order asked for."""
    return type(table)(*(column[rows] for column in msgspec.structs.astuple(table)))


@cache
def column_types(table: type[msgspec.Struct]) -> dict[str, Any]:
    """The type of the values of each column that has no default."""
    columns = {field.name: field.type for field in msgspec.structs.fields(table) if field.required}
    return {name: get_args(get_args(column)[1])[0] for name, column in columns.items()}
