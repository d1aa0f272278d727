"""Reading columns out of an untrusted database, and following its ids."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import chain

import numpy as np

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.spilling import joined

_ROWS_A_FETCH = 65_536

_BLOCK = 1 << 18
"""Rows at a time: what is worked out of them stays in the processor's cache."""

_ROWS_A_CHUNK = 8_192
"""Fewer than are faster elsewhere: their tuples stay in the processor's cache."""


def integers(con: sqlite3.Connection, query: str, columns: int) -> list[Int64s]:
    """The columns of a query of whole numbers.

    Raises:
        ValueError, TypeError, OverflowError: a value is none.
    """
    return joined(_chunks(con.execute(query), columns), columns)


def _chunks(cursor: sqlite3.Cursor, columns: int) -> Iterator[Int64s]:
    while rows := cursor.fetchmany(_ROWS_A_CHUNK):
        # One flat run of numbers: half the time of an array made of tuples.
        numbers = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * columns)
        yield numbers.reshape(-1, columns)


def counts_from_1(con: sqlite3.Connection, table: str, rows: int) -> bool:
    """Whether the ids of a table of so many rows are 1 and all that follow, which needs no reading of them."""
    low, high = con.execute(f"SELECT (SELECT min(id) FROM {table}), (SELECT max(id) FROM {table})").fetchone()
    return (low, high) == ((1, rows) if rows else (None, None))


def ids_of(con: sqlite3.Connection, table: str, rows: int) -> Int64s:
    """The ids of a table of so many rows, ascending."""
    if counts_from_1(con, table, rows):
        return np.arange(1, rows + 1, dtype=np.int64)
    return integers(con, f"SELECT id FROM {table} ORDER BY id", 1)[0]


def texts_of(con: sqlite3.Connection, query: str) -> Iterator[tuple[str, ...]]:
    """The rows of a query as texts; NULL is the empty text."""
    cursor = con.execute(query)
    while rows := cursor.fetchmany(_ROWS_A_FETCH):
        for row in rows:
            yield tuple("" if value is None else str(value) for value in row)


def _places(ids: Int64s, wanted: Int64s) -> Int64s:
    """Where each wanted id is among ascending ones, of which there are some; any place for those that are not there."""
    last = len(ids) - 1
    if ids[last] - ids[0] == last:
        # Without gaps, as in databases of ours: nothing to search, which is ten times as fast.
        place: Int64s = np.clip(wanted - ids[0], 0, last)
        return place
    return np.minimum(np.searchsorted(ids, wanted), last)


class Ids:
    """Finds the rows of ids, which need be neither dense nor start at 1."""

    def __init__(self, ids: Int64s) -> None:
        """``ids`` ascending."""
        self._ids = ids

    def rows(self, wanted: Int64s, shown_name: str, what: str) -> Int64s:
        """The row of each id.

        Raises:
            UnfitDatabase: there is no such id.
        """
        if not len(wanted):
            return np.zeros(0, np.int64)
        if not len(self._ids):
            raise UnfitDatabase(f"{shown_name} refers to a missing {what}; it is damaged: make it again.")
        rows = _places(self._ids, wanted)
        if not (self._ids[rows] == wanted).all():
            raise UnfitDatabase(f"{shown_name} refers to a missing {what}; it is damaged: make it again.")
        return rows.astype(np.int64)


class Texts:
    """The dictionary, as ids of ``Profile.strings``. A missing text is the empty one: only a name is lost."""

    def __init__(self, con: sqlite3.Connection, strings: Strings) -> None:
        ids: list[int] = []
        interned: list[int] = [0]
        for ident, text in texts_of(con, "SELECT id, string FROM dictionary ORDER BY id"):
            ids.append(int(ident))
            interned.append(strings.intern(text))
        self._ids = np.array(ids, np.int64)
        self._interned = np.array(interned, np.int32)

    def of(self, ids: Int64s) -> Int32s:
        """The text of each id of the dictionary."""
        if not len(self._ids):
            return np.zeros(len(ids), np.int32)
        place = _places(self._ids, ids)
        found: Int32s = self._interned[np.where(self._ids[place] == ids, place + 1, 0)]
        return found


class OpRows:
    """Rows of ops, and checked numbers of instances within them."""

    def __init__(self, shown_name: str, op_ids: Ids, instance_ops: Int32s) -> None:
        self._shown_name = shown_name
        self._op_ids = op_ids
        self._instances = np.bincount(instance_ops) if len(instance_ops) else np.zeros(0, np.int64)

    def ops(self, ids: Int64s) -> Int32s:
        """Row of each op id.

        Raises:
            UnfitDatabase: there is no such op.
        """
        return self._op_ids.rows(ids, self._shown_name, "op").astype(np.int32)

    def instances(self, ids: Int64s, instance: Int64s) -> Int32s:
        """The numbers, each below the number of instances of its op.

        Raises:
            UnfitDatabase: there is no such instance.
        """
        return self.checked(self.ops(ids), instance)

    def checked(self, ops: Int32s, instance: Int64s) -> Int32s:
        """As ``instances``, of rows of ops."""
        if len(ops):
            counts = np.append(self._instances, np.zeros(max(int(ops.max()) + 1 - len(self._instances), 0), np.int64))
            for begin in range(0, len(ops), _BLOCK):
                numbers = instance[begin : begin + _BLOCK]
                if (numbers < 0).any() or (numbers >= counts[ops[begin : begin + _BLOCK]]).any():
                    raise UnfitDatabase(
                        f"{self._shown_name} refers to a missing call of an op; it is damaged: make it again."
                    )
        return instance.astype(np.int32)
