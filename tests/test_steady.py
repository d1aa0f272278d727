"""Columns with one value in all rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.steady import joined_steady, steady, taken

COLUMN = st.lists(st.integers(0, 2), max_size=6)


@given(COLUMN)
def test_one_number_stands_for_a_steady_column(values: list[int]) -> None:
    """The values stay; where they are all the same nothing is kept of the column that they came from."""
    column = np.array(values, np.int64)
    found = steady(column)
    assert found.tolist() == values
    if len(set(values)) == 1:
        assert found.strides == (0,)
        assert not np.shares_memory(found, column)
    else:
        assert found is column


@given(COLUMN.filter(bool), st.lists(st.integers(0, 5), max_size=6))
def test_what_is_taken_of_a_steady_column_is_steady(values: list[int], rows: list[int]) -> None:
    """And so is what steady rows take."""
    wanted = [row % len(values) for row in rows]
    column, index = steady(np.array(values, np.int64)), steady(np.array(wanted, np.int64))
    found = taken(column, index)
    assert found.tolist() == [values[row] for row in wanted]
    if wanted and (len(set(values)) == 1 or len(set(wanted)) == 1):
        assert found.strides == (0,)


@given(st.lists(COLUMN, min_size=1, max_size=3))
def test_columns_of_one_value_stay_steady_together(columns: list[list[int]]) -> None:
    """Empty ones do not count, and two values are two values."""
    found = joined_steady(*(steady(np.array(column, np.int32)) for column in columns))
    everything = [value for column in columns for value in column]
    assert found.tolist() == everything
    assert found.dtype == np.int64
    if len(set(everything)) == 1:
        assert found.strides == (0,)
