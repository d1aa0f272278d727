"""Whose GPU it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.system import matrix_unit, system_facts


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
