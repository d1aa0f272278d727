"""What is said of the time in which nothing computes: small traces, each with one thing that is not well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tests.diagnosis.test_parts import Event, event, launch

STEP_US = 100_000
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"


def steps(body: list[Event], *, lengths: tuple[int, ...] = (STEP_US,) * 4, every: bool = True) -> list[Event]:
    """The body in each step, or in the last one alone; each step has a kernel in its first tenth and in its last."""
    result, begin = [], 0
    for number, length in enumerate(lengths):
        marks = [event("user_annotation", f"ProfilerStep#{number}", 0, length)]
        first = launch(1_000 * (number + 1), 10, 20, length // 10)
        last = launch(1_000 * (number + 1) + 1, length - length // 10 - 20, length - length // 10, length // 10)
        inside = body if every or number == len(lengths) - 1 else []
        for each in (*marks, *first, *last, *inside):
            args = dict(each["args"])
            if "correlation" in args:
                args["correlation"] += 10_000 * (number + 1)
            result.append({**each, "ts": each["ts"] + begin, "args": args})
        begin += length
    return result


def unmarked(body: list[Event]) -> list[Event]:
    """One step without its mark."""
    return [each for each in steps(body, lengths=(STEP_US,)) if not each["name"].startswith("ProfilerStep")]


GAP = (20 + STEP_US // 10, STEP_US - STEP_US // 10)
"""The gap of a step, in microseconds."""

LONG = GAP[1] - GAP[0] - 200


def said(events: list[Event], folder: Path, iterations: str = "typical") -> dict[str, Any]:
    """The diagnosis."""
    trace = folder / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    diagnosis: dict[str, Any] = diagnose_source(trace, iterations, ImportOptions(), lambda *_: None)
    return diagnosis


IN_GAP = {
    "dataloader_detector": [event("user_annotation", "enumerate(DataLoader)#x.__next__", GAP[0], LONG)],
    "host_detector": [event("cpu_op", "aten::unique", GAP[0], LONG)],
    "unrecorded_detector": [],
    "sync_detector": [event("cuda_runtime", "cudaStreamSynchronize", GAP[0], LONG)],
    "allocation_detector": [event("cuda_runtime", "cudaFree", GAP[0], LONG)],
    "unrecorded_gpu_work": launch(7, GAP[0] - 50, GAP[1] - 1_000, 100),
    "communication_detector": launch(7, GAP[0] - 50, GAP[0], LONG, kernel=NCCL),
}


@pytest.mark.parametrize("rule", IN_GAP)
def test_a_gap_has_one_cause_and_names_it(rule: str, tmp_path: Path) -> None:
    """First of all findings, with time, share, evidence that leads to the longest stretch, and a gain within it."""
    said_sentences = said(steps(IN_GAP[rule]), tmp_path)
    first = said_sentences["findings"][0]
    assert first["rule"] == rule
    of_gap = {"launch_detector", "dominant_kernel"}
    assert {each["rule"] for each in said_sentences["findings"] if each["severity"] != "info"} - of_gap == {rule}
    assert first["time_ns"] == pytest.approx(1_000 * LONG, rel=0.03)
    assert first["share"] == pytest.approx(first["time_ns"] / said_sentences["mean"]["wall_ns"])
    (row, *_) = first["evidence"]
    assert row["path"] or row["call"]
    assert row["count"] == 1
    stretch = said_sentences["iterations"][row["iteration"]]
    assert stretch["start_ns"] <= row["from_ns"] < row["to_ns"] <= stretch["stop_ns"]
    if first["gain"] is not None and first["gain"]["high_ns"] is not None:
        assert 0 < first["gain"]["low_ns"] <= first["gain"]["high_ns"] <= first["time_ns"]


@pytest.mark.parametrize("rule", IN_GAP)
def test_less_than_a_hundredth_is_not_worth_a_sentence(rule: str, tmp_path: Path) -> None:
    """Of the same in short."""
    body = [{**each, "dur": 900} if each["dur"] == LONG else each for each in IN_GAP[rule]]
    filling = [*launch(8, GAP[0] - 100, GAP[0] + 900 if body else GAP[0], GAP[1] - GAP[0] - 920 + (0 if body else 900))]
    if rule == "unrecorded_gpu_work":
        body = []
    assert rule not in {each["rule"] for each in said(steps([*body, *filling]), tmp_path)["findings"]}


def test_first_calls_of_a_capture_without_iterations_are_told_once(tmp_path: Path) -> None:
    """As the start, with the calls by name; not again as allocation."""
    body = [event("cuda_runtime", "cudaMalloc", GAP[0], 30_000)]
    body.append(event("cuda_runtime", "cuModuleLoadData", 45_000, 9_000))
    findings = said(unmarked(body), tmp_path)["findings"]
    assert findings[0]["rule"] == "cold_start"
    assert findings[0]["time_ns"] == 39_000_000
    assert findings[0]["gain"] is None
    assert [row["call"] for row in findings[0]["evidence"]] == ["cudaMalloc", "cuModuleLoadData"]
    assert "allocation_detector" not in {each["rule"] for each in findings}
    assert findings[-1]["cause"] == "iterations"


def test_a_pool_that_gives_its_memory_back_is_no_start(tmp_path: Path) -> None:
    """Its calls are long throughout, and beside the first launch of the program; once, they are the start."""
    calls = [
        each
        for number in range(10)
        for each in (
            event("cuda_runtime", "cudaMallocAsync", 5_000 * number + 110, 3_000),
            *launch(100 + number, 5_000 * number + 3_120, 5_000 * number + 3_130, 1_900),
        )
    ]
    first = [
        *launch(1, 0, 5, 95),
        event("cuda_runtime", "cuModuleLoadData", 51_000, 20_000),
        *launch(2, 71_010, 71_020, 9),
    ]
    rules = {each["rule"]: each for each in said([*first, *calls], tmp_path)["findings"]}
    assert rules["allocation_detector"]["time_ns"] == pytest.approx(30_000_000, rel=0.01)
    assert "cudaMemPoolAttrReleaseThreshold" in rules["allocation_detector"]["action"]
    assert [row["call"] for row in rules["cold_start"]["evidence"]] == ["cuModuleLoadData"]
    once = said([*first, *calls[:3]], tmp_path)["findings"]
    assert "allocation_detector" not in {each["rule"] for each in once}
    (start,) = (each for each in once if each["rule"] == "cold_start")
    assert {row["call"] for row in start["evidence"]} == {"cuModuleLoadData", "cudaMallocAsync"}


@pytest.mark.parametrize(("places", "action"), [(1, "Let the allocator keep what is freed: no"), (6, "switched off")])
def test_an_allocator_that_gives_back_in_many_places_is_switched_off(places: int, action: str, tmp_path: Path) -> None:
    """A cache that is emptied gives everything back in one place."""
    body = []
    for number in range(6):
        begin = GAP[0] + number * 10_000
        body += [event("cpu_op", f"aten::op{number % places}", begin, 9_000)]
        body += [event("cuda_runtime", "cudaFree", begin + 10, 8_900)]
    (described,) = (each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "allocation_detector")
    assert action in described["action"]


def test_a_range_that_compiles_does_so_once_for_each_shape(tmp_path: Path) -> None:
    """No gain of a capture without iterations: it may be over."""
    body = [event("user_annotation", "executor_utils::Nvrtc::CompileProgram", GAP[0], LONG)]
    for events, gains in ((steps(body), True), (unmarked(body), False)):
        (host,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "host_detector")
        assert " compiles, which happens once for each program and shape" in host["action"]
        assert (host["gain"] is not None) == gains
        assert (host["per"] == "once") != gains


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


def test_copies_that_computing_cannot_hide_have_no_gain_by_hiding(tmp_path: Path) -> None:
    """They take 80 of 100 ms, for 2 that compute: how many of them are needed counts."""
    for length, tells in ((LONG, False), (20_000, True)):
        body = launch(7, GAP[0] - 50, GAP[0], length, api="cudaMemcpyAsync")
        body[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pinned -> Device)")
        body += launch(8, GAP[0] - 40, GAP[0] + length + 5, LONG - length) if length < LONG else []
        events = [{**each, "dur": 1_000} if each["dur"] == STEP_US // 10 else each for each in steps(body)]
        rules = {each["rule"]: each for each in said(events, tmp_path)["findings"]}
        assert (rules["copy_detector"]["gain"]["cannot_tell"] is None) == tells


def test_work_before_the_recording_is_told_after_what_can_be_gained(tmp_path: Path) -> None:
    """The first launch waits for 50 ms, which are no part of the capture."""
    events = launch(1, 0, 50_000, 100)
    for number in range(30):
        events += launch(number + 2, 50_100 + 200 * number, 50_106 + 200 * number, 60)
    rules = [each["rule"] for each in said(events, tmp_path)["findings"]]
    assert rules[0] == "launch_detector"
    assert "unrecorded_gpu_work" in rules


def test_waits_for_events_inside_of_a_convolution_are_the_search_for_its_algorithm(tmp_path: Path) -> None:
    """No .item() is to be taken out there; elsewhere it is."""
    wait = event("cuda_runtime", "cudaEventSynchronize", GAP[0] + 10, LONG - 20)
    for op, action in (("aten::conv2d", "The library tries its algorithms"), ("aten::item", "Take .item()")):
        body = [event("cpu_op", op, GAP[0], LONG), wait]
        (described,) = (each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "sync_detector")
        assert described["action"].startswith(action)


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
            event("cuda_runtime", "cudaStreamEndCapture", until, 5),
        ]

    said_sentences = said(unmarked(capture(GAP[1] - 300)), tmp_path)
    assert said_sentences["headline"].endswith("; capturing graphs takes most of the rest: 79.7 ms (80 %).")
    first, *others = said_sentences["findings"]
    assert first["rule"] == "cold_start"
    assert first["time_ns"] == 1_000 * (GAP[1] - 300 + 5 - GAP[0] - 10)
    assert first["title"].startswith("1 graph is captured for 79.7 ms of the 100 ms")
    assert {each["cause"] for each in others} <= {"iterations", "compute"}
    short = said(unmarked(capture(GAP[0] + STEP_US // 4)), tmp_path)["findings"]
    rules = {each["rule"] for each in short}
    assert "host_detector" in rules
    assert "cold_start" not in rules


def test_work_that_is_missing_throughout_leaves_nothing_to_be_said_of_the_host(tmp_path: Path) -> None:
    """As of a sampled trace, whose launches are missing, too; missing at the start alone, it was launched before."""
    waits = [
        each
        for number in range(20)
        for each in launch(100 + number, 4_000 * number + GAP[0] + 1_400, 4_000 * number + GAP[0] + 3_000, 100)
    ]
    first, *others = said(unmarked(waits), tmp_path)["findings"]
    assert first["rule"] == "unrecorded_gpu_work"
    assert first["title"].endswith("so nothing is said of the host.")
    assert {each["cause"] for each in others} <= {"compute", "iterations"}
    collective = launch(200, GAP[0] - 90, GAP[0], 1_300, kernel=NCCL)
    described = {each["rule"]: each for each in said(unmarked(waits + collective), tmp_path)["findings"]}
    assert described["communication_detector"]["title"].startswith("Exposed communication takes at most 1.30 ms")
    assert described["communication_detector"]["gain"]["low_ns"] is None
    once = [*launch(7, GAP[0] - 50, GAP[0] + 40_000, 100), event("cpu_op", "aten::unique", GAP[0] + 41_000, 30_000)]
    first, *others = said(unmarked(once), tmp_path)["findings"]
    assert first["title"].endswith("GPU busy: at least 20 %.")
    (host,) = (each for each in others if each["rule"] == "host_detector")
    assert host["action"].startswith("Nothing is launched inside /unique: if it computes, it does so on the host.")


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
    described = {each["rule"]: each for each in said(unmarked(body), tmp_path)["findings"]}
    missing = described["unrecorded_gpu_work"]
    assert ("launch_detector" in described) != lost
    assert missing["title"].startswith("GPU work is missing from this recording") == lost
    assert ("though all launches have their work" in missing["title"]) != lost
    assert missing["severity"] == ("warning" if lost else "advice")


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
    assert slow["action"].startswith("No one place explains it")
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
    assert slower["action"].startswith("Is something emptying the allocator's cache")


def test_the_main_thread_in_backward_waits_for_another(tmp_path: Path) -> None:
    """Nothing of it can be moved or done once before the loop."""
    frame = "<built-in method run_backward of torch._C._EngineBase object at 0x7f>"
    body = [event("python_function", frame, GAP[0], LONG)]
    (host,) = (each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "host_detector")
    assert host["action"].startswith("The main thread waits there for the autograd thread")


def test_a_slow_launch_of_a_graph_is_launching(tmp_path: Path) -> None:
    """Half a millisecond inside of the call, in a capture of 30 launches."""
    events = [each for number in range(30) for each in launch(number + 1, 100 * number, 100 * number + 6, 90)]
    events += launch(50, 3_000, 3_600, 100, call_us=590, api="cudaGraphLaunch")
    (described,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "launch_detector")
    assert "cudaGraphLaunch" in described["title"]
    assert described["evidence"][0]["call"] == "cudaGraphLaunch"


def test_the_first_launch_of_a_kernel_waits_for_its_code(tmp_path: Path) -> None:
    """No work is missing where the launch blocked, too; it is where the kernel had run before."""
    events = launch(1, 0, 10, 1_000, kernel="other") + launch(2, 1_020, 2_800, 100, call_us=700)
    events += launch(3, 2_905, 2_910, 4_000, kernel="other")
    assert "unrecorded_gpu_work" not in {each["rule"] for each in said(events, tmp_path)["findings"]}
    again = [{**each, "name": "other" if each["name"] == "k" else each["name"]} for each in events]
    assert "unrecorded_gpu_work" in {each["rule"] for each in said(again, tmp_path)["findings"]}


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


def test_the_call_after_a_gap_is_not_what_took_its_time(tmp_path: Path) -> None:
    """A warm-up in which the host did something that was not recorded before a launch."""
    (start,) = (
        each
        for each in said(steps([], lengths=(3 * STEP_US,) + (STEP_US,) * 4), tmp_path)["findings"]
        if each["rule"] == "cold_start"
    )
    assert "Most of it: what was not recorded before cudaLaunchKernel (" in start["title"]


def test_warm_up_names_the_places_that_take_most_of_it(tmp_path: Path) -> None:
    """The loader's workers start, and modules are loaded: both, most first."""
    events = steps([], lengths=(3 * STEP_US, *(STEP_US,) * 4))
    events.append(event("user_annotation", "enumerate(DataLoader)#x.__next__", 40_000, 120_000))
    events.append(event("cuda_runtime", "cudaFree", 165_000, 90_000))
    (start,) = (each for each in said(events, tmp_path)["findings"] if each["rule"] == "cold_start")
    assert "Most of it: enumerate(DataLoader)#x.__next__ (120 ms more), cudaFree (90.0 ms more)." in start["title"]
    assert [row["call"] for row in start["evidence"]] == [None, "cudaFree"]


