"""``dlprof import`` of a source whose database was made by an older version of this package."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.up_to_date import is_current
from tensorboard_plugin_dlprof.metadata import EXTENSION_VERSION
from tensorboard_plugin_dlprof.queries.scope import aggregations
from tests.cli.traces import number_ranges, write_trace
from tests.database.stranger import drop_extensions

Captured = pytest.CaptureFixture[str]


def age(database: Path, key: str = "extension_version", value: object = EXTENSION_VERSION - 1) -> None:
    """Makes a database pass for one of another version."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE ext_info SET value = ? WHERE key = ?", (str(value), key))


def aggregated_ranges(database: Path) -> list[tuple[int | None, int | None, str]]:
    """First and last iteration of each aggregation, and what they were found by."""
    with closing(open_database(database)) as connection:
        return [(each["iter_start"], each["iter_stop"], each["label"]) for each in aggregations(connection)]


def refused(capsys: Captured, source: Path) -> str:
    """What an import says that does nothing."""
    database = source.with_suffix(".dlprof_dldb.sqlite")
    before = database.read_bytes()
    capsys.readouterr()
    assert main(["import", str(source)]) == 1
    assert database.read_bytes() == before
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [("extension_version", EXTENSION_VERSION - 1), ("extension_version", 1), ("classification_version", 1)],
)
def test_it_is_made_anew_without_force(tmp_path: Path, capsys: Captured, key: str, value: int) -> None:
    """Its source lies there, so nothing is lost; the user is told."""
    source, database = write_trace(tmp_path / "a.json"), tmp_path / "a.dlprof_dldb.sqlite"
    assert main(["import", str(source)]) == 0
    age(database, key, value)
    assert not is_current(database, source)
    capsys.readouterr()
    assert main(["import", str(tmp_path)]) == 0
    assert capsys.readouterr() == (f"{source} -> {database} (made again, as an older version had made it)\n", "")
    assert is_current(database, source)
    assert aggregated_ranges(database) == [(0, 2, "ProfilerStep#N")]


