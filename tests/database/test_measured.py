"""Efficiency beside a database that is not ours: by its own ids, and read through the same locks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.overlay import MEASURED_TABLES
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.pipeline import Choice, measure_database
from tests.shared_data import shared_data

NAME = "dlprof-golden/dlprof_dldb.sqlite"
GAP = 1_000


def _measured(database: Path, folder: Path) -> Path:
    folder.mkdir()
    target = folder / "measured.sqlite"
    measure_database(database, target, 1, Choice(0, 0), lambda _stage, _fraction: None)
    return target


def _rates(database: Path, measured: Path) -> dict[str, tuple[object, ...]]:
    with closing(open_database(database, measured=measured)) as con:
        rows = con.execute(
            "SELECT op.op_id, rate.kernel_ns, rate.flops, rate.precision, rate.cause FROM ext_op_efficiency AS rate "
            "JOIN read_only_ops AS op ON op.id = rate.read_only_ops_id WHERE rate.aggr_id = 1"
        ).fetchall()
    return {row[0]: row[1:] for row in rows}


def test_ids_are_those_of_the_database(tmp_path: Path) -> None:
    """They need not count from 1."""
    plain = shared_data() / NAME
    expected = _rates(plain, _measured(plain, tmp_path / "plain"))
    assert expected["LINEAR_1"] == (4_032, 96_000, "fp32", "too_small")
    shifted = tmp_path / "shifted.sqlite"
    shifted.write_bytes(plain.read_bytes())
    with closing(sqlite3.connect(shifted)) as con:
        tables = [row[0] for row in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            columns = [row[0] for row in con.execute("SELECT name FROM pragma_table_info(?)", (table,))]
            if "read_only_ops_id" in columns:
                con.execute(f"UPDATE {table} SET read_only_ops_id = read_only_ops_id + {GAP}")
        con.execute(f"UPDATE read_only_ops SET id = id + {GAP}")
        con.commit()
    assert _rates(shifted, _measured(shifted, tmp_path / "shifted")) == expected


def test_nothing_but_tables_is_read(tmp_path: Path) -> None:
    """A view in the file would run what somebody wrote into it."""
    database = shared_data() / NAME
    measured = _measured(database, tmp_path / "made")
    with closing(sqlite3.connect(measured)) as con:
        con.execute(f"ALTER TABLE {MEASURED_TABLES[0]} RENAME TO kept")
        con.execute(f"CREATE VIEW {MEASURED_TABLES[0]} AS SELECT * FROM kept")
        con.commit()
    with pytest.raises(UnfitDatabase, match="lacks the table"):
        open_database(database, measured=measured)


def test_the_connection_stays_sealed(tmp_path: Path) -> None:
    """Nothing else can be attached, and nothing is written."""
    database = shared_data() / NAME
    with closing(open_database(database, measured=_measured(database, tmp_path / "made"))) as con:
        for statement in (
            "ATTACH ':memory:' AS more",
            "DELETE FROM measured.ext_op_efficiency",
            "PRAGMA database_list",
        ):
            with pytest.raises(sqlite3.DatabaseError):
                con.execute(statement)
