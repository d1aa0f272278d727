"""Questions to a database of our own importer, with answers worked out from the trace."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries import summary
from tensorboard_plugin_dlprof.queries.gaps import TABLES as GAPS
from tensorboard_plugin_dlprof.queries.headline import headline, source_facts
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_rows, iteration_source
from tensorboard_plugin_dlprof.queries.memory_groups import TABLES as BLOCKS
from tensorboard_plugin_dlprof.queries.ops import top_ops
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import Scope, aggregations, find_scope
from tensorboard_plugin_dlprof.queries.table_query import TableQuery
from tensorboard_plugin_dlprof.queries.tables import TABLES, find_table


def _links(sql: str) -> dict[str, int]:
    return dict.fromkeys(re.findall(r":(\w+)", sql), 1)


_CALLS = ("SCAN instance", "SCAN op_calls", "SCAN read_only_op_instances")


@pytest.mark.parametrize("name", sorted(TABLES.keys() - GAPS.keys() - BLOCKS.keys()))
def test_no_table_reads_all_calls(three_steps: Path, name: str) -> None:
    """Of which there may be millions, without an index by op: a page of ops would read them for each of its rows."""
    table = find_table(name)
    request = PageRequest(op="1", group="1", row="1", iteration=1, device=1)
    query = TableQuery(table, Scope(1, 1, "default-domain"), request)
    asked = (f"{table.select()} IN (1, 2)", query.ids())
    with closing(open_database(three_steps)) as con:
        con.set_authorizer(None)
        plans = [con.execute(f"EXPLAIN QUERY PLAN {sql}", _links(sql)).fetchall() for sql in asked]
    steps = [str(step[3]) for plan in plans for step in plan]
    assert steps
    assert not [step for step in steps if step.startswith(_CALLS)]


def test_kernels_are_counted_and_timed(ours: UntrustedConnection) -> None:
    """Six launches of 40 µs of one name, none on Tensor Cores."""
    times = summary.kernel_time(ours, find_scope(ours))
    assert times["total"] == {"time_ns": 240_000, "names": 1, "launches": 6}
    assert times["other_kernel"] == times["total"]
    assert times["tensor_core"] == {"time_ns": 0, "names": 0, "launches": 0}


def test_the_parts_add_up_to_the_wall_time(ours: UntrustedConnection) -> None:
    """Exclusive parts: kernels 240 µs of the wall time."""
    scope = find_scope(ours)
    parts = summary.resource_breakdown(ours, scope)
    assert sum(part["time_ns"] or 0 for part in parts) == summary.performance(ours, scope)["wall_clock_ns"]
    assert next(part["time_ns"] for part in parts if part["resource"] == "other_kernel") == 240_000
    assert sum(part["fraction"] or 0 for part in parts) == pytest.approx(1)


def test_utilization_is_the_kernels_time_over_wall_time(ours: UntrustedConnection) -> None:
    """240 µs busy; the device's share is the same, because there is one."""
    result = summary.gpu_utilization(ours, find_scope(ours))
    assert result["busy_ns"] == 240_000
    assert result["wall_ns"] is not None
    assert result["fraction"] == pytest.approx(240_000 / result["wall_ns"])
    assert [device["busy_ns"] for device in result["devices"]] == [240_000]
    assert [device["name"] for device in result["devices"]] == ["NVIDIA Test GPU"]


def test_iterations_are_the_steps(ours: UntrustedConnection) -> None:
    """Three steps, each with 80 µs of kernels."""
    scope = find_scope(ours)
    rows, is_binned = iteration_rows(ours, scope)
    assert [row["iteration"] for row in rows] == [0, 1, 2]
    assert [row["parts"] and row["parts"]["other_kernel"] for row in rows] == [80_000] * 3
    assert not is_binned
    assert iteration_source(ours, scope)["kind"] == "profiler_step"
    assert aggregations(ours)[0]["iterations"] == 3


def test_the_most_expensive_ops(ours: UntrustedConnection) -> None:
    """All the GPU time is in adds."""
    ops = top_ops(ours, find_scope(ours))
    assert {op["op_type"] for op in ops} == {"add"}
    assert sum(op["gpu_time_ns"] or 0 for op in ops) == 240_000
    assert sum(op["gpu_time_fraction"] or 0 for op in ops) == pytest.approx(1)


def test_the_kernels_of_an_op(ours: UntrustedConnection) -> None:
    """Their times add up to those of the op, and the full name is there."""
    scope = find_scope(ours)
    op = page(ours, find_table("ops"), scope, PageRequest(limit=1)).rows[0]
    result = page(ours, find_table("kernels_of_op"), scope, PageRequest(op=str(op["op_id"])))
    assert sum(int(row["gpu_time_ns"] or 0) for row in result.rows) == op["gpu_time_ns"]
    assert "AddFunctor" in str(result.rows[0]["long_name"])
    assert result.rows[0]["family"] == "elementwise"
    assert result.rows[0]["gpu_time_fraction"] == 1.0


def test_the_headline_and_the_source(ours: UntrustedConnection) -> None:
    """What the list shows."""
    assert (headline(ours)["iterations"], headline(ours)["marked"]) == (3, True)
    assert headline(ours)["gpu_names"] == ["NVIDIA Test GPU"]
    facts = source_facts(ours)
    assert (facts["source_name"], facts["format"]) == ("a.json", "pytorch")


def test_an_unknown_aggregation_or_domain_is_said(ours: UntrustedConnection) -> None:
    """With those that there are."""
    with pytest.raises(NotFound, match="aggregation 7; it has 1"):
        find_scope(ours, aggregation=7)
    with pytest.raises(NotFound, match="domain 'x'"):
        find_scope(ours, domain="x")
