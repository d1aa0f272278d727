from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import has_extensions, is_dlprof_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.errors import (
    NotADatabase,
    ProfileError,
    UnfitDatabase,
    UnknownFormat,
    UnsupportedVersion,
)
from tensorboard_plugin_dlprof.importers import find_importer
from tests.aggregation.drafts import Call, DraftOp, Work, profile_of
from tests.database.conftest import Opened
from tests.database.stranger import drop_extensions
from tests.shared_data import shared_data

Change = Callable[..., Path]


@pytest.fixture
def change(tmp_path: Path) -> Change:
    """Makes a database of ours and then runs some statements in it, as a stranger could have."""

    def changed(*statements: str, extensions: bool = True) -> Path:
        path = tmp_path / "profile.dlprof_dldb.sqlite"
        (tmp_path / "source").write_text("{}")
        profile = profile_of([DraftOp("LINEAR_1", "/net/linear", [Call(0, 9, [Work("kernel", (1, 2), (0, 1))])])])
        write_database(path, tmp_path / "source", profile, lambda: aggregate(profile))
        if not extensions:
            drop_extensions(path)
        con = sqlite3.connect(path)
        for statement in statements:
            con.execute(statement)
        con.commit()
        con.execute("VACUUM")
        con.close()
        return path

    return changed


def _version(version: str) -> str:
    return f"UPDATE db_version SET current_version = '{version}'"


@pytest.mark.parametrize("version", ["1.3.0", "1.8.0", "v1.8.0", "1.5"])
def test_databases_of_1_3_to_1_8_open(change: Change, version: str, opened: Opened) -> None:
    """Whatever their patch level."""
    assert opened(change(_version(version))).execute("SELECT num_calls FROM view_op_nodes").fetchone() == (1,)


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.2.9", "this package reads 1.3 to 1.8"),
        ("0.9", "this package reads 1.3 to 1.8"),
        ("1.9.0", "this package reads up to 1.8: update it"),
        ("2.0", "this package reads up to 1.8: update it"),
    ],
)
def test_other_versions_are_refused_with_what_to_do(change: Change, version: str, words: str, opened: Opened) -> None:
    """Older: make it again; newer: update the package."""
    with pytest.raises(UnsupportedVersion, match=words):
        opened(change(_version(version)))


def test_a_database_without_a_version_is_older_than_1_3(change: Change, opened: Opened) -> None:
    """1.3 was the first to write one."""
    with pytest.raises(UnsupportedVersion, match=r"before 1\.3"):
        opened(change("DROP VIEW view_db_version", "DROP TABLE db_version"))


@pytest.mark.parametrize("statement", ["DELETE FROM db_version", _version("soon")])
def test_an_unreadable_version_is_named(change: Change, statement: str, opened: Opened) -> None:
    """Neither old nor new, but damaged."""
    with pytest.raises(UnfitDatabase, match="does not say which version"):
        opened(change(statement))


def test_what_an_old_version_lacks_reads_as_nothing(change: Change, opened: Opened) -> None:
    """A table of 1.7 is empty, columns of 1.6 are NULL; the rest is there."""
    con = opened(
        change(
            _version("1.4.0"),
            "DROP VIEW view_group_ops",
            "DROP TABLE group_ops",
            "DROP VIEW view_resource_usage_breakdown",
            "ALTER TABLE model_summary DROP COLUMN dataloader_duration_pct",
            "ALTER TABLE model_summary DROP COLUMN io_duration_pct",
            extensions=False,
        )
    )
    assert con.execute("SELECT count(*) FROM view_group_ops").fetchone() == (0,)
    row = con.execute("SELECT dataloader_duration_pct, other_duration_pct IS NULL FROM view_resource_usage_breakdown")
    assert row.fetchone() == (None, 0)


def test_a_database_of_1_8_must_be_complete(change: Change, opened: Opened) -> None:
    """There a missing table is damage, not age."""
    with pytest.raises(UnfitDatabase, match="lacks the table group_ops"):
        opened(change("DROP VIEW view_group_ops", "DROP TABLE group_ops"))


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE op_nodes"],
        ["ALTER TABLE op_nodes RENAME TO o", "CREATE VIEW op_nodes AS SELECT * FROM o"],
        ["DROP TABLE op_nodes", "CREATE VIRTUAL TABLE op_nodes USING fts5(id)"],
    ],
)
def test_a_database_without_a_table_that_every_one_has_is_damaged(
    change: Change, statements: list[str], opened: Opened
) -> None:
    """Not another kind of file: an import would say that it is a database."""
    damaged = change("DROP VIEW view_op_nodes", *statements)
    with pytest.raises(
        UnfitDatabase, match=r"is a DLProf database without the table op_nodes; .* make it again"
    ) as said:
        opened(damaged)
    assert not isinstance(said.value, NotADatabase)
    with pytest.raises(UnknownFormat, match="is a DLProf database without the table op_nodes; "):
        find_importer(damaged)


