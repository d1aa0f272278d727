"""Every real export gives the events that plain SQL finds in it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof.events.tables import Capture, DeviceWork, RangeKind, WorkKind
from tensorboard_plugin_dlprof.importers.nsight import NsightSystemsImporter
from tests.importers.nsight.exports import read
from tests.shared_data import shared_data, shared_data_or_none

EXPORTS = [
    "dlprof-golden/nsys_profile.sqlite",
    "dlprof-golden/rebuilt_nsys_profile.sqlite",
    "nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite",
    "nsight/a100_transformer_2.7b_nvtx/result_2_7B_nvtx.sqlite",
    "nsight/a100_transformer_autograd_nvtx/small_opt_A100.sqlite",
    "nsight/h100_2gpu_torchrun_nccl/mfu_2gpu_before.sqlite",
    "nsight/h200_nvfuser/report1.sqlite",
    "nsight/no_gpu_work/result.sqlite",
    "nsight/rtx3090_tensorrt_fp16/report1.sqlite",
    "nsight/rtx5000ada_wsl/result.sqlite",
    "nsight/t4_four_streams_old_schema/report2.sqlite",
]

OTHER_SQLITE = [
    "dlprof-golden/dlprof_dldb.sqlite",
    "dlprof-golden/dlprof_dldb_1.sqlite",
    "nsight/rocm_rpd_not_nsys/matmul_result.rpd",
]

WORK_TABLES = {
    WorkKind.KERNEL: "CUPTI_ACTIVITY_KIND_KERNEL",
    WorkKind.MEMCPY: "CUPTI_ACTIVITY_KIND_MEMCPY",
    WorkKind.MEMSET: "CUPTI_ACTIVITY_KIND_MEMSET",
    WorkKind.GRAPH: "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}


class Sql:
    """Plain SQL on the export, with no code of the importer."""

    def __init__(self, path: Path) -> None:
        self._con = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
        self._con.text_factory = lambda text: text.decode("utf-8", "replace")
        self._tables = {name for (name,) in self._con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def rows(self, table: str, statement: str) -> list[tuple[Any, ...]]:
        """Rows of a statement, none where the table is absent."""
        return self._con.execute(statement).fetchall() if table in self._tables else []

    def close(self) -> None:
        """Let go of the file."""
        self._con.close()


@pytest.fixture(scope="module", params=EXPORTS)
def path(request: pytest.FixtureRequest) -> Path:
    """Each export, with all tests of it one after the other."""
    return shared_data() / str(request.param)


@pytest.fixture
def sql(path: Path) -> Iterator[Sql]:
    """Plain SQL on the export."""
    with closing(Sql(path)) as connection:
        yield connection


@lru_cache(maxsize=2)
def cached(path: Path) -> Capture:
    """The capture, read once for the tests of one export."""
    return read(path)


def names(capture: Capture, ids: np.ndarray[Any, Any]) -> list[str]:
    """Texts of ids."""
    return [capture.strings[int(key)] for key in ids]


@pytest.mark.parametrize("kind", WORK_TABLES)
def test_device_work(path: Path, sql: Sql, kind: WorkKind) -> None:
    """Each piece with its times, process, stream and correlation, in the order of the file."""
    table = WORK_TABLES[kind]
    expected = sql.rows(
        table, f'SELECT start, "end", (globalPid >> 24) & 16777215, streamId, correlationId FROM {table} ORDER BY rowid'
    )
    work = cached(path).work
    rows = work.kind == kind
    columns = (work.start_ns, work.end_ns, work.process, work.stream, work.correlation)
    assert list(zip(*(column[rows].tolist() for column in columns), strict=True)) == expected


def test_kernel_names_and_launch_geometry(path: Path, sql: Sql) -> None:
    """Full and short names, grid and block."""
    geometry = "gridX, gridY, gridZ, blockX, blockY, blockZ"
    table = "CUPTI_ACTIVITY_KIND_KERNEL"
    expected = Counter(
        sql.rows(
            table,
            f"SELECT d.value, s.value, {geometry} FROM {table} "
            "JOIN StringIds d ON d.id = demangledName JOIN StringIds s ON s.id = shortName",
        )
    )
    capture = cached(path)
    work, rows = capture.work, capture.work.kind == WorkKind.KERNEL
    counts = Counter(
        (*pair, *grid, *block)
        for *pair, grid, block in zip(
            names(capture, work.name[rows]),
            names(capture, work.short_name[rows]),
            work.grid[rows].tolist(),
            work.block[rows].tolist(),
            strict=True,
        )
    )
    assert counts == expected


@pytest.mark.parametrize("kind", [WorkKind.MEMCPY, WorkKind.MEMSET])
def test_bytes_of_copies_and_sets(path: Path, sql: Sql, kind: WorkKind) -> None:
    """Sum of bytes, by kind of copy."""
    table = WORK_TABLES[kind]
    group = "copyKind" if kind == WorkKind.MEMCPY else "-1"
    expected = dict(sql.rows(table, f"SELECT {group}, sum(bytes) FROM {table} GROUP BY 1"))
    work = cached(path).work
    counts: Counter[int] = Counter()
    for copy_kind, size in zip(work.copy_kind[work.kind == kind], work.num_bytes[work.kind == kind], strict=True):
        counts[int(copy_kind)] += int(size)
    assert counts == expected


def test_calls(path: Path, sql: Sql) -> None:
    """Each API call with its thread, name and correlation."""
    expected = sql.rows(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        'SELECT start, "end", (globalTid >> 24) & 16777215, globalTid & 16777215, correlationId, value '
        "FROM CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN StringIds ON id = nameId ORDER BY r.rowid",
    )
    capture = cached(path)
    threads = [capture.threads[row] for row in capture.calls.thread]
    result = zip(
        capture.calls.start_ns.tolist(),
        capture.calls.end_ns.tolist(),
        [thread.process_id for thread in threads],
        [thread.thread_id for thread in threads],
        capture.calls.correlation.tolist(),
        names(capture, capture.calls.name),
        strict=True,
    )
    assert list(result) == expected


def test_synchronisations(path: Path, sql: Sql) -> None:
    """Each with its kind and event, numbers as CUPTI's."""
    expected = sql.rows(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        'SELECT start, "end", correlationId, syncType, ifnull(eventId, -1) '
        "FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION ORDER BY rowid",
    )
    syncs = cached(path).syncs
    columns = (syncs.start_ns, syncs.end_ns, syncs.correlation, syncs.sync_type, syncs.event_id)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


