"""Reads columns from an untrusted database, and resolves its ids to rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from tensorboard_plugin_dlprof.columns.store import joined
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings

_ROWS_A_FETCH = 65_536

_BLOCK = 1 << 18
"""Rows whose intermediate arrays fit into the processor's cache."""

_ROWS_A_CHUNK = 8_192
"""Rows whose tuples fit into the processor's cache."""


def integers(con: sqlite3.Connection, query: str, columns: int) -> list[Int64s]:
    """The result of a query for integers, as one array per column.

    Raises:
        ValueError, TypeError, OverflowError: a value is not an integer of 64 bits.
    """
    return joined(_chunks(con.execute(query), columns), columns)


def columns_of(con: sqlite3.Connection, source: str, expressions: Mapping[str, str]) -> dict[str, Int64s]:
    """The rows of a FROM clause, by id: under each name the integers of its expression. Errors as for ``integers``."""
    names = ", ".join(expressions.values())
    columns = integers(con, f"SELECT {names} FROM {source} ORDER BY id", len(expressions))
    return dict(zip(expressions, columns, strict=True))


def _chunks(cursor: sqlite3.Cursor, columns: int) -> Iterator[Int64s]:
    while rows := cursor.fetchmany(_ROWS_A_CHUNK):
        # A flat sequence of numbers: NumPy would look into every tuple.
        numbers = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * columns)
        yield numbers.reshape(-1, columns)


def ids_of(con: sqlite3.Connection, table: str, rows: int) -> Int64s:
    """The ids of a table with that many rows, ascending."""
    low, high = con.execute(f"SELECT (SELECT min(id) FROM {table}), (SELECT max(id) FROM {table})").fetchone()
    if (low, high) == (1, rows):  # without gaps: no need to read them
        return np.arange(1, rows + 1, dtype=np.int64)
    return integers(con, f"SELECT id FROM {table} ORDER BY id", 1)[0]


def texts_of(con: sqlite3.Connection, query: str) -> Iterator[tuple[str, ...]]:
    """The rows of a query, each value as text; NULL becomes the empty text."""
    cursor = con.execute(query)
    while rows := cursor.fetchmany(_ROWS_A_FETCH):
        for row in rows:
            yield tuple("" if value is None else str(value) for value in row)


def _places(ids: Int64s, wanted: Int64s) -> Int64s:
    """The index of each wanted id in ``ids``, which are ascending and at least one. Missing ids get any valid index."""
    last = len(ids) - 1
    if int(ids[last]) - int(ids[0]) == last:
        # Ids without gaps, as in our databases, need no search.
        place: Int64s = np.clip(wanted - ids[0], 0, last)
        return place
    return np.minimum(np.searchsorted(ids, wanted), last)


class RowNumbers:
    """Maps ids, which may have gaps and start anywhere, to row numbers from 0.

    Args:
        ids: of all rows, ascending.
    """

    def __init__(self, ids: Int64s) -> None:
        self._ids = ids

    def rows(self, wanted: Int64s, shown_name: str, what: str) -> Int64s:
        """The row of each wanted id.

        Args:
            wanted: ids, in any order.
            shown_name: how the message refers to the database.
            what: how the message refers to what the ids stand for, such as "op".

        Raises:
            UnfitDatabase: there is no row with such an id.
        """
        if not len(wanted):
            return np.zeros(0, np.int64)
        if len(self._ids):
            rows = _places(self._ids, wanted)
            if (self._ids[rows] == wanted).all():
                return rows.astype(np.int64)
        raise UnfitDatabase(f"{shown_name} refers to a missing {what}; it is damaged: make it again.")


class Texts:
    """Maps ``dictionary.id`` to ids in ``Profile.strings``. A missing text reads as empty: only a name is lost."""

    def __init__(self, con: sqlite3.Connection, strings: Strings) -> None:
        ids: list[int] = []
        interned: list[int] = [0]
        for ident, text in texts_of(con, "SELECT id, string FROM dictionary ORDER BY id"):
            ids.append(int(ident))
            interned.append(strings.intern(text))
        self._ids = np.array(ids, np.int64)
        self._interned = np.array(interned, np.int32)

    def of(self, ids: Int64s) -> Int32s:
        """The id in ``Profile.strings`` of each ``dictionary.id``; 0, the empty text, where it is missing."""
        if not len(self._ids):
            return np.zeros(len(ids), np.int32)
        place = _places(self._ids, ids)
        result: Int32s = self._interned[np.where(self._ids[place] == ids, place + 1, 0)]
        return result


class OpRows:
    """Maps op ids to rows, and checks that the numbers of calls refer to calls that exist.

    Args:
        op_ids: of all ops.
        instance_ops: row of the op of each call.
    """

    def __init__(self, shown_name: str, op_ids: RowNumbers, instance_ops: Int32s) -> None:
        self._shown_name = shown_name
        self._op_ids = op_ids
        self._instances = np.bincount(instance_ops) if len(instance_ops) else np.zeros(0, np.int64)

    def ops(self, ids: Int64s) -> Int32s:
        """The row of each op id.

        Raises:
            UnfitDatabase: there is no such op.
        """
        return self._op_ids.rows(ids, self._shown_name, "op").astype(np.int32)

    def instances(self, ids: Int64s, instance: Int64s) -> Int32s:
        """``instance``, the number of a call within its op, checked against the number of calls of each op id.

        Raises:
            UnfitDatabase: there is no such call.
        """
        return self.checked(self.ops(ids), instance)

    def checked(self, ops: Int32s, instance: Int64s) -> Int32s:
        """As ``instances``, but with rows of ops instead of ids."""
        if len(ops):
            counts = np.append(self._instances, np.zeros(max(int(ops.max()) + 1 - len(self._instances), 0), np.int64))
            for begin in range(0, len(ops), _BLOCK):
                numbers = instance[begin : begin + _BLOCK]
                if (numbers < 0).any() or (numbers >= counts[ops[begin : begin + _BLOCK]]).any():
                    raise UnfitDatabase(
                        f"{self._shown_name} refers to a missing call of an op; it is damaged: make it again."
                    )
        return instance.astype(np.int32)
