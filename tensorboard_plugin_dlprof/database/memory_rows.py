"""Writes the tables of ``sql/memory.sql``; ``memory.stored`` reads them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.packing import PART, pack
from tensorboard_plugin_dlprof.columns.rows import insert_rows, storable
from tensorboard_plugin_dlprof.events.memory_tables import STAYS
from tensorboard_plugin_dlprof.memory.answer import answer
from tensorboard_plugin_dlprof.profile.tables import Profile


def write_memory(con: sqlite3.Connection, profile: Profile) -> None:
    """Store the memory of each GPU, and what is answered about it."""
    if profile.memory_histories:
        found = answer(profile, "")
        rows = [(int(device), found["headline"], json.dumps(each)) for device, each in found["devices"].items()]
        insert_rows(con, "memory_answers", ("device_id", "headline", "answer"), rows)
    for history in profile.memory_histories:
        device = history.device
        has_reserved = bool((history.reserved_bytes >= 0).all())
        facts: dict[str, int | str | None] = {
            "device_id": device,
            "measure": history.measure,
            "relative": history.relative,
            "timed": len(history.time_ns) > 0,
            "reserved": has_reserved,
            "capacity_bytes": history.capacity_bytes or None,
            "settings": storable(history.settings),
            "lost_frees": history.lost_frees,
        }
        insert_rows(con, "memory_devices", tuple(facts), [tuple(facts.values())])
        states = len(history.in_use_bytes)
        time = np.append(history.time_ns[:1], history.time_ns) if len(history.time_ns) else np.zeros(states, np.int64)
        reserved = history.reserved_bytes if has_reserved else np.zeros(states, np.int64)
        columns = [np.diff(column, prepend=np.int64(0)) for column in (time, history.in_use_bytes, reserved)]
        _write_packed(con, "memory_states", "states", device, columns)
        blocks = history.blocks
        lasts = np.where(blocks.freed == STAYS, -1, blocks.freed - blocks.allocated)
        steps = np.diff(blocks.allocated, prepend=np.int64(0))
        _write_packed(
            con, "memory_blocks", "blocks", device, [steps, lasts, blocks.num_bytes, blocks.category, blocks.owner]
        )
        owners = [(device, number, storable(owner)) for number, owner in enumerate(history.owners)]
        insert_rows(con, "memory_owners", ("device_id", "number", "path"), owners)
        segments = [
            (device, number, each.address, each.total_bytes, storable(each.pool), each.stream, json.dumps(each.blocks))
            for number, each in enumerate(history.segments)
        ]
        columns_of = ("device_id", "number", "address", "total_bytes", "pool", "stream", "blocks")
        insert_rows(con, "memory_segments", columns_of, segments)
        marks: list[tuple[int, int, str, int | None, int | None]] = [
            (device, event, "segment", None, None) for event in history.segment_events.tolist()
        ]
        marks += [
            (device, event, "out_of_memory", asked, free if free >= 0 else None)
            for event, asked, free in history.out_of_memory
        ]
        insert_rows(con, "memory_marks", ("device_id", "event", "kind", "num_bytes", "free_bytes"), marks)


def _write_packed(con: sqlite3.Connection, table: str, counted: str, device: int, columns: Sequence[Any]) -> None:
    rows = []
    for part, begin in enumerate(range(0, len(columns[0]), PART)):
        some = [column[begin : begin + PART] for column in columns]
        rows.append((device, part, len(some[0]), pack(some)))
    insert_rows(con, table, ("device_id", "part", counted, "packed"), rows)
