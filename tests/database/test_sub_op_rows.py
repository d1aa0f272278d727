"""Sets of recorded ops: each once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.database.sub_op_rows import _distinct_sets

CALLS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=20)


@given(calls=CALLS)
def test_equal_sequences_and_no_others_have_one_number(calls: list[list[int]]) -> None:
    """Numbered in the order of first use."""
    known: dict[tuple[int, ...], int] = {}
    expected = [known.setdefault(tuple(call), len(known)) for call in calls]
    counts = np.array([len(call) for call in calls])
    number, first = _distinct_sets(
        np.array([one for call in calls for one in call]), np.cumsum(counts) - counts, counts
    )
    assert number.tolist() == expected
    assert [calls[row] for row in first.tolist()] == [list(call) for call in known]
