"""Rows of a table by the thousand: SQLite joins the values of a column to one text, which NumPy takes apart.

A number then costs a fifteenth of a microsecond. As an object, in a row that is an object too, it costs twice that.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection

ROWS = 4_096
"""Of a portion. The pages of so many rows stay in the processor's cache; more are no faster."""

_FEWER = 16
"""Where the texts of a portion are longer together than SQLite lets one value be, the next try has so much less."""

_SEPARATOR = "\x1e"
"""Between texts: ASCII's separator of records. Texts that hold it are read one by one."""

_MOST_CHANGES = 4
"""A column that was steady and changed so often is not taken for steady any more."""

_FIRST_ROWID, _LAST_ROWID = -(1 << 63), (1 << 63) - 1


class Source(msgspec.Struct, frozen=True):
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


class Portion(msgspec.Struct, frozen=True):
    """Some rows."""

    rows: int
    numbers: list[Int64s]
    texts: list[bytes]
    """Empty where none was asked for."""


def portions(con: UntrustedConnection, source: Source) -> Iterator[Portion]:
    """All rows, in the order of their ids.

    Most columns have one value for long: processes, devices, types of events. They are not joined but compared with
    the value that they had in the portion before, and the portion is read again where they differ from it.

    Raises:
        sqlite3.DataError: one text is longer than the connection allows.
    """
    reader = _Reader(con, source)
    steady: dict[int, int] = {}
    changes = [0] * len(source.numbers)
    first, limit = _FIRST_ROWID, ROWS
    while True:
        try:
            found = reader.read(first, limit, steady) or reader.read(first, limit, {})
        except sqlite3.DataError:
            if limit == 1:
                raise
            limit = max(1, limit // _FEWER)
            continue
        if not found or not found.rows:
            return
        yield found
        if found.rows < limit or reader.last == _LAST_ROWID:
            return
        same = {c: int(values[0]) for c, values in enumerate(found.numbers) if (values == values[0]).all()}
        for column, value in steady.items():
            changes[column] += same.get(column) != value
        steady = {column: value for column, value in same.items() if changes[column] < _MOST_CHANGES}
        first = reader.last + 1


class _Reader:
    """Reads one portion at a time."""

    def __init__(self, con: UntrustedConnection, source: Source) -> None:
        self.last = _FIRST_ROWID
        """Id of the last row that was read."""
        self._con = con
        self._source = source
        terms = [f"{number} AS c{position}" for position, number in enumerate(source.numbers)]
        if source.text is not None:
            terms.append(f"{source.text} AS t")
        condition = f" AND ({source.condition})" if source.condition else ""
        # No index: it would bring all rows of the condition for each portion, in another order.
        self._rows = (
            f"(SELECT {', '.join([f'{source.rowid} AS r', *terms])} FROM {source.table} NOT INDEXED "
            f"WHERE {source.rowid} >= ?{condition} ORDER BY {source.rowid} LIMIT ?)"
        )

    def read(self, first: int, limit: int, steady: dict[int, int]) -> Portion | None:
        """The rows from an id on; ``None`` where a column has another value than it is said to have in all of them."""
        joined = [position for position in range(len(self._source.numbers)) if position not in steady]
        has_text = self._source.text is not None
        terms = [f"group_concat(c{position})" for position in joined]
        terms += [f"group_concat(t, '{_SEPARATOR}')"] * has_text
        as_said = " AND ".join(f"c{position} = ?" for position in steady) or "1"
        statement = f"SELECT max(r), count(*), sum({as_said}), {', '.join(terms) or 'NULL'} FROM {self._rows}"
        ((last, rows, expected, *values),) = self._fetched(statement, *steady.values(), first, limit)
        if rows and expected != rows:
            return None
        if not rows:
            return Portion(0, [], [])
        texts: list[bytes] = values.pop().split(_SEPARATOR.encode()) if has_text else []
        if len(texts) > rows:
            texts = [text for (text,) in self._fetched(f"SELECT CAST(t AS TEXT) FROM {self._rows}", first, limit)]
        numbers = {position: np.broadcast_to(np.int64(value), rows) for position, value in steady.items()}
        numbers |= {
            position: np.fromstring(value, np.int64, sep=",") for position, value in zip(joined, values, strict=False)
        }
        self.last = last
        return Portion(rows, [numbers[position] for position in range(len(numbers))], texts)

    def _fetched(self, statement: str, *parameters: int) -> list[tuple[Any, ...]]:
        """The rows of a statement, with texts as bytes: nobody needs those of numbers decoded."""
        con = self._con
        decode, con.text_factory = con.text_factory, bytes
        try:
            return con.execute(statement, parameters).fetchall()
        finally:
            con.text_factory = decode
