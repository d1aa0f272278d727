"""A database that is damaged in its middle is named with a sentence, by every command that reads one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.cli.messages import tell_json
from tensorboard_plugin_dlprof.database.naming import database_name
from tests.imports.traces import write_trace

TABLES = ("ext_info", "ext_aggregations", "model_summary", "iteration_list", "op_nodes", "dictionary", "metric")

COMMANDS = ("check", "summary", "aggregate", "reports", "import")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database beside its source."""
    source = write_trace(tmp_path_factory.mktemp("whole") / "run.json")
    assert main(["import", str(source)]) == 0
    return source.with_name(database_name(source.name))


def damage(database: Path, table: str) -> None:
    """Lets the last row of a table lead behind the end of its page."""
    with closing(sqlite3.connect(database)) as con:
        (page,) = con.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = con.execute("PRAGMA page_size").fetchone()
    content = bytearray(database.read_bytes())
    begin = (page - 1) * size
    cells = int.from_bytes(content[begin + 3 : begin + 5], "big")
    last = begin + 8 + 2 * (cells - 1)
    content[last : last + 2] = b"\xff\xff"
    database.write_bytes(content)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_damage_is_taken_for_a_bug(
    command: str, table: str, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the command reads what is damaged it says so; a source is imported again with --force."""
    database = tmp_path / whole.name
    database.write_bytes(whole.read_bytes())
    (tmp_path / "run.json").write_bytes(whole.with_name("run.json").read_bytes())
    damage(database, table)
    more = {"aggregate": ["--iter-start", "1"], "reports": ["--output_path", str(tmp_path / "reports")]}
    named = tmp_path / "run.json" if command == "import" else database
    code = main([command, str(named), *more.get(command, [])])
    said = capsys.readouterr()
    assert "bug of ours" not in said.err
    assert code == 0 or "damaged" in said.err + said.out or "--force" in said.err
    if command == "check":
        assert code == 1


def test_json_has_no_infinite_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """They may come of huge ones in a database; no other program reads them."""
    tell_json({"a": [float("inf"), float("nan"), (1.5, None)]})
    assert capsys.readouterr().out == '{"a": [null, null, [1.5, null]]}\n'
