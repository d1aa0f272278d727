"""What is said of waits that are not in each iteration, that a wait of the host brings about, or of short programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tests.analysis.steps import GAP, NCCL, STEP_US, said, steps
from tests.diagnosis.test_parts import Event, event, launch
from tests.importers.nsight.exports import strings, thread, write_export
from tests.importers.nsight.rows import KERNEL_COLUMNS, NVTX_COLUMNS, RUNTIME_COLUMNS, kernel, marker


def _full(body: dict[int, list[Event]], *, lengths: tuple[int, ...] = (STEP_US,) * 6) -> list[Event]:
    """Steps whose GPU computes all the time, but for 12 ms in those that have a body."""
    result, begin = [], 0
    for number, length in enumerate(lengths):
        late = 12_000 if number in body else 0
        for each in (
            event("user_annotation", f"ProfilerStep#{number}", 0, length),
            *launch(number + 1, late, late + 10, length - late - 20),
            *body.get(number, []),
        ):
            result.append({**each, "ts": each["ts"] + begin})
        begin += length
    return result


@pytest.mark.parametrize(("slow", "how_often"), [((3,), "12.0 ms in iteration 3"), ((1, 3, 5), "3 of 6 iterations")])
def test_a_wait_that_is_not_in_each_iteration_says_where_it_is(
    slow: tuple[int, ...], how_often: str, tmp_path: Path
) -> None:
    """What happens in one iteration of the recording may never happen again: nothing can be promised for it."""
    said_sentences = said(_full({number: [event("cpu_op", "aten::unique", 0, 12_000)] for number in slow}), tmp_path)
    (described,) = (each for each in said_sentences["findings"] if each["rule"] == "host_detector")
    assert "of each iteration" not in described["title"]
    assert how_often in described["title"]
    assert " for the host: all of it in /unique. " in described["title"], "no number twice"
    assert (described["gain"]["low_ns"] is None) == (len(slow) == 1)


@pytest.mark.parametrize(("waits", "action"), [(True, "Wait for the GPU less often"), (False, "Launch less")])
def test_launches_that_follow_a_wait_of_the_host_are_told_with_it(waits: bool, action: str, tmp_path: Path) -> None:
    """A host that waits until the GPU is done cannot launch ahead: that is what to change."""
    body = []
    for number in range(100):
        begin = GAP[0] + 700 * number
        body += launch(100 + number, begin, begin + 10, 500)
        if waits:
            body.append(event("cpu_op", "aten::item", begin + 10, 510))
            body.append(event("cuda_runtime", "cudaStreamSynchronize", begin + 12, 503))
    (described,) = (each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "launch_detector")
    assert described["action"].startswith(action)
    assert ("right after the host waited for it" in described["title"]) == waits


@pytest.mark.parametrize("begins", [True, False])
def test_the_first_launch_of_a_short_program_is_its_start(begins: bool, tmp_path: Path) -> None:
    """In a millisecond of GPU work, half a millisecond that loads a kernel is what a user should know first. Without
    the program's start before it, it may have been slow for another reason."""
    copies = launch(1, 5_000, 5_010, 400, api="cudaMemcpyAsync")
    copies[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pageable -> Device)")
    work = [*copies, *launch(2, 5_420, 5_900, 100, call_us=470), *launch(3, 5_895, 6_001, 5)]
    start = [event("cuda_runtime", "cudaMalloc", 0, 4_900)] if begins else []
    first = said([*start, *work], tmp_path)["findings"][0]
    assert (first["rule"] == "cold_start") == begins
    if begins:
        assert "cudaLaunchKernel 470 µs" in first["title"]
        assert first["title"].endswith("Before the first GPU work lie 5.01 ms more, 4.90 ms of them in cudaMalloc.")


