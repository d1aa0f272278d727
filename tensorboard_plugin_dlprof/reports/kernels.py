"""DLProf's kernel reports: kernel (per op and name), tensor (use of Tensor Cores per op)."""

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
