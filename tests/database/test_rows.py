"""Whole numbers go into a table as they are, whatever a statement says in fewer values."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.database import rows

LONG = 70
"""Rows: two statements of several, and some that are left."""


def column(start: int, kind: str, count: int) -> list[int]:
    """Numbers that stay, count, or do either for a while."""
    steps = {"stays": [0], "counts": [1], "falls": [-1], "turns": [1] * 40 + [0] * 33, "jumps": [0, 3]}[kind]
    found = [start]
    while len(found) < count:
        found.append(found[-1] + steps[len(found) % len(steps)])
    return found[:count]


KINDS = st.sampled_from(["stays", "counts", "falls", "turns", "jumps"])


@given(st.integers(-(1 << 62), 1 << 62), st.tuples(KINDS, KINDS, KINDS), st.sampled_from([0, 1, 2, 31, 32, 33, LONG]))
def test_rows_are_stored_as_they_are(start: int, kinds: tuple[str, ...], count: int) -> None:
    """In their order, with a column that is one number for all."""
    columns = [column(start + place, kind, count) for place, kind in enumerate(kinds)]
    with pytest.MonkeyPatch.context() as patch, closing(sqlite3.connect(":memory:")) as con:
        patch.setattr(rows, "_ROWS_A_CHUNK", 40)
        con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER, d INTEGER)")
        given_columns = {name: np.array(values, np.int64) for name, values in zip("abc", columns, strict=True)}
        rows.insert_integers(con, "t", {**given_columns, "d": 5}, count)
        stored = con.execute("SELECT a, b, c, d FROM t ORDER BY id").fetchall()
    assert stored == [(*row, 5) for row in zip(*columns, strict=True)]
