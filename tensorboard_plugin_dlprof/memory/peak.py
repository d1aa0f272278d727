"""The peak of a device's memory and what it consists of; the same at any moment and in any iteration."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, HELD_BEFORE, Blocks, History
from tensorboard_plugin_dlprof.events.tables import Int8s, Int32s, Int64s

_LINE = re.compile(r"(.+\.pyx?)\(\d+\): ")
"""A line of a program, as snapshots tell it."""


_SIZES = (1 << 20, 10 << 20, 100 << 20, 1 << 30)
_SIZE_NAMES = ("up to 1 MiB", "1 to 10 MiB", "10 to 100 MiB", "100 MiB to 1 GiB", "more than 1 GiB")


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
    """The peak of the states from ``first`` up to ``last`` (exclusive; by default all).

    Where the source wrote totals, one of them is the peak: what was held before the first event only follows from it.
    """
    is_written = history.measure == "allocated" and int(history.reserved_bytes[0]) >= 0
    first = max(first, 1) if is_written and len(history.in_use_bytes[:last]) > 1 else first
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
    return categories_of(_open(history, state), int(history.in_use_bytes[state]), history.relative)


def by_owner(history: History, state: int) -> list[Held]:
    """What is in use in a state by who allocated it, the largest first; the rows add up to ``in_use_bytes``."""
    in_use = int(history.in_use_bytes[state])
    return owners_in(_open(history, state), history.owners, in_use, history.relative)


def categories_of(blocks: Blocks, in_use_bytes: int, relative: bool) -> list[Held]:
    """The sums of open blocks by category, and what was held before the recording."""
    sizes = _sums(blocks.category, blocks.num_bytes)
    named = {CATEGORIES[number]: held for number, held in sizes.items()}
    return _with_rest(named, in_use_bytes, relative and not len(blocks.num_bytes))


def owners_in(blocks: Blocks, owners: Sequence[str], in_use_bytes: int, relative: bool) -> list[Held]:
    """The sums of open blocks by who allocated them. What repeats in a model (layers.0, Layer[1]) is one row."""
    return _named(blocks, blocks.owner, [repeated(owner) for owner in owners], in_use_bytes, relative)


def stacks_in(blocks: Blocks, stacks: Sequence[str], in_use_bytes: int, relative: bool) -> list[Held]:
    """The sums of open blocks by their stacks; none where no stacks were recorded."""
    return _named(blocks, blocks.stack, stacks, in_use_bytes, relative) if len(stacks) > 1 else []


def sizes_in(blocks: Blocks, in_use_bytes: int, relative: bool) -> list[Held]:
    """The sums of open blocks by their size."""
    number = np.searchsorted(_SIZES, blocks.num_bytes).astype(np.int32)
    return _named(blocks, number, _SIZE_NAMES, in_use_bytes, relative)


def _named(blocks: Blocks, number: Int32s, names: Sequence[str], in_use_bytes: int, relative: bool) -> list[Held]:
    sizes: dict[str, tuple[int, int]] = {}
    for each, (num_bytes, count) in _sums(number, blocks.num_bytes).items():
        name = names[each] or "unknown"
        before = sizes.get(name, (0, 0))
        sizes[name] = (before[0] + num_bytes, before[1] + count)
    return _with_rest(sizes, in_use_bytes, relative and not len(blocks.num_bytes))


def modules_in(blocks: Blocks, owners: Sequence[str], in_use_bytes: int, relative: bool) -> list[Held]:
    """As ``owners_in``, by the module around the op that allocated a block, or by the file of the line that did."""
    return owners_in(blocks, [_module_of(owner) for owner in owners], in_use_bytes, relative)


def _module_of(owner: str) -> str:
    if line := _LINE.match(owner):
        return line[1]
    return (owner.rpartition("/")[0] or "outside of modules") if owner.startswith("/") else owner


def stacked(blocks: Blocks, states: Int64s, in_use_bytes: Int64s, relative: bool) -> dict[str, Int64s]:
    """The bytes of each category in each of some states; they add up to ``in_use_bytes``, which has their shape.

    Args:
        blocks: Those that are allocated in any of the states.
        states: Numbers of states.
        in_use_bytes: Memory in use in each of these.
        relative: Whether these count from the start of the recording.
    """
    sums: dict[str, Int64s] = {}
    for number in distinct_values(blocks.category).tolist():
        of = blocks.category == number
        begun, ended = (
            _sum_before(moment[of], blocks.num_bytes[of], states) for moment in (blocks.allocated, blocks.freed)
        )
        sums[CATEGORIES[number]] = begun - ended
    return with_rest(sums, in_use_bytes, relative)


def with_rest(kinds: dict[str, Int64s], in_use_bytes: Int64s, relative: bool) -> dict[str, Int64s]:
    """The bytes of categories in some states, and the rest of what is in use: what was held before the recording."""
    rest = in_use_bytes - sum(kinds.values())
    if not rest.any():
        return kinds
    name = "unknown" if relative and not kinds else CATEGORIES[HELD_BEFORE]
    return {**kinds, name: kinds.get(name, 0) + rest}


def _sum_before(event: Int64s, num_bytes: Int64s, states: Int64s) -> Int64s:
    """The bytes of the blocks whose event is before each state."""
    order = np.argsort(event, kind="stable")
    sums = np.append(0, np.cumsum(num_bytes[order]))
    before: Int64s = sums[np.searchsorted(event[order], states, side="left")]
    return before


def repeated(path: str) -> str:
    """The path of an op or a module without the numbers of repeated parts; a line of a program as it is."""
    return path_pattern(path) if path.startswith("/") and not _LINE.match(path) else path


def _open(history: History, state: int) -> Blocks:
    return some_rows(history.blocks, open_blocks(history, state))


def _sums(key: Int8s | Int32s, num_bytes: Int64s) -> dict[int, tuple[int, int]]:
    """Bytes and blocks of each key."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(key) else np.zeros(0, np.int64)
    counts = np.diff(np.append(first, len(key)))
    sums = np.add.reduceat(num_bytes[order], first) if len(key) else first
    columns = zip(ordered[first].tolist(), sums.tolist(), counts.tolist(), strict=True)
    return {number: (total, count) for number, total, count in columns}


def _with_rest(sizes: dict[str, tuple[int, int]], in_use_bytes: int, is_unknown: bool) -> list[Held]:
    shown = [Held(name, num_bytes, blocks) for name, (num_bytes, blocks) in sizes.items()]
    rest = in_use_bytes - sum(held.num_bytes for held in shown)
    if rest:
        # Values that count from the start may be below 0: more was freed than allocated.
        shown.append(Held("unknown" if is_unknown else CATEGORIES[HELD_BEFORE], rest, None))
    return sorted(shown, key=lambda held: -held.num_bytes)
