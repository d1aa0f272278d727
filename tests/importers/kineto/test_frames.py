"""Frames in which nothing happens are left out, and nothing else is; those that took long are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.kineto.traces import MAIN, op, read, texts, trace, x

OTHER = {"pid": 100, "tid": 101}


def frame(start: float, end: float, name: str, track: dict[str, int] = MAIN) -> dict[str, Any]:
    """A call of a Python function, in microseconds."""
    return x("python_function", name, start, end - start, track)


def frames_of(folder: Path, *events: dict[str, Any]) -> list[str]:
    """Names of the frames and modules that stay."""
    capture = read(trace(*events), folder)
    names = {event["name"] for event in events if event["cat"] == "python_function"}
    return [name for name in texts(capture, capture.ranges.name) if name in names]


def test_frames_around_ops_and_calls_stay(tmp_path: Path) -> None:
    """A frame is kept where a range or an API call of its own thread starts in it, at its edges too."""
    result = frames_of(
        tmp_path,
        frame(0, 1, "first"),
        frame(10, 20, "around op"),
        op(ts=20, dur=10),
        frame(31, 39, "empty"),
        frame(40, 50, "around call"),
        x("cuda_runtime", "cudaLaunchKernel", 40, 1, correlation=1),
        frame(50.001, 51, "a nanosecond late for the annotation"),
        x("user_annotation", "mine", 50, 1),
        frame(52, 55.001, "around module"),
        frame(55.001, 60, "nn.Module: Linear_0"),
        frame(62, 63, "last"),
        frame(15, 70, "nothing of its thread", OTHER),
        frame(71, 80, "never seen to return", OTHER),
    )
    stay = ["first", "around op", "around call", "around module", "nn.Module: Linear_0", "last"]
    assert result == [*stay, "never seen to return"]


@pytest.mark.parametrize(
    ("case", "op_us", "names"),
    [("the op is first", 0, ["last"]), ("at the same time", 1, ["last"]), ("a frame is first", 2, ["first", "last"])],
)
def test_the_first_range_of_all_stays(tmp_path: Path, case: str, op_us: int, names: list[str]) -> None:
    """A capture without iterations starts there, whatever the range holds."""
    first, last = frame(1, 1.5, "first", OTHER), frame(3, 9, "last", OTHER)
    assert frames_of(tmp_path, first, op(ts=op_us), x("cpu_op", "of the thread", 20, 1, OTHER), last) == names, case


def test_modules_are_no_frames(tmp_path: Path) -> None:
    """A module call that holds nothing is still a part of the model; the first event of all stays."""
    assert frames_of(
        tmp_path, frame(0, 10, "nn.Module: Linear_0"), frame(2, 3, "forward"), frame(5, 6, "last")
    ) == ["nn.Module: Linear_0", "last"]  # fmt: skip


def test_frames_without_usable_times_change_nothing(tmp_path: Path) -> None:
    """They are counted as ever, and the flags of the others stay with their rows."""
    events = [frame(1, 0, "backwards"), frame(2, 3, "empty"), frame(4, 20, "around op"), op(ts=5), op(ts=0)]
    capture = read(trace(*events), tmp_path)
    assert texts(capture, capture.ranges.name) == ["aten::mm", "aten::mm", "around op"]
    assert capture.skipped == {"events with a negative duration": 1}


def test_many_frames_are_looked_at_in_blocks(tmp_path: Path) -> None:
    """Frames of several threads, more than fit a block: of those that end last some lie in earlier blocks."""
    count = 70_000
    empty = [frame(index, index + 0.5, "empty", (MAIN, OTHER)[index % 2]) for index in range(1, count)]
    longest = [frame(0.5, count + 1, "whole thread", track) for track in (MAIN, OTHER)]
    assert frames_of(tmp_path, op(ts=0), *longest, *empty, frame(count, count + 1, "last")) == ["whole thread"] * 2 + [
        "last"
    ]


def test_frames_that_took_long_are_kept_apart(tmp_path: Path) -> None:
    """Whatever happened in them, on every thread, with exact times; what was shorter is its caller's time."""
    capture = read(
        trace(
            op(ts=0),
            frame(1, 60, "empty and long"),
            frame(2, 11.999, "short"),
            frame(12, 22, "just long enough"),
            frame(30.5, 50.125, "of another thread", OTHER),
            frame(90, 95, "last"),
        ),
        tmp_path,
    )
    frames = capture.frames
    assert list(
        zip(texts(capture, frames.name), frames.start_ns.tolist(), frames.end_ns.tolist(), strict=True)
    ) == [
        ("empty and long", 1_000, 60_000),
        ("just long enough", 12_000, 22_000),
        ("of another thread", 30_500, 50_125),
    ]  # fmt: skip
    assert [capture.threads[row].thread_id for row in frames.thread.tolist()] == [100, 100, 101]
    assert "empty and long" not in texts(capture, capture.ranges.name)


def test_frames_on_a_thread_of_their_own_are_of_the_thread_that_ran_them(tmp_path: Path) -> None:
    """As those of ranges are."""
    capture = read(
        trace(op(ts=0), frame(1, 60, "step", {"pid": 100, "tid": 0}), frame(70, 71, "last", {"pid": 100, "tid": 0})),
        tmp_path,
    )
    assert [capture.threads[row].thread_id for row in capture.frames.thread.tolist()] == [100]
