"""Distinct values, against Python's own sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered

IDS = st.lists(st.integers(-1, 50))
WIDE = st.lists(st.integers(-(1 << 62), 1 << 62))


@given(st.one_of(IDS, WIDE))
def test_distinct_values_ascend(values: list[int]) -> None:
    """Whether a table holds them or they are sorted."""
    assert distinct_values(np.array(values, np.int64)).tolist() == sorted(set(values))


@given(st.one_of(IDS, WIDE))
def test_each_row_has_the_number_of_its_value(values: list[int]) -> None:
    """The number tells the value again."""
    distinct, number = numbered(np.array(values, np.int64))
    assert distinct.tolist() == sorted(set(values))
    assert distinct[number].tolist() == values


@given(IDS, WIDE)
def test_rows_with_wanted_values(values: list[int], wanted: list[int]) -> None:
    """What is wanted may be beyond all values."""
    wanted += values[::2]
    assert are_among(np.array(values, np.int32), wanted).tolist() == [value in wanted for value in values]


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_nothing_has_no_values(kind: type[np.integer]) -> None:
    """An empty column of any width."""
    nothing = np.zeros(0, kind)
    assert not len(distinct_values(nothing))
    assert not len(are_among(nothing, [1]))
