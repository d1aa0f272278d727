"""Columns of whole numbers in few bytes: what goes in comes out, and nothing else does."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.columns.packing import PART, pack, unpack

LARGEST = 2**63 - 1
NUMBERS = st.one_of(
    st.integers(-3, 3), st.integers(-(2**40), 2**40), st.sampled_from([-LARGEST - 1, LARGEST, -129, 128])
)
COLUMNS = st.integers(0, 20).flatmap(
    lambda rows: st.lists(st.lists(NUMBERS, min_size=rows, max_size=rows), min_size=1, max_size=4)
)


@given(COLUMNS)
def test_what_goes_in_comes_out(columns: list[list[int]]) -> None:
    """Numbers of any size, also such as lie further apart than eight bytes with a sign tell."""
    arrays = [np.array(column, np.int64) for column in columns]
    assert [column.tolist() for column in unpack(pack(arrays), len(arrays))] == columns


def test_what_is_alike_takes_few_bytes() -> None:
    """What repeats, a counter, one value, and a column like the one before it; noise takes the bytes that differ."""
    noise = np.random.default_rng(1).integers(0, 1 << 24, PART)
    counter = np.arange(5_000, 5_000 + PART)
    assert len(pack([np.tile(noise[:100], 80)])) < 2_000
    assert len(pack([noise, noise + 1])) < 3.1 * PART
    assert len(pack([counter, np.full(PART, 7)])) < 1_000


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        b"",
        b"\x01\x00\x00",
        b"\x01\x00\x00\x00\x00\x00\x00\x00",
        zlib.compress(b"\x01\x00\x00"),
        zlib.compress((65_537).to_bytes(4, "little") + bytes(4)),
        zlib.compress(bytes(1 << 24)),
        pack([np.arange(9), np.arange(9) ** 5])[:-1],
        pack([np.arange(9)]),
        pack([np.arange(9)] * 3),
    ],
)
def test_what_is_no_packed_columns_is_refused(data: object) -> None:
    """Nothing is read beyond the end, and no memory is taken for rows that are only said to be there."""
    with pytest.raises(ValueError, match="packed columns"):
        unpack(data, 2)
