"""What is said where work or launches are missing in the trace: small traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.diagnosis.as_text import text_of
from tensorboard_plugin_dlprof.units import percentage, short_duration
from tests.analysis.steps import GAP, LONG, NCCL, STEP_US, said, steps, unmarked
from tests.diagnosis.test_parts import Event, event, launch


def test_work_before_the_recording_is_told_after_what_can_be_gained(tmp_path: Path) -> None:
    """The first launch waits for 50 ms, which are no part of the capture."""
    events = launch(1, 0, 50_000, 100)
    for number in range(30):
        events += launch(number + 2, 50_100 + 200 * number, 50_106 + 200 * number, 60)
    rules = [each["rule"] for each in said(events, tmp_path)["findings"]]
    assert rules[0] == "launch_detector"
    assert "unrecorded_gpu_work" in rules


def test_launches_without_any_kernel_are_told(tmp_path: Path) -> None:
    """With how to record the kernels."""
    calls = [each for each in steps([]) if each["cat"] != "kernel"]
    (described,) = said(calls, tmp_path)["findings"]
    assert (described["rule"], described["cause"]) == ("coverage_detector", "coverage")
    assert described["title"].startswith("8 launches are recorded, but none of the kernels")
    assert described["evidence"][0]["call"] == "cudaLaunchKernel"


def test_what_is_launched_into_a_graph_does_not_run(tmp_path: Path) -> None:
    """Idle time in which a graph is captured is no fault of the host's; half of it beside a capture is."""

    def capture(until: float) -> list[Event]:
        return [
            event("cuda_runtime", "cudaStreamBeginCapture", GAP[0] + 10, 5),
            event("cpu_op", "aten::unique", GAP[0], LONG),
            *(launch(90 + number, GAP[0] + 100 + 9 * number, GAP[0] + 1_000, 1)[0] for number in range(20)),
            event("cuda_runtime", "cudaStreamEndCapture", until, 5),
        ]

    said_sentences = said(unmarked(capture(GAP[1] - 300)), tmp_path)
    assert said_sentences["lower_bound"] == []
    assert said_sentences["headline"].endswith("; capturing graphs takes most of the rest: 79.7 ms (79.7 %).")
    first, *others = said_sentences["findings"]
    assert first["rule"] == "cold_start"
    assert first["time_ns"] == 1_000 * (GAP[1] - 300 + 5 - GAP[0] - 10)
    assert first["title"].startswith("1 graph is captured for 79.7 ms of the 100 ms")
    assert {each["cause"] for each in others} <= {"iterations", "compute"}
    beside = [launch(190 + number, GAP[0] + 20 + 9 * number, GAP[0] + 1_000, 1, tid=2)[0] for number in range(20)]
    assert said(unmarked([*capture(GAP[1] - 300), *beside]), tmp_path)["lower_bound"] == ["launches_without_work"]
    short = said(unmarked(capture(GAP[0] + STEP_US // 4)), tmp_path)["findings"]
    rules = {each["rule"] for each in short}
    assert "host_detector" in rules
    assert "cold_start" not in rules


@pytest.mark.parametrize("name", ["loaded", "k"])
def test_what_waits_while_a_kernel_is_loaded_is_not_missing(name: str, tmp_path: Path) -> None:
    """The launch of another kernel blocks meanwhile, for the first time: its code is put on the GPU."""
    waits = launch(7, GAP[0] - 50, GAP[0] + 30_000, 100)
    other = launch(8, GAP[0] + 100, GAP[0] + 30_200, 100, call_us=29_000, kernel=name, tid=2)
    rules = {each["rule"] for each in said(unmarked(waits + other), tmp_path)["findings"]}
    assert ("unrecorded_gpu_work" in rules) == (name == "k")


def test_work_that_is_missing_throughout_leaves_nothing_to_be_said_of_the_host(tmp_path: Path) -> None:
    """As of a sampled trace, whose launches are missing, too; missing at the start alone, it was launched before."""
    waits = [
        each
        for number in range(20)
        for each in launch(100 + number, 4_000 * number + GAP[0] + 1_400, 4_000 * number + GAP[0] + 3_000, 100)
    ]
    answer = said(unmarked(waits), tmp_path)
    first, *others = answer["findings"]
    assert first["rule"] == "unrecorded_gpu_work"
    assert answer["headline"].endswith(
        "; GPU work is missing from this recording throughout, so what takes the rest is not known."
    )
    assert " %  Queued\n" in text_of(answer), "not as idle time"
    assert first["title"].endswith("so nothing is said of the host.")
    assert first["missing_work"] == "throughout"
    assert {each["cause"] for each in others} <= {"compute", "iterations"}
    collective = launch(200, GAP[0] - 90, GAP[0], 1_300, kernel=NCCL)
    described = {each["rule"]: each for each in said(unmarked(waits + collective), tmp_path)["findings"]}
    assert described["communication_detector"]["title"].startswith("Exposed communication takes at most 1.30 ms")
    assert described["communication_detector"]["gain"]["low_ns"] is None
    once = [*launch(7, GAP[0] - 50, GAP[0] + 40_000, 100), event("cpu_op", "aten::unique", GAP[0] + 41_000, 30_000)]
    answer = said(unmarked(once), tmp_path)
    first, *others = answer["findings"]
    assert first["title"].endswith("GPU busy: at least 20.1 %.")
    assert first["missing_work"] == "some"
    missing = f"{short_duration(first['time_ns'])} ({percentage(first['share'])})"
    assert answer["headline"].endswith(
        f"; GPU work is missing from this recording, and may fill {missing} that look idle."
    )
    (host,) = (each for each in others if each["rule"] == "host_detector")
    assert host["action"].startswith("Keep the tensors of /unique on the GPU")


@pytest.mark.parametrize(("calls_between", "speaks"), [(4, True), (100, False)])
def test_a_trace_is_sampled_if_most_numbers_of_calls_are_missing(
    calls_between: int, speaks: bool, tmp_path: Path
) -> None:
    """The driver numbers all calls, of which PyTorch records many; where those are there, launches are, too."""
    waits = []
    for number in range(20):
        begin = 4_000 * number + GAP[0]
        waits += launch(calls_between * (9 * number + 8), begin + 1_400, begin + 3_000, 100)
        waits += [
            event("cuda_runtime", "cudaEventQuery", begin + 10 * n, 1, correlation=calls_between * (9 * number + n))
            for n in range(8)
        ]
    described = {each["rule"]: each for each in said(unmarked(waits), tmp_path)["findings"]}
    assert described["unrecorded_gpu_work"]["title"].startswith("GPU work is missing from this recording")
    assert described["unrecorded_gpu_work"]["title"].endswith("so nothing is said of the host.") != speaks
    assert ("unrecorded_detector" in described) == speaks


@pytest.mark.parametrize("lost", [False, True])
def test_nobody_is_to_enlarge_the_batch_whose_gpu_may_do_more_than_was_recorded(lost: bool, tmp_path: Path) -> None:
    """Two launches of a hundred have no work in the recording."""
    body = []
    for number in range(100):
        begin = GAP[0] + 700 * number
        if lost and number % 50 == 7:
            body.append(event("cuda_runtime", "cudaLaunchKernel", begin, 5, correlation=900 + number))
        else:
            body += launch(100 + number, begin, begin + 10, 100)
    answer = said(steps(body), tmp_path)
    assert ("launches_without_work" in answer["lower_bound"]) == lost
    (described,) = (each for each in answer["findings"] if each["rule"] == "launch_detector")
    assert ("larger batch" in described["action"]) != lost


@pytest.mark.parametrize(("apart_us", "speaks"), [(0, True), (1_500, False)])
def test_clocks_that_differ_are_no_work_of_before(apart_us: int, speaks: bool, tmp_path: Path) -> None:
    """The first kernel begins 2 ms after its call, and all that an idle GPU runs so late, or only that."""
    events = launch(1, 0, 2_000, 1_000)
    for number in range(2, 12):
        events += launch(number, 2_000 * number, 2_000 * number + 20 + apart_us, 100)
    rules = {each["rule"]: each for each in said(events, tmp_path)["findings"]}
    assert ("unrecorded_gpu_work" in rules) == speaks
    if speaks:  # Before the window: no share of it.
        assert (rules["unrecorded_gpu_work"]["per"], rules["unrecorded_gpu_work"]["share"]) == ("once", None)


def test_communication_is_at_most_exposed_where_much_work_is_missing(tmp_path: Path) -> None:
    """Kernels inside of a graph that was recorded as a launch alone may hide it."""
    exchange = launch(7, GAP[0] - 50, GAP[0], 20_000, kernel=NCCL)
    graph = launch(8, GAP[0] - 40, GAP[1] - 1_000, 100, api="cudaGraphLaunch")
    for body, bound in ((exchange, "takes 20.0 ms"), ([*exchange, *graph], "takes at most 20.0 ms")):
        rules = {each["rule"]: each for each in said(steps(body), tmp_path)["findings"]}
        assert bound in rules["communication_detector"]["title"]
