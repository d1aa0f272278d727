"""Writes the tables of ``sql/memory.sql``; ``memory.stored`` reads them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.packing import PART, pack
from tensorboard_plugin_dlprof.columns.rows import insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, KINDS, STAYS, Blocks, History
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.memory.answer import answer
from tensorboard_plugin_dlprof.memory.peak import peak_of
from tensorboard_plugin_dlprof.memory.stored import GROUP, RETURNED, TAKEN
from tensorboard_plugin_dlprof.profile.tables import Profile

_LARGEST = 500
"""Of the blocks at the peak, and of the others, that are stored as rows of a table."""

_MOST_PHASES = 20_000
"""More would take longer to read than the curve."""

_STATES = 65_536
"""States after which the open blocks are stored again."""


def write_memory(con: sqlite3.Connection, profile: Profile) -> None:
    """Store the memory of each GPU, and what is answered about it."""
    if profile.memory_histories:
        result = answer(profile, "")
        rows = [(int(device), result["headline"], json.dumps(each)) for device, each in result["devices"].items()]
        insert_rows(con, "memory_answers", ("device_id", "headline", "answer"), rows)
    for history in profile.memory_histories:
        write_history(con, history)


def write_history(con: sqlite3.Connection, history: History) -> None:
    """Store the memory of one GPU."""
    device = history.device
    has_reserved = bool((history.reserved_bytes >= 0).all())
    facts: dict[str, int | str | None] = {
        "device_id": device,
        "measure": history.measure,
        "relative": history.relative,
        "timed": len(history.time_ns) > 0,
        "reserved": has_reserved,
        "states": len(history.in_use_bytes),
        "capacity_bytes": history.capacity_bytes or None,
        "settings": storable(history.settings),
        "lost_frees": history.lost_frees,
    }
    insert_row(con, "memory_devices", facts)
    states = len(history.in_use_bytes)
    time = np.append(history.time_ns[:1], history.time_ns) if len(history.time_ns) else np.zeros(states, np.int64)
    reserved = history.reserved_bytes if has_reserved else np.zeros(states, np.int64)
    _write_states(con, history, [time, history.in_use_bytes, reserved])
    _write_blocks(con, device, history.blocks, states)
    _write_largest(con, history)
    ops = _op_ids(history)
    owners = [(device, number, storable(owner), ops[number]) for number, owner in enumerate(history.owners)]
    insert_rows(con, "memory_owners", ("device_id", "number", "path", "read_only_ops_id"), owners)
    stacks = [(device, number, storable(stack)) for number, stack in enumerate(history.stacks)]
    insert_rows(con, "memory_stacks", ("device_id", "number", "stack"), stacks)
    segments = [
        (device, number, each.address, each.total_bytes, storable(each.pool), each.stream, json.dumps(each.blocks))
        for number, each in enumerate(history.segments)
    ]
    columns_of = ("device_id", "number", "address", "total_bytes", "pool", "stream", "blocks")
    insert_rows(con, "memory_segments", columns_of, segments)
    marks: list[tuple[int, int, str, int | None, int | None]] = [
        (device, event, kind, None, None)
        for kind, events in ((TAKEN, history.segment_events), (RETURNED, history.return_events))
        for event in events.tolist()
    ]
    marks += [
        (device, event, "out_of_memory", asked, free if free >= 0 else None)
        for event, asked, free in history.out_of_memory
    ]
    timed = len(history.time_ns) > 0
    columns_of_marks = ("device_id", "event", "kind", "num_bytes", "free_bytes", "place")
    placed = [(*mark, int(history.time_ns[mark[1]]) if timed else mark[1]) for mark in marks]
    insert_rows(con, "memory_marks", columns_of_marks, placed)
    _write_phases(con, history)


def _op_ids(history: History) -> list[int | None]:
    """``read_only_ops.id`` of each owner; those of a new database are the rows of ``Profile.ops``, from 1."""
    if not len(history.owner_ops):
        return [None] * len(history.owners)
    return [row + 1 if row >= 0 else None for row in history.owner_ops.tolist()]


def _write_phases(con: sqlite3.Connection, history: History) -> None:
    begin = np.flatnonzero(np.diff(history.phase, prepend=np.int8(-1)))
    if not 0 < len(begin) <= _MOST_PHASES:
        return
    end = np.append(begin[1:], len(history.phase))
    start, stop = (history.time_ns[begin], history.time_ns[end - 1]) if len(history.time_ns) else (begin, end)
    rows = zip(start.tolist(), stop.tolist(), history.phase[begin].tolist(), strict=True)
    insert_rows(con, "memory_phases", ("device_id", "start", "stop", "phase"), [(history.device, *row) for row in rows])


def _write_largest(con: sqlite3.Connection, history: History) -> None:
    blocks, state = history.blocks, peak_of(history).state
    at_peak = (blocks.allocated < state) & (blocks.freed >= state)
    ops = _op_ids(history)
    rows = []
    for is_at_peak in (True, False):
        some = np.flatnonzero(at_peak == is_at_peak)
        if len(some) > _LARGEST:
            some = some[np.argpartition(-blocks.num_bytes[some], _LARGEST)[:_LARGEST]]
        for block in some[np.argsort(-blocks.num_bytes[some], kind="stable")].tolist():
            begin, end = int(blocks.allocated[block]), int(blocks.freed[block])
            is_freed = end != STAYS
            begin_ns = int(history.time_ns[begin]) if len(history.time_ns) and begin >= 0 else None
            end_ns = int(history.time_ns[end]) if len(history.time_ns) and is_freed else None
            rows.append(
                (
                    history.device,
                    int(blocks.num_bytes[block]),
                    is_at_peak,
                    CATEGORIES[blocks.category[block]],
                    storable(history.owners[blocks.owner[block]]) or None,
                    int(blocks.stack[block]),
                    ops[int(blocks.owner[block])],
                    begin if begin >= 0 else None,
                    end if is_freed else None,
                    begin_ns,
                    end_ns,
                    end_ns - begin_ns if begin_ns is not None and end_ns is not None else None,
                )
            )
    columns = (
        "device_id",
        "size_bytes",
        "at_peak",
        "category",
        "owner",
        "stack",
        "read_only_ops_id",
        "allocated_event",
    )
    insert_rows(con, "memory_largest", (*columns, "freed_event", "allocated_ns", "freed_ns", "lasts_ns"), rows)


def _write_states(con: sqlite3.Connection, history: History, columns: list[Int64s]) -> None:
    """The curve, and coarser levels of it until one fits into a part; these with what most memory consists of."""
    _write_level(con, history, 0, columns)
    axis, low, high, reserved = columns[0], columns[1], columns[1], columns[2]
    kinds: list[Int64s] = []
    level = 0
    while len(axis) > PART:
        level += 1
        groups = np.arange(0, len(axis), GROUP)
        most = groups + _grouped(high).argmax(axis=1)
        axis, low, high = axis[groups], _grouped(low).min(axis=1), high[most]
        reserved = _grouped(reserved).max(axis=1)
        kinds = [kind[most] for kind in kinds] if kinds else _by_category(history.blocks, most)
        _write_level(con, history, level, [axis, low, high, reserved, *kinds])


def _write_level(con: sqlite3.Connection, history: History, level: int, columns: list[Int64s]) -> None:
    rows = []
    timed = len(history.time_ns) > 0
    for part, begin in enumerate(range(0, len(columns[0]), PART)):
        some = [np.diff(column[begin : begin + PART], prepend=np.int64(0)) for column in columns]
        first = int(columns[0][begin]) if timed else begin * GROUP**level - 1
        rows.append((history.device, level, part, first, pack(some)))
    insert_rows(con, "memory_states", ("device_id", "level", "part", "first", "packed"), rows)


def _grouped(column: Int64s) -> Int64s:
    """Rows of ``GROUP`` values; the last is filled with its last value."""
    return np.pad(column, (0, -len(column) % GROUP), mode="edge").reshape(-1, GROUP)


def _by_category(blocks: Blocks, states: Int64s) -> list[Int64s]:
    """The bytes of each of ``KINDS`` in some states."""
    last = int(states[-1])
    change = np.zeros(last + 1, np.int64)
    kind = np.full(last + 1, -1, np.int8)
    # No event both allocates and frees, or touches two blocks.
    for event, sign in ((blocks.allocated, 1), (blocks.freed, -1)):
        own = np.flatnonzero((event >= 0) & (event < last))
        change[event[own] + 1] = sign * blocks.num_bytes[own]
        kind[event[own] + 1] = blocks.category[own]
    before = blocks.allocated < 0
    result = []
    for number in range(len(KINDS)):
        held = int(blocks.num_bytes[before & (blocks.category == number)].sum())
        of = np.flatnonzero(kind == number)
        sums = np.zeros(len(of) + 1, np.int64)
        np.cumsum(change[of], out=sums[1:])
        result.append(sums[np.searchsorted(of, states, side="right")] + held)
    return result


def _write_blocks(con: sqlite3.Connection, device: int, blocks: Blocks, states: int) -> None:
    lasts = np.where(blocks.freed == STAYS, -1, blocks.freed - blocks.allocated)
    columns = [blocks.allocated, lasts, blocks.num_bytes, blocks.category, blocks.owner, blocks.stack]
    rows = [
        (device, part, int(blocks.allocated[begin]), _packed(columns, slice(begin, begin + PART)))
        for part, begin in enumerate(range(0, len(lasts), PART))
    ]
    insert_rows(con, "memory_blocks", ("device_id", "part", "first", "packed"), rows)
    still, begin, fresh = np.zeros(0, np.int64), 0, 0
    for state in range(_STATES, states, _STATES):
        end = int(np.searchsorted(blocks.allocated, state))
        still = np.append(still, np.arange(begin, end))
        still = still[blocks.freed[still] >= state]
        begin, fresh = end, fresh + end - begin
        if len(still) > fresh:
            continue  # What stays would be stored over and over: all together are no more than blocks.
        fresh = 0
        opened = [
            (device, state, part, _packed(columns, still[first : first + PART]))
            for part, first in enumerate(range(0, len(still), PART))
        ]
        insert_rows(con, "memory_open", ("device_id", "state", "part", "packed"), opened)


def _packed(columns: Sequence[Any], rows: slice | Int64s) -> bytes:
    some = [column[rows] for column in columns]
    return pack([np.diff(some[0], prepend=np.int64(0)), *some[1:]])
