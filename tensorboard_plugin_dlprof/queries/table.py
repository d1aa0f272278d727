"""Describes tables that can be paged, sorted, searched and filtered as data; ``pages`` reads their rows."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.filters import ColumnType
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope


class Lookup(msgspec.Struct, frozen=True):
    """A table of something that many rows share, which filters and sorts by its columns read instead of the rows."""

    key: str
    """Its id, as an expression on the base of the table of rows."""
    id: str
    """Its id, as an expression on ``source``."""
    source: str
    """FROM clause."""


class Column(msgspec.Struct, frozen=True):
    """One column: its names, type, meaning, and SQL expression."""

    key: str
    label: str
    type: ColumnType
    description: str
    sql: str
    """Expression on the table's base and joins."""
    text_id: str = ""
    """Expression of the ``dictionary.id`` of a text, so that a filter reads each distinct text once."""
    nullable: bool = False
    """Whether values may be unknown (NULL), which are sorted last."""
    sortable: bool = True
    filterable: bool = True
    searchable: bool = False
    hidden: bool = False
    """Not shown unless the user chooses the column."""
    tier: int = 0
    """0 for the most important columns. If a page is too narrow for all, columns of higher tiers are left out first."""
    order: str = ""
    """Expression on the table's base that sorts rows in the same order, which an index has."""
    lookup: Lookup | None = None
    """Where to read each distinct value once, instead of once for every row."""


FILLED = "NULL"
"""The expression of columns that ``Table.filler`` fills in."""


class Table(msgspec.Struct, frozen=True):
    """A table: its columns and where its rows come from. All SQL is our own text, never the user's or from a file."""

    name: str
    columns: tuple[Column, ...]
    key: str
    """Key of the column that identifies a row."""
    base: str
    """First item of the FROM clause, with one row per row of the table."""
    row_id: str
    """Expression on ``base`` that is unique."""
    where: str
    """Condition for the rows of the scope; may use ``:aggregation``, ``:domain`` and the links."""
    default_sort: str
    default_then: str = ""
    """Column that sorts rows, in descending order, whose values of ``default_sort`` are equal or unknown."""
    joins: tuple[str, ...] = ()
    """JOIN clauses, each of one table or subquery under an alias, in the order in which they are joined: only those
    that columns need. None may add or drop rows."""
    links: tuple[str, ...] = ()
    """Parameters that a request must give."""
    narrowed: tuple[str, ...] = ()
    """Parameters that a request may give; in ``where`` they are an empty text where it does not."""
    rows_where: str = ""
    """Condition for reading rows by id, if ids are unique only within the scope."""
    total: str = ""
    """Query for the number of rows in the scope, if that is stored; no result means no rows."""
    filler: Callable[[sqlite3.Connection, Scope], Callable[[Row], None]] | None = None
    """Called once for a request; returns a function that fills in the cells of a row that SQL computes too slowly."""

    def column(self, key: str) -> Column:
        """The column with this key.

        Raises:
            BadRequest: there is no such column.
        """
        for column in self.columns:
            if column.key == key:
                return column
        known = ", ".join(column.key for column in self.columns)
        raise BadRequest(f"The table {self.name} has no column {key[:40]!r}; it has {known}.")

    def links_of(self, request: PageRequest) -> dict[str, str | int]:
        """What the rows of a request belong to.

        Raises:
            BadRequest: the request does not say it.
        """
        given = request.links
        for link in self.links:
            if link not in given:
                raise BadRequest(f"The table {self.name} needs the parameter {link}.")
        return {link: given[link] for link in (*self.links, *self.narrowed) if link in given}

    def named_links_of(self, request: PageRequest) -> dict[str, str | int]:
        """As ``links_of``, for people: without ids."""
        return {link: value for link, value in self.links_of(request).items() if link != "nodes"}

    def all_links_of(self, request: PageRequest) -> dict[str, str | int]:
        """As ``links_of``, with an empty text for what a request may give and does not."""
        return {**dict.fromkeys(self.narrowed, ""), **self.links_of(request)}

    def source(self, expressions: Iterable[str]) -> str:
        """FROM clause with the joins that some expressions need."""
        return from_clause(self.base, self.joins, expressions)

    def select(self) -> str:
        """A SELECT of the id and all columns, which ends with the id expression of its condition."""
        values = ", ".join([self.row_id, *(f"({column.sql})" for column in self.columns)])
        source = self.source(column.sql for column in self.columns)
        scope = f"({self.rows_where}) AND " if self.rows_where else ""
        return f"SELECT {values} FROM {source} WHERE {scope}{self.row_id}"


def from_clause(base: str, joins: Sequence[str], expressions: Iterable[str]) -> str:
    """The base with those joins whose alias stands before a dot in an expression, or in a join that is needed."""
    needed = set().union(*map(_aliases, expressions))
    for join in reversed(joins):
        if _alias_of(join) in needed:
            needed |= _aliases(join)
    return " ".join([base, *(join for join in joins if _alias_of(join) in needed)])


def _alias_of(join: str) -> str:
    """The alias of the table that a JOIN clause joins."""
    return join.rpartition(" ON ")[0].rpartition(" ")[2]


@cache
def _aliases(sql: str) -> frozenset[str]:
    return frozenset(re.findall(r"\b([a-z_]+)\.", sql))


class Page(msgspec.Struct, frozen=True):
    """One page of a table."""

    rows: list[Row]
    total: int
    """Number of rows in the scope."""
    filtered: int
    """Number of these that pass search and filters."""
    sort: str
