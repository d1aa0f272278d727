"""DLProf's kernel reports: kernel (per op and name), iteration (every launch), tensor (use of Tensor Cores per op)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from tensorboard_plugin_dlprof.queries.extension import is_extended
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind, Value, fit
from tensorboard_plugin_dlprof.reports.cursors import OP_JOINS, count_of, raw, scope_values, stream
from tensorboard_plugin_dlprof.reports.ops import ELIGIBLE, OP_COLUMNS
from tensorboard_plugin_dlprof.reports.shapes import printed_shapes

_STATISTICS = (("Total", "sum", Kind.INTEGER), ("Avg", "avg", Kind.DECIMAL), ("Min", "min", Kind.INTEGER),
               ("Max", "max", Kind.INTEGER))  # fmt: skip

_KERNEL = (
    Column("Kernel Name", Kind.TEXT),
    *OP_COLUMNS,
    Column("Uses TC", Kind.YES_NO),
    *(Column(f"{name} {time} Time (ns)", kind) for time in ("GPU", "API") for name, _, kind in _STATISTICS),
)


def kernel_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per op and kernel name, by the name of the op, then of the kernel."""
    values = scope_values(scope)
    times = ", ".join(f"{time}.{field}" for time in ("gpu", "api") for _, field, _ in _STATISTICS)
    where = "WHERE kernel.aggr_id = :aggregation AND kernel.domain_id = :domain"
    sql = (
        f"SELECT name.string, op.op_id, op.op_name, direction.string, kernel.uses_tc, {times} "
        "FROM kernel_summaries AS kernel "
        "LEFT JOIN read_only_ops AS op ON op.id = kernel.read_only_ops_id "
        f"LEFT JOIN dictionary AS name ON name.id = kernel.kernel_name_id {OP_JOINS} "
        "LEFT JOIN metric AS gpu ON gpu.id = kernel.gpu_time_metric_id "
        "LEFT JOIN metric AS api ON api.id = kernel.api_time_metric_id "
        f"{where} ORDER BY op.op_name, name.string, kernel.id"
    )
    yield Block(
        "Kernel Report",
        _KERNEL,
        stream(connection, sql, values, _KERNEL),
        lambda: count_of(connection, f"SELECT count(*) FROM kernel_summaries AS kernel {where}", values),
    )


_ITERATION = (
    Column("Iteration", Kind.INTEGER),
    *OP_COLUMNS,
    Column("Op Type", Kind.TEXT),
    Column("Kernel Name", Kind.TEXT),
    Column("Device ID", Kind.INTEGER),
    Column("GPU Start Time (ns)", Kind.INTEGER),
    Column("GPU Duration (ns)", Kind.INTEGER),
    Column("API Call Start (ns)", Kind.INTEGER),
    Column("API Call Time (ns)", Kind.INTEGER),
    Column("Uses TC", Kind.YES_NO),
    *(Column(f"{what} {axis}", Kind.INTEGER) for what in ("Grid", "Block") for axis in "XYZ"),
    Column("Data Types", Kind.WORD),
    Column("Input Shapes", Kind.TEXT),
    Column("Parameters", Kind.TEXT),
    Column("Output Shapes", Kind.TEXT),
    Column("Long Kernel Name", Kind.TEXT),
)

_SHAPES = ("Input Shapes", "Parameters", "Output Shapes")

_ITERATION_SQL = (
    "SELECT node.iter_value, op.op_id, op.op_name, direction.string, op_type.string, name.string, kernel.device_id, "
    "kernel.gpu_start, kernel.gpu_stop - kernel.gpu_start, kernel.api_start, kernel.api_stop - kernel.api_start, "
    "kernel.uses_tc, grid.x, grid.y, grid.z, block.x, block.y, block.z, data_type.string, "
    "inputs.string, parameters.string, outputs.string, long_name.string, "
    "input_format.string, parameter_format.string, output_format.string "
    "FROM kernel_iteration_node AS node "
    "LEFT JOIN read_only_kernels AS kernel ON kernel.id = node.read_only_kernel_id "
    "LEFT JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
    "LEFT JOIN dictionary AS name ON name.id = kernel.name_id "
    "LEFT JOIN dictionary AS long_name ON long_name.id = kernel.long_name_id "
    f"{OP_JOINS} "
    "LEFT JOIN read_only_grid_block AS grid ON grid.id = kernel.grid_id "
    "LEFT JOIN read_only_grid_block AS block ON block.id = kernel.block_id "
    # The instances of an op lie side by side: the n-th has the id of the first plus n.
    "LEFT JOIN (SELECT read_only_ops_id AS op, min(id) AS id FROM read_only_op_instances GROUP BY read_only_ops_id) "
    "AS first ON first.op = kernel.read_only_ops_id "
    "LEFT JOIN read_only_op_instances AS instance ON instance.id = first.id + kernel.op_instance "
    "AND instance.read_only_ops_id = kernel.read_only_ops_id "
    "LEFT JOIN dictionary AS inputs ON inputs.id = instance.input_shapes_id "
    "LEFT JOIN dictionary AS parameters ON parameters.id = instance.parameters_id "
    "LEFT JOIN dictionary AS outputs ON outputs.id = instance.output_shapes_id "
    "LEFT JOIN dictionary AS input_format ON input_format.id = op.data_format_id "
    "LEFT JOIN dictionary AS parameter_format ON parameter_format.id = op.parameters_format_id "
    "LEFT JOIN dictionary AS output_format ON output_format.id = op.output_format_id "
    "WHERE node.aggr_id = :aggregation AND node.domain_id = :domain ORDER BY node.id"
)


