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
