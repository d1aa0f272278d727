"""Tables and names of exports of every schema, with answers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.coverage import warnings
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.tables import WorkKind
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tests.analysis.scenes import verdict
from tests.importers.nsight.exports import process, read, read_tables, strings, thread, write_export
from tests.importers.nsight.rows import (
    KERNEL_COLUMNS,
    NAMES,
    RUNTIME_COLUMNS,
    kernel,
    kernels,
)


def test_an_export_without_any_event_is_a_capture_without_events(tmp_path: Path) -> None:
    """No CUDA table, no NVTX: nothing recorded, and nothing wrong."""
    capture = read_tables(tmp_path, {"StringIds": NAMES, "META_DATA_EXPORT": ("name value", [])})
    assert len(capture.work.kind) == len(capture.calls.name) == len(capture.ranges.name) == 0
    assert capture.work.grid.shape == capture.work.block.shape == (0, 3)
    assert (capture.info.end_ns, capture.info.recorded, capture.devices, capture.skipped) == (0, frozenset(), [], {})


@pytest.mark.parametrize("other_rows", [[], [kernel(0, 1), kernel(2, 3)]], ids=["empty", "filled"])
def test_the_latest_version_of_a_table_is_read(tmp_path: Path, other_rows: list[list[object]]) -> None:
    """``_V3`` before ``_V2`` before the plain name."""
    tables = {
        "StringIds": NAMES,
        "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, other_rows),
        "CUPTI_ACTIVITY_KIND_KERNEL_V3": (KERNEL_COLUMNS, [kernel(10, 30)]),
        "CUPTI_ACTIVITY_KIND_KERNEL_V2": (KERNEL_COLUMNS, other_rows),
    }
    assert read_tables(tmp_path, tables).work.end_ns.tolist() == [30]


def test_an_empty_later_version_does_not_hide_rows(tmp_path: Path) -> None:
    """The exporter makes tables that it does not fill."""
    tables = {**kernels(kernel(10, 30)), "CUPTI_ACTIVITY_KIND_KERNEL_V2": (KERNEL_COLUMNS, [])}
    assert read_tables(tmp_path, tables).work.end_ns.tolist() == [30]


def test_driver_calls_in_a_table_of_their_own_are_calls(tmp_path: Path) -> None:
    """Current exports hold them among the runtime's."""
    row = [0, 4, thread(7, 8), 1, 0]
    tables = {
        "StringIds": NAMES,
        "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME_COLUMNS, [row]),
        "CUPTI_ACTIVITY_KIND_DRIVER": (RUNTIME_COLUMNS, [row]),
    }
    capture = read_tables(tmp_path, tables)
    assert [capture.strings[name] for name in capture.calls.name] == ["cudaLaunchKernel_v7000"] * 2


def test_columns_that_a_schema_lacks_are_unknown(tmp_path: Path) -> None:
    """0 blocks, -1 registers: never a made-up value."""
    work = read_tables(tmp_path, kernels(kernel(10, 30))).work
    assert (work.grid.tolist(), work.block.tolist()) == ([[0, 0, 0]], [[0, 0, 0]])
    assert (work.registers[0], work.static_shared_bytes[0], work.num_bytes[0], work.graph_node[0]) == (-1, -1, -1, -1)


def test_every_column_of_a_kernel_is_read(tmp_path: Path) -> None:
    """As the current schema writes it."""
    columns = (
        "start end deviceId streamId correlationId globalPid demangledName shortName registersPerThread "
        "gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory graphNodeId"
    )
    row = [10, 30, 0, 13, 77, process(7), 1, 2, 255, 2147483647, 2, 3, 128, 4, 5, 1024, 49152, 8589934592]
    capture = read_tables(tmp_path, {"StringIds": NAMES, "CUPTI_ACTIVITY_KIND_KERNEL": (columns, [row])})
    work = capture.work
    assert work.grid.tolist() == [[2147483647, 2, 3]]
    assert work.block.tolist() == [[128, 4, 5]]
    assert (work.registers[0], work.static_shared_bytes[0], work.dynamic_shared_bytes[0]) == (255, 1024, 49152)
    assert (work.stream[0], work.correlation[0], work.process[0], work.graph_node[0]) == (13, 77, 7, 8589934592)
    assert (capture.strings[work.name[0]], capture.strings[work.short_name[0]]) == (
        "void ns::gemm<float>(float*)",
        "gemm",
    )


