"""Reads pages of tables.

A page is read in two steps: first the ids of its rows, joining only the tables that sorting and filtering need; then
the columns of just these rows. Rows with equal values are sorted by id in the same direction, so that an index on the
sorted column gives the order. A page in the second half is read from the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, MutableMapping, Sequence

from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.per_iteration import divide
from tensorboard_plugin_dlprof.queries.rows import IDS_AT_ONCE, Row, read_rows, shown_rows
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Page, Table
from tensorboard_plugin_dlprof.queries.table_query import CountKey, TableQuery

FEW_ROWS = 20_000
"""Up to this many rows that pass are found first and then sorted; for more, the index of the sorted column is read."""


def page(
    connection: sqlite3.Connection,
    table: Table,
    scope: Scope,
    request: PageRequest,
    counts: MutableMapping[CountKey, int] | None = None,
) -> Page:
    """One page of a table.

    Args:
        table: from ``tables.table_of``.
        request: which rows, in which order.
        counts: keeps numbers of rows between requests. Its owner clears it when the database changes.

    Raises:
        BadRequest: an unknown column, a column that cannot be sorted or filtered, or an invalid filter.
    """
    pager = _Pager(connection, table, scope, request, counts)
    total = pager.count(False)
    filtered = pager.count(True) if pager.query.is_filtered else total
    rows = pager.rows(pager.ids(request.offset, request.limit, filtered))
    return Page(rows, total, filtered, pager.query.sort)


def count(
    connection: sqlite3.Connection,
    table: Table,
    scope: Scope,
    request: PageRequest,
    counts: MutableMapping[CountKey, int] | None = None,
) -> int:
    """The number of rows that pass search and filters. Arguments and errors are those of ``page``."""
    pager = _Pager(connection, table, scope, request, counts)
    return pager.count(pager.query.is_filtered)


def stream(connection: sqlite3.Connection, table: Table, scope: Scope, request: PageRequest) -> Iterator[Row]:
    """All rows that pass search and filters, in order, in constant memory; ``offset`` and ``limit`` are ignored."""
    pager = _Pager(connection, table, scope, request, {})
    cursor = connection.execute(pager.query.ids(), pager.query.values)
    while ids := [row[0] for row in cursor.fetchmany(IDS_AT_ONCE)]:
        yield from pager.rows(ids)


def all_rows(connection: sqlite3.Connection, table: Table, scope: Scope, request: PageRequest) -> Iterator[Row]:
    """As ``stream``, but in one step: for callers who keep all rows anyway, and tables without unique ids."""
    pager = _Pager(connection, table, scope, request, {})
    columns = {column.key: column.type for column in table.columns}
    cursor = connection.execute(pager.query.rows(), pager.query.values)
    for row in shown_rows(cursor, columns):
        pager.fill(row)
        yield row


class _Pager:
    """One request to one connection."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        table: Table,
        scope: Scope,
        request: PageRequest,
        counts: MutableMapping[CountKey, int] | None,
    ) -> None:
        self._connection, self._table, self._scope, self._counts = connection, table, scope, counts
        self._fill: Callable[[Row], None] | None = None
        self.query = TableQuery(table, scope, request)

    def count(self, filtered: bool) -> int:
        """The number of rows of the scope, or only of those that pass."""
        sql, key = self.query.counting(filtered)
        if self._counts is not None and key in self._counts:
            return self._counts[key]
        row = self._connection.execute(sql, dict(key[1])).fetchone()
        number = int(row[0]) if row else 0
        if self._counts is not None:
            self._counts[key] = number
        return number

    def ids(self, offset: int, limit: int, filtered: int) -> list[int]:
        """The ids of a page of the ``filtered`` rows that pass."""
        limit = min(limit, filtered - offset)
        if limit <= 0:
            return []
        behind = filtered - offset - limit
        backwards = behind < offset
        sql = f"{self.query.ids(filtered <= FEW_ROWS, backwards)} LIMIT :limit OFFSET :offset"
        values = {**self.query.values, "limit": limit, "offset": behind if backwards else offset}
        ids = [row[0] for row in self._connection.execute(sql, values).fetchall()]
        return ids[::-1] if backwards else ids

    def rows(self, ids: Sequence[int]) -> list[Row]:
        """The rows with these ids, in this order."""
        columns = {column.key: column.type for column in self._table.columns}
        rows = read_rows(self._connection, self._table.select(), columns, self.query.scope_values, ids)
        for row in rows.values():
            self.fill(row)
        return [rows[row_id] for row_id in ids if row_id in rows]

    def fill(self, row: Row) -> None:
        """Fill in the cells that SQL computes too slowly, and make means of sums where they are asked for."""
        if self._table.filler is not None:
            self._fill = self._fill or self._table.filler(self._connection, self._scope)
            self._fill(row)
        divide(row, self.query.divisors)