def test_a_marker_of_dlprof_is_called_by_its_function(tmp_path: Path) -> None:
    """It holds the shapes of all arguments."""
    marker = "{'mod': 'torch', 'op': 'randn', 'args': [{'name': '', 'type': 'tensor', 'shape': (32, 6, 30, 30)}]}"
    body = [event("user_annotation", marker, GAP[0], LONG)]
    (host,) = (each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "host_detector")
    assert "torch.randn" in host["title"]
    assert "args" not in host["title"] + host["action"]


def test_a_place_with_next_to_nothing_of_a_wait_is_not_named(tmp_path: Path) -> None:
    """Nothing is recorded, and nothing launched, for half of the last step; before a launch it is 20 us a step."""
    events = steps([event("cpu_op", "aten::op", GAP[0], GAP[1] - GAP[0] - 40)])
    (last,) = (each for each in events if each["name"] == "ProfilerStep#3")
    last["dur"] = last["dur"] * 14 // 10
    findings = {each["rule"]: each for each in said(events, tmp_path, "all")["findings"]}
    assert " is recorded. It is 40.0 ms in iteration 3" in findings["unrecorded_detector"]["title"]


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
        assert told["title"].endswith(" Over all, blocked is 26 % of the time; over typical ones, 0 %.")
        assert told["evidence"][0]["path"] == "ProfilerStep#0"
        assert said(events, tmp_path)["findings"][0]["rule"] != "iteration_range_detector"


