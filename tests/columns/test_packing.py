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


def _plain(data: bytes) -> bytes:
    return data[1:] if data[:1] == b"\0" else zlib.decompress(data)


def test_what_repeats_is_compressed_and_noise_is_not() -> None:
    """Noise is read faster as it is."""
    noise = np.random.default_rng(1).integers(0, 1 << 24, PART)
    assert len(pack([np.tile(noise[:100], 80)])) < 1_000
    assert len(pack([noise])) < 3 * PART + 20
    for column in (np.tile(noise[:100], 80), noise):
        assert unpack(pack([column]), 1)[0].tolist() == column.tolist()


def test_what_is_alike_takes_no_bytes() -> None:
    """A counter, one value, and a column like the one before it take a few bytes whatever their length."""
    counter = np.arange(5_000, 5_000 + PART)
    times = counter**2 % 60_000
    assert len(_plain(pack([counter, np.full(PART, 7)]))) == 4 + (2 + 2) + (2 + 1)
    assert len(_plain(pack([times, times + 1]))) == 4 + (2 + PART * 2) + (2 + 1)


@pytest.mark.parametrize(
    "data",
    [
        None,
        "text",
        b"",
        b"\x01\x00\x00",
        b"\x01\x00\x00\x00\x00\x00\x00\x00",
        b"\x00\x01\x00\x00",
        zlib.compress(b"\x01\x00\x00"),
        zlib.compress((65_537).to_bytes(4, "little") + bytes(4)),
        zlib.compress(bytes(1 << 24)),
        pack([np.arange(9), np.arange(9) ** 5])[:-1],
        pack([np.arange(9)]),
        zlib.compress(b"\x01\x00\x00\x00\x09\x00\x00\x00"),
        zlib.compress(b"\x01\x00\x00\x00\x00\x09" + bytes(20)),
    ],
)
def test_what_is_no_packed_columns_is_refused(data: object) -> None:
    """Nothing is read beyond the end, and no memory is taken for rows that are only said to be there."""
    with pytest.raises(ValueError, match="packed columns"):
        unpack(data, 2)
