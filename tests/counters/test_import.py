"""``dlprof import --counters``: from the CSV to the database."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.counters.matching import name_key
from tensorboard_plugin_dlprof.database.connection import open_database
from tests.counters.reports import Launch, details_page, raw_page

Captured = pytest.CaptureFixture[str]

TENSOR = "sm__inst_executed_pipe_tensor.sum"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
UNITS = {"dram__bytes.sum": "Kbyte", TENSOR: "inst", WARPS: "%"}

GEMM = "my_gemm_kernel(void*, void*, void*, int)"
NORM = "void layer_norm_kernel<4, true>(float*, int)"
SGEMM = "ampere_sgemm_64x64_nn"


def write_trace(path: Path, kernels: list[tuple[str, int]]) -> Path:
    """One op for each kernel, ``aten::`` and its number, that launches it with a grid of so many blocks."""
    events: list[dict[str, Any]] = []
    for number, (name, blocks) in enumerate(kernels):
        start, host, about = 100 * number, {"ph": "X", "pid": 1, "tid": 1}, {"External id": number + 1}
        launch = {"correlation": number + 1, "External id": number + 1}
        shape = {"device": 0, "stream": 7, "grid": [blocks, 1, 1], "block": [256, 1, 1]}
        events += [
            {**host, "cat": "cpu_op", "name": f"my::op{number}", "ts": start, "dur": 50, "args": about},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 5, "dur": 5, "args": launch},
            {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": name, "ts": start + 20, "dur": 40,
             "args": {**launch, **shape}},
        ]  # fmt: skip
    device = {"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}))
    return path


def _import(tmp_path: Path, kernels: list[tuple[str, int]], csv: str) -> int:
    source = write_trace(tmp_path / "a.json", kernels)
    (tmp_path / "report.csv").write_text(csv)
    return main(["import", str(source), "--counters", str(tmp_path / "report.csv")])


def _rows(tmp_path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(open_database(tmp_path / "a.dlprof_dldb.sqlite")) as connection:
        return connection.execute(sql).fetchall()


_CLASSES = (
    "SELECT text.string, class.matrix_unit, class.rule, class.family FROM ext_kernel_names AS class "
    "JOIN dictionary AS text ON text.id = class.name_id ORDER BY 1"
)


@pytest.mark.parametrize("written", [raw_page, details_page])
def test_counters_override_names_and_the_rule_says_so(tmp_path: Path, capsys: Captured, written: Any) -> None:
    """An unknown product is told, a wrong yes or no is corrected; the op of a proven kernel becomes eligible."""
    csv = written(
        [
            Launch(GEMM, {TENSOR: "4,096", WARPS: "37.5", "dram__bytes.sum": "2.5"}),
            # Nsight Compute demangles as NVIDIA does.
            Launch(
                "void layer_norm_kernel<(int)4, (bool)1>(T1 *, int)", {TENSOR: "0", WARPS: "90", "dram__bytes.sum": "1"}
            ),
        ],
        UNITS,
    )
    assert _import(tmp_path, [(GEMM, 8), (NORM, 8), (SGEMM, 8)], csv) == 0
    assert _rows(tmp_path, _CLASSES) == [
        (SGEMM, 0, "blas-letter", "gemm"),
        (GEMM, 1, f"counter {TENSOR}", "gemm"),
        (NORM, 0, f"counter {TENSOR}", "normalisation"),
    ]
    assert _rows(tmp_path, "SELECT kernel_id, achieved_occupancy_fraction, dram_bytes FROM ext_kernel_counters") == [
        (1, 0.375, 2_500),
        (2, 0.9, 1_000),
    ]
    assert _rows(tmp_path, "SELECT uses_tc FROM read_only_kernels ORDER BY id") == [(1,), (0,), (0,)]
    eligible = _rows(tmp_path, "SELECT op_name, tc_support_status FROM read_only_ops ORDER BY id")
    assert [status for name, status in eligible if name.endswith("op0")] == [0]
    assert "for 1 kernel names, the counters override what the rules say" in capsys.readouterr().err


def test_launches_are_matched_by_grid_and_block_then_by_order(tmp_path: Path) -> None:
    """As many in the report as in the profile: one for one. Fewer: their mean. Another grid is another launch."""
    csv = raw_page(
        [
            Launch(GEMM, {WARPS: "10", TENSOR: "1"}),
            Launch(GEMM, {WARPS: "20", TENSOR: "1"}),
            Launch(GEMM, {WARPS: "50", TENSOR: "1"}, grid="(4, 1, 1)"),
        ],
        UNITS,
    )
    assert _import(tmp_path, [(GEMM, 8), (GEMM, 4), (GEMM, 8), (GEMM, 4), (GEMM, 2)], csv) == 0
    result = _rows(
        tmp_path,
        "SELECT kernel.gpu_start, counted.achieved_occupancy_fraction FROM read_only_kernels AS kernel "
        "LEFT JOIN ext_kernel_counters AS counted ON counted.kernel_id = kernel.id ORDER BY 1",
    )
    assert [fraction for _, fraction in result] == [0.1, 0.5, 0.2, 0.5, None]


def test_partial_counters_leave_the_name_in_charge(tmp_path: Path, capsys: Captured) -> None:
    """A zero of one kind of instruction proves nothing, and that is said."""
    metric = "sm__inst_executed_pipe_tensor_op_hmma.sum"
    assert _import(tmp_path, [(GEMM, 8)], raw_page([Launch(GEMM, {metric: "0"})], {metric: "inst"})) == 0
    assert _rows(tmp_path, _CLASSES)[0][1:3] == (2, "word-product")
    assert "for 1 kernel names, only some Tensor Core instructions were counted" in capsys.readouterr().err


def test_counters_that_contradict_each_other_are_told(tmp_path: Path, capsys: Captured) -> None:
    """A kernel with such instructions has them, though a launch may have left them out."""
    csv = raw_page([Launch(GEMM, {TENSOR: "0"}), Launch(GEMM, {TENSOR: "9"})], UNITS)
    assert _import(tmp_path, [(GEMM, 8), (GEMM, 8)], csv) == 0
    assert _rows(tmp_path, _CLASSES)[0][1] == 1
    assert "some did not; it counts as a kernel that uses them" in capsys.readouterr().err


def test_report_without_tensor_counters_brings_what_it_has(tmp_path: Path, capsys: Captured) -> None:
    """Occupancy is kept, and the sentence says which counter to collect."""
    assert _import(tmp_path, [(GEMM, 8)], raw_page([Launch(GEMM, {WARPS: "50"})], {WARPS: "%"})) == 0
    assert _rows(tmp_path, "SELECT achieved_occupancy_fraction FROM ext_kernel_counters") == [(0.5,)]
    assert "collect sm__inst_executed_pipe_tensor.sum" in capsys.readouterr().err


def test_report_of_another_program_is_refused(tmp_path: Path, capsys: Captured) -> None:
    """Nothing is written; where only a part fits, the rest is counted."""
    csv = raw_page([Launch("other_kernel(int)", {TENSOR: "1"})], UNITS)
    assert _import(tmp_path, [(GEMM, 8)], csv) != 0
    assert "none of its 1 launches matches a kernel of this profile" in capsys.readouterr().err
    assert not (tmp_path / "a.dlprof_dldb.sqlite").exists()
    csv = raw_page([Launch("other_kernel(int)", {TENSOR: "1"}), Launch(GEMM, {TENSOR: "1"})], UNITS)
    assert _import(tmp_path, [(GEMM, 8)], csv) == 0
    assert (
        "1 of 2 launches match no kernel of this profile; the first of them is other_kernel(int)"
        in capsys.readouterr().err
    )


def test_counters_belong_to_one_profile(tmp_path: Path, capsys: Captured) -> None:
    """A folder of ranks has a report for each."""
    for name in ("a.json", "b.json"):
        write_trace(tmp_path / name, [(GEMM, 8)])
    (tmp_path / "report.csv").write_text("x")
    assert main(["import", str(tmp_path), "--counters", str(tmp_path / "report.csv")]) != 0
    assert "name only the profile of that run" in capsys.readouterr().err


def test_a_later_aggregation_keeps_what_was_proven(tmp_path: Path) -> None:
    """The proof is part of the database."""
    assert _import(tmp_path, [(GEMM, 8), (GEMM, 8)], raw_page([Launch(GEMM, {TENSOR: "1", WARPS: "5"})], UNITS)) == 0
    database = tmp_path / "a.dlprof_dldb.sqlite"
    before = _rows(tmp_path, "SELECT * FROM ext_kernel_counters"), _rows(tmp_path, _CLASSES)
    key = "/op0"
    assert main(["aggregate", str(database), "--key-op", key]) == 0
    assert (_rows(tmp_path, "SELECT * FROM ext_kernel_counters"), _rows(tmp_path, _CLASSES)) == before
    launches = _rows(tmp_path, "SELECT DISTINCT tensor_core_launches > 0 FROM ext_aggregations")
    assert launches == [(1,)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("void f<(int)4, (bool)1>(T1 *, int)", "void f<4, true>(float*, int)"),
        ("void f<4u, 8ul>(int)", "f<4, 8>"),
        ("void at::native::<unnamed>::g<c10::Half>(int)", "void at::native::(anonymous namespace)::g<c10::Half>(int)"),
        ("h(float const*)", "h(const float *)"),
        ("void k<a::b(int)::{lambda(int)#1}>(int)", "void k<a::b(int)::{lambda(int)#1}>(T1)"),
    ],
)
def test_names_of_two_tools_have_one_key(one: str, other: str) -> None:
    """Casts, spaces, parameters and the spelling of namespaces make no difference."""
    assert name_key(one) == name_key(other)


def test_other_template_arguments_are_another_kernel() -> None:
    """Their code differs."""
    assert name_key("void f<4>(int)") != name_key("void f<8>(int)")
