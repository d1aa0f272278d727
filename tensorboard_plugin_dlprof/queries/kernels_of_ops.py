"""Tables of the kernels of several ops, by name."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.kernels import KERNEL_NAME, USES_TENSOR_CORES, USING_OR_UNKNOWN, calls_of_name
from tensorboard_plugin_dlprof.queries.kinds_of_work import OF_KERNEL_NAME
from tensorboard_plugin_dlprof.queries.table import Column, Table


def kernels_of_ops(name: str, ops: str, links: tuple[str, ...], narrowed: tuple[str, ...] = ()) -> Table:
    """The kernels that some ops launched.

    Args:
        name: of the table.
        ops: condition for these ops, ``read_only_ops AS op``.
        links: parameters of the condition.
        narrowed: its parameters that may be missing.
    """
    kernels = (
        "FROM kernel_summaries AS summary JOIN read_only_ops AS op ON op.id = summary.read_only_ops_id "
        "JOIN metric AS gpu ON gpu.id = summary.gpu_time_metric_id "
        f"WHERE summary.aggr_id = :aggregation AND summary.domain_id = :domain AND {ops}"
    )
    summed = (
        "SELECT min(summary.id) AS id, summary.kernel_name_id AS kernel_name_id, "
        # The subquery skips the names of ops without unknown kernels.
        "CASE WHEN max(summary.uses_tc) THEN 1 WHEN NOT max(EXISTS (SELECT 1 FROM ext_op_kernels AS of_op "
        "WHERE of_op.aggr_id = summary.aggr_id AND of_op.read_only_ops_id = summary.read_only_ops_id "
        f"AND of_op.unknown_kernels > 0) AND ({USING_OR_UNKNOWN}) IS NULL) THEN 0 END AS uses_tc, "
        "count(*) AS ops, sum(gpu.count) AS calls, sum(gpu.sum) AS total, min(gpu.min) AS least, max(gpu.max) AS most "
        f"{kernels} GROUP BY summary.kernel_name_id"
    )
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
            *calls_of_name("kernel.calls"),
            Column("gpu_time_fraction", "Share", "fraction",
                   "GPU time of the kernel over the sum of the GPU times of all kernels of the group.",
                   f"kernel.total * 1.0 / nullif((SELECT sum(gpu.sum) {kernels}), 0)", nullable=True),
            OF_KERNEL_NAME,
        ),
    )  # fmt: skip