@pytest.mark.parametrize("counted", [1, 4])
def test_one_counted_iteration_has_a_start(counted: int, tmp_path: Path) -> None:
    """As a recording without marks: beside one without GPU work, no other shows that a first launch happens once."""
    events = _full({0: []}, lengths=(STEP_US,) * counted)
    slow = launch(90, 10, STEP_US // 2, 100, call_us=STEP_US // 2 - 20)
    busy = [each for each in events if each["cat"] != "kernel" or each["ts"] > STEP_US] + slow
    busy.append(event("user_annotation", f"ProfilerStep#{counted}", counted * STEP_US, 60))
    found = said(busy, tmp_path)
    starts = [each for each in found["findings"] if each["rule"] == "cold_start" and "first call" in each["title"]]
    assert len(starts) == (counted == 1)
    assert found["headline"].endswith("Mostly start-up, which happens once.") == (counted == 1)


def test_work_after_the_last_mark_is_told(tmp_path: Path) -> None:
    """Nothing of before the first one makes up for it: shares are too low."""
    events = []
    for number in range(3):
        mark = event("user_annotation", f"ProfilerStep#{number}", 0, STEP_US)
        late = launch(number + 1, STEP_US - 50, STEP_US - 30, STEP_US // 2)
        events += [{**each, "ts": each["ts"] + number * STEP_US} for each in (mark, *late)]
    found = said(events, tmp_path)
    assert [each["devices"]["0"]["queue"]["lag_ns"] for each in found["iterations"]] == [49_970_000] * 3
    assert found["typical"]["said"].endswith("GPU work goes on for 50.0 ms after the last mark, which is not counted.")
    kernel = next(each for each in found["findings"] if each["rule"] == "dominant_kernel")
    assert "33.3 ms of each iteration in 1 launch, of 50.0 ms with what runs after the last mark" in kernel["title"]
    events.append(event("user_annotation", "ProfilerStep#3", 3 * STEP_US, STEP_US // 10))
    typical = said(events, tmp_path)["typical"]
    assert (typical["stop"], "after the last mark" in typical["said"]) == (2, False)  # The cut one shows some of it.


def test_collectives_of_one_kernel_are_named_by_their_ops(tmp_path: Path) -> None:
    """NCCL has one kernel for all exchanges between pairs."""
    body = []
    for number, kind in enumerate(("all_to_all", "reduce_scatter")):
        at = GAP[0] + 30_000 * number
        body.append(event("user_annotation", f"nccl:{kind}", at, 30))
        body.append(event("cpu_op", f"nccl:{kind}", at, 30))
        body += launch(50 + number, at + 5, at + 20, 20_000, kernel="ncclDevKernel_SendRecv(ncclDevKernelArgs)")
    (described,) = (
        each for each in said(steps(body), tmp_path)["findings"] if each["rule"] == "communication_detector"
    )
    assert [(row["path"].rpartition("/")[2], row["count"]) for row in described["evidence"]] == [
        ("all_to_all", 1),
        ("reduce_scatter", 1),
    ]


def test_copies_are_at_most_exposed_where_much_work_is_missing(tmp_path: Path) -> None:
    """As communication is."""
    copy = launch(7, GAP[0] - 50, GAP[0], 20_000, api="cudaMemcpyAsync")
    copy[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pinned -> Device)")
    graph = launch(8, GAP[0] - 40, GAP[1] - 1_000, 100, api="cudaGraphLaunch")
    for body, bound in ((copy, "take 20.0 ms"), ([*copy, *graph], "take at most 20.0 ms")):
        rules = {each["rule"]: each for each in said(steps(body), tmp_path)["findings"]}
        assert bound in rules["copy_detector"]["title"]
        assert (rules["copy_detector"]["gain"]["low_ns"] is None) == (bound == "take at most 20.0 ms")


def test_a_gpu_that_comes_late_stands_before_what_others_wait(tmp_path: Path) -> None:
    """Nothing is said of narrower types where most of a collective is a wait."""
    body = launch(7, GAP[0] - 50, GAP[0], 60_000, kernel=NCCL)
    other = launch(8, GAP[0] + 58_000, GAP[0] + 59_000, 1_000, kernel=NCCL)
    other[1]["args"]["device"] = 1
    late, waits = said(steps([*body, *other]), tmp_path)["findings"][:2]
    assert (late["rule"], waits["rule"]) == ("late_rank", "communication_detector")
    assert (late["gain"]["low_ns"], late["gain"]["high_ns"]) == (29_500_000, 59_000_000)
    assert waits["gain"]["cannot_tell"].startswith("most of it is a wait")


@pytest.mark.parametrize(("late_us", "high_us"), [(10, None), (2_000, 0.9 * 2_000), (0, 0.9 * 8_990)])
def test_a_gpu_that_waits_for_a_late_one_gains_what_the_late_one_gains(
    late_us: int, high_us: float | None, tmp_path: Path
) -> None:
    """Launched sooner, it would only wait longer: a hundred gaps of 90 us, of which the late GPU has less, or nobody
    comes late (0)."""

    def gaps(device: int, number: int, gap_us: int) -> list[Event]:
        result = []
        for each in range(100):
            begin = GAP[0] + 200 * each
            result += launch(number + each, begin + gap_us - 5, begin + gap_us, 200 - gap_us)
            result[-1]["args"]["device"] = device
        return result

    busy = launch(900, GAP[0] + 19_990, GAP[0] + 20_000, 58_000 if late_us else 10)
    body = [*gaps(0, 100, 90), *launch(7, GAP[0] + 19_992, GAP[0] + 20_000, 59_000 if late_us else 1_000, kernel=NCCL)]
    other = launch(8, GAP[0] + 19_994, GAP[0] + 78_000 if late_us else GAP[0] + 20_010, 1_000, kernel=NCCL)
    busy[1]["args"]["device"] = other[1]["args"]["device"] = 1
    findings = said(steps([*body, *busy, *other, *gaps(1, 300, max(late_us // 100, 1))]), tmp_path)["findings"]
    rules = {each["rule"]: each for each in findings}
    assert ("late_rank" in rules) == bool(late_us)
    gain = rules["launch_detector"]["gain"]
    assert gain["high_ns"] == (None if high_us is None else pytest.approx(1_000 * high_us, rel=0.1))
    assert (gain["cannot_tell"] or "").startswith("GPU 0 waits for GPU 1") == (high_us is None)
    assert ("late_rank" in rules["launch_detector"]["overlaps_with"]) == bool(late_us)


def test_what_cannot_be_gained_for_sure_stands_by_its_time(tmp_path: Path) -> None:
    """A third of the time in which nothing is recorded of the host is less than half of it in copies."""
    copy = launch(7, GAP[0] - 50, GAP[0], 50_000, api="cudaMemcpyAsync")
    copy[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pageable -> Device)")
    copy[1]["args"]["bytes"] = 200_000_000
    said_sentences = said(steps(copy), tmp_path)["findings"]
    assert [each["rule"] for each in said_sentences[:2]] == ["pageable_copy_detector", "unrecorded_detector"]


@pytest.mark.parametrize(("frees", "described"), [(False, False), (True, True)])
def test_an_allocator_that_only_grows_beside_the_start_is_a_part_of_it(
    frees: bool, described: bool, tmp_path: Path
) -> None:
    """Where nothing is freed, the first pass through a model allocates, and the next ones need no more."""
    body = [*launch(1, 0, 10, 100), event("cuda_runtime", "cuModuleLoadData", 130, 20_000)]
    for number in range(40):
        begin = 20_200 + 1_000 * number
        body += launch(10 + number, begin + 300, begin + 310, 680)
        body.append(event("cuda_runtime", "cudaFree" if frees and number % 2 else "cudaMalloc", begin + 2, 250))
    rules = {each["rule"] for each in said(body, tmp_path)["findings"]}
    assert "cold_start" in rules
    assert ("allocation_detector" in rules) == described


def test_a_loop_that_allocates_and_frees_is_no_start(tmp_path: Path) -> None:
    """However long its calls are."""
    body = launch(1, 0, 10, 100)
    for number in range(40):
        begin = 200 + 10_000 * number
        body += launch(10 + number, begin + 4_300, begin + 4_310, 5_000)
        body.append(event("cuda_runtime", "cudaMallocPitch", begin, 2_000))
        body.append(event("cuda_runtime", "cudaFree", begin + 2_100, 2_000))
    first, *others = said(body, tmp_path)["findings"]
    assert first["rule"] == "allocation_detector"
    assert first["time_ns"] == pytest.approx(159_000_000, rel=0.02)
    assert "cold_start" not in {each["rule"] for each in others}


def test_a_mark_of_an_iteration_is_no_place(tmp_path: Path) -> None:
    """A call that is in nothing else is one of every iteration, not another one in each."""
    names = strings("cudaLaunchKernel_v7000", "void ns::gemm<float>(float*)", "gemm", "cudaStreamSynchronize_v3020")
    work, calls, marks = [], [], []
    for number in range(4):
        begin = 10_000_000 * number
        marks.append(marker(begin, begin + 10_000_000, f"step {number}"))
        marks.append(marker(begin + 5, begin + 25, "forward"))
        calls += [[begin + 10, begin + 20, thread(7, 8), number + 1, 0]]
        calls += [[begin + 100, begin + 4_000_000, thread(7, 8), number + 100, 3]]
        work.append(kernel(begin + 30, begin + 1_000_000, correlation=number + 1))
    export = write_export(
        tmp_path / "report.sqlite",
        {
            "StringIds": names,
            "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, work),
            "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME_COLUMNS, calls),
            "NVTX_EVENTS": (NVTX_COLUMNS, marks),
        },
    )
    findings = diagnose_source(export, "typical", ImportOptions(), lambda *_: None)["findings"]
    (described,) = (each for each in findings if each["rule"] == "sync_detector")
    assert [(row["path"], row["count"]) for row in described["evidence"]] == [("cudaStreamSynchronize", 1)]
    assert "Most: cudaStreamSynchronize, 3.00 ms" in described["title"]
