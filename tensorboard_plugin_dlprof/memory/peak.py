"""The peak of a device's memory and what it consists of; the same at any moment and in any iteration."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, HELD_BEFORE, History
from tensorboard_plugin_dlprof.events.tables import Int64s

_NUMBER = re.compile(r"(?<=\[)\d+(?=\])|(?<=[._])\d+(?=[./]|\Z)")
"""The number of a repeated part of a model in a path."""


class Held(msgspec.Struct, frozen=True):
    """Memory in use at one moment, by category, or by who allocated it."""

    name: str
    num_bytes: int
    blocks: int | None
    """None for what was held before the recording."""


class Peak(msgspec.Struct, frozen=True):
    """The largest memory in use, at its first moment."""

    state: int
    """Number of the state: 0 before the first event, 1 after it, ..."""
    time_ns: int | None
    in_use_bytes: int


def peak_of(history: History, first: int = 0, last: int | None = None) -> Peak:
    """The peak of the states from ``first`` up to ``last`` (exclusive; by default all)."""
    states = history.in_use_bytes[first:last]
    state = first + int(states.argmax())
    return Peak(state, time_of(history, state), int(history.in_use_bytes[state]))


def time_of(history: History, state: int) -> int | None:
    """When a state began; None if no times were recorded, or before the first event."""
    if not len(history.time_ns):
        return None
    return int(history.time_ns[max(state - 1, 0)])


def open_blocks(history: History, state: int) -> Int64s:
    """Rows of the blocks that are allocated in a state."""
    blocks = history.blocks
    return np.flatnonzero((blocks.allocated < state) & (blocks.freed >= state))


def by_category(history: History, state: int) -> list[Held]:
    """What is in use in a state, the largest first; the rows add up to ``in_use_bytes``."""
    rows = open_blocks(history, state)
    sizes = _sums(history.blocks.category[rows].astype(np.int64), history.blocks.num_bytes[rows])
    return _with_rest(history, state, {CATEGORIES[number]: held for number, held in sizes.items()})


def by_owner(history: History, state: int) -> list[Held]:
    """What is in use in a state by who allocated it, the largest first; the rows add up to ``in_use_bytes``."""
    rows = open_blocks(history, state)
    sizes: dict[str, tuple[int, int]] = {}
    for number, (num_bytes, count) in _sums(
        history.blocks.owner[rows].astype(np.int64), history.blocks.num_bytes[rows]
    ).items():
        # What repeats in a model (layers.0, Layer[1]) is one row.
        name = _NUMBER.sub("*", history.owners[number]) or "unknown"
        before = sizes.get(name, (0, 0))
        sizes[name] = (before[0] + num_bytes, before[1] + count)
    return _with_rest(history, state, sizes)


def _sums(key: Int64s, num_bytes: Int64s) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for number in distinct_values(key).tolist():
        own = num_bytes[key == number]
        found[number] = int(own.sum()), len(own)
    return found


def _with_rest(history: History, state: int, sizes: dict[str, tuple[int, int]]) -> list[Held]:
    found = [Held(name, num_bytes, blocks) for name, (num_bytes, blocks) in sizes.items()]
    rest = int(history.in_use_bytes[state]) - sum(held.num_bytes for held in found)
    if rest:
        # Values that count from the start may be below 0: more was freed than allocated.
        name = "unknown" if history.relative and not len(history.blocks.allocated) else CATEGORIES[HELD_BEFORE]
        found.append(Held(name, rest, None))
    return sorted(found, key=lambda held: -held.num_bytes)
