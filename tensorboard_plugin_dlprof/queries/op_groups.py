"""Ops summed over the repetitions of a model: by the pattern of their path, or by their own name."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.queries.kinds_of_work import (
    KERNEL_SUMS,
    KERNELS_JOIN,
    ON_TENSOR_CORES,
    family,
    family_column,
)
from tensorboard_plugin_dlprof.queries.reasons import REASONS_JOIN, cause_in_words
from tensorboard_plugin_dlprof.queries.table import Column, Table


def _summed(own_name: int) -> str:
    """One row per group of ops.

    Columns without an aggregate are those of the op with the most GPU time, which SQLite promises for a query with a
    single ``max``.
    """
    return (
        f"SELECT node.id AS id, path_pattern(op.op_name, {own_name}) AS pattern, op.direction_id AS direction_id, "
        "op.op_type_id AS op_type_id, op.op_id AS op_id, count(*) AS ops, sum(node.num_calls) AS calls, "
        "sum(node.kernel_calls) AS kernel_calls, sum(gpu.sum) AS gpu_ns, sum(cpu.sum) AS cpu_ns, "
        f"{KERNEL_SUMS}, sum(node.tc_eligible <> 0 OR node.using_tc <> 0) AS eligible, "
        "sum(op.id IN (SELECT read_only_ops_id FROM ext_graph_launches)) AS graphs, "
        "rate.bound AS bound, rate.cause AS cause, rate.family AS family, "
        "sum(rate.measured_ns - rate.best_ns) AS gain_ns, max(gpu.sum) AS most_ns "
        "FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
        "JOIN node_time_metrics AS times ON times.id = node.node_time_metrics_id "
        "JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id "
        "JOIN metric AS cpu ON cpu.id = times.cpu_time_metric_id "
        f"{KERNELS_JOIN} {REASONS_JOIN} "
        "WHERE node.aggr_id = :aggregation AND op.domain_id = :domain GROUP BY pattern, op.direction_id"
    )


_ALL_OPS = (
    "SELECT all_ops.gpu_time FROM model_summary AS summary JOIN category_summary AS all_ops "
    "ON all_ops.id = summary.nodes_total_id WHERE summary.aggr_id = :aggregation AND summary.domain_id = :domain"
)

_NAME = {
    0: Column("name", "Op Name", "path",
              "Path of the ops, with # for numbers that only count repetitions, and without indices.", "ops.pattern",
              searchable=True),
    1: Column("name", "Op", "text", "Name of the ops without their path.", "ops.pattern", searchable=True),
}  # fmt: skip

_COLUMNS = (
    Column("direction", "Direction", "text", "fprop in the forward pass, bprop in the backward pass.",
           "direction.string", nullable=True),
    Column("ops", "Ops", "integer", "How many ops of the model the row stands for.", "ops.ops"),
    Column("calls", "Calls", "integer", "How often these ops were called.", "ops.calls", tier=1),
    Column("gpu_time_ns", "GPU Time", "duration_ns",
           "Time during which work of an op ran on a GPU, summed over the ops and their calls.", "ops.gpu_ns"),
    Column("gpu_time_fraction", "Share", "fraction", "GPU time over the sum of the GPU times of all ops.",
           f"ops.gpu_ns * 1.0 / nullif(({_ALL_OPS}), 0)", nullable=True),
    ON_TENSOR_CORES,
    Column("bound", "Bound by", "text",
           "What limits the op that takes the most time: compute, memory, caches (data come faster than from "
           "memory), or latency (kernels are too short).", "nullif(ops.bound, '')", nullable=True),
    Column("gain_ns", "Could Gain", "duration_ns",
           "Kernel time less the time that it would take at the GPU's published rates.", "ops.gain_ns", nullable=True),
    Column("cause", "Cause", "text", "Why the eligible op that takes the most time does not use Tensor Cores well.",
           cause_in_words("ops.cause"), nullable=True, tier=1),
    family_column("the op that takes the most time",
                  family("ops.kernel_calls", "ops.gpu_ns", "ops.graphs", "ops.family")),
    Column("op_type", "Op Type", "text", "What the op that takes the most time does.", "op_type.string",
           searchable=True, hidden=True, tier=1),
    Column("cpu_time_ns", "CPU Time", "duration_ns", "Time of the ops on the host.", "ops.cpu_ns", hidden=True, tier=1),
    Column("kernel_calls", "Kernel Calls", "integer", "How many kernels the ops launched.", "ops.kernel_calls",
           hidden=True, tier=1),
    Column("eligible_ops", "TC Eligible Ops", "integer", "How many of the ops could use Tensor Cores.", "ops.eligible",
           hidden=True, tier=2),
    Column("longest_op", "Longest Op", "text", "The op that takes the most GPU time.", "ops.op_id", hidden=True,
           tier=2),
)  # fmt: skip


def _table(name: str, own_name: int) -> Table:
    return Table(
        name=name,
        key="key",
        base=f"({_summed(own_name)}) AS ops",
        row_id="ops.id",
        where="1",
        default_sort="-gpu_time_ns",
        default_then="cpu_time_ns",
        joins=(
            "LEFT JOIN dictionary AS direction ON direction.id = ops.direction_id",
            "LEFT JOIN dictionary AS op_type ON op_type.id = ops.op_type_id",
        ),
        columns=(
            _NAME[own_name],
            *_COLUMNS,
            Column("key", "Row", "text", "Identifies the row.", "ops.pattern || ' ' || ifnull(direction.string, '')",
                   hidden=True, tier=2),
        ),
    )  # fmt: skip


OP_PATHS = _table("op_paths", 0)
"""Ops by the pattern of their path and their direction."""

OP_NAMES = _table("op_names", 1)
"""Ops by their own name and their direction."""

_DIRECTION = "ifnull((SELECT string FROM dictionary WHERE id = op.direction_id), '')"

_MEMBERS = {
    "ops_of_path": f"path_pattern(op.op_name, 0) || ' ' || {_DIRECTION} = :row",
    "ops_of_name": f"path_pattern(op.op_name, 1) || ' ' || {_DIRECTION} = :row",
    "ops_of_type": "op.op_type_id IN (SELECT id FROM dictionary WHERE string = :row)",
}


def members(name: str, table: Table) -> Table:
    """The ops that a row of another table sums, given by its key as the link ``row``.

    Args:
        name: ``ops_of_path``, ``ops_of_name`` or ``ops_of_type``, for rows of ``op_paths``, ``op_names``, ``op_types``.
        table: the table of all ops.
    """
    return msgspec.structs.replace(table, name=name, where=f"{table.where} AND {_MEMBERS[name]}", links=("row",))
