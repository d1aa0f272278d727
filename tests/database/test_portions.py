"""Columns of whole numbers, read by the thousand rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.database import portions
from tensorboard_plugin_dlprof.database.portions import Column, read_columns

FEW = st.sampled_from([-(2**63), -1, 0, 7, 2**63 - 1])


def _table(rows: Sequence[tuple[object, ...]]) -> sqlite3.Connection:
    con = sqlite3.connect(":memory:")
    con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER)")
    con.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return con


@given(st.lists(st.tuples(FEW, FEW), max_size=40), st.integers(1, 9), st.sampled_from([1, 1 << 20]))
def test_columns_are_read_as_they_are(values: list[tuple[int, int]], step: int, long_bytes: int) -> None:
    """In memory and in files, with gaps between ids, whether values change or not."""
    con = _table([(5 + step * number, *row) for number, row in enumerate(values)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portions, "_ROWS", 4)
        patch.setattr(portions, "LONG_BYTES", long_bytes)
        a, b = read_columns(con, "t", [Column("a"), Column("b", np.int32, lambda ids: np.sign(ids).astype(np.int32))])
    con.close()
    assert a.tolist() == [row[0] for row in values]
    assert b.tolist() == [int(np.sign(row[1])) for row in values]
    assert (a.dtype, b.dtype) == (np.int64, np.int32)


def test_a_column_of_one_value_takes_no_memory() -> None:
    """Processes and shapes of ten million rows."""
    con = _table([(number, 3, number) for number in range(1, 20_001)])
    same, other = read_columns(con, "t", [Column("a"), Column("b")])
    con.close()
    assert (len(same), same.strides, int(same[-1])) == (20_000, (0,), 3)
    assert other.tolist() == list(range(1, 20_001))


def test_some_rows_are_read_by_their_ids() -> None:
    """From the first to the last, both included."""
    con = _table([(number, number % 3, number) for number in range(1, 30)])
    assert [column.tolist() for column in read_columns(con, "t", [Column("b")], (7, 9))] == [[7, 8, 9]]
    con.close()


@pytest.mark.parametrize("value", [None, "soon", 1.5, b"\1"])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    """Also in the midst of a column that had one value before."""
    con = _table([(number, 3, 1) for number in range(1, 10_000)] + [(10_000, value, 1)])
    with pytest.raises(ValueError, match=r"number|could not be read"):
        read_columns(con, "t", [Column("a"), Column("b")])
    con.close()
