"""Tables as pandas DataFrames: ids and times are integers, unknown values ``<NA>``, units are in ``attrs``."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES, ColumnType
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import all_rows
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Table

if TYPE_CHECKING:
    import pandas as pd

UNITS: Mapping[ColumnType, str] = {
    "duration_ns": "ns",
    "fraction": "0 to 1",
    "bytes": "bytes",
    "integer": "",
    "boolean": "True, False or <NA>",
}
"""Unit of each type of column; texts have none."""


class Column(Protocol):
    """The description of a column."""

    @property
    def key(self) -> str:
        """Name of the column."""

    @property
    def type(self) -> ColumnType:
        """Type of the values, which implies the unit."""

    @property
    def description(self) -> str:
        """Meaning of the column."""


def frame(
    connection: sqlite3.Connection, table: Table, scope: Scope, request: PageRequest | None = None
) -> pd.DataFrame:
    """All rows of a table, in its default order.

    ``attrs["units"]`` of the result has the unit of each column, ``attrs["descriptions"]`` its meaning.
    """

    cells: dict[str, list[Any]] = {column.key: [] for column in table.columns}
    # Ten million rows have few distinct texts, so equal texts share one object.
    texts: dict[str, str] = {}
    appends = [values.append for values in cells.values()]
    for row in all_rows(connection, table, scope, request or PageRequest()):
        for append, value in zip(appends, row.values(), strict=True):
            append(texts.setdefault(value, value) if isinstance(value, str) else value)
    return _framed(table.columns, cells)


def described(columns: Sequence[Column]) -> pd.DataFrame:
    """The name, unit and description of each column of a table, as a frame."""
    import pandas as pd

    rows = [(column.key, UNITS.get(column.type, ""), column.description) for column in columns]
    result: pd.DataFrame = pd.DataFrame(rows, columns=["column", "unit", "description"], dtype="string")
    return result


def plain_frame(rows: Sequence[Mapping[str, object]], columns: Sequence[Column]) -> pd.DataFrame:
    """Rows in memory as a frame, like ``frame`` for those of a table."""
    return _framed(columns, {column.key: [row[column.key] for row in rows] for column in columns})


def _framed(columns: Sequence[Column], cells: Mapping[str, list[Any]]) -> pd.DataFrame:
    import pandas as pd

    result: pd.DataFrame = pd.DataFrame(
        {column.key: pd.array(cells[column.key], dtype=_dtype(column, cells[column.key])) for column in columns}
    )
    result.attrs["units"] = {column.key: UNITS.get(column.type, "") for column in columns}
    result.attrs["descriptions"] = {column.key: column.description for column in columns}
    return result


def _dtype(column: Column, values: Sequence[object]) -> Any:
    """The dtype of a column, mostly by its type, so that it does not depend on the rows; averages are floats."""
    if column.type in TEXT_TYPES:
        return "string"
    if column.type == "boolean":
        return "boolean"
    if column.type == "fraction" or "average" in column.key or any(isinstance(value, float) for value in values):
        return "Float64"
    return "Int64"
