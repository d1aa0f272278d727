"""Tables of rows to page, sort, search and filter, described once as data.

A page is found in two steps: the ids of its rows from as few joined tables as sorting and filtering need,
then the columns of these rows alone. An offset of five million rows costs 30 ms so, and seconds in one step.
Sorting ends with the row id in the same direction, so that an index on the sorted column gives the order.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.filters import TEXT_TYPES, ColumnType, Condition, condition, containing
from tensorboard_plugin_dlprof.queries.large_iteration import LargeIteration
from tensorboard_plugin_dlprof.queries.packed import Packed, Question, StoredOrders, TimeRange, time_range
from tensorboard_plugin_dlprof.queries.rows import IDS_AT_ONCE, Row, read_rows
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.small_iteration import SmallIteration

Value: TypeAlias = str | int | float
CountKey: TypeAlias = tuple[str, tuple[tuple[str, Value], ...]]

FEW_ROWS = 20_000
"""Up to this many hits, find them first and sort them; above, walk the index of the sorted column."""

_KEPT_ORDERS = 16
_MOST_KEPT_IDS = 2_000
"""In each of the orders that a connection keeps: a megabyte at most."""

_INFINITE = "9e999"
"""As SQL spells it."""


class Column(msgspec.Struct, frozen=True):
    """One column: what it is called, what it holds, and the SQL expression that gives it."""

    key: str
    label: str
    type: ColumnType
    description: str
    sql: str
    joins: tuple[str, ...] = ()
    """Names of the table's joins that the expression reads."""
    text_id: str = ""
    """Expression of the dictionary id behind a text: a filter then reads each distinct text once. It reads all but the
    last of the joins, which is that of the dictionary."""
    nullable: bool = False
    """Unknown values are sorted last."""
    sortable: bool = True
    filterable: bool = True
    searchable: bool = False
    hidden: bool = False
    """Not shown unless the user asks."""
    tier: int = 0
    """0 for what the table is read for; where a page is too narrow for all columns, higher ones are left out first."""
    order: str = ""
    """Expression of the table's base alone that gives the same order faster."""
    base: str = ""
    """In place of the table's, where rows are sorted by this column."""
    alone: tuple[str, str] | None = None
    """Another base, and an expression of it, that give the same ids in the same order where nothing is filtered."""


class Table(msgspec.Struct, frozen=True):
    """A table: its columns and where the rows come from. All texts are ours, never the user's or a file's."""

    name: str
    columns: tuple[Column, ...]
    key: str
    """Column that names a row."""
    base: str
    """First item of FROM: one row per row of the table."""
    row_id: str
    """Expression of ``base`` that is unique."""
    where: str
    """Rows of the scope; may use ``:aggregation``, ``:domain`` and the links."""
    default_sort: str
    joins: Mapping[str, str] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    """Name -> JOIN clause, in the order in which they are joined. None may add or drop rows."""
    links: tuple[str, ...] = ()
    """Parameters that a request must give, bound as texts."""
    rows_base: str = ""
    """In place of ``base``, where the rows of some ids are read."""
    total: str = ""
    """Query of the number of rows of the scope, where it is stored; no row is none."""
    packed: Packed | None = None
    """How rows are found in an iteration of which the orders are stored."""
    filler: Callable[[sqlite3.Connection, Scope], Callable[[Row], None]] | None = None
    """Makes, once for a request, what fills in the cells of each row that SQL gives too slowly."""

    def column(self, key: str) -> Column:
        """The column of this key.

        Raises:
            BadRequest: there is none.
        """
        for column in self.columns:
            if column.key == key:
                return column
        known = ", ".join(column.key for column in self.columns)
        raise BadRequest(f"The table {self.name} has no column {key[:40]!r}; it has {known}.")


class Request(msgspec.Struct, frozen=True):
    """What a user chose. ``sort`` is a column key, ``-`` before it for descending; empty for the table's default."""

    offset: int = 0
    limit: int = 25
    sort: str = ""
    search: str = ""
    filters: Mapping[str, str] = msgspec.field(default_factory=dict)
    links: Mapping[str, str] = msgspec.field(default_factory=dict)


class Page(msgspec.Struct, frozen=True):
    """Rows of one page; ``total`` rows in the scope, ``filtered`` of them pass search and filters."""

    rows: list[Row]
    total: int
    filtered: int
    sort: str


