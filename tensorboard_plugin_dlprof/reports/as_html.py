"""Reports as one self-contained HTML file: the Dashboard, then a table per report, folded.

It needs neither scripts nor a network, so it can be sent by mail. Long tables are cut, and state how many rows are
left out. The Dashboard is printed; tables only where they are open.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from heapq import nlargest
from html import escape
from itertools import islice
from pathlib import Path
from typing import TextIO

from tensorboard_plugin_dlprof.metadata import VERSION
from tensorboard_plugin_dlprof.queries.extension import shown_name
from tensorboard_plugin_dlprof.queries.headline import source_facts
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.system import gpu_names, profile_title
from tensorboard_plugin_dlprof.reports import markup
from tensorboard_plugin_dlprof.reports.answer import Diagnosis
from tensorboard_plugin_dlprof.reports.blocks import NUMERIC, Block, Kind, Value, known
from tensorboard_plugin_dlprof.reports.catalog import Report
from tensorboard_plugin_dlprof.reports.dashboard import dashboard
from tensorboard_plugin_dlprof.reports.html_style import style

MOST_ROWS = 500
"""Most rows of a table: browsers show as many without delay."""


def write_html(
    connection: sqlite3.Connection,
    scope: Scope,
    reports: Sequence[Report],
    stream: TextIO,
    diagnosis: Diagnosis | None = None,
    place: str = "",
) -> None:
    """Write the page.

    Args:
        reports: Those whose tables stand at the end.
        stream: What it is written to.
        diagnosis: What the page begins with, if there is one.
        place: The folder that the profile is in, by which people know it.
    """
    title, file = _names(connection, place)
    stream.write(document_head(title, " · ".join(filter(None, [file, _origin(connection)])), "GPU profile: "))
    body = "\n".join(section for section in dashboard(connection, scope, diagnosis) if section) + "\n"
    if reports:
        body += f"<section class=reports>{markup.heading_of(_TABLES)}<p>A line opens its table.</p>\n"
    stream.write(markup.contents(body) + body)
    if reports:
        empty: list[str] = []
        for report in reports:
            for block in report.blocks(connection, scope):
                if not _write_block(block, stream):
                    empty.append(escape(block.title))
        if empty:
            stream.write(f"<p class=empty>Without rows: {', '.join(empty)}.</p>\n")
        stream.write("</section>\n")
    stream.write(DOCUMENT_END)


DOCUMENT_END = "</main>\n</body>\n</html>\n"


_TABLES = "DLProf's tables"


def document_head(title: str, about: str, kind: str = "") -> str:
    """The beginning of a page, up to its heading and where it comes from; ``kind`` stands before the title in a tab."""
    title = escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{kind}{title}</title>\n<style>{style()}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        f"<p class=source>{escape(about)}</p>\n"
    )


def _names(connection: sqlite3.Connection, place: str) -> tuple[str, str]:
    """What the profile is called, and its file where that is another name.

    It is called as the user called it, else by its folder, with its rank; else by the file that it was made from.
    """
    facts = source_facts(connection)
    file = facts["source_name"] or Path(shown_name(connection)).name
    rank, size = facts["rank"], facts["world_size"]
    told = "" if rank is None or size == 1 else f"rank {rank}" if size is None else f"rank {rank} of {size:,}"
    title = profile_title(connection) or place
    return (", ".join(filter(None, [title, told])), file) if title else (file, "")


def _origin(connection: sqlite3.Connection) -> str:
    """The GPUs, when they were recorded, and what made this file."""
    gpus = Counter(gpu_names(connection))
    parts = [", ".join(f"{count} x {name}" if count > 1 else name for name, count in gpus.items())]
    captured_at = source_facts(connection)["captured_at"]
    if captured_at is not None:
        parts.append(f"recorded {datetime.fromtimestamp(captured_at, timezone.utc):%Y-%m-%d %H:%M} UTC")
    return " · ".join(filter(None, [*parts, f"tensorboard-plugin-dlprof {VERSION}"]))


def _write_block(block: Block, stream: TextIO) -> bool:
    """Write a table, folded; nothing, and return False, if it has no rows."""
    title = escape(block.title)
    rows = _longest_first(block)
    shown = list(islice(rows, MOST_ROWS))
    is_cut = next(rows, None) is not None
    count = block.count() if is_cut and block.count else len(shown)
    amount = f"more than {count:,} rows" if is_cut and not block.count else f"{count:,} row{'s' * (count != 1)}"
    head = f"<h3>{title}</h3> <span class=faint>{escape(block.about)}</span><span class=amount>{amount}</span>"
    if count == 0:
        return False
    hidden = sum(_MORE.match(column.heading) is not None for column in block.columns)
    all_columns = f"<label><input type=checkbox> All {len(block.columns)} columns</label>\n" if hidden else ""
    # The scrolling element is focusable, so that it can be scrolled by keyboard.
    stream.write(
        f"<details class=report><summary>{head}</summary>\n{all_columns}"
        f'<div class=scroll tabindex=0 role=region aria-label="{title}">'
    )
    # Sentences stand in tables of two columns; names, of which a row has many, are never broken.
    stream.write(f"<table{' class=names' if len(block.columns) > 2 else ''}>\n")
    order = _order([column.heading for column in block.columns]) if block.columns else [0, 1]
    columns = [block.columns[place] for place in order] if block.columns else []
    more = [_MORE.match(column.heading) is not None for column in columns] or [False, False]
    if columns:
        headings = "".join(
            f"<th scope=col{_classes(_OF_KIND.get(column.kind, ''), hidden)}>{escape(column.heading)}</th>"
            if column.heading
            else "<td></td>"
            for column, hidden in zip(columns, more, strict=True)
        )
        stream.write(f"<thead><tr>{headings}</tr></thead>\n")
    kinds = [column.kind for column in columns] or [Kind.WORD, Kind.TEXT]
    stream.write("<tbody>\n")
    for row in shown:
        # Pairs have the name of a value in place of the heading of a column.
        names = [column.heading for column in columns] or ["", str(row[0])]
        stream.write("<tr>" + "".join(map(_cell, (row[place] for place in order), kinds, names, more)) + "</tr>\n")
    stream.write("</tbody></table></div>\n")
    if is_cut:
        left_out = f"{count - MOST_ROWS:,} more rows" if block.count else "More rows"
        stream.write(f"<p class=cut>{left_out} left out: <code>dlprof reports --formats csv</code> writes all.</p>\n")
    stream.write("</details>\n")
    return True


_NAMES = ("Kernel Name", "Op Name", "Name", "Op Type")
_TIME = "Total GPU Time (ns)"
_TIMES = (_TIME, "GPU Duration (ns)")


def _order(headings: Sequence[str]) -> list[int]:
    """The columns as they are read: what names a row, its GPU time, then the others as DLProf's files have them."""
    first = [next((headings.index(name) for name in names if name in headings), None) for names in (_NAMES, _TIMES)]
    known = [place for place in first if place is not None]
    return [*known, *(place for place in range(len(headings)) if place not in known)]


