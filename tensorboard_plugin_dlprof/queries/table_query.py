"""Translates a request for rows of a table into SQL.

Nothing is executed here, but in ``pages``. Everything in the SQL but the bound values is our own text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES, Condition, condition, containing
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.per_iteration import divisors
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Lookup, Table

Value: TypeAlias = str | int | float
CountKey: TypeAlias = tuple[str, tuple[tuple[str, Value], ...]]
"""Key under which a number of rows is kept: the statement that counts them, and its parameters."""

_INFINITE = "9e999"
"""Infinity as an SQL literal."""


class _Alternative(msgspec.Struct, frozen=True):
    """One part of a condition; the parts are joined by OR."""

    sql: str
    is_sorted: bool = False
    """Whether rows are sorted by the same column."""

    def text(self, few: bool) -> str:
        """The SQL. Unless few rows pass, a unary plus keeps SQLite from using an index of another column than rows are
        sorted by, after which it would have to sort millions of rows."""
        return self.sql if few or self.is_sorted else f"+{self.sql}"


class TableQuery:
    """The SQL for one request.

    Args:
        request: which rows of the table, in which order.

    Raises:
        BadRequest: an unknown column, a column that cannot be sorted or filtered, a filter that is not understood, or
            a link that is missing.
    """

    def __init__(self, table: Table, scope: Scope, request: PageRequest) -> None:
        self.table = table
        self.values: dict[str, Value] = {"aggregation": scope.aggregation, "domain": scope.domain}
        """Parameters of the statements."""
        self.values.update(table.all_links_of(request))
        self.scope_values = dict(self.values)
        """The parameters that do not depend on search, filters and page."""
        self.sort = request.sort or table.default_sort
        self.sorted_by = table.column(self.sort.removeprefix("-"))
        if not self.sorted_by.sortable:
            raise BadRequest(f"The table cannot be sorted by the column {self.sorted_by.key}.")
        self.is_descending = self.sort.startswith("-")
        self.divisors = divisors(table, scope, request.per)
        """How many iterations the values of columns are to be divided by, which the SQL does not."""
        self._conditions: list[list[_Alternative]] = []
        self._filtered: list[str] = []
        """The expressions in the conditions."""
        self._add_search(request.search.strip())
        for key, text in request.where.items():
            self._add_filter(table.column(key), text)

    @property
    def is_filtered(self) -> bool:
        """Whether there is a search or a filter."""
        return bool(self._conditions)

    def counting(self, filtered: bool) -> tuple[str, CountKey]:
        """The statement that counts the rows of the scope, or only those that pass if ``filtered``, and its key."""
        if self.table.total and not filtered:
            sql = self.table.total
        else:
            joined = self.table.source(self._filtered if filtered else ())
            sql = f"SELECT count(*) FROM {joined} WHERE {self._where(filtered, True)}"
        values = self.values if filtered else self.scope_values
        return sql, (sql, tuple(sorted(values.items())))

    def sums(self, columns: Sequence[Column]) -> str:
        """The SELECT of the sums of ``columns`` over all rows that pass."""
        source = self.table.source([*self._filtered, *(column.sql for column in columns)])
        values = ", ".join(f"sum({column.sql})" for column in columns)
        return f"SELECT {values} FROM {source} WHERE {self._where(True, True)}"

    def _then(self) -> str:
        """The column, in descending order, for rows whose values are equal or unknown; empty where ids decide."""
        column, table = self.sorted_by, self.table
        default = table.default_sort.removeprefix("-")
        if column.key == default:
            return table.default_then
        # Many rows may have no value, which leaves the order to the next best. An index has no second key.
        is_read_in_order = column.order != "" or column.lookup is not None
        return default if column.nullable and not is_read_in_order and table.default_sort.startswith("-") else ""

    def ids(self, few: bool = True, backwards: bool = False, columns: Sequence[Column] = ()) -> str:
        """A SELECT of the ids of the rows that pass, or of some columns, in order.

        Args:
            few: whether few rows pass, which are then found first and sorted; else rows are read in order of an index.
            backwards: whether the last row comes first.
            columns: what to select; the id by default.
        """
        column, table = self.sorted_by, self.table
        ascending, descending = ("DESC", "ASC") if backwards else ("ASC", "DESC")
        direction = descending if self.is_descending else ascending
        needed, ranked = [*self._filtered, column.sql], ""
        if column.order:
            order, needed = f"({column.order}) {direction}", [*self._filtered, column.order]
        elif column.lookup is not None:
            ranked, needed = _ranked(column, column.lookup, self.is_descending), [*self._filtered]
            order = f"ranked.rank {ascending}"
        elif not column.nullable or self.is_descending:
            # SQLite sorts NULL before all other values, but unknown values come last in both directions.
            order = f"({column.sql}) {direction}"
        elif column.type in TEXT_TYPES:
            order = f"({column.sql}) IS NULL {ascending}, ({column.sql}) {ascending}"
        else:
            # A single sort key, because SQLite would evaluate the expression again for a second one.
            order = f"ifnull({column.sql}, {_INFINITE}) {ascending}"
        if few and self._conditions:
            order = f"+{order}"
        if (key := self._then()) != "":
            then = table.column(key)
            order += f", ({then.sql}) {descending}"
            needed.append(then.sql)
        order += f", {table.row_id} {direction}"
        select = table.row_id
        if columns:
            select = ", ".join(f"({column.sql})" for column in columns)
            needed += [column.sql for column in columns]
        return f"SELECT {select} FROM {table.source(needed)} {ranked}WHERE {self._where(True, few)} ORDER BY {order}"

    def rows(self) -> str:
        """A SELECT of all columns of the rows that pass, in order."""
        return self.ids(columns=self.table.columns)

    def _add_search(self, text: str) -> None:
        if text:
            holds = self._named(containing(text))
            self._conditions.append(
                [_Alternative(self._holds(column, holds)) for column in self.table.columns if column.searchable]
            )

    def _add_filter(self, column: Column, text: str) -> None:
        if not column.filterable:
            raise BadRequest(f"The column {column.key} cannot be filtered.")
        if not text.strip():
            return
        wanted = condition(column.label, column.type, text).times(self.divisors.get(column.key, 1))
        sql = self._holds(column, self._named(wanted))
        self._conditions.append([_Alternative(sql, is_sorted=column.key == self.sorted_by.key)])

    def _holds(self, column: Column, holds: str) -> str:
        """The condition on a column, which ``{}`` stands for."""
        lookup = column.lookup
        if lookup is not None:
            return f"{lookup.key} IN (SELECT {lookup.id} FROM {lookup.source} WHERE {holds.format(f'({column.sql})')})"
        if column.text_id and column.type in TEXT_TYPES:
            self._filtered.append(column.text_id)
            return f"{column.text_id} IN (SELECT id FROM dictionary WHERE {holds.format('string')})"
        self._filtered.append(column.sql)
        return holds.format(f"({column.sql})")

    def _named(self, result: Condition) -> str:
        """The SQL of the condition with named parameters; ``{}`` still stands for the column."""
        sql = result.sql
        for value in result.values:
            sql = sql.replace("?", self._bind(value), 1)
        return sql

    def _bind(self, value: Value) -> str:
        name = f"value{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def _where(self, filtered: bool, few: bool) -> str:
        parts = [self.table.where]
        for alternatives in self._conditions if filtered else ():
            parts.append(" OR ".join(alternative.text(few) for alternative in alternatives) or "0")
        return " AND ".join(f"({part})" for part in parts)


def _ranked(column: Column, lookup: Lookup, is_descending: bool) -> str:
    """A join of the ranks of the distinct values, with unknown ones last."""
    order = f"({column.sql}) IS NULL, ({column.sql}) {'DESC' if is_descending else 'ASC'}"
    ranks = f"SELECT {lookup.id} AS id, dense_rank() OVER (ORDER BY {order}) AS rank FROM {lookup.source}"
    return f"CROSS JOIN ({ranks}) AS ranked ON ranked.id = {lookup.key} "
