"""How each format writes what any report may hold."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.exports.xlsx_file import LONGEST_TEXT
from tensorboard_plugin_dlprof.reports.as_csv import write_csv
from tensorboard_plugin_dlprof.reports.as_json import write_json
from tensorboard_plugin_dlprof.reports.as_markdown import write_markdown
from tensorboard_plugin_dlprof.reports.as_xlsx import write_xlsx
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind, Unknown, Value
from tensorboard_plugin_dlprof.reports.html_style import COLOURS, mark_colours
from tensorboard_plugin_dlprof.reports.launches import printed_shapes
from tests.reports.writing import Writer, text_of
from tests.shared_data import REPOSITORY

COLUMNS = (
    Column("Name", Kind.TEXT),
    Column("Type", Kind.WORD),
    Column("Uses TC", Kind.YES_NO),
    Column("Time (ns)", Kind.INTEGER),
    Column("Avg. (ns)", Kind.DECIMAL),
)
ROWS: list[tuple[Value, ...]] = [
    ('say "hi", <b>\nnext|line', "float32", True, 1_234_567, 2.25),
    ("=1+1", "", False, None, None),
    (["a", "b"], 'odd,"word"', None, 0, 0.0),
]


def table() -> list[Block]:
    """A table with every kind of column."""
    return [Block("Some Report", COLUMNS, iter(ROWS), lambda: len(ROWS))]


def pairs() -> list[Block]:
    """Pairs of a name and a value."""
    return [Block("Facts", (), [("GPU Name(s)", ["A", "B"]), ("Share %", Unknown(0.0)), ("CPU", None)])]


def test_csv_quotes_as_dlprof_does() -> None:
    """Columns of texts always, words only where they must be, numbers never; quotes are doubled; lines stay lines."""
    assert text_of(table(), write_csv) == (
        "Some Report\n"
        "Name,Type,Uses TC,Time (ns),Avg. (ns)\n"
        '"say ""hi"", <b>\nnext|line",float32,yes,1234567,2.2\n'
        '"=1+1",,no,,\n'
        '"a, b","odd,""word""",,0,0.0\n'
    )


def test_csv_of_pairs_is_that_of_the_summary() -> None:
    """Nothing is quoted, what the profile cannot tell is DLProf's number, and an empty line stands between blocks."""
    once = "Facts\nGPU Name(s),A, B\nShare %,0.0\nCPU,\n"
    assert text_of([*pairs(), *pairs()], write_csv) == f"{once}\n{once}"


def test_json_has_unknown_as_null_and_lists_as_lists() -> None:
    """In pairs and rows alike."""
    assert json.loads(text_of([*pairs(), *table()], write_json)) == {
        "Facts": {"GPU Name(s)": ["A", "B"], "Share %": None, "CPU": None},
        "Some Report": [
            dict(zip((column.heading for column in COLUMNS), row, strict=True))
            for row in (
                (ROWS[0][0], "float32", "yes", 1_234_567, 2.25),
                ("=1+1", "", "no", None, None),
                (["a", "b"], 'odd,"word"', None, 0, 0.0),
            )
        ],
    }


def test_json_without_rows_is_json() -> None:
    """An empty list, an empty object."""
    empty = [Block("T", COLUMNS, iter(())), Block("P", (), [])]
    assert json.loads(text_of(empty, write_json)) == {"T": [], "P": {}}


def test_markdown_shows_texts_as_they_are() -> None:
    """No text of a profile can end a cell, format or become HTML."""
    lines = text_of(table(), write_markdown).splitlines()
    assert lines[2:4] == ["| Name | Type | Uses TC | Time (ns) | Avg. (ns) |", "| --- | --- | --- | ---: | ---: |"]
    assert lines[4] == '| say "hi", &lt;b&gt;<br>next\\|line | float32 | yes | 1,234,567 | 2.2 |'
    assert lines[5] == "| =1+1 |  | no | unknown | unknown |"


@pytest.mark.parametrize("write", [write_csv, write_json, write_markdown])
def test_rows_are_written_as_they_come(write: Writer) -> None:
    """A writer that collected rows would need memory in proportion to ten million kernels."""
    taken = 0

    def rows() -> Iterator[tuple[Value, ...]]:
        nonlocal taken
        for taken in range(1, 1_001):
            yield ("name", "word", True, taken, 0.5)

    class Full(Exception):
        pass

    class Disk:
        def write(self, text: str) -> None:
            if "50" in text and taken >= 50:
                raise Full

    with pytest.raises(Full):
        write([Block("Long", COLUMNS, rows())], Disk())  # type: ignore[arg-type]
    assert taken == 50


def sheets(path: Path) -> dict[str, str]:
    """The XML of each sheet of a workbook, by name."""
    with zipfile.ZipFile(path) as book:
        names = re.findall(r'<sheet name="([^"]*)"', book.read("xl/workbook.xml").decode())
        return {
            name: book.read(f"xl/worksheets/sheet{number}.xml").decode() for number, name in enumerate(names, start=1)
        }


