"""Columns that are too long for the memory lie in files, and hold the same."""

from __future__ import annotations

import sqlite3
from array import array
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.spilling import Spill
from tests.shared_data import shared_data

LONG = 300_000


def test_columns_move_to_files_and_come_back_whole(tmp_path: Path) -> None:
    """What was moved, what came after it, and a column that only another one pushed out."""
    spill = Spill(memory_bytes=800, folder=tmp_path)
    table: dict[str, Any] = {"a": array("q", range(20)), "b": array("b", [1, 2]), "number": 7}
    spill.relieve([table])
    assert len(table["a"]) == len(table["b"]) == 0
    table["a"].extend([20, 21])
    spill.complete([table])
    assert table["a"].tolist() == list(range(22))
    assert table["b"].tolist() == [1, 2]
    assert table["number"] == 7
    table["a"][3] = -1
    spill.rest()
    assert table["a"].tolist()[:5] == [0, 1, 2, -1, 4], "what is let go of is not lost"
    assert list(tmp_path.iterdir()) == [], "the files have no names"


def test_short_columns_stay_in_memory() -> None:
    """No file is made that is not needed, and what is made of the columns lies in memory too."""
    spill = Spill(memory_bytes=1 << 20)
    table: dict[str, Any] = {"a": array("d", [0.5])}
    spill.relieve([table])
    spill.complete([table])
    assert table["a"].tolist() == [0.5]
    assert spill.zeros(LONG, np.int64).base is None
    assert spill.empty(LONG, np.int64).flags.owndata


def test_columns_that_are_complete_count(tmp_path: Path) -> None:
    """Tables are read one after the other; the first one's columns are still there when the next one grows."""
    spill = Spill(memory_bytes=8_000, folder=tmp_path)
    tables: list[dict[str, Any]] = [{"a": array("q", range(100))}, {"a": array("q", range(50))}]
    for table in tables:
        spill.relieve([table])
        spill.complete([table])
    made = spill.zeros(LONG, np.int32)
    assert not made.flags.owndata
    assert made.sum() == 0
    assert [table["a"].flags.owndata for table in tables] == [False, False]
    assert [len(table["a"]) for table in tables] == [100, 50]


def test_a_folder_without_room_is_named(tmp_path: Path) -> None:
    """In one sentence, before anything is mapped: a mapping of a full disk kills the process."""
    spill = Spill(memory_bytes=8, folder=tmp_path / "missing")
    with pytest.raises(OutputNotWritable, match="missing: the columns of a large profile cannot be written"):
        spill.relieve([{"a": array("q", range(9))}])


def same(a: Any, b: Any) -> bool:
    """Whether two tables, or tables of tables, hold the same values."""
    if isinstance(a, msgspec.Struct):
        return all(same(getattr(a, name), getattr(b, name)) for name in a.__struct_fields__ if name != "spill")
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
    found = []
    for memory_bytes in (1 << 31, 1_000):
        database = tmp_path / f"{memory_bytes}.sqlite"
        options = ImportOptions(read=ReadOptions(memory_bytes=memory_bytes))
        import_source(source, database, options, lambda _what, _fraction: None)
        found.append(stored(database))
    assert found[0] == found[1]
