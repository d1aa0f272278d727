"""Ranges, threads and processes of exports, with answers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.events.tables import Thread
from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tests.importers.nsight.exports import read_tables, strings, thread, write_export
from tests.importers.nsight.rows import (
    KERNEL_COLUMNS,
    NAMES,
    RUNTIME_COLUMNS,
    kernel,
    kernels,
    marker,
    range_rows,
    ranges,
)


def test_kinds_and_texts_of_ranges(tmp_path: Path) -> None:
    """Push/pop, start/end, mark; text in the row or in the table of strings."""
    capture = read_tables(
        tmp_path,
        ranges(
            marker(0, 10, "step"),
            marker(1, 9, None, text_id=3),
            marker(2, 50, "epoch", kind=60, end_thread=thread(7, 99)),
            marker(3, None, "a mark", kind=34),
        ),
    )
    assert range_rows(capture) == [
        ("ANNOTATION", "", "step", 0, 10),
        ("OP", "", "aten::mm", 1, 9),
        ("SPAN", "", "epoch", 2, 50),
    ]
    assert capture.ranges.sequence.tolist() == [-1, 3, -1]
    assert capture.info.recorded == {"nvtx", "ops"}


def test_names_that_nobody_reads_to_the_end_are_cut(tmp_path: Path) -> None:
    """Each step would carry them on. Arguments are none of a name, and what is parsed later is kept whole."""
    long, sizes = "x" * 5_000, f"[{', '.join(['[64, 64]'] * 1_000)}]"
    config = f'{{"model_config": "{long}"}}'
    rows = range_rows(
        capture := read_tables(
            tmp_path,
            {
                **ranges(
                    marker(0, 10, long),
                    marker(1, 9, None, text_id=0),
                    marker(2, 8, f"aten::{long}, seq = 1, sizes = {sizes}"),
                    marker(3, 7, config),
                    marker(4, 6, "y" * 4_096),
                ),
                "StringIds": strings(f"registered {long}"),
            },
        )
    )
    assert rows == [
        ("ANNOTATION", "", "x" * 4_096 + "...", 0, 10),
        ("ANNOTATION", "", f"registered {long}"[:4_096] + "...", 1, 9),
        ("OP", "", f"aten::{long}"[:4_096] + "...", 2, 8),
        ("DLPROF_CONFIG", "", config, 3, 7),
        ("ANNOTATION", "", "y" * 4_096, 4, 6),
    ]
    assert capture.strings[int(capture.ranges.shapes[2])] == sizes.replace(" ", "")


def test_the_oldest_schema_has_no_text_ids(tmp_path: Path) -> None:
    """``text`` alone, and no domains."""
    columns = "start end eventType text globalTid"
    tables = {"StringIds": NAMES, "NVTX_EVENTS": (columns, [[0, 10, 59, "step", thread(7, 8)]])}
    assert range_rows(read_tables(tmp_path, tables)) == [("ANNOTATION", "", "step", 0, 10)]


def test_domains_are_named_by_process_even_after_their_ranges(tmp_path: Path) -> None:
    """Two processes number their domains independently; one that was never registered has its number."""
    capture = read_tables(
        tmp_path,
        ranges(
            marker(0, 1, "Conv_1", domain=1),
            marker(0, 1, "ncclAllReduce", domain=1, thread=thread(9, 9)),
            marker(0, 1, "x", domain=5),
            marker(0, None, "TensorRT", kind=75, domain=1),
            marker(0, None, "NCCL", kind=75, domain=1, thread=thread(9, 9)),
        ),
    )
    assert range_rows(capture) == [
        ("OP", "TensorRT", "Conv_1", 0, 1),
        ("ANNOTATION", "NCCL", "ncclAllReduce", 0, 1),
        ("ANNOTATION", "domain 5", "x", 0, 1),
    ]


def test_tensorflow_has_ops_that_are_start_end_ranges(tmp_path: Path) -> None:
    """Those that end on the thread where they began: an asynchronous op may cover others' work there."""
    core = {"kind": 60, "domain": 1}
    capture = read_tables(
        tmp_path,
        ranges(
            marker(0, None, "tensorflow-core", kind=75, domain=1),
            marker(0, 9, "MatMul: dense/MatMul", end_thread=thread(7, 8), **core),
            marker(1, 30, "_Recv: edge_5", end_thread=thread(7, 99), **core),
            marker(2, 40, "Send: edge_6", **core),
            marker(3, 50, "MatMul: mine", kind=60, end_thread=thread(7, 8)),
        ),
    )
    assert range_rows(capture) == [
        ("OP", "tensorflow-core", "MatMul: dense/MatMul", 0, 9),
        ("SPAN", "tensorflow-core", "_Recv: edge_5", 1, 30),
        ("SPAN", "tensorflow-core", "Send: edge_6", 2, 40),
        ("SPAN", "", "MatMul: mine", 3, 50),
    ]


