"""Writes and reads the tables of ``sql/memory.sql``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.packing import PART, pack, unpack
from tensorboard_plugin_dlprof.columns.rows import insert_rows, storable
from tensorboard_plugin_dlprof.events.memory_tables import STAYS, Blocks, History, Segment
from tensorboard_plugin_dlprof.events.tables import Int64s

_MOST_DEVICES = 1_024
"""A limit for hostile files."""


def write_memory(con: sqlite3.Connection, histories: Sequence[History]) -> None:
    """Store the memory of each GPU."""
    for history in histories:
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


def read_memory(con: Any) -> list[History]:
    """The memory of each GPU; nothing if the database has none, or was made by others.

    Args:
        con: from ``connection.open_database``.

    Raises:
        ValueError: the packed columns are damaged.
    """
    if con.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'memory_devices'").fetchone() is None:
        return []
    facts = con.execute(
        "SELECT device_id, measure, relative, timed, reserved, capacity_bytes, settings, lost_frees "
        "FROM memory_devices ORDER BY device_id"
    ).fetchmany(_MOST_DEVICES)
    return [_history(con, *row) for row in facts]


def _history(
    con: Any,
    device: int,
    measure: str,
    relative: int,
    timed: int,
    reserved: int,
    capacity: int | None,
    settings: str,
    lost: int,
) -> History:
    time, in_use, held = (np.cumsum(column) for column in _read_packed(con, "memory_states", device, 3))
    if not len(in_use):
        raise ValueError("memory without states")
    steps, lasts, num_bytes, category, owner = _read_packed(con, "memory_blocks", device, 5)
    allocated = np.cumsum(steps)
    owners = [
        str(path)
        for (path,) in con.execute("SELECT path FROM memory_owners WHERE device_id = ? ORDER BY number", (device,))
    ]
    if len(owner) and not 0 <= int(owner.min()) <= int(owner.max()) < len(owners):
        raise ValueError("blocks of unknown owners")
    segments = con.execute(
        "SELECT address, total_bytes, pool, stream, blocks FROM memory_segments WHERE device_id = ? ORDER BY number",
        (device,),
    )
    marks = con.execute(
        "SELECT event, kind, num_bytes, free_bytes FROM memory_marks WHERE device_id = ? ORDER BY event", (device,)
    ).fetchall()
    return History(
        device=device,
        measure=measure,
        relative=bool(relative),
        time_ns=time[1:] if timed else np.zeros(0, np.int64),
        in_use_bytes=in_use,
        reserved_bytes=held if reserved else np.full(len(in_use), -1, np.int64),
        blocks=Blocks(
            allocated,
            np.where(lasts < 0, STAYS, allocated + lasts),
            num_bytes,
            category.astype(np.int8),
            owner.astype(np.int32),
        ),
        owners=owners,
        capacity_bytes=capacity or 0,
        segments=[
            Segment(address, total, pool, stream, tuple((int(size), str(state)) for size, state in json.loads(blocks)))
            for address, total, pool, stream, blocks in segments
        ],
        settings=settings,
        out_of_memory=[
            (event, asked or 0, -1 if free is None else free)
            for event, kind, asked, free in marks
            if kind == "out_of_memory"
        ],
        segment_events=np.array([event for event, kind, _, _ in marks if kind == "segment"], np.int64),
        lost_frees=lost,
    )


def _read_packed(con: Any, table: str, device: int, columns: int) -> list[Int64s]:
    parts = [
        unpack(packed, columns)
        for (packed,) in con.execute(f"SELECT packed FROM {table} WHERE device_id = ? ORDER BY part", (device,))
    ]
    if not parts:
        return [np.zeros(0, np.int64) for _ in range(columns)]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]
