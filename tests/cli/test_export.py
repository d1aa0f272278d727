"""``dlprof export``: files for other tools."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.sql_files import DLPROF_SCRIPTS, layout_of, statements
from tests.cli.traces import write_trace


def test_a_trace_becomes_a_database_of_dlprof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With DLProf's tables and views, with rows in each of kernels, and nothing of ours; never over another file."""
    source, output = write_trace(tmp_path / "a.json"), tmp_path / "out.sqlite"
    assert main(["export", "--format", "dlprof", str(source), "-o", str(output)]) == 0
    assert capsys.readouterr().out == f"{output}\n"
    with closing(sqlite3.connect(output)) as con:
        made = con.execute("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        assert {name for kind, name in made if kind == "table"} == set(layout_of(*DLPROF_SCRIPTS))
        assert sum(kind == "view" for kind, _ in made) == len(statements("views")) == 23
        (kernels,) = con.execute("SELECT count(*) FROM read_only_kernels").fetchone()
        ids = [row[0] for row in con.execute("SELECT id FROM kernel_iteration_node ORDER BY id")]
        assert ids == list(range(1, kernels + 1)) != []
        assert con.execute("SELECT count(*) FROM view_iteration_kernels").fetchone() == (kernels,)
    assert main(["export", str(source), "-o", str(output)]) == 1
    assert "exists" in capsys.readouterr().err
    assert main(["export", str(source), "-o", str(output), "--force"]) == 0
