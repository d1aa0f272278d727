"""Divides the change into rows that add up to it exactly, in nanoseconds.

Each column of values is rounded by the largest remainder, so the rows of a column add up to its rounded total, and so
do their differences. Swapping A and B gives the exact negatives.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import msgspec

from tensorboard_plugin_dlprof.comparing.matching import GONE, NEW, Match
from tensorboard_plugin_dlprof.comparing.noise import Estimate, estimate
from tensorboard_plugin_dlprof.comparing.recording import BUSY_PARTS, FEWEST_SAMPLES, Op
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES

MOST_TESTED = 2_000
"""Rows, those with the largest changes, whose change is tested against noise."""

PART_LABELS: Mapping[str, str] = {
    "tensor_core": NAMES["compute_tensor"],
    "unknown_kernel": NAMES["compute_unknown"],
    "other_kernel": NAMES["compute_other"],
    "memory": NAMES["copy"],
    **NAMES,
    "cpu": "Work on the CPU",
    "other": "Other idle time",
}
"""What the exclusive parts of the wall time are called, DLProf's and ours; ``unit`` is that of the GPUs."""

_COMMON_PARTS: Mapping[str, str] = {
    "compute_tensor": "tensor_core",
    "compute_unknown": "unknown_kernel",
    "compute_other": "other_kernel",
    "communication": "other_kernel",
    "copy": "memory",
    **dict.fromkeys(
        ("queued", "blocked", "launching", "host_op", "host_code", "unrecorded", "launch_unknown", "cpu"), "other"
    ),
}
"""Parts that both sets of names have, for a pair of which only one side has causes of idle time."""


class Row(msgspec.Struct):
    """One row of the change. Times are ns by unit of comparison, rounded so that all rows add up."""

    kind: str
    """``op``, ``ops`` (several on a side), ``gone``, ``new``, ``kernel``, ``kernels``, ``graphs``, ``overlap``,
    ``part``."""
    name: str
    matched_by: str
    """How its ops were matched; empty if it has none."""
    a_ns: int
    b_ns: int
    work_ns: int | None
    """The part of the change that comes from more or fewer calls; the rest is speed. None for rows without calls."""
    a_calls: float | None
    """By unit of comparison, like ``b_calls``."""
    b_calls: float | None
    a: list[Op]
    b: list[Op]
    position: int = 0
    """Number in the order of the program."""
    estimate: Estimate | None = None
    """Of its kernel time; None if it was not tested."""

    @property
    def change_ns(self) -> int:
        """B less A."""
        return self.b_ns - self.a_ns

    @property
    def speed_ns(self) -> int | None:
        """The part of the change that is not ``work_ns``."""
        return None if self.work_ns is None else self.change_ns - self.work_ns