def test_ranges(path: Path, sql: Sql) -> None:
    """Each push/pop range with its times, thread, and the beginning of its text as its name."""
    expected = sql.rows(
        "NVTX_EVENTS",
        'SELECT start, "end", (globalTid >> 24) & 16777215, globalTid & 16777215, ifnull(text, value) '
        "FROM NVTX_EVENTS n LEFT JOIN StringIds ON id = textId WHERE eventType IN (59, 60) ORDER BY n.rowid",
    )
    capture = cached(path)
    ranges = capture.ranges
    threads = [capture.threads[row] for row in ranges.thread]
    items = list(
        zip(
            ranges.start_ns.tolist(),
            ranges.end_ns.tolist(),
            [thread.process_id for thread in threads],
            [thread.thread_id for thread in threads],
            strict=True,
        )
    )
    assert items == [row[:4] for row in expected]
    for name, row in zip(names(capture, ranges.name), expected, strict=True):
        assert name
        assert row[4].startswith(name)


def test_the_capture_ends_with_its_last_event(path: Path, sql: Sql) -> None:
    """No event of any kind ends later, and one ends there."""
    tables = [*WORK_TABLES.values(), "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"]
    ends = [value for table in tables for (value,) in sql.rows(table, f'SELECT max("end") FROM {table}')]
    ends += [value for (value,) in sql.rows("NVTX_EVENTS", 'SELECT max("end") FROM NVTX_EVENTS WHERE eventType = 59')]
    capture = cached(path)
    ends += capture.os_calls.end_ns.tolist()
    assert capture.info.end_ns == max(ends)
    assert capture.info.base_time_ns == 0


def test_every_device_of_the_work_is_listed(path: Path) -> None:
    """By id, named or not."""
    capture = cached(path)
    listed = [device.device_id for device in capture.devices]
    assert listed == sorted(set(listed))
    assert set(capture.work.device.tolist()) <= set(listed)


