"""Tables of the kernels of several ops, by name."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.classify.vocabulary import LAYOUT_CHANGES, PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.queries import limits_of_groups as limits
from tensorboard_plugin_dlprof.queries.kernels import KERNEL_NAME, USES_TENSOR_CORES, USING_OR_UNKNOWN, calls_of_name
from tensorboard_plugin_dlprof.queries.kinds_of_work import OF_KERNEL_NAME
from tensorboard_plugin_dlprof.queries.reasons import KEPT_OFF_TIME
from tensorboard_plugin_dlprof.queries.table import Column, Table

_CHANGES_THE_LAYOUT = " OR ".join(f"instr(lower(name.string), '{part}')" for part in LAYOUT_CHANGES)

_KEPT_OFF_NS = (
    "CASE WHEN kernel.uses_tc IS NOT 0 THEN 0 "
    f"WHEN ({OF_KERNEL_NAME.sql}) IN {PRODUCT_FAMILIES} THEN kernel.eligible_ns "
    f"WHEN {_CHANGES_THE_LAYOUT} THEN kernel.layout_ns ELSE 0 END"
)
"""As ``OpEfficiency.kept_off_ns`` counts it, of kernels of one name."""


def kernels_of_ops(name: str, ops: str, links: tuple[str, ...], narrowed: tuple[str, ...] = ()) -> Table:
    """The kernels that some ops launched.

    Args:
        ops: condition for these ops, ``read_only_ops AS op``.
        links: parameters of the condition.
        narrowed: its parameters that may be missing.
    """
    kernels = (
        "FROM kernel_summaries AS summary JOIN read_only_ops AS op ON op.id = summary.read_only_ops_id "
        "JOIN metric AS gpu ON gpu.id = summary.gpu_time_metric_id "
        "LEFT JOIN ext_op_efficiency AS rate ON rate.aggr_id = summary.aggr_id AND rate.read_only_ops_id = op.id "
        f"WHERE summary.aggr_id = :aggregation AND summary.domain_id = :domain AND {ops}"
    )
    summed = (
        "SELECT min(summary.id) AS id, summary.kernel_name_id AS kernel_name_id, "
        # The subquery skips the names of ops without unknown kernels.
        "CASE WHEN max(summary.uses_tc) THEN 1 WHEN NOT max(EXISTS (SELECT 1 FROM ext_op_kernels AS of_op "
        "WHERE of_op.aggr_id = summary.aggr_id AND of_op.read_only_ops_id = summary.read_only_ops_id "
        f"AND of_op.unknown_kernels > 0) AND ({USING_OR_UNKNOWN}) IS NULL) THEN 0 END AS uses_tc, "
        "count(*) AS ops, sum(gpu.count) AS calls, sum(gpu.sum) AS total, min(gpu.min) AS least, max(gpu.max) AS most, "
        "sum(CASE WHEN rate.cause NOT IN ('', 'no_name') THEN gpu.sum ELSE 0 END) AS eligible_ns, "
        "sum(CASE WHEN rate.cause = 'layout' THEN gpu.sum ELSE 0 END) AS layout_ns, "
        f"{limits.TIMES_BY_BOUND} "
        f"{kernels} GROUP BY summary.kernel_name_id"
    )
    calls, time, *durations = calls_of_name("kernel.calls")
    return Table(
        name=name,
        key="name",
        base=f"({summed}) AS kernel",
        row_id="kernel.id",
        where="1",
        links=links,
        narrowed=narrowed,
        default_sort="-gpu_time_ns",
        joins=("JOIN dictionary AS name ON name.id = kernel.kernel_name_id",),
        columns=(
            KERNEL_NAME,
            USES_TENSOR_CORES,
            Column("ops", "Ops", "integer", "How many ops of the group launched the kernel.", "kernel.ops"),
            calls,
            time,
            Column("gpu_time_fraction", "Share", "fraction",
                   "GPU time of the kernel over the sum of the GPU times of all kernels of the group.",
                   f"kernel.total * 1.0 / nullif((SELECT sum(gpu.sum) {kernels}), 0)", nullable=True),
            Column("bound", "Bound by", "text", "What limits the ops of most of its time: compute, memory, ...",
                   limits.bound_of_most("kernel", "kernel.total"), nullable=True),
            *durations,
            msgspec.structs.replace(KEPT_OFF_TIME, sql=_KEPT_OFF_NS),
            OF_KERNEL_NAME,
        ),
    )  # fmt: skip