def test_copies_sets_and_graphs(tmp_path: Path) -> None:
    """Each kind with its bytes; a graph launched as a whole is work without a kernel."""
    place = "start end deviceId streamId correlationId globalPid"
    tables = {
        "StringIds": NAMES,
        "CUPTI_ACTIVITY_KIND_MEMCPY": (f"{place} bytes copyKind", [[0, 5, 0, 7, 1, process(7), 4096, 1]]),
        "CUPTI_ACTIVITY_KIND_MEMSET": (f"{place} bytes value", [[5, 6, 0, 7, 2, process(7), 64, 0]]),
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": (place, [[6, 9, 0, 7, 3, process(7)]]),
    }
    capture = read_tables(tmp_path, tables)
    work = capture.work
    assert work.kind.tolist() == [WorkKind.MEMCPY, WorkKind.MEMSET, WorkKind.GRAPH]
    assert (work.num_bytes.tolist(), work.copy_kind.tolist()) == ([4096, 64, -1], [1, -1, -1])
    assert [capture.strings[name] for name in work.name] == ["Memcpy HtoD", "Memset", "CUDA graph"]
    assert capture.info.recorded == {"graphs"}


def test_a_sync_without_an_event(tmp_path: Path) -> None:
    """CUPTI's number for no event is kept, NULL is unknown."""
    columns = "start end deviceId streamId correlationId globalPid syncType eventId"
    rows = [[0, 5, 0, 7, 1, process(7), 3, 4294967295], [6, 7, 4294967295, 7, 2, process(7), 4, None]]
    tables = {"StringIds": NAMES, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (columns, rows)}
    capture = read_tables(tmp_path, tables)
    syncs = capture.syncs
    assert (syncs.event_id.tolist(), syncs.sync_type.tolist(), syncs.device.tolist()) == (
        [4294967295, -1],
        [3, 4],
        [0, -1],
    )
    assert capture.info.recorded == {"syncs"}
    assert capture.devices == []