def page(
    connection: sqlite3.Connection,
    table: Table,
    scope: Scope,
    request: Request,
    counts: MutableMapping[CountKey, int] | None = None,
) -> Page:
    """One page of the table.

    ``counts`` keeps row counts between pages; its owner empties it when the database changes.

    Raises:
        BadRequest: an unknown column, a column that cannot be sorted or filtered, a filter that is not understood.
    """
    query = _Query(table, scope, request)
    rows: list[Row] = []
    stored = query.stored(connection, counts)
    if stored is not None:
        total = query.count(connection, False, counts)
        filtered = query.stored_count(stored, counts) if query.conditions else total
        if request.limit and request.offset < filtered:
            rows = query.rows(connection, stored.page(query.question, request.offset, request.limit))
        return Page(rows, total, filtered, query.sort)
    few = query.few(connection, counts)
    total = query.count(connection, False, counts)
    filtered = query.count(connection, True, counts) if query.conditions else total
    if request.limit and request.offset < filtered:
        if few is None:
            ids = query.found(connection, query.ids(few=filtered <= FEW_ROWS, paged=True))
        else:
            ids = few[request.offset : request.offset + request.limit]
        rows = query.rows(connection, ids)
    return Page(rows, total, filtered, query.sort)


def count(
    connection: sqlite3.Connection,
    table: Table,
    scope: Scope,
    request: Request,
    counts: MutableMapping[CountKey, int] | None = None,
) -> int:
    """How many rows pass search and filters; ``counts`` as for ``page``."""
    query = _Query(table, scope, request)
    stored = query.stored(connection, counts) if query.conditions else None
    if stored is not None:
        return query.stored_count(stored, counts)
    return query.count(connection, bool(query.conditions), counts)


def stream(connection: sqlite3.Connection, table: Table, scope: Scope, request: Request) -> Iterator[Row]:
    """All rows that pass search and filters, in order, in constant memory; ``offset`` and ``limit`` do not count."""
    query = _Query(table, scope, request)
    stored = query.stored(connection, {})
    if stored is not None:
        # Always as many, so that it is always the same statement.
        for places in stored.places(query.question, IDS_AT_ONCE):
            yield from query.rows(connection, stored.ids(places))
        return
    cursor = connection.execute(query.ids(few=True, paged=False), query.values)
    while ids := [row[0] for row in cursor.fetchmany(IDS_AT_ONCE)]:
        yield from query.rows(connection, ids)


class _Alternative(msgspec.Struct, frozen=True):
    """One part of a condition; the parts are joined by OR."""

    sql: str
    by_name: bool = False
    """Compares the id of a text with those of the matching texts."""

    def text(self, few: bool) -> str:
        """The unary plus keeps SQLite from starting at the index of the names, which means sorting millions of rows."""
        return f"+{self.sql}" if self.by_name and not few else self.sql


