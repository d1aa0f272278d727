"""Long columns are worked on in blocks, which no number depends on."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.aggregation import (
    group_tree,
    grouping,
    instance_times,
    intervals,
    ops,
)
from tensorboard_plugin_dlprof.aggregation import selection as selecting
from tensorboard_plugin_dlprof.events import combining, nesting, op_tables
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.samples import DATA
from tests.shared_data import shared_data

ROWS = 7

BLOCKS = (
    *((module, "_BLOCK") for module in (grouping, intervals, selecting)),
    *((module, "_BLOCK") for module in (combining, op_tables)),
    *((module, "_INSTANCES") for module in (group_tree, instance_times, ops)),
    (grouping, "_ROWS"),
    (nesting, "BLOCK"),
)


def imported(source: Path, database: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables but those that tell when, and of which file, a database was made."""
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    with closing(sqlite3.connect(database)) as con:
        tables = con.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        rows = {name: con.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in tables}
    return {name: result for name, result in rows.items() if name not in ("aggregations", "ext_info")}


@pytest.mark.parametrize("name", ["generated-mnist-nsys.sqlite", "generated-transformer-bf16-rank0.pt.trace.json"])
def test_a_sample_says_the_same_in_small_blocks(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export and a trace of ours."""
    source = tmp_path / name
    source.write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    in_one_block = imported(source, tmp_path / "one")
    for module, limit in BLOCKS:
        monkeypatch.setattr(module, limit, ROWS)
    assert imported(source, tmp_path / "many") == in_one_block


def test_thousands_of_calls_of_one_op_say_the_same_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorRT unloads a module for each of five thousand kernels that it does not use."""
    source = shared_data() / "nsight" / "rtx3090_tensorrt_fp16" / "report1.sqlite"
    in_one_block = imported(source, tmp_path / "one")
    for module, limit in BLOCKS:
        monkeypatch.setattr(module, limit, 50)
    assert imported(source, tmp_path / "many") == in_one_block
