"""The blocks of a GPU that are alike: of one category, allocated by the same op or line, as one row."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, HELD_BEFORE, STAYS
from tensorboard_plugin_dlprof.memory.peak import repeated
from tensorboard_plugin_dlprof.memory.stored import (
    all_blocks_of,
    check_texts,
    devices_of,
    owners_of,
    stacks_of,
    state_of,
)
from tensorboard_plugin_dlprof.queries.memory import damage_told, memory, peak_state
from tensorboard_plugin_dlprof.queries.table import Column, Table

MOST_BLOCKS = 4_000_000
"""Blocks that are sorted for one page."""

_COLUMNS = (
    *("id INTEGER PRIMARY KEY", "blocks", "total_bytes", "at_peak", "at_peak_bytes", "held_fraction"),
    *("largest_bytes", "category", "owner", "stay", "alike"),
)


def computed(
    con: sqlite3.Connection, device: int, start: int | None = None, stop: int | None = None
) -> dict[str, tuple[Sequence[str], list[tuple[Any, ...]]]]:
    """The columns and rows of the table, as ``database.memory`` takes them.

    Args:
        con: to a database.
        device: the GPU.
        start: first ns or event of a window: only blocks that are in use at any moment of it.
        stop: last ns or event.

    Raises:
        BadRequest: there are too many blocks.
    """
    with damage_told(con):
        facts = next((each for each in devices_of(con) if each.device == device), None)
        if facts is None:
            return {"memory_block_groups": (_COLUMNS, [])}
        blocks, owners = all_blocks_of(con, facts), owners_of(con, device)
        check_texts(blocks, owners, stacks_of(con, device))
        if len(blocks.num_bytes) > MOST_BLOCKS:
            raise BadRequest(f"The recording holds more than {MOST_BLOCKS:,} blocks; see the largest ones.")
        peak, answer = peak_state(con, device), memory(con)["devices"][str(device)]
        first = -1 if start is None else state_of(con, facts, start)[0]
        last = STAYS if stop is None else state_of(con, facts, stop)[0]
    inside = (blocks.allocated < last) & (blocks.freed >= first)
    at_peak = (blocks.allocated < peak) & (blocks.freed >= peak)
    stays = blocks.freed == STAYS
    # What repeats in a model is one.
    known: dict[str, int] = {}
    of_owner = np.array([known.setdefault(repeated(owner), len(known)) for owner in owners], np.int64)
    names = list(known)
    kind = of_owner[blocks.owner] * len(CATEGORIES) + blocks.category
    rows = np.flatnonzero(inside)
    order = rows[np.argsort(kind[rows], kind="stable")]
    sizes, kinds = blocks.num_bytes[order], kind[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = kinds[1:] != kinds[:-1]
    of = np.cumsum(begins) - 1
    groups = int(begins.sum())
    counts, totals, peaks, held_bytes, staying = (
        np.bincount(of, weights, groups).astype(np.int64).tolist()
        for weights in (None, sizes, at_peak[order], np.where(at_peak[order], sizes, 0), stays[order])
    )
    largest = np.maximum.reduceat(sizes, np.flatnonzero(begins)).tolist() if groups else []
    whole = 0 if answer["relative"] else int(answer["peak_bytes"])
    result = []
    for number, key in enumerate(kinds[begins].tolist()):
        owner, category = names[key // len(CATEGORIES)] or None, CATEGORIES[key % len(CATEGORIES)]
        held = held_bytes[number]
        share = held / whole if whole > 0 else None
        sums = (counts[number], totals[number], peaks[number], held, share, largest[number])
        result.append((number + 1, *sums, category, owner, staying[number], f"{category}:{owner or ''}"))
    # So that the rows add up to the peak; of how many blocks it was, nothing tells.
    before = whole - int(blocks.num_bytes[at_peak].sum())
    if before > 0 and start is None and stop is None:
        name = CATEGORIES[HELD_BEFORE]
        sums = (None, before, None, before, before / whole, None)
        result.append((len(result) + 1, *sums, name, None, None, f":{name}:"))
    return {"memory_block_groups": (_COLUMNS, result)}


MEMORY_BLOCK_GROUPS = Table(
    name="memory_block_groups",
    key="alike",
    base="memory_block_groups AS alike",
    row_id="alike.id",
    where="1",
    links=("device",),
    narrowed=("from", "to"),
    default_sort="-at_peak_bytes",
    default_then="total_bytes",
    columns=(
        Column("category", "Category", "text", "What they hold, by the phases in which they were allocated and freed.",
               "alike.category", searchable=True),
        Column("owner", "Allocated by", "path", "Path of the ops without indices, or place in the program, that "
               "allocated them.",
               "alike.owner", nullable=True, searchable=True),
        Column("blocks", "Blocks", "integer", "How many were allocated in the recording, or in the window in use; "
               "unknown of what was held before.",
               "alike.blocks", nullable=True),
        Column("at_peak", "At the Peak", "integer", "How many of them are in use at the peak of the recording.",
               "alike.at_peak", nullable=True),
        Column("at_peak_bytes", "Size at the Peak", "bytes", "Sum of those in use at the peak of the recording.",
               "alike.at_peak_bytes"),
        Column("held_fraction", "Share of the Peak", "fraction",
               "Share of what is in use at the peak of the recording; unknown where sizes count from its start.",
               "alike.held_fraction", nullable=True),
        Column("largest_bytes", "Largest", "bytes", "Size of the largest of them.", "alike.largest_bytes",
               nullable=True, tier=1),
        Column("total_bytes", "Size of All", "bytes", "Sum of all of them, which need not be in use at the same time.",
               "alike.total_bytes", tier=1),
        Column("stay", "Until the End", "integer", "How many are still in use when the recording ends.", "alike.stay",
               nullable=True, tier=1),
        Column("alike", "Alike", "text", "Category and who allocated them.", "alike.alike", hidden=True),
    ),
)  # fmt: skip

TABLES = {"memory_block_groups": MEMORY_BLOCK_GROUPS}
