"""What the allocator of PyTorch holds at the end of a memory snapshot: its segments, block by block."""

from __future__ import annotations

import sqlite3

import numpy as np

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, FREE, HELD_BEFORE
from tensorboard_plugin_dlprof.events.tables import Int8s
from tensorboard_plugin_dlprof.memory.stored import (
    all_blocks_of,
    check_texts,
    owners_of,
    segments_of,
    stacks_of,
    times_of,
)
from tensorboard_plugin_dlprof.queries.memory import damage_told, facts_of
from tensorboard_plugin_dlprof.queries.memory_answers import (
    MemorySegment,
    MemorySegments,
    SegmentBlock,
    SegmentBlocks,
)

_MOST_SEGMENTS = 2_000
_MOST_BLOCKS = 50_000
_NEIGHBOURS = 2
"""Blocks on each side of one that is looked at."""


def memory_segments(connection: sqlite3.Connection, device: int) -> MemorySegments:
    """What the allocator holds at the end of a snapshot."""
    facts = facts_of(connection, device)
    with damage_told(connection):
        result = segments_of(connection, device)
        category = all_blocks_of(connection, facts).category
        largest = sorted(enumerate(result), key=lambda each: -each[1].total_bytes)[:_MOST_SEGMENTS]
        left = _MOST_BLOCKS
        segments: list[MemorySegment] = []
        shown = 0
        for number, each in largest:
            blocks = [(size, state, _category(state, row, category)) for size, state, row in each.blocks[:left]]
            left -= len(blocks)
            shown += len(blocks)
            segments.append(
                {
                    "number": number,
                    "total_bytes": each.total_bytes,
                    "pool": each.pool,
                    "stream": each.stream,
                    "blocks": blocks,
                }
            )
    return {
        "categories": list(CATEGORIES),
        "segments": segments,
        "segments_left_out": len(result) - len(largest),
        "blocks_left_out": sum(len(each.blocks) for each in result) - shown,
    }


def _category(state: str, row: int, category: Int8s) -> int:
    """The category of a block of a segment; -1 of what is free."""
    if state == FREE:
        return -1
    return int(category[row]) if row >= 0 else HELD_BEFORE


def segment_block(connection: sqlite3.Connection, device: int, segment: int, block: int) -> SegmentBlocks:
    """A block of a segment at the end of a snapshot, and its neighbours by address.

    Raises:
        NotFound: There is no such block.
    """
    facts = facts_of(connection, device)
    with damage_told(connection):
        segments = segments_of(connection, device)
        if segment >= len(segments) or block >= len(segments[segment].blocks):
            raise NotFound(f"GPU {device} has no block {block} in a segment {segment}.")
        of, first = segments[segment], max(block - _NEIGHBOURS, 0)
        some = of.blocks[first : block + _NEIGHBOURS + 1]
        blocks = all_blocks_of(connection, facts)
        owners, stacks = owners_of(connection, device), stacks_of(connection, device)
        check_texts(blocks, owners, stacks)
        offset = sum(size for size, _, _ in of.blocks[:first])
        rows: list[SegmentBlock] = []
        for size, state, row in some:
            event = int(blocks.allocated[row]) if row >= 0 else -1
            category = _category(state, row, blocks.category)
            rows.append(
                {
                    "size_bytes": size,
                    "offset_bytes": offset,
                    "state": state,
                    "category": CATEGORIES[category] if category >= 0 else None,
                    "owner": (owners[blocks.owner[row]] or None) if row >= 0 else None,
                    "stack": (stacks[blocks.stack[row]] or None) if row >= 0 else None,
                    "allocated_event": event if event >= 0 else None,
                    "allocated_ns": times_of(connection, facts, np.array([event]))[0],
                }
            )
            offset += size
    return {
        "total_bytes": of.total_bytes,
        "pool": of.pool,
        "stream": of.stream,
        "place": block - first,
        "blocks": rows,
    }
