"""Columns lie in files, which are used again when the columns are gone and never before."""

from __future__ import annotations

import numpy as np
import pytest

from tensorboard_plugin_dlprof.mapped_files import in_file, is_in_file, let_go, let_go_of_much
from tensorboard_plugin_dlprof.temporary_files import files_used_again

COLUMN = np.arange(5_000)


def place(column: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    """Where its memory begins."""
    return column.__array_interface__["data"][0]


def test_a_column_in_a_file_holds_the_same() -> None:
    """Of any type and shape, and it can be written to."""
    for column in (COLUMN, COLUMN.reshape(-1, 2), COLUMN.astype(np.int8), COLUMN / 2, COLUMN > 7):
        kept = in_file(column)
        assert kept.dtype == column.dtype
        assert np.array_equal(kept, column)
        assert is_in_file(kept)
        assert is_in_file(kept[1:])
        assert not is_in_file(column)
    kept[3] = True
    assert kept.sum() == (COLUMN > 7).sum() + 1


def test_the_file_of_a_column_that_is_gone_is_used_again() -> None:
    """By one that is as long or a little shorter, which holds its own numbers."""
    with files_used_again():
        first = in_file(COLUMN)
        where = place(first)
        del first
        again = in_file(COLUMN[:4_000] * 2)
        assert place(again) == where
        assert np.array_equal(again, COLUMN[:4_000] * 2)


def test_a_column_of_which_a_view_is_left_keeps_its_file() -> None:
    """However small the view, and whatever it is a view of."""
    with files_used_again():
        view = in_file(COLUMN)[10:20][::2].view(np.uint64)
        others = [in_file(-COLUMN) for _ in range(3)]
        assert view.tolist() == [10, 12, 14, 16, 18]
        assert len({place(other) for other in others}) == 3


@pytest.mark.parametrize("rows", [2_500, 6_000])
def test_a_file_of_another_size_is_left_alone(rows: int) -> None:
    """One that is too small cannot, and one that is twice too large shall not."""
    with files_used_again():
        first = in_file(COLUMN)
        where = place(first)
        del first
        other = in_file(np.arange(rows))
        assert other.tolist() == list(range(rows))
        fitting = in_file(COLUMN)
        assert place(fitting) == where, "it still waits for one that fits"


def test_columns_outlive_the_block() -> None:
    """Their files are not used again, by whoever comes next."""
    with files_used_again():
        kept = in_file(COLUMN)
    with files_used_again():
        other = in_file(-COLUMN)
    assert np.array_equal(kept, COLUMN)
    assert np.array_equal(other, -COLUMN)


def test_columns_stay_when_their_memory_is_let_go() -> None:
    """What was written is read from the file again."""
    column = in_file(np.arange(1 << 16))
    column[7] = -1
    let_go()
    let_go_of_much()
    assert column[7] == -1
    assert int(column[8:].sum()) == sum(range(8, 1 << 16))
