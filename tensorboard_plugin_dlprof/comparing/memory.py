"""What the peak of memory consists of on both sides of a comparison."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tensorboard_plugin_dlprof.comparing.matching import match_ops
from tensorboard_plugin_dlprof.comparing.recording import Op, Recording
from tensorboard_plugin_dlprof.comparing.side import Side

_MOST_ROWS = 20
"""Ops that have a row; the others share one."""


class HeldRow(msgspec.Struct, frozen=True):
    """A category of memory at the peaks of A and B, or who allocated it."""

    name: str
    a_bytes: int
    b_bytes: int

    @property
    def change_bytes(self) -> int:
        """B less A."""
        return self.b_bytes - self.a_bytes


class HeldRows(msgspec.Struct, frozen=True):
    """What the peaks of A and B consist of; the rows of each list add up to the peaks and to their change.

    Of several recordings, the one with the highest peak counts. A list is empty where a side does not tell.
    """

    by_category: list[HeldRow]
    """The largest change first."""
    by_op: list[HeldRow]
    """By the op or line that allocated, matched as ops are: the largest change first, and last what has no own row."""
    not_recorded: str | None
    """What a side does not tell, in one sentence; None if nothing is missing, or neither has memory."""


def held_rows(a: Side, b: Side) -> HeldRows:
    """Compare memory at the peaks."""
    highest = _highest(a), _highest(b)
    of_a, of_b = (one.memory_at_peak if one else {} for one in highest)
    if not of_a or not of_b:
        missing = _sides(of_a, of_b) if of_a or of_b else None
        return HeldRows([], [], missing and f"What {missing} holds at the peak of memory was not recorded.")
    categories = [HeldRow(name, of_a.get(name, 0), of_b.get(name, 0)) for name in {**of_a, **of_b}]
    by_a, by_b = (one.memory_by_op if one else {} for one in highest)
    missing = _sides(by_a, by_b)
    if missing:
        return HeldRows(_sorted(categories), [], f"Who allocated what {missing} held at the peak was not recorded.")
    return HeldRows(_sorted(categories), _by_op(by_a, by_b), None)


def _highest(side: Side) -> Recording | None:
    if any(recording.memory_peak_bytes is None for recording in side.recordings):
        return None
    return max(side.recordings, key=lambda recording: recording.memory_peak_bytes or 0)


def _sides(a: Mapping[str, int], b: Mapping[str, int]) -> str:
    """The names of the sides that tell nothing."""
    return " and ".join(name for name, held in (("A", a), ("B", b)) if not held)


def _by_op(a: Mapping[str, int], b: Mapping[str, int]) -> list[HeldRow]:
    rows = [
        HeldRow(match.name, sum(a[op.path] for op in match.a), sum(b[op.path] for op in match.b))
        for match in match_ops(_ops(a), _ops(b))
    ]
    rows.sort(key=lambda row: -max(row.a_bytes, row.b_bytes))
    own, others = _sorted(rows[:_MOST_ROWS]), rows[_MOST_ROWS:]
    if others:
        sums = sum(row.a_bytes for row in others), sum(row.b_bytes for row in others)
        own.append(HeldRow(f"others ({len(others):,})", *sums))
    return own


def _ops(held: Mapping[str, int]) -> list[Op]:
    """Those who allocate as ops, of which only the path is known."""
    return [Op(name, name, "", "", "", True, 0, 0, 0, 0, 0, 0, [], []) for name in held]


def _sorted(rows: list[HeldRow]) -> list[HeldRow]:
    return sorted(rows, key=lambda row: (-abs(row.change_bytes), -row.b_bytes))
