"""Reads the memory of GPUs from a database (``database/sql/memory.sql``): all of it, or what a question needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.columns.packing import unpack_from
from tensorboard_plugin_dlprof.events.memory_tables import KINDS, STAYS, Blocks, History, Segment
from tensorboard_plugin_dlprof.events.tables import Int64s

_MOST_DEVICES = 1_024
"""A limit for hostile files."""

TAKEN, RETURNED = "segment", "segment_returned"
"""Kinds of ``memory_marks``."""

GROUP = 32
"""Rows of one level of the curve that are one row of the next."""

MOST_STATES = 32_768
"""Of a level that is read for one picture; for more the next level is read, whose rows are no wider than its bins."""

_PART = 8_192
_BLOCK_COLUMNS = len(Blocks.__struct_fields__)
_MOST_LEVEL = 6


class Facts(msgspec.Struct, frozen=True):
    """A row of ``memory_devices``."""

    device: int
    measure: str
    relative: bool
    timed: bool
    reserved: bool
    states: int
    capacity_bytes: int
    settings: str
    lost_frees: int


class Steps(msgspec.Struct):
    """A part of the curve: each row holds from its place until the next."""

    axis: Int64s
    """ns, or number of the event where no times were recorded; -1 is before the first."""
    low_bytes: Int64s
    high_bytes: Int64s
    reserved_bytes: Int64s
    first_state: int | None
    """The number of the first state; None where a row stands for several."""
    kinds: list[Int64s]
    """Where a row stands for several: the bytes of each of ``KINDS`` when most is in use."""


def devices_of(con: Any) -> list[Facts]:
    """The GPUs whose memory was recorded; none if the database was made by others.

    Raises:
        ValueError: the rows are damaged.
    """
    rows = con.execute(
        "SELECT device_id, measure, relative, timed, reserved, states, coalesce(capacity_bytes, 0), settings, "
        "lost_frees FROM memory_devices ORDER BY device_id"
    ).fetchmany(_MOST_DEVICES)
    return [
        Facts(
            *(int(device), str(measure), bool(relative), bool(timed), bool(reserved), int(states), int(capacity)),
            *(str(settings), int(lost)),
        )
        for device, measure, relative, timed, reserved, states, capacity, settings, lost in rows
    ]


def read_memory(con: Any) -> list[History]:
    """The memory of each GPU; nothing if the database has none, or was made by others.

    Args:
        con: from ``connection.open_database``.

    Raises:
        ValueError: the packed columns are damaged.
    """
    return [_history(con, facts) for facts in devices_of(con)]


def read_states(con: Any, facts: Facts, start: int | None, stop: int | None) -> Steps:
    """The curve in a window, as fine as ``MOST_STATES`` allow; from the state that holds when the window begins.

    Args:
        con: The database.
        facts: Of the GPU.
        start: First ns or event; None for the first.
        stop: Last ns or event; None for the last.

    Raises:
        ValueError: the packed columns are damaged.
    """
    for level in range(_MOST_LEVEL + 1):
        parts = _parts_in(con, facts, level, start, stop)
        if len(parts) * _PART <= MOST_STATES:
            break
    count = 4 + len(KINDS) if level else 3
    columns = _read_parts(con, "memory_states", facts.device, count, parts, f"AND level = {level}")
    if level == 0:
        columns = [columns[0], columns[1], columns[1], columns[2]]
    axis = columns[0]
    if not facts.timed:
        axis = (parts[0] * _PART + np.arange(len(axis))) * GROUP**level - 1
    return Steps(axis, columns[1], columns[2], columns[3], None if level else parts[0] * _PART, columns[4:])


def state_of(con: Any, facts: Facts, moment: int) -> tuple[int, int | None, int]:
    """The number of the state at a moment (ns or event), when it began, and the bytes in use.

    Raises:
        ValueError: the packed columns are damaged.
    """
    part = _parts_in(con, facts, 0, moment, moment)[-1:]
    time, in_use, _ = _read_parts(con, "memory_states", facts.device, 3, part, "AND level = 0")
    number = moment + 1 - part[0] * _PART
    place = int(np.searchsorted(time, moment, side="right")) - 1 if facts.timed else number
    place = min(max(place, 0), len(time) - 1)
    return part[0] * _PART + place, int(time[place]) if facts.timed else None, int(in_use[place])


def times_of(con: Any, facts: Facts, events: Int64s) -> list[int | None]:
    """When events were, in ns; None for those before the first, and where no times were recorded.

    Raises:
        ValueError: the packed columns are damaged.
    """
    times: list[int | None] = [None] * len(events)
    if not facts.timed:
        return times
    # State n + 1 begins with event n.
    part, place = np.divmod(events + 1, _PART)
    for number in set(part[events >= 0].tolist()):
        time = _read_parts(con, "memory_states", facts.device, 3, [number], "AND level = 0")[0]
        for row in np.flatnonzero((part == number) & (events >= 0)).tolist():
            times[row] = int(time[place[row]])
    return times


def open_blocks_of(con: Any, facts: Facts, state: int, last: int | None = None) -> Blocks:
    """The blocks that are allocated in a state, or in any up to ``last``: those of the last state before whose open
    blocks are stored, and those since.

    Raises:
        ValueError: the packed columns are damaged.
    """
    device = facts.device
    (since,) = con.execute(
        "SELECT coalesce(max(state), -1) FROM memory_open WHERE device_id = ? AND state <= ?", (device, state)
    ).fetchone()
    rows = con.execute("SELECT part, first FROM memory_blocks WHERE device_id = ? ORDER BY part", (device,)).fetchall()
    first = [begin for _, begin in rows]
    last = state if last is None else last
    begin, end = np.searchsorted(first, (since, last))
    later = _read_parts(
        con, "memory_blocks", device, _BLOCK_COLUMNS, [part for part, _ in rows[max(begin - 1, 0) : end]]
    )
    is_open = later[0] >= since
    before = _read_parts(con, "memory_open", device, _BLOCK_COLUMNS, None, f"AND state = {int(since)}")
    columns = [np.append(old, new[is_open]) for old, new in zip(before, later, strict=True)]
    blocks = _blocks(columns)
    rows_of = np.flatnonzero((blocks.allocated < last) & (blocks.freed >= state))
    return some_rows(blocks, rows_of)


def all_blocks_of(con: Any, facts: Facts) -> Blocks:
    """All blocks, in the rows by which segments name them.

    Raises:
        ValueError: the packed columns are damaged.
    """
    return _blocks(_read_parts(con, "memory_blocks", facts.device, _BLOCK_COLUMNS, None))


def owners_of(con: Any, device: int) -> list[str]:
    """Who allocates (``Blocks.owner``)."""
    rows = con.execute("SELECT path FROM memory_owners WHERE device_id = ? ORDER BY number", (device,))
    return [str(path) for (path,) in rows]


def owner_ops_of(con: Any, device: int) -> list[int | None]:
    """Of those who allocate, ``read_only_ops.id`` of ops."""
    rows = con.execute("SELECT read_only_ops_id FROM memory_owners WHERE device_id = ? ORDER BY number", (device,))
    return [None if number is None else int(number) for (number,) in rows]


def stacks_of(con: Any, device: int) -> list[str]:
    """The stacks of those who allocate (``Blocks.stack``)."""
    rows = con.execute("SELECT stack FROM memory_stacks WHERE device_id = ? ORDER BY number", (device,))
    return [str(stack) for (stack,) in rows]


def segments_of(con: Any, device: int) -> list[Segment]:
    """What the allocator holds at the end.

    Raises:
        ValueError: a list of blocks is damaged.
    """
    rows = con.execute(
        "SELECT address, total_bytes, pool, stream, blocks FROM memory_segments WHERE device_id = ? ORDER BY number",
        (device,),
    )
    return [
        Segment(
            *(int(address), int(total), str(pool), int(stream)),
            tuple((int(size), str(state), int(row)) for size, state, row in json.loads(blocks)),
        )
        for address, total, pool, stream, blocks in rows
    ]


def check_texts(blocks: Blocks, owners: Sequence[str], stacks: Sequence[str]) -> None:
    """Raise ``ValueError`` if a block names an owner or a stack that there is not."""
    for number, texts in ((blocks.owner, owners), (blocks.stack, stacks)):
        if len(number) and not 0 <= int(number.min()) <= int(number.max()) < len(texts):
            raise ValueError("blocks of unknown owners")


def _history(con: Any, facts: Facts) -> History:
    time, in_use, held = _read_parts(con, "memory_states", facts.device, 3, None, "AND level = 0")
    if not len(in_use):
        raise ValueError("memory without states")
    blocks = all_blocks_of(con, facts)
    owners, stacks = owners_of(con, facts.device), stacks_of(con, facts.device)
    check_texts(blocks, owners, stacks)
    marks = con.execute(
        "SELECT event, kind, num_bytes, free_bytes FROM memory_marks WHERE device_id = ? ORDER BY event",
        (facts.device,),
    ).fetchall()
    return History(
        device=facts.device,
        measure=facts.measure,
        relative=facts.relative,
        time_ns=time[1:] if facts.timed else np.zeros(0, np.int64),
        in_use_bytes=in_use,
        reserved_bytes=held if facts.reserved else np.full(len(in_use), -1, np.int64),
        blocks=blocks,
        owners=owners,
        stacks=stacks,
        capacity_bytes=facts.capacity_bytes,
        segments=segments_of(con, facts.device),
        settings=facts.settings,
        out_of_memory=[
            (event, asked or 0, -1 if free is None else free)
            for event, kind, asked, free in marks
            if kind == "out_of_memory"
        ],
        segment_events=np.array([event for event, kind, _, _ in marks if kind == TAKEN], np.int64),
        return_events=np.array([event for event, kind, _, _ in marks if kind == RETURNED], np.int64),
        lost_frees=facts.lost_frees,
    )


def _blocks(columns: Sequence[Int64s]) -> Blocks:
    allocated, lasts, num_bytes, category, owner, stack = columns
    freed = np.where(lasts < 0, STAYS, allocated + lasts)
    return Blocks(allocated, freed, num_bytes, category.astype(np.int8), owner.astype(np.int32), stack.astype(np.int32))


def _parts_in(con: Any, facts: Facts, level: int, start: int | None, stop: int | None) -> list[int]:
    """Numbers of the parts of a level in a window, at least the last before its end."""
    rows = con.execute(
        "SELECT part, first FROM memory_states WHERE device_id = ? AND level = ? ORDER BY part", (facts.device, level)
    ).fetchall()
    if not rows or [part for part, _ in rows] != list(range(len(rows))):
        raise ValueError("memory without states")
    first = [begin for _, begin in rows]
    # The state before the first that begins in the window holds when it begins.
    begin = 0 if start is None else max(int(np.searchsorted(first, start)) - 1, 0)
    end = len(rows) if stop is None else max(int(np.searchsorted(first, stop, side="right")), begin + 1)
    return list(range(begin, end))


def _read_parts(
    con: Any, table: str, device: int, columns: int, parts: Sequence[int] | None, more: str = ""
) -> list[Int64s]:
    """The columns of some parts, or all; the first of them is the difference from the row before, within a part."""
    if parts is not None:
        if not parts:
            return [np.zeros(0, np.int64) for _ in range(columns)]
        more += f" AND part BETWEEN {int(parts[0])} AND {int(parts[-1])}"
    result = []
    for (packed,) in con.execute(f"SELECT packed FROM {table} WHERE device_id = ? {more} ORDER BY part", (device,)):
        rows = unpack_from(con, packed, columns)
        summed = columns if table == "memory_states" else 1
        result.append([np.cumsum(column) for column in rows[:summed]] + rows[summed:])
    if not result:
        return [np.zeros(0, np.int64) for _ in range(columns)]
    return [np.concatenate(column) for column in zip(*result, strict=True)]
