"""Which call launched what, and in which range."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.events.linking import link
from tensorboard_plugin_dlprof.events.nesting import nest
from tensorboard_plugin_dlprof.events.tables import Capture, Thread
from tests.timeline import draw


def linked(capture: Capture) -> tuple[list[str], list[str]]:
    """The call of each piece of work and the range of each call, by name; empty for none."""
    nesting = nest(capture.ranges)
    links = link(capture, nesting)
    texts = capture.strings
    calls = [texts[capture.calls.name[call]] if call >= 0 else "" for call in links.work_call.tolist()]
    rows = [int(nesting.row[place]) if place >= 0 else -1 for place in links.call_place.tolist()]
    return calls, [texts[capture.ranges.name[row]] if row >= 0 else "" for row in rows]


def test_work_leads_to_its_call_and_the_call_to_its_innermost_range() -> None:
    """By correlation id, then by time on the thread."""
    calls, ranges = linked(
        draw(
            """
            main op   0-100 linear
            main op   10-50 addmm
            main call 20-25 launch_a ; corr=7
            main call 60-65 launch_b ; corr=3
            main call 200-205 launch_c ; corr=4
            gpu0 kernel 90-95 b ; corr=3
            gpu0 kernel 30-40 a ; corr=7
            gpu0 kernel 300-310 c ; corr=4
            """
        )
    )
    assert calls == ["launch_b", "launch_a", "launch_c"]
    assert ranges == ["addmm", "linear", ""]


def test_call_belongs_to_the_range_that_contains_its_start() -> None:
    """A call that outlasts its range is still inside; one that starts as the range ends is not."""
    _, ranges = linked(draw("main op 0-100 relu\nmain call 99-130 late\nmain call 100-110 after"))
    assert ranges == ["relu", ""]


def test_correlation_ids_of_other_processes_do_not_count() -> None:
    """Ranks count their calls from the same number."""
    calls, _ = linked(
        draw(
            """
            rank0/main call 0-5 launch_0 ; corr=1
            rank1/main call 0-5 launch_1 ; corr=1
            gpu0 kernel 10-20 a ; corr=1 ; process=rank0
            gpu1 kernel 10-20 b ; corr=1 ; process=rank1
            gpu1 kernel 30-40 c ; corr=2 ; process=rank1
            """
        )
    )
    assert calls == ["launch_0", "launch_1", ""]


def test_processes_whose_numbers_lie_far_apart() -> None:
    """They do not fit beside a correlation, and are told apart all the same."""
    capture = draw(
        """
        rank0/main call 0-5 launch_0 ; corr=1
        rank1/main call 0-5 launch_1 ; corr=1
        gpu0 kernel 10-20 a ; corr=1 ; process=rank1
        gpu0 kernel 30-40 b ; corr=1 ; process=rank0
        """
    )
    far = {thread.process_id: number << 30 for number, thread in enumerate(capture.threads, start=1)}
    capture.threads = [Thread(far[thread.process_id], thread.thread_id) for thread in capture.threads]
    capture.work.process = np.array([far[process] for process in capture.work.process.tolist()], np.int64)
    assert linked(capture)[0] == ["launch_1", "launch_0"]


def test_work_of_the_only_process_need_not_name_it() -> None:
    """PyTorch traces do not say which process owns device work."""
    assert linked(draw("main call 0-5 launch ; corr=1\ngpu0 kernel 10-20 a ; corr=1"))[0] == ["launch"]


def test_runtime_call_is_preferred_over_the_driver_call_inside_it() -> None:
    """Both can carry the correlation; the work is counted once, for the call that the program made."""
    text = """
        main call 12-14 cuLaunchKernel   ; corr=1
        main call 10-15 cudaLaunchKernel ; corr=1
        gpu0 kernel 20-30 a ; corr=1
        """
    assert linked(draw(text))[0] == ["cudaLaunchKernel"]


def test_work_without_correlation_has_no_call() -> None:
    """Missing ids are no match for each other."""
    assert linked(draw("main call 0-5 sync\ngpu0 kernel 1-2 a\ngpu0 kernel 3-4 b ; corr=0"))[0] == ["", ""]


def test_huge_correlation_ids() -> None:
    """Ids that do not fit beside a process id are matched all the same."""
    big = 1 << 60
    text = f"main call 0-5 a ; corr={big}\nmain call 6-8 b ; corr=5\ngpu0 kernel 9-10 k ; corr=5\n"
    assert linked(draw(f"{text}gpu0 kernel 11-12 k ; corr={big}"))[0] == ["b", "a"]


IDS = st.tuples(st.sampled_from(["p0", "p1", "p2"]), st.integers(1, 6))


@settings(deadline=None, max_examples=200)
@given(st.lists(IDS, unique=True, max_size=12), st.lists(IDS, max_size=15))
def test_linking_equals_a_dictionary(callers: list[tuple[str, int]], work: list[tuple[str, int]]) -> None:
    """Whatever the ids and their order."""
    lines = [f"{process}/main call {i}-{i} {process}_{corr} ; corr={corr}" for i, (process, corr) in enumerate(callers)]
    lines += [f"gpu0 kernel 50-60 k ; corr={corr} ; process={process}" for process, corr in work]
    calls, _ = linked(draw("\n".join(lines)))
    assert calls == [f"{process}_{corr}" if (process, corr) in set(callers) else "" for process, corr in work]


def test_links_of_nothing() -> None:
    """Empty tables link to nothing."""
    capture = draw("main op 0-1 a")
    links = link(capture, nest(capture.ranges))
    assert all(len(column) == 0 for column in (links.work_call, links.sync_call, links.call_place))
    assert links.call_process.dtype == np.int64


@given(st.lists(st.sampled_from([1, 2, 3, 900, 1 << 50]), max_size=12), st.lists(st.integers(0, 5), max_size=12))
def test_calls_that_launch_nothing_are_in_nobodys_way(launching: list[int], others: list[int]) -> None:
    """Whether the correlations lie close together or far apart."""
    correlations = list(dict.fromkeys(launching))
    lines = [
        f"main call {10 * row}-{10 * row + 5} call_{number} ; corr={number}" for row, number in enumerate(correlations)
    ]
    lines += [
        f"main call {1000 + 10 * row}-{1000 + 10 * row + 5} other_{row} ; corr={5000 + number}"
        for row, number in enumerate(others)
    ]
    lines += [
        f"gpu0 kernel {2000 + 10 * row}-{2000 + 10 * row + 5} k ; corr={number}"
        for row, number in enumerate(reversed(correlations))
    ]
    calls, _ = linked(draw("\n".join(lines)))
    assert calls == [f"call_{number}" for number in reversed(correlations)]
