"""The iteration report of databases with millions of kernels."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.reports import launches
from tensorboard_plugin_dlprof.reports.cursors import scope_values
from tests.imports.traces import write_trace


@pytest.mark.parametrize("order", ["", "iteration, "])
def test_each_row_is_looked_up(tmp_path: Path, order: str) -> None:
    """No table is read whole for each kernel: with 100,000 calls of ops it would take an hour."""
    source, database = write_trace(tmp_path / "a.json"), tmp_path / "made.sqlite"
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(database)) as connection:
        asked = f"EXPLAIN QUERY PLAN {launches._NUMBERS_SQL.format(order=order)}"
        plan = [str(row[3]) for row in connection.execute(asked, scope_values(find_scope(connection)))]
    assert [step for step in plan if step.startswith(("SCAN", "MATERIALIZE"))] == ["SCAN node"]