@pytest.mark.parametrize(
    "statements",
    [
        ["ALTER TABLE metric RENAME TO m", "CREATE VIEW metric AS SELECT * FROM m"],
        ["ALTER TABLE metric ADD COLUMN bomb AS (hex(zeroblob(400000000)))"],
        ["ALTER TABLE ext_devices ADD COLUMN bomb AS (hex(zeroblob(400000000)))"],
        ["ALTER TABLE ext_info RENAME TO i", "CREATE VIEW ext_info AS SELECT * FROM i"],
        ["ALTER TABLE ext_coverage RENAME TO c", "CREATE VIEW ext_coverage AS SELECT * FROM c"],
    ],
)
def test_only_plain_tables_are_read(change: Change, statements: list[str], opened: Opened) -> None:
    """A view or a generated column in the place of a table would run the file's own expressions."""
    with pytest.raises(UnfitDatabase):
        opened(change(*statements))


def test_the_views_of_the_file_are_never_run(change: Change, opened: Opened) -> None:
    """A hostile one is replaced by ours."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS gpu_name FROM n"
    con = opened(change("DROP VIEW view_gpu_names", f"CREATE VIEW view_gpu_names AS {endless}"))
    assert con.execute("SELECT gpu_name FROM view_gpu_names").fetchall() == [("GPU 0",)]


def test_an_open_database_can_only_be_read(change: Change, opened: Opened) -> None:
    """No writing, no other file, no pragma."""
    con = opened(change())
    for statement in (
        "DELETE FROM metric",
        "ATTACH ':memory:' AS x",
        "PRAGMA query_only = OFF",
        "CREATE TEMP TABLE t (x)",
    ):
        with pytest.raises(sqlite3.DatabaseError):
            con.execute(statement)


def test_extensions_are_known_by_their_version(change: Change, opened: Opened) -> None:
    """Those of another version are as good as none."""
    assert has_extensions(opened(change()))
    assert not has_extensions(opened(change("UPDATE ext_info SET value = 99 WHERE key = 'extension_version'")))
    assert not has_extensions(opened(change(extensions=False)))


def test_a_database_without_our_tables_reads_back(change: Change, opened: Opened) -> None:
    """As one of NVIDIA's: what they do not store is not recorded."""
    profile = read_profile(opened(change(extensions=False)))
    assert profile.kernels.stream.tolist() == [-1]
    assert profile.kernel_classes == {}
    assert profile.dlprof_markers
    assert profile.iterations[0].stop_ns.tolist() == [1_000]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE launches SET read_only_ops_id = 77",
        "UPDATE kernels SET op_instance = 5",
        "UPDATE kernels SET op_instance = -1",
        "UPDATE launches SET grid_id = 99",
        "UPDATE kernels SET gpu_start_ns = 'soon'",
        "UPDATE kernels SET gpu_start_ns = 9e999",
        "UPDATE kernels SET launch_id = 9",
        "DELETE FROM read_only_ops",
    ],
)
def test_rows_that_lead_nowhere_are_refused(change: Change, statement: str, opened: Opened) -> None:
    """One sentence instead of a traceback."""
    with pytest.raises(UnfitDatabase, match="make it again"):
        read_profile(opened(change(statement)))


def test_a_missing_text_loses_only_a_name(change: Change, opened: Opened) -> None:
    """The numbers are still right."""
    profile = read_profile(opened(change("DELETE FROM dictionary WHERE string = 'kernel'")))
    assert profile.strings[int(profile.kernels.name[0])] == ""
    assert profile.kernels.end_ns.tolist() == [2]


def test_databases_are_known_by_their_content(change: Change, tmp_path: Path, opened: Opened) -> None:
    """Not by their name; an old one is one too, so that its user is told why it does not open."""
    assert is_dlprof_database(change().rename(tmp_path / "renamed.bin"))
    assert is_dlprof_database(change(_version("1.1.0")))
    other = tmp_path / "dlprof_dldb.sqlite"
    with closing(sqlite3.connect(other)) as con:
        con.execute("CREATE TABLE t (x)")
        con.commit()
    assert not is_dlprof_database(other)
    other.write_text("text")
    assert not is_dlprof_database(other)
    assert not is_dlprof_database(tmp_path)
    with pytest.raises(ProfileError):
        opened(other)


def test_genuine_databases_are_known_and_others_are_not(opened: Opened) -> None:
    """An Nsight Systems export is SQLite, but no DLProf database."""
    golden = shared_data() / "dlprof-golden"
    assert is_dlprof_database(golden / "dlprof_dldb.sqlite")
    assert not is_dlprof_database(golden / "nsys_profile.sqlite")
    with pytest.raises(UnfitDatabase, match="not a DLProf database"):
        opened(golden / "nsys_profile.sqlite")
