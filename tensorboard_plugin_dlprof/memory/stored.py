"""Reads the memory of GPUs from a database (``database/sql/memory.sql``)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.packing import unpack
from tensorboard_plugin_dlprof.events.memory_tables import STAYS, Blocks, History, Segment
from tensorboard_plugin_dlprof.events.tables import Int64s

_MOST_DEVICES = 1_024
"""A limit for hostile files."""


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
