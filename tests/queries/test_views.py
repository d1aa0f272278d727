"""Every table of the views against DLProf's own views in plain SQL, cell by cell."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.classify.architecture import is_amd
from tensorboard_plugin_dlprof.classify.kernel_names import WRAPPERS
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, deadline
from tensorboard_plugin_dlprof.queries import summary
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import stream
from tensorboard_plugin_dlprof.queries.rows import Cell
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.tables import find_table
from tests.queries.profiles import GOLDEN, SOURCES, database_of


@pytest.fixture(scope="module", params=[*GOLDEN, *SOURCES])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of NVIDIA's or of ours."""
    return database_of(str(request.param), tmp_path_factory.mktemp("views"))


class Asked:
    """A database, asked in two ways."""

    def __init__(self, path: Path, connection: UntrustedConnection) -> None:
        self.connection = connection
        self.plain = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        self.scope: Scope = find_scope(connection)

    def ours(self, table: str, *keys: str, **links: Any) -> list[tuple[Cell, ...]]:
        """Cells of a table of ours, sorted."""
        with deadline(self.connection, 60):
            rows = list(stream(self.connection, find_table(table), self.scope, PageRequest(**links)))
        return sorted((tuple(row[key] for key in keys) for row in rows), key=repr)

    def theirs(self, query: str, *values: Any) -> list[tuple[Cell, ...]]:
        """Rows of a query to the file's own views, sorted."""
        return sorted(self.plain.execute(query, values).fetchall(), key=repr)


@pytest.fixture
def asked(database: Path) -> Iterator[Asked]:
    """Both ways to ask."""
    with closing(open_database(database)) as connection:
        result = Asked(database, connection)
        with closing(result.plain):
            yield result


def test_op_types(asked: Asked) -> None:
    """Name, ops, calls and the sixteen times of ``view_op_type_summary``; those on the host are unknown where the view
    has none for work on a GPU."""
    times = [
        f"{time}{statistic}_ns"
        for time in ("cpu_time", "gpu_time", "cpu_overhead", "gpu_idle")
        for statistic in ("", "_average", "_minimum", "_maximum")
    ]
    columns = [
        f"CASE WHEN {time.startswith('gpu'):d} OR cpu_time_sum <> 0 OR gpu_time_sum = 0 THEN {time}_{statistic} END"
        for time in ("cpu_time", "gpu_time", "cpu_overhead", "gpu_idle")
        for statistic in ("sum", "avg", "min", "max")
    ]
    view = f"SELECT op_node_type, num_nodes, num_calls, {', '.join(columns)} FROM view_op_type_summary"
    assert asked.ours("op_types", "op_type", "ops", "calls", *times) == asked.theirs(view)


def test_the_model_line_counts_the_ops_of_the_op_table(asked: Asked) -> None:
    """Eligible and using ops are those of the table of ops, with kernels outside of ops."""
    model = summary.model_summary(asked.connection, asked.scope)
    [(eligible, using, time_ns, total_ns)] = asked.theirs(
        "SELECT total(tc_eligible OR using_tc), total(using_tc), total(gpu_time * (tc_eligible OR using_tc)), "
        "total(gpu_time) FROM view_op_nodes"
    )
    assert (model["eligible_ops"], model["eligible_ops_using_tensor_cores"]) == (eligible, using)
    expected = None if not total_ns else pytest.approx(float(time_ns or 0) / float(total_ns))
    assert model["eligible_gpu_time_fraction"] == expected


def test_groups(asked: Asked) -> None:
    """The groups of ``view_group_ops``; the parent is the path without its last part."""
    keys = [
        "path",
        "level",
        "calls",
        "eligible_ops",
        "using_ops",
        "cpu_time_ns",
        "gpu_time_ns",
        "cpu_overhead_ns",
        "gpu_idle_ns",
    ]
    view = (
        "SELECT row_full_name, level, num_op_instances, num_supported_leaf_ops, num_tc_leaf_ops, cpu_time_sum, "
        "gpu_time_sum, cpu_overhead_sum, gpu_idle_sum FROM view_group_ops WHERE row_type = 1"
    )
    assert asked.ours("groups", *keys) == asked.theirs(view)
    for path, name, parent in asked.ours("groups", "path", "name", "parent"):
        assert path == "/" if parent is None else path == f"{parent}{name}/"