class _Query:
    """The SQL of one request."""

    def __init__(self, table: Table, scope: Scope, request: Request) -> None:
        self._table, self._scope = table, scope
        self._fill: Callable[[Row], None] | None = None
        self.values: dict[str, Value] = {"aggregation": scope.aggregation, "domain": scope.domain}
        for link in table.links:
            if link not in request.links:
                raise BadRequest(f"The table {table.name} needs the parameter {link}.")
            self.values[link] = request.links[link]
        self._scope_values = dict(self.values)
        self.sort = request.sort or table.default_sort
        self._sorted_by = table.column(self.sort.removeprefix("-"))
        if not self._sorted_by.sortable:
            raise BadRequest(f"The column {self._sorted_by.key} cannot be sorted by.")
        self.conditions: list[list[_Alternative]] = []
        self._ranges: list[TimeRange] = []
        self._of_launches: list[list[_Alternative]] = []
        self._filter_joins: set[str] = set()
        self._add_search(request.search.strip())
        for key, text in request.filters.items():
            self._add_filter(table.column(key), text)
        self.values["limit"], self.values["offset"] = request.limit, request.offset

    def _add_search(self, text: str) -> None:
        if text:
            holds = self._named(containing(text))
            found = [self._contains(column, holds) for column in self._table.columns if column.searchable]
            self.conditions.append(found)
            self._of_launches.append(found)

    def _add_filter(self, column: Column, text: str) -> None:
        if not column.filterable:
            raise BadRequest(f"The column {column.key} cannot be filtered.")
        if not text.strip():
            return
        found = condition(column.key, column.type, text)
        sql = self._named(found)
        if column.type in TEXT_TYPES:
            self.conditions.append([self._contains(column, sql)])
            self._of_launches.append(self.conditions[-1])
            return
        self._filter_joins.update(column.joins)
        self.conditions.append([_Alternative(sql.format(f"({column.sql})"))])
        packed = self._table.packed
        if packed is not None and column.key in packed.orders:
            self._ranges.append(time_range(packed.orders[column.key], column.sql, found))
        else:
            self._of_launches.append(self.conditions[-1])

    def _contains(self, column: Column, holds: str) -> _Alternative:
        if column.text_id:
            self._filter_joins.update(column.joins[:-1])
            names = f"(SELECT id FROM dictionary WHERE {holds.format('string')})"
            return _Alternative(f"{column.text_id} IN {names}", by_name=True)
        self._filter_joins.update(column.joins)
        return _Alternative(holds.format(f"({column.sql})"))

    def _named(self, found: Condition) -> str:
        """The condition with its values bound, ``{}`` in place of the column."""
        sql = found.sql
        for value in found.values:
            sql = sql.replace("?", self._bind(value), 1)
        return sql

    def _bind(self, value: Value) -> str:
        name = f"value{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def _from(self, joins: Iterable[str], base: str = "") -> str:
        wanted = set(joins)
        return " ".join(
            [base or self._table.base, *(text for name, text in self._table.joins.items() if name in wanted)]
        )

    def _where(self, filtered: bool, few: bool) -> str:
        parts = [self._table.where]
        for alternatives in self.conditions if filtered else ():
            parts.append(" OR ".join(alternative.text(few) for alternative in alternatives) or "0")
        return " AND ".join(f"({part})" for part in parts)

    def count(
        self, connection: sqlite3.Connection, filtered: bool, counts: MutableMapping[CountKey, int] | None
    ) -> int:
        sql, key = self._counting(filtered)
        if counts is not None and key in counts:
            return counts[key]
        row = connection.execute(sql, dict(key[1])).fetchone()
        number = int(row[0]) if row else 0
        if counts is not None:
            counts[key] = number
        return number

    def _counting(self, filtered: bool) -> tuple[str, CountKey]:
        """How rows are counted, and by what their number is known."""
        joined = self._from(self._filter_joins if filtered else ())
        sql = f"SELECT count(*) FROM {joined} WHERE {self._where(filtered, True)}"
        if self._table.total and not filtered:
            sql = self._table.total
        values = {
            name: value
            for name, value in (self.values if filtered else self._scope_values).items()
            if name not in ("limit", "offset")
        }
        return sql, (sql, tuple(sorted(values.items())))

    def few(self, connection: sqlite3.Connection, counts: MutableMapping[CountKey, int] | None) -> list[int] | None:
        """The ids of all rows that pass, in order, where they are few and their number is to be found anyway: they are
        counted and sorted at once."""
        filtered = bool(self.conditions)
        _, key = self._counting(filtered)
        if self._table.total and not filtered:
            return None
        sql = f"{self.ids(few=True, paged=False)} LIMIT {FEW_ROWS + 1}"
        # The next page is asked for next.
        kept: OrderedDict[CountKey, list[int]] = getattr(connection, "kept", {}).setdefault("few", OrderedDict())
        ids = kept.get((sql, key[1]))
        if ids is not None:
            kept.move_to_end((sql, key[1]))
        elif counts is not None and key in counts:
            return None
        else:
            ids = self.found(connection, sql)
            if len(ids) > FEW_ROWS:
                return None
        if len(ids) <= _MOST_KEPT_IDS:
            kept[sql, key[1]] = ids
            while len(kept) > _KEPT_ORDERS:
                kept.popitem(last=False)
        if counts is not None:
            counts[key] = len(ids)
        return ids

    def found(self, connection: sqlite3.Connection, sql: str) -> list[int]:
        """The ids that a query gives, in one row: for every row, threads may have to wait for each other."""
        (text,) = connection.execute(f"SELECT CAST(group_concat(id) AS BLOB) FROM ({sql})", self.values).fetchone()
        return [int(number) for number in text.split(b",")] if text else []

    def stored(
        self, connection: sqlite3.Connection, counts: MutableMapping[CountKey, int] | None
    ) -> StoredOrders | None:
        """The stored orders, where the import stored them and the rows are too many to do without."""
        if self._table.packed is None or "iteration" not in self.values:
            return None
        total = self.count(connection, False, counts)
        asked = connection, int(self.values["aggregation"]), int(self.values["iteration"])
        if total > SmallIteration.few and (small := SmallIteration.find(*asked)) is not None:
            return small if small.suits(self.question) else None
        return LargeIteration.find(*asked) if total > LargeIteration.few else None

    def stored_count(self, found: StoredOrders, counts: MutableMapping[CountKey, int] | None) -> int:
        """How many rows pass."""
        question = self.question
        key: CountKey = (
            f"{question.launches} {question.ranges}",
            tuple(sorted((name, value) for name, value in self.values.items() if name not in ("limit", "offset"))),
        )
        if counts is not None and key in counts:
            return counts[key]
        number = found.count(question)
        if counts is not None:
            counts[key] = number
        return number

    @cached_property
    def question(self) -> Question:
        """The request as one about the stored orders."""
        packed, column = self._table.packed, self._sorted_by
        if packed is None:
            raise ValueError(f"The orders of {self._table.name} are not stored.")
        conditions = [" OR ".join(part.text(True) for part in parts) or "0" for parts in self._of_launches]
        where = [packed.where, *conditions]
        order = packed.orders.get(column.key, "")
        direction = "DESC" if self.sort.startswith("-") else "ASC"
        return Question(
            launches=""
            if where == ["1"]
            else f"SELECT {packed.row_id} AS id FROM {self._from_launches(self._filter_joins)} "
            f"WHERE {' AND '.join(f'({part})' for part in where)}",
            sorted_launches=""
            if order
            else f"SELECT {packed.row_id} AS id, ({column.sql}) AS value FROM {self._from_launches(column.joins)}",
            order_of_launches=f"ORDER BY value IS NULL, value {direction}",
            launch_id=packed.row_id,
            order=order,
            descending=direction == "DESC",
            ranges=self._ranges,
            values=self.values,
        )

    def _from_launches(self, joins: Iterable[str]) -> str:
        packed, wanted = self._table.packed, set(joins)
        if packed is None:
            return ""
        texts = {**self._table.joins, **packed.joins}
        return " ".join([packed.base, *(text for name, text in texts.items() if name in wanted)])

    def ids(self, few: bool, paged: bool) -> str:
        column, table = self._sorted_by, self._table
        direction = "DESC" if self.sort.startswith("-") else "ASC"
        base = column.base
        value, joins = (column.order, ()) if column.order else (column.sql, column.joins)
        if column.alone is not None and not self.conditions:
            (base, value), joins = column.alone, ()
        unknown_last = ""
        # For SQLite, what is unknown is less than all that is known.
        if column.nullable and direction == "ASC":
            if column.type in TEXT_TYPES:
                unknown_last = f"({value}) IS NULL, "
            else:
                # One key instead of two: SQLite would work out the value for each of them.
                value = f"ifnull({value}, {_INFINITE})"
        plus = "+" if few and self.conditions else ""
        order = f"{unknown_last}{plus}({value}) {direction}, {table.row_id} {direction}"
        sql = (
            f"SELECT {table.row_id} AS id FROM {self._from(self._filter_joins.union(joins), base)} "
            f"WHERE {self._where(True, few)} ORDER BY {order}"
        )
        return f"{sql} LIMIT :limit OFFSET :offset" if paged else sql

    def rows(self, connection: sqlite3.Connection, ids: Sequence[int]) -> list[Row]:
        """The rows with these ids, in this order."""
        table = self._table
        expressions = ", ".join(f"({column.sql})" for column in table.columns)
        source = self._from(table.joins, table.rows_base)
        found = read_rows(
            connection,
            f"SELECT {table.row_id}, {expressions} FROM {source} WHERE {table.row_id}",
            {column.key: column.type for column in table.columns},
            self._scope_values,
            ids,
        )
        if table.filler is not None:
            self._fill = self._fill or table.filler(connection, self._scope)
            for row_shown in found.values():
                self._fill(row_shown)
        return [found[row_id] for row_id in ids if row_id in found]
