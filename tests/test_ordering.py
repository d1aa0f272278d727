"""The order of numbers, against Python's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof import ordering


@given(st.lists(st.integers(-3, 30), max_size=40))
def test_ascending_is_told_across_blocks(keys: list[int]) -> None:
    """Equal keys may follow each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "_BLOCK", 4)
        assert ordering.are_ascending(np.array(keys, np.int64)) == (keys == sorted(keys))


@given(st.lists(st.sampled_from([0, 1, 7, (1 << 16) - 1, 1 << 16, 1 << 40]), max_size=40))
def test_rows_of_one_key_stay_as_they_are(keys: list[int]) -> None:
    """Whether the keys fit into 16 bits or not."""
    found = ordering.stable_order(np.array(keys, np.int64))
    assert found.tolist() == sorted(range(len(keys)), key=keys.__getitem__)
