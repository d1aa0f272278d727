"""Rows by the thousand are as they are in the file, whatever the texts and numbers are."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.events.tables import RangeKind
from tensorboard_plugin_dlprof.importers.nsight.batches import ROWS, Batch, read_batches
from tensorboard_plugin_dlprof.opening.sqlite_file import open_untrusted, seal
from tests.importers.nsight.exports import read, thread, write_export
from tests.importers.nsight.rows import NVTX_COLUMNS, marker

NUMBERS = {"a": "ifnull(CAST(a AS INTEGER), -1)", "b": "ifnull(CAST(b AS INTEGER), -1)"}


def read_rows(folder: Path, rows: Sequence[tuple[Any, ...]], condition: str = "") -> list[Batch]:
    """Portions of a table with the columns ``id`` (of the row), ``a``, ``b`` and the text ``c``."""
    path = folder / "rows.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE some (id INTEGER PRIMARY KEY, a, b, c)")
        con.execute("CREATE INDEX of_b ON some (b, a)")
        con.executemany("INSERT INTO some VALUES (?, ?, ?, ?)", rows)
        con.commit()
    with closing(open_untrusted(path)) as con:
        seal(con)
        where = f"WHERE {condition} " if condition else ""
        return list(read_batches(con, NUMBERS, "ifnull(c, '')", f"some NOT INDEXED {where}ORDER BY rowid"))


def joined(result: Sequence[Batch]) -> list[tuple[int, int, bytes]]:
    """All rows."""
    return [row for batch in result for row in batch.rows()]


def test_rows_of_several_portions(tmp_path: Path) -> None:
    """Numbers of any size and sign, columns that stay the same and then change, NULLs, in the order of the rows."""
    count = 3 * ROWS + 5
    values = [(n if n % 2 else -(1 << 62) - n, 7 if n < 2 * ROWS + 9 else 8, f"text {n}") for n in range(count)]
    rows = read_rows(tmp_path, [(n + 1, *row) for n, row in enumerate(values)] + [(count + 1, None, None, None)])
    assert [len(batch) for batch in rows] == [ROWS, ROWS, ROWS, 6]
    assert joined(rows) == [(a, b, c.encode()) for a, b, c in values] + [(-1, -1, b"")]


def test_column_that_changes_all_the_time(tmp_path: Path) -> None:
    """A column with another value in each batch is right, and so is one that changes within each."""
    count = 12 * ROWS
    values = [(n // ROWS, n // (ROWS - 1), "") for n in range(count)]
    rows = read_rows(tmp_path, [(n + 1, *row) for n, row in enumerate(values)])
    assert joined(rows) == [(a, b, b"") for a, b, _ in values]


def test_texts_with_any_letters(tmp_path: Path) -> None:
    """Texts that hold what stands between texts, NULs, broken UTF-8, numbers in the place of texts."""
    texts = ["a", "b\x1ec", "", "d\0e", "é", b"\xff\x1e", 12, 1.5]
    rows = read_rows(tmp_path, [(n, n, 0, text) for n, text in enumerate(texts)])
    assert [text for _, _, text in joined(rows)] == [
        b"a", b"b\x1ec", b"", b"d\0e", "é".encode(), b"\xff\x1e", b"12", b"1.5",
    ]  # fmt: skip


def test_condition_and_ids_of_any_size(tmp_path: Path) -> None:
    """The first and the last id that SQLite knows, gaps between, rows left out."""
    ids = [-(1 << 63), -5, 0, 9, (1 << 63) - 1]
    rows = read_rows(tmp_path, [(number, n, n % 2, "t") for n, number in enumerate(ids)], condition="b = 0")
    assert joined(rows) == [(0, 0, b"t"), (2, 0, b"t"), (4, 0, b"t")]


def test_texts_that_are_too_long_together(tmp_path: Path) -> None:
    """Sixty megabytes of texts, of which SQLite would not make one value; Python 3.10 knows no such limit."""
    texts = [f"{n:05} ".encode() * 5_000 for n in range(2_000)]
    rows = read_rows(tmp_path, [(n, n, 0, text.decode()) for n, text in enumerate(texts)])
    assert [text for _, _, text in joined(rows)] == texts


def test_no_rows(tmp_path: Path) -> None:
    """An empty table has no batches."""
    assert read_rows(tmp_path, []) == []


@pytest.mark.parametrize("name", ["rowid", "oid", "ROWID"])
def test_column_named_like_the_row_id(tmp_path: Path, name: str) -> None:
    """Such a column is not taken for the id of the row."""
    rows = [[*marker(10 * n, 10 * n + 5, f"r{n}"), 3] for n in range(4)]
    capture = read(write_export(tmp_path / "report.sqlite", {
        "StringIds": ("id value", []), "NVTX_EVENTS": (f"{NVTX_COLUMNS} {name}", rows),
    }))  # fmt: skip
    assert [capture.strings[text] for text in capture.ranges.name.tolist()] == ["r0", "r1", "r2", "r3"]


def test_open_ranges_that_are_all_alike(tmp_path: Path) -> None:
    """Ranges of which none has an end, in one thread and domain, end with the session like any others."""
    rows = [marker(10, None, "same") for _ in range(3)]
    capture = read(
        write_export(tmp_path / "report.sqlite", {"StringIds": ("id value", []), "NVTX_EVENTS": (NVTX_COLUMNS, rows)})
    )
    assert capture.ranges.end_ns.tolist() == [10, 10, 10]
    assert capture.ranges.kind.tolist() == [RangeKind.ANNOTATION] * 3


def test_more_texts_than_are_remembered(tmp_path: Path) -> None:
    """A capture of autograd, whose texts all differ in a number: each range has its own."""
    count = 150_000
    rows = [marker(n, n + 1, f"aten::op{n % 7}, seq = {n}, op_id = {n}") for n in range(count)]
    tables = {"StringIds": ("id value", []), "NVTX_EVENTS": (NVTX_COLUMNS, rows)}
    capture = read(write_export(tmp_path / "report.sqlite", tables))
    assert capture.ranges.sequence.tolist() == list(range(count))
    assert [capture.strings[text] for text in capture.ranges.name.tolist()] == [
        f"aten::op{n % 7}" for n in range(count)
    ]


def test_name_of_a_thread_among_ranges(tmp_path: Path) -> None:
    """It is no range, stands anywhere, and names the thread."""
    named = [0, None, 39, "loader", thread(7, 8), None, 0, None]
    rows = [marker(10, 20, "before"), named, marker(30, 40, "behind")]
    capture = read(
        write_export(tmp_path / "report.sqlite", {"StringIds": ("id value", []), "NVTX_EVENTS": (NVTX_COLUMNS, rows)})
    )
    assert [capture.strings[text] for text in capture.ranges.name.tolist()] == ["before", "behind"]
    assert [result.name for result in capture.threads] == ["loader"]
