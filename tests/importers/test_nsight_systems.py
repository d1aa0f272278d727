"""Exports of every schema, and what is odd about them, with answers worked out by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, NotFound, UnsafeFile
from tensorboard_plugin_dlprof.events.tables import Capture, Device, RangeKind, Thread, WorkKind
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.nsight_info import cuda_version, driver_version
from tensorboard_plugin_dlprof.importers.nsight_systems import NsightSystemsImporter
from tests.importers.nsight_exports import Table, process, read, read_tables, strings, thread, write_export

KERNEL_COLUMNS = "start end deviceId streamId correlationId globalPid demangledName shortName"
NVTX_COLUMNS = "start end eventType text globalTid textId domainId endGlobalTid"
RUNTIME_COLUMNS = "start end globalTid correlationId nameId"

NAMES = strings("cudaLaunchKernel_v7000", "void ns::gemm<float>(float*)", "gemm", "aten::mm, seq = 3", "OS thread")


def kernel(start: object, end: object, device: object = 0, pid: int = 7, correlation: object = 1) -> list[object]:
    """A row of the kernel table."""
    return [start, end, device, 13, correlation, process(pid), 1, 2]


def marker(start: object, end: object, text: str | None, kind: int = 59, **other: object) -> list[object]:
    """A row of NVTX_EVENTS."""
    values = {"thread": thread(7, 8), "text_id": None, "domain": 0, "end_thread": None} | other
    return [start, end, kind, text, values["thread"], values["text_id"], values["domain"], values["end_thread"]]


def kernels(*rows: list[object]) -> Mapping[str, Table]:
    """An export with kernels only."""
    return {"StringIds": NAMES, "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, rows)}


def ranges(*rows: list[object]) -> Mapping[str, Table]:
    """An export with ranges only."""
    return {"StringIds": NAMES, "NVTX_EVENTS": (NVTX_COLUMNS, rows)}


def range_rows(capture: Capture) -> list[tuple[str, str, str, int, int]]:
    """Kind, domain, name, start and end of each range."""
    found = capture.ranges
    return [
        (RangeKind(kind).name, capture.strings[domain], capture.strings[name], start, end)
        for kind, domain, name, start, end in zip(
            found.kind.tolist(),
            found.domain.tolist(),
            found.name.tolist(),
            found.start_ns.tolist(),
            found.end_ns.tolist(),
            strict=True,
        )
    ]


# Tables


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


# Names


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


# Ranges


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


# Threads and processes


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
    """For the I/O share of a step."""
    tables = {
        "StringIds": strings("read", "poll", "recv", "mmap64"),
        "OSRT_API": ("start end globalTid nameId", [[i, i + 1, thread(7, 8), i] for i in range(4)]),
    }
    capture = read_tables(tmp_path, tables)
    assert [capture.strings[name] for name in capture.os_calls.name] == ["read", "recv"]
    assert capture.os_calls.start_ns.tolist() == [0, 2]
    assert len(capture.calls.name) == 0


# Devices

GPU_COLUMNS = "id name computeMajor computeMinor smCount totalMemory cuDevice"
A100 = ["A100", 8, 0, 108, 40 << 30]


def test_ordinals_lead_to_gpus_through_their_process(tmp_path: Path) -> None:
    """CUDA_VISIBLE_DEVICES gave process 7 GPU 3 and process 8 GPU 2, both as device 0."""
    tables = {
        **kernels(kernel(0, 1, device=0, pid=7), kernel(2, 3, device=0, pid=8), kernel(4, 5, device=1, pid=8)),
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[i, *A100, i] for i in (3, 2, 1, 0)]),
        "TARGET_INFO_CUDA_DEVICE": ("gpuId cudaId pid", [[3, 0, 7], [2, 0, 8], [0, 1, 8]]),
    }
    capture = read_tables(tmp_path, tables)
    assert capture.work.device.tolist() == [3, 2, 0]
    assert [device.device_id for device in capture.devices] == [0, 1, 2, 3]
    assert capture.devices[3] == Device(3, "A100", 8, 0, 108, 40 << 30)


@pytest.mark.parametrize("gpu", [1 << 16, 1 << 31, (1 << 63) - 1, -5])
def test_a_gpu_number_that_cannot_be_leads_nowhere(tmp_path: Path, gpu: int) -> None:
    """The ordinal itself counts then."""
    tables = {**kernels(kernel(0, 1, device=1, pid=7)), "TARGET_INFO_CUDA_DEVICE": ("gpuId cudaId pid", [[gpu, 1, 7]])}
    assert read_tables(tmp_path, tables).work.device.tolist() == [1]


def test_ordinals_lead_to_gpus_by_cuda_device_on_older_exports(tmp_path: Path) -> None:
    """One ordinal for all processes."""
    tables = {
        **kernels(kernel(0, 1, device=0), kernel(2, 3, device=1)),
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[5, *A100, 0], [4, *A100, 1]]),
    }
    assert read_tables(tmp_path, tables).work.device.tolist() == [5, 4]


def test_other_makers_adapters_are_not_gpus_of_the_profile(tmp_path: Path) -> None:
    """They are listed with capability 0.0, and a cuDevice of 0 that is not theirs."""
    tables = {
        **kernels(kernel(0, 1)),
        "TARGET_INFO_GPU": (
            GPU_COLUMNS,
            [
                [1, "Intel(R) Iris(R)", 0, 0, 0, 0, 0],
                [0, *A100, 0],
                [2, "Microsoft Basic Render Driver", 0, 0, 0, 0, 0],
            ],
        ),
    }
    capture = read_tables(tmp_path, tables)
    assert [device.name for device in capture.devices] == ["A100"]
    assert capture.work.device.tolist() == [0]


def test_work_on_a_gpu_that_is_not_listed_has_a_nameless_device(tmp_path: Path) -> None:
    """No map and no list: the ordinal is the id."""
    capture = read_tables(tmp_path, kernels(kernel(0, 1, device=3), kernel(0, 1, device=1)))
    assert capture.devices == [Device(1), Device(3)]


# What cannot be


IMPOSSIBLE = [
    ("end before start", kernel(10, 5)),
    ("no end", kernel(10, None)),
    ("no start", kernel(None, 10)),
    ("infinite", kernel(0, float("inf"))),
    ("beyond any session", kernel(0, 1 << 62)),
    ("long before", kernel(-(1 << 62), 0)),
]


@pytest.mark.parametrize("row", [row for _, row in IMPOSSIBLE], ids=[name for name, _ in IMPOSSIBLE])
def test_kernels_with_impossible_times_are_counted_and_left_out(tmp_path: Path, row: list[object]) -> None:
    """The others stay."""
    capture = read_tables(tmp_path, kernels(row, kernel(10, 30)))
    assert capture.work.end_ns.tolist() == [30]
    assert capture.skipped == {"kernels with impossible times": 1}


def test_every_kind_of_event_counts_what_it_leaves_out(tmp_path: Path) -> None:
    """Times that cannot be, and host events that belong to no thread."""
    place = "start end deviceId streamId correlationId globalPid"
    tables = {
        "StringIds": strings("read"),
        "NVTX_EVENTS": (NVTX_COLUMNS, [marker(9, 1, "a"), marker(1, 2, "b", thread=None)]),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (RUNTIME_COLUMNS, [[9, 1, thread(7, 8), 1, 0], [1, 2, None, 1, 0]]),
        "CUPTI_ACTIVITY_KIND_MEMCPY": (place, [[9, 1, 0, 0, 0, 0]]),
        "CUPTI_ACTIVITY_KIND_MEMSET": (place, [[9, 1, 0, 0, 0, 0]]),
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": (place, [[9, 1, 0, 0, 0, 0]]),
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (place, [[9, 1, 0, 0, 0, 0]]),
        "OSRT_API": ("start end globalTid nameId", [[9, 1, thread(7, 8), 0]]),
    }
    assert read_tables(tmp_path, tables).skipped == {
        "NVTX ranges with impossible times": 1,
        "NVTX ranges without a thread": 1,
        "CUDA calls with impossible times": 1,
        "CUDA calls without a thread": 1,
        "operating system calls with impossible times": 1,
        "memory copies with impossible times": 1,
        "memory sets with impossible times": 1,
        "CUDA graph launches with impossible times": 1,
        "synchronisations with impossible times": 1,
    }


def test_values_of_the_wrong_type_do_no_harm(tmp_path: Path) -> None:
    """Texts, blobs, huge numbers and NULL where numbers belong."""
    strange: list[Any] = ["text", b"\xff\x00", 1.5, None, (1 << 63) - 1, -1]
    rows = [[10, 30, value, value, value, value, value, value] for value in strange]
    tables = {
        **kernels(*rows),
        "TARGET_INFO_GPU": (GPU_COLUMNS, [[value] * 7 for value in strange]),
        "NVTX_EVENTS": (NVTX_COLUMNS, [marker(0, 1, value, text_id=value, domain=value) for value in strange]),
    }
    capture = read_tables(tmp_path, tables)
    assert len(capture.work.kind) == len(strange)
    assert set(capture.work.device.tolist()) <= {device.device_id for device in capture.devices}
    assert capture.work.process.min() >= 0


# Times


@pytest.mark.parametrize(("utc_ns", "base_ns"), [(1_700_000_000_000_000_000, 1_700_000_000_000_000_000), (None, None)])
def test_normalised_times_are_moved_to_the_start_of_the_session(
    tmp_path: Path, utc_ns: int | None, base_ns: int | None
) -> None:
    """``nsys export --ts-normalize`` writes nanoseconds since 1970."""
    first = 1_700_000_000_000_000_500
    tables = {**kernels(kernel(first, first + 30)), **ranges(marker(first + 5, None, "open"))}
    if utc_ns is not None:
        tables["TARGET_INFO_SESSION_START_TIME"] = ("utcEpochNs", [[utc_ns]])
    capture = read_tables(tmp_path, tables)
    base_ns = first if base_ns is None else base_ns
    assert capture.info.base_time_ns == base_ns
    assert capture.work.start_ns.tolist() == [first - base_ns]
    assert capture.ranges.end_ns.tolist() == [first + 30 - base_ns]
    assert capture.info.end_ns == first + 30 - base_ns


# Machine and job


@pytest.mark.parametrize(
    ("number", "version"),
    [
        ("5154304", "515.43.04"),
        ("5509007", "550.90.07"),
        ("58160", "581.60"),
        ("570.172.08", "570.172.08"),
        ("", ""),
        ("0", ""),
    ],
)
def test_driver_versions(number: str, version: str) -> None:
    """Linux and Windows pack them differently, newer exports not at all; a machine without a GPU has none."""
    assert driver_version(number) == version


@pytest.mark.parametrize(
    ("number", "version"), [("11070", "11.7"), ("12080", "12.8"), ("13000", "13.0"), ("", ""), ("0", "")]
)
def test_cuda_versions(number: str, version: str) -> None:
    """CUPTI packs them in thousands and tens."""
    assert cuda_version(number) == version


def with_environment(environment: str) -> Mapping[str, Table]:
    """An export with a process environment."""
    columns = "name value"
    return {"StringIds": NAMES, "TARGET_INFO_SYSTEM_ENV": (columns, [["DeviceEnvironment", environment]])}


@pytest.mark.parametrize(
    ("environment", "rank", "world_size"),
    [
        ("HOME=/root\0RANK=3\0WORLD_SIZE=8\0", 3, 8),
        ("HOME=/root;RANK=3;WORLD_SIZE=8", 3, 8),
        ("SLURM_PROCID=5", 5, -1),
        ("OMPI_COMM_WORLD_RANK=2;SLURM_PROCID=5", 2, -1),
        ("MY_RANK=3;RANKS=4;RANK=x", -1, -1),
        ("RANK=99999999999999999999", -1, -1),
        ("", -1, -1),
    ],
)
def test_rank_from_the_environment(tmp_path: Path, environment: str, rank: int, world_size: int) -> None:
    """By an allow-list, digits only, whichever way the variables are separated."""
    info = read_tables(tmp_path, with_environment(environment)).info
    assert (info.rank, info.world_size) == (rank, world_size)


def test_no_secret_of_the_environment_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in the capture nor in the log."""
    caplog.set_level("DEBUG")
    secret = "s3cr3t-4f1c"
    tables = {**with_environment(f"WANDB_API_KEY={secret}\0RANK=1\0"), **kernels(kernel(0, 1))}
    tables["StringIds"] = strings(*[text for _, text in NAMES[1]], f"WANDB_API_KEY={secret}")
    capture = read_tables(tmp_path, tables)
    assert capture.info.rank == 1
    assert secret not in "\n".join([*capture.strings.texts(), repr(capture), caplog.text])