def largest_remainder(
    numerators: Sequence[int], divisor: Fraction, order: Sequence[tuple[object, ...]] | None = None
) -> list[int]:
    """The numbers divided and rounded to integers that add up to their rounded sum; a half is rounded up.

    Args:
        numerators: the numbers.
        divisor: above 0.
        order: which of equal remainders is rounded up first: the least; by default the first.
    """
    scale, by = divisor.denominator, divisor.numerator
    whole = [number * scale // by for number in numerators]
    missing = (2 * sum(numerators) * scale + by) // (2 * by) - sum(whole)
    if missing:
        places = range(len(numerators))
        ordered = places if order is None else sorted(places, key=order.__getitem__)
        for place in heapq.nsmallest(missing, ordered, key=lambda place: -(numerators[place] * scale % by)):
            whole[place] += 1
    return whole


def rows_of(a: Side, b: Side, matches: Iterable[Match], of_kernels: bool, wall: bool) -> tuple[list[Row], int]:
    """The rows, and how many ops without kernels on either side were left out.

    Args:
        a: the baseline; ``units`` say what its sums are divided by.
        b: the candidate.
        matches: all ops of both sides.
        of_kernels: whether the ops stand for kernels of whole programs.
        wall: whether the wall time is divided, else only the time of kernels and graphs.
    """
    drafts: list[_Draft] = []
    left_out = 0
    for match in matches:
        a_ns, b_ns = (sum(op.kernel_ns for op in ops) for ops in (match.a, match.b))
        if a_ns or b_ns:
            drafts.append(_Draft(_kind(match, of_kernels), match.name, match.matched_by, a_ns, b_ns, match))
        else:
            left_out += sum(not op.graph_ns for op in (*match.a, *match.b))
    a_ns, b_ns = a.total("graph_ns"), b.total("graph_ns")
    if a_ns or b_ns:
        drafts.append(_Draft("graphs", "In CUDA graphs recorded as a whole", "", a_ns, b_ns))
    if wall:
        drafts += _parts(a, b, drafts)
    names = [_name_either_way(draft) for draft in drafts]
    columns = (
        largest_remainder(
            [draft.a for draft in drafts],
            a.divisor,
            [(name, draft.a, draft.b) for name, draft in zip(names, drafts, strict=True)],
        ),
        largest_remainder(
            [draft.b for draft in drafts],
            b.divisor,
            [(name, draft.b, draft.a) for name, draft in zip(names, drafts, strict=True)],
        ),
    )
    by_a, by_b = a.divisor, b.divisor
    rows = [_row(draft, a_ns, b_ns, by_a, by_b) for draft, a_ns, b_ns in zip(drafts, *columns, strict=True)]
    _set_positions(rows)
    if len(a.recordings) == len(b.recordings) == 1:
        _test(rows)
    return rows, left_out


def parts_table(a: Side, b: Side) -> list[tuple[str, int, int]]:
    """The exclusive parts of the wall time by unit of comparison (ns): name, of A, of B. They add up to it."""
    names, of_a, of_b = _common_parts(a.parts(), b.parts())
    times = (
        largest_remainder([of_a.get(name, 0) for name in names], a.divisor),
        largest_remainder([of_b.get(name, 0) for name in names], b.divisor),
    )
    return list(zip(names, *times, strict=True))


class _Draft(msgspec.Struct):
    kind: str
    name: str
    matched_by: str
    a: int
    """Numerator, like ``b``."""
    b: int
    match: Match | None = None


def _name_either_way(draft: _Draft) -> tuple[str, ...]:
    """What a row is called, whichever side is the baseline."""
    if draft.match is None:
        return (draft.name,)
    return tuple(sorted(ops[0].path for ops in (draft.match.a, draft.match.b) if ops))


def _kind(match: Match, of_kernels: bool) -> str:
    if match.matched_by in (GONE, NEW):
        return "gone" if match.matched_by == GONE else "new"
    one = "kernel" if of_kernels else "op"
    return one if len(match.a) == len(match.b) == 1 else f"{one}s"


def _parts(a: Side, b: Side, drafts: Sequence[_Draft]) -> list[_Draft]:
    """What kernels of ops do not explain: overlap, and the time without kernels by part."""
    names, of_a, of_b = _common_parts(a.parts(), b.parts())
    busy = [sum(parts.get(name, 0) for name in names if name in BUSY_PARTS) for parts in (of_a, of_b)]
    result = [
        _Draft(
            "overlap",
            "Overlap and boundaries",
            "",
            busy[0] - sum(draft.a for draft in drafts),
            busy[1] - sum(draft.b for draft in drafts),
        )
    ]
    for name in names:
        times = of_a.get(name, 0), of_b.get(name, 0)
        if name not in BUSY_PARTS and any(times):
            result.append(_Draft("part", PART_LABELS.get(name, name), "", *times))
    return result


def _common_parts(a: dict[str, int], b: dict[str, int]) -> tuple[list[str], Mapping[str, int], Mapping[str, int]]:
    """The names of the parts in order, and the times under them; the coarser names if the sides have different ones."""
    if a.keys() != b.keys():
        a, b = (_coarse(parts) for parts in (a, b))
    return [name for name in dict.fromkeys((*PART_LABELS, *a, *b)) if name in a or name in b], a, b


def _coarse(parts: Mapping[str, int]) -> dict[str, int]:
    result: dict[str, int] = {}
    for name, time_ns in parts.items():
        common = _COMMON_PARTS.get(name, name)
        result[common] = result.get(common, 0) + time_ns
    return result


def _row(draft: _Draft, a_ns: int, b_ns: int, by_a: Fraction, by_b: Fraction) -> Row:
    row = Row(draft.kind, draft.name, draft.matched_by, a_ns, b_ns, None, None, None, [], [])
    if draft.match is None:
        return row
    row.a, row.b = draft.match.a, draft.match.b
    calls = [sum(op.calls for op in ops) for ops in (row.a, row.b)]
    of_a, of_b = calls[0] * by_a.denominator, calls[1] * by_b.denominator
    row.a_calls, row.b_calls = of_a / by_a.numerator, of_b / by_b.numerator
    if not row.a or not row.b or not all(calls):
        row.work_ns = row.change_ns
    else:
        # (calls of B - calls of A) * time per call of A, in integers, since fractions are slow.
        more = of_b * by_a.numerator - of_a * by_b.numerator
        of = by_a.numerator * by_b.numerator * calls[0]
        row.work_ns = (2 * more * draft.a + of) // (2 * of)
    return row


def _set_positions(rows: list[Row]) -> None:
    """Put rows into the order of B's first calls, each row that is gone after the matched row before it in A, and rows
    without ops last."""
    both = sorted((row for row in rows if row.a and row.b), key=lambda row: _start(row.a))
    anchors = _longest_increasing(both, [_start(row.b) for row in both])
    starts = [_start(row.a) for row in anchors]
    keys: dict[int, tuple[float, float]] = {}
    for row in rows:
        if row.b:
            keys[id(row)] = _start(row.b), -1
        elif row.a:
            place = bisect_left(starts, _start(row.a)) - 1
            keys[id(row)] = (_start(anchors[place].b) if place >= 0 else -1), _start(row.a)
        else:
            keys[id(row)] = float("inf"), 0
    rows.sort(key=lambda row: keys[id(row)])
    for position, row in enumerate(rows):
        row.position = position


def _start(ops: Sequence[Op]) -> int:
    return min(op.start_ns for op in ops)


def _longest_increasing(rows: Sequence[Row], values: Sequence[int]) -> list[Row]:
    """The longest subsequence of rows with ascending values: the longest common subsequence of both programs."""
    ends: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        at = bisect_left(ends, value)
        if at == len(ends):
            ends.append(value)
            places.append(place)
        else:
            ends[at], places[at] = value, place
        before.append(places[at - 1] if at else -1)
    result: list[Row] = []
    place = places[-1] if places else -1
    while place >= 0:
        result.append(rows[place])
        place = before[place]
    return result[::-1]


def _test(rows: Sequence[Row]) -> None:
    """Compare the iterations of A with those of B, op by op."""
    for row in heapq.nlargest(MOST_TESTED, rows, key=lambda row: abs(row.change_ns)):
        row.estimate = estimate_of(row.a, row.b)


def estimate_of(a: Sequence[Op], b: Sequence[Op]) -> Estimate | None:
    """How the kernel time of ops of A compares with that of ops of B by iteration; None with too few samples."""
    if not a or not b:
        return None
    result = estimate(_by_iteration(a), _by_iteration(b))
    return result if result is not None and min(result.a_samples, result.b_samples) >= FEWEST_SAMPLES else None


def _by_iteration(ops: Sequence[Op]) -> list[int]:
    samples = [op.samples for op in ops if op.samples]
    return samples[0] if len(samples) == 1 else [sum(column) for column in zip(*samples, strict=False)]
