"""The Python functions in which the host was while the GPU had nothing to do."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.timeline import draw

MS = 1_000_000
OWN, ALSO, LIBRARY = "train.py(1): step", "data.py(2): load", "torch/_tensor.py(3): backward"


def drawn(*lines: str, end: int = 10 * MS, simple: bool = False) -> Profile:
    """Events given in microseconds."""
    text = "\n".join(_in_ns(line) for line in lines)
    return build_profile(draw(text, end=end), simple=simple)


def _in_ns(line: str) -> str:
    where, what, times, rest = line.split(maxsplit=3)
    start, end = (round(float(part) * 1_000) for part in times.split("-"))
    return f"{where} {what} {start}-{end} {rest}"


def kernel(start: float, end: float, number: int, thread: str = "main", gpu: str = "gpu0") -> list[str]:
    """A kernel that ``thread`` launches just before it begins."""
    return [
        f"{thread} call {start - 2}-{start - 1} cudaLaunchKernel ; corr={number}",
        f"{gpu} kernel {start}-{end} k ; corr={number}",
    ]


def idle_frames_of(profile: Profile) -> list[tuple[float, float, str, str]]:
    """Start and stop in microseconds, the program's own function, the innermost."""
    frames, strings = profile.idle_frames, profile.strings
    return [
        (start / 1_000, stop / 1_000, strings[function], strings[innermost])
        for start, stop, function, innermost in zip(
            frames.start_ns.tolist(),
            frames.stop_ns.tolist(),
            frames.function.tolist(),
            frames.innermost.tolist(),
            strict=True,
        )
    ]


def test_the_innermost_function_of_the_program_stands_beside_the_innermost_of_all() -> None:
    """From the end of the work before the gap to the next: what is around and between frames too."""
    profile = drawn(
        *kernel(10, 100, 1),
        *kernel(3_000, 10_000, 2),
        f"main frame 0-2900 {OWN}",
        f"main frame 1000-2000 {LIBRARY}",
        "main frame 1500-1600 <built-in function len>",
        f"main frame 1700-1800 {ALSO}",
    )
    assert idle_frames_of(profile) == [
        (100, 1_000, OWN, OWN),
        (1_000, 1_500, OWN, LIBRARY),
        (1_500, 1_600, OWN, "<built-in function len>"),
        (1_600, 1_700, OWN, LIBRARY),
        (1_700, 1_800, ALSO, ALSO),
        (1_800, 2_000, OWN, LIBRARY),
        (2_000, 2_900, OWN, OWN),
    ]


def test_where_no_function_is_the_programs_the_innermost_stands_alone() -> None:
    """What was called cannot be told from what called it then."""
    profile = drawn(*kernel(10, 100, 1), *kernel(3_000, 10_000, 2), f"main frame 500-2500 {LIBRARY}")
    assert idle_frames_of(profile) == [(500, 2_500, "", LIBRARY)]


def test_short_gaps_have_no_functions() -> None:
    """They are explained by ops and launches; a millisecond is a long one."""
    lines = (*kernel(10, 100, 1), *kernel(1_099, 2_000, 2), *kernel(3_000, 10_000, 3))
    assert idle_frames_of(drawn(*lines, f"main frame 0-9000 {OWN}")) == [(2_000, 3_000, OWN, OWN)]


def test_the_thread_counts_that_launches_what_the_gpu_waits_for() -> None:
    """Another thread that waits for a queue is in a function too, for all of the time."""
    profile = drawn(
        *kernel(10, 100, 1),
        *kernel(3_000, 10_000, 2, "worker"),
        f"main frame 0-9000 {OWN}",
        f"worker frame 1000-2999 {ALSO}",
        "monitor frame 0-10000 tqdm/_monitor.py(69): run",
    )
    waiting = "where the next thread is in none, the one before it counts"
    assert idle_frames_of(profile) == [(100, 1_000, OWN, OWN), (1_000, 2_999, ALSO, ALSO), (2_999, 3_000, OWN, OWN)], (
        waiting
    )


def test_a_gap_behind_which_an_unknown_thread_launches_is_unknown() -> None:
    """The GPU may have waited for something else than the thread that has launched last."""
    frame = f"main frame 0-9000 {OWN}"
    assert idle_frames_of(drawn(*kernel(10, 100, 1), "gpu0 kernel 3000-10000 k ; corr=77", frame)) == []
    launched = (*kernel(3_000, 10_000, 1), "gpu0 kernel 10-100 k ; corr=77")
    assert idle_frames_of(drawn(*launched, frame)) == [(100, 3_000, OWN, OWN)], "who launched before need not be known"


def test_before_the_first_and_after_the_last_work_there_are_gaps_too() -> None:
    """Which of them count is decided by the iterations; nothing follows the last, so its own thread counts."""
    assert idle_frames_of(drawn(*kernel(2_000, 7_000, 1), f"main frame 500-9500 {OWN}")) == [
        (500, 2_000, OWN, OWN),
        (7_000, 9_500, OWN, OWN),
    ]


