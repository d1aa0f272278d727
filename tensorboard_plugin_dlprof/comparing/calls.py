"""How often the program ran on each side, where iterations are not marked: from the calls of the ops that match."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

from tensorboard_plugin_dlprof.comparing.matching import Match

SHARE_IN_ONE_RATIO = Fraction(95, 100)
"""Of the matched time, whose calls must stand in one ratio."""

SHARE_OF_ONE_PROGRAM = Fraction(1, 2)
"""The same where the user says that the recordings are of one program, which may take other branches each time."""

_TOLERANCE = Fraction(1, 100)

_MATCHED_SHARE = Fraction(1, 2)
"""Of the time of one side that must be matched, so that it can stand for the program."""


def ratio_of_calls(matches: Sequence[Match], share: Fraction = SHARE_IN_ONE_RATIO) -> Fraction | None:
    """How many times as often B made the calls of A; None if no ratio holds for this share of the matched time."""
    ratios: dict[Fraction, int] = {}
    for match in matches:
        calls_a, calls_b = sum(op.calls for op in match.a), sum(op.calls for op in match.b)
        time_ns = sum(op.kernel_ns + op.graph_ns for op in (*match.a, *match.b))
        if calls_a > 0 and calls_b > 0 and match.a and match.b and time_ns > 0:
            ratio = Fraction(calls_b, calls_a)
            ratios[ratio] = ratios.get(ratio, 0) + time_ns
    if not ratios or not _are_much_of_the_time(matches):
        return None
    best = max(ratios, key=lambda ratio: (ratios[ratio], -ratio))
    near = sum(time_ns for ratio, time_ns in ratios.items() if abs(ratio - best) <= _TOLERANCE * best)
    return best if near >= share * sum(ratios.values()) else None


def _are_much_of_the_time(matches: Sequence[Match]) -> bool:
    matched, total = [0, 0], [0, 0]
    for match in matches:
        for side, ops in enumerate((match.a, match.b)):
            time_ns = sum(op.kernel_ns + op.graph_ns for op in ops)
            total[side] += time_ns
            matched[side] += time_ns if match.a and match.b else 0
    return any(part >= _MATCHED_SHARE * whole > 0 for part, whole in zip(matched, total, strict=True))


def passes_of_a(matches: Sequence[Match], ratio: Fraction) -> int:
    """How often A ran the program: what divides the calls of all ops that stand in the ratio, so that the passes of
    both sides are whole."""
    result = 0
    for match in matches:
        calls_a, calls_b = sum(op.calls for op in match.a), sum(op.calls for op in match.b)
        if calls_a and calls_b == ratio * calls_a:
            result = gcd(result, calls_a)
    return max(result, ratio.denominator) if result % ratio.denominator == 0 else ratio.denominator