def test_ops_and_kernels_of_every_group(asked: Asked) -> None:
    """Those whose path begins with that of the group; kernels are summed over these ops."""
    for (path,) in asked.ours("groups", "path")[:40]:
        below = "substr(op_node_name, 1, length(?)) = ?"
        ops = asked.theirs(f"SELECT op_node_id, gpu_time, cpu_time FROM view_op_nodes WHERE {below}", path, path)
        assert asked.ours("ops_of_group", "op_id", "gpu_time_ns", "cpu_time_ns", group=str(path)) == ops
        kernels = asked.theirs(
            "SELECT kernel_name, max(uses_tc), count(*), sum(calls), sum(gpu_time), min(min), max(max) "
            "FROM view_kernel_summaries WHERE op_node_id IN "
            f"(SELECT op_node_id FROM view_op_nodes WHERE {below}) GROUP BY kernel_name",
            path,
            path,
        )
        keys = ("name", "using_tensor_cores", "ops", "calls", "gpu_time_ns", "minimum_ns", "maximum_ns")
        assert asked.ours("kernels_of_group", *keys, group=str(path)) == [
            (kernel[0], bool(kernel[1]), *kernel[2:]) for kernel in kernels
        ]


def test_iterations(asked: Asked) -> None:
    """``view_iterations_profiled``: the parts add up to the duration, kernel time is that of the first two."""
    keys = [
        *("iteration", "start_ns", "duration_ns", "kernels", "tensor_core_kernels", "gpu_time_ns"),
        *("tensor_core_time_ns", "other_kernel_ns", "memory_ns", "data_loader_ns", "io_ns", "cpu_ns", "other_ns"),
    ]
    view = (
        "SELECT iter_value, start_time, duration, total_kernel_count, using_tc_kernel_count, "
        "tc_duration + non_tc_duration, tc_duration, non_tc_duration, memory_duration, dataloader_duration, "
        "io_duration, cpu_duration, other_duration FROM view_iterations_profiled"
    )
    assert asked.ours("iterations", *keys) == asked.theirs(view)
    sums = "SELECT iter_value, total_gpu_time, tc_gpu_time FROM kernel_iteration_stats"
    assert asked.ours("iterations", "iteration", "kernel_time_ns", "tensor_core_kernel_time_ns") == asked.theirs(sums)
    for share, part in asked.ours("iterations", "gpu_time_fraction", "tensor_core_time_fraction"):
        assert share is None or (isinstance(share, float) and isinstance(part, float) and 0 <= part <= share <= 1)


