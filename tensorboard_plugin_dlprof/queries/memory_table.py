"""The table of the largest blocks of a GPU's memory."""

from __future__ import annotations

from tensorboard_plugin_dlprof.queries.table import Column, Table

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
        Column(
            "category",
            "Category",
            "text",
            "What it holds, by the phases in which it was allocated and freed.",
            "block.category",
            searchable=True,
        ),
        Column(
            "owner",
            "Allocated by",
            "path",
            "Path of the op, or place in the program, that allocated it.",
            "block.owner",
            nullable=True,
            searchable=True,
        ),
        Column(
            "allocated_ns",
            "Allocated",
            "duration_ns",
            "When it was allocated; unknown if it was before the recording, or no times were recorded.",
            "block.allocated_ns",
            nullable=True,
            tier=1,
        ),
        Column(
            "lasts_ns",
            "Lasts",
            "duration_ns",
            "How long until it was freed; unknown if it was not.",
            "block.lasts_ns",
            nullable=True,
            tier=1,
        ),
        Column(
            "allocated_event",
            "Event",
            "integer",
            "Number of the event that allocated it.",
            "block.allocated_event",
            nullable=True,
            hidden=True,
        ),
        Column(
            "freed_event",
            "Freed by Event",
            "integer",
            "Number of the event that freed it; unknown if none did.",
            "block.freed_event",
            nullable=True,
            hidden=True,
        ),
        Column("id", "Number", "integer", "Number of the block, by size.", "block.id", hidden=True),
    ),
)