def _longest_first(block: Block) -> Iterator[tuple[Value, ...]]:
    """As many rows as tell whether the table is cut: those with the most GPU time, where they have it, as what is left
    out should matter least; in the order of DLProf's files otherwise."""
    place = next((place for place, column in enumerate(block.columns) if column.heading == _TIME), None)
    if place is None:
        return iter(block.rows)

    def time(row: tuple[Value, ...]) -> float:
        value = known(row[place])
        return value if isinstance(value, (int, float)) else -1

    return iter(nlargest(MOST_ROWS + 1, block.rows, key=time))


_MORE = re.compile(
    r"(Avg|Min|Max|Op ID|Device ID|API Call|GPU Start|Grid|Block|Data Type|Input|Output|Parameters|Long|Stack)\b"
    r"|.*Kernel Names$"
)
"""The columns that stand there only where all are asked for, so that the others fit: means and extremes of times of
which the sum stands there, details of a launch, and lists."""


_OF_KIND = {**dict.fromkeys(NUMERIC, "n"), Kind.TEXT: "t"}
"""Of the heads of columns: numbers stand at the right, names have room."""


_MOST_LETTERS = 20
"""As many letters of a name as have room in any case."""


def _classes(kind: str, more: bool) -> str:
    names = f"{kind} more".strip() if more else kind
    return "" if not names else f" class={names}" if " " not in names else f" class='{names}'"


def _cell(value: Value, kind: Kind, heading: str, more: bool) -> str:
    value = known(value)
    if value is None:
        return f"<td{_classes('u', more)}>unknown</td>"
    if isinstance(value, bool):
        return f"<td{_classes('', more)}>{'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float)):
        # Parts of a nanosecond are no measured time.
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.{0 if heading.endswith('(ns)') else 1}f}"
        return f"<td{_classes('n' if kind in NUMERIC else '', more)}>{text}</td>"
    text = escape(", ".join(value) if isinstance(value, list) else value)
    if len(text) <= _MOST_LETTERS:
        return f"<td{_classes('', more)}>{text}</td>"
    # The end of a path tells it from its neighbours.
    is_path = text[0] == "/"
    shown = f"<bdi>{text}</bdi>" if is_path else text
    return f'<td{_classes("path" if is_path else "", more)} title="{text}">{shown}</td>'
