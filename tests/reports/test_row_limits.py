"""What limits the time of a row: the same on the pages and in reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.reports.row_limits import COLOURS, LIMITS, limits_of_row

SOURCE = Path(__file__).parents[2] / "frontend" / "src" / "model" / "row_limits.ts"

ROW = {
    "family": "gemm",
    "bound": "memory",
    "gpu_time_ns": 400,
    "kernel_time_ns": 400,
    "tensor_core_fraction": 0.5,
    "kept_off_ns": 100,
}
COPIES = {"family": "copies and memsets", "kernel_time_ns": 0, "kept_off_ns": 0, "tensor_core_fraction": None}


@pytest.mark.parametrize(
    ("changed", "split"),
    [
        ({}, [("tensor_core", 0.5), ("kept_off", 0.25), ("by_memory", 0.25)]),
        ({"tensor_core_fraction": 0, "kept_off_ns": 400}, [("kept_off", 1)]),
        ({"tensor_core_fraction": 0, "kept_off_ns": 0, "bound": "compute"}, [("neither", 1)]),
        ({"tensor_core_fraction": 0, "kept_off_ns": 0, "kernel_time_ns": 100}, [("by_memory", 0.25), ("memory", 0.75)]),
        ({"tensor_core_fraction": None}, [("unknown_kernel", 1)]),
        ({"tensor_core_fraction": None, "eligible_ops": 0, "kept_off_ns": 0}, [("by_memory", 1)]),
        ({"tensor_core_fraction": None, "family": "collective"}, [("communication", 1)]),
        (COPIES, [("memory", 1)]),
    ],
)
def test_the_time_of_a_row_is_split_as_on_the_pages(changed: dict[str, object], split: list[tuple[str, float]]) -> None:
    """The cases of ``row_limits.test.ts`` and ``families.test.ts``."""
    assert limits_of_row({**ROW, **changed}, "GPU") == split
    assert limits_of_row({**ROW, **changed}, "CPU") == [("cpu", 1)]


def test_a_kernel_tells_whether_it_uses_matrix_units() -> None:
    """Rows of kernels have no share of ops."""
    kernel = {"family": "gemm", "bound": None, "gpu_time_ns": 400, "kept_off_ns": 400}
    split = [limits_of_row({**kernel, "using_tensor_cores": using}, "GPU") for using in (True, False, None)]
    assert split == [[("tensor_core", 1)], [("kept_off", 1)], [("unknown_kernel", 1)]]


def test_without_matrix_units_nothing_could_be_on_them() -> None:
    """A Pascal GPU has none."""
    assert limits_of_row({**ROW, "tensor_core_fraction": None}, "GPU", has_units=False) == [("by_memory", 1)]


def test_the_legend_of_reports_is_that_of_the_pages() -> None:
    """The same classes in the same order by the same names."""
    legend = re.findall(r'\["(\w+)", ["`]([^"`]+)["`]\]', SOURCE.read_text(encoding="utf-8"))
    assert legend == [(limit, name.replace("{unit}", "${unit}")) for limit, name in LIMITS.items()]
    assert list(COLOURS) == list(LIMITS)
