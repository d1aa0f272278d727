"""Which operations of the members of a group are the same, by number or by order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective, CommunicationRows

_SHIFTS = 512
"""How many operations a rank may have begun to record later than another."""

_TOGETHER_NS = 100_000


def by_ids(ids: Sequence[Int64s]) -> Int64s | None:
    """For each member, the places of the ids that all members have, in the first member's order."""
    common = ids[0]
    for each in ids[1:]:
        common = common[np.isin(common, each)]
    if not len(common):
        return None
    aligned = []
    for each in ids:
        order = np.argsort(each, kind="stable")
        aligned.append(order[np.searchsorted(each, common, sorter=order)])
    return np.stack(aligned)


def by_order(tables: Sequence[CommunicationRows], rows: Sequence[Int64s], bases: Sequence[int]) -> Int64s | None:
    """For each member, the places of the operations that all members have, if they began to record at different times.

    The pattern of kinds and sizes tells how many operations a member lacks; the smallest shift at which it fits counts,
    and of those that fit, the first whose ends agree.
    """
    patterns = [_pattern(table, some) for table, some in zip(tables, rows, strict=True)]
    ends = [table.end_ns[some] + base for table, some, base in zip(tables, rows, bases, strict=True)]
    first = min(range(len(rows)), key=lambda member: len(rows[member]))
    shifts = []
    for pattern, end in zip(patterns, ends, strict=True):
        shift = _shift(patterns[first], pattern, ends[first], end)
        if shift is None:
            return None
        shifts.append(shift)
    begin = max(0, *(-shift for shift in shifts))
    length = min(len(pattern) - shift - begin for pattern, shift in zip(patterns, shifts, strict=True))
    if length <= 0:
        return None
    return np.stack([np.arange(begin + shift, begin + shift + length) for shift in shifts])


def _pattern(table: CommunicationRows, rows: Int64s) -> Int64s:
    """Kind and size of each operation as one number; ranks may exchange parts of different sizes."""
    kind = table.kind[rows]
    sized = kind ^ (table.in_elements[rows] << 8) ^ (table.element_bytes[rows] << 4)
    return np.where(kind == Collective.ALL_TO_ALL, kind, sized)


def _shift(pattern: Int64s, other: Int64s, end: Int64s, other_end: Int64s) -> int | None:
    """How many operations ``other`` has before the first of ``pattern``; negative if it lacks some."""
    fitting = []
    for size in range(min(max(len(pattern), len(other)), _SHIFTS)):
        for shift in (size, -size) if size else (0,):
            one, two = pattern[max(0, -shift) :], other[max(0, shift) :]
            common = min(len(one), len(two))
            if common < max(1, min(len(pattern), len(other)) // 2) or (one[:common] != two[:common]).any():
                continue
            apart = other_end[max(0, shift) :][:common] - end[max(0, -shift) :][:common]
            if np.median(np.abs(apart - np.median(apart))) <= _TOGETHER_NS:
                return shift
            fitting.append(shift)
    return fitting[0] if fitting else None
