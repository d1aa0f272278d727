"""The table of kernels of one op, by name."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.queries.table import Column, Table

OCCUPANCY = Column("occupancy_fraction", "Occupancy", "fraction",
                   "Theoretical: warps that fit on a multiprocessor, of those that it can hold; mean by time.",
                   "rate.occupancy_fraction", nullable=True)  # fmt: skip

ACHIEVED_OCCUPANCY = Column("achieved_fraction", "Achieved Occupancy", "fraction",
                            "Warps that were resident, of those that the GPU can hold: measured by counters, else "
                            "estimated by the profiler from the number of blocks; mean by time.",
                            "rate.achieved_fraction", nullable=True)  # fmt: skip

WAVES = Column("waves", "Waves", "number", "How often a launch fills the GPU with blocks; mean by time.", "rate.waves",
               nullable=True)  # fmt: skip

TAIL = Column("tail_fraction", "Tail Effect", "fraction",
              "Block slots that stay empty in the last wave, of those of all waves; mean by time.",
              "rate.tail_fraction", nullable=True)  # fmt: skip


_OF_NAME = "kernel.read_only_ops_id = summary.read_only_ops_id AND kernel.name_id = summary.kernel_name_id"


LONG_NAME_ID = f"(SELECT min(kernel.long_name_id) FROM launches AS kernel WHERE {_OF_NAME})"
"""A full name of the kernels of ``kernel_summaries AS summary``, taken from the distinct launches, not from the
kernels, of which a million may have the same name."""

KERNEL_NAME = Column("name", "Kernel Name", "kernel_name",
                     "Name of the kernel without template arguments and parameters.", "name.string",
                     searchable=True)  # fmt: skip
"""For tables that join the dictionary as ``name``."""

USES_TENSOR_CORES = Column("using_tensor_cores", "Using TC", "boolean",
                           "Some kernel of this name uses Tensor Cores; empty if that is unknown.", "kernel.uses_tc",
                           nullable=True)  # fmt: skip
"""For tables with a row per name, whose base is ``kernel``."""


def calls_of_name(calls: str, where: str = "") -> tuple[Column, ...]:
    """The calls of the kernels of a name, likewise, from their number, and ``total``, ``least`` and ``most`` (ns)."""
    return (
        Column("calls", "Calls", "integer", f"How often the kernel ran{where}.", calls),
        Column("gpu_time_ns", "GPU Time", "duration_ns", "Sum of the durations of all calls.", "kernel.total"),
        Column("average_ns", "Average", "duration_ns", "Mean duration of a call.",
               f"kernel.total * 1.0 / nullif({calls}, 0)", nullable=True),
        Column("minimum_ns", "Minimum", "duration_ns", "Shortest call.", "kernel.least", tier=1),
        Column("maximum_ns", "Maximum", "duration_ns", "Longest call.", "kernel.most", tier=1),
    )  # fmt: skip


USING_OR_UNKNOWN = (
    "CASE WHEN summary.uses_tc IS NULL OR summary.uses_tc THEN summary.uses_tc "
    "WHEN EXISTS (SELECT 1 FROM ext_kernel_names AS unsure WHERE unsure.matrix_unit = 2 "
    f"AND EXISTS (SELECT 1 FROM launches AS kernel WHERE {_OF_NAME} "
    "AND kernel.long_name_id = unsure.name_id)) THEN NULL ELSE 0 END"
)
"""Whether a kernel uses Tensor Cores; NULL if that is unknown for some launch of the name."""


_COUNTED = (
    "FROM ext_op_ranges AS lie CROSS JOIN ext_kernel_counters AS counted "
    "ON counted.kernel_id BETWEEN lie.first_kernel_id AND lie.first_kernel_id + lie.kernels - 1 "
    "CROSS JOIN kernels AS one ON one.id = counted.kernel_id "
    "CROSS JOIN launches AS kernel ON kernel.id = one.launch_id "
    f"WHERE lie.read_only_ops_id = summary.read_only_ops_id AND {_OF_NAME}"
)

CLASS_COLUMNS = {
    key: Column(key, label, "text", meaning, f"class.{key}", nullable=True)
    for key, label, meaning in (
        ("family", "Kind", "What the kernel computes, by its name."),
        ("library", "Library", "Who wrote the kernel, by its name."),
        ("precision", "Precision", "Precision of its math, by its name."),
        ("accumulator", "Accumulator", "Type in which the kernel adds up what it multiplies, by its name."),
        ("architecture", "Written for", "GPU generation that the kernel was written for, by its name."),
        ("rule", "Rule", "Rule that classified the kernel by its name, or the counter that proved it."),
    )
}
"""What the name of a kernel reveals. For tables that join ``ext_kernel_names`` as ``class``."""

_MORE_COLUMNS = (
    OCCUPANCY,
    Column("limiter", "Occupancy Limiter", "text",
           "What keeps more blocks from a multiprocessor: its warps, its block slots, registers or shared memory.",
           "nullif(replace(rate.limiter, '_', ' '), '')", nullable=True),
    msgspec.structs.replace(ACHIEVED_OCCUPANCY, key="achieved_occupancy_fraction"),
    WAVES,
    TAIL,
    Column("dram_bytes", "Memory Traffic", "bytes",
           "Bytes that a call read from and wrote to device memory, measured by a counter; mean over the calls.",
           f"SELECT CAST(round(avg(counted.dram_bytes)) AS INTEGER) {_COUNTED}", nullable=True, sortable=False,
           filterable=False),
    *CLASS_COLUMNS.values(),
)  # fmt: skip

KERNELS_OF_OP = Table(
    name="kernels_of_op",
    key="name",
    base="kernel_summaries AS summary JOIN read_only_ops AS op ON op.id = summary.read_only_ops_id",
    row_id="summary.id",
    where="summary.aggr_id = :aggregation AND summary.domain_id = :domain AND op.domain_id = :domain "
    "AND op.op_id_id = (SELECT id FROM dictionary WHERE string = :op)",
    links=("op",),
    default_sort="-gpu_time_ns",
    joins=(
        "JOIN metric AS gpu ON gpu.id = summary.gpu_time_metric_id",
        "JOIN dictionary AS name ON name.id = summary.kernel_name_id",
        f"LEFT JOIN ext_kernel_names AS class ON class.name_id = {LONG_NAME_ID}",
        "LEFT JOIN ext_kernel_efficiency AS rate ON rate.aggr_id = summary.aggr_id "
        "AND rate.read_only_ops_id = summary.read_only_ops_id AND rate.kernel_name_id = summary.kernel_name_id",
    ),
    columns=(
        KERNEL_NAME,
        Column("long_name", "Full Name", "kernel_name",
               "Name with template arguments and parameters; one of them where several share the short name.",
               f"SELECT text.string FROM dictionary AS text WHERE text.id = {LONG_NAME_ID}", sortable=False,
               filterable=False, hidden=True),
        Column("using_tensor_cores", "Using TC", "boolean", "The kernel uses Tensor Cores; empty if that is unknown.",
               USING_OR_UNKNOWN, nullable=True),
        Column("calls", "Calls", "integer", "How often the kernel ran.", "gpu.count"),
        Column("gpu_time_ns", "GPU Time", "duration_ns", "Sum of the durations of all calls.", "gpu.sum"),
        Column("average_ns", "Average", "duration_ns", "Mean duration of a call.", "gpu.avg"),
        Column("minimum_ns", "Minimum", "duration_ns", "Shortest call.", "gpu.min", tier=1),
        Column("maximum_ns", "Maximum", "duration_ns", "Longest call.", "gpu.max", tier=1),
        Column("gpu_time_fraction", "Share of Op", "fraction",
               "GPU time of the kernel over the sum of the GPU times of all kernels of the op.",
               "gpu.sum * 1.0 / nullif((SELECT sum(metric.sum) FROM kernel_summaries AS other JOIN metric ON "
               "metric.id = other.gpu_time_metric_id WHERE other.aggr_id = summary.aggr_id AND other.domain_id = "
               "summary.domain_id AND other.read_only_ops_id = summary.read_only_ops_id), 0)", nullable=True),
        *(msgspec.structs.replace(column, hidden=True) for column in _MORE_COLUMNS),
    ),
)  # fmt: skip
"""The table of kernels of the op given by the link ``op``."""
