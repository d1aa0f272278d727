"""What is said of warm-up, of slow iterations, and of steps that hold several: small traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.steps import GAP, LONG, STEP_US, said, steps
from tests.diagnosis.test_parts import event, launch


def test_iterations_that_are_slow_everywhere_blame_no_place(tmp_path: Path) -> None:
    """Every gap of one step is twice as long: no op takes half of what it takes more. Or its kernels are, by name."""
    lengths = (STEP_US, STEP_US, 2 * STEP_US, STEP_US, STEP_US, STEP_US)
    events, begin = [], 0
    for number, length in enumerate(lengths):
        events.append(event("user_annotation", f"ProfilerStep#{number}", begin, length))
        for row in range(100):
            at, wide = begin + row * length // 100, length // 100
            events.append(event("cpu_op", f"aten::op{row % 8}", at, wide - 5))
            events += launch(100 * (number + 1) + row, at + wide - 50, at + wide - 40, 10)
        begin += length
    said_sentences = said(events, tmp_path)
    for each in said_sentences["findings"]:
        assert each["share"] is None or each["share"] == each["time_ns"] / said_sentences["mean"]["wall_ns"]
    (slow,) = (each for each in said_sentences["findings"] if each["rule"] == "slow_iterations")
    assert ": what the host does between launches takes 99.5 ms more, 13.0 ms of it /op0" in slow["title"]
    assert slow["action"].endswith("no one place explains it.")
    longer = steps([], lengths=lengths)
    for each in longer:
        each["dur"] *= 5 if each["cat"] == "kernel" else 1
    (slow,) = (each for each in said(longer, tmp_path)["findings"] if each["rule"] == "slow_iterations")
    assert slow["title"].endswith(": k takes 100 ms more.")


def test_slow_iterations_name_what_grew(tmp_path: Path) -> None:
    """Four fast steps, then four of three times their length, in which cudaFree blocks."""
    lengths = (STEP_US // 4,) * 4 + (STEP_US,) * 4
    fast = steps([], lengths=lengths)
    slow = steps([event("cuda_runtime", "cudaFree", GAP[0], LONG)], lengths=lengths)
    of_free = [each for each in slow if each["name"] == "cudaFree"][4:]
    said_sentences = said(fast + of_free, tmp_path)
    assert (said_sentences["typical"]["start"], said_sentences["typical"]["stop"]) == (4, 7)
    slower = next(each for each in said_sentences["findings"] if each["rule"] == "slow_iterations")
    assert slower["time_ns"] == 75_000_000
    assert slower["evidence"][0]["call"] == "cudaFree"
    body = [event("cpu_op", f"aten::op{row}", GAP[0] + row * 7_000, 6_900) for row in range(10)]
    body += [event("cuda_runtime", "cudaFree", GAP[0] + row * 7_000 + 20, 6_800) for row in range(10)]
    late = [each for each in steps(body, lengths=lengths) if each["name"] in ("cudaFree", *(b["name"] for b in body))]
    said_sentences = said(fast + [each for each in late if each["ts"] >= STEP_US], tmp_path)
    slower = next(each for each in said_sentences["findings"] if each["rule"] == "slow_iterations")
    assert ": cudaFree takes 68" in slower["title"]
    assert slower["action"].startswith("Look for what empties the allocator's cache")


def test_warm_up_is_information_and_no_average(tmp_path: Path) -> None:
    """The first step takes three times as long."""
    lengths = (3 * STEP_US,) + (STEP_US,) * 4
    said_sentences = said(steps([], lengths=lengths), tmp_path)
    assert said_sentences["mean"]["wall_ns"] == 1_000 * STEP_US
    start = next(each for each in said_sentences["findings"] if each["rule"] == "cold_start")
    assert (start["severity"], start["per"], start["time_ns"]) == ("info", "once", 200_000_000)
    assert (
        next(each for each in said_sentences["findings"] if each["rule"] == "iteration_range_detector")["severity"]
        == "info"
    )


def test_warm_up_names_the_places_that_take_most_of_it(tmp_path: Path) -> None:
    """The loader's workers start, and modules are loaded: both, most first."""
    events = steps([], lengths=(3 * STEP_US, *(STEP_US,) * 4))
    events.append(event("user_annotation", "enumerate(DataLoader)#x.__next__", 40_000, 120_000))
    events.append(event("cuda_runtime", "cudaFree", 165_000, 90_000))
    (start,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "cold_start")
    places = "enumerate(DataLoader)#x.__next__ (120 ms more), cudaFree (90.0 ms more), while other work took less."
    assert start["title"].endswith(f"Most of it: {places}")
    assert [row["call"] for row in start["evidence"]] == [None, "cudaFree"]


