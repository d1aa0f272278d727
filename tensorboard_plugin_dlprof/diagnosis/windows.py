"""Finds the iterations that represent the training: without warm-up, without what is slower or faster at the ends."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.units import percentage, short_duration

_MOST_PAIRED = 500
"""Iterations whose pairs are compared for a drift; of more, as many evenly spaced ones."""


class Typical(msgspec.Struct, frozen=True):
    """A range of iterations, as positions from 0."""

    start: int
    stop: int
    """Inclusive."""
    left_out: tuple[int, ...]
    """Single slow iterations within the range that means leave out."""
    why: tuple[str, ...]
    """Sorted: ``no_gpu_work``, ``warm_up``, ``ran_up``, ``became_slower``, ``became_faster``, ``slow_end``,
    ``cut_end``, ``two_kinds``, ``slow_single``, ``drift``."""
    with_work: tuple[int, int]
    """The first and the last with GPU work; of all, if none has any."""

    @property
    def selected(self) -> list[int]:
        """The positions that means are made of."""
        return _without(self.start, self.stop, self.left_out)


def _without(first: int, last: int, left_out: Sequence[int]) -> list[int]:
    others = set(left_out)
    return [position for position in range(first, last + 1) if position not in others]


def find_typical(wall_ns: Sequence[int], has_work: Sequence[bool], ran_ahead: Sequence[bool]) -> Typical:
    """The typical iterations.

    Args:
        wall_ns: The length of each iteration; at least one.
        has_work: Whether any GPU did anything in it.
        ran_ahead: Whether the queue of launched work grew in it by more than a quarter of its launches.
    """
    first, last, why = 0, len(wall_ns) - 1, set[str]()
    if any(has_work):
        first = next(position for position, works in enumerate(has_work) if works)
        last = max(position for position, works in enumerate(has_work) if works)
        if (first, last) != (0, len(wall_ns) - 1):
            why.add("no_gpu_work")
    with_work = (first, last)
    first = _without_beginning(wall_ns, ran_ahead, first, last, why)
    last = _without_end(wall_ns, first, last, why)
    left_out: tuple[int, ...] = ()
    if last - first >= 3:
        first, last, left_out = _of_one_kind(wall_ns, first, last, why)
    if _drifts([wall_ns[position] for position in _without(first, last, left_out)]):
        why.add("drift")
    return Typical(first, last, left_out, tuple(sorted(why)), with_work)


def _without_beginning(wall_ns: Sequence[int], ran_ahead: Sequence[bool], first: int, last: int, why: set[str]) -> int:
    later = sorted(wall_ns[first : last + 1])
    while first < last:
        wall = wall_ns[first]
        del later[bisect.bisect_left(later, wall)]
        slower = wall > _median(later)
        if not _is_odd(wall, later) or not (slower or last - first >= 3):
            break
        why.add("warm_up" if slower else "ran_up" if ran_ahead[first] else "became_slower")
        first += 1
    return first


def _without_end(wall_ns: Sequence[int], first: int, last: int, why: set[str]) -> int:
    earlier = sorted(wall_ns[first : last + 1])
    while last - first >= 3:
        wall = wall_ns[last]
        del earlier[bisect.bisect_left(earlier, wall)]
        if not _is_odd(wall, earlier):
            break
        why.add("slow_end" if wall > _median(earlier) else "cut_end")
        last -= 1
    return last


def _of_one_kind(wall_ns: Sequence[int], first: int, last: int, why: set[str]) -> tuple[int, int, tuple[int, ...]]:
    """The range without iterations of another kind before it, and the single slow ones within."""
    ordered = np.array(sorted(wall_ns[first : last + 1]), np.float64)
    ratio = ordered[1:] / np.maximum(ordered[:-1], 1)
    cut = int(ratio.argmax())
    small = int(ordered[cut])
    fast = [position for position in range(first, last + 1) if wall_ns[position] <= small]
    slow = [position for position in range(first, last + 1) if wall_ns[position] > small]
    fewer, count = min(len(fast), len(slow)), last - first + 1
    if ratio[cut] >= 1.5 and fewer >= 2 and 5 * fewer >= count:
        if max(fast) < min(slow):
            why.add("became_slower")
            return min(slow), last, ()
        if max(slow) < min(fast):
            why.add("became_faster")
            return min(fast), last, ()
        why.add("two_kinds")
        return first, last, ()
    median = _median(sorted(wall_ns[first : last + 1]))
    single = tuple(position for position in range(first, last + 1) if 2 * wall_ns[position] > 3 * median)
    if not single or 5 * len(single) >= count:
        return first, last, ()
    why.add("slow_single")
    return first, last, single


def _drifts(wall_ns: Sequence[int]) -> bool:
    """Whether the length changes steadily, by a fifth or more over the whole range."""
    count = len(wall_ns)
    if count < 6:
        return False
    place = np.linspace(0, count - 1, min(count, _MOST_PAIRED)).astype(np.int64)
    length = np.array(wall_ns, np.int64)[place]
    one, other = np.triu_indices(len(place), 1)
    slopes = (length[other] - length[one]) / (place[other] - place[one])
    rises = np.count_nonzero(slopes > 0) / len(slopes)
    slope = abs(_median(np.sort(np.trunc(slopes).astype(np.int64)).tolist()))
    return slope * (count - 1) * 5 >= _median(sorted(wall_ns)) and not 0.2 <= rises <= 0.8


def _is_odd(wall_ns: int, others: list[int]) -> bool:
    """Whether an iteration is unlike the others, given in ascending order."""
    if 2 * others[-1] <= 3 * others[0]:
        low = high = _median(others)
    else:
        tenth = (len(others) - 1) // 10
        low, high = others[tenth], others[-1 - tenth]
    return 2 * wall_ns > 3 * high or 3 * wall_ns < 2 * low


def _median(ordered: Sequence[int]) -> int:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


class TypicalRange(msgspec.Struct, frozen=True):
    """A range of iterations that represents the training better than all of them."""

    iter_start: int
    iter_stop: int
    """Inclusive."""
    reason: str
    """One or two sentences."""


def typical_range(
    values: Sequence[int] | npt.NDArray[np.int64],
    durations_ns: Sequence[int] | npt.NDArray[np.int64],
    has_work: Sequence[bool] | None = None,
) -> TypicalRange | None:
    """The typical iterations by their numbers; None if none are to be left out at the ends.

    Args:
        values: The number of each iteration, ascending.
        durations_ns: The length of each.
        has_work: Whether any GPU did anything in it; by default, in all.
    """
    wall_ns = [int(length) for length in durations_ns]
    if not any(wall_ns):
        return None
    typical = find_typical(wall_ns, has_work or [True] * len(wall_ns), [False] * len(wall_ns))
    if (typical.start, typical.stop) == (0, len(wall_ns) - 1):
        return None
    numbers = [str(int(value)) for value in values]
    return TypicalRange(int(values[typical.start]), int(values[typical.stop]), said(typical, wall_ns, numbers))


_WORDS = {
    "warm_up": "warm-up",
    "ran_up": "the host ran ahead, so that it ended before the GPU's work",
    "became_slower": "it became slower",
    "became_faster": "it became faster",
    "no_gpu_work": "no GPU work",
    "slow_end": "a slow end",
    "cut_end": "cut off",
}


_AT_START, _AT_END = ("warm_up", "ran_up", "became_slower", "became_faster"), ("slow_end", "cut_end")


def said(typical: Typical, wall_ns: Sequence[int], names: Sequence[str], outside: str = "") -> str:
    """What is counted and what not, in one or two sentences; of one iteration, what is outside alone.

    Args:
        typical: of these iterations.
        wall_ns: The length of each iteration.
        names: The number of each, as it is shown.
        outside: What is said of work in none of them.
    """
    count = len(wall_ns)
    if count < 2:
        return outside
    positions = typical.selected
    median = max(_median(sorted(wall_ns[position] for position in positions)), 1)

    def some(first: int, last: int) -> str:
        return f"Iteration {names[first]}" if first == last else f"Iterations {names[first]} to {names[last]}"

    sentences = [f"{some(typical.start, typical.stop)}: {typical.stop - typical.start + 1:,} of {count:,} recorded."]
    begin, end = typical.with_work
    for first, last, idle, some_work, reasons in (
        (0, typical.start - 1, begin > 0, begin < typical.start, _AT_START),
        (typical.stop + 1, count - 1, end < count - 1, typical.stop < end, _AT_END),
    ):
        if first <= last:
            walls = [wall_ns[position] for position in range(first, last + 1)]
            furthest = max(walls, key=lambda wall: max(wall / median, median / max(wall, 1)))
            times = "" if first == last else "up to " if furthest > median else "as little as "
            # The other end may be what is slow or has no work.
            true = [reason for reason in reasons if some_work and reason in typical.why] + ["no_gpu_work"] * idle
            why = ", ".join(_WORDS[reason] for reason in true)
            sentences.append(
                f"{some(first, last)} took {times}{short_duration(furthest)}, {_relation(furthest, median)} the "
                f"median: {why or 'unlike the others'}."
            )
    if typical.left_out:
        slowest = max(wall_ns[position] for position in typical.left_out)
        words = "is" if len(typical.left_out) == 1 else "are"
        listed = ", ".join(names[position] for position in typical.left_out[:5])
        more = ", ..." if len(typical.left_out) > 5 else ""
        sentences.append(
            f"Left out of means {words} {listed}{more}, which took up to {_relation(slowest, median)} the median."
        )
    if "two_kinds" in typical.why:
        sentences.append("There are two kinds of iterations, slow and fast; the mean is of both.")
    if "drift" in typical.why:
        sentences.append("Their length drifts.")
    return " ".join(filter(None, (*sentences, outside, mean_said(typical, wall_ns, names))))


def mean_said(typical: Typical, wall_ns: Sequence[int], names: Sequence[str]) -> str:
    """That few long iterations make the mean: the end of ``said``, whose arguments it has; empty where they do not."""
    positions = typical.selected
    walls = sorted(wall_ns[position] for position in positions)
    median = max(_median(walls), 1) if walls else 1
    if len(wall_ns) < 2 or not few_make_the_mean(sum(walls) // max(len(walls), 1), median):
        return ""
    longest = max(positions, key=lambda position: wall_ns[position])
    return (
        f"Long ones make the mean: half take up to {short_duration(median)}, iteration {names[longest]} took "
        f"{short_duration(wall_ns[longest])}."
    )


def few_make_the_mean(mean_ns: int, median_ns: int) -> bool:
    """Whether a mean is so far above the median that hardly any iteration takes as long."""
    return 2 * mean_ns >= 3 * median_ns


def _relation(wall_ns: int, median_ns: int) -> str:
    """``2.6 times``, or what a shorter one is of the median: ``0.9 % of``."""
    return f"{wall_ns / median_ns:.1f} times" if wall_ns >= median_ns else f"{percentage(wall_ns / median_ns)} of"
