"""Tables without rows."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, get_args

import msgspec
import numpy as np

_Table = TypeVar("_Table", bound=msgspec.Struct)


def empty(table: type[_Table]) -> _Table:
    """A table without rows: an array of its type for each column that has no default."""
    return table(*(np.zeros(0, dtype) for dtype in _dtypes(table)))


@cache
def _dtypes(table: type[msgspec.Struct]) -> tuple[Any, ...]:
    columns = [field.type for field in msgspec.structs.fields(table) if field.required]
    return tuple(get_args(get_args(column)[1])[0] for column in columns)
