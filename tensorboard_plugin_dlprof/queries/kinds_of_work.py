"""What the work of a row mostly is, and how much of it is on Tensor Cores: the columns that colour the bars of charts.

The kind is the family of the op, or of the kernel, that takes the most time, from ``classify/``; ``NO_KERNELS``
where GPU time is of copies and sets alone.
"""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.queries import limits_of_groups as limits
from tensorboard_plugin_dlprof.queries.kernels import CLASS_COLUMNS, LONG_NAME_ID
from tensorboard_plugin_dlprof.queries.table import Column
from tensorboard_plugin_dlprof.queries.unknown_kernels import at_least_sql

NO_KERNELS = "copies and memsets"
"""A family that no kernel has: "copy" is that of kernels that copy, whose time is that of kernels."""


def family_column(subject: str, sql: str) -> Column:
    """The column of a table of ops.

    Args:
        subject: the op that is meant.
        sql: its value, see ``family``.
    """
    return Column("family", "Kind", "text",
                  f"What {subject} mostly is: gemm, collective, ...; {NO_KERNELS} if no kernel was launched.", sql,
                  nullable=True, hidden=True, tier=2)  # fmt: skip


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

PATTERNS = "op_pattern_sums AS sums JOIN read_only_ops AS first ON first.id = sums.first_ops_id"
"""Of few rows: the ops of a large model do a few hundred different things."""

PATTERNS_OF_SCOPE = "sums.aggr_id = :aggregation AND first.domain_id = :domain"

PATTERN_SUMS = (
    "sum(sums.ops) AS ops, sum(sums.calls) AS calls, sum(sums.kernel_calls) AS kernel_calls, "
    "sum(sums.gpu_ns) AS gpu_ns, sum(sums.cpu_ns) AS cpu_ns, sum(sums.kernel_ns) AS kernel_ns, "
    "sum(sums.tc_kernel_ns) AS tc_ns, sum(sums.unknown_ns) AS unknown_ns, sum(sums.eligible_ops) AS eligible_ops, "
    "sum(sums.graph_ops) AS graph_ops, sum(sums.gain_ns) AS gain_ns, "
    "sums.longest_ops_id AS longest_id, max(sums.longest_ns) AS longest_ns"
)
"""Columns without an aggregate are those of the row with the only max."""

EFFICIENCY_OF_LONGEST = (
    "LEFT JOIN ext_op_efficiency AS rate ON rate.aggr_id = :aggregation AND rate.read_only_ops_id = ops.longest_id"
)
"""For groups of ops, from ``PATTERN_SUMS`` under the alias ``ops``."""


COLLECTIVE = "ifnull(rate.family, '') = 'collective'"
"""Condition that an op, or the longest of a group, communicates: nothing of it could be on Tensor Cores."""


def on_tensor_cores(sums: str, eligible: str, used: str = "tc_ns") -> str:
    """Expression for the share of kernel time on Tensor Cores, for the alias of the sums; NULL of collectives, and
    where it is 0 and no op is ``eligible``, a condition: nobody misses there what could not be."""
    known = f"({sums}.{used} > 0 OR {sums}.unknown_ns = 0 AND {eligible}) AND NOT {COLLECTIVE}"
    return f"CASE WHEN {known} THEN {sums}.{used} * 1.0 / nullif({sums}.kernel_ns, 0) END"


BOUND = f"CASE WHEN {COLLECTIVE} THEN 'communication' ELSE nullif(rate.bound, '') END"
"""Expression for what limits ``ext_op_efficiency AS rate``."""


_ON_TENSOR_CORES = on_tensor_cores("ops", "ops.eligible_ops > 0")

ON_TENSOR_CORES = Column("tensor_core_fraction", "On TC", "fraction",
                         "Time of kernels on Tensor Cores over the time of all kernels of these ops; empty where it is "
                         "unknown, and where no op is eligible.", _ON_TENSOR_CORES, nullable=True)  # fmt: skip

_KERNEL_NS = "CASE WHEN ops.graph_ops = 0 THEN nullif(ops.kernel_ns, 0) END"

KERNEL_TIME = Column("kernel_time_ns", "Kernel Time", "duration_ns",
                     "Time of the kernels of these ops, without copies and memsets; empty without kernels, and with "
                     "CUDA graphs recorded as a whole.", _KERNEL_NS, nullable=True, hidden=True)  # fmt: skip

ELIGIBLE_OPS = Column("eligible_ops", "TC Eligible Ops", "integer",
                      "How many of the ops could use Tensor Cores; empty if none is known to be eligible but some may "
                      "be.", at_least_sql("ops.eligible_ops", "ops.unknown_ns > 0 OR ops.graph_ops > 0"),
                      nullable=True, hidden=True, tier=2)  # fmt: skip

OF_TYPE = (
    ON_TENSOR_CORES,
    limits.BOUND,
    limits.GAIN,
    limits.UNRATED,
    limits.CAUSE,
    limits.KEPT_OFF_TIMES,
    *limits.BOUND_TIMES,
    KERNEL_TIME,
    ELIGIBLE_OPS,
    family_column("the op of the type that takes the most time",
                  family("ops.kernel_calls", "ops.gpu_ns", "ops.graph_ops", "rate.family")),
)  # fmt: skip
"""Columns of types of ops, which need ``TYPE_JOINS``."""

TYPE_JOINS = (
    f"LEFT JOIN (SELECT first.op_type_id AS type_id, {PATTERN_SUMS} FROM {PATTERNS} WHERE {PATTERNS_OF_SCOPE} "
    "GROUP BY first.op_type_id) AS ops ON ops.type_id = type.op_node_type_id",
    EFFICIENCY_OF_LONGEST,
    *limits.limits_joins({"type_id": "first.op_type_id"}),
)
"""For ``op_type_metrics AS type``."""

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