def test_nothing_was_skipped(path: Path) -> None:
    """Real exports hold no impossible events."""
    assert cached(path).skipped == {}


def test_no_value_of_the_environment_leaks(path: Path, sql: Sql) -> None:
    """No variable of the profiled process stands in any text of the capture, nor do other processes' names."""
    values = sql.rows(
        "TARGET_INFO_SYSTEM_ENV",
        "SELECT CAST(value AS TEXT) FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'DeviceEnvironment'",
    )
    variables = [part for (value,) in values for part in value.replace("\0", ";").split(";") if len(part) > 12]
    capture = cached(path)
    everything = "\n".join([*capture.strings.texts(), repr(capture.info), repr(capture.threads)])
    whole = {*capture.strings.texts(), *(thread.name for thread in capture.threads)}
    # Names only: a failure must not print the secret.
    leaked = [key for key, _, value in (v.partition("=") for v in variables) if f"{key}={value}" in everything]
    leaked += [key for key, _, value in (v.partition("=") for v in variables) if len(value) > 12 and value in whole]
    assert leaked == []


def union_ns(work: DeviceWork, device: int) -> int:
    """Length of the union of a device's kernels, by brute force over their sorted ends."""
    rows = (work.kind == WorkKind.KERNEL) & (work.device == device)
    covered, reached = 0, -1
    for start, end in sorted(zip(work.start_ns[rows].tolist(), work.end_ns[rows].tolist(), strict=True)):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered


FACTS = [
    # file, kernels, kernel time, union over devices, work calls missing, from MANIFEST.md
    ("nsight/a100_transformer_autograd_nvtx/small_opt_A100.sqlite", 3_655, 148_043_935, 148_043_935, 0),
    ("nsight/a100_transformer_2.7b_nvtx/result_2_7B_nvtx.sqlite", 7_328, 3_408_380_989, 3_408_380_989, 0),
    ("nsight/a100_cuda_graphs/result_2_7B_compile_ro.sqlite", 30, 78_270, 78_270, 0),
    ("nsight/h100_2gpu_torchrun_nccl/mfu_2gpu_before.sqlite", 4_010, 535_200_650, 535_188_208, 24),
    ("nsight/h200_nvfuser/report1.sqlite", 18, 10_167_602, 10_167_602, 0),
    ("nsight/rtx3090_tensorrt_fp16/report1.sqlite", 36, 6_415_244, 6_415_244, 0),
    ("nsight/rtx5000ada_wsl/result.sqlite", 4_485, 34_869_183, 34_869_183, 0),
    ("nsight/t4_four_streams_old_schema/report2.sqlite", 200, 1_801_798, 1_801_798, 0),
    ("nsight/no_gpu_work/result.sqlite", 0, 0, 0, 0),
]


@pytest.mark.parametrize(("name", "kernels", "time_ns", "covered_ns", "unlaunched"), FACTS)
def test_facts_of_the_manifest(name: str, kernels: int, time_ns: int, covered_ns: int, unlaunched: int) -> None:
    """Kernels, their time, its union per device, and kernels without an API call."""
    capture = cached(shared_data() / name)
    work = capture.work
    rows = work.kind == WorkKind.KERNEL
    callers = {
        (capture.threads[thread].process_id, correlation)
        for thread, correlation in zip(capture.calls.thread, capture.calls.correlation.tolist(), strict=True)
    }
    launches = zip(work.process[rows].tolist(), work.correlation[rows].tolist(), strict=True)
    assert int(rows.sum()) == kernels
    assert int((work.end_ns - work.start_ns)[rows].sum()) == time_ns
    assert sum(union_ns(work, device.device_id) for device in capture.devices) == covered_ns
    assert sum(launch not in callers for launch in launches) == unlaunched


def kinds(name: str) -> dict[str, int]:
    """Number of ranges by kind."""
    counts = Counter(cached(shared_data() / name).ranges.kind.tolist())
    return {RangeKind(kind).name: count for kind, count in counts.items()}


