"""Translates a request for rows of a table into SQL, or into a question about stored orders.

Nothing is executed here, but in ``pages``. Everything in the SQL but the bound values is our own text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES, Condition, condition, containing
from tensorboard_plugin_dlprof.queries.packed import Question, TimeRange, time_range
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Request, Table

Value: TypeAlias = str | int | float
CountKey: TypeAlias = tuple[str, tuple[tuple[str, Value], ...]]
"""Key under which a number of rows is kept: the statement that counts them, and its parameters."""

_INFINITE = "9e999"
"""Infinity as an SQL literal."""

_OF_THE_PAGE = frozenset({"limit", "offset"})
"""Parameters that do not affect the number of rows."""


class _Alternative(msgspec.Struct, frozen=True):
    """One part of a condition; the parts are joined by OR."""

    sql: str
    by_name: bool = False
    """Whether it compares the id of a text with the ids of all matching texts."""

    def text(self, few: bool) -> str:
        """The SQL. Unless few rows pass, a unary plus keeps SQLite from using the index of the names, after which it
        would have to sort millions of rows."""
        return f"+{self.sql}" if self.by_name and not few else self.sql


class TableQuery:
    """The SQL for one request.

    Args:
        table: the table.
        scope: aggregation and domain.
        request: which rows of the table, in which order.

    Raises:
        BadRequest: an unknown column, a column that cannot be sorted or filtered, a filter that is not understood, or
            a link that is missing.
    """

    def __init__(self, table: Table, scope: Scope, request: Request) -> None:
        self.table = table
        self.values: dict[str, Value] = {"aggregation": scope.aggregation, "domain": scope.domain}
        """Parameters of the statements."""
        for link in table.links:
            if link not in request.links:
                raise BadRequest(f"The table {table.name} needs the parameter {link}.")
            self.values[link] = request.links[link]
        self.scope_values = dict(self.values)
        """The parameters that do not depend on search, filters and page."""
        self.sort = request.sort or table.default_sort
        self.sorted_by = table.column(self.sort.removeprefix("-"))
        if not self.sorted_by.sortable:
            raise BadRequest(f"The table cannot be sorted by the column {self.sorted_by.key}.")
        self.is_descending = self.sort.startswith("-")
        self._direction = "DESC" if self.is_descending else "ASC"
        self._conditions: list[list[_Alternative]] = []
        self._ranges: list[TimeRange] = []
        self._of_launches: list[list[_Alternative]] = []
        self._filter_joins: set[str] = set()
        self.numbers: list[tuple[Column, Condition]] | None = []
        """All conditions on the rows, if they are on columns of numbers only; else None."""
        self._add_search(request.search.strip())
        for key, text in request.filters.items():
            self._add_filter(table.column(key), text)
        self.values["limit"], self.values["offset"] = request.limit, request.offset

    @property
    def is_filtered(self) -> bool:
        """Whether there is a search or a filter."""
        return bool(self._conditions)

    def counting(self, filtered: bool) -> tuple[str, CountKey]:
        """The statement that counts the rows of the scope, or only those that pass if ``filtered``, and its key."""
        if self.table.total and not filtered:
            sql = self.table.total
        else:
            joined = self.table.source(self._filter_joins if filtered else ())
            sql = f"SELECT count(*) FROM {joined} WHERE {self._where(filtered, True)}"
        return sql, self._key(sql, self.values if filtered else self.scope_values)

    def sums(self, columns: Sequence[Column]) -> str:
        """The SELECT of the sums of ``columns`` over all rows that pass."""
        joins = self._filter_joins.union(*(column.joins for column in columns))
        values = ", ".join(f"sum({column.sql})" for column in columns)
        return f"SELECT {values} FROM {self.table.source(joins)} WHERE {self._where(True, True)}"

    def count_key(self, question: Question) -> CountKey:
        """The key for the number of rows that pass, if it is counted with stored orders."""
        return self._key(f"{question.launches} {question.ranges}", self.values)

    @staticmethod
    def _key(sql: str, values: dict[str, Value]) -> CountKey:
        return sql, tuple(sorted((name, value) for name, value in values.items() if name not in _OF_THE_PAGE))

    def ids(self, few: bool, paged: bool) -> str:
        """A SELECT of the ids of the rows that pass, in order.

        Args:
            few: whether few rows pass, which are then found first and sorted; else rows are read in order of an index.
            paged: whether to return only the ids of the page.
        """
        column, table = self.sorted_by, self.table
        base = column.base
        value, joins = (column.order, ()) if column.order else (column.sql, column.joins)
        if column.alone is not None and not self._conditions:
            (base, value), joins = column.alone, ()
        unknown_last = ""
        # SQLite sorts NULL before all other values, but unknown values come last in both directions.
        if column.nullable and self._direction == "ASC":
            if column.type in TEXT_TYPES:
                unknown_last = f"({value}) IS NULL, "
            else:
                # A single sort key, because SQLite would evaluate the expression again for a second one.
                value = f"ifnull({value}, {_INFINITE})"
        plus = "+" if few and self._conditions else ""
        order = f"{unknown_last}{plus}({value}) {self._direction}, "
        if table.default_then and column.key == table.default_sort.removeprefix("-"):
            then = table.column(table.default_then)
            order += f"({then.sql}) DESC, "
            joins = (*joins, *then.joins)
        order += f"{table.row_id} {self._direction}"
        sql = (
            f"SELECT {table.row_id} AS id FROM {self.table.source(self._filter_joins.union(joins), base)} "
            f"WHERE {self._where(True, few)} ORDER BY {order}"
        )
        return f"{sql} LIMIT :limit OFFSET :offset" if paged else sql

    @cached_property
    def question(self) -> Question:
        """The request as a question about stored orders."""
        launches, column = self.table.launches, self.sorted_by
        if launches is None:
            raise ValueError(f"The orders of {self.table.name} are not stored.")
        conditions = [" OR ".join(part.text(True) for part in parts) or "0" for parts in self._of_launches]
        where = [launches.where, *conditions]
        order = launches.orders.get(column.key, "")
        return Question(
            launches=""
            if where == ["1"]
            else f"SELECT {launches.row_id} AS id FROM {self.table.source_of_launches(self._filter_joins)} "
            f"WHERE {' AND '.join(f'({part})' for part in where)}",
            sorted_launches=""
            if order
            else f"SELECT {launches.row_id} AS id, ({column.sql}) AS value "
            f"FROM {self.table.source_of_launches(column.joins)}",
            order_of_launches=f"ORDER BY value IS NULL, value {self._direction}",
            launch_id=launches.row_id,
            order=order,
            descending=self._direction == "DESC",
            ranges=self._ranges,
            values=self.values,
        )

    def _add_search(self, text: str) -> None:
        if text:
            self.numbers = None
            holds = self._named(containing(text))
            found = [self._contains(column, holds) for column in self.table.columns if column.searchable]
            self._conditions.append(found)
            self._of_launches.append(found)

    def _add_filter(self, column: Column, text: str) -> None:
        if not column.filterable:
            raise BadRequest(f"The column {column.key} cannot be filtered.")
        if not text.strip():
            return
        found = condition(column.key, column.type, text)
        sql = self._named(found)
        if column.type in TEXT_TYPES or column.type == "boolean":
            self.numbers = None
        elif self.numbers is not None:
            self.numbers.append((column, found))
        if column.type in TEXT_TYPES:
            self._conditions.append([self._contains(column, sql)])
            self._of_launches.append(self._conditions[-1])
            return
        self._filter_joins.update(column.joins)
        self._conditions.append([_Alternative(sql.format(f"({column.sql})"))])
        launches = self.table.launches
        if launches is not None and column.key in launches.orders:
            self._ranges.append(time_range(launches.orders[column.key], column.sql, found))
        else:
            self._of_launches.append(self._conditions[-1])

    def _contains(self, column: Column, holds: str) -> _Alternative:
        if column.text_id:
            self._filter_joins.update(column.joins[:-1])
            names = f"(SELECT id FROM dictionary WHERE {holds.format('string')})"
            return _Alternative(f"{column.text_id} IN {names}", by_name=True)
        self._filter_joins.update(column.joins)
        return _Alternative(holds.format(f"({column.sql})"))

    def _named(self, found: Condition) -> str:
        """The SQL of the condition with named parameters; ``{}`` still stands for the column."""
        sql = found.sql
        for value in found.values:
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
