"""The tables of DLProf's reports on the page: which rows and columns they show, and in which order."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof import samples
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.reports import as_html
from tensorboard_plugin_dlprof.reports.catalog import REPORTS
from tests.reports.writing import page_of


def test_long_tables_are_cut_and_say_so(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four launches, two shown."""
    monkeypatch.setattr(as_html, "MOST_ROWS", 2)
    text = page_of(made)
    launches = text[text.index("<h3>Iteration Report</h3>") :]
    launches = launches[: launches.index("</details>")]
    assert launches.count("<tr>") == 1 + 2
    assert "2 more rows left out: <code>dlprof reports --formats csv</code> writes all." in launches
    assert "<span class=amount>4 rows</span>" in launches


def test_tables_that_are_cut_keep_the_rows_with_the_most_gpu_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most first; files of DLProf's reports have them by name."""
    source = next(samples.DATA.rglob("generated-transformer-bf16-rank0.pt.trace.json.gz"))
    database = tmp_path / "ddp.dlprof_dldb.sqlite"
    import_source(source, database, ImportOptions(), lambda _what, _fraction: None)
    with closing(open_database(database)) as connection:
        (block,) = REPORTS["kernel"].blocks(connection, find_scope(connection))
        place = [column.heading for column in block.columns].index("Total GPU Time (ns)")
        by_name = [int(str(row[place])) for row in block.rows]
    times = sorted(by_name, reverse=True)
    assert times != by_name
    monkeypatch.setattr(as_html, "MOST_ROWS", 5)
    kernels = page_of(database).partition("<h3>Kernel Report</h3>")[2].partition("</details>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in kernels.split("<tr>")[2:]]
    # Behind the name, for those who do not scroll.
    assert [row[1] for row in rows] == [f"{time:,}" for time in times[:5]]


def test_tables_begin_with_the_name_and_its_gpu_time(made: Path) -> None:
    """The others follow in DLProf's order, in which its files have all of them; a long name is whole in a tooltip."""
    with closing(open_database(made)) as connection:
        (block,) = REPORTS["iteration"].blocks(connection, find_scope(connection))
        (groups,) = REPORTS["group_op"].blocks(connection, find_scope(connection))
    headings = [column.heading for column in block.columns]
    text = page_of(made)
    table = text.partition("<h3>Iteration Report</h3>")[2].partition("</table>")[0]
    shown = re.findall(r"<th scope[^>]*>(.*?)</th>", table)
    assert shown[:2] == ["Kernel Name", "GPU Duration (ns)"]
    assert shown[2:] == [heading for heading in headings if heading not in shown[:2]]
    long = re.findall(r'<td(?: class=path)? title="([^"]*)">(?:<bdi>)?(.*?)(?:</bdi>)?</td>', text)
    assert long
    assert all(title == name for title, name in long)
    assert all(len(name) <= 38 for name in re.findall(r"<td>(.*?)</td>", table))
    average = [column.heading for column in groups.columns].index("Avg. CPU Time (ns)")
    table = text.partition("<h3>Group Op Report</h3>")[2].partition("</table>")[0]
    for row in table.split("<tr>")[2:]:
        cell = re.findall(r"<td[^>]*>(.*?)</td>", row)[average + 1]
        assert re.fullmatch("[\\d,]+|unknown", cell), "of nanoseconds there are no tenths"


def test_tables_without_rows_are_one_line(made: Path) -> None:
    """Their names are enough."""
    with closing(sqlite3.connect(made)) as connection, connection:
        connection.execute("DELETE FROM kernel_summaries")
    text = page_of(made)
    assert ">0 rows" not in text
    assert "Kernel Report" in text.partition("<p class=empty>Without rows: ")[2].partition(".</p>")[0]


def test_what_is_unknown_is_not_0(made: Path) -> None:
    """No op of the trace is eligible in a way that could be measured: the CPU's name is not in it either."""
    assert "<td class=u>unknown</td>" in page_of(made)
