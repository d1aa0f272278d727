"""The table of the largest blocks of a GPU's memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any

from tensorboard_plugin_dlprof.queries.ops import SHAPES_OF_FIRST_CALL, shown_shapes
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Table

_TIMES = (
    "LEFT JOIN op_nodes AS node ON node.read_only_ops_id = op.id AND node.aggr_id = :aggregation "
    "LEFT JOIN node_time_metrics AS times ON times.id = node.node_time_metrics_id "
    "LEFT JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id"
)
_COST = "CAST(round(avg(gpu.avg)) AS INTEGER)"
"""What it takes to have the block again: a call of the op."""

_OF_BLOCK = "WHERE op.id = block.read_only_ops_id"
_SHAPES = shown_shapes(SHAPES_OF_FIRST_CALL)
_GPU_TIME = f"SELECT {_COST} FROM read_only_ops AS op {_TIMES} {_OF_BLOCK}"
_FIRST_SHAPES = f"SELECT {_SHAPES} FROM read_only_ops AS op {_OF_BLOCK}"

NO_COSTS = {"op_gpu_time_average_ns": None, "op_input_shapes": None}
"""Of a block that no op allocated."""


def op_costs(connection: sqlite3.Connection, scope: Scope, ops: Collection[int]) -> dict[int, dict[str, Any]]:
    """What is in the table's columns of the op, by ``read_only_ops.id``."""
    named = {f"op_{number}": op for number, op in enumerate(ops)}
    places = ", ".join(f":{name}" for name in named)
    rows = connection.execute(
        f"SELECT op.id, {_COST}, {_SHAPES} FROM read_only_ops AS op {_TIMES} WHERE op.id IN ({places}) GROUP BY op.id",
        {**named, "aggregation": scope.aggregation},
    )
    return {
        int(op): {"op_gpu_time_average_ns": time_ns, "op_input_shapes": shapes or None} for op, time_ns, shapes in rows
    }


MEMORY_BLOCKS = Table(
    name="memory_blocks",
    key="id",
    base="memory_largest AS block",
    row_id="block.id",
    # Its window of the curve: those in use at any moment of it.
    where="block.device_id = CAST(:device AS INTEGER) AND (:to = '' OR block.allocated_event IS NULL "
    "OR coalesce(block.allocated_ns, block.allocated_event) <= CAST(:to AS INTEGER)) AND (:from = '' "
    "OR block.freed_event IS NULL OR coalesce(block.freed_ns, block.freed_event) >= CAST(:from AS INTEGER)) "
    # A row of ``memory_block_groups``.
    "AND (:row = '' OR block.category || ':' || repeated_path(coalesce(block.owner, '')) = :row)",
    links=("device",),
    narrowed=("from", "to", "row"),
    default_sort="-at_peak",
    default_then="size_bytes",
    columns=(
        Column("size_bytes", "Size", "bytes", "Size of the block.", "block.size_bytes"),
        Column("at_peak", "At the Peak", "boolean", "Whether it was in use at the peak.", "block.at_peak"),
        Column("category", "Category", "text", "What it holds, by the phases in which it was allocated and freed.",
               "block.category", searchable=True),
        Column("owner", "Allocated by", "path", "Path of the op, or place in the program, that allocated it.",
               "block.owner", nullable=True, searchable=True),
        Column("allocated_ns", "Allocated At", "duration_ns",
               "When it was allocated; unknown if it was before the recording, or no times were recorded.",
               "block.allocated_ns", nullable=True, tier=1),
        Column("lasts_ns", "Lifetime", "duration_ns",
               "How long until it was freed; empty if it was not before the recording ends.",
               "block.lasts_ns", nullable=True, tier=1),
        Column("stays", "Until the End", "boolean", "Whether it is still in use when the recording ends.",
               "block.freed_event IS NULL", tier=1),
        Column("op_gpu_time_average_ns", "GPU Time of the Op, a Call", "duration_ns",
               "GPU time of a call of the op that allocated it, which having the block again would cost: the mean "
               "over all its calls.",
               f"({_GPU_TIME})", nullable=True, sortable=False, filterable=False, tier=1),
        Column("op_input_shapes", "Input Shapes of the Op", "text",
               "Shapes of the inputs of the first call of the op that allocated it.",
               f"({_FIRST_SHAPES})", nullable=True, sortable=False, filterable=False, tier=2),
        Column("stack", "Stack", "long_text",
               "Lines of the program that allocated it, innermost first, as far as a memory snapshot has them.",
               "(SELECT nullif(stacks.stack, '') FROM memory_stacks AS stacks WHERE stacks.device_id = block.device_id "
               "AND stacks.number = block.stack)", nullable=True, sortable=False, searchable=True, tier=2),
        Column("allocated_event", "Event", "integer", "Number of the event that allocated it.", "block.allocated_event",
               nullable=True, hidden=True),
        Column("freed_event", "Freed by Event", "integer", "Number of the event that freed it; unknown if none did.",
               "block.freed_event", nullable=True, hidden=True),
        Column("id", "Number", "integer", "Number of the block, by size.", "block.id", hidden=True),
    ),
)  # fmt: skip
