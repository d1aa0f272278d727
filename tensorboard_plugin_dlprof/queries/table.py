"""Tables of rows to page, sort, search and filter, described once as data; ``pages`` asks for their rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.filters import ColumnType
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope


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
    quotient: tuple[str, str] | None = None
    """Expressions of two whole numbers of which the first is divided by the second; unknown where that is 0."""


class Launches(msgspec.Struct, frozen=True):
    """How a table of kernels is asked of their launches, of which there are few: what kernels have in common."""

    base: str
    """FROM of the launches; ``kernel`` is one of each launch's kernels."""
    row_id: str
    joins: Mapping[str, str]
    """Those that differ from the table's."""
    of_row: str
    """Expression of the id of the launch of a row of the table, which may read its join ``kernel``."""
    orders: Mapping[str, str]
    """Column that differs from kernel to kernel -> kind of its order."""
    own_joins: Collection[str] = ()
    """Joins of the table that differ from kernel to kernel."""
    where: str = "1"

    def are_told_by(self, column: Column) -> bool:
        """Whether the column is the same for all kernels of a launch: neither the row alone nor the kernel tells it."""
        is_own = column.key in self.orders or any(join in self.own_joins for join in column.joins)
        return bool(column.joins) and not is_own


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
    default_then: str = ""
    """Column whose highest come first among rows of which the one of ``default_sort`` is the same, or unknown."""
    joins: Mapping[str, str] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    """Name -> JOIN clause, in the order in which they are joined. None may add or drop rows."""
    links: tuple[str, ...] = ()
    """Parameters that a request must give, bound as texts."""
    in_order: str = ""
    """In place of ``base``, where all rows are read in the order of their ids; only of tables of whole numbers and
    quotients, of which pages are found in whole columns where there are many rows."""
    rows_base: str = ""
    """In place of ``base``, where the rows of some ids are read."""
    total: str = ""
    """Query of the number of rows of the scope, where it is stored; no row is none."""
    launches: Launches | None = None
    """How rows are found in an iteration of which the orders are stored, and what they have in common."""
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

    def source(self, joins: Collection[str], base: str = "") -> str:
        """FROM of some joins, of the table's base or another one."""
        return _joined(base or self.base, self.joins, joins)

    def source_of_launches(self, joins: Collection[str]) -> str:
        """FROM of some joins where the launches are asked."""
        if self.launches is None:
            raise ValueError(f"The rows of {self.name} have no launches.")
        return _joined(self.launches.base, {**self.joins, **self.launches.joins}, joins)

    def select(self, columns: Sequence[Column], *more: str) -> str:
        """The statement that gives the ids of rows, these columns and ``more``, up to the ids in its condition."""
        values = ", ".join([self.row_id, *(f"({column.sql})" for column in columns), *more])
        return f"SELECT {values} FROM {self.source(_joins(columns), self.rows_base)} WHERE {self.row_id}"

    def select_launches(self, columns: Sequence[Column]) -> str:
        """The same of launches."""
        if self.launches is None:
            raise ValueError(f"The rows of {self.name} have no launches.")
        values = ", ".join([self.launches.row_id, *(f"({column.sql})" for column in columns)])
        return f"SELECT {values} FROM {self.source_of_launches(_joins(columns))} WHERE {self.launches.row_id}"


def _joins(columns: Sequence[Column]) -> frozenset[str]:
    return frozenset(join for column in columns for join in column.joins)


def _joined(base: str, joins: Mapping[str, str], wanted: Collection[str]) -> str:
    return " ".join([base, *(text for name, text in joins.items() if name in wanted)])


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
