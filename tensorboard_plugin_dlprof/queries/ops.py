"""The table of ops with their times, and the ops with the most GPU time."""

from __future__ import annotations

import sqlite3
from typing import TypedDict, cast

import msgspec

from tensorboard_plugin_dlprof.classify.directions import DIRECTION_SQL
from tensorboard_plugin_dlprof.queries.efficiency import GAIN
from tensorboard_plugin_dlprof.queries.kinds_of_work import BOUND, OF_OP, OF_TYPE, TYPE_JOINS, on_tensor_cores
from tensorboard_plugin_dlprof.queries.limits_of_groups import UNRATED
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.reasons import REASONS, REASONS_JOIN
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Table
from tensorboard_plugin_dlprof.queries.unknown_kernels import MAY_USE

SHAPES_OF_FIRST_CALL = (
    "SELECT text.string FROM ext_op_ranges AS calls JOIN read_only_op_instances AS instance "
    "ON instance.id = calls.first_instance_id AND instance.read_only_ops_id = calls.read_only_ops_id "
    "JOIN dictionary AS text ON text.id = instance.input_shapes_id WHERE calls.read_only_ops_id = op.id"
)
"""Query for the shapes of the inputs of ``read_only_ops AS op``."""


def shown_shapes(sql: str) -> str:
    """An expression that makes unknown shapes NULL."""
    return f"nullif(rtrim(({sql}), '\n'), 'null')"


def has_host_time(on_host_ns: int | None, on_gpu_ns: int | None) -> bool:
    """Whether the times of an op on the host are known: the condition of ``on_host`` for numbers."""
    return bool(on_host_ns) or on_gpu_ns == 0


def time_joins(metrics_id: str) -> tuple[str, ...]:
    """The joins of four times, given the expression of the ``node_time_metrics.id`` of a row."""
    times = {"cpu_time": "cpu", "gpu_time": "gpu", "cpu_overhead": "cpu_overhead", "gpu_idle": "gpu_idle"}
    return (
        f"JOIN node_time_metrics AS times ON times.id = {metrics_id}",
        *(f"JOIN metric AS {alias} ON {alias}.id = times.{time}_time_metric_id" for alias, time in times.items()),
    )


def on_host(column: Column) -> Column:
    """The column of a time on the host, with NULL for ops that have GPU time but no CPU time.

    Launching the work must have taken CPU time, but no call was recorded, as for work that began before the recording.
    Its table needs ``time_joins``.
    """
    return msgspec.structs.replace(
        column,
        sql=f"CASE WHEN cpu_time.sum <> 0 OR gpu_time.sum = 0 THEN {column.sql} END",
        description=f"{column.description} Empty for GPU work whose launch was not recorded.",
        nullable=True,
    )


NO_GPU_WORK = " AND ".join(
    f"NOT EXISTS (SELECT 1 FROM {work})"
    for work in ("kernels", "kernel_summaries", "read_only_memcpys", "read_only_memsets", "ext_graph_launches")
)
"""Condition that a database has no GPU work, so that nothing is known about what a GPU would have done."""

USING_OR_UNKNOWN = (
    f"CASE WHEN node.using_tc THEN 1 WHEN ({NO_GPU_WORK}) "
    f"OR {MAY_USE.format(aggregation='node.aggr_id', op='node.read_only_ops_id')} THEN NULL ELSE 0 END"
)
"""Whether an op uses Tensor Cores, for ``op_nodes AS node``. NULL (unknown) if none of its kernels is
known to use them but some may, if it launches CUDA graphs recorded as a whole, or if no GPU work was recorded."""

ELIGIBLE_OR_UNKNOWN = (
    "CASE WHEN node.tc_eligible <> 0 OR node.using_tc <> 0 THEN 1 "
    "WHEN node.read_only_ops_id IN (SELECT read_only_ops_id FROM ext_graph_launches) "
    "OR EXISTS (SELECT 1 FROM ext_op_efficiency AS unsure WHERE unsure.aggr_id = node.aggr_id "
    "AND unsure.read_only_ops_id = node.read_only_ops_id AND unsure.eligibility = 'unknown') THEN NULL ELSE 0 END"
)
"""Whether an op is eligible, likewise. NULL (unknown) if it launches CUDA graphs recorded as a whole, whatever is in
them, and for kernels that no op is known to have launched."""

