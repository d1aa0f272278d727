"""The table of iterations, and those of the ops and kernels of one iteration, of its ops by path and its kernels by
name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from tensorboard_plugin_dlprof.classify.kernel_names import WRAPPERS
from tensorboard_plugin_dlprof.queries.kernels import CLASS_COLUMNS, KERNEL_NAME, USES_TENSOR_CORES, calls_of_name
from tensorboard_plugin_dlprof.queries.op_groups import DIRECTION, DIRECTION_JOIN, KEY, PATH
from tensorboard_plugin_dlprof.queries.ops import OPS
from tensorboard_plugin_dlprof.queries.table import Column, Lookup, Table, from_clause
from tensorboard_plugin_dlprof.queries.unknown_kernels import MAY_USE, OF_ITERATION, UNKNOWN_PART, at_least_sql

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
        Column("start_ns", "Timestamp", "duration_ns",
               "When the iteration started, since the start of the recording.", "iteration.start_time",
               order="part.iter_value", tier=1),
        Column("duration_ns", "Duration", "duration_ns", "How long the iteration took.", _LENGTH),
        Column("kernels", "Kernels Launched", "integer",
               "Kernels that the iteration launched, of which the last may run in the next one.", "stats.total_count"),
        Column("tensor_core_kernels", "TC Kernels Launched", "integer",
               "Kernels that it launched and that use Tensor Cores.", "stats.uses_tc_count"),
        Column("gpu_time_ns", "Average GPU Time", "duration_ns",
               "Time in the iteration with a kernel running, wherever it was launched, overlap counted once, average "
               "over all GPUs in use.", _BUSY),
        Column("gpu_time_fraction", "GPU Time Share", "fraction",
               "Average GPU time over the duration of the iteration.", f"{_BUSY} * 1.0 / nullif({_LENGTH}, 0)",
               nullable=True),
        Column("tensor_core_time_ns", "Average TC GPU Time", "duration_ns",
               "Time in the iteration with a Tensor Core kernel running, wherever it was launched, overlap counted "
               "once, average over all GPUs in use.", "part.tc_duration"),
        Column("tensor_core_time_fraction", "TC GPU Time Share", "fraction",
               "Average Tensor Core GPU time over the duration of the iteration.",
               f"part.tc_duration * 1.0 / nullif({_LENGTH}, 0)", nullable=True),
        _part("other_kernel_ns", "Other Kernels", "Time with other kernels alone.", "non_tc_duration"),
        _part("memory_ns", "Memory", "Time with copies and memsets, without kernels.", "memory_duration"),
        _part("data_loader_ns", "Data Loader", "Time of the data loader, without GPU work.", "dataloader_duration"),
        _part("io_ns", "I/O", "Time of input and output, outside all parts before it.", "io_duration"),
        _part("cpu_ns", "CPU", "Time of ops on the host, outside all parts before it.", "cpu_duration"),
        _part("other_ns", "Other", "The rest of the duration.", "other_duration"),
        Column("kernel_time_ns", "Total Kernel Time", "duration_ns",
               "Plain sum of the durations of the kernels that it launched, on all GPUs.", "stats.total_gpu_time",
               hidden=True),
        Column("tensor_core_kernel_time_ns", "Total TC Kernel Time", "duration_ns",
               "Plain sum of the durations of the Tensor Core kernels that it launched, on all GPUs.",
               "stats.tc_gpu_time", hidden=True),
    ),
)  # fmt: skip

_OF_RESOURCE: Mapping[str, tuple[str, ...]] = {
    "tensor_core": (
        *("tensor_core_kernels", "tensor_core_time_ns", "tensor_core_time_fraction", "tensor_core_kernel_time_ns"),
        *("gpu_time_ns", "gpu_time_fraction"),
    ),
    "other_kernel": ("other_kernel_ns",),
    "memory": ("memory_ns",),
    "data_loader": ("data_loader_ns",),
    "io": ("io_ns",),
}
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
           f"Time in the iteration with {_MAY_USE}, running, wherever they were launched, and no kernel that is known "
           "to use Tensor Cores. TC GPU time may be longer by up to this.", UNKNOWN_PART),
    Column("unknown_kernels", "Unknown Kernels Launched", "integer", f"Of the kernels that it launched, {_UNKNOWN}.",
           "coalesce(unknown.unknown_kernels, 0)", hidden=True),
    Column("unknown_kernel_time_ns", "Total Unknown Kernel Time", "duration_ns",
           f"Plain sum of the durations of those that it launched, {_UNKNOWN}, on all GPUs.",
           "coalesce(unknown.unknown_kernel_ns, 0)", hidden=True),
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


ITERATION_LINK = "iteration"


def _lengths(of: str) -> str:
    """The three dimensions as text; NULL for zeros, which DLProf stores if they were not recorded."""
    return f"nullif({of}.x || ', ' || {of}.y || ', ' || {of}.z, '0, 0, 0')"


_SCOPE = "node.aggr_id = :aggregation AND node.iteration = :iteration"

_OF_LAUNCH = (
    "LEFT JOIN dictionary AS name ON name.id = launch.name_id",
    "LEFT JOIN dictionary AS long_name ON long_name.id = launch.long_name_id",
    "LEFT JOIN read_only_grid_block AS grid ON grid.id = launch.grid_id",
    "LEFT JOIN read_only_grid_block AS block ON block.id = launch.block_id",
    "LEFT JOIN ext_kernel_names AS class ON class.name_id = launch.long_name_id",
)
_JOINS = (
    # Cross joins keep SQLite reading the rows of the iteration first.
    "CROSS JOIN read_only_ops AS op ON op.id = node.read_only_ops_id",
    "CROSS JOIN launches AS launch ON launch.id = node.launch_id",
    "CROSS JOIN kernels AS kernel ON kernel.id = node.kernel_id",
    *_OF_LAUNCH,
    "LEFT JOIN ext_kernel_counters AS counted ON counted.kernel_id = node.kernel_id",
)

_BY_OP = Lookup("node.read_only_ops_id", "op.id", "read_only_ops AS op")
_BY_NAME = Lookup(
    "node.name_order",
    "launch.name_order",
    "launches AS launch JOIN dictionary AS name ON name.id = launch.name_id",
)


def _of_launch(column: Column) -> Column:
    """A column that is the same for all kernels of a launch."""
    source = from_clause("launches AS launch", _OF_LAUNCH, [column.sql])
    return msgspec.structs.replace(column, lookup=Lookup("node.launch_id", "launch.id", source))


_COLUMNS = (
    Column("op", "Op Name", "path", "Path of the op that launched the kernel.", "op.op_name", searchable=True,
           order="node.read_only_ops_id", lookup=_BY_OP),
    Column("op_id", "Op ID", "text", "Short name of the op.", "op.op_id", searchable=True, hidden=True, lookup=_BY_OP),
    msgspec.structs.replace(KERNEL_NAME, order="node.name_order", lookup=_BY_NAME),
    _of_launch(Column("long_name", "Full Name", "kernel_name", "Name with template arguments and parameters.",
                      "long_name.string", nullable=True, hidden=True)),
    _of_launch(Column("device_id", "Device ID", "integer", "Number of the GPU.", "launch.device_id", tier=1)),
    Column("timestamp_ns", "Kernel Timestamp", "duration_ns",
           "Start of the call that launched the kernel, on the host, since the start of the recording.",
           "kernel.api_start_ns", order="node.position"),
    Column("gpu_start_ns", "GPU Start", "duration_ns",
           "When the kernel started on the GPU, since the start of the recording.", "node.gpu_start_ns"),
    Column("gpu_time_ns", "GPU Time", "duration_ns", "How long the kernel ran on the GPU.", "node.gpu_time_ns"),
    _of_launch(Column("using_tensor_cores", "Using TC", "boolean",
                      "The kernel uses Tensor Cores; empty if that is unknown.",
                      "CASE WHEN launch.uses_tc OR class.matrix_unit IS NOT 2 THEN launch.uses_tc END", nullable=True)),
    _of_launch(Column("grid", "Grid", "text", "Blocks of the grid.", _lengths("grid"), nullable=True, tier=1)),
    _of_launch(Column("block", "Block", "text", "Threads of a block.", _lengths("block"), nullable=True, tier=1)),
    Column("kernel_id", "Kernel ID", "integer", "Number of the launch.", "node.kernel_id", hidden=True),
    _of_launch(Column("stream", "Stream", "integer", "Number of the CUDA stream.", "nullif(launch.stream, -1)",
                      nullable=True, hidden=True)),
    *(_of_launch(msgspec.structs.replace(CLASS_COLUMNS[key], hidden=True))
      for key in ("accumulator", "architecture", "rule")),
    Column("achieved_occupancy_fraction", "Achieved Occupancy", "fraction",
           "Warps that were active of those that a multiprocessor can hold, measured by a counter.",
           "counted.achieved_occupancy_fraction", nullable=True, sortable=False, filterable=False, hidden=True),
    Column("dram_bytes", "Memory Traffic", "bytes",
           "Bytes read from and written to device memory, measured by a counter.", "counted.dram_bytes", nullable=True,
           sortable=False, filterable=False, hidden=True),
)  # fmt: skip

KERNELS_OF_ITERATION = Table(
    name="kernels_of_iteration",
    key="kernel_id",
    base="iteration_kernels AS node",
    row_id="node.position",
    where=_SCOPE,
    rows_where=_SCOPE,
    links=(ITERATION_LINK,),
    default_sort="timestamp_ns",
    joins=_JOINS,
    total=(
        "SELECT total_count FROM kernel_iteration_stats WHERE aggr_id = :aggregation AND domain_id = :domain "
        "AND iter_value = :iteration"
    ),
    columns=_COLUMNS,
)
"""The kernels of the iteration given by the link ``iteration``, of all domains."""

OF_DOMAIN = "node.read_only_ops_id IN (SELECT id FROM read_only_ops WHERE domain_id = :domain)"

KERNELS_OF_DOMAIN = msgspec.structs.replace(KERNELS_OF_ITERATION, where=f"{_SCOPE} AND {OF_DOMAIN}", total="")
"""The same of one of several domains, which only DLProf before 1.7 wrote."""

_OP_OF_LINK = (
    "(SELECT op.id FROM read_only_ops AS op "
    "WHERE op.domain_id = :domain AND op.op_id_id = (SELECT id FROM dictionary WHERE string = :op))"
)

KERNELS_OF_ITERATION_OP = msgspec.structs.replace(
    KERNELS_OF_ITERATION,
    name="kernels_of_iteration_op",
    # Told that few rows pass, SQLite reads the index of ops instead of the whole iteration.
    where=f"{_SCOPE} AND unlikely(node.read_only_ops_id = {_OP_OF_LINK})",
    total=f"SELECT node.kernels FROM iteration_ops AS node WHERE {_SCOPE} AND node.read_only_ops_id = {_OP_OF_LINK}",
    links=(ITERATION_LINK, "op"),
    columns=tuple(column for column in _COLUMNS if column.key not in ("op", "op_id")),
)
"""The kernels of one op (link ``op``, its op id) in one iteration (link ``iteration``)."""

_IS_UNKNOWN = (
    f"{MAY_USE.format(aggregation=':aggregation', op='op.id')} AND (op.id IN (SELECT read_only_ops_id "
    "FROM ext_graph_launches) OR EXISTS (SELECT 1 FROM iteration_kernels AS one "
    "JOIN launches AS launch ON launch.id = one.launch_id "
    "JOIN ext_kernel_names AS class ON class.name_id = launch.long_name_id AND class.matrix_unit = 2 "
    "WHERE one.aggr_id = :aggregation AND one.iteration = :iteration AND one.read_only_ops_id = op.id))"
)
"""Condition that the Tensor Core use of some kernel of the op is unknown. Its kernels in the iteration are checked only
if that of any of its kernels is."""


def _with_unknown_kernels(column: Column) -> Column:
    if column.key not in ("tensor_core_kernels", "tensor_core_time_ns"):
        return column
    return msgspec.structs.replace(
        column,
        sql=at_least_sql(column.sql, _IS_UNKNOWN),
        description=f"{column.description} Empty if none is known to use them but some may.",
        nullable=True,
    )


_OP = {column.key: column for column in OPS.columns}

_OP_COLUMNS = (
    _OP["name"],
    msgspec.structs.replace(_OP["op_id"], hidden=True),
    _OP["direction"],
    _OP["op_type"],
    Column("kernels", "Total Kernels", "integer", "Kernels of the op in this iteration.", "node.kernels"),
    Column("tensor_core_kernels", "TC Kernels", "integer", "Kernels that use Tensor Cores.", "node.tc_kernels"),
    Column("gpu_time_ns", "Total GPU Time", "duration_ns",
           "Plain sum of the durations of the op's kernels in this iteration.", "node.kernel_ns"),
    Column("tensor_core_time_ns", "TC GPU Time", "duration_ns",
           "Plain sum of the durations of its Tensor Core kernels in this iteration.", "node.tc_kernel_ns"),
    _OP["data_type"],
    _OP["stack_trace"],
)  # fmt: skip

OPS_OF_ITERATION = Table(
    name="ops_of_iteration",
    key="op_id",
    base="iteration_ops AS node CROSS JOIN read_only_ops AS op ON op.id = node.read_only_ops_id",
    row_id="op.id",
    where=f"{_SCOPE} AND op.domain_id = :domain",
    rows_where=_SCOPE,
    links=(ITERATION_LINK,),
    default_sort="-gpu_time_ns",
    joins=OPS.joins,
    columns=tuple(map(_with_unknown_kernels, _OP_COLUMNS)),
)
"""The ops that launched kernels in the iteration given by the link ``iteration``."""

_PATHS = (
    "SELECT path_pattern(first.op_name, 0) AS pattern, first.direction_id AS direction_id, min(first.id) AS id, "
    "count(*) AS ops, sum(node.kernels) AS kernels, sum(node.kernel_ns) AS total, "
    "sum(sum(node.kernel_ns)) OVER () AS whole FROM iteration_ops AS node "
    "JOIN op_patterns AS of_op ON of_op.read_only_ops_id = node.read_only_ops_id "
    "JOIN read_only_ops AS first ON first.id = of_op.first_ops_id "
    f"WHERE {_SCOPE} AND first.domain_id = :domain GROUP BY pattern, first.direction_id"
)


def _sums(name: str, alias: str, rows: str, join: str, key: str, *columns: Column) -> Table:
    """Sums of the kernels of the iteration given by the link ``iteration``.

    Args:
        alias: of ``rows``.
        rows: SELECT with an ``id``, the sum of a row, ``total``, and that of all, ``whole`` (ns).
        join: what columns need besides.
        key: column that identifies a row.
        columns: besides the share, which is the last.
    """
    share = Column("gpu_time_fraction", "Share", "fraction",
                   "GPU time over the sum of the GPU times of all kernels of the iteration.",
                   f"{alias}.total * 1.0 / nullif({alias}.whole, 0)", nullable=True)  # fmt: skip
    return Table(
        name=name,
        key=key,
        base=f"({rows}) AS {alias}",
        row_id=f"{alias}.id",
        where="1",
        links=(ITERATION_LINK,),
        default_sort="-gpu_time_ns",
        joins=(join,),
        columns=(*columns, share),
    )


OP_PATHS_OF_ITERATION = _sums(
    "op_paths_of_iteration",
    "ops",
    _PATHS,
    DIRECTION_JOIN,
    KEY.key,
    PATH,
    DIRECTION,
    KEY,
    Column("ops", "Ops", "integer", "How many ops launched kernels in this iteration.", "ops.ops"),
    Column("calls", "Kernels", "integer", "Kernels that they launched in this iteration.", "ops.kernels"),
    Column("gpu_time_ns", "GPU Time", "duration_ns", "Plain sum of the durations of these kernels.", "ops.total"),
)
"""The ops that launched kernels in the iteration given by the link ``iteration``, summed over the repetitions of a
model."""

_TELLING = (
    "CASE WHEN launch.name_id IN (SELECT id FROM dictionary WHERE string IN "
    f"({', '.join(map(repr, WRAPPERS))})) THEN launch.long_name_id ELSE launch.name_id END"
)
"""The name of a kernel; the whole one where its own says nothing, so that different kernels are not one row."""

_SUMMED = (
    f"SELECT {_TELLING} AS name_id, min(of_launch.launch_id) AS id, "
    "CASE WHEN max(launch.uses_tc) THEN 1 WHEN NOT max(class.matrix_unit IS 2) THEN 0 END AS uses_tc, "
    "count(DISTINCT launch.read_only_ops_id) AS ops, sum(of_launch.kernels) AS kernels, sum(of_launch.total) AS total, "
    "min(of_launch.least) AS least, max(of_launch.most) AS most, sum(sum(of_launch.total)) OVER () AS whole "
    # Launches first: they are few, and only they are joined.
    "FROM (SELECT node.launch_id AS launch_id, count(*) AS kernels, sum(node.gpu_time_ns) AS total, "
    "min(node.gpu_time_ns) AS least, max(node.gpu_time_ns) AS most "
    f"FROM iteration_kernels AS node WHERE {_SCOPE} GROUP BY node.launch_id) AS of_launch "
    "CROSS JOIN launches AS launch ON launch.id = of_launch.launch_id "
    "JOIN read_only_ops AS op ON op.id = launch.read_only_ops_id AND op.domain_id = :domain "
    "LEFT JOIN ext_kernel_names AS class ON class.name_id = launch.long_name_id "
    f"GROUP BY {_TELLING}"
)

KERNEL_NAMES_OF_ITERATION = _sums(
    "kernel_names_of_iteration",
    "kernel",
    _SUMMED,
    "JOIN dictionary AS name ON name.id = kernel.name_id",
    KERNEL_NAME.key,
    KERNEL_NAME,
    USES_TENSOR_CORES,
    Column("ops", "Ops", "integer", "How many ops launched the kernel in this iteration.", "kernel.ops"),
    *calls_of_name("kernel.kernels", " in this iteration"),
)
"""The kernels of the iteration given by the link ``iteration``, by name; CUTLASS's by what they wrap."""