def test_the_gaps_are_those_of_the_first_gpu_in_use() -> None:
    """As all moments of idle time that findings show."""
    profile = drawn(
        *kernel(10, 10_000, 1, gpu="gpu1"), *kernel(20, 4_000, 2), *kernel(6_000, 10_000, 3), f"main frame 0-9000 {OWN}"
    )
    assert idle_frames_of(profile) == [(4_000, 6_000, OWN, OWN)]


def test_overlapping_work_of_several_streams_leaves_no_gap() -> None:
    """A long kernel covers the end of a short one that began later."""
    profile = drawn(
        *kernel(10, 8_000, 1, gpu="gpu0/7"),
        *kernel(20, 100, 2, gpu="gpu0/8"),
        *kernel(9_000, 10_000, 3),
        f"main frame 0-9000 {OWN}",
    )
    assert idle_frames_of(profile) == [(8_000, 9_000, OWN, OWN)]


def test_nothing_is_found_where_nothing_is_recorded() -> None:
    """No work, no frames, no gap, or DLProf's simple mode, which reads no ranges."""
    frame, work = f"main frame 0-9000 {OWN}", (*kernel(10, 100, 1), *kernel(3_000, 10_000, 2))
    assert idle_frames_of(drawn(frame)) == []
    assert idle_frames_of(drawn(*work)) == []
    assert idle_frames_of(drawn(*kernel(10, 10_000, 1), frame)) == []
    assert idle_frames_of(drawn(*work, frame, simple=True)) == []
    assert idle_frames_of(drawn(*work, frame)) == [(100, 3_000, OWN, OWN)]


NAMES = (OWN, ALSO, LIBRARY, "<built-in function len>")
STEP = 500_000
"""So that gaps of one step are short, and longer ones long."""


@st.composite
def stacks(draw: st.DrawFn, low: int = 0, high: int = 24) -> list[tuple[int, int, str]]:
    """Nested frames of one thread, outermost first."""
    made: list[tuple[int, int, str]] = []
    position = low
    while position < high and draw(st.booleans()):
        start = draw(st.integers(position, high - 1))
        stop = draw(st.integers(start + 1, high))
        made.append((start, stop, draw(st.sampled_from(NAMES))))
        made += draw(stacks(start, stop)) if stop - start > 1 and len(made) < 6 else []
        position = stop
    return made


@settings(max_examples=150, deadline=None)
@given(
    st.fixed_dictionaries({thread: stacks() for thread in ("main", "worker")}),
    st.lists(st.tuples(st.integers(1, 23), st.integers(1, 4), st.sampled_from(["main", "worker", ""])), min_size=1),
)
def test_every_moment_equals_the_slow_way(
    frames: dict[str, list[tuple[int, int, str]]], work: list[tuple[int, int, str]]
) -> None:
    """Step by step of time: who launches next, what that thread is in, else the one before."""
    work = sorted({start: (start, start + length, thread) for start, length, thread in work}.values())
    lines = [
        f"{thread} frame {start * STEP}-{stop * STEP} {name}"
        for thread, stack in frames.items()
        for start, stop, name in stack
    ]
    for number, (start, stop, thread) in enumerate(work):
        lines.append(f"gpu0 kernel {start * STEP}-{stop * STEP} k ; corr={number + 1}")
        lines += [f"{thread} call {start * STEP - 2}-{start * STEP - 1} c ; corr={number + 1}"] if thread else []
    end = 28
    profile = build_profile(draw("\n".join(lines), end=end * STEP))
    busy = [any(start <= at < stop for start, stop, _ in work) for at in range(end)]
    expected = []
    for at in range(end):
        inside = [other for other in range(end) if not busy[other] and not any(busy[min(at, other) : max(at, other)])]
        if busy[at] or len(inside) * STEP < MS:
            continue
        later, earlier = [each for each in work if each[0] > at], [each for each in work if each[0] <= at]
        following = later[0][2] if later else earlier[-1][2]
        threads = [following, earlier[-1][2] if earlier else ""] if following else []
        stack = next(filter(None, ([n for a, b, n in frames.get(t, []) if a <= at < b] for t in threads)), None)
        if stack:
            own = [name for name in stack if name in (OWN, ALSO)]
            expected.append((at, own[-1] if own else "", stack[-1]))
    idle, strings = profile.idle_frames, profile.strings
    actual = [
        (at, strings[function], strings[innermost])
        for start, stop, function, innermost in zip(
            *(column.tolist() for column in (idle.start_ns, idle.stop_ns, idle.function, idle.innermost)), strict=True
        )
        for at in range(start // STEP, stop // STEP)
    ]
    assert actual == expected
    assert not np.any((idle.start_ns % STEP) | (idle.stop_ns % STEP))
    assert (idle.stop_ns[:-1] <= idle.start_ns[1:]).all()
    assert (idle.start_ns < idle.stop_ns).all()
