"""Parents, depths and innermost ranges, against hand-drawn stacks and a slow obvious reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.events.nesting import NESTABLE, Nesting, nest
from tensorboard_plugin_dlprof.events.tables import RangeKind, Ranges
from tests.timeline import draw

Drawn = list[tuple[int, int, int, RangeKind]]
"""Thread, start, end, kind."""


def parents(text: str) -> dict[str, str]:
    """Name of each range -> name of its parent, empty for the outermost."""
    capture = draw(text)
    nesting = nest(capture.ranges)
    name = [capture.strings[text] for text in capture.ranges.name[nesting.row].tolist()]
    return {name[place]: name[parent] if parent >= 0 else "" for place, parent in enumerate(nesting.parent.tolist())}


def test_ranges_on_one_thread_form_a_stack() -> None:
    """The parent is the innermost range around; other threads do not count."""
    assert parents(
        """
        main   op 0-100  linear
        main   op 10-40  t
        main   op 20-30  transpose
        main   op 50-90  addmm
        worker op 15-25  relu
        main   op 100-120 next
        """
    ) == {"linear": "", "t": "linear", "transpose": "t", "addmm": "linear", "next": "", "relu": ""}


def test_equal_starts_nest_by_length() -> None:
    """Of two ranges that start together the longer one is outside, whatever their order in the source."""
    assert parents("main op 0-10 short\nmain op 0-50 long") == {"long": "", "short": "long"}


@pytest.mark.parametrize("outside", ["frame", "module", "annotation"])
def test_equal_ranges_nest_by_kind(outside: str) -> None:
    """Frames, modules and annotations are outside an op of the same times."""
    assert parents(f"main op 0-50 inside\nmain {outside} 0-50 outside") == {"outside": "", "inside": "outside"}


def test_equal_ranges_of_one_kind_nest_by_row() -> None:
    """The source wrote the outer range first."""
    assert parents("main op 0-50 first\nmain op 0-50 second") == {"first": "", "second": "first"}


def test_range_without_length_lies_in_what_it_interrupts() -> None:
    """It is inside a range that is open then, and outside one that ends then."""
    assert parents("main op 0-10 a\nmain op 10-20 b\nmain op 10-10 empty\nmain op 15-15 also") == {
        "a": "",
        "b": "",
        "empty": "b",
        "also": "b",
    }


def test_later_start_ends_the_earlier_sibling() -> None:
    """Ranges that overlap become siblings, the first one cut; this is counted."""
    text = "main op 0-100000 a\nmain op 20000-30000 in_a\nmain op 60000-160000 b\nmain op 110000-120000 in_b"
    assert parents(text) == {"a": "", "in_a": "a", "b": "", "in_b": "b"}
    nesting = nest(draw(text).ranges)
    assert nesting.end_ns.tolist() == [60000, 30000, 160000, 120000]
    assert nesting.repaired_overlaps == 1


def test_overlap_cuts_every_range_that_is_crossed() -> None:
    """A range that starts in a nested one and outlasts both ends both."""
    assert parents("main op 0-500000 a\nmain op 100000-300000 b\nmain op 200000-600000 c") == {
        "a": "",
        "b": "a",
        "c": "",
    }


def test_child_too_long_by_rounding_stays_a_child() -> None:
    """Whole microseconds make children a little longer than their parents; a longer overlap is no rounding."""
    assert parents("main op 0-10000 linear\nmain op 2000-11000 addmm") == {"linear": "", "addmm": "linear"}
    assert parents("main op 0-10000 linear\nmain op 9500-11000 next") == {"linear": "", "next": ""}


def test_frames_that_cross_annotations_are_no_fault_of_the_trace() -> None:
    """``with record_function()`` opens a range inside ``__enter__`` that outlives it: nested, but not counted."""
    text = """
        main frame      0-20000      __enter__
        main annotation 10000-90000  step
        main frame      80000-100000 __exit__
        main frame      110000-120000 after
        """
    assert parents(text) == {"__enter__": "", "step": "", "__exit__": "", "after": ""}
    assert nest(draw(text).ranges).repaired_overlaps == 0


def test_calls_whose_return_was_not_seen_end_with_what_is_around_them() -> None:
    """A built-in function that raised lasts to the end of the recording; ops and frames around it stay whole."""
    text = """
        main frame      0-900000      main.py
        main op         100000-500000 compiled
        main frame      150000-400000 call
        main frame      200000-900000 next
        main frame      250000-900000 raised
        main op         300000-310000 mm
        main op         450000-460000 add
        main op         600000-610000 relu
        """
    assert parents(text) == {
        "main.py": "",
        "compiled": "main.py",
        "call": "compiled",
        "next": "call",
        "raised": "next",
        "mm": "raised",
        "add": "compiled",
        "relu": "main.py",
    }
    assert nest(draw(text).ranges).repaired_overlaps == 0


def test_iterations_and_spans_are_no_parents() -> None:
    """Ranges of time of the process and start/end ranges stay out of the stack."""
    assert parents("main iteration 0-100 ProfilerStep#1\nmain span 5-90 upload\nmain op 10-20 relu") == {"relu": ""}


def test_no_ranges() -> None:
    """A capture without ranges nests nothing."""
    nesting = nest(draw("gpu0 kernel 0-1 k").ranges)
    assert len(nesting.row) == 0
    assert nesting.innermost(np.array([0], np.int32), np.array([5])).tolist() == [-1]


def table(drawn: Drawn) -> Ranges:
    """A table of ranges without texts."""
    columns = list(zip(*drawn, strict=True)) if drawn else [(), (), (), ()]
    zeros = np.zeros(len(drawn), np.int32)
    minus = np.full(len(drawn), -1, np.int64)
    return Ranges(
        start_ns=np.array(columns[1], np.int64), end_ns=np.array(columns[2], np.int64),
        thread=np.array(columns[0], np.int32), kind=np.array(columns[3], np.int8),
        name=zeros, domain=zeros, shapes=zeros, dtypes=zeros, parameters=zeros, stack=zeros, group=zeros,
        sequence=minus, forward_thread=minus,
    )  # fmt: skip


def slow_nesting(drawn: Drawn) -> dict[int, tuple[int, int]]:
    """Row -> (parent row or -1, end after repair): one stack per thread, one range at a time."""
    rank = {kind: index for index, kind in enumerate(NESTABLE)}
    result: dict[int, tuple[int, int]] = {}
    for thread in {item[0] for item in drawn}:
        rows = [row for row, item in enumerate(drawn) if item[0] == thread and item[3] in rank]
        rows.sort(key=lambda row: (drawn[row][1], -drawn[row][2], rank[drawn[row][3]], row))
        ends: dict[int, float] = {}
        stack: list[int] = []
        for row in rows:
            _, start, end, _ = drawn[row]
            last = end + 0.5 if end == start else end
            while stack and ends[stack[-1]] <= start:
                stack.pop()
            while stack and ends[stack[-1]] < last:
                ends[stack.pop()] = start
            result[row] = (stack[-1] if stack else -1, 0)
            stack.append(row)
            ends[row] = last
        for row in rows:
            result[row] = (result[row][0], int(ends[row]))
    return result


TIMES = st.integers(0, 12).map(lambda time: time * 10_000)
"""Ten microseconds apart, so that no overlap can be rounding."""

RANGES = st.lists(
    st.tuples(st.integers(0, 1), TIMES, TIMES, st.sampled_from([RangeKind.OP, RangeKind.MODULE, RangeKind.SPAN])).map(
        lambda item: (item[0], min(item[1], item[2]), max(item[1], item[2]), item[3])
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=400)
@given(RANGES)
def test_nesting_equals_the_slow_reference(drawn: Drawn) -> None:
    """Any ranges, overlapping, equal and empty ones included: the same parents and repaired ends."""
    nesting = nest(table(drawn))
    row = nesting.row.tolist()
    result = {
        row[place]: (row[parent] if parent >= 0 else -1, end)
        for place, (parent, end) in enumerate(zip(nesting.parent.tolist(), nesting.end_ns.tolist(), strict=True))
    }
    assert result == slow_nesting(drawn)
    check_shape(nesting)


def check_shape(nesting: Nesting) -> None:
    """Parents come before their children and around them; depths grow by one."""
    for place, parent in enumerate(nesting.parent.tolist()):
        assert parent < place
        assert nesting.depth[place] == (nesting.depth[parent] + 1 if parent >= 0 else 0)
        if parent >= 0:
            assert nesting.start_ns[parent] <= nesting.start_ns[place]
            assert nesting.end_ns[place] <= nesting.end_ns[parent]


@settings(deadline=None, max_examples=300)
@given(RANGES, st.lists(st.tuples(st.integers(0, 2), TIMES), max_size=10))
def test_innermost_equals_the_slow_reference(drawn: Drawn, points: list[tuple[int, int]]) -> None:
    """The innermost range around a time is the last that started among those still open."""
    check_innermost(drawn, points)


@settings(deadline=None, max_examples=100)
@given(RANGES, st.lists(st.tuples(st.integers(0, 1), TIMES), min_size=1, max_size=10))
def test_innermost_behind_many_that_have_ended(drawn: Drawn, points: list[tuple[int, int]]) -> None:
    """However many ranges stop between the last start and a time, the answer is the same as ever."""
    count = 128
    many = [(0, row - count, 10_000 * (count - row), RangeKind.MODULE) for row in range(count)]
    check_innermost([*many, *drawn], points)


def check_innermost(drawn: Drawn, points: list[tuple[int, int]]) -> None:
    """``points`` are threads and times."""
    nesting = nest(table(drawn))
    repaired = slow_nesting(drawn)
    places = nesting.innermost(
        np.array([point[0] for point in points], np.int32), np.array([p[1] for p in points], np.int64)
    )
    order = {row: place for place, row in enumerate(nesting.row.tolist())}
    for (thread, time), place in zip(points, places.tolist(), strict=True):
        around = [
            order[row]
            for row, (_, end) in repaired.items()
            if drawn[row][0] == thread
            and drawn[row][1] <= time
            and (time < end or drawn[row][1] == time == drawn[row][2])
        ]
        assert place == max(around, default=-1)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=30))
def test_close_overlaps_always_end_in_a_stack(pairs: list[tuple[int, int]]) -> None:
    """However ranges overlap within rounding, the result nests."""
    drawn = [(0, min(pair) * 500, max(pair) * 500, RangeKind.OP) for pair in pairs]
    check_shape(nest(table(drawn)))