def test_kernel_names_written_directly(tmp_path: Path) -> None:
    """The short name follows from the full one."""
    rows = [[10, 30, 0, 13, 1, process(7), "void ns::gemm<float>(float*)"]]
    tables = {"StringIds": NAMES, "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS.removesuffix(" shortName"), rows)}
    capture = read_tables(tmp_path, tables)
    assert capture.strings[capture.work.name[0]] == "void ns::gemm<float>(float*)"
    assert capture.strings[capture.work.short_name[0]] == "gemm"


@pytest.mark.parametrize(
    ("long_id", "short_id", "expected"),
    [
        (1, 2, ("void ns::gemm<float>(float*)", "gemm")),
        (1, None, ("void ns::gemm<float>(float*)", "gemm")),
        (None, 2, ("gemm", "gemm")),
        (999, 2, ("gemm", "gemm")),
        (None, None, ("", "")),
    ],
)
def test_missing_and_dangling_names(
    tmp_path: Path, long_id: int | None, short_id: int | None, expected: tuple[str, str]
) -> None:
    """One name stands in for the other; without both the name is not recorded."""
    capture = read_tables(tmp_path, kernels([10, 30, 0, 13, 1, process(7), long_id, short_id]))
    assert (capture.strings[capture.work.name[0]], capture.strings[capture.work.short_name[0]]) == expected


def test_only_texts_of_events_are_taken_from_the_table_of_strings(tmp_path: Path) -> None:
    """It also holds outputs, symbols and names of other processes."""
    texts = read_tables(tmp_path, kernels(kernel(10, 30))).strings.texts()
    assert texts == ["", "void ns::gemm<float>(float*)", "gemm"]


def test_sparse_string_ids(tmp_path: Path) -> None:
    """Exports of several reports number them with gaps."""
    tables = {
        "StringIds": ("id value", [(1 << 40, "far away"), (3, "near")]),
        "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, [[0, 1, 0, 0, 1, process(7), 1 << 40, 3]]),
    }
    capture = read_tables(tmp_path, tables)
    assert (capture.strings[capture.work.name[0]], capture.strings[capture.work.short_name[0]]) == ("far away", "near")


def test_what_nsys_says_of_cuda_is_read_where_it_recorded_none(tmp_path: Path) -> None:
    """An error and a warning, why rather than that there are none; no secrets; nothing if it was not to trace CUDA."""
    said = [
        (1, 1, 1, "CUDA injection initialized successfully."),
        (2, 2, 3, "Not all CUDA events might have been collected."),
        (3, 2, 1, "No CUDA events collected. Does the process use CUDA?"),
        (4, 2, 1, "CUDA driver {13.1} is not supported. HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz123456"),
        (5, 2, 1, "CUDA trace may be late."),
        (6, 3, 1, "ActivityFlushAll returned 2: CUPTI_ERROR_INVALID_DEVICE"),
        (7, 3, 1, "CPU sampling failed."),
    ]
    tables = {
        "StringIds": strings("step"),
        "NVTX_EVENTS": ("start end eventType globalTid text", [[0, 100, 59, thread(1, 1), "step"]]),
        "DIAGNOSTIC_EVENT": ("timestamp severity source text", said),
        "META_DATA_CAPTURE": ("name value", [["PROCESS_0:COLLECT_CUDA_TRACE", "true"]]),
    }
    path = write_export(tmp_path / "report.sqlite", tables)
    reported = read(path).info.reported
    why = "reports: ActivityFlushAll returned 2: CUPTI_ERROR_INVALID_DEVICE; CUDA driver {13.1} is not"
    assert reported.startswith(why)
    assert "hf_abc" not in reported
    assert f"nsys traced CUDA, and {reported}." in warnings(build_profile(read(path)))
    said_sentences = diagnose_source(path, "typical", ImportOptions(), lambda *_: None)
    assert said_sentences["headline"].endswith(f" nsys traced CUDA, and {reported}.")
    (lacks,) = (each for each in verdict(build_profile(read(path))).undecided if each.missing == "any GPU work")
    assert lacks.hint.startswith("nsys traced CUDA, and reports: ActivityFlushAll returned 2: CUPTI_ERROR_INVALID")
    tables["META_DATA_CAPTURE"] = ("name value", [["PROCESS_0:COLLECT_CUDA_TRACE", "false"]])
    assert read(write_export(tmp_path / "other.sqlite", tables)).info.reported == ""


def test_that_nsys_traced_cuda_is_known_by_the_events_that_it_captured(tmp_path: Path) -> None:
    """Versions of 2026 tell it by nothing else; nobody is told to record what was, though nsys says nothing of it."""
    options = [["CAPTURE_EVENT_TYPE", "NvtxEvents"], ["CAPTURE_EVENT_TYPE", "Cuda"]]
    tables = {
        "StringIds": strings("cuMemGetInfo_v2"),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME_COLUMNS, [[10, 20, thread(1, 1), 1, 1]]),
        "META_DATA_CAPTURE": ("name value", [*options, ["PROCESS_0:COLLECT_CUDA_TRACE", "false"]]),
    }
    told = warnings(build_profile(read(write_export(tmp_path / "report.sqlite", tables))))
    assert "nsys traced CUDA, and recorded no kernel, copy or memset." in told
    assert not any("-t cuda" in each for each in told)
