"""Databases that DLProf itself wrote: every number is that of their views."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries import summary
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_rows, iteration_source
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.system import system_facts
from tensorboard_plugin_dlprof.queries.tables import find_table
from tests.shared_data import shared_data


@pytest.fixture(params=["dlprof_dldb.sqlite", "dlprof_dldb_1.sqlite"])
def golden(request: pytest.FixtureRequest) -> Iterator[UntrustedConnection]:
    """A connection to each of the two."""
    connection = open_database(shared_data() / "dlprof-golden" / request.param)
    yield connection
    connection.close()


def test_the_ops_table_is_the_view(golden: UntrustedConnection) -> None:
    """Every op with every value of ``view_op_nodes``, its direction in our words."""
    keys = [
        *("op_id", "name", "gpu_time_ns", "cpu_time_ns", "direction", "op_type", "calls", "eligible"),
        *("using_tensor_cores", "kernel_calls", "data_type", "stack_trace"),
    ]
    result = page(golden, find_table("ops"), find_scope(golden), PageRequest(limit=1_000))
    view = golden.execute(
        "SELECT op_node_id, op_node_name, gpu_time, cpu_time, CASE direction WHEN 'fprop' THEN 'forward' "
        "WHEN 'bprop' THEN 'backward' ELSE direction END, op_node_type, num_calls, tc_eligible, using_tc, "
        "kernel_calls, data_type, stack_trace FROM view_op_nodes"
    ).fetchall()
    assert sorted(tuple(row[key] for key in keys) for row in result.rows) == sorted(view)
    assert result.total == 32


def test_the_kernels_of_every_op_are_the_view(golden: UntrustedConnection) -> None:
    """Every kernel of every op with every value of ``view_kernel_summaries``."""
    scope = find_scope(golden)
    rows = []
    for (op,) in golden.execute("SELECT op_node_id FROM view_op_nodes").fetchall():
        result = page(golden, find_table("kernels_of_op"), scope, PageRequest(limit=1_000, op=op))
        keys = ("name", "using_tensor_cores", "calls", "gpu_time_ns", "average_ns", "minimum_ns", "maximum_ns")
        rows += [(op, *(row[key] for key in keys)) for row in result.rows]
    view = golden.execute(
        "SELECT op_node_id, kernel_name, uses_tc, calls, gpu_time, avg, min, max FROM view_kernel_summaries"
    ).fetchall()
    assert sorted(rows) == sorted(view)


def test_the_totals(golden: UntrustedConnection) -> None:
    """The numbers of the run: 51 launches, 20 copies and sets, five eligible ops, none on Tensor Cores."""
    scope = find_scope(golden)
    assert summary.kernel_time(golden, scope) == {
        "total": {"time_ns": 352_000, "names": 28, "launches": 71},
        "tensor_core": {"time_ns": 0, "names": 0, "launches": 0},
        "unknown": {"time_ns": 0, "names": 0, "launches": 0},
        "other_kernel": {"time_ns": 308_960, "names": 25, "launches": 51},
        "memory": {"time_ns": 43_040, "names": 3, "launches": 20},
        "graph": {"time_ns": None, "names": None, "launches": None},
    }
    model = summary.model_summary(golden, scope)
    assert (model["ops"], model["eligible_ops"], model["gpu_time_ns"]) == (32, 5, 339_839)
    assert model["eligible_gpu_time_fraction"] == pytest.approx(308_255 / 339_839)
    times = {part["resource"]: part["time_ns"] for part in summary.resource_breakdown(golden, scope)}
    assert times == {
        "tensor_core": 0,
        "unknown_kernel": 0,
        "other_kernel": 296_799,
        "memory": 43_040,
        "data_loader": 0,
        "io": 0,
        "cpu": 2_258_538_366,
        "other": 605_213_335,
    }
    assert sum(times.values()) == summary.performance(golden, scope)["wall_clock_ns"] == 2_864_091_540
    used = summary.gpu_utilization(golden, scope)
    assert used["fraction"] == pytest.approx(296_799 / 2_864_091_540)
    assert summary.tensor_core_efficiency(golden, scope)["fraction"] == 0.0


def test_the_rest_of_the_dashboard(golden: UntrustedConnection) -> None:
    """One iteration, the system's facts without the empty ones, the expert system's rows."""
    scope = find_scope(golden)
    rows, _ = iteration_rows(golden, scope)
    assert [(row["iteration"], row["duration_ns"]) for row in rows] == [(0, 2_864_091_540)]
    assert iteration_source(golden, scope)["kind"] == "whole_capture"
    facts = {fact["key"]: fact["value"] for fact in system_facts(golden)}
    assert facts["gpu_name"] == "NVIDIA GeForce RTX 2070 SUPER"
    assert list(facts)[:3] == ["num_gpus", "gpu_name", "cpu_model"]
    assert (facts["num_gpus"], facts["viewer_version"]) == ("1", VERSION)
    assert "cudnn_version" not in facts
    assert len(summary.recommendations(golden, scope)) in (4, 5)
    assert coverage_notes(golden, scope) == []
