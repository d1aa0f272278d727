"""Pairs allocations with their frees, and tells what blocks hold by when they were allocated and freed."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.memory_tables import CATEGORIES, STAYS, UNKNOWN, History, Phase
from tensorboard_plugin_dlprof.events.tables import Int8s, Int64s


class Pairs(msgspec.Struct):
    """Events paired by address."""

    allocated: Int64s
    freed: Int64s
    num_bytes: Int64s
    freed_unseen: Int64s
    """Events that free what was allocated before the recording."""
    lost_frees: int


def pair(address: Int64s, change_bytes: Int64s) -> Pairs:
    """Pair the allocations of one device with their frees.

    Args:
        address: Of each event, in order; -1 for events that allocate and free nothing.
        change_bytes: Positive for an allocation, negative for a free.
    """
    rows = np.flatnonzero((address != -1) & (change_bytes != 0))
    rows = _by_address(rows, address[rows])
    where, allocates = address[rows], change_bytes[rows] > 0
    follows = np.append(where[1:] == where[:-1], False) if len(rows) else np.zeros(0, np.bool_)
    del where
    following = np.append(rows[1:], 0) if len(rows) else rows
    freed = np.where(follows, following, STAYS)[allocates]
    own = rows[allocates]
    lost = follows & allocates & np.append(allocates[1:], False) if len(rows) else follows
    preceded = np.append(False, follows[:-1] & allocates[:-1]) if len(rows) else follows
    partner = np.full(len(address), STAYS, np.int64)
    partner[own] = freed
    allocated = np.flatnonzero((address != -1) & (change_bytes > 0))
    unseen = np.sort(rows[~allocates & ~preceded])
    return Pairs(allocated, partner[allocated], change_bytes[allocated], unseen, int(np.count_nonzero(lost)))


def _by_address(rows: Int64s, address: Int64s) -> Int64s:
    """Rows by address, then in order. To sort plain numbers takes a fraction of the time of sorting rows by them."""
    if not len(rows):
        return rows
    lowest, bits = int(address.min()), len(rows).bit_length()
    if (int(address.max()) - lowest).bit_length() + bits > 62:
        return rows[np.argsort(address, kind="stable")]
    keys = np.sort((address - lowest) << bits | np.arange(len(rows)))
    ordered: Int64s = rows[keys & ((1 << bits) - 1)]
    return ordered


def possible(history: History) -> History:
    """A history whose totals do not contradict each other: what contradicts is unknown.

    Nothing in use is less than nothing, an allocator has in use what it has reserved, and a GPU holds what it has.
    """
    in_use, reserved = history.in_use_bytes, history.reserved_bytes
    if not history.relative and int(in_use.min()) < 0:
        history.relative, history.in_use_bytes = True, in_use - in_use[0]
    if history.relative or (reserved < np.maximum(in_use, 0)).any():
        history.reserved_bytes = np.full(len(in_use), -1, np.int64)
    if max(int(in_use.max()), int(history.reserved_bytes.max())) > history.capacity_bytes:
        history.capacity_bytes = 0
    return history


def continued(phase: Int8s) -> Int8s:
    """Phases of events in order, each unknown one that of the event before."""
    known = np.maximum.accumulate(np.where(phase > Phase.UNKNOWN, np.arange(len(phase)), 0))
    return phase[known] if len(phase) else phase


def bridged(phase: Int8s) -> Int8s:
    """Phases of events in order, each unknown one that of the known ones around it where these agree.

    Where they differ nobody knows which it is: after the optimizer come the loading of data and the next step.
    """
    backward_in_time = continued(phase[::-1])[::-1]
    before = continued(phase)
    return np.where(before == backward_in_time, before, phase)


def are_several(phase: Int8s) -> bool:
    """Whether a recording has more than one phase, so that it has a backward pass or an optimizer."""
    return int(np.count_nonzero(np.bincount(phase, minlength=1)[1:])) > 1


def category_of(allocated: Int8s, freed: Int8s, stays: npt.NDArray[np.bool_], backward_follows: bool) -> Int8s:
    """The category of blocks, by the phases in which they were allocated and freed.

    Args:
        allocated: ``Phase`` of each allocation.
        freed: ``Phase`` of each free; of blocks that stay, any.
        stays: Whether the block is not freed.
        backward_follows: Whether the recording contains a backward pass.
    """
    names = {name: number for number, name in enumerate(CATEGORIES)}
    category = np.full(len(allocated), UNKNOWN, np.int8)
    optimizer, backward = allocated == Phase.OPTIMIZER, allocated == Phase.BACKWARD
    forward = (allocated == Phase.FORWARD) | (allocated == Phase.ZERO_GRAD)
    category[optimizer & stays] = names["optimizer state"]
    category[optimizer & ~stays] = names["optimizer temporary"]
    category[
        backward & (stays | (freed == Phase.ZERO_GRAD) | (freed == Phase.OPTIMIZER) | (freed == Phase.FORWARD))
    ] = names["gradient"]
    category[backward & ~stays & (freed == Phase.BACKWARD)] = names["backward temporary"]
    category[forward & ~stays & (freed == Phase.BACKWARD)] = names["activation"]
    category[forward & ~stays & (freed != Phase.BACKWARD)] = names["forward temporary"]
    category[forward & stays] = names["activation or output"]
    if not backward_follows:
        # Without a backward pass nothing tells an activation from a result.
        category[forward & ~stays] = names["forward temporary"]
    return category
