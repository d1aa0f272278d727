"""Reads the rows of a report from a SELECT, one at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.reports.blocks import Column, Unknown, Value, fit

ROWS_AT_ONCE = 500

OP_JOINS = (
    "LEFT JOIN dictionary AS direction ON direction.id = op.direction_id "
    "LEFT JOIN dictionary AS op_type ON op_type.id = op.op_type_id "
    "LEFT JOIN dictionary AS data_type ON data_type.id = op.data_type_id"
)
"""Joins for the texts of an op. Left joins, so that rows of a damaged database with missing texts are kept, and SQLite
does not reorder the joins."""


def scope_values(scope: Scope) -> dict[str, int]:
    """The values of ``:aggregation`` and ``:domain``."""
    return {"aggregation": scope.aggregation, "domain": scope.domain}


def stream(
    connection: sqlite3.Connection, sql: str, values: Mapping[str, int], columns: Sequence[Column]
) -> Iterator[tuple[Value, ...]]:
    """The rows of a SELECT with the columns of the report, in constant memory."""
    kinds = [column.kind for column in columns]
    for row in raw(connection, sql, values):
        yield tuple(map(fit, row, kinds))


def with_unknown(
    rows: Iterator[tuple[Value, ...]], columns: Sequence[Column], *headings: str
) -> Iterator[tuple[Value, ...]]:
    """The rows with NULL in the columns of these headings replaced by ``Unknown``: DLProf writes 0 or no there."""
    places = [place for place, column in enumerate(columns) if column.heading in headings]
    for row in rows:
        for place in places:
            if row[place] is None:
                row = (*row[:place], Unknown(0), *row[place + 1 :])
        yield row


def raw(connection: sqlite3.Connection, sql: str, values: Mapping[str, int]) -> Iterator[Sequence[object]]:
    """The rows as SQLite returns them."""
    cursor = connection.execute(sql, values)
    try:
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from rows
    finally:
        # If a file cannot be written, the rows are not read to the end, and the connection may be closed before.
        with suppress(sqlite3.ProgrammingError):
            cursor.close()


def count_of(connection: sqlite3.Connection, sql: str, values: Mapping[str, int]) -> int:
    """The result of a ``SELECT count(*)``."""
    return int(connection.execute(sql, values).fetchone()[0])