# Files


def test_a_damaged_export_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    """The last page is missing: it is still an export, and it is truncated."""
    path = write_export(tmp_path / "report.sqlite", kernels(*[kernel(i, i + 1) for i in range(2_000)]))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4096)
    assert NsightSystemsImporter().sniff(path, path.read_bytes()[: 1 << 16])
    with pytest.raises(BrokenSource, match=r"report\.sqlite is truncated or still being written"):
        read(path)


def test_a_column_without_which_nothing_can_be_told_is_named(tmp_path: Path) -> None:
    """A table of ranges without threads."""
    tables = {"StringIds": NAMES, "NVTX_EVENTS": ("start end eventType text", [[0, 1, 59, "a"]])}
    with pytest.raises(BrokenSource, match=r"report\.sqlite lacks globalTid in the table NVTX_EVENTS"):
        read_tables(tmp_path, tables)


def test_a_view_in_place_of_a_table_is_not_read(tmp_path: Path) -> None:
    """It would run SQL of the file's author."""
    path = write_export(tmp_path / "report.sqlite", {"StringIds": NAMES})
    with closing(sqlite3.connect(path)) as con:
        con.execute(
            "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end, hex(zeroblob(900000000)) AS x"
        )
        con.commit()
    assert len(read(path).work.kind) == 0


