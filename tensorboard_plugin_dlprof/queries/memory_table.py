"""The table of the largest blocks of a GPU's memory."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.ops import SHAPES_OF_FIRST_CALL, shown_shapes
from tensorboard_plugin_dlprof.queries.table import Column, Table

_OPS_OF_PATH = "FROM read_only_ops AS op {join} WHERE op.op_name = block.owner AND block.owner <> ''"
_GPU_TIME = "SELECT sum(gpu.sum) " + _OPS_OF_PATH.format(
    join="JOIN op_nodes AS node ON node.read_only_ops_id = op.id AND node.aggr_id = :aggregation "
    "JOIN node_time_metrics AS times ON times.id = node.node_time_metrics_id "
    "JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id"
)
_SHAPES = f"SELECT {shown_shapes(SHAPES_OF_FIRST_CALL)} {_OPS_OF_PATH.format(join='')} LIMIT 1"

MEMORY_BLOCKS = Table(
    name="memory_blocks",
    key="id",
    base="memory_largest AS block",
    row_id="block.id",
    where="block.device_id = CAST(:device AS INTEGER)",
    links=("device",),
    default_sort="-at_peak",
    default_then="size_bytes",
    columns=(
        Column("size_bytes", "Size", "bytes", "Size of the block.", "block.size_bytes"),
        Column("at_peak", "At the Peak", "boolean", "Whether it was in use at the peak.", "block.at_peak"),
        Column("category", "Category", "text", "What it holds, by the phases in which it was allocated and freed.",
               "block.category", searchable=True),
        Column("owner", "Allocated by", "path", "Path of the op, or place in the program, that allocated it.",
               "block.owner", nullable=True, searchable=True),
        Column("allocated_ns", "Allocated", "duration_ns",
               "When it was allocated; unknown if it was before the recording, or no times were recorded.",
               "block.allocated_ns", nullable=True, tier=1),
        Column("lasts_ns", "Lasts", "duration_ns", "How long until it was freed; unknown if it was not.",
               "block.lasts_ns", nullable=True, tier=1),
        Column("op_gpu_time_ns", "GPU Time of the Op", "duration_ns",
               "GPU time of the op over all its calls, as in Ops: about what it costs to have the block again.",
               f"({_GPU_TIME})", nullable=True, sortable=False, filterable=False, tier=1),
        Column("op_input_shapes", "Input Shapes of the Op", "text", "Shapes of the inputs of the op's first call.",
               f"({_SHAPES})", nullable=True, sortable=False, filterable=False, tier=2),
        Column("allocated_event", "Event", "integer", "Number of the event that allocated it.", "block.allocated_event",
               nullable=True, hidden=True),
        Column("freed_event", "Freed by Event", "integer", "Number of the event that freed it; unknown if none did.",
               "block.freed_event", nullable=True, hidden=True),
        Column("id", "Number", "integer", "Number of the block, by size.", "block.id", hidden=True),
    ),
)  # fmt: skip
