"""Rows of tables by whole ops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.aggregation import grouping

OPS = st.lists(st.integers(0, 6), max_size=40).map(sorted)


@given(OPS, OPS)
def test_every_row_is_in_one_portion_and_no_op_in_two(one: list[int], other: list[int]) -> None:
    """Also where a table has no rows of some ops, or none at all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_ROWS", 5)
        items = list(grouping.by_op(7, np.array(one, np.int32), np.array(other, np.int32)))
    for column, rows in enumerate((one, other)):
        assert [row for part in items for row in rows[part[column]]] == rows
    ops = [set(one[first]) | set(other[second]) for first, second in items]
    assert sum(map(len, ops)) == len(set().union(*ops))


def test_rows_that_do_not_lie_by_op_are_one_portion() -> None:
    """As NVIDIA's databases may have them."""
    items = list(grouping.by_op(3, np.array([0, 1, 2], np.int32), np.array([2, 0], np.int32)))
    assert items == [[slice(0, 3), slice(0, 2)]]
