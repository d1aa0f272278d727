"""Exports CSV (RFC 4180), for spreadsheets and programs, and JSON, also for copying and printing on the page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence

from tensorboard_plugin_dlprof.exports.cells import harmless, heading, shown
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.table import Column

CHUNK_LETTERS = 65_536


def csv_chunks(title: str, columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """The file in pieces of UTF-8: the title unless it is empty, the headings, the rows. Unknown cells are empty."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    if title:
        writer.writerow([harmless(title)])
    writer.writerow([harmless(heading(column)) for column in columns])
    for row in rows:
        cells = (shown(column, row[column.key]) for column in columns)
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in cells])
        if buffer.tell() > CHUNK_LETTERS:
            yield _taken(buffer)
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode("utf-8", "replace")


def json_chunks(profile: str, table: str, columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """The file in pieces: one object with the name of the profile, the columns and all rows."""
    about = [{"key": column.key, "label": column.label, "type": column.type} for column in columns]
    keys = [column.key for column in columns]
    head = json.dumps({"profile": profile, "table": table, "columns": about})
    waiting = [f'{head[:-1]}, "rows": [']
    letters, separator = 0, "\n"
    for row in rows:
        text = json.dumps({key: row[key] for key in keys}, allow_nan=False)
        waiting.append(separator + text)
        letters, separator = letters + len(text), ",\n"
        if letters > CHUNK_LETTERS:
            yield "".join(waiting).encode()
            waiting, letters = [], 0
    waiting.append("\n]}\n")
    yield "".join(waiting).encode()
