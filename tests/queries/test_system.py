"""Whose GPU it is, and whose program."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.gpus import GPUS
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.system import framework, has_matrix_units, matrix_unit, system_facts
from tests.importers.nsight.exports import process, strings, write_export
from tests.importers.nsight.rows import KERNEL_COLUMNS


@pytest.mark.parametrize(
    ("name", "versions", "unit", "runtime"),
    [
        ("NVIDIA H100 80GB HBM3", {"cuda_runtime_version": 12080}, "Tensor Core", {"CUDA": "12.8"}),
        ("AMD Instinct MI300X", {}, "Matrix Core", {}),
        ("", {"hip_runtime_version": 60443483}, "Matrix Core", {"ROCm (HIP)": "6.4.43483"}),
        ("", {}, "Tensor Core", {}),
    ],
)
def test_matrix_units_are_called_as_their_vendor_calls_them(
    tmp_path: Path, name: str, versions: dict[str, int], unit: str, runtime: dict[str, str]
) -> None:
    """By the GPU's name, and by the runtime where the trace leaves the name empty."""
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0}}
    source = tmp_path / "trace.json"
    source.write_text(
        json.dumps({"deviceProperties": [{"id": 0, "name": name}], **versions, "traceEvents": [kernel]}),
        encoding="utf-8",
    )
    database = tmp_path / "trace.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda stage, fraction: None)
    connection = open_database(database)
    assert matrix_unit(connection) == unit
    facts = {fact["label"]: fact["value"] for fact in system_facts(connection)}
    assert facts["GPU Count"] == "1"
    assert {label: value for label, value in facts.items() if label in ("CUDA", "ROCm (HIP)")} == runtime
    connection.close()


@pytest.mark.parametrize(
    ("name", "numbers", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", (9, 0), "9.0"),
        ("AMD Instinct MI300X", (9, 4), "gfx942"),
        ("AMD Instinct MI210", (9, 0), None),
        ("", (9, 4), "gfx942"),
        ("AMD gfx90a, 104 CUs", (0, 0), "gfx90a"),
        ("AMD gfx1100", (0, 0), "gfx1100"),
    ],
)
def test_gpus_of_amd_have_an_architecture_in_place_of_a_compute_capability(
    tmp_path: Path, name: str, numbers: tuple[int, int], expected: str | None
) -> None:
    """By the numbers of the runtime, which are of several before MI300, else by the name."""
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0}}
    device = {"id": 0, "name": name, "computeMajor": numbers[0], "computeMinor": numbers[1]}
    runtime = {} if name else {"hip_runtime_version": 60443483}
    source = tmp_path / "trace.json"
    source.write_text(json.dumps({"deviceProperties": [device], **runtime, "traceEvents": [kernel]}), encoding="utf-8")
    import_source(source, tmp_path / "trace.sqlite", ImportOptions(), lambda stage, fraction: None)
    with closing(open_database(tmp_path / "trace.sqlite")) as connection:
        (row,) = page(connection, GPUS, find_scope(connection), PageRequest()).rows
        assert row["compute_capability"] == expected


@pytest.mark.parametrize(
    ("name", "call", "kernel", "unit"),
    [
        ("", "hipLaunchKernel", "triton_poi_fused_add_0", "Matrix Core"),
        ("", "cudaLaunchKernel", "triton_poi_fused_add_0", "Tensor Core"),
        ("", "", "Cijk_Ailk_Bljk_SB_MT64x64x8_SE_ISA942_IU1_TT4_4_WG16_16_1", "Matrix Core"),
        ("NVIDIA H100 80GB HBM3", "hipLaunchKernel", "triton_poi_fused_add_0", "Tensor Core"),
    ],
)
def test_a_gpu_without_a_name_is_known_by_calls_and_kernels(
    tmp_path: Path, name: str, call: str, kernel: str, unit: str
) -> None:
    """Where the trace tells neither its name nor a version of the runtime; what is known is not overruled."""
    events = [
        {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": 9, "dur": 2,
         "args": {"device": 0, "correlation": 1}},
        *([{"ph": "X", "cat": "cuda_runtime", "name": call, "pid": 1, "tid": 1, "ts": 1, "dur": 2,
            "args": {"correlation": 1}}] if call else []),
    ]  # fmt: skip
    source, database = tmp_path / "trace.json", tmp_path / "trace.dlprof_dldb.sqlite"
    source.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": name}], "traceEvents": events}))
    import_source(source, database, ImportOptions(), lambda stage, fraction: None)
    with closing(open_database(database)) as connection:
        assert matrix_unit(connection) == unit
        facts = {fact["label"]: fact["value"] for fact in system_facts(connection)}
    assert facts.get("ROCm (HIP)") == ("version not recorded" if unit == "Matrix Core" else None)


@pytest.mark.parametrize(
    ("name", "major", "expected"),
    [("Quadro GP100", 6, False), ("Tesla V100-SXM2-32GB", 7, True), ("AMD Instinct MI6", 6, True), ("", None, True)],
)
def test_old_gpus_have_no_matrix_units(tmp_path: Path, name: str, major: int | None, expected: bool) -> None:
    """NVIDIA's came with compute capability 7.0; what is not known is not denied."""
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0}}
    device = {"id": 0, "name": name} | ({} if major is None else {"computeMajor": major, "computeMinor": 0})
    source = tmp_path / "trace.json"
    source.write_text(json.dumps({"deviceProperties": [device], "traceEvents": [kernel]}), encoding="utf-8")
    database = tmp_path / "trace.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda stage, fraction: None)
    with closing(open_database(database)) as connection:
        assert has_matrix_units(connection) is expected


_PYTORCH = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"
_TENSORFLOW = "void tensorflow::functor::BiasNCHWKernel<float>(int)"
_TENSORRT = "void genericReformat::copyPackedKernel<float, __half>(unsigned int)"


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        ([_PYTORCH], "PyTorch"),
        ([_TENSORFLOW], "TensorFlow"),
        ([_TENSORRT], "TensorRT"),
        ([_TENSORRT, _PYTORCH], "PyTorch"),
        (["ampere_sgemm_128x64_tn", "my_kernel"], None),
        ([], None),
    ],
)
def test_framework_is_known_by_kernels_where_the_source_does_not_say(
    tmp_path: Path, kernels: list[str], expected: str | None
) -> None:
    """An export of Nsight Systems names none; who calls TensorRT for a part of a model is not TensorRT."""
    source = tmp_path / "report.sqlite"
    rows = [[1, 2, 0, 7, place, process(7), place, place] for place in range(len(kernels))]
    write_export(source, {"StringIds": strings(*kernels), "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, rows)})
    assert _framework_of(source) == expected


def test_framework_is_what_the_source_says(tmp_path: Path) -> None:
    """The PyTorch profiler's traces are PyTorch's, whatever kernels ran."""
    kernel = {"ph": "X", "cat": "kernel", "name": _TENSORRT, "pid": 0, "tid": 7, "ts": 1, "dur": 2}
    source = tmp_path / "trace.json"
    source.write_text(json.dumps({"traceEvents": [kernel]}), encoding="utf-8")
    assert _framework_of(source) == "PyTorch"


def _framework_of(source: Path) -> str | None:
    database = source.with_suffix(".dlprof_dldb.sqlite")
    import_source(source, database, ImportOptions(), lambda stage, fraction: None)
    connection = open_database(database)
    try:
        return framework(connection)
    finally:
        connection.close()
