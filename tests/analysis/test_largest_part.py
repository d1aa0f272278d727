"""That findings say "most" only of more than half, and of the largest part below that no more than it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.cases import SGEMM
from tests.analysis.scenes import STEP_NS, Step, said_by, scene
from tests.analysis.steps import GAP, said, steps
from tests.diagnosis.test_parts import Event, event, launch


def _title(rule: str, body: list[Event], folder: Path) -> str:
    (title,) = (each["title"] for each in said(steps(body), folder)["findings"] if each["rule"] == rule)
    return str(title)


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((1.0,), "all in /layer_0/mm)"),
        ((0.6, 0.4), "most in /layer_0/mm, 600 µs)"),
        ((0.4, 0.3, 0.3), "the largest part in /layer_0/mm, 400 µs)"),
        # More paths than evidence has rows: they count, too.
        ((0.4, *[0.02] * 30), "the largest part in /layer_0/mm, 400 µs)"),
    ],
)
def test_a_path_has_most_of_the_time_of_all_kernels(shares: tuple[float, ...], words: str) -> None:
    """Not of those alone that evidence lists."""

    def body(step: Step) -> None:
        start = 0.0
        for number, share in enumerate(shares):
            at = 100 + 200 * number
            name = "_".join(("layer", *"abcdefghijklmnopqrstuvwxyz_"[: number % 27], *"x" * (number // 27)))
            step.line("main", "annotation", at - 10, at + 90, name if number else "layer_0")
            step.op("aten::mm", SGEMM, start, start + share * STEP_NS, at=at)
            start += share * STEP_NS

    assert words in said_by("amp_detector", scene(body)).problem_text().replace("/layer_*/", "/layer_0/")


@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        ((50_000, 10_000), "/unique most, 50.0 ms."),
        ((25_000, 20_000, 15_000), "the largest part, 25.0 ms, in /unique."),
    ],
)
def test_a_place_has_most_of_what_the_gpu_waits_for(lengths: tuple[int, ...], words: str, tmp_path: Path) -> None:
    """Or the largest part of it."""
    body, begin = [], GAP[0]
    for number, (name, length) in enumerate(zip(("unique", "sort", "nonzero"), lengths, strict=False)):
        body.append(event("cpu_op", f"aten::{name}", begin, length - 20))
        body += launch(7 + number, begin + length - 15, begin + length - 8, 8)
        begin += length
    assert _title("host_detector", body, tmp_path).endswith(words)


@pytest.mark.parametrize(
    ("lengths", "words"),
    [((9_000, 4_000), "mostly AllReduce, "), ((5_000, 4_000, 3_500), "the largest part in AllReduce, ")],
)
def test_a_kernel_has_most_of_what_collectives_take(lengths: tuple[int, ...], words: str, tmp_path: Path) -> None:
    """Or the largest part of it."""
    names = ("AllReduce_Sum", "AllGather", "ReduceScatter_Sum")
    body, begin = [], GAP[0]
    for number, (name, length) in enumerate(zip(names, lengths, strict=False)):
        kernel = f"ncclDevKernel_{name}_f32_RING_LL(ncclDevKernelArgs)"
        body += launch(7 + number, begin, begin + 10, length - 20, kernel=kernel)
        begin += length
    title = _title("communication_detector", body, tmp_path)
    assert words in title.replace("ncclDevKernel_", "").replace("_Sum_f32_RING_LL", "")


@pytest.mark.parametrize(
    ("lengths", "words"),
    [
        ((9_000, 4_000), "most of their time to the GPU from pageable memory"),
        ((5_000, 4_000, 3_500), "the largest part of their time to the GPU from pageable memory"),
    ],
)
def test_a_direction_has_most_of_what_copies_take(lengths: tuple[int, ...], words: str, tmp_path: Path) -> None:
    """Or the largest part of it."""
    names = ("HtoD (Pageable -> Device)", "DtoH (Device -> Pinned)", "DtoD (Device -> Device)")
    body, begin = [], GAP[0]
    for number, (name, length) in enumerate(zip(names, lengths, strict=False)):
        call, work = launch(7 + number, begin, begin + 10, length - 20)
        work["args"]["bytes"] = 1_000_000
        body += [{**call, "name": "cudaMemcpyAsync"}, {**work, "cat": "gpu_memcpy", "name": f"Memcpy {name}"}]
        begin += length
    assert words in _title("pageable_copy_detector", body, tmp_path)