def test_many_short_collectives_are_a_finding_of_their_own(tmp_path: Path) -> None:
    """Sixty of 40 us, beside the one about communication."""
    body = [
        each
        for number in range(60)
        for each in launch(100 + number, GAP[0] - 100 + number, GAP[0] + 1 + 41 * number, 40, kernel=NCCL, call_us=0.5)
    ]
    rules = {each["rule"]: each for each in said(steps(body), tmp_path)["findings"]}
    assert rules["small_collectives"]["overlaps_with"] == ["communication_detector"]
    assert rules["small_collectives"]["evidence"][0]["count"] == 60


def test_collectives_that_computing_cannot_hide_have_no_gain_by_hiding(tmp_path: Path) -> None:
    """They wait 70 of 100 ms, for 6 that compute: what they wait for counts. For 20 that compute, half of these may."""
    for length, tells in ((3_000, False), (20_000, True)):
        body = launch(7, GAP[0] - 50, GAP[0], 40_000, kernel=NCCL) + launch(8, GAP[0] + 40_100, GAP[0] + 40_200, length)
        events = [{**each, "dur": 1_000} if each["dur"] == STEP_US // 10 else each for each in steps(body)]
        rules = {each["rule"]: each for each in said(events, tmp_path)["findings"]}
        assert (rules["communication_detector"]["gain"]["cannot_tell"] is None) == tells


def test_the_gpu_that_comes_late_to_a_collective_is_named(tmp_path: Path) -> None:
    """The same collective takes 60 ms on GPU 0 and 1 ms on GPU 1."""
    body = launch(7, GAP[0] - 50, GAP[0], 60_000, kernel=NCCL)
    other = launch(8, GAP[0] + 58_000, GAP[0] + 59_000, 1_000, kernel=NCCL)
    other[1]["args"]["device"] = 1
    rules = {each["rule"]: each for each in said(steps([*body, *other]), tmp_path)["findings"]}
    assert rules["late_rank"]["title"].startswith("GPU 1 comes late to 4 collectives: GPU 0 waits 59.0 ms")


def test_copies_through_pageable_memory_say_so(tmp_path: Path) -> None:
    """One finding, whose reason it is."""
    body = launch(7, GAP[0] - 50, GAP[0], LONG, api="cudaMemcpyAsync")
    body[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pageable -> Device)")
    body[1]["args"]["bytes"] = 200_000_000
    (first, *others) = said(steps(body), tmp_path)["findings"]
    assert (first["rule"], first["cause"]) == ("pageable_copy_detector", "copies")
    assert first["gain"]["cannot_tell"]
    assert not [each for each in others if each["cause"] == "copies"]
    assert "DataLoader(pin_memory=True)" in first["action"]
    body[1]["name"] = "Memcpy DtoH (Device -> Pageable)"
    assert said(steps(body), tmp_path)["findings"][0]["action"].startswith("Copy to the host less often")


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
    assert first["title"].endswith("blocked is 40 % of the time in it, 0 % in a typical step.")


def test_steps_that_hold_several_batches_of_inference_are_told(tmp_path: Path) -> None:
    """In training, several batches may make one step."""
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    body = [event("user_annotation", name, GAP[0] + 10_000 * number, 9_000) for number in range(4)]
    rules = {each["rule"]: each for each in said(steps(body), tmp_path)["findings"]}
    assert "holds 4 fetches of the data loader" in rules["step_holds_many"]["title"]
    training = [*body, event("user_annotation", "Optimizer.step#SGD.step", STEP_US - 15_000, 1_000)]
    training += launch(9, STEP_US - 14_500, STEP_US - 14_400, 500)
    assert "step_holds_many" not in {each["rule"] for each in said(steps(training), tmp_path)["findings"]}


def test_communication_is_at_most_exposed_where_much_work_is_missing(tmp_path: Path) -> None:
    """Kernels inside of a graph that was recorded as a launch alone may hide it."""
    exchange = launch(7, GAP[0] - 50, GAP[0], 20_000, kernel=NCCL)
    graph = launch(8, GAP[0] - 40, GAP[1] - 1_000, 100, api="cudaGraphLaunch")
    for body, bound in ((exchange, "takes 20.0 ms"), ([*exchange, *graph], "takes at most 20.0 ms")):
        rules = {each["rule"]: each for each in said(steps(body), tmp_path)["findings"]}
        assert bound in rules["communication_detector"]["title"]


@pytest.mark.parametrize(
    ("kernel", "length", "advice"),
    [(NCCL, 50, "short messages"), (NCCL, 20_000, "narrower types"), ("multimem_all_reduce_kernel", 50, "narrower")],
)
def test_collectives_of_inference_are_told_by_their_length(
    kernel: str, length: int, advice: str, tmp_path: Path
) -> None:
    """Long ones transfer much, and some are made for short messages already. Layers cannot send theirs together."""
    count = 60 if length < 1_000 else 2
    body = [
        each
        for number in range(count)
        for each in launch(
            100 + number, GAP[0] - 100 + number, GAP[0] + 1 + (length + 5) * number, length - 10, kernel=kernel
        )
    ]
    body.append(event("cpu_op", "aten::linear", 0, 15))
    rules = {each["rule"]: each for each in said(steps(body), tmp_path)["findings"]}
    assert advice in rules["communication_detector"]["action"]
    assert "small_collectives" not in rules


def test_elementwise_kernels_of_a_framework_are_told_without_its_ops(tmp_path: Path) -> None:
    """Their names say what they do."""
    name = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
    body = [
        each
        for number in range(4)
        for each in launch(20 + number, GAP[0] + number, GAP[0] + 5_000 * number, 4_900, kernel=name)
    ]
    assert "fusion_detector" in {each["rule"] for each in said(steps(body), tmp_path)["findings"]}


def test_copies_are_said_by_the_kind_that_takes_most(tmp_path: Path) -> None:
    """Its bytes in an iteration and its own rate: what else is copied does not count, nor do other iterations."""

    def copy(number: int, start: int, length: int, name: str, size: int) -> list[Event]:
        call, work = launch(number, start - 5, start, length)
        work["args"]["bytes"] = size
        return [{**call, "name": "cudaMemcpyAsync"}, {**work, "cat": "gpu_memcpy", "name": name}]

    body = copy(7, GAP[0] + 100, 20_000, "Memcpy HtoD (Pageable -> Device)", 80_000_000)
    body += copy(8, GAP[0] + 30_000, 100, "Memcpy DtoD (Device -> Device)", 90_000_000)
    events = [{**each, "name": each["name"].replace("Step#", "Step#55")} for each in steps(body)]
    said_sentences = said(events, tmp_path)
    (finding,) = (each for each in said_sentences["findings"] if each["rule"] == "pageable_copy_detector")
    assert finding["title"].endswith(
        ": 2 copies, most of their time to the GPU from pageable memory (76.3 MiB, 4.00 GB/s)."
    )
    assert said_sentences["typical"]["said"] == "Iterations 550 to 553: 4 of 4 recorded."


@pytest.mark.parametrize(("width", "described"), [(4, True), (8, False)])
def test_a_tensile_kernel_that_loads_less_than_16_bytes_at_a_time(width: int, described: bool, tmp_path: Path) -> None:
    """It was chosen because a length does not fit."""
    kernel = f"Cijk_Ailk_Bljk_BBS_BH_MT256x112x64_MI16x16x16x1_SN_GLVWA{width}_GLVWB{width}_ISA942"
    product = event("cpu_op", "aten::mm", GAP[0] - 10, 1_000)
    product["args"] |= {"Input Dims": [[4097, 4097]] * 2, "Input type": ["c10::BFloat16"] * 2}
    said_sentences = said(steps([product, *launch(7, GAP[0], GAP[0] + 10, LONG, kernel=kernel)]), tmp_path)
    titles = [each["title"] for each in said_sentences["findings"] if each["rule"] == "shape_detector"]
    assert [("Matrix Cores" in title, "4,097" in title) for title in titles] == [(True, True)] * described


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
    assert slow["action"].startswith("They do other work")
