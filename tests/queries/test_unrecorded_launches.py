"""Work whose launch was not recorded: nobody knows what it took on the host."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.group_tree import group_tree
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.rows import Cell
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import find_table
from tests.queries.events import ON_TENSOR_CORES, PLAIN, event, work
from tests.queries.profiles import ignore
from tests.queries.test_group_tree import rows


@pytest.fixture
def unlaunched(tmp_path: Path) -> Iterator[UntrustedConnection]:
    """In a step an op with a kernel, and one kernel more that no recorded call launched."""
    events = [
        event("user_annotation", "ProfilerStep#1", 1_000, 900, 1),
        event("cpu_op", "aten::mm", 1_010, 300, 1),
        *work(1, "kernel", ON_TENSOR_CORES, 1_020, 40, 0),
        event("kernel", PLAIN, 1_200, 30, 7, correlation=2, device=0, stream=7),
    ]
    source = tmp_path / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    import_source(source, tmp_path / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(tmp_path / "dldb.sqlite")) as connection:
        yield connection


def test_time_on_the_host_of_work_that_no_call_launched(unlaunched: UntrustedConnection) -> None:
    """To launch it took some, which nobody recorded: it is unknown in every table, and not 0."""
    scope = find_scope(unlaunched)
    ops = {row["op_type"]: row for row in _rows(unlaunched, "ops")}
    orphan = ops.pop(next(kind for kind, row in ops.items() if str(row["name"]).startswith("unassociated")))
    (known,) = ops.values()
    assert (known["cpu_time_ns"], orphan["cpu_time_ns"], orphan["gpu_time_ns"]) == (300_000, None, 30_000)

    types = {row["op_type"]: row for row in _rows(unlaunched, "op_types")}
    times = ("cpu_time_ns", "cpu_time_average_ns", "cpu_overhead_ns", "cpu_overhead_maximum_ns", "gpu_time_ns")
    assert [types[orphan["op_type"]][time] for time in times] == [None, None, None, None, 30_000]
    assert types[known["op_type"]]["cpu_time_ns"] == 300_000

    nodes = {node["op_id"]: node for node in rows(group_tree(unlaunched, scope))}
    assert nodes[orphan["op_id"]]["cpu_time_ns"] is None
    assert nodes[orphan["op_id"]]["cpu_overhead_ns"] is None
    assert nodes[known["op_id"]]["cpu_time_ns"] == 300_000
    above = {row["path"]: row for row in _rows(unlaunched, "groups")}
    assert above["/"]["cpu_time_ns"] == 300_000


def test_kernels_of_the_only_iteration_are_all_that_it_ran(unlaunched: UntrustedConnection) -> None:
    """Stored sums of all ops, which the page reads where one iteration is aggregated, and those of the iteration agree:
    the kernel that no call launched is in both. Below the root of the tree are only ops with a path."""
    scope = find_scope(unlaunched)
    stored, of_iteration, with_path = (
        {row["name"]: row["gpu_time_ns"] for row in page(unlaunched, find_table(table), scope, asked).rows}
        for table, asked in (
            ("kernels_of_group", PageRequest(group="")),
            ("kernel_names_of_iteration", PageRequest(iteration="1")),
            ("kernels_of_group", PageRequest(group="/")),
        )
    )
    assert stored == of_iteration
    assert sorted(stored.values()) == [30_000, 40_000]
    assert list(with_path.values()) == [40_000]


def _rows(connection: UntrustedConnection, table: str) -> list[dict[str, Cell]]:
    return page(connection, find_table(table), find_scope(connection), PageRequest()).rows
