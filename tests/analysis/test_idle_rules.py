"""What is said of the time in which nothing computes: small traces, each with one thing that is not well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.units import short_duration
from tests.analysis.scenes import verdict
from tests.analysis.steps import GAP, LONG, NCCL, STEP_US, said, steps, unmarked
from tests.diagnosis.test_parts import event, launch, profile_of

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


@pytest.mark.parametrize(("recorder", "says"), [("pytorch", "with_stack"), ("nsight_systems", "--python-sampling")])
def test_what_is_not_explained_is_to_be_recorded_by_the_same_recorder(recorder: str, says: str, tmp_path: Path) -> None:
    """Each has options of its own."""
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": steps([])}))
    profile = profile_of(trace)
    profile.info.source_format = recorder
    (finding,) = (each for each in verdict(profile).findings if each.detector == "unrecorded_detector")
    assert says in finding.recommendation_text()


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
        assert " compile before the recording: it does so once for each program and shape" in host["action"]
        assert (host["gain"] is not None) == gains
        assert (host["per"] == "once") != gains


def test_waits_for_events_inside_of_a_convolution_are_the_search_for_its_algorithm(tmp_path: Path) -> None:
    """No .item() is to be taken out there; elsewhere it is."""
    wait = event("cuda_runtime", "cudaEventSynchronize", GAP[0] + 10, LONG - 20)
    for op, action in (("aten::conv2d", "Record after a warm-up"), ("aten::item", "Take .item()")):
        body = [event("cpu_op", op, GAP[0], LONG), wait]
        (described,) = (each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "sync_detector")
        assert described["action"].startswith(action)


def test_the_main_thread_in_backward_waits_for_another(tmp_path: Path) -> None:
    """Nothing of it can be moved or done once before the loop."""
    frame = "<built-in method run_backward of torch._C._EngineBase object at 0x7f>"
    body = [event("python_function", frame, GAP[0], LONG)]
    (host,) = (each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "host_detector")
    assert host["action"].startswith("See on the timeline what the autograd thread does")


def test_the_call_after_a_gap_is_not_what_took_its_time(tmp_path: Path) -> None:
    """A warm-up in which the host did something that was not recorded before a launch."""
    (start,) = (
        each
        for each in said(steps([], lengths=(3 * STEP_US,) + (STEP_US,) * 4), tmp_path)["findings"]
        if each["rule"] == "cold_start"
    )
    assert "Most of it: what was not recorded before cudaLaunchKernel (" in start["title"]


def test_host_time_of_two_parts_is_told_by_part(tmp_path: Path) -> None:
    """Their sum stands nowhere else: the bar has one for ops and one for other code."""
    frame = event("python_function", "train.py(7): step", GAP[0] + 25_000, 30_000)
    body = [event("cpu_op", "aten::unique", GAP[0], 20_000), *launch(7, GAP[0] + 20_000, GAP[0] + 20_005, 4_000), frame]
    found = said(steps(body), tmp_path)
    parts = found["mean"]["devices"]["0"]["parts"]
    (host,) = (each for each in found["findings"] if each["rule"] == "host_detector")
    assert host["time_ns"] == parts["host_op"] + parts["host_code"]
    assert f"while the host is in ops for {short_duration(parts['host_op'])} and in other code for " in host["title"]


@pytest.mark.parametrize(
    ("marker", "name"),
    [
        ("{'mod': 'torch', 'op': 'randn', 'args': [{'name': '', 'type': 'tensor', 'shape': (32, 6)}]}", "torch.randn"),
        ("{'traceMarker': ['/home/me/net.py:34'], 'funcStack': '/<module>/Net::cuda/cuda'}", "/module/Net::cuda/cuda"),
    ],
)
def test_a_marker_of_dlprof_is_called_by_its_function(marker: str, name: str, tmp_path: Path) -> None:
    """It holds the shapes of all arguments, or files: in no sentence, row or evidence."""
    body = [event("user_annotation", marker, GAP[0], LONG)]
    found = said(steps(body), tmp_path)
    (host,) = (each for each in found["findings"] if each["rule"] == "host_detector")
    assert name in host["title"]
    assert host["evidence"][0]["path"] == name
    assert name in {row["path"] for row in found["mean"]["devices"]["0"]["rows"]}
    assert "{'" not in json.dumps(found)


def test_a_place_with_next_to_nothing_of_a_wait_is_not_named(tmp_path: Path) -> None:
    """Nothing is recorded, and nothing launched, for half of the last step; before a launch it is 20 us a step."""
    events = steps([event("cpu_op", "aten::op", GAP[0], GAP[1] - GAP[0] - 40)])
    (last,) = (each for each in events if each["name"] == "ProfilerStep#3")
    last["dur"] = last["dur"] * 14 // 10
    findings = {each["rule"]: each for each in said(events, tmp_path, "all")["findings"]}
    assert " in which the GPU waits. It is 40.0 ms in iteration 3" in findings["unrecorded_detector"]["title"]


@pytest.mark.parametrize(
    ("name", "times", "per"), [("init_model", 1, "once"), ("init_model", 2, "iteration"), ("forward", 1, "iteration")]
)
def test_what_sets_a_program_up_is_told_once(name: str, times: int, per: str, tmp_path: Path) -> None:
    """Where no iteration is marked and it ran once, by the name of its range; it gains nothing of an iteration. The
    headline, which blames it, says so, too."""
    length = LONG / times
    body = [
        each
        for number in range(times)
        for each in (
            event("user_annotation", name, GAP[0] + number * length, length - 10),
            *launch(50 + number, GAP[0] + number * length + 1, GAP[0] + number * length + 10, 20),
        )
    ]
    diagnosis = said(unmarked(body), tmp_path)
    (finding,) = (each for each in diagnosis["findings"] if each["rule"] == "host_detector")
    assert finding["per"] == per
    once = " Mostly in `init_model`, which runs once." if per == "once" else f" Mostly in `/{name}`."
    assert diagnosis["headline"].endswith(once)
    assert (finding["gain"] is None) == (finding["severity"] == "info") == (per == "once")
    # A heading that asks for a change, above a sentence that needs none, would contradict it.
    assert finding["heading"] == ("Host work while starting" if per == "once" else "The host is busy elsewhere")
    assert finding["action"].startswith("No change needed for long runs") == (per == "once")


def test_two_ranges_that_set_a_program_up_are_named_where_neither_holds_most(tmp_path: Path) -> None:
    """Most of the host's time is in both together."""
    part = LONG / 5
    body = [
        each
        for number, name in enumerate(("init_model", "warmup", "forward"))
        for each in (
            event("user_annotation", name, GAP[0] + 1.7 * number * part, (1.7, 1.6, 1.5)[number] * part - 10),
            *launch(50 + number, GAP[0] + 1.7 * number * part + 1, GAP[0] + 1.7 * number * part + 10, 20),
        )
    ]
    diagnosis = said(unmarked(body), tmp_path)
    (finding,) = (each for each in diagnosis["findings"] if each["rule"] == "host_detector")
    assert diagnosis["headline"].endswith(" Mostly in `init_model` and `warmup`, which run once.")
    assert (
        "most of it is in init_model and warmup, which ran once and by their names set the program up"
        in (finding["action"])
    )
