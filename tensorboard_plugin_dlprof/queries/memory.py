"""What holds the memory of the GPUs: the answer about the peak, the curve over time, and any moment."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.errors import NotFound, UnfitDatabase
from tensorboard_plugin_dlprof.events.memory_tables import (
    CATEGORIES,
    HELD_BEFORE,
    KINDS,
    STAYS,
    Blocks,
    History,
    Phase,
)
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.memory.answer import MOST_OWNERS, SCHEMA, held_rows, not_recorded
from tensorboard_plugin_dlprof.memory.peak import (
    categories_of,
    modules_in,
    owners_in,
    sizes_in,
    stacked,
    stacks_in,
    with_rest,
)
from tensorboard_plugin_dlprof.memory.stored import (
    RETURNED,
    TAKEN,
    Facts,
    Steps,
    check_texts,
    devices_of,
    open_blocks_of,
    owner_ops_of,
    owners_of,
    read_memory,
    read_states,
    stacks_of,
    state_of,
    times_of,
)
from tensorboard_plugin_dlprof.queries.extension import info, recorded, shown_name
from tensorboard_plugin_dlprof.queries.memory_answers import (
    CategoryCurve,
    MemoryCurve,
    MemoryPeak,
    MemoryPhase,
)
from tensorboard_plugin_dlprof.queries.memory_table import NO_COSTS, op_costs
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.units import shares

MOST_BINS = 2_000
_LARGEST = 60
"""Blocks of a moment that are told one by one; what they cost is looked up for each."""

_MOST_PHASES = 500


def memory(connection: sqlite3.Connection) -> dict[str, Any]:
    """The answer of ``dlprof memory`` about each GPU; no devices where nothing was recorded."""
    rows = connection.execute(
        "SELECT device_id, headline, CAST(answer AS BLOB) FROM memory_answers ORDER BY device_id"
    ).fetchall()
    with damage_told(connection):
        devices = {str(int(device)): _answer(text) for device, _, text in rows}
    missing = not_recorded(info(connection).get("format", ""), recorded(connection) or ())
    return {
        "schema": SCHEMA,
        "headline": str(rows[0][1]) if rows else missing,
        "devices": devices,
    }


def _answer(text: bytes) -> dict[str, Any]:
    """A stored answer, with the numbers that others rely on checked."""
    result: dict[str, Any] = json.loads(text)
    for row in result["at_peak"]:
        str(row["category"]), int(row["bytes"])
    int(result["peak_bytes"]), int(result["events"]), bool(result["relative"]), list(result["findings"])
    return result


def highest_peak(connection: sqlite3.Connection) -> MemoryPeak | None:
    """The peak of the GPU that holds most; None if no memory was recorded."""
    devices = memory(connection)["devices"]
    if not devices:
        return None
    device = max(devices, key=lambda each: int(devices[each]["peak_bytes"]))
    result = devices[device]
    percentages = shares([row["bytes"] for row in result["at_peak"]], result["peak_bytes"])
    # That all of it is unknown tells nothing.
    known = any(row["category"] != "unknown" for row in result["at_peak"])
    return {
        "device": device,
        "peak_bytes": result["peak_bytes"],
        "peak_of": result["peak_of"],
        "peak_reserved_bytes": result["peak_reserved_bytes"],
        "capacity_bytes": result["capacity_bytes"],
        "relative": result["relative"],
        "shares": [
            (row["category"], round(100 * share, 1))
            for row, share in [*zip(result["at_peak"], percentages, strict=True)][:3]
            if share is not None and known
        ],
    }


def known_peak(connection: sqlite3.Connection) -> MemoryPeak | None:
    """The same; None also where a snapshot tells only what was held when it was taken."""
    peak = highest_peak(connection)
    return peak if peak is not None and memory(connection)["devices"][peak["device"]]["events"] else None


def memory_curve(
    connection: sqlite3.Connection, device: int, start: int | None, stop: int | None, bins: int
) -> MemoryCurve:
    """Memory in use and reserved over time, or over events where no times were recorded.

    Args:
        connection: To a database.
        device: The GPU.
        start: First moment in ns (or event); by default that of the first event.
        stop: Last moment.
        bins: Bins of equal length, up to ``MOST_BINS``. Each has its least and its most, so that no peak is lost.
    """
    facts = facts_of(connection, device)
    with damage_told(connection):
        steps = read_states(connection, facts, start, stop)
    axis = steps.axis
    first = int(axis[0]) if start is None else start
    last = int(axis[-1]) if stop is None else max(stop, first)
    edges = np.linspace(first, last, bins + 1)
    # Each bin begins with the state that holds when it begins.
    begin = np.clip(np.searchsorted(axis, edges[:-1], side="right") - 1, 0, len(axis) - 1)
    end = np.clip(np.searchsorted(axis, edges[1:], side="right"), begin + 1, len(axis))
    highest = [low + int(steps.high_bytes[low:high].argmax()) for low, high in zip(begin, end, strict=True)]
    return {
        "device": device,
        "unit": "ns" if facts.timed else "events",
        "from": first,
        "to": last,
        "in_use_min_bytes": _reduced(np.minimum, steps.low_bytes, begin, end),
        "in_use_max_bytes": _reduced(np.maximum, steps.high_bytes, begin, end),
        "reserved_max_bytes": _reduced(np.maximum, steps.reserved_bytes, begin, end) if facts.reserved else None,
        "categories": _stack(connection, facts, steps, np.array(highest)),
        "capacity_bytes": facts.capacity_bytes or None,
        "phases": _phases(connection, device, first, last),
        "peak_at": _peak_at(connection, facts, steps, first, last),
        "segments_taken": _marks(connection, device, TAKEN, first, last, bins),
        "segments_returned": _marks(connection, device, RETURNED, first, last, bins),
    }


def _peak_in(
    connection: sqlite3.Connection, facts: Facts, start: int | None, stop: int | None
) -> tuple[int, int | None, int]:
    """The state of the first peak of a window, as ``state_of`` has it: of several at one moment the highest."""
    steps = read_states(connection, facts, start, stop)
    first = int(steps.axis[0]) if start is None else start
    last = int(steps.axis[-1]) if stop is None else max(stop, first)
    steps, place = _highest(connection, facts, steps, first, last)
    if steps.first_state is None:
        return state_of(connection, facts, int(steps.axis[place]))
    time_ns = int(steps.axis[place]) if facts.timed else None
    return steps.first_state + place, time_ns, int(steps.high_bytes[place])


def _peak_at(connection: sqlite3.Connection, facts: Facts, steps: Steps, first: int, last: int) -> int:
    """The first moment of a window when most is in use."""
    steps, place = _highest(connection, facts, steps, first, last)
    return min(max(int(steps.axis[place]), first), last)


def _highest(connection: sqlite3.Connection, facts: Facts, steps: Steps, first: int, last: int) -> tuple[Steps, int]:
    """Rows of the curve around the first peak of a window, as fine as they are stored, and its place in them."""
    # Whole parts are read; the state that holds when the window begins belongs to it.
    low = max(int(np.searchsorted(steps.axis, first, side="right")) - 1, 0)
    high = max(int(np.searchsorted(steps.axis, last, side="right")), low + 1)
    place = low + int(np.argmax(steps.high_bytes[low:high]))
    if steps.first_state is None:
        # A row stands for several states: those of it are read.
        most, start = int(steps.high_bytes[place]), int(steps.axis[place])
        stop = int(steps.axis[place + 1]) if place + 1 < len(steps.axis) else last
        with damage_told(connection):
            steps = read_states(connection, facts, start, min(stop, last))
        place = int(np.argmax((steps.high_bytes == most) & (steps.axis >= start)))
    return steps, place


def _marks(connection: sqlite3.Connection, device: int, kind: str, first: int, last: int, bins: int) -> list[int]:
    """Numbers of the bins of a window, from 0, in which there are events of a kind."""
    rows = connection.execute(
        "SELECT DISTINCT (place - :first) * :bins / :length FROM memory_marks "
        "WHERE device_id = :device AND kind = :kind AND place BETWEEN :first AND :last",
        {"device": device, "kind": kind, "first": first, "last": last, "length": last - first + 1, "bins": bins},
    )
    with damage_told(connection):
        return [int(number) for (number,) in rows]


def _phases(connection: sqlite3.Connection, device: int, first: int, last: int) -> list[MemoryPhase]:
    """The phases of training steps in a window; none of too many, which nobody could tell apart."""
    rows = connection.execute(
        "SELECT start, stop, phase FROM memory_phases WHERE device_id = ? AND start <= ? AND stop >= ? "
        "AND phase <> 0 ORDER BY start LIMIT ?",
        (device, last, first, _MOST_PHASES + 1),
    ).fetchall()
    if len(rows) > _MOST_PHASES:
        return []
    with damage_told(connection):
        return [
            {"phase": Phase(phase).name.lower(), "from": max(int(start), first), "to": min(int(stop), last)}
            for start, stop, phase in rows
        ]


def _stack(connection: sqlite3.Connection, facts: Facts, steps: Steps, places: Int64s) -> list[CategoryCurve]:
    """What the memory in use consists of at some rows of the curve, what is held longest first."""
    in_use = steps.high_bytes[places]
    if steps.first_state is None:
        of_kinds = {name: kind[places] for name, kind in zip(KINDS, steps.kinds, strict=True) if kind.any()}
        result = with_rest(of_kinds, in_use, facts.relative)
    else:
        states = places + steps.first_state
        with damage_told(connection):
            blocks = open_blocks_of(connection, facts, int(states[0]), int(states[-1]))
            result = stacked(blocks, states, in_use, facts.relative)
    order = sorted(
        result, key=lambda name: (name not in ("unknown", CATEGORIES[HELD_BEFORE]), -int(result[name].sum()))
    )
    return [{"category": name, "bytes": result[name].tolist()} for name in order]


def memory_at(
    connection: sqlite3.Connection,
    scope: Scope,
    device: int,
    moment: int | None,
    window: tuple[int | None, int | None] = (None, None),
) -> dict[str, Any]:
    """What is in use at a moment (ns, or number of an event), by category and by who allocated it, and the largest
    blocks with what their ops cost; without a moment, at the first peak of a window, or at that of the recording."""
    facts = facts_of(connection, device)
    with damage_told(connection):
        if moment is None and window == (None, None):
            answer = memory(connection)["devices"][str(device)]
            state, time_ns, in_use = peak_state(connection, device), answer["peak_ns"], answer["peak_bytes"]
        elif moment is None:
            state, time_ns, in_use = _peak_in(connection, facts, *window)
        else:
            state, time_ns, in_use = state_of(connection, facts, moment)
        blocks = open_blocks_of(connection, facts, state)
        owners, stacks = owners_of(connection, device), stacks_of(connection, device)
        check_texts(blocks, owners, stacks)
        categories = categories_of(blocks, in_use, facts.relative)
        ops = owner_ops_of(connection, device)
        largest = _largest(connection, facts, blocks, owners, stacks)
        allocating = [ops[blocks.owner[row]] for row in _largest_rows(blocks)]
    costs = op_costs(connection, scope, {op for op in allocating if op is not None})
    return {
        "at_ns": time_ns,
        "in_use_bytes": in_use,
        "at_peak": held_rows(categories, "category"),
        "by_owner": held_rows(owners_in(blocks, owners, in_use, facts.relative)[:MOST_OWNERS], "owner"),
        "by_module": held_rows(modules_in(blocks, owners, in_use, facts.relative)[:MOST_OWNERS], "module"),
        "by_stack": held_rows(stacks_in(blocks, stacks, in_use, facts.relative)[:MOST_OWNERS], "stack"),
        "by_size": held_rows(sizes_in(blocks, in_use, facts.relative), "size"),
        "blocks": [
            {**row, **(NO_COSTS if op is None else costs.get(op, NO_COSTS))}
            for row, op in zip(largest, allocating, strict=True)
        ],
    }


def peak_state(connection: sqlite3.Connection, device: int) -> int:
    """The state of the peak of a GPU, of which its answer tells."""
    event = memory(connection)["devices"][str(device)]["peak_event"]
    return 0 if event is None else int(event) + 1


def owners_at_peak(connection: sqlite3.Connection, device: int, answer: dict[str, Any]) -> dict[str, int]:
    """The bytes at the peak of a GPU by who allocated them; ``by_owner`` of its answer has the largest of these.

    Returns:
        Bytes by name, which add up to the peak; empty where nothing tells who allocated any of it.
    """
    facts = facts_of(connection, device)
    with damage_told(connection):
        event, owners = answer["peak_event"], owners_of(connection, device)
        blocks = open_blocks_of(connection, facts, 0 if event is None else int(event) + 1)
        check_texts(blocks, owners, stacks_of(connection, device))
        if not any(owners[number] for number in distinct_values(blocks.owner).tolist()):
            return {}
        held = owners_in(blocks, owners, int(answer["peak_bytes"]), facts.relative)
    return {each.name: each.num_bytes for each in held}


def _largest_rows(blocks: Blocks) -> Int64s:
    """Rows of the largest blocks, largest first."""
    return np.argsort(-blocks.num_bytes, kind="stable")[:_LARGEST]


def _largest(
    connection: sqlite3.Connection, facts: Facts, blocks: Blocks, owners: list[str], stacks: list[str]
) -> list[dict[str, Any]]:
    rows = _largest_rows(blocks)
    allocated, freed = blocks.allocated[rows], blocks.freed[rows]
    stays = freed == STAYS
    begin_ns = times_of(connection, facts, allocated)
    end_ns = times_of(connection, facts, np.where(stays, -1, freed))
    return [
        {
            "size_bytes": int(blocks.num_bytes[row]),
            "category": CATEGORIES[blocks.category[row]],
            "owner": owners[blocks.owner[row]] or None,
            "stack": stacks[blocks.stack[row]] or None,
            "allocated_event": int(allocated[place]) if allocated[place] >= 0 else None,
            "allocated_ns": begin_ns[place],
            "lasts_ns": _length(begin_ns[place], end_ns[place]),
            "stays": bool(stays[place]),
        }
        for place, row in enumerate(rows.tolist())
    ]


def _length(begin: int | None, end: int | None) -> int | None:
    return None if begin is None or end is None else end - begin


def block_rows(history: History) -> list[dict[str, Any]]:
    """The blocks of a GPU, by allocation."""
    blocks = history.blocks
    timed, events = len(history.time_ns) > 0, len(history.in_use_bytes) - 1
    columns = (blocks.allocated, blocks.freed, blocks.num_bytes, blocks.category, blocks.owner, blocks.stack)
    result = []
    for allocated, freed, num_bytes, category, owner, stack in zip(*(each.tolist() for each in columns), strict=True):
        is_freed = freed < events
        result.append(
            {
                "device_id": history.device,
                "size_bytes": num_bytes,
                "category": CATEGORIES[category],
                "owner": history.owners[owner],
                "stack": history.stacks[stack],
                "allocated_event": allocated if allocated >= 0 else None,
                "freed_event": freed if is_freed else None,
                "allocated_ns": int(history.time_ns[allocated]) if timed and allocated >= 0 else None,
                "freed_ns": int(history.time_ns[freed]) if timed and is_freed else None,
            }
        )
    return result


def histories_of(connection: sqlite3.Connection) -> dict[int, History]:
    """The memory of each GPU, by its number.

    Raises:
        UnfitDatabase: It is damaged.
    """
    cache: dict[str, Any] = getattr(connection, "cache", {})
    if "memory" not in cache:
        with damage_told(connection):
            cache["memory"] = {each.device: each for each in read_memory(connection)}
    result: dict[int, History] = cache["memory"]
    return result


def timed_devices(connection: sqlite3.Connection) -> list[Facts]:
    """The GPUs whose memory was recorded with times."""
    with damage_told(connection):
        return [facts for facts in devices_of(connection) if facts.timed]


def facts_of(connection: sqlite3.Connection, device: int) -> Facts:
    """The facts about the memory of one GPU.

    Raises:
        NotFound: None was recorded.
    """
    with damage_told(connection):
        for facts in devices_of(connection):
            if facts.device == device:
                return facts
    raise NotFound(f"No memory was recorded of GPU {device}.")


@contextmanager
def damage_told(connection: sqlite3.Connection) -> Iterator[None]:
    """Says of what is damaged that it is."""
    try:
        yield
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        raise UnfitDatabase(f"The memory in {shown_name(connection)} is damaged; import its source again.") from None


def _reduced(ufunc: np.ufunc, values: Int64s, begin: Int64s, end: Int64s) -> list[int]:
    """The ufunc over ``values[begin:end]`` of each bin."""
    bounds = np.stack((begin, end), axis=1).reshape(-1)
    result: list[int] = ufunc.reduceat(np.append(values, values[-1]), bounds)[::2].tolist()
    return result
