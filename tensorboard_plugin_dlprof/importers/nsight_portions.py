"""Rows of a table by the thousand: SQLite joins the values of a column to one text, which NumPy takes apart.

A number then costs a fifteenth of a microsecond. As an object, in a row that is an object too, it costs twice that.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection

ROWS = 4_096
"""Of a portion. The pages of so many rows stay in the processor's cache; more are no faster."""

_FEWER = 16
"""Where the texts of a portion are longer together than SQLite lets one value be, the next try has so much less."""

_SEPARATOR = "\x1e"
"""Between texts: ASCII's separator of records. Texts that hold it are read one by one."""

_FIRST_ROWID, _LAST_ROWID = -(1 << 63), (1 << 63) - 1


@dataclass(slots=True, frozen=True)
class Source:
    """What is read, as SQL of our own making."""

    table: str
    """Quoted."""
    rowid: str
    """A name of the row's id that no column has."""
    numbers: Sequence[str]
    """Expressions of integers, never NULL."""
    text: str | None
    """An expression of texts, never NULL; ``None`` where none is wanted."""
    condition: str
    """On the rows; empty for all."""


@dataclass(slots=True, frozen=True)
class Portion:
    """Some rows."""

    rows: int
    numbers: list[Int64s]
    texts: list[bytes]
    """Empty where none was asked for."""


def portions(con: UntrustedConnection, source: Source) -> Iterator[Portion]:
    """All rows, in the order of their ids.

    Raises:
        sqlite3.DataError: one text is longer than the connection allows.
    """
    terms = [f"{number} AS c{position}" for position, number in enumerate(source.numbers)]
    joined = [f"group_concat(c{position})" for position in range(len(terms))]
    if source.text is not None:
        terms.append(f"{source.text} AS t")
        joined.append(f"group_concat(t, '{_SEPARATOR}')")
    condition = f" AND ({source.condition})" if source.condition else ""
    # No index: it would bring all rows of the condition for each portion, in another order.
    rows_of_portion = (
        f"(SELECT {', '.join([f'{source.rowid} AS r', *terms])} FROM {source.table} NOT INDEXED "
        f"WHERE {source.rowid} >= ?{condition} ORDER BY {source.rowid} LIMIT ?)"
    )
    whole = f"SELECT {', '.join(['max(r)', 'count(*)', *joined])} FROM {rows_of_portion}"
    first, limit = _FIRST_ROWID, ROWS
    while True:
        try:
            ((last, rows, *values),) = _fetched(con, whole, first, limit)
        except sqlite3.DataError:
            if limit == 1:
                raise
            limit = max(1, limit // _FEWER)
            continue
        if rows:
            texts: list[bytes] = [] if source.text is None else values.pop().split(_SEPARATOR.encode())
            if len(texts) > rows:
                one_by_one = f"SELECT t FROM {rows_of_portion}"
                texts = [text for (text,) in _fetched(con, one_by_one, first, limit)]
            yield Portion(rows, [np.fromstring(value, np.int64, sep=",") for value in values], texts)
        if rows < limit or last == _LAST_ROWID:
            return
        first = last + 1


def _fetched(con: UntrustedConnection, statement: str, *parameters: int) -> list[tuple[Any, ...]]:
    """The rows of a statement, with texts as bytes: nobody needs those of numbers decoded."""
    decode, con.text_factory = con.text_factory, bytes
    try:
        return con.execute(statement, parameters).fetchall()
    finally:
        con.text_factory = decode