def test_kinds_of_ranges() -> None:
    """DLProf's markers, autograd's ranges, TensorRT's layers, and what users write."""
    assert kinds("dlprof-golden/nsys_profile.sqlite") == {
        "DLPROF_TRACE": 27,
        "DLPROF_OP": 27,
        "DLPROF_CONFIG": 1,
        "OP": 27,
    }
    assert kinds("nsight/rtx3090_tensorrt_fp16/report1.sqlite") == {"OP": 58, "ANNOTATION": 1}
    assert kinds("nsight/a100_transformer_2.7b_nvtx/result_2_7B_nvtx.sqlite") == {"ANNOTATION": 516}
    assert kinds("nsight/h200_nvfuser/report1.sqlite") == {"ANNOTATION": 13_513}


def test_autograd_ranges_have_bare_names_sequences_and_shapes() -> None:
    """17,279 distinct texts are some hundred names; each sequence number is in its text."""
    path = shared_data() / "nsight/a100_transformer_autograd_nvtx/small_opt_A100.sqlite"
    capture = cached(path)
    with closing(Sql(path)) as sql:
        texts = sql.rows("NVTX_EVENTS", "SELECT text FROM NVTX_EVENTS WHERE eventType = 59 AND text IS NOT NULL")
        assert int((capture.ranges.sequence >= 0).sum()) == sum(", seq = " in text for (text,) in texts)
        assert int((capture.ranges.shapes > 0).sum()) == sum(", sizes = [" in text for (text,) in texts)
    used = set(names(capture, np.unique(capture.ranges.name)))
    assert len(used) < 200
    assert not [name for name in used if "op_id" in name or "seq" in name]


def test_what_the_machine_and_tool_are_called() -> None:
    """Versions in the spelling of DLProf."""
    info = cached(shared_data() / "dlprof-golden/nsys_profile.sqlite").info
    assert (info.driver_version, info.cuda_version, info.nsys_version) == ("515.43.04", "11.7", "2022.1.3.3")
    assert info.cpu_model == "Intel(R) Core(TM) i7-9700K CPU @ 3.60GHz"
    rebuilt = cached(shared_data() / "dlprof-golden/rebuilt_nsys_profile.sqlite").info
    assert (rebuilt.framework, rebuilt.nsys_version) == ("PyTorch 1.10.1+cu102", "2022.1.3.3-1c7b5f7")
    windows = cached(shared_data() / "nsight/rtx5000ada_wsl/result.sqlite")
    assert windows.info.driver_version == "581.60"
    assert [device.name for device in windows.devices] == ["NVIDIA RTX 5000 Ada Generation Laptop GPU"]


def test_only_gpus_that_run_cuda_are_listed_in_order() -> None:
    """TARGET_INFO_GPU lists four in reverse; two processes of another export have no such table."""
    four = cached(shared_data() / "nsight/rtx3090_tensorrt_fp16/report1.sqlite")
    assert [device.device_id for device in four.devices] == [0, 1, 2, 3]
    two = cached(shared_data() / "nsight/h100_2gpu_torchrun_nccl/mfu_2gpu_before.sqlite")
    assert [(device.device_id, device.name) for device in two.devices] == [(0, ""), (1, "")]
    assert {thread.process_id for thread in two.threads} == {144, 145}


def head(path: Path) -> bytes:
    """What ``sniff`` is given."""
    with path.open("rb") as file:
        return file.read(1 << 16)


@pytest.mark.parametrize("name", EXPORTS)
def test_sniffs_each_export(name: str) -> None:
    """By content."""
    path = shared_data() / name
    assert NsightSystemsImporter().sniff(path, head(path))


@pytest.mark.parametrize("name", OTHER_SQLITE)
def test_does_not_take_other_sqlite_files(name: str) -> None:
    """DLProf's databases and ROCm's profiles are SQLite too."""
    path = shared_data() / name
    assert not NsightSystemsImporter().sniff(path, head(path))


def test_the_list_of_exports_is_complete() -> None:
    """A new real export is not forgotten."""
    folder = shared_data_or_none()
    if folder is None:
        pytest.skip("real profiles are not part of the repository")
    assert {str(path.relative_to(folder)) for path in folder.glob("nsight/*/*.sqlite")} <= set(EXPORTS)
