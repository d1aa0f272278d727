"""Reads what is known of rows by their ids, each once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

_AT_ONCE = 500

T = TypeVar("T")


class RowsById(Generic[T]):
    """What is known of the rows of some tables.

    Args:
        con: To the database.
        sql: By the name of a table, a SELECT of an id and of values, which ends with ``IN ({})`` for the ids.
        made: What is made of the values of a row.
        unknown: What stands for a row that there is not.
    """

    def __init__(
        self, con: sqlite3.Connection, sql: Mapping[str, str], made: Callable[[list[Any]], T], unknown: T
    ) -> None:
        self._con, self._sql, self._made, self._unknown = con, sql, made, unknown
        self._known: dict[tuple[str, int], T] = {}

    def of(self, keys: Sequence[tuple[str, int]]) -> list[T]:
        """What is known of each of some rows, by table and id."""
        wanted = sorted({key for key in keys if key not in self._known})
        for table in dict.fromkeys(table for table, _ in wanted):
            numbers = [number for of_table, number in wanted if of_table == table]
            for begin in range(0, len(numbers), _AT_ONCE):
                some = numbers[begin : begin + _AT_ONCE]
                self._known |= {(table, number): self._unknown for number in some}
                for number, *values in self._con.execute(self._sql[table].format(",".join("?" * len(some))), some):
                    self._known[table, number] = self._made(values)
        return [self._known[key] for key in keys]
