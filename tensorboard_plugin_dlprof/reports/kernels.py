"""DLProf's reports about kernels: kernel (per op and kernel name) and tensor (Tensor Core use per op)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from tensorboard_plugin_dlprof.queries.kernels import USING_OR_UNKNOWN
from tensorboard_plugin_dlprof.queries.ops import USING_OR_UNKNOWN as USING_OR_UNKNOWN_OP
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import has_unknown_kernels
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind, Unknown, Value, fit
from tensorboard_plugin_dlprof.reports.cursors import OP_JOINS, count_of, raw, scope_values, stream, with_unknown
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
    """One row per op and kernel name, ordered by these names."""
    values = scope_values(scope)
    may_use = has_unknown_kernels(connection)
    uses = f"({USING_OR_UNKNOWN})" if may_use else "summary.uses_tc"
    times = ", ".join(f"{time}.{field}" for time in ("gpu", "api") for _, field, _ in _STATISTICS)
    where = "WHERE summary.aggr_id = :aggregation AND summary.domain_id = :domain"
    sql = (
        f"SELECT name.string, op.op_id, op.op_name, direction.string, {uses}, {times} "
        "FROM kernel_summaries AS summary "
        "LEFT JOIN read_only_ops AS op ON op.id = summary.read_only_ops_id "
        f"LEFT JOIN dictionary AS name ON name.id = summary.kernel_name_id {OP_JOINS} "
        "LEFT JOIN metric AS gpu ON gpu.id = summary.gpu_time_metric_id "
        "LEFT JOIN metric AS api ON api.id = summary.api_time_metric_id "
        f"{where} ORDER BY op.op_name, name.string, summary.id"
    )
    rows = stream(connection, sql, values, _KERNEL)
    yield Block(
        "Kernel Report",
        _KERNEL,
        with_unknown(rows, _KERNEL, "Uses TC") if may_use else rows,
        lambda: count_of(connection, f"SELECT count(*) FROM kernel_summaries AS summary {where}", values),
        about="Kernels of one op and name together",
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
    "SELECT read_only_ops_id AS op, kernel_ns AS total, tc_kernel_ns AS on_tensor_cores, unknown_ns "
    "FROM ext_op_kernels WHERE aggr_id = :aggregation"
)

_TENSOR_SQL = (
    "SELECT node.id, op.op_id, op.op_name, direction.string, op_type.string, {using}, totals.total, "
    "totals.on_tensor_cores, totals.unknown_ns, name.string, {uses} "
    "FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
    f"{OP_JOINS} "
    "LEFT JOIN (SELECT op, sum(total) AS total, sum(on_tensor_cores) AS on_tensor_cores, sum(unknown_ns) AS unknown_ns "
    "FROM ({totals}) GROUP BY op) AS totals ON totals.op = node.read_only_ops_id "
    "LEFT JOIN kernel_summaries AS summary ON summary.aggr_id = node.aggr_id AND summary.domain_id = op.domain_id "
    "AND summary.read_only_ops_id = node.read_only_ops_id "
    "LEFT JOIN dictionary AS name ON name.id = summary.kernel_name_id "
    f"WHERE node.aggr_id = :aggregation AND op.domain_id = :domain AND {ELIGIBLE} "
    "ORDER BY node.id, name.string"
)


def tensor_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per op that could use Tensor Cores, by op id.

    Times are plain sums over its kernels; counts and names are those of distinct short names. A name of which only some
    kernels use Tensor Cores is listed with those that do; the times are exact. Kernels whose Tensor Core use is unknown
    are only in the totals; if it is unknown for all kernels of an op, so are the op's values for Tensor Cores.
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
        about="The ops that could use Tensor Cores, and which do",
    )


def _eligible_ops(connection: sqlite3.Connection, scope: Scope) -> Iterator[tuple[Value, ...]]:
    kinds = [column.kind for column in _TENSOR]
    may_use = has_unknown_kernels(connection)
    sql = _TENSOR_SQL.format(
        totals=_TOTALS,
        using=USING_OR_UNKNOWN_OP,
        uses=f"({USING_OR_UNKNOWN})" if may_use else "summary.uses_tc",
    )
    for _, kernels in groupby(raw(connection, sql, scope_values(scope)), itemgetter(0)):
        rows = list(kernels)
        using: dict[str, bool | None] = {}
        for *_, name, uses in rows:
            if name is not None and not using.get(str(name)):
                using[str(name)] = None if uses is None and may_use else bool(uses)
        on_tensor_cores = [name for name, uses in using.items() if uses]
        elsewhere = [name for name, uses in using.items() if not uses]
        op_id, op_name, direction, op_type, uses_any = rows[0][1:6]
        total, part, unknown_ns = (int(time) if isinstance(time, (int, float)) else 0 for time in rows[0][6:9])
        share = 100.0 * part / total if total else 0.0
        cells: list[Any] = [
            uses_any, total, part, total - part, share, len(using), len(on_tensor_cores), on_tensor_cores,
            len(elsewhere), elsewhere,
        ]  # fmt: skip
        if uses_any is None:
            cells[0], cells[2], cells[4], cells[6] = Unknown(0), Unknown(0), Unknown(0.0), Unknown(0)
        if unknown_ns:
            known = sum(uses is False for uses in using.values())
            cells[3], cells[8] = Unknown(total - part, total - part - unknown_ns), Unknown(len(elsewhere), known)
        yield tuple(map(fit, (op_id, op_name, direction, op_type, *cells), kinds))