def test_kernels_and_ops_of_every_iteration(asked: Asked) -> None:
    """``view_iteration_kernels``, ``view_iteration_ops`` and, op by op, ``view_iteration_op_kernels``. Grids and blocks
    that were not recorded are zeros there, and directions DLProf's words."""
    kernel = ["name", "device_id", "timestamp_ns", "gpu_time_ns", "grid", "block"]
    recorded = "nullif(grid, '0, 0, 0'), nullif(block, '0, 0, 0')"
    columns = f"kernel_name, device_id, kernel_timestamp, kernel_duration, {recorded}"
    for (iteration,) in asked.ours("iterations", "iteration")[:3]:
        link = iteration
        assert asked.ours("kernels_of_iteration", "op", *kernel, iteration=link) == asked.theirs(
            f"SELECT op_node_name, {columns} FROM view_iteration_kernels WHERE iter_value = ?", iteration
        )
        ops = asked.ours(
            "ops_of_iteration",
            *("op_id", "name", "direction", "op_type", "kernels", "tensor_core_kernels", "gpu_time_ns"),
            *("tensor_core_time_ns", "data_type", "stack_trace"),
            iteration=link,
        )
        assert ops == asked.theirs(
            "SELECT op_node_id, op_node_name, CASE direction WHEN 'fprop' THEN 'forward' WHEN 'bprop' THEN 'backward' "
            "ELSE direction END, op_node_type, total_count, tc_count, total_gpu_time, "
            "tc_gpu_time, data_type, stack_trace FROM view_iteration_ops WHERE iter_value = ?",
            iteration,
        )
        paths = asked.ours("op_paths_of_iteration", "ops", "calls", "gpu_time_ns", iteration=link)
        assert tuple(map(sum, zip(*paths, strict=True))) == tuple(  # type: ignore[arg-type]
            map(sum, zip(*((1, each[4], each[6]) for each in ops), strict=True))  # type: ignore[arg-type]
        )
        keys = ("name", "calls", "gpu_time_ns", "minimum_ns", "maximum_ns", "average_ns", "gpu_time_fraction")
        names = asked.theirs(
            "SELECT kernel_name, count(*), sum(kernel_duration), min(kernel_duration), max(kernel_duration), "
            "avg(kernel_duration), sum(kernel_duration) * 1.0 / nullif(sum(sum(kernel_duration)) OVER (), 0) "
            "FROM view_iteration_kernels WHERE iter_value = ? GROUP BY kernel_name",
            iteration,
        )
        ours = asked.ours("kernel_names_of_iteration", *keys, iteration=link)
        known = {name for name, *_ in names} - set(WRAPPERS)
        assert [row for row in ours if row[0] in known] == [row for row in names if row[0] in known]
        # Those whose name says nothing are told apart by their whole names; together they are as many.
        wrapped, together = ([row[1:3] for row in rows if row[0] not in known] for rows in (ours, names))
        assert list(map(sum, zip(*wrapped, strict=True))) == list(map(sum, zip(*together, strict=True)))
        assert not {name for name, *_ in ours} & set(WRAPPERS)
        for op, *_ in ops[:20]:
            assert asked.ours("kernels_of_iteration_op", *kernel, iteration=link, op=str(op)) == asked.theirs(
                f"SELECT {columns} FROM view_iteration_op_kernels WHERE iter_value = ? AND op_node_id = ?",
                iteration,
                op,
            )


def test_tensor_core_kernels_of_an_iteration(asked: Asked) -> None:
    """Yes exactly where the file says so; elsewhere no, or unknown."""
    for (iteration,) in asked.ours("iterations", "iteration")[:3]:
        using = [yes for (yes,) in asked.ours("kernels_of_iteration", "using_tensor_cores", iteration=iteration)]
        (expected,) = asked.theirs("SELECT sum(uses_tc) FROM view_iteration_kernels WHERE iter_value = ?", iteration)
        assert using.count(True) == (expected[0] or 0)


def _architecture(name: str, major: int, minor: int) -> str | None:
    if is_amd(name):
        return "gfx942" if (major, minor) == (9, 4) or "gfx942" in name else None
    return f"{major}.{minor}" if major else None


def test_gpus(asked: Asked) -> None:
    """``view_gpu_devices``; what is not recorded is unknown, AMD's GPUs have an architecture in place of a compute
    capability, and kernels are counted GPU by GPU."""
    rows = asked.ours("gpus", "device_id", "name", "compute_capability", "sm_count", "utilization_fraction", "kernels")
    view = asked.theirs(
        "SELECT device_id, gpu_name, cuda_major, cuda_minor, sm_count, device_gpu_utilization, "
        "(SELECT count(*) FROM kernel_iteration_node AS node JOIN read_only_kernels AS kernel "
        "ON kernel.id = node.read_only_kernel_id WHERE kernel.device_id = gpu.device_id) FROM view_gpu_devices AS gpu"
    )
    assert len(rows) == len(view)
    for row, (device, name, major, minor, sms, percent, kernels) in zip(rows, view, strict=True):
        assert row[:2] == (device, name or None)
        assert row[2:4] == (_architecture(name, major, minor), sms or None)
        assert row[4] == pytest.approx(percent / 100, abs=1e-8)
        assert row[5] == kernels


def test_shapes_of_ops(asked: Asked) -> None:
    """Those of the first call; empty where none were recorded."""
    values = dict(asked.ours("ops", "op_id", "input_shapes"))
    shapes = {
        op_id: None if text.strip() in ("", "null") else text.rstrip()
        for op_id, _, text in asked.theirs(
            "SELECT op.op_id, min(instance.id), text.string FROM read_only_ops AS op "
            "JOIN read_only_op_instances AS instance ON instance.read_only_ops_id = op.id "
            "JOIN dictionary AS text ON text.id = instance.input_shapes_id GROUP BY op.id"
        )
    }
    assert values == {op_id: shapes.get(op_id) for op_id in values}
