"""A database that is as we wrote it is copied as a file, and what is added to it is what a rebuilt one gets."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.digest import DIGEST_KEY, is_intact, mark, write_digest
from tensorboard_plugin_dlprof.database.whole_copies import copy_file
from tensorboard_plugin_dlprof.pipeline import Choice, ImportOptions, aggregate_database, import_source
from tests.imports.traces import write_trace
from tests.shared_data import shared_data


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of ours, of twenty steps."""
    folder = tmp_path_factory.mktemp("whole")
    return imported(write_trace(folder / "a.json", steps=20, adds_per_step=10), folder)


def imported(source: Path, folder: Path) -> Path:
    """The database of a source."""
    target = folder / "a.dlprof_dldb.sqlite"
    import_source(source, target, ImportOptions(), lambda _stage, _fraction: None)
    return target


def changed(database: Path, target: Path, script: str) -> Path:
    """A copy that another program has written to."""
    shutil.copyfile(database, target)
    with closing(sqlite3.connect(target)) as writer:
        writer.executescript(script)
    return target


def with_a_digest_of_its_own(database: Path) -> Path:
    """The database with the digest of what it holds now, as only this package writes it."""
    with closing(sqlite3.connect(database)) as writer:
        text = mark(writer)
        writer.commit()
    write_digest(database, text)
    return database


def copied_file(database: Path) -> bytes:
    """What is copied of a database."""
    copy = BytesIO()
    with closing(open_database(database)) as connection:
        copy_file(connection, database, copy)
    return copy.getvalue()


def content(database: Path) -> dict[str, Sequence[Any]]:
    """All rows of all tables but for when and how they were written, and what the database is made of."""
    with closing(sqlite3.connect(database)) as reader:
        made = reader.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()
        tables = [name for kind, name, *_ in made if kind == "table"]
        found: dict[str, Sequence[Any]] = {name: reader.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
        found["aggregations"] = [row[0] for row in found["aggregations"]]
        found["ext_info"] = [row for row in found["ext_info"] if row[0] != DIGEST_KEY]
        assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "indexes hold what the tables do"
    return {"made": made, **found}


def assert_same_both_ways(database: Path, folder: Path, *choices: Choice) -> None:
    """Aggregations added to a copy of the file, and to one that is rebuilt row by row, as its digest is gone."""
    whole, rebuilt = folder / "whole.sqlite", folder / "rebuilt.sqlite"
    shutil.copyfile(database, whole)
    shutil.copyfile(database, rebuilt)
    for choice in choices:
        assert copied_file(whole) == whole.read_bytes()
        changed(rebuilt, folder / "other.sqlite", "UPDATE ext_info SET value = '' WHERE key = 'file_sha256'")
        assert copied_file(folder / "other.sqlite") == b""
        results = [
            aggregate_database(source, target, choice, lambda _stage, _fraction: None)
            for source, target in ((whole, whole), (folder / "other.sqlite", rebuilt))
        ]
        assert results[0] == results[1]
        # The rebuilt one has nowhere to put a digest into.
        assert_equal(content(whole), content(rebuilt))


def assert_equal(one: dict[str, Sequence[Any]], other: dict[str, Sequence[Any]]) -> None:
    """Names of tables that differ, which tell more than ten thousand rows."""
    assert [name for name in one if one[name] != other.get(name)] == []
    assert one.keys() == other.keys()


def test_both_ways_lead_to_the_same_rows(database: Path, tmp_path: Path) -> None:
    """Aggregation after aggregation, by numbers, by a key op, and by all iterations as one."""
    choices = Choice(iter_start=3, iter_stop=7), Choice(iter_stop=11), Choice(candidate="whole_capture")
    assert_same_both_ways(database, tmp_path, *choices)


@pytest.mark.parametrize(
    ("source", "choice"),
    [
        ("torch/v100_resnet_ns_times", Choice(iter_start=102, iter_stop=103)),
        ("torch/v100_resnet50_memory", Choice(candidate="data_loader", iter_start=1)),
        ("nsight/a100_transformer_2.7b_nvtx", Choice(key_op="/benchmark_loop/elementwise_kernel")),
    ],
)
def test_both_ways_lead_to_the_same_rows_of_a_real_profile(source: str, choice: Choice, tmp_path: Path) -> None:
    """Of thousands of kernels."""
    (file,) = (path for path in (shared_data() / source).iterdir() if path.suffix in (".gz", ".sqlite"))
    assert_same_both_ways(imported(file, tmp_path), tmp_path, choice)


def test_a_file_that_somebody_else_wrote_to_is_not_copied(database: Path, tmp_path: Path) -> None:
    """One other bit, another table, and another trigger behind a digest that is right."""
    assert copied_file(database) == database.read_bytes()
    bits = bytearray(database.read_bytes())
    bits[bits.rindex(b"add")] ^= 1
    (tmp_path / "bit").write_bytes(bits)
    assert copied_file(tmp_path / "bit") == b""
    trigger = "CREATE TRIGGER t AFTER INSERT ON aggregations BEGIN DELETE FROM dictionary; END"
    for number, script in enumerate((trigger, "CREATE TABLE loot (x)", "DROP INDEX iteration_kernels_by_op")):
        strange = with_a_digest_of_its_own(changed(database, tmp_path / str(number), script))
        with closing(sqlite3.connect(strange)) as reader:
            (stored,) = reader.execute("SELECT value FROM ext_info WHERE key = 'file_sha256'").fetchone()
        assert is_intact(strange, stored)
        assert copied_file(strange) == b""
