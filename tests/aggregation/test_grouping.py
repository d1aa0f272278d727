"""Sums and counts of the rows of each key, sorted or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.aggregation import grouping

LARGE = 2**62 - 1


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-LARGE // 64, LARGE // 64)), max_size=60))
def test_sums_and_counts_are_those_of_each_key(rows: list[tuple[int, int]]) -> None:
    """Exactly, beyond what a double holds, and across blocks; keys without rows have 0."""
    keys = np.array([key for key, _ in rows], np.int32)
    values = np.array([value for _, value in rows], np.int64)
    sums = [sum(value for key, value in rows if key == wanted) for wanted in range(8)]
    counts = [sum(key == wanted for key, _ in rows) for wanted in range(8)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_BLOCK", 7)
        groups = grouping.Groups.of(keys, 8)
        assert grouping.summed(keys, values, 8).tolist() == groups.sum(values).tolist() == sums
        assert grouping.counted(keys, 8).tolist() == groups.count().tolist() == counts
        positive = grouping.summed(keys, values > 0, 8)
    assert positive.dtype == np.int64
    assert positive.tolist() == [sum(key == wanted and value > 0 for key, value in rows) for wanted in range(8)]


ROWS = st.lists(st.tuples(st.integers(-2, 2), st.sampled_from([0, -LARGE, LARGE])), max_size=40)


@given(rows=ROWS)
def test_rows_are_numbered_by_value_and_by_use(rows: list[tuple[int, int]]) -> None:
    """Each with the first row of its number."""
    columns = (np.array([a for a, _ in rows], np.int32), np.array([b for _, b in rows], np.int64))
    for number_rows, distinct in ((grouping.codes, sorted(set(rows))), (grouping.alike, list(dict.fromkeys(rows)))):
        number, first = number_rows(*columns)
        assert [distinct[row] for row in number.tolist()] == rows
        assert first.tolist() == [rows.index(row) for row in distinct]
