"""GPU metrics in an export of Nsight Systems prove what kernels' names suggest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.classify.classes import KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.events.build import build_profile
from tests.importers.nsight.exports import process, read_tables, strings, thread

CALLS = ("start end nameId globalTid correlationId", [(0, 1, 1, thread(1, 1), number) for number in range(1, 9)])
KERNEL_COLUMNS = "start end deviceId contextId streamId correlationId globalPid demangledName shortName"
NAMES = strings("", "cudaLaunchKernel_v7000", "matmul_kernel", "add_kernel", "volta_sgemm_128x64_nn")
TYPE = 0x100000000000100
"""High bits say what kind of event it is, the lowest byte is the GPU."""


def _classes(folder: Path, kernels: list[tuple[int, int, int]], samples: list[tuple[int, int]], **more: Any) -> Any:
    """Classes by name of kernels (start, end, name) on GPU 0 with samples (time, percent) of its Tensor Cores."""
    rows = [(start, end, 0, 1, 7, at + 1, process(1), name, name) for at, (start, end, name) in enumerate(kernels)]
    metric = more.get("metric", "Tensor Active [Throughput %]")
    gpu = more.get("gpu", 0)
    capture = read_tables(
        folder,
        {
            "StringIds": NAMES,
            "CUPTI_ACTIVITY_KIND_RUNTIME": CALLS,
            "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, rows),
            "TARGET_INFO_GPU_METRICS": (
                "typeId sourceId typeName metricId metricName",
                [(TYPE + gpu, 1, "GPU", 3, "SMs Active [Throughput %]"), (TYPE + gpu, 1, "GPU", 7, metric)],
            ),
            "GPU_METRICS": (
                "timestamp typeId metricId value",
                [row for time, value in samples for row in ((time, TYPE + gpu, 3, 90), (time, TYPE + gpu, 7, value))],
            ),
        },
    )
    profile = build_profile(capture)
    result: dict[str, KernelClass] = {profile.strings[name]: kind for name, kind in profile.kernel_classes.items()}
    units = {profile.strings[int(name)]: int(unit) for name, unit in
             zip(profile.kernels.long_name, profile.kernels.matrix_unit, strict=True)}  # fmt: skip
    assert units == {name: int(kind.matrix_unit) for name, kind in result.items()}
    return result


def test_samples_inside_a_kernel_prove(tmp_path: Path) -> None:
    """Busy Tensor Cores are use, three zeros are none, and the rule says which counter told."""
    classes = _classes(
        tmp_path,
        [(100, 500, 2), (600, 1_000, 4)],
        [(time, 40 if 200 <= time <= 500 else 0) for time in range(0, 1_100, 100)],
    )
    assert (classes["matmul_kernel"].matrix_unit, classes["matmul_kernel"].rule) == (
        MatrixUnit.YES,
        "counter Tensor Active",
    )
    assert classes["matmul_kernel"].family == "gemm"
    sgemm = classes["volta_sgemm_128x64_nn"]
    assert (sgemm.matrix_unit, sgemm.rule) == (MatrixUnit.NO, "counter Tensor Active")


def test_a_sample_that_a_kernel_shares_counts_for_none(tmp_path: Path) -> None:
    """With another kernel beside it, or with the time before or after it, nothing is proven."""
    classes = _classes(tmp_path, [(0, 400, 2), (50, 350, 3)], [(time, 40) for time in range(0, 500, 100)])
    assert {kind.rule for kind in classes.values()} == {"word-product", "activation-by-name"}
    (tmp_path / "edges").mkdir()
    edges = _classes(tmp_path / "edges", [(110, 290, 2)], [(0, 0), (100, 0), (200, 40), (300, 40)])
    assert edges["matmul_kernel"].rule == "word-product"


@pytest.mark.parametrize("values", [[0, 0], [0, 1, 0, 0], [0, 2, 0, 0]])
def test_too_little_proves_nothing(tmp_path: Path, values: list[int]) -> None:
    """Two zeros, or less than one percent in the mean, leave the name in charge."""
    samples = [(100, 0), *((200 + 100 * at, value) for at, value in enumerate(values))]
    classes = _classes(tmp_path, [(100, 1_000, 2)], samples)
    assert classes["matmul_kernel"].rule == "word-product"


def test_a_gap_in_the_samples_stands_for_nothing(tmp_path: Path) -> None:
    """A sample after a gap could be of anything."""
    samples = [(time, 0) for time in range(0, 400, 100)] + [(2_000, 50)]
    classes = _classes(tmp_path, [(300, 2_000, 2)], samples)
    assert classes["matmul_kernel"].rule == "word-product"


@pytest.mark.parametrize("more", [{"gpu": 1}, {"metric": "Tensor Active / FP16 Active [Throughput %]"}])
def test_other_gpus_and_other_units_do_not_count(tmp_path: Path, more: dict[str, Any]) -> None:
    """Samples of another GPU, and Turing's metric that counts the FP16 units too, say nothing of the kernel."""
    classes = _classes(tmp_path, [(100, 500, 2)], [(time, 40) for time in range(0, 600, 100)], **more)
    assert classes["matmul_kernel"].rule == "word-product"
