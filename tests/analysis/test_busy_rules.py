"""What is said of exposed copies and collectives, and of kernels: small traces, each with one thing not well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.steps import GAP, LONG, NCCL, STEP_US, said, steps
from tests.diagnosis.test_parts import Event, event, launch


def test_copies_that_computing_cannot_hide_have_no_gain_by_hiding(tmp_path: Path) -> None:
    """They take 80 of 100 ms, for 2 that compute: how many of them are needed counts."""
    for length, tells in ((LONG, False), (20_000, True)):
        body = launch(7, GAP[0] - 50, GAP[0], length, api="cudaMemcpyAsync")
        body[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pinned -> Device)")
        body += launch(8, GAP[0] - 40, GAP[0] + length + 5, LONG - length) if length < LONG else []
        events = [{**each, "dur": 1_000} if each["dur"] == STEP_US // 10 else each for each in steps(body)]
        rules = {each["rule"]: each for each in said(events, tmp_path)["findings"]}
        assert (rules["copy_detector"]["gain"]["cannot_tell"] is None) == tells


@pytest.mark.parametrize("copied_us", [20, 5_000])
def test_what_memory_is_set_for_is_not_told_of_copies(copied_us: int, tmp_path: Path) -> None:
    """It is set for 20 ms, of which 1 ms at most is beside the copy, and the copy.s; 20 us are not worth a word."""
    copy = launch(7, GAP[0] - 50, GAP[0], copied_us, api="cudaMemcpyAsync")
    copy[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pinned -> Device)")
    copy[1]["args"]["bytes"] = 64 * 1024
    beside = min(copied_us, 1_000)
    clear = launch(8, GAP[0] - 40, GAP[0] + copied_us - beside, 20_000, api="cudaMemsetAsync", stream=9)
    clear[1].update(cat="gpu_memset", name="Memset (Device)")
    found = said(steps(copy + clear), tmp_path)
    part = found["mean"]["devices"]["0"]["parts"]["copy"]
    assert part == pytest.approx(1_000 * (copied_us + 20_000 - beside), abs=2_000)
    copies = [each for each in found["findings"] if each["cause"] == "copies"]
    if copied_us < 1_000:
        assert copies == []
        return
    (finding,) = copies
    assert finding["time_ns"] == finding["evidence"][0]["time_ns"] == 5_000_000
    assert finding["gain"]["high_ns"] == 5_000_000
    assert "Exposed copies take 5.00 ms of each iteration (5.0 %) and memsets 19.0 ms more: 1 copy" in finding["title"]
    # By iteration, as all that stands beside it.
    assert "64.0 KiB" in finding["title"]
    assert finding["evidence"][0]["detail"].endswith("64.0 KiB")


@pytest.mark.parametrize("beside", [False, True])
def test_the_headline_names_what_is_exposed(beside: bool, tmp_path: Path) -> None:
    """By when it runs alone: two of one kernel at the same time are exposed once."""
    other = NCCL.replace("AllReduce", "AllGather")
    body = launch(7, GAP[0] - 60, GAP[0], 20_000, kernel=NCCL)
    body += launch(8, GAP[0] - 50, GAP[0] + 20_000, 30_000, kernel=other)
    body += launch(9, GAP[0] - 40, GAP[0] + 1, 19_000, kernel=NCCL, stream=9) if beside else []
    assert said(steps(body), tmp_path)["headline"].endswith(" Mostly `ncclDevKernel_AllGather_Sum_f32_RING_LL`.")


def test_copies_of_the_headline_go_by_direction_and_memory(tmp_path: Path) -> None:
    """Of many calls and ops: what the user changes is where they go, and from what memory."""
    body = []
    for number in range(4):
        start = GAP[0] + 15_000 * number
        copy = launch(7 + number, start - 60, start, 14_000, api="cudaMemcpyAsync")
        copy[1].update(cat="gpu_memcpy", name="Memcpy HtoD (Pinned -> Device)")
        body += [*copy, event("cpu_op", f"aten::{'wxyz'[number]}", start - 80, 40)]
    assert said(steps(body), tmp_path)["headline"].endswith(" Mostly to the GPU from pinned memory.")


@pytest.mark.parametrize(
    ("more", "whose"), [(5, "on GPU 1, one of 2;"), (5_000, "on GPU 1, which computes least of 2;")]
)
def test_gpus_that_compute_alike_compute_none_least(more: int, whose: str, tmp_path: Path) -> None:
    """A difference of less than two in a hundred is noise."""
    first = launch(7, GAP[0] - 60, GAP[0], 40_000)
    second = launch(8, GAP[0] - 50, GAP[0], 60_000 - more, stream=8)
    second[1]["args"]["device"] = 1
    assert whose in said(steps(first + second), tmp_path)["headline"]


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


@pytest.mark.parametrize(
    ("work", "api", "rule"),
    [
        (NCCL, "cudaLaunchKernel", "communication_detector"),
        ("Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync", "copy_detector"),
    ],
)
def test_the_moment_of_what_is_exposed_is_when_nothing_hides_it(work: str, api: str, rule: str, tmp_path: Path) -> None:
    """Not the longest, all of 30 ms beside computing, but the end of one of 6 ms that only 1 ms of computing hides; a
    kernel that computes in the midst of that end cuts it."""
    begin = GAP[0] + 100
    moved = [
        *launch(7, begin - 60, begin, 30_000, kernel=work, api=api, stream=9),
        *launch(8, begin + 30_900, begin + 31_000, 6_000, kernel=work, api=api, stream=9),
    ]
    for each in moved[1::2]:
        each["cat"] = "kernel" if work == NCCL else "gpu_memcpy"
    computing = [
        *launch(10, begin - 80, begin - 10, 30_100),
        *launch(11, begin + 30_800, begin + 30_900, 1_100),
        *launch(12, begin + 33_000, begin + 34_000, 500),
    ]
    diagnosis = said(steps([*moved, *computing]), tmp_path)
    (found,) = (each for each in diagnosis["findings"] if each["rule"] == rule)
    (row,) = found["evidence"]
    assert found["time_ns"] == row["time_ns"] == 4_500_000
    assert (row["to_ns"] - row["from_ns"], row["from_ns"] % (1_000 * STEP_US)) == (2_500_000, (begin + 34_500) * 1_000)


def test_the_gpu_that_comes_late_to_a_collective_is_named(tmp_path: Path) -> None:
    """The same collective takes 60 ms on GPU 0 and 1 ms on GPU 1; other findings say whose time, too."""
    body = launch(7, GAP[0] - 50, GAP[0], 60_000, kernel=NCCL)
    other = launch(8, GAP[0] + 58_000, GAP[0] + 59_000, 1_000, kernel=NCCL)
    other[1]["args"]["device"] = 1
    rules = {each["rule"]: each for each in said(steps([*body, *other]), tmp_path)["findings"]}
    assert rules["late_rank"]["title"].startswith("GPU 1 comes late to 4 collectives: GPU 0 waits 59.0 ms")
    whose = "Exposed communication takes 60.0 ms of each iteration on GPU 0 (60.0 %)"
    assert rules["communication_detector"]["title"].startswith(whose)


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