@pytest.mark.parametrize(("session_ns", "end_ns"), [(None, 70), (40, 70), (90, 90)])
def test_a_range_without_end_is_closed_at_the_end_of_the_session(
    tmp_path: Path, session_ns: int | None, end_ns: int
) -> None:
    """Or with the last event, where the session's length is not known or too small."""
    tables = {**ranges(marker(0, None, "open"), marker(60, 70, "closed"))}
    if session_ns is not None:
        tables["ANALYSIS_DETAILS"] = ("duration", [[session_ns]])
    capture = read_tables(tmp_path, tables)
    assert capture.ranges.end_ns.tolist() == [end_ns, 70]
    assert capture.info.end_ns == end_ns


def test_the_session_ends_with_the_last_event_where_every_range_is_closed(tmp_path: Path) -> None:
    """A session may go on long after the program."""
    tables = {**ranges(marker(0, 10, "closed")), "ANALYSIS_DETAILS": ("duration", [[90]])}
    assert read_tables(tmp_path, tables).info.end_ns == 10


def test_processes_and_threads_are_the_low_bits(tmp_path: Path) -> None:
    """24 bits each; the machine's bits above are dropped."""
    tables = {
        **kernels(kernel(0, 1, pid=0xFFFFFF)),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME_COLUMNS, [[0, 1, thread(0xFFFFFF, 0xABCDEF), 1, 0]]),
        "ThreadNames": ("globalTid nameId priority", [[thread(0xFFFFFF, 0xABCDEF), 4, 10], [thread(1, 2), 0, 99]]),
    }
    capture = read_tables(tmp_path, tables)
    assert capture.threads == [Thread(0xFFFFFF, 0xABCDEF, "OS thread")]
    assert capture.work.process.tolist() == [0xFFFFFF]


def test_the_programs_own_name_of_a_thread_goes_first(tmp_path: Path) -> None:
    """NVTX names it; of the operating system's names the one with the highest priority counts."""
    tables = {
        **ranges(marker(0, 1, "a"), marker(0, 1, "b", thread=thread(7, 9)), marker(0, None, "loader", kind=39)),
        "ThreadNames": (
            "globalTid nameId priority",
            [[thread(7, 8), 4, 1], [thread(7, 9), 2, 1], [thread(7, 9), 4, 5]],
        ),
    }
    names = {item.thread_id: item.name for item in read_tables(tmp_path, tables).threads}
    assert names == {8: "loader", 9: "OS thread"}


def test_file_and_network_calls_are_kept_and_waits_are_not(tmp_path: Path) -> None:
    """For the I/O share of a step. A program that waits for its input may be in ``getc`` for minutes."""
    tables = {
        "StringIds": strings("read", "poll", "recv", "mmap64", "getc"),
        "OSRT_API": ("start end globalTid nameId", [[i, i + 1, thread(7, 8), i] for i in range(5)]),
    }
    capture = read_tables(tmp_path, tables)
    assert [capture.strings[name] for name in capture.os_calls.name] == ["read", "recv", "getc"]
    assert capture.os_calls.start_ns.tolist() == [0, 2, 4]
    assert len(capture.calls.name) == 0


@pytest.mark.parametrize("call", ["getc", "fputs_unlocked", "connect", "fflush"])
def test_every_call_that_transfers_data_explains_why_the_gpu_waits(tmp_path: Path, call: str) -> None:
    """Between two kernels that one thread launches, which is in nothing but this call."""
    tables = {
        "StringIds": strings("cudaLaunchKernel", call, "gemm"),
        "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, [kernel(10_000, 20_000), kernel(9_000_000, 9_010_000, 0, 7, 2)]),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (
            RUNTIME_COLUMNS,
            [[1_000, 9_000, thread(7, 8), 1, 0], [8_990_000, 8_999_000, thread(7, 8), 2, 0]],
        ),
        "OSRT_API": ("start end globalTid nameId", [[30_000, 8_980_000, thread(7, 8), 1]]),
    }
    path = write_export(tmp_path / "report.sqlite", tables)
    mean = diagnose_source(path, "typical", ImportOptions(), lambda *_: None)["mean"]["devices"]["0"]
    assert mean["parts"]["io"] == 8_950_000
    assert [row["call"] for row in mean["rows"] if row["part"] == "io"] == [call]
