"""A whole filtered table as a download."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.exports.csv_text import csv_chunks
from tensorboard_plugin_dlprof.exports.json_text import json_chunks
from tensorboard_plugin_dlprof.exports.pdf_file import pdf_chunks
from tensorboard_plugin_dlprof.exports.xlsx_file import write_xlsx
from tensorboard_plugin_dlprof.queries.pages import count, stream
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.system import profile_title
from tensorboard_plugin_dlprof.queries.table import Column, Request, Table
from tensorboard_plugin_dlprof.routes.requests import Parameters, TooLarge
from tensorboard_plugin_dlprof.routes.table import asked

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from tensorboard_plugin_dlprof.queries.scope import Scope
    from tensorboard_plugin_dlprof.routes.databases import Borrowed

SECONDS = 600.0
"""Of one export: it may have to sort ten million rows, and a browser may be slow to take them."""

MAX_XLSX_ROWS = 2_000_000
MAX_PDF_ROWS = 100_000
_PIECE_BYTES = 1 << 20

_CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class Export(msgspec.Struct, frozen=True):
    """A file to send; its first piece is ready."""

    pieces: Iterator[bytes]
    content_type: str
    file_name: str


def export(borrowed: Borrowed, scope: Scope, parameters: Parameters, profile_name: str, resources: ExitStack) -> Export:
    """The table as a file.

    Args:
        borrowed: connection, needed until the last piece was sent.
        scope: aggregation and domain.
        parameters: those of ``./table``, and ``format``, ``columns``, ``heading``.
        profile_name: for the heading, where the profile was not given a name.
        resources: takes what else is needed until then.

    Raises:
        BadRequest: an unknown format, column or filter.
        TooLarge: too many rows for a workbook or a PDF.
    """
    table, request = asked(borrowed.connection, parameters)
    kind = parameters.text("format", "csv")
    if kind not in _CONTENT_TYPES:
        raise BadRequest(f"format={kind[:40]!r} is not known; write csv, json, pdf or xlsx.")
    columns = _columns(table, parameters)
    name = profile_title(borrowed.connection) or profile_name
    heading = f"{name}: {_subject(table, request)}"
    title = "" if parameters.text("heading", "yes") in ("no", "0") else heading
    noun, most = {"xlsx": ("workbook", MAX_XLSX_ROWS), "pdf": ("PDF", MAX_PDF_ROWS)}.get(kind, ("", None))
    if most is not None and count(borrowed.connection, table, scope, request, borrowed.counts) > most:
        raise TooLarge(f"A {noun} cannot have more than {most:,} rows; filter the table or take CSV.")
    rows = stream(borrowed.connection, table, scope, request)
    if kind == "xlsx":
        pieces = _workbook(title, table, columns, rows, resources)
    elif kind == "pdf":
        pieces = pdf_chunks(title or heading, columns, rows)
    elif kind == "csv":
        pieces = csv_chunks(title, columns, rows)
    else:
        pieces = json_chunks(name, table.name, columns, rows)
    # What is wrong with the question shows with the first piece, when an answer with another status is still possible.
    first = next(pieces, b"")
    file_name = "-".join([name, table.name, *request.links.values()])
    return Export(chain([first], pieces), _CONTENT_TYPES[kind], f"{file_name}.{kind}")


def streamed(found: Export, resources: ExitStack) -> Response:
    """The answer; ``resources`` are closed when the last piece was sent, or the browser went away."""
    from werkzeug.wrappers import Response

    response = Response(_until_sent(found.pieces, resources), content_type=found.content_type)
    response.headers["Content-Disposition"] = _disposition(found.file_name)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    # A response that is never read, as that to HEAD, is closed all the same.
    response.call_on_close(resources.close)
    return response


def _columns(table: Table, parameters: Parameters) -> Sequence[Column]:
    keys = [key for key in parameters.text("columns").split(",") if key]
    return [table.column(key) for key in keys] or [column for column in table.columns if not column.hidden]


def _workbook(
    title: str, table: Table, columns: Sequence[Column], rows: Iterator[Row], resources: ExitStack
) -> Iterator[bytes]:
    folder = Path(tempfile.mkdtemp(prefix="dlprof-export-"))
    resources.callback(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "export.xlsx"
    write_xlsx(path, title, _words(table.name), columns, rows)
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _until_sent(pieces: Iterator[bytes], resources: ExitStack) -> Iterator[bytes]:
    with resources:
        yield from pieces


def _subject(table: Table, request: Request) -> str:
    """What the rows are: ``Kernels of iteration, iteration 5 (only GPU Time >1ms)``."""
    of = [f"{name} {value}" for name, value in request.links.items()]
    only = [f'with "{request.search}"'] if request.search else []
    only += [f"{table.column(key).label} {text}" for key, text in request.filters.items()]
    return ", ".join([_words(table.name), *of]) + (f" (only {', '.join(only)})" if only else "")


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return "GPUs" if name == "gpus" else words[:1].upper() + words[1:]


def _disposition(name: str) -> str:
    """RFC 6266: a plain name for all browsers, and the true one for those that know how to read it."""
    safe = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]+', "_", name).strip(". ")[-150:]
    plain = re.sub(r"[^A-Za-z0-9._ -]+", "_", safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe.encode('utf-8', 'replace'), safe='')}"