def iteration_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per kernel launch, in the order of the database; copies and sets are not among them."""
    values = scope_values(scope)
    yield Block(
        "Iteration Report",
        _ITERATION,
        _launches(connection, scope),
        lambda: count_of(
            connection,
            "SELECT count(*) FROM kernel_iteration_node WHERE aggr_id = :aggregation AND domain_id = :domain",
            values,
        ),
    )


def _launches(connection: sqlite3.Connection, scope: Scope) -> Iterator[tuple[Value, ...]]:
    kinds = [column.kind for column in _ITERATION]
    first = next(position for position, column in enumerate(_ITERATION) if column.heading == _SHAPES[0])
    count = len(_ITERATION)
    for row in raw(connection, _ITERATION_SQL, scope_values(scope)):
        cells = list(map(fit, row, kinds))
        for position, letters in enumerate(row[count:], start=first):
            cells[position] = printed_shapes(str(cells[position]), str(letters or ""))
        yield tuple(cells)


_TENSOR = (
    *OP_COLUMNS,
    Column("Op Type", Kind.TEXT),
    Column("Uses TC", Kind.YES_NO),
    Column("Total GPU Time (ns)", Kind.INTEGER),
    Column("TC GPU Time (ns)", Kind.INTEGER),
    Column("Non-TC GPU Time (ns)", Kind.INTEGER),
    Column("TC Utilization (%)", Kind.DECIMAL),
    Column("Total Kernel Count", Kind.INTEGER),
    Column("TC Kernel Count", Kind.INTEGER),
    Column("TC Kernel Names", Kind.TEXT),
    Column("Non-TC Kernel Count", Kind.INTEGER),
    Column("Non-TC Kernel Names", Kind.TEXT),
)

_TOTALS = (
    "SELECT DISTINCT iter_value, read_only_ops_id AS op, total_gpu_time AS total, tc_gpu_time AS on_tensor_cores "
    "FROM kernel_iteration_node WHERE aggr_id = :aggregation AND domain_id = :domain"
)
"""DLProf repeats the totals of an op in an iteration on each of its kernels."""

_STORED_TOTALS = (
    "SELECT read_only_ops_id AS op, kernel_ns AS total, tc_kernel_ns AS on_tensor_cores FROM ext_op_kernels "
    "WHERE aggr_id = :aggregation"
)

_TENSOR_SQL = (
    "SELECT node.id, op.op_id, op.op_name, direction.string, op_type.string, node.using_tc, totals.total, "
    "totals.on_tensor_cores, name.string, kernel.uses_tc "
    "FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
    f"{OP_JOINS} "
    "LEFT JOIN (SELECT op, sum(total) AS total, sum(on_tensor_cores) AS on_tensor_cores FROM ({totals}) GROUP BY op) "
    "AS totals ON totals.op = node.read_only_ops_id "
    "LEFT JOIN kernel_summaries AS kernel ON kernel.aggr_id = node.aggr_id AND kernel.domain_id = op.domain_id "
    "AND kernel.read_only_ops_id = node.read_only_ops_id "
    "LEFT JOIN dictionary AS name ON name.id = kernel.kernel_name_id "
    f"WHERE node.aggr_id = :aggregation AND op.domain_id = :domain AND {ELIGIBLE} "
    "ORDER BY node.id, name.string"
)


def tensor_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per op that could use Tensor Cores, by op id.

    Times are plain sums over its kernels, counts and names those of distinct short names. A name under which some
    kernels use Tensor Cores and some do not stands among those that do; the times are exact.
    """
    values = scope_values(scope)
    yield Block(
        "Tensor Core Report",
        _TENSOR,
        _eligible_ops(connection, scope),
        lambda: count_of(
            connection,
            "SELECT count(*) FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
            f"WHERE node.aggr_id = :aggregation AND op.domain_id = :domain AND {ELIGIBLE}",
            values,
        ),
    )


def _eligible_ops(connection: sqlite3.Connection, scope: Scope) -> Iterator[tuple[Value, ...]]:
    kinds = [column.kind for column in _TENSOR]
    sql = _TENSOR_SQL.format(totals=_STORED_TOTALS if is_extended(connection) else _TOTALS)
    for _, kernels in groupby(raw(connection, sql, scope_values(scope)), itemgetter(0)):
        rows = list(kernels)
        using: dict[str, bool] = {}
        for *_, name, uses_tensor_cores in rows:
            if name is not None:
                using[str(name)] = using.get(str(name), False) or bool(uses_tensor_cores)
        on_tensor_cores = [name for name, uses in using.items() if uses]
        elsewhere = [name for name, uses in using.items() if not uses]
        op_id, op_name, direction, op_type, uses_any = rows[0][1:6]
        total, part = (int(time) if isinstance(time, (int, float)) else 0 for time in rows[0][6:8])
        share = 100.0 * part / total if total else 0.0
        yield tuple(
            map(
                fit,
                (
                    op_id, op_name, direction, op_type, uses_any, total, part, total - part, share, len(using),
                    len(on_tensor_cores), on_tensor_cores, len(elsewhere), elsewhere,
                ),
                kinds,
            )
        )  # fmt: skip
