"""Rows go into a table as they are, in statements of one row or of several."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.columns import rows

LONG = 70
"""Rows: two statements of several, and some that are left."""


def column(start: int, kind: str, count: int) -> list[int]:
    """Numbers that stay, count, or do either for a while."""
    steps = {"stays": [0], "counts": [1], "falls": [-1], "turns": [1] * 40 + [0] * 33, "jumps": [0, 3]}[kind]
    result = [start]
    while len(result) < count:
        result.append(result[-1] + steps[len(result) % len(steps)])
    return result[:count]


KINDS = st.sampled_from(["stays", "counts", "falls", "turns", "jumps"])


@given(st.integers(-(1 << 62), 1 << 62), st.tuples(KINDS, KINDS, KINDS), st.sampled_from([0, 1, 2, 31, 32, 33, LONG]))
def test_rows_are_stored_as_they_are(start: int, kinds: tuple[str, ...], count: int) -> None:
    """In their order, with columns that are one number or one word for all."""
    columns = [column(start + place, kind, count) for place, kind in enumerate(kinds)]
    with pytest.MonkeyPatch.context() as patch, closing(sqlite3.connect(":memory:")) as con:
        patch.setattr(rows, "_ROWS_A_CHUNK", 40)
        patch.setattr(rows, "_FEW_ROWS", rows.ROWS_A_STATEMENT)
        con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER, d INTEGER, e TEXT)")
        given_columns = {name: np.array(values, np.int64) for name, values in zip("abc", columns, strict=True)}
        rows.insert_integers(con, "t", {**given_columns, "d": 5, "e": "io"})
        stored = con.execute("SELECT a, b, c, d, e FROM t ORDER BY id").fetchall()
    assert stored == [(*row, 5, "io") for row in zip(*columns, strict=True)]


VALUES = st.one_of(st.none(), st.integers(0, 1), st.sampled_from([0.0, 1.0, "", "a", b"a"]))


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=LONG), st.lists(VALUES, min_size=3, max_size=3))
def test_rows_of_any_values_keep_their_types(varied: list[tuple[rows.Value, ...]], constant: list[rows.Value]) -> None:
    """1 and 1.0 are equal and not the same."""
    given_rows = [(*row, *constant) for row in varied] + [(*row, *constant) for row in varied[:1] * 40]
    with pytest.MonkeyPatch.context() as patch, closing(sqlite3.connect(":memory:")) as con:
        patch.setattr(rows, "_OBJECTS_A_CHUNK", 40)
        patch.setattr(rows, "_FEW_ROWS", rows.ROWS_A_STATEMENT)
        con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e, f)")
        rows.insert_rows(con, "t", tuple("abcdef"), given_rows)
        stored = con.execute("SELECT a, b, c, d, e, f FROM t ORDER BY id").fetchall()
    assert list(map(repr, stored)) == list(map(repr, given_rows))