@pytest.mark.parametrize(("blocked_us", "is_first"), [(0, False), (180_000, True)])
def test_a_choice_of_iterations_that_decides_what_is_true_comes_first(
    blocked_us: int, is_first: bool, tmp_path: Path
) -> None:
    """The first step takes three times as long, as the others do or in one call; and the user counts it."""
    lengths = (3 * STEP_US,) + (STEP_US,) * 4
    events = steps([], lengths=lengths)
    begin = 3 * STEP_US // 10 + 30
    events += [event("cuda_runtime", "cudaMalloc", begin, blocked_us)] if blocked_us else []
    findings = said(events, tmp_path, "all")["findings"]
    place = [each["rule"] for each in findings].index("iteration_range_detector")
    told = findings[place]
    assert "1 unlike the others is counted all the same." in told["title"]
    assert (told["severity"] != "info") == is_first
    assert (place == 0) == is_first
    if is_first:
        assert told["title"].endswith(" Over all, “Blocking calls” takes 25.7 % of the time; over typical ones, 0 %.")
        assert told["evidence"][0]["path"] == "ProfilerStep#0"
        assert said(events, tmp_path)["findings"][0]["rule"] != "iteration_range_detector"


def test_steps_that_hold_several_are_told(tmp_path: Path) -> None:
    """Three steps of an optimizer in each mark. They are first of all if most of the mark is not like them."""
    ends = [STEP_US // 3 * (number + 1) - 1_000 for number in range(3)]
    body = [event("user_annotation", "Optimizer.step#SGD.step", end - 900, 900) for end in ends]
    for each in range(3):
        body += launch(10 + each, ends[each] - 22_000, ends[each] - 21_900, 20_000)
    *_, alike = said(steps(body), tmp_path)["findings"]
    assert (alike["rule"], alike["severity"]) == ("step_holds_many", "info")
    assert alike["title"].endswith("holds 3 steps of the optimizer: times per iteration are those of 3 steps.")
    ends = [*(6_000 * (number + 1) for number in range(8)), STEP_US - 1_000]
    body = [event("user_annotation", "Optimizer.step#SGD.step", end - 900, 900) for end in ends]
    body += [each for end in ends[2:8] for each in launch(end, end - 5_980, end - 5_900, 5_800)]
    first, *_ = said(steps([*body, event("cuda_runtime", "cudaFree", 48_000, 40_000)]), tmp_path)["findings"]
    assert (first["rule"], first["severity"]) == ("step_holds_many", "advice")
    assert "holds 9 steps of the optimizer" in first["title"]
    assert first["title"].endswith("“Blocking calls” takes 40.0 % of the time in it, 0 % in a typical step.")


def test_steps_that_hold_several_batches_of_inference_are_told(tmp_path: Path) -> None:
    """In training, several batches may make one step."""
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    body = [event("user_annotation", name, GAP[0] + 10_000 * number, 9_000) for number in range(4)]
    rules = {each["rule"]: each for each in said(steps(body), tmp_path)["findings"]}
    assert "holds 4 fetches of the data loader" in rules["step_holds_many"]["title"]
    training = [*body, event("user_annotation", "Optimizer.step#SGD.step", STEP_US - 15_000, 1_000)]
    training += launch(9, STEP_US - 14_500, STEP_US - 14_400, 500)
    assert "step_holds_many" not in {each["rule"] for each in said(steps(training), tmp_path)["findings"]}


def test_slow_iterations_that_do_other_work_are_told_so(tmp_path: Path) -> None:
    """Every other step runs a kernel for 75 ms that the others do not."""
    lengths = (STEP_US // 4, STEP_US) * 4
    events = steps([], lengths=lengths)
    begin = 0
    for length in lengths:
        if length == STEP_US:
            events += launch(begin, begin + 200, begin + 20 + STEP_US // 10, 75_000, kernel="evaluate")
        begin += length
    (slow,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "slow_iterations")
    assert slow["title"].endswith(": evaluate runs in the slower ones alone, for 75.0 ms.")
    assert slow["action"].startswith("Mark the kinds apart")
