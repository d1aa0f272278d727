"""Downloads of whole filtered tables."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tensorboard_plugin_dlprof.exports.csv_text import csv_chunks, json_chunks
from tensorboard_plugin_dlprof.exports.pdf_file import pdf_chunks
from tensorboard_plugin_dlprof.exports.xlsx_file import write_xlsx
from tensorboard_plugin_dlprof.opening.sqlite_file import forget_texts
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import count, stream
from tensorboard_plugin_dlprof.queries.per_iteration import divisors
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.table import Column, Table
from tensorboard_plugin_dlprof.queries.table_query import CountKey
from tensorboard_plugin_dlprof.routes.parameters import ExportRequest
from tensorboard_plugin_dlprof.routes.requests import TooLarge

if TYPE_CHECKING:
    from sqlite3 import Connection

    from tensorboard_plugin_dlprof.queries.scope import Scope

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
    request: PageRequest
    columns: Sequence[Column]
    name: str
    heading: str
    is_headed: bool
    """Whether the heading stands above the heads of the columns."""

    @property
    def file_name(self) -> str:
        """The name for the browser."""
        of = map(str, self.table.named_links_of(self.request).values())
        means = ["per-iteration"] if divisors(self.table, self.scope, self.request.per) else []
        return f"{'-'.join([self.name, self.table.name, *of, *means])}.{self.kind}"

    @property
    def content_type(self) -> str:
        """For the browser, as the name."""
        return _CONTENT_TYPES[self.kind]

    @property
    def is_laid_out(self) -> bool:
        """Whether the file takes long to write, and so a process of its own."""
        return self.kind in ("xlsx", "pdf")

    def pieces(self, connection: Connection) -> Iterator[bytes]:
        """The CSV or JSON; errors of the request occur before the first piece."""
        rows = self._rows(connection)
        if self.kind == "csv":
            return csv_chunks(self._title, self.columns, rows)
        return json_chunks(self.name, self.table.name, self.columns, rows)

    def write(self, connection: Connection, path: Path) -> None:
        """Write the workbook or PDF."""
        rows = self._rows(connection)
        if self.kind == "xlsx":
            write_xlsx(path, self._title, _words(self.table.name), self.columns, rows)
            return
        with path.open("wb") as file:
            file.writelines(pdf_chunks(self.heading, self.columns, rows))

    def _rows(self, connection: Connection) -> Iterator[Row]:
        for row in stream(connection, self.table, self.scope, self.request):
            forget_texts(connection)
            yield row

    @property
    def _title(self) -> str:
        return self.heading if self.is_headed else ""


def export(table: Table, scope: Scope, asked: ExportRequest, name: str) -> Export:
    """What a request for a file asks for.

    Args:
        table: Whose rows it holds.
        asked: Which rows, columns and kind of file.
        name: Of the profile, in the heading.

    Raises:
        BadRequest: A column or a filter is unknown.
    """
    # Programs that read CSV take the first line for the heads of the columns.
    is_headed = (asked.heading or ("no" if asked.format == "csv" else "yes")) == "yes"
    means = ", per iteration" if divisors(table, scope, asked.per) else ""
    heading = f"{name}: {_subject(table, asked)}{means}"
    return Export(asked.format, table, scope, asked, _columns(table, asked.columns), name, heading, is_headed)


def checked(result: Export, connection: Connection, counts: MutableMapping[CountKey, int]) -> Export:
    """Refuse more rows than a workbook or a PDF can have."""
    noun, most = {"xlsx": ("workbook", MAX_XLSX_ROWS), "pdf": ("PDF", MAX_PDF_ROWS)}.get(result.kind, ("", None))
    if most is not None and count(connection, result.table, result.scope, result.request, counts) > most:
        raise TooLarge(f"A {noun} cannot have more than {most:,} rows; filter the table or take CSV.")
    return result


def pieces_of(path: Path) -> Iterator[bytes]:
    """A finished file."""
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _columns(table: Table, keys: Sequence[str]) -> Sequence[Column]:
    return [table.column(key) for key in keys if key] or [column for column in table.columns if not column.hidden]


def _subject(table: Table, request: PageRequest) -> str:
    """A description of the rows: ``Kernels of iteration, iteration 5 (only GPU Time >1ms)``."""
    of = [f"{name} {value}" for name, value in table.named_links_of(request).items()]
    only = [f'with "{request.search}"'] if request.search else []
    only += [f"{table.column(key).label} {text}" for key, text in request.where.items()]
    return ", ".join([_words(table.name), *of]) + (f" (only {', '.join(only)})" if only else "")


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return "GPUs" if name == "gpus" else words[:1].upper() + words[1:]
