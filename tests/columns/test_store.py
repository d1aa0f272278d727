"""Columns that are too long for the memory lie in files, and hold the same."""

from __future__ import annotations

import mmap
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from tensorboard_plugin_dlprof.columns.store import ColumnStore, joined, release_pages
from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.shared_data import shared_data


def test_a_growing_column_moves_to_a_file_and_comes_back_whole(tmp_path: Path) -> None:
    """Python's numbers and NumPy's, before and after the move; and it can be written to."""
    store = ColumnStore(memory_bytes=64 * 800, folder=tmp_path)
    column = store.growing("q")
    column.extend(list(range(20)))
    column.append(np.arange(20, 300))
    column.extend([300])
    assert len(column) == 301
    result = column.whole()
    assert result.tolist() == list(range(301))
    assert is_in_file(result)
    result[3] = -1
    release_pages()
    assert result.tolist()[:5] == [0, 1, 2, -1, 4]
    assert list(tmp_path.iterdir()) == [], "the files have no names"


def test_a_number_that_does_not_fit_leaves_a_column_as_it_was() -> None:
    """So that the caller may try again with what fits."""
    column = ColumnStore().growing("b")
    with pytest.raises(OverflowError):
        column.extend([1, 2, 300])
    with pytest.raises(TypeError):
        column.extend([1, "2"])
    column.extend([7])
    assert column.whole().tolist() == [7]


def test_long_columns_are_in_files(tmp_path: Path) -> None:
    """Of any type and shape; short ones, and views, stay where they are."""
    store = ColumnStore(memory_bytes=64 * 800, folder=tmp_path)
    for column in (
        np.arange(200),
        np.arange(200).reshape(-1, 2).copy(),
        np.arange(1_000, dtype=np.int8),
        np.arange(200) / 2,
        np.flatnonzero(np.ones(200)),
    ):
        remaining = store.keep(column)
        assert is_in_file(remaining)
        assert remaining.dtype == column.dtype
        assert np.array_equal(remaining, column)
        assert store.keep(remaining) is remaining
    assert store.keep(short := np.arange(5)) is short
    assert store.keep(view := np.arange(500)[::2]) is view
    assert is_in_file(store.zeros(200, np.int64))
    assert not store.zeros(200, np.int64).any()
    assert not is_in_file(store.empty(5, np.int64))


def test_equal_rows_are_kept_as_one(tmp_path: Path) -> None:
    """Also rows of several numbers; they cannot be written to. Unequal rows stay as they are."""
    store = ColumnStore(folder=tmp_path)
    process, grid, stream = np.full(1_000, 7), np.full((1_000, 3), (8, 4, 2), np.int32), np.repeat((1, 2, 1), 333)
    for column in (process, grid):
        remaining = store.keep(column)
        np.testing.assert_array_equal(remaining, column)
        assert (remaining.dtype, remaining.shape, remaining.strides[0]) == (column.dtype, column.shape, 0)
        assert not np.shares_memory(remaining, column)
        assert not remaining.flags.writeable
    assert store.keep(stream) is stream


def test_chunks_are_joined_to_columns() -> None:
    """In their order; none make empty columns."""
    chunks = [np.array([[1, 2], [3, 4]], np.int64), np.zeros((0, 2), np.int64), np.array([[5, 6]], np.int64)]
    assert [column.tolist() for column in joined(chunks, 2)] == [[1, 3, 5], [2, 4, 6]]
    assert [column.tolist() for column in joined([], 2)] == [[], []]


def test_a_folder_without_room_is_named(tmp_path: Path) -> None:
    """In one sentence, before anything is mapped: a mapping of a full disk kills the process."""
    store = ColumnStore(memory_bytes=8, folder=tmp_path / "missing")
    with pytest.raises(OutputNotWritable, match="missing: the columns of a large profile cannot be written"):
        store.zeros(9, np.int64)
    with pytest.raises(OutputNotWritable, match="missing: the columns of a large profile cannot be written"):
        store.growing("q").extend([1])


def is_in_file(column: npt.NDArray[Any]) -> bool:
    """Whether a column is a mapping of a file."""
    base: Any = column
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


def same(a: Any, b: Any) -> bool:
    """Whether two tables, or tables of tables, hold the same values."""
    if isinstance(a, msgspec.Struct):
        return all(same(getattr(a, name), getattr(b, name)) for name in a.__struct_fields__ if name != "store")
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and np.array_equal(a, b))
    if hasattr(a, "texts"):
        return bool(a.texts() == b.texts())
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


@pytest.mark.parametrize(
    "name",
    ["torch/mi300x_flux_large/*.json.gz", "torch/v100_resnet50_memory/*.json.gz", "nsight/h100_2gpu*/*.sqlite"],
)
def test_a_real_profile_is_the_same_from_files(tmp_path: Path, name: str) -> None:
    """With next to no memory allowed, every column of the capture and of the profile is what it was."""
    (source,) = shared_data().glob(name)

    def read(options: ReadOptions) -> Capture:
        return find_importer(source).read(source, options, lambda _what, _fraction: None)

    plenty, scarce = read(ReadOptions()), read(ReadOptions(memory_bytes=1_000, folder=tmp_path))
    assert same(plenty, scarce)
    assert same(build_profile(plenty), build_profile(scarce))
    assert list(tmp_path.iterdir()) == []


def stored(database: Path) -> dict[str, list[Any]]:
    """All rows of all tables but those that say when they were made."""
    made = {"aggregations", "ext_info", "read_only_system_config"}
    with closing(sqlite3.connect(database)) as con:
        names = {name for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        return {name: con.execute(f'SELECT * FROM "{name}"').fetchall() for name in names - made}


@pytest.mark.parametrize("name", ["torch/h100_transformer_steps/*.json*", "nsight/h100_2gpu*/*.sqlite"])
def test_the_database_is_the_same_from_files(tmp_path: Path, name: str) -> None:
    """The whole way: read, aggregated, judged and written."""
    (source,) = shared_data().glob(name)
    result = []
    for memory_bytes in (1 << 31, 1_000):
        database = tmp_path / f"{memory_bytes}.sqlite"
        options = ImportOptions(read=ReadOptions(memory_bytes=memory_bytes))
        import_source(source, database, options, lambda _what, _fraction: None)
        result.append(stored(database))
    assert result[0] == result[1]