def test_what_the_user_had_chosen_is_chosen_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Title, iterations and every aggregation, in their order."""
    source, database = write_trace(tmp_path / "a.json", steps=5), tmp_path / "a.dlprof_dldb.sqlite"
    first = ["import", str(source), "--iter-start", "1", "--profile-name", "resnet"]
    monkeypatch.setattr("sys.argv", ["dlprof", *first])
    assert main(first) == 0
    for choice in (["--iter-stop", "2"], ["--candidate", "whole_capture"], ["--key-op", "MM_1", "--iter-start", "2"]):
        assert main(["aggregate", str(database), *choice]) == 0
    before = aggregated_ranges(database)
    assert before == [(1, 4, "ProfilerStep#N"), (0, 2, "ProfilerStep#N"), (0, 0, "Whole recording"), (2, 4, "/mm")]
    age(database)
    monkeypatch.setattr("sys.argv", ["dlprof", "import", str(source)])
    assert main(["import", str(source)]) == 0
    assert aggregated_ranges(database) == before
    with closing(open_database(database)) as connection:
        config = connection.execute("SELECT profile_name, original_command FROM view_system_config").fetchone()
    assert config == ("resnet", f"dlprof import {source} --iter-start 1 --profile-name resnet")


def test_ways_of_one_kind_are_told_apart(tmp_path: Path) -> None:
    """Batches and epochs are both numbered: those that the user had chosen are chosen again."""
    source, database = write_trace(tmp_path / "a.json", steps=6), tmp_path / "a.dlprof_dldb.sqlite"
    number_ranges(source, 6, batch=1, epoch=2)
    assert main(["import", str(source)]) == 0
    assert main(["aggregate", str(database), "--candidate", "epoch N"]) == 0
    before = aggregated_ranges(database)
    assert before == [(0, 5, "ProfilerStep#N"), (0, 2, "epoch N")]
    age(database)
    assert main(["import", str(source)]) == 0
    assert aggregated_ranges(database) == before


def test_what_cannot_be_chosen_again_is_named(tmp_path: Path, capsys: Captured) -> None:
    """The rest is made; a sentence says what is not there any more."""
    source, database = write_trace(tmp_path / "a.json"), tmp_path / "a.dlprof_dldb.sqlite"
    assert main(["import", str(source)]) == 0
    assert main(["aggregate", str(database), "--candidate", "whole_capture"]) == 0
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE ext_aggregations SET candidate_label = 'moon_phase' WHERE aggr_id = 2")
    age(database)
    capsys.readouterr()
    assert main(["import", str(source)]) == 0
    said = capsys.readouterr().err
    assert "warning" in said
    assert "the aggregation of all iterations by moon_phase was not made again: There are no iterations" in said
    assert aggregated_ranges(database) == [(0, 2, "ProfilerStep#N")]


def test_rules_of_the_user_must_be_given_again(tmp_path: Path, capsys: Captured) -> None:
    """The database does not hold the file."""
    source, rules = write_trace(tmp_path / "a.json"), tmp_path / "rules.txt"
    rules.write_text('{"rules": [{"name": "mine", "function": "sgemm", "matrix_unit": "yes", "family": "gemm"}]}')
    assert main(["import", str(source), "--kernel-rules", str(rules)]) == 0
    age(tmp_path / "a.dlprof_dldb.sqlite")
    assert "by an older version, with --kernel-rules; give --force and --kernel-rules FILE" in refused(capsys, source)


def test_counters_must_be_given_again(tmp_path: Path, capsys: Captured) -> None:
    """Without them kernels would be told by their names alone."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source)]) == 0
    database = tmp_path / "a.dlprof_dldb.sqlite"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE read_only_system_config SET original_command = 'dlprof import a --counters=c.csv'")
    age(database)
    assert "by an older version, with --counters; give --force and --counters FILE" in refused(capsys, source)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("extension_version", EXTENSION_VERSION + 1),
        ("extension_version", "9" * 5_000),
        ("source_fingerprint", "of another file"),
    ],
)
def test_other_databases_are_replaced_only_with_force(
    tmp_path: Path, capsys: Captured, key: str, value: object
) -> None:
    """One of a later version, or of another source."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source)]) == 0
    age(tmp_path / "a.dlprof_dldb.sqlite", key, value)
    assert "exists; give --force" in refused(capsys, source)


def test_nvidias_own_is_replaced_only_with_force(tmp_path: Path, capsys: Captured) -> None:
    """No import makes it again."""
    source = write_trace(tmp_path / "a.json")
    assert main(["import", str(source)]) == 0
    drop_extensions(tmp_path / "a.dlprof_dldb.sqlite")
    assert "exists; give --force" in refused(capsys, source)


def test_it_is_not_aggregated_anew(tmp_path: Path, capsys: Captured) -> None:
    """A copy would have none of our tables, nor the fingerprint of its source by which it could be made anew."""
    source, database = write_trace(tmp_path / "a.json"), tmp_path / "a.dlprof_dldb.sqlite"
    assert main(["import", str(source)]) == 0
    age(database)
    before = database.read_bytes()
    capsys.readouterr()
    assert main(["aggregate", str(database), "--iter-start", "1"]) == 1
    assert "was made by another version of this package; import its source again" in capsys.readouterr().err
    assert database.read_bytes() == before
    assert main(["import", str(source)]) == 0
    assert main(["aggregate", str(database), "--iter-start", "1"]) == 0
    assert aggregated_ranges(database) == [(0, 2, "ProfilerStep#N"), (1, 2, "ProfilerStep#N")]


def test_what_is_not_read_of_it_is_not_taken_for_none(tmp_path: Path, capsys: Captured) -> None:
    """Its kernels are neither reported as none nor called damaged; nothing is written."""
    source, database = write_trace(tmp_path / "a.json"), tmp_path / "a.dlprof_dldb.sqlite"
    assert main(["import", str(source)]) == 0
    age(database)
    out = tmp_path / "reports"
    assert main(["reports", str(database), "--output_path", str(out)]) == 1
    assert "so its kernels cannot be listed; import" in capsys.readouterr().err
    assert not out.exists()
    assert main(["reports", str(database), "--reports", "detail", "--output_path", str(out)]) == 0
    assert main(["diagnose", str(database)]) == 1
    assert "was made by another version of this package; import its source again" in capsys.readouterr().err
