"""Downloads of whole filtered tables."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, MutableMapping, Sequence
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
from tensorboard_plugin_dlprof.queries.table_query import CountKey
from tensorboard_plugin_dlprof.routes.requests import Parameters, TooLarge
from tensorboard_plugin_dlprof.routes.table import asked
from tensorboard_plugin_dlprof.routes.timeline import with_gaps

if TYPE_CHECKING:
    from sqlite3 import Connection

    from werkzeug.wrappers import Response

    from tensorboard_plugin_dlprof.queries.scope import Scope
    from tensorboard_plugin_dlprof.routes.databases import Borrowed

SECONDS = 600.0
"""Time limit of an export: it may sort ten million rows, and the browser may be slow to receive them."""

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
    """Convert a table to a file.

    Args:
        borrowed: The connection, which must stay usable until the last piece was sent.
        scope: Aggregation and domain.
        parameters: Those of ``./table``, and ``format``, ``columns``, ``heading``.
        profile_name: Used in the heading if the profile was not given a name.
        resources: Gets callbacks to call after the last piece was sent, such as deleting temporary files.

    Raises:
        BadRequest: The format, a column or a filter is unknown.
        TooLarge: There are too many rows for a workbook or a PDF.
    """
    table, request = asked(borrowed.connection, parameters)
    name = profile_title(borrowed.connection) or profile_name
    rows = resources.enter_context(with_gaps(borrowed, parameters))
    return file_of(rows.connection, table, scope, request, parameters, name, resources, rows.counts)


def file_of(
    connection: Connection,
    table: Table,
    scope: Scope,
    request: Request,
    parameters: Parameters,
    name: str,
    resources: ExitStack,
    counts: MutableMapping[CountKey, int],
) -> Export:
    """Convert the rows of a table that pass to a file; arguments and errors are as for ``export``."""
    kind = parameters.text("format", "csv")
    if kind not in _CONTENT_TYPES:
        raise BadRequest(f"format={kind[:40]!r} is not known; write csv, json, pdf or xlsx.")
    columns = _columns(table, parameters)
    heading = f"{name}: {_subject(table, request)}"
    # Programs that read CSV take the first line for the heads of the columns.
    titled = "no" if kind == "csv" else "yes"
    title = "" if parameters.text("heading", titled) in ("no", "0") else heading
    noun, most = {"xlsx": ("workbook", MAX_XLSX_ROWS), "pdf": ("PDF", MAX_PDF_ROWS)}.get(kind, ("", None))
    if most is not None and count(connection, table, scope, request, counts) > most:
        raise TooLarge(f"A {noun} cannot have more than {most:,} rows; filter the table or take CSV.")
    rows = stream(connection, table, scope, request)
    if kind == "xlsx":
        pieces = _workbook(title, table, columns, rows, resources)
    elif kind == "pdf":
        pieces = pdf_chunks(title or heading, columns, rows)
    elif kind == "csv":
        pieces = csv_chunks(title, columns, rows)
    else:
        pieces = json_chunks(name, table.name, columns, rows)
    # Errors in the request occur with the first piece, before the status of the response is sent.
    first = next(pieces, b"")
    file_name = "-".join([name, table.name, *map(str, request.links.values())])
    return Export(chain([first], pieces), _CONTENT_TYPES[kind], f"{file_name}.{kind}")


def streamed(found: Export, resources: ExitStack) -> Response:
    """The response with a file. ``resources`` are closed after the last piece, or when the browser disconnects."""
    from werkzeug.wrappers import Response

    response = Response(_until_sent(found.pieces, resources), content_type=found.content_type)
    response.headers["Content-Disposition"] = _disposition(found.file_name)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    # Also closes resources if the response is never read, such as that to HEAD.
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
    """A description of the rows: ``Kernels of iteration, iteration 5 (only GPU Time >1ms)``."""
    of = [f"{name} {value}" for name, value in request.links.items()]
    only = [f'with "{request.search}"'] if request.search else []
    only += [f"{table.column(key).label} {text}" for key, text in request.filters.items()]
    return ", ".join([_words(table.name), *of]) + (f" (only {', '.join(only)})" if only else "")


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return "GPUs" if name == "gpus" else words[:1].upper() + words[1:]


def _disposition(name: str) -> str:
    """The header ``Content-Disposition`` (RFC 6266): an ASCII name for all clients, and the full one in UTF-8."""
    safe = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]+', "_", name).strip(". ")[-150:]
    plain = re.sub(r"[^A-Za-z0-9._ -]+", "_", safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe.encode('utf-8', 'replace'), safe='')}"
