"""The summary report, against the file that DLProf itself wrote."""

from __future__ import annotations

import csv
import io
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.as_text import write_text
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind, Unknown, Value
from tensorboard_plugin_dlprof.reports.catalog import REPORTS
from tests.queries.profiles import ignore
from tests.shared_data import shared_data

GOLDEN = "dlprof-golden"


def summary(database: str) -> list[Block]:
    """The blocks of the summary of a golden database."""
    with closing(open_database(shared_data() / GOLDEN / database)) as connection:
        return [
            Block(block.title, block.columns, list(block.rows))
            for block in REPORTS["summary"].blocks(connection, find_scope(connection))
        ]


def dlprof_blocks() -> dict[str, list[list[str]]]:
    """DLProf's own file: title -> lines, cut at the commas."""
    text = (shared_data() / GOLDEN / "no_relu" / "dlprof_summary.csv").read_text(encoding="utf-8")
    blocks = [list(csv.reader(io.StringIO(block))) for block in text.strip().split("\n\n")]
    return {lines[0][0]: lines[1:] for lines in blocks}


def as_dlprof_prints(value: Value) -> str:
    """Averages and percentages have one decimal."""
    return f"{value:.1f}" if isinstance(value, float) else ",".join(value) if isinstance(value, list) else str(value)


OP = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1_000, "dur": 100, "pid": 1, "tid": 1}
KERNEL = {
    "ph": "X", "cat": "kernel", "name": "elementwise_kernel", "ts": 1_010, "dur": 40, "pid": 0, "tid": 7,
    "args": {"device": 0},
}  # fmt: skip


def parts_of_the_wall_time(folder: Path, events: list[dict[str, Any]]) -> dict[str, Value]:
    """The part -> its percentage in the summary of a trace."""
    (folder / "trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    import_source(folder / "trace.json", folder / "dldb.sqlite", ImportOptions(), ignore)
    with closing(open_database(folder / "dldb.sqlite")) as connection:
        (times,) = [
            {str(row[0]): row[1] for row in block.rows}
            for block in REPORTS["summary"].blocks(connection, find_scope(connection))
            if block.title == "Summary Report"
        ]
    return {name.removesuffix(" Duration %"): value for name, value in times.items() if name.endswith(" Duration %")}


@pytest.mark.parametrize(
    ("work", "unknown"),
    [([KERNEL], {"IO"}), ([], {"Tensor Core Kernel", "Non-Tensor Core Kernel", "Memory", "IO"})],
)
def test_a_part_that_could_not_be_recorded_is_unknown(
    tmp_path: Path, work: list[dict[str, Any]], unknown: set[str]
) -> None:
    """Input and output in a trace of PyTorch's, and the GPU's parts where no GPU was recorded; others are measured."""
    parts = parts_of_the_wall_time(tmp_path, [OP, *work])
    assert {name for name, value in parts.items() if value == Unknown(0.0)} == unknown
    assert sum(value for value in parts.values() if isinstance(value, float)) == pytest.approx(100)


def test_nothing_has_a_share_of_no_time(tmp_path: Path) -> None:
    """The events of a broken clock are all at one time."""
    parts = parts_of_the_wall_time(tmp_path, [{**event, "ts": 1_000, "dur": 0} for event in (OP, KERNEL)])
    assert set(parts.values()) == {Unknown(0.0)}


@pytest.mark.parametrize("database", ["dlprof_dldb.sqlite", "dlprof_dldb_1.sqlite"])
def test_every_line_is_that_of_dlprof(database: str) -> None:
    """Same blocks, same names, same order, same numbers."""
    expected = dlprof_blocks()
    ours = summary(database)
    assert [block.title for block in ours] == list(expected)
    for block in ours:
        lines = [[column.heading for column in block.columns]] if block.columns else []
        lines += [[as_dlprof_prints(value) for value in row] for row in block.rows]
        assert lines == expected[block.title]


BLOCKS = [
    Block("Facts", (), [("Wall Clock Time (ns)", 1_234_567), ("GPU Utilization %", None), ("GPU Name(s)", ["A", "B"])]),
    Block(
        "Table",
        (Column("", Kind.WORD), Column("GPU Time (ns)", Kind.INTEGER)),
        [("All ops", 1000), ("Ops using TC", 7)],
    ),
]


def test_text_is_aligned_and_says_what_is_unknown() -> None:
    """Numbers of a table stand under each other; thousands are separated."""
    stream = io.StringIO()
    write_text(BLOCKS, stream)
    assert stream.getvalue() == (
        "Facts\n"
        "-----\n"
        "Wall Clock Time (ns)  1,234,567\n"
        "GPU Utilization %     unknown\n"
        "GPU Name(s)           A, B\n"
        "\n"
        "Table\n"
        "-----\n"
        "              GPU Time (ns)\n"
        "All ops               1,000\n"
        "Ops using TC              7\n"
    )


def test_json_holds_numbers_as_numbers_and_unknown_as_null() -> None:
    """One object keyed by the titles."""
    stream = io.StringIO()
    write_json(BLOCKS, stream)
    assert json.loads(stream.getvalue()) == {
        "Facts": {"Wall Clock Time (ns)": 1_234_567, "GPU Utilization %": None, "GPU Name(s)": ["A", "B"]},
        "Table": [{"Name": "All ops", "GPU Time (ns)": 1000}, {"Name": "Ops using TC", "GPU Time (ns)": 7}],
    }


def test_a_table_without_rows_keeps_its_headings() -> None:
    """An empty table is not an empty report."""
    stream = io.StringIO()
    write_text([Block("Table", (Column("Name", Kind.TEXT), Column("Time", Kind.INTEGER)), iter(()))], stream)
    assert stream.getvalue() == "Table\n-----\nName  Time\n"


def test_what_a_foreign_database_holds_harms_neither_json_nor_a_terminal() -> None:
    """Blobs and numbers without end are unknown, and no letter acts on a terminal."""
    odd = Block(
        "Odd",
        (Column("", Kind.WORD), Column("Value", Kind.DECIMAL)),
        [("\x1b[31mred\nline", b"\0"), ("a", float("inf")), ("b", float("nan"))],
    )
    text, parsed = io.StringIO(), io.StringIO()
    write_text([odd], text)
    write_json([odd], parsed)
    assert [row["Value"] for row in json.loads(parsed.getvalue())["Odd"]] == [None, None, None]
    assert text.getvalue().count("unknown") == 3
    assert "\x1b" not in text.getvalue()
