"""Downloads of whole filtered tables."""

from __future__ import annotations

import re
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
from tensorboard_plugin_dlprof.queries.system import profile_title
from tensorboard_plugin_dlprof.queries.table import Column, Request, Table
from tensorboard_plugin_dlprof.queries.table_query import CountKey
from tensorboard_plugin_dlprof.routes.requests import Parameters, TooLarge
from tensorboard_plugin_dlprof.routes.table import asked

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
    """What a file holds, checked."""

    kind: str
    table: Table
    scope: Scope
    request: Request
    columns: Sequence[Column]
    name: str
    heading: str
    is_headed: bool
    """Whether the heading stands above the heads of the columns."""

    @property
    def file_name(self) -> str:
        """The name for the browser."""
        return f"{'-'.join([self.name, self.table.name, *map(str, self.request.links.values())])}.{self.kind}"

    @property
    def is_laid_out(self) -> bool:
        """Whether the file takes long to write, and so a process of its own."""
        return self.kind in ("xlsx", "pdf")

    def pieces(self, connection: Connection) -> Iterator[bytes]:
        """The CSV or JSON; errors of the request occur before the first piece."""
        rows = stream(connection, self.table, self.scope, self.request)
        if self.kind == "csv":
            return csv_chunks(self._title, self.columns, rows)
        return json_chunks(self.name, self.table.name, self.columns, rows)

    def write(self, connection: Connection, path: Path) -> None:
        """Write the workbook or PDF."""
        rows = stream(connection, self.table, self.scope, self.request)
        if self.kind == "xlsx":
            write_xlsx(path, self._title, _words(self.table.name), self.columns, rows)
            return
        with path.open("wb") as file:
            file.writelines(pdf_chunks(self.heading, self.columns, rows))

    @property
    def _title(self) -> str:
        return self.heading if self.is_headed else ""


def export(borrowed: Borrowed, scope: Scope, parameters: Parameters, profile_name: str) -> Export:
    """What a request for a file asks for.

    Args:
        borrowed: A connection to what the rows are paged from.
        scope: Aggregation and domain.
        parameters: Those of ``./table``, and ``format``, ``columns``, ``heading``.
        profile_name: Used in the heading if the profile was not given a name.

    Raises:
        BadRequest: The format, a column or a filter is unknown.
        TooLarge: There are too many rows for a workbook or a PDF.
    """
    table, request = asked(borrowed.connection, parameters)
    name = profile_title(borrowed.connection) or profile_name
    return export_of(table, scope, request, parameters, name)


def export_of(table: Table, scope: Scope, request: Request, parameters: Parameters, name: str) -> Export:
    """As ``export``, of a table that is known."""
    kind = parameters.text("format", "csv")
    if kind not in _CONTENT_TYPES:
        raise BadRequest(f"format={kind[:40]!r} is not known; write csv, json, pdf or xlsx.")
    # Programs that read CSV take the first line for the heads of the columns.
    is_headed = parameters.text("heading", "no" if kind == "csv" else "yes") not in ("no", "0")
    heading = f"{name}: {_subject(table, request)}"
    return Export(kind, table, scope, request, _columns(table, parameters), name, heading, is_headed)


def checked(found: Export, connection: Connection, counts: MutableMapping[CountKey, int]) -> Export:
    """Refuse more rows than a workbook or a PDF can have."""
    noun, most = {"xlsx": ("workbook", MAX_XLSX_ROWS), "pdf": ("PDF", MAX_PDF_ROWS)}.get(found.kind, ("", None))
    if most is not None and count(connection, found.table, found.scope, found.request, counts) > most:
        raise TooLarge(f"A {noun} cannot have more than {most:,} rows; filter the table or take CSV.")
    return found


def streamed(found: Export, pieces: Iterator[bytes], resources: ExitStack) -> Response:
    """The response with a file. ``resources`` are closed after the last piece, or when the browser disconnects."""
    from werkzeug.wrappers import Response

    # Errors in the request occur with the first piece, before the status of the response is sent.
    first = next(pieces, b"")
    kept = resources.pop_all()
    response = Response(_until_sent(chain([first], pieces), kept), content_type=_CONTENT_TYPES[found.kind])
    response.headers["Content-Disposition"] = _disposition(found.file_name)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-store"
    # Also closes resources if the response is never read, such as that to HEAD.
    response.call_on_close(kept.close)
    return response


def pieces_of(path: Path) -> Iterator[bytes]:
    """A finished file."""
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _columns(table: Table, parameters: Parameters) -> Sequence[Column]:
    keys = [key for key in parameters.text("columns").split(",") if key]
    return [table.column(key) for key in keys] or [column for column in table.columns if not column.hidden]


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
