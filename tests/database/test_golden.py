"""Exactness: DLProf's own databases come out again, from their raw tables and from the export."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.analysis.dlprof_detectors import detect
from tensorboard_plugin_dlprof.database.dlprof_export import write_dlprof_file
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Judgement, write_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.database.conftest import Opened, Plain
from tests.database.views import differences, view_names
from tests.shared_data import shared_data

GENUINE = ["dlprof_dldb.sqlite", "dlprof_dldb_1.sqlite"]

WHO_AND_WHEN = {"aggregations", "read_only_system_config", "sqlite_sequence"}
"""Tables with the user, host and time of the run, the command line and the version."""


@pytest.fixture(params=GENUINE)
def genuine(request: pytest.FixtureRequest) -> Path:
    """A database that DLProf 1.8.0 wrote."""
    return shared_data() / "dlprof-golden" / str(request.param)


@pytest.fixture
def derived(genuine: Path, tmp_path: Path, opened: Opened) -> Path:
    """The same database, made anew from nothing but its raw tables."""
    path = tmp_path / "derived.sqlite"
    profile = read_profile(opened(genuine))
    write_database(
        path, genuine, profile, lambda: aggregate(profile), lambda aggregation: Judgement(detect(profile, aggregation))
    )
    return path


def test_every_cell_of_every_view_is_derived_from_the_raw_tables(genuine: Path, derived: Path, plain: Plain) -> None:
    """All 23 views, compared as a stranger would: through the views that each file holds."""
    expected, actual = plain(genuine), plain(derived)
    assert len(view_names(actual)) == 23
    assert differences(expected, actual) == {}


@pytest.mark.parametrize("exported", [False, True], ids=["our database", "its export"])
def test_every_row_of_every_table_has_dlprofs_id(
    genuine: Path, derived: Path, tmp_path: Path, plain: Plain, exported: bool
) -> None:
    """Tables, columns, order of rows, numbering of texts, metrics and grid sizes; in ours, two tables are views."""
    if exported:
        write_dlprof_file(derived, tmp_path / "exported.sqlite")
        derived = tmp_path / "exported.sqlite"
        assert differences(plain(genuine), plain(derived)) == {}
    expected, actual = plain(genuine), plain(derived)
    tables = {row[0] for row in expected.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in sorted(tables - WHO_AND_WHEN):
        wanted, got = (con.execute(f"SELECT * FROM {table} ORDER BY id") for con in (expected, actual))
        assert [column[0] for column in got.description] == [column[0] for column in wanted.description], table
        assert got.fetchall() == wanted.fetchall(), table


def test_our_views_give_what_the_files_own_views_give(genuine: Path, opened: Opened, plain: Plain) -> None:
    """``open_database`` puts our text in the place of the file's."""
    expected, ours = plain(genuine), opened(genuine)
    for view in view_names(expected):
        wanted = expected.execute(f"SELECT * FROM {view}")
        got = ours.execute(f"SELECT * FROM {view}")
        assert [column[0] for column in got.description] == [column[0] for column in wanted.description], view
        assert sorted(map(repr, got)) == sorted(map(repr, wanted)), view


def test_importing_the_rebuilt_export_gives_dlprofs_database(tmp_path: Path, plain: Plain) -> None:
    """The whole way: export, markers, ops, aggregation, detectors, database."""
    golden = shared_data() / "dlprof-golden"
    database = tmp_path / "rebuilt.dlprof_dldb.sqlite"
    import_source(golden / "rebuilt_nsys_profile.sqlite", database, ImportOptions(), lambda _what, _fraction: None)
    assert differences(plain(golden / "dlprof_dldb_1.sqlite"), plain(database)) == {}
