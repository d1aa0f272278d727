"""Reports as one self-contained HTML file: the Dashboard, then a table per report, folded.

It needs neither scripts nor a network, so it can be sent by mail. Long tables are cut, and state how many rows are
left out. The Dashboard is printed; tables only where they are open.
"""

from __future__ import annotations

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
) -> None:
    """Write the page; ``diagnosis`` is the diagnosis, with which it begins."""
    stream.write(document_head(_title(connection), _origin(connection)))
    for section in dashboard(connection, scope, diagnosis):
        stream.write(section + "\n")
    if reports:
        empty: list[str] = []
        stream.write("<section class=reports><h2>DLProf's tables</h2><p>A line opens its table.</p>\n")
        for report in reports:
            for block in report.blocks(connection, scope):
                if not _write_block(block, stream):
                    empty.append(escape(block.title))
        if empty:
            stream.write(f"<p class=empty>Without rows: {', '.join(empty)}.</p>\n")
        stream.write("</section>\n")
    stream.write(DOCUMENT_END)


DOCUMENT_END = "</main>\n</body>\n</html>\n"


def document_head(title: str, about: str) -> str:
    """The beginning of a page, up to its heading and where it comes from."""
    title = escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style()}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        f"<p class=source>{escape(about)}</p>\n"
    )


def _title(connection: sqlite3.Connection) -> str:
    """What the user called the profile, else the file it was made from, else the database."""
    names = profile_title(connection), source_facts(connection)["source_name"], Path(shown_name(connection)).name
    return f"GPU profile: {next(filter(None, names))}"


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
    # The scrolling element is focusable, so that it can be scrolled by keyboard.
    stream.write(
        f"<details class=report><summary>{head}</summary>\n"
        f'<div class=scroll tabindex=0 role=region aria-label="{title}">'
    )
    stream.write("<table>\n")
    if block.columns:
        headings = "".join(
            f"<th scope=col{_OF_KIND.get(column.kind, '')}>{escape(column.heading)}</th>"
            if column.heading
            else "<td></td>"
            for column in block.columns
        )
        stream.write(f"<thead><tr>{headings}</tr></thead>\n")
    kinds = [column.kind for column in block.columns] or [Kind.WORD, Kind.TEXT]
    stream.write("<tbody>\n")
    for row in shown:
        stream.write("<tr>" + "".join(map(_cell, row, kinds)) + "</tr>\n")
    stream.write("</tbody></table></div>\n")
    if is_cut:
        left_out = f"{count - MOST_ROWS:,} more rows" if block.count else "More rows"
        stream.write(f"<p class=cut>{left_out} left out: <code>dlprof reports --formats csv</code> writes all.</p>\n")
    stream.write("</details>\n")
    return True


_TIME = "Total GPU Time (ns)"


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


_OF_KIND = {**dict.fromkeys(NUMERIC, " class=n"), Kind.TEXT: " class=t"}
"""Of the heads of columns: numbers stand at the right, names have room."""


def _cell(value: Value, kind: Kind) -> str:
    value = known(value)
    if value is None:
        return "<td class=u>unknown</td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float)):
        text = f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
        return f"<td{' class=n' if kind in NUMERIC else ''}>{text}</td>"
    return f"<td>{markup.name(', '.join(value) if isinstance(value, list) else value)}</td>"
