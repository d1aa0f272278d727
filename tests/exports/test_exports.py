"""Files that hold a whole table, read back."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tensorboard_plugin_dlprof.exports.csv_text import CHUNK_LETTERS, csv_chunks, json_chunks
from tensorboard_plugin_dlprof.exports.pdf_file import pdf_chunks
from tensorboard_plugin_dlprof.exports.xlsx_file import write_xlsx
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.table import Column

COLUMNS = (
    Column("name", "Name", "text", "", ""),
    Column("time_ns", "Time", "duration_ns", "", ""),
    Column("share", "Share", "fraction", "", ""),
    Column("yes", "Yes", "boolean", "", ""),
)
ROWS: list[Row] = [
    {"name": 'a, "b"\n', "time_ns": 2**60, "share": 0.25, "yes": True},
    {"name": "=1+1", "time_ns": -5, "share": None, "yes": False},
    {"name": None, "time_ns": None, "share": 0.0, "yes": None},
]
_NAMES = {"": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def sheets(path: Path) -> list[list[list[Any]]]:
    """Cells of every sheet, without a library: a formula would be an error."""
    result = []
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("xl/worksheets/sheet"))
        for name in names:
            root = ElementTree.fromstring(archive.read(name))
            assert not list(root.iter(f"{{{_NAMES['']}}}f"))
            result.append([[_cell(cell) for cell in row] for row in root.iter(f"{{{_NAMES['']}}}row")])
    return result


def _cell(cell: ElementTree.Element) -> str | float:
    text = "".join(cell.itertext())
    return text if cell.get("t") == "inlineStr" else float(text)


def test_csv() -> None:
    """Title, headings with units, rows; nothing that a spreadsheet would run, numbers as they are."""
    text = b"".join(csv_chunks("p: ops", COLUMNS, ROWS)).decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["p: ops"],
        ["Name", "Time (ns)", "Share (0 to 1)", "Yes"],
        ['a, "b"\n', str(2**60), "0.25", "yes"],
        ["'=1+1", "-5", "", "no"],
        ["", "", "0.0", ""],
    ]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(start: str) -> None:
    """In titles too; elsewhere nothing is changed."""
    (title, headings, row) = csv.reader(
        io.StringIO(b"".join(csv_chunks(f"{start}x", COLUMNS[:1], [{"name": f"{start}cmd"}])).decode(), newline="")
    )
    assert (title, headings, row) == ([f"'{start}x"], ["Name"], [f"'{start}cmd"])


def test_csv_without_a_title() -> None:
    """Programs read the headings from the first line."""
    assert b"".join(csv_chunks("", COLUMNS, [])) == b"Name,Time (ns),Share (0 to 1),Yes\r\n"


def test_rows_are_taken_as_they_are_sent() -> None:
    """The first piece leaves long before the last row is asked for."""
    taken = 0

    def rows() -> Iterator[Row]:
        nonlocal taken
        for taken in range(100_000):  # noqa: B007
            yield ROWS[0]

    for chunks in (csv_chunks("t", COLUMNS, rows()), json_chunks("p", "t", COLUMNS, rows())):
        first = next(chunks)
        assert taken < 5_000
        assert len(first) < 3 * CHUNK_LETTERS
        chunks.close()  # type: ignore[attr-defined]


def test_json() -> None:
    """Cells as the tables have them, in the order of the columns."""
    data = json.loads(b"".join(json_chunks("p", "ops", COLUMNS, ROWS)))
    assert data["rows"] == ROWS
    assert (data["profile"], data["table"]) == ("p", "ops")
    assert data["columns"][1] == {"key": "time_ns", "label": "Time", "type": "duration_ns"}
    assert json.loads(b"".join(json_chunks("p", "ops", COLUMNS, [])))["rows"] == []


def test_xlsx(tmp_path: Path) -> None:
    """Texts are texts; a number that Excel would round is one too."""
    write_xlsx(tmp_path / "a.xlsx", "p: ops", "Ops", COLUMNS, ROWS)
    (cells,) = sheets(tmp_path / "a.xlsx")
    assert cells[0] == ["p: ops"]
    assert cells[1] == ["Name", "Time (ns)", "Share (0 to 1)", "Yes"]
    assert cells[2] == ['a, "b"\n', str(2**60), 0.25, "yes"]
    assert cells[3] == ["=1+1", -5.0, "no"]
    assert list(tmp_path.iterdir()) == [tmp_path / "a.xlsx"]


def test_a_full_sheet_is_followed_by_another(tmp_path: Path) -> None:
    """Each under the same headings; no row is lost."""
    rows: list[Row] = [{"name": str(number)} for number in range(7)]
    write_xlsx(tmp_path / "a.xlsx", "title", "Ops", COLUMNS[:1], rows, rows_of_a_sheet=5)
    assert sheets(tmp_path / "a.xlsx") == [
        [["title"], ["Name"], ["0"], ["1"], ["2"]],
        [["title"], ["Name"], ["3"], ["4"], ["5"]],
        [["title"], ["Name"], ["6"]],
    ]


def pages(data: bytes) -> list[list[str]]:
    """The lines of every page of a PDF file; fails unless each object is where the file says."""
    (start,) = re.findall(rb"startxref\n(\d+)\n%%EOF\n$", data)
    table = data[int(start) :].split(b"trailer")[0].splitlines()
    assert table[0] == b"xref"
    for number, line in enumerate(table[3:], start=1):
        assert data[int(line[:10]) :].startswith(b"%d 0 obj\n" % number)
    streams = re.findall(rb"<</Length (\d+)/Filter/FlateDecode>>stream\n", data)
    result = []
    position = 0
    for length in streams:
        position = data.index(b"stream\n", position) + len(b"stream\n")
        drawing = zlib.decompress(data[position : position + int(length)])
        position += int(length) + len(b"\nendstream")
        texts = re.findall(rb"\(((?:\\.|[^\\()])*)\) Tj", drawing)
        result.append([re.sub(rb"\\(.)", rb"\1", text).decode("cp1252") for text in texts])
    (count,) = re.findall(rb"/Count (\d+)", data)
    assert int(count) == len(result)
    return result


def test_pdf() -> None:
    """Title and page number, headings with units, rows: numbers to the right, unknown as a dash."""
    (lines,) = pages(b"".join(pdf_chunks("p: ops", COLUMNS, ROWS)))
    assert lines[0].split() == ["p:", "ops", "Page", "1"]
    assert re.split(r"\s{2,}", lines[2].strip()) == ["Name", "Time (ns)", "Share (0 to 1)", "Yes"]
    assert [lines[1], lines[3]] == ["", ""]
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[-3:]]
    assert rows == [
        ['a, "b"', f"{2**60:,}", "0.25", "yes"],
        ["=1+1", "-5", "–", "no"],
        ["–", "–", "0", "–"],
    ]


def test_pdf_breaks_lines_and_pages() -> None:
    """Every letter of a long text is there, brackets and backslashes too; what is longer still ends in dots."""
    long = "".join(f"(f{number}\\<void>)" for number in range(20))
    rows: list[Row] = [{"name": long, "time_ns": number, "share": 0.5, "yes": True} for number in range(300)]
    result = pages(b"".join(pdf_chunks("profile 東京", COLUMNS, rows)))
    assert len(result) > 3
    assert all(
        lines[0].startswith("profile ??") and lines[0].endswith(f"Page {n}") for n, lines in enumerate(result, 1)
    )
    head = result[0].index("", 2)
    body = [line for lines in result for line in lines[head + 1 :]]
    width = len(body[0].split("  ")[0])
    assert "".join(line[:width] for line in body).replace(" ", "") == long * 300
    assert len(long) < 240
    (lines,) = pages(b"".join(pdf_chunks("p", COLUMNS, [{"name": "x" * 999, "time_ns": 1, "share": 0.5, "yes": True}])))
    assert "".join(lines).count("x") == 239
    assert "".join(lines).count("…") == 1
    assert [int(line[width:].split()[0]) for line in body if line[width:].strip()] == list(range(300))


def test_pdf_without_rows() -> None:
    """One page with the headings."""
    (lines,) = pages(b"".join(pdf_chunks("empty", COLUMNS, [])))
    assert lines[0].startswith("empty")
    assert "Name" in " ".join(lines)


def test_xlsx_holds_what_excel_can(tmp_path: Path) -> None:
    """Letters that no XML holds are replaced, in the title too, and a text that is cut says so."""
    rows: list[Row] = [{"name": "a\uffff\ufffe\x01b"}, {"name": "x" * 40_000}]
    write_xlsx(tmp_path / "a.xlsx", "t\uffff", "Ops", COLUMNS[:1], rows)
    (cells,) = sheets(tmp_path / "a.xlsx")
    lost = "\N{REPLACEMENT CHARACTER}"
    assert [row[0] for row in cells] == [f"t{lost}", "Name", f"a{lost * 3}b", "x" * 32_766 + "…"]
