"""The table of iterations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import msgspec

from tensorboard_plugin_dlprof.queries.table import Column, Table
from tensorboard_plugin_dlprof.queries.unknown_kernels import OF_ITERATION, UNKNOWN_PART, at_least_sql

_BUSY = "(part.tc_duration + part.non_tc_duration)"
_LENGTH = (
    "(part.tc_duration + part.non_tc_duration + part.memory_duration + part.dataloader_duration + part.io_duration "
    "+ part.cpu_duration + part.other_duration)"
)
"""The parts add up to the length of the iteration, and an index holds their sum."""


def _part(key: str, label: str, meaning: str, column: str) -> Column:
    return Column(key, label, "duration_ns", meaning, f"part.{column}", hidden=True)


ITERATIONS = Table(
    name="iterations",
    key="iteration",
    base="iteration_aggregation_list AS part",
    row_id="part.id",
    where=(
        "part.aggr_id = :aggregation AND EXISTS (SELECT 1 FROM model_summary AS summary "
        "WHERE summary.aggr_id = :aggregation AND summary.domain_id = :domain)"
    ),
    joins=(
        "LEFT JOIN iteration_list AS iteration "
        "ON iteration.aggr_id = part.aggr_id AND iteration.iter_value = part.iter_value",
        "LEFT JOIN kernel_iteration_stats AS stats ON stats.aggr_id = part.aggr_id "
        "AND stats.domain_id = :domain AND stats.iter_value = part.iter_value",
        OF_ITERATION,
    ),
    default_sort="iteration",
    total="SELECT iter_aggregated FROM model_summary WHERE aggr_id = :aggregation AND domain_id = :domain",
    columns=(
        Column("iteration", "Iteration", "integer", "Number of the iteration.", "part.iter_value"),
        Column("start_ns", "Timestamp", "duration_ns", "When the iteration started.", "iteration.start_time",
               order="part.iter_value", tier=1),
        Column("duration_ns", "Duration", "duration_ns", "How long the iteration took.", _LENGTH),
        Column("kernels", "Total Kernels", "integer", "Kernels of the iteration.", "stats.total_count"),
        Column("tensor_core_kernels", "TC Kernels", "integer", "Kernels that use Tensor Cores.", "stats.uses_tc_count"),
        Column("gpu_time_ns", "Average GPU Time", "duration_ns",
               "Time with a kernel running, overlap counted once, average over all GPUs in use.", _BUSY),
        Column("gpu_time_fraction", "GPU Time Share", "fraction",
               "Average GPU time over the duration of the iteration.", f"{_BUSY} * 1.0 / nullif({_LENGTH}, 0)",
               nullable=True),
        Column("tensor_core_time_ns", "Average TC GPU Time", "duration_ns",
               "Time with a Tensor Core kernel running, overlap counted once, average over all GPUs in use.",
               "part.tc_duration"),
        Column("tensor_core_time_fraction", "TC GPU Time Share", "fraction",
               "Average Tensor Core GPU time over the duration of the iteration.",
               f"part.tc_duration * 1.0 / nullif({_LENGTH}, 0)", nullable=True),
        _part("other_kernel_ns", "Other Kernels", "Time with other kernels alone.", "non_tc_duration"),
        _part("memory_ns", "Memory", "Time with copies and sets, without kernels.", "memory_duration"),
        _part("data_loader_ns", "Data Loader", "Time of the data loader, without GPU work.", "dataloader_duration"),
        _part("io_ns", "I/O", "Time of input and output, outside all parts before it.", "io_duration"),
        _part("cpu_ns", "CPU", "Time of ops on the host, outside all parts before it.", "cpu_duration"),
        _part("other_ns", "Other", "The rest of the duration.", "other_duration"),
        Column("kernel_time_ns", "Total Kernel Time", "duration_ns",
               "Plain sum of the durations of the kernels on all GPUs.", "stats.total_gpu_time", hidden=True),
        Column("tensor_core_kernel_time_ns", "Total TC Kernel Time", "duration_ns",
               "Plain sum of the durations of the Tensor Core kernels on all GPUs.", "stats.tc_gpu_time", hidden=True),
    ),
)  # fmt: skip

_OF_RESOURCE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tensor_core": (
            *("tensor_core_kernels", "tensor_core_time_ns", "tensor_core_time_fraction", "tensor_core_kernel_time_ns"),
            *("gpu_time_ns", "gpu_time_fraction"),
        ),
        "other_kernel": ("other_kernel_ns",),
        "memory": ("memory_ns",),
        "data_loader": ("data_loader_ns",),
        "io": ("io_ns",),
    }
)
"""The columns that are unknown if the recording could not contain a part of the wall time."""


def iterations(unknown: bool = False, unrecorded: Collection[str] = ()) -> Table:
    """The table of aggregated iterations.

    Args:
        unknown: whether some of its kernels may use Tensor Cores, or it has CUDA graphs recorded as a whole.
        unrecorded: parts of the wall time that the recording could not contain.
    """
    table = _with_unknown(ITERATIONS) if unknown else ITERATIONS
    silent = {key for resource in unrecorded for key in _OF_RESOURCE.get(resource, ())}
    return msgspec.structs.replace(
        table, columns=tuple(_unknown_column(column) if column.key in silent else column for column in table.columns)
    )


def _unknown_column(column: Column) -> Column:
    """The column with NULL in all rows."""
    description = f"{column.description} Empty: this recording could not hold it."
    return msgspec.structs.replace(
        column, description=description, sql="NULL", nullable=True, sortable=False, filterable=False
    )


_UNKNOWN = "kernels whose Tensor Core use is unknown"
_MAY_USE = f"{_UNKNOWN}, or CUDA graphs recorded as a whole"

_UNKNOWN_COLUMNS = (
    Column("unknown_kernel_ns", "Unknown GPU Time", "duration_ns",
           f"Time with {_MAY_USE}, running, and no kernel that is known to use Tensor Cores. TC GPU time may be longer "
           "by up to this.", UNKNOWN_PART),
    Column("unknown_kernels", "Unknown Kernels", "integer", f"Of the kernels of the iteration, {_UNKNOWN}.",
           "coalesce(unknown.unknown_kernels, 0)", hidden=True),
    Column("unknown_kernel_time_ns", "Total Unknown Kernel Time", "duration_ns",
           f"Plain sum of the durations of {_UNKNOWN}, on all GPUs.", "coalesce(unknown.unknown_kernel_ns, 0)",
           hidden=True),
)  # fmt: skip

_BY_CLOCK = "coalesce(unknown.unknown_part_ns, 0) > 0"
_BY_LAUNCH = "coalesce(unknown.unknown_kernels + unknown.graphs, 0) > 0"
"""Conditions that the Tensor Core use is unknown for some of the work that ran during the iteration (``_BY_CLOCK``), or
that the ops of the iteration launched (``_BY_LAUNCH``)."""


def _with_unknown(table: Table) -> Table:
    columns = []
    for column in table.columns:
        if column.key in ("tensor_core_time_ns", "tensor_core_time_fraction"):
            column = _least(column, "part.tc_duration", _BY_CLOCK)
        elif column.key in ("tensor_core_kernels", "tensor_core_kernel_time_ns"):
            column = _least(column, column.sql, _BY_LAUNCH)
        elif column.key == "other_kernel_ns":
            column = msgspec.structs.replace(column, sql=f"{column.sql} - {UNKNOWN_PART}")
        columns.append(column)
        if column.key == "tensor_core_time_fraction":
            columns += _UNKNOWN_COLUMNS
    return msgspec.structs.replace(table, columns=tuple(columns))


def _least(column: Column, known: str, may_be_more: str) -> Column:
    """The column as a lower bound: NULL if ``known`` is 0 and the condition ``may_be_more`` holds."""
    at_least = at_least_sql(known, may_be_more)
    is_fraction = column.type == "fraction"
    return msgspec.structs.replace(
        column,
        sql=f"{at_least} * 1.0 / nullif({_LENGTH}, 0)" if is_fraction else at_least,
        description=f"{column.description} A lower bound if there are {_MAY_USE}; then empty instead of 0.",
        nullable=True,
    )
