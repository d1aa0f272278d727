"""Groups tell what is known of the ops below them, in the tree, the table and the report; nothing where nothing is."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.group_tree import group_tree
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.catalog import REPORTS
from tests.imports.traces import write_trace
from tests.queries.events import HALVES, PLAIN, database_of_events, event, work
from tests.queries.profiles import ignore
from tests.queries.test_group_tree import rows


def test_the_tree_does_not_take_what_is_not_known_for_not_eligible(tmp_path: Path) -> None:
    """An op that launched a CUDA graph recorded as a whole, and the groups above it of which no op is known to be
    eligible."""
    database = tmp_path / "dldb.sqlite"
    import_source(write_trace(tmp_path / "trace.json", steps=3), database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        tree = group_tree(connection, find_scope(connection))["nodes"]["eligible_ops"]
    assert None not in tree
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE op_nodes SET tc_eligible = 0, using_tc = 0")
        connection.execute("UPDATE group_ops SET num_supported_leaf_ops = 0, num_tc_leaf_ops = 0")
        connection.execute("INSERT INTO ext_graph_launches SELECT id, id, 0, 0, 1, 0, 7 FROM read_only_ops")
    with closing(open_database(database)) as connection:
        nodes = group_tree(connection, find_scope(connection))["nodes"]
    assert set(nodes["eligible_ops"]) == {None}
    assert set(nodes["using_ops"]) == set(nodes["tensor_core_time_ns"]) == {None}


def _graphs_launched_by_all(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE op_nodes SET tc_eligible = 0, using_tc = 0")
        connection.execute("UPDATE group_ops SET num_supported_leaf_ops = 0, num_tc_leaf_ops = 0")
        connection.execute("INSERT INTO ext_graph_launches SELECT id, id, 0, 0, 1, 0, 7 FROM read_only_ops")


def _a_graph_launched_by_one(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE op_nodes SET tc_eligible = 0, using_tc = 0")
        connection.execute("UPDATE group_ops SET num_supported_leaf_ops = 0, num_tc_leaf_ops = 0")
        connection.execute(
            "INSERT INTO ext_graph_launches SELECT id, id, 0, 0, 1, 0, 7 FROM read_only_ops WHERE op_name LIKE '%/mm%'"
        )


def _no_gpu(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for table in ("kernels", "kernel_summaries", "read_only_memcpys", "read_only_memsets"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("UPDATE op_nodes SET using_tc = 0")
        connection.execute("UPDATE group_ops SET num_tc_leaf_ops = 0")


def two_layers(folder: Path) -> Path:
    """An eligible product below ``/a/``, an addition below ``/b/``, each with a kernel."""
    events = []
    for number, (module, kind) in enumerate([("A", "mm"), ("B", "add")]):
        start = 1_000 + 400 * number
        events.append(event("python_function", f"nn.Module: {module}_0", start, 300, 1, **{"Python id": number + 1}))
        events.append(event("cpu_op", f"aten::{kind}", start + 10, 200, 1, **HALVES))
        events += work(number + 1, "kernel", PLAIN, start + 20, 50, 0)
    return database_of_events(folder, events)


@pytest.mark.parametrize(
    "change",
    [_graphs_launched_by_all, _a_graph_launched_by_one, _no_gpu],
    ids=lambda change: change.__name__,
)
def test_tree_table_and_report_tell_the_same_of_groups(tmp_path: Path, change: Callable[[Path], None]) -> None:
    """What of no op below is known, and of some unknown, is unknown in all of them, never 0."""
    database = two_layers(tmp_path)
    change(database)
    with closing(open_database(database)) as connection:
        scope = find_scope(connection)
        nodes = group_tree(connection, scope)["nodes"]
        tree = {
            node["path"]: (node["eligible_ops"], node["using_ops"])
            for node in rows({"nodes": nodes})
            if node["op_id"] is None
        }
        table = {
            row["path"]: (row["eligible_ops"], row["using_ops"])
            for row in page(connection, table_of(connection, "groups"), scope, PageRequest(limit=100)).rows
        }
        text = io.StringIO()
        write_json(REPORTS["group_op"].blocks(connection, scope), text)
        report = {
            row["Name"]: (row["Num TC Eligible Ops"], row["Num Ops Using TC"])
            for row in json.loads(text.getvalue())["Group Op Report"]
        }
    assert None in {number for described in tree.values() for number in described}
    assert table == tree
    assert {path: described for path, described in report.items() if path != "_CompleteModel_"} == tree
    assert report["_CompleteModel_"] == tree["/"]
