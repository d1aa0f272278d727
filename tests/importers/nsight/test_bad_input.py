"""Exports with events, times and files that cannot be."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, NotFound, UnsafeFile
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.nsight import NsightSystemsImporter
from tests.importers.nsight.exports import read, read_tables, strings, thread, write_export
from tests.importers.nsight.rows import (
    GPU_COLUMNS,
    NAMES,
    NVTX_COLUMNS,
    RUNTIME_COLUMNS,
    kernel,
    kernels,
    marker,
    ranges,
)

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


def test_a_view_in_place_of_a_table_is_refused(tmp_path: Path) -> None:
    """It would run SQL of the file's author, and nobody recorded what it says."""
    path = write_export(tmp_path / "report.sqlite", {"StringIds": NAMES})
    with closing(sqlite3.connect(path)) as con:
        con.execute(
            "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL_V2 AS SELECT 1 AS start, 2 AS end, hex(zeroblob(900000000)) AS x"
        )
        con.commit()
    with pytest.raises(BrokenSource, match="CUPTI_ACTIVITY_KIND_KERNEL_V2 is not an ordinary table"):
        read(path)


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
