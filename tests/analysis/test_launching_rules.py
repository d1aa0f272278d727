"""What is said of launching: small traces, each with one thing that is not well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.analysis.steps import GAP, STEP_US, said, steps, unmarked
from tests.diagnosis.test_parts import Event, event, launch


def test_launches_of_copies_from_the_host_are_nothing_for_a_graph(tmp_path: Path) -> None:
    """The GPU waits in each step for the next batch to be asked for."""
    kernel, copy = launch(1, 0, 10, 100), launch(2, 600, 610, 200, api="cudaMemcpyAsync")
    copy[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pinned -> Device)")
    last = launch(3, 790, 815, 100)
    events = []
    for number in range(4):
        mark = event("user_annotation", f"ProfilerStep#{number}", 0, 1_000)
        for each in (mark, *kernel, *copy, *last):
            args = dict(each["args"])
            if "correlation" in args:
                args["correlation"] += 10 * number
            events.append({**each, "ts": each["ts"] + 1_000 * number, "args": args})
    (described,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "launch_detector")
    assert described["action"].startswith("Ask for the copies sooner")


@pytest.mark.parametrize(("every", "action"), [(1, "Wait for the GPU less often"), (2, "Launch less")])
def test_a_program_that_waits_after_each_launch_is_told_so(every: int, action: str, tmp_path: Path) -> None:
    """A graph is no advice where nothing is launched ahead."""
    events = []
    for number in range(60):
        begin = 100 * number
        events += launch(number + 1, begin, begin + 6, 40)
        if number % every == 0:
            events.append(event("cuda_runtime", "cudaThreadSynchronize", begin + 6, 42))
    (described,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "launch_detector")
    assert described["action"].startswith(action)


@pytest.mark.parametrize(
    ("op_us", "words"),
    [
        (50, "2.95 ms in /mul, 295 µs in cudaLaunchKernel."),
        (5, "2.89 ms while nothing was recorded on the host, 295 µs in "),
    ],
)
def test_launching_is_told_by_what_the_host_was_in(op_us: int, words: str, tmp_path: Path) -> None:
    """Between 60 launches; most of it is while nothing was recorded, where that is so."""
    events = []
    for number in range(60):
        events += launch(number + 1, 100 * number, 100 * number + 6, 40)
        events.append(event("cpu_op", "aten::mul", 100 * number + 46, op_us))
    (described,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "launch_detector")
    assert words in described["title"]
    # Each time of the sentence stands in a row, too.
    named = {row["path"]: row["time_ns"] for row in described["evidence"]}
    assert (named.get("while nothing was recorded on the host", 0) > 2_000_000) == ("nothing was recorded" in words)


@pytest.mark.parametrize("lost", [False, True])
def test_launches_that_the_driver_passes_on_late_leave_the_host_to_speak_of(lost: bool, tmp_path: Path) -> None:
    """Several at once, each soon, as on Windows; where some launches have no work at all, nobody knows what ran."""
    body = []
    for number in range(150):
        begin = GAP[0] + 500 * number
        body += launch(100 + 2 * number, begin, begin + 250, 10)
        body += launch(101 + 2 * number, begin + 20, begin + 260, 10)
    if lost:
        body += [
            event("cuda_runtime", "cudaLaunchKernel", GAP[0] + 30 + 500 * n, 5, correlation=900 + n) for n in range(20)
        ]
    answer = said(unmarked(body), tmp_path)
    described = {each["rule"]: each for each in answer["findings"]}
    missing = described["unrecorded_gpu_work"]
    assert answer["headline"].endswith("so what takes the rest is not known.") == lost
    assert missing["heading"] == ("Not all GPU work is recorded" if lost else "Launched work waits")
    assert ("launch_detector" in described) != lost
    assert missing["title"].startswith("GPU work is missing from this recording") == lost
    assert (missing["missing_work"] is not None) == lost
    assert ("though all launches have their work" in missing["title"]) != lost
    assert missing["severity"] == ("warning" if lost else "advice")


def test_a_few_launches_of_a_capture_are_nothing_to_put_into_a_graph(tmp_path: Path) -> None:
    """Three of them; thirty are, and of a server its own switches are named."""

    def short(count: int, frame: list[Event]) -> list[Event]:
        each = [launch(number, 500 * number, 500 * number + 10, 5) for number in range(1, count + 1)]
        return [*frame, *(event for both in each for event in both)]

    def rules(events: list[Event]) -> dict[str, Any]:
        return {each["rule"]: each for each in said(events, tmp_path)["findings"]}

    assert "launch_detector" not in rules(short(3, []))
    assert rules(short(30, []))["launch_detector"]["action"].startswith("Launch less: torch.compile")
    op = event("cpu_op", "vllm::moe_forward", 400, 10_000)
    assert "enforce_eager" in rules(short(30, [op]))["launch_detector"]["action"]
    assert "step of the server" in rules(short(30, [op]))["no_iterations_detector"]["action"]


def test_a_slow_launch_of_a_graph_is_launching(tmp_path: Path) -> None:
    """Half a millisecond inside of the call, in a capture of 30 launches."""
    events = [each for number in range(30) for each in launch(number + 1, 100 * number, 100 * number + 6, 90)]
    events += launch(50, 3_000, 3_600, 100, call_us=590, api="cudaGraphLaunch")
    (described,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "launch_detector")
    assert "cudaGraphLaunch" in described["title"]
    assert ") for launches, 590 µs of it in calls that launch graphs: " in described["title"]
    assert described["evidence"][0]["call"] == "cudaGraphLaunch"


def test_what_calls_of_graphs_hardly_add_is_not_counted_as_launching(tmp_path: Path) -> None:
    """The number is that of the bar then."""
    events = [each for number in range(30) for each in launch(number + 1, 100 * number, 100 * number + 6, 20)]
    events += launch(50, 3_000, 3_125, 100, call_us=115, api="cudaGraphLaunch")
    answer = said(events, tmp_path)
    (described,) = (each for each in answer["findings"] if each["rule"] == "launch_detector")
    parts = answer["mean"]["devices"]["0"]["parts"]
    assert parts["blocked"] > 0
    assert described["time_ns"] == parts["launching"]
    assert "graphs" not in described["title"]


def test_the_first_launch_of_a_kernel_waits_for_its_code(tmp_path: Path) -> None:
    """No work is missing where the launch blocked, too; it is where the kernel had run before."""
    events = launch(1, 0, 10, 1_000, kernel="other") + launch(2, 1_020, 2_800, 100, call_us=700)
    events += launch(3, 2_905, 2_910, 4_000, kernel="other")
    assert "unrecorded_gpu_work" not in {each["rule"] for each in said(events, tmp_path)["findings"]}
    again = [{**each, "name": "other" if each["name"] == "k" else each["name"]} for each in events]
    assert "unrecorded_gpu_work" in {each["rule"] for each in said(again, tmp_path)["findings"]}


def test_a_host_that_is_far_ahead_is_not_asked_for_more(tmp_path: Path) -> None:
    """Two hundred launches wait at any time: what blocks the host costs nothing, but long host work with none does."""
    body = [
        each for number in range(200) for each in launch(100 + number, number, GAP[0] + 390 * number, 300, call_us=0.5)
    ]
    blocked = [event("cuda_runtime", "cudaDeviceSynchronize", 300, 70_000)]
    rules = {each["rule"] for each in said(steps([*body, *blocked]), tmp_path)["findings"]}
    assert not rules & {"sync_detector", "allocation_detector"}
    work = [event("cpu_op", "aten::unique", STEP_US - 20_000, 9_000)]
    shorter = [each for each in body if each["ts"] < STEP_US - 25_000]
    assert "host_detector" in {each["rule"] for each in said(steps([*shorter, *work]), tmp_path)["findings"]}
