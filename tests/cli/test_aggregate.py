"""``dlprof aggregate``."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.queries.scope import aggregations
from tests.database.views import differences, read_only
from tests.shared_data import shared_data


@pytest.fixture
def database(three_steps: Path, tmp_path: Path) -> Path:
    """A copy of a database of three steps."""
    return Path(shutil.copyfile(three_steps, tmp_path / "a.dlprof_dldb.sqlite"))


def ranges(path: Path) -> list[tuple[int, int | None, int | None]]:
    """The aggregations of a database."""
    with closing(open_database(path)) as connection:
        return [(each["id"], each["iter_start"], each["iter_stop"]) for each in aggregations(connection)]


def test_an_aggregation_is_added_in_place(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing else lies beside it; the second time there is nothing to do."""
    assert main(["aggregate", str(database), "--iter-start", "1", "--iter-stop", "1"]) == 0
    assert "aggregation 2" in capsys.readouterr().out
    assert ranges(database) == [(1, 0, 2), (2, 1, 1)]
    assert list(database.parent.iterdir()) == [database]
    before = database.read_bytes()
    assert main(["aggregate", str(database), "--iter-start", "1", "--iter-stop", "1"]) == 0
    assert "already" in capsys.readouterr().out
    assert database.read_bytes() == before


@pytest.mark.parametrize(("words", "expected"), [("1", (1, 1)), ("1-2", (1, 2)), ("typical", (1, 2))])
def test_iterations_in_one_option(
    database: Path, words: str, expected: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers, or a word; all of them are there already."""
    with closing(sqlite3.connect(database)) as con, con:
        con.execute("UPDATE ext_iterations SET start_ns = start_ns - 50000000 WHERE iter_value = 0")
    assert main(["aggregate", str(database), "--iterations", words]) == 0
    assert ranges(database)[1:] == [(2, *expected)]
    assert main(["aggregate", str(database), "--iterations", "2-1"]) == 2
    assert "the first is after the last" in capsys.readouterr().err
    assert main(["aggregate", str(database), "--iterations", "1", "--iter-stop", "1"]) == 2
    assert main(["aggregate", str(database), "--iterations", "some"]) == 2


def test_a_new_file(database: Path, tmp_path: Path) -> None:
    """The old one stays as it is, and no file is replaced."""
    before = database.read_bytes()
    other = tmp_path / "other.sqlite"
    assert main(["aggregate", str(database), "--key-op", "ADD_1", "-o", str(other)]) == 0
    assert database.read_bytes() == before
    assert len(ranges(other)) == 2
    assert main(["aggregate", str(database), "--iter-stop", "1", "-o", str(other)]) == 1


def test_a_new_file_that_would_hold_nothing_new(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that goes on with the file must not be told that it is there."""
    other = tmp_path / "other.sqlite"
    assert main(["aggregate", str(database), "-o", str(other)]) == 1
    assert "already has this aggregation, number 1" in capsys.readouterr().err
    assert not other.exists()


def test_a_link_stays_a_link(database: Path, tmp_path: Path) -> None:
    """The file that it leads to gets the aggregation."""
    link = tmp_path / "link.sqlite"
    link.symlink_to(database)
    assert main(["aggregate", str(link), "--iter-stop", "1"]) == 0
    assert link.is_symlink()
    assert len(ranges(database)) == 2


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--iter-start", "9"], 1, "0 to 2"),
        (["--iter-start", "2", "--iter-stop", "1"], 2, "in order"),
        (["--kernel-rules", "rules.json"], 2, "dlprof import SOURCE --force --kernel-rules rules.json"),
        (["--counters", "report.csv"], 2, "dlprof import SOURCE --force --counters report.csv"),
        (["--key-op", "ADD_9"], 1, "ADD_1"),
        (["--candidate", "x"], 1, "profiler_step"),
        (["--key-op", "ADD_1", "--candidate", "profiler_step"], 2, "give one"),
    ],
)
def test_what_does_not_fit(
    database: Path, options: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence, and an unchanged file."""
    before = database.read_bytes()
    assert main(["aggregate", str(database), *options]) == code
    assert words in capsys.readouterr().err
    assert database.read_bytes() == before


def test_nvidias_own_aggregation_stays_to_the_cell(tmp_path: Path) -> None:
    """All views of the first aggregation are those of DLProf; ids are kept."""
    golden = shared_data() / "dlprof-golden" / "dlprof_dldb.sqlite"
    other = tmp_path / "other.sqlite"
    assert main(["aggregate", str(golden), "--key-op", "CONV2D_1", "-o", str(other)]) == 0
    with closing(sqlite3.connect(other)) as writer:
        for (table,) in writer.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            names = [row[1] for row in writer.execute(f"PRAGMA table_info({table})")]
            if "aggr_id" in names:
                writer.execute(f"DELETE FROM {table} WHERE aggr_id = 2")
        writer.commit()
    with closing(read_only(golden)) as expected, closing(read_only(other)) as actual:
        assert differences(expected, actual) == {}


def test_nothing_of_a_strange_file_runs(database: Path, tmp_path: Path) -> None:
    """Its triggers, views and further tables do not come along."""
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("CREATE TABLE loot (x)")
        writer.execute("CREATE TRIGGER t AFTER INSERT ON aggregations BEGIN INSERT INTO loot VALUES (1); END")
        writer.execute("DROP VIEW view_op_nodes")
        writer.execute("CREATE VIEW view_op_nodes AS SELECT 'evil'")
        writer.commit()
    other = tmp_path / "other.sqlite"
    assert main(["aggregate", str(database), "--iter-stop", "1", "-o", str(other)]) == 0
    with closing(read_only(database)) as plain:
        assert plain.execute("SELECT count(*) FROM loot").fetchone() == (0,)
    with closing(read_only(other)) as plain:
        names = {row[0] for row in plain.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'trigger')")}
        assert not names & {"loot", "t"}
        assert plain.execute("SELECT count(*) FROM view_op_nodes").fetchone() == (4,)
