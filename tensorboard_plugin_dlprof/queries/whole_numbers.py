"""Columns of whole numbers, read whole: SQLite joins the values of each to one text, which NumPy parses."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

_OF_WHOLE_NUMBERS = b"0123456789-,"


class NotWholeNumbers(Exception):
    """A column holds something else, or nothing, in some rows."""


def read_columns(
    connection: sqlite3.Connection, expressions: Sequence[str], rows: str, values: Mapping[str, str | int | float]
) -> list[Numbers]:
    """The values of each expression, of all rows: as many as fit into the longest text that SQLite may give.

    It takes a tenth of the time of reading row by row, at each of which threads may have to wait for each other.

    Args:
        connection: where they are.
        expressions: what to read of each row.
        rows: which, in which order: the statement behind its columns.
        values: what it is bound to.

    Raises:
        NotWholeNumbers: the database is damaged, or not one of ours.
    """
    names = [f"value{number}" for number in range(len(expressions))]
    each = ", ".join(f"{sql} AS {name}" for sql, name in zip(expressions, names, strict=True))
    joined = ", ".join(f"CAST(group_concat({name}) AS BLOB)" for name in names)
    count, *texts = connection.execute(f"SELECT count(*), {joined} FROM (SELECT {each} {rows})", values).fetchone()
    return [_parsed(text, count) for text in texts]


def _parsed(text: bytes | None, count: int) -> Numbers:
    if not count:
        return np.empty(0, np.int64)
    # What is NULL is not in the text.
    if not text or text.translate(None, _OF_WHOLE_NUMBERS) or text.count(b",") != count - 1:
        raise NotWholeNumbers
    return np.fromstring(text, np.int64, sep=",")
