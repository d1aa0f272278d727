"""Sets of recorded ops: each once, and exact where their hashes meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.database import sub_op_rows
from tensorboard_plugin_dlprof.database.sub_op_rows import _distinct_sets

CALLS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=20)


@pytest.mark.parametrize("factor", [None, 0], ids=["hashed", "one hash for all"])
@given(calls=CALLS)
def test_equal_sequences_and_no_others_have_one_number(factor: int | None, calls: list[list[int]]) -> None:
    """Numbered in the order of first use."""
    known: dict[tuple[int, ...], int] = {}
    expected = [known.setdefault(tuple(call), len(known)) for call in calls]
    counts = np.array([len(call) for call in calls])
    with pytest.MonkeyPatch.context() as patch:
        if factor is not None:
            patch.setattr(sub_op_rows, "_INPUT_FACTOR", np.uint64(factor))
        number, first = _distinct_sets(
            np.array([one for call in calls for one in call]), np.cumsum(counts) - counts, counts
        )
    assert number.tolist() == expected
    assert [calls[row] for row in first.tolist()] == [list(call) for call in known]