def test_the_workbook_holds_texts_as_texts_and_numbers_as_numbers(tmp_path: Path) -> None:
    """A text that begins with = is no formula; unknown is an empty cell; headings are frozen."""
    path = tmp_path / "reports.xlsx"
    write_xlsx({"Some report": table(), "Facts": pairs()}, path)
    assert list(sheets(path)) == ["Some report", "Facts"]
    xml = sheets(path)["Some report"]
    assert "<f>" not in xml
    assert "<t>=1+1</t>" in xml
    assert "<v>1234567</v>" in xml
    assert 'state="frozen"' in xml
    assert xml.count('r="D3"') == 0
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_table_goes_on_in_a_next_sheet(tmp_path: Path) -> None:
    """Seven rows in sheets of four, headings on each."""
    path = tmp_path / "reports.xlsx"
    rows: list[tuple[Value, ...]] = [(f"name{number}", "", True, number, 0.5) for number in range(7)]
    write_xlsx({"Iteration": [Block("Iteration Report", COLUMNS, iter(rows))]}, path, sheet_rows=4)
    result = sheets(path)
    assert list(result) == ["Iteration", "Iteration (2)", "Iteration (3)"]
    assert [re.findall(r"name\d", xml) for xml in result.values()] == [
        ["name0", "name1", "name2"], ["name3", "name4", "name5"], ["name6"],
    ]  # fmt: skip
    assert all("Avg. (ns)" in xml for xml in result.values())


def test_the_workbook_takes_what_excel_cannot(tmp_path: Path) -> None:
    """Letters without a place in XML, texts that are too long, numbers that a float cannot hold, no rows at all."""
    path = tmp_path / "reports.xlsx"
    rows: list[tuple[Value, ...]] = [("a\x00\ud800b", "x" * 40_000, None, 2**62 + 1, None)]
    write_xlsx({"Odd": [Block("Odd", COLUMNS, rows)], "None": [Block("None", COLUMNS, [])]}, path)
    xml = sheets(path)["Odd"]
    assert "a\ufffd\ufffdb" in xml
    assert "x" * (LONGEST_TEXT - 1) + "…" in xml
    assert str(2**62 + 1) in xml
    assert "Avg. (ns)" in sheets(path)["None"]


@pytest.mark.parametrize(
    ("stored", "letters", "printed"),
    [
        ("[[1,3,32,32],[6,3,3,3],[6]]\n", "N,C,H,W;K,C,R,S", "<N:1, C:3, H:32, W:32>; <K:6, C:3, R:3, S:3>; <6>"),
        ("[[1,6,30,30]]\n", "", "<1, 6, 30, 30>"),
        ("[[4,5]]\n", "N,C,H,W", "<4, 5>"),
        ("[[[2,3],[4]],[]]\n", "", "<2, 3>; <4>; <>"),
        ("null\n", "N,K", ""),
        ("", "", ""),
        ("not JSON", "", "not JSON"),
    ],
)
def test_shapes_have_the_letters_of_their_format(stored: str, letters: str, printed: str) -> None:
    """A tensor beyond the format, or of another rank, has none."""
    assert printed_shapes(stored, letters) == printed


def test_the_colours_of_the_page_are_those_of_the_tab() -> None:
    """One colour for each class of time, wherever it is drawn."""
    source = (REPOSITORY / "frontend" / "src" / "model" / "resources.ts").read_text(encoding="utf-8")
    result = re.findall(r'(\w+): \{ light: "(#\w+)", dark: "(#\w+)" \}', source)
    assert {name: (light, dark) for name, light, dark in result if name in COLOURS} == COLOURS
    for name, light, dark in result:
        if name in {"low", "high"}:
            assert re.findall(rf"svg \.gain-{name} {{ fill: (#\w+); }}", mark_colours("")) == [light, dark]
    styles = REPOSITORY / "frontend" / "src" / "components" / "timeline" / "timeline.css"
    ops = re.findall(r"--timeline-op: (#\w+);", styles.read_text(encoding="utf-8"))
    assert re.findall(r"svg \.timeline-op { fill: (#\w+); }", mark_colours("")) == ops


def test_safe_csv_has_no_formulas() -> None:
    """An apostrophe keeps spreadsheet programs from running a text; numbers stay numbers."""
    facts = [Block("Facts", (), [("Host", "@SUM(1)"), ("GPU Name(s)", ["-A", "B"]), ("Time", -3)])]
    assert text_of(facts, partial(write_csv, safe=True)) == "Facts\nHost,'@SUM(1)\nGPU Name(s),'-A, B\nTime,-3\n"
    assert '"\'=1+1"' in text_of(table(), partial(write_csv, safe=True))