def test_other_files_are_not_exports(tmp_path: Path) -> None:
    """Text, a foreign database, a missing file: never an exception."""
    importer = NsightSystemsImporter()
    other = write_export(tmp_path / "other.sqlite", {"rocpd_string": ("id value", [])})
    assert not importer.sniff(other, other.read_bytes())
    assert not importer.sniff(other, b"{}")
    assert not importer.sniff(tmp_path / "gone", b"SQLite format 3\0")
    assert not importer.sniff(tmp_path, b"SQLite format 3\0")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    """As every opener does."""
    with pytest.raises(NotFound):
        read(tmp_path / "gone.sqlite")
    with pytest.raises(UnsafeFile):
        read(tmp_path)


def test_progress_may_cancel(tmp_path: Path) -> None:
    """What the callback raises passes through, and the fraction never leaves 0 to 1."""
    path = write_export(tmp_path / "report.sqlite", kernels(*[kernel(i, i + 1) for i in range(10_000)]))
    fractions: list[float] = []
    NsightSystemsImporter().read(path, ReadOptions(), lambda doing, fraction: fractions.append(fraction))
    assert fractions == sorted(fractions)
    assert 0.0 < fractions[0] < fractions[-1] == 1.0

    def cancel(doing: str, fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        NsightSystemsImporter().read(path, ReadOptions(), cancel)
