"""What the work of a row mostly is, and how much of it is on Tensor Cores: the columns that colour the bars of charts.

The kind is the family of the op, or of the kernel, that takes the most time, from ``classify/``; ``NO_KERNELS``
where GPU time is of copies and sets alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import msgspec

from tensorboard_plugin_dlprof.queries.kernels import CLASS_COLUMNS, LONG_NAME_ID
from tensorboard_plugin_dlprof.queries.reasons import REASONS_JOIN
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import FILLED, Column

NO_KERNELS = "copies and sets"
"""A family that no kernel has: "copy" is that of kernels that copy, whose time is that of kernels."""


def family_column(subject: str, sql: str, listed: bool = True) -> Column:
    """The column of a table of ops.

    Args:
        subject: the op that is meant.
        sql: its value, see ``family``.
        listed: whether rows can be sorted and filtered by it.
    """
    return Column("family", "Family", "text",
                  f"What {subject} mostly is: gemm, collective, ...; {NO_KERNELS} if no kernel was launched.", sql,
                  nullable=True, hidden=True, tier=2, sortable=listed, filterable=listed)  # fmt: skip


def family(kernel_calls: str, gpu_ns: str, graphs: str, largest: str) -> str:
    """Expression for the family of ops.

    Args:
        kernel_calls: how many kernels they launched.
        gpu_ns: their GPU time.
        graphs: whether they launched CUDA graphs recorded as a whole, whose content is not known.
        largest: the family of the op with the most time.
    """
    copies = f"{kernel_calls} = 0 AND {gpu_ns} > 0 AND NOT ({graphs})"
    return f"CASE WHEN {copies} THEN '{NO_KERNELS}' ELSE nullif({largest}, '') END"


OF_OP = family_column(
    "the op",
    family(
        "node.kernel_calls", "gpu_time.sum", "op.id IN (SELECT read_only_ops_id FROM ext_graph_launches)", "rate.family"
    ),
)
"""For tables with ``time_joins`` and ``REASONS_JOIN``."""

KERNELS_JOIN = (
    "LEFT JOIN ext_op_kernels AS kernels ON kernels.aggr_id = node.aggr_id AND kernels.read_only_ops_id = op.id"
)

KERNEL_SUMS = (
    "sum(kernels.kernel_ns) AS kernel_ns, sum(kernels.tc_kernel_ns) AS tc_ns, sum(kernels.unknown_ns) AS unknown_ns"
)
"""For SELECTs with ``KERNELS_JOIN``."""


def on_tensor_cores(sums: str) -> str:
    """Expression for the share of kernel time on Tensor Cores, given the alias of ``KERNEL_SUMS``."""
    known = f"{sums}.unknown_ns = 0 OR {sums}.tc_ns > 0"
    return f"CASE WHEN {known} THEN {sums}.tc_ns * 1.0 / nullif({sums}.kernel_ns, 0) END"


ON_TENSOR_CORES = Column("tensor_core_fraction", "On TC", "fraction",
                         "Time of kernels on Tensor Cores over the time of all kernels of these ops; empty where it is "
                         "unknown.", on_tensor_cores("ops"), nullable=True)  # fmt: skip

_FILLED = {"sql": FILLED, "sortable": False, "filterable": False, "hidden": True, "tier": 2}

OF_TYPE = (
    msgspec.structs.replace(ON_TENSOR_CORES, **_FILLED),
    family_column("the op of the type that takes the most time", FILLED, listed=False),
)
"""Filled in by ``fill_types``: in SQL, every type would read all ops."""

_OF_TYPES = (
    # Columns without an aggregate are those of the row with the only max.
    "SELECT name.string AS type, sum(node.kernel_calls) AS kernel_calls, sum(gpu.sum) AS gpu_ns, "
    "sum(op.id IN (SELECT read_only_ops_id FROM ext_graph_launches)) AS graphs, rate.family AS family, max(gpu.sum), "
    f"{KERNEL_SUMS} FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
    "JOIN node_time_metrics AS times ON times.id = node.node_time_metrics_id "
    f"JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id {KERNELS_JOIN} {REASONS_JOIN} "
    "JOIN dictionary AS name ON name.id = op.op_type_id "
    "WHERE node.aggr_id = ? AND op.domain_id = ? GROUP BY op.op_type_id"
)


def fill_types(connection: sqlite3.Connection, scope: Scope) -> Callable[[Row], None]:
    """Fills in ``OF_TYPE``, for rows of types of ops."""
    values = f"{on_tensor_cores('ops')}, {family('kernel_calls', 'gpu_ns', 'graphs', 'family')}"
    types = {
        op_type: (on_cores, kind)
        for op_type, on_cores, kind in connection.execute(
            f"SELECT type, {values} FROM ({_OF_TYPES}) AS ops", (scope.aggregation, scope.domain)
        )
    }

    def fill(row: Row) -> None:
        row["tensor_core_fraction"], row["family"] = types.get(row["op_type"], (None, None))

    return fill


OF_KERNEL_NAME = msgspec.structs.replace(
    CLASS_COLUMNS["family"],
    sql="SELECT nullif(class.family, '') FROM kernel_summaries AS summary JOIN ext_kernel_names AS class "
    f"ON class.name_id = {LONG_NAME_ID} WHERE summary.id = kernel.id",
    sortable=False,
    filterable=False,
    hidden=True,
    tier=2,
)
"""For tables of which ``kernel.id`` is the id of one of the ``kernel_summaries`` of the row."""