_KERNEL_NS = "nullif(kernels.kernel_ns, 0)"

OPS = Table(
    name="ops",
    key="op_id",
    base="op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id",
    row_id="node.id",
    where="node.aggr_id = :aggregation AND op.domain_id = :domain",
    default_sort="-gpu_time_ns",
    default_then="cpu_time_ns",
    joins=(
        *time_joins("node.node_time_metrics_id"),
        "JOIN dictionary AS direction ON direction.id = op.direction_id",
        "JOIN dictionary AS op_type ON op_type.id = op.op_type_id",
        "JOIN dictionary AS data_type ON data_type.id = op.data_type_id",
        "LEFT JOIN model_summary AS summary ON summary.aggr_id = node.aggr_id AND summary.domain_id = op.domain_id",
        "LEFT JOIN category_summary AS all_ops ON all_ops.id = summary.nodes_total_id",
        REASONS_JOIN,
        "LEFT JOIN ext_op_kernels AS kernels ON kernels.aggr_id = node.aggr_id AND kernels.read_only_ops_id = op.id",
    ),
    columns=(
        Column("name", "Op Name", "path", "Path of the op in the model.", "op.op_name", searchable=True),
        Column("op_id", "Op ID", "text", "Short name of the op.", "op.op_id", searchable=True, tier=2),
        Column("direction", "Direction", "text", "The pass of the network: forward or backward.",
               DIRECTION_SQL, tier=1),
        Column("op_type", "Op Type", "text", "What the op does.", "op_type.string", text_id="op.op_type_id",
               searchable=True, tier=2),
        Column("calls", "Calls", "integer", "How often the op was called.", "node.num_calls", tier=1),
        Column("gpu_time_ns", "GPU Time", "duration_ns",
               "Time during which at least one kernel, copy or set of the op ran on a GPU, over all its calls.",
               "gpu_time.sum"),
        Column("gpu_time_fraction", "Share", "fraction",
               "GPU time of the op over the sum of the GPU times of all ops.",
               "gpu_time.sum * 1.0 / nullif(all_ops.gpu_time, 0)", nullable=True),
        on_host(Column("cpu_time_ns", "CPU Time", "duration_ns",
                       "Time from the start to the end of the op on the host, over all its calls.", "cpu_time.sum",
                       tier=2)),
        Column("eligible", "TC Eligible", "boolean",
               "The op can use Tensor Cores: its type and data types allow it, or its kernels use them. Empty if "
               "that is unknown.", ELIGIBLE_OR_UNKNOWN, nullable=True, tier=2),
        Column("using_tensor_cores", "Using TC", "boolean",
               "At least one kernel of the op uses Tensor Cores; empty if that is unknown.", USING_OR_UNKNOWN,
               nullable=True, tier=2),
        Column("tensor_core_fraction", "On TC", "fraction",
               "Time of the op's kernels on Tensor Cores over the time of all its kernels; empty where it is unknown, "
               "and where the op is not eligible.",
               on_tensor_cores("kernels", "node.tc_eligible <> 0", "tc_kernel_ns"), nullable=True),
        *REASONS,
        Column("bound", "Bound by", "text",
               "What limits it: compute, memory, caches (data come faster than from memory), latency (kernels are too "
               "short), or communication.", BOUND, nullable=True),
        Column("gain_ns", "Could Gain", "duration_ns",
               "Kernel time of the op less the time that it would take at the GPU's published rates; for FP32 and "
               "TF32 matrix multiplications, at the 16-bit rates.", GAIN, nullable=True),
        Column("kernel_ns", "Kernel Time", "duration_ns", "Sum of the durations of the op's kernels.", _KERNEL_NS,
               nullable=True, hidden=True, tier=2),
        msgspec.structs.replace(UNRATED, sql=f"CASE WHEN {GAIN} IS NULL THEN {_KERNEL_NS} ELSE 0 END"),
        Column("kernel_calls", "Kernel Calls", "integer", "How many kernels the op launched.", "node.kernel_calls",
               tier=2),
        OF_OP,
        Column("data_type", "Data Type", "text", "Data type of the op's tensors.", "data_type.string",
               text_id="op.data_type_id", searchable=True, tier=2),
        Column("input_shapes", "Input Shapes", "text", "Shapes of the inputs of the first call, as JSON.",
               shown_shapes(SHAPES_OF_FIRST_CALL), nullable=True, sortable=False, filterable=False, tier=2),
        Column("stack_trace", "Stack Trace", "long_text",
               "Frames of the Python code that called the op, outermost first.", "op.stack_trace", sortable=False,
               searchable=True, tier=2),
    ),
)  # fmt: skip


