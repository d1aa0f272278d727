from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.aggregation import intervals
from tests.aggregation.oracle import union_length

Spans = list[tuple[int, int]]
SPANS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), max_size=12)
FAR = 1 << 60


def _union(spans: Spans) -> intervals.Intervals:
    return intervals.union(np.array([s for s, _ in spans], np.int64), np.array([e for _, e in spans], np.int64))


def _ticks(spans: Spans) -> set[int]:
    """The unit intervals that the spans cover: the plainest form of a set of times."""
    return {tick for start, stop in spans for tick in range(start, stop)}


def _pairs(result: intervals.Intervals) -> Spans:
    return list(zip(result.start.tolist(), result.stop.tolist(), strict=True))


@given(SPANS)
def test_union_covers_the_same_time_in_disjoint_ascending_intervals(spans: Spans) -> None:
    """Touching intervals become one; empty and reversed ones vanish."""
    result = _union(spans)
    assert _ticks(_pairs(result)) == _ticks(spans)
    assert intervals.length(result) == len(_ticks(spans))
    edges = [edge for pair in _pairs(result) for edge in pair]
    assert edges == sorted(set(edges))


@given(SPANS, SPANS)
def test_subtract_and_intersect_agree_with_sets_of_ticks(one: Spans, other: Spans) -> None:
    """What is left and what is shared together are the first."""
    assert _ticks(_pairs(intervals.subtract(_union(one), _union(other)))) == _ticks(one) - _ticks(other)
    assert _ticks(_pairs(intervals.intersect(_union(one), _union(other)))) == _ticks(one) & _ticks(other)


@given(SPANS, SPANS)
def test_covered_counts_the_ticks_inside_each_window(spans: Spans, windows: Spans) -> None:
    """Windows may overlap, be empty or lie outside; a reversed window holds nothing."""
    start = np.array([s for s, _ in windows], np.int64)
    stop = np.array([e for _, e in windows], np.int64)
    result = intervals.covered(_union(spans), start, stop)
    assert result.tolist() == [len(_ticks(spans) & set(range(s, e))) for s, e in windows]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 60), st.integers(0, 60)), max_size=30))
def test_union_lengths_equal_a_union_for_each_segment(rows: list[tuple[int, int, int]]) -> None:
    """Also far from zero, where a product of segment and time would overflow."""
    spans = [(segment, FAR + start, FAR + max(start, stop)) for segment, start, stop in rows]
    segment, start, stop = (np.array([row[column] for row in spans], np.int64) for column in range(3))
    result = intervals.union_lengths(segment, start, stop, 5)
    expected = [union_length((s, e) for of, s, e in spans if of == number) for number in range(5)]
    assert result.tolist() == expected
