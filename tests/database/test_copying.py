"""Copies of databases: the rows of our tables as they were, and nothing else of the file."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.digest import DIGEST_KEY, is_intact
from tensorboard_plugin_dlprof.database.sql_files import TABLE_SCRIPTS, layout_of
from tensorboard_plugin_dlprof.pipeline import ImportOptions, Selection, aggregate_database, import_source
from tests.database.views import read_only
from tests.imports.traces import write_trace


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of ours, of twenty steps."""
    folder = tmp_path_factory.mktemp("copying")
    source, target = write_trace(folder / "a.json", steps=20, adds_per_step=10), folder / "a.dlprof_dldb.sqlite"
    import_source(source, target, ImportOptions(), lambda _stage, _fraction: None)
    return target


def test_a_copy_holds_the_rows_and_no_code_of_the_file(database: Path, tmp_path: Path) -> None:
    """With a trigger, a view and a table of somebody else beside them."""
    strange, copy = tmp_path / "strange.sqlite", tmp_path / "copy.sqlite"
    shutil.copyfile(database, strange)
    with closing(sqlite3.connect(strange)) as con:
        con.executescript(
            "CREATE TABLE loot (x); CREATE VIEW plan AS SELECT * FROM loot; "
            "CREATE TRIGGER t AFTER INSERT ON aggregations BEGIN DELETE FROM dictionary; END"
        )
    for source in (database, strange):
        assert aggregate_database(source, copy, Selection(iter_start=3, iter_stop=7), _silent).aggregation == 2
        with closing(read_only(database)) as before, closing(read_only(copy)) as after:
            made = "SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2"
            assert after.execute(made).fetchall() == before.execute(made).fetchall()
            assert after.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            for table, columns in layout_of(*TABLE_SCRIPTS).items():
                of_first = "WHERE aggr_id = 1" if "aggr_id" in columns else ""
                rows = set(before.execute(f"SELECT * FROM {table} {of_first}"))
                copied = set(after.execute(f"SELECT * FROM {table} {of_first}"))
                if table not in ("ext_info", "ext_row_counts", "ext_coverage"):
                    assert rows <= copied, table
            (digest,) = after.execute("SELECT value FROM ext_info WHERE key = ?", (DIGEST_KEY,)).fetchone()
        assert is_intact(copy, digest)


def _silent(_stage: str, _fraction: float) -> None:
    """No progress."""