class TopOp(TypedDict):
    """One op among those with the most GPU time."""

    op_id: str
    name: str
    op_type: str
    direction: str
    gpu_time_ns: int | None
    gpu_time_fraction: float | None
    calls: int | None
    eligible: bool | None
    """None (unknown) for CUDA graphs recorded as a whole, and for kernels without an op."""
    using_tensor_cores: bool | None
    """None also if none of its kernels is known to use Tensor Cores but some may."""


def top_ops(connection: sqlite3.Connection, scope: Scope, count: int = 10) -> list[TopOp]:
    """Up to ``count`` ops with the most GPU time, in descending order; ops without GPU time are left out."""
    wanted = PageRequest(limit=count, sort="-gpu_time_ns", where={"gpu_time_ns": ">0"})
    rows = page(connection, OPS, scope, wanted).rows
    return [cast("TopOp", {key: row[key] for key in TopOp.__annotations__}) for row in rows]


_TIMES = (
    ("gpu_time", "GPU Time", "time during which work of an op ran on a GPU"),
    ("cpu_time", "CPU Time", "time from the start to the end of an op on the host"),
    ("cpu_overhead", "CPU Overhead", "time of an op on the host outside of API calls"),
    ("gpu_idle", "GPU Idle", "gaps between the first and the last GPU work of an op"),
)

_STATISTICS = (
    ("", "sum", "Total", "Sum over all calls"),
    ("_average", "avg", "Avg.", "Mean over all calls"),
    ("_minimum", "min", "Min", "Smallest of all calls"),
    ("_maximum", "max", "Max", "Largest of all calls"),
)


def _time_columns() -> tuple[Column, ...]:
    """Total, mean, minimum and maximum of each time: the totals first."""
    columns = {
        (time, suffix): Column(
            f"{time}{suffix}_ns",
            f"{statistic} {label}",
            "duration_ns",
            f"{meaning}: {explanation}.",
            f"{time}.{field}",
            tier=2 if suffix else int(time != "gpu_time"),
        )
        for suffix, field, statistic, meaning in _STATISTICS
        for time, label, explanation in _TIMES
    }
    return tuple(on_host(column) if time.startswith("cpu") else column for (time, _), column in columns.items())


_TOTAL, *_OTHERS = _time_columns()

OP_TYPES = Table(
    name="op_types",
    key="op_type",
    base="op_type_metrics AS type",
    row_id="type.id",
    where="type.aggr_id = :aggregation AND type.domain_id = :domain",
    default_sort="-gpu_time_ns",
    joins=(
        "JOIN dictionary AS name ON name.id = type.op_node_type_id",
        *time_joins("type.op_type_metrics_id"),
        *TYPE_JOINS,
        "LEFT JOIN read_only_ops AS longest ON longest.id = ops.longest_id",
    ),
    columns=(
        Column("op_type", "Op Type", "text", "What the ops do.", "name.string", text_id="type.op_node_type_id",
               searchable=True),
        Column("ops", "No. Ops", "integer", "How many ops are of this type.", "type.num_nodes"),
        Column("calls", "No. Calls", "integer", "How often ops of this type were called.", "type.num_calls"),
        _TOTAL,
        Column("gpu_time_fraction", "Share", "fraction",
               "GPU time of the type over the sum of the GPU times of all ops.",
               "gpu_time.sum * 1.0 / nullif((SELECT all_ops.gpu_time FROM model_summary AS summary JOIN "
               "category_summary AS all_ops ON all_ops.id = summary.nodes_total_id WHERE summary.aggr_id = "
               "type.aggr_id AND summary.domain_id = type.domain_id), 0)", nullable=True),
        *OF_TYPE,
        *_OTHERS,
        Column("no_op", "No Op", "boolean",
               "Whether this is work that no op launched, of which DLProf calls the kernel its type.",
               "instr(longest.op_name, 'unassociated_') = 1", nullable=True, hidden=True, tier=2),
    ),
)  # fmt: skip
