"""Reads the tables of an Nsight Systems SQLite export as columns of integers and texts.

Exports differ by schema (2.9 to 3.27 and later): tables are absent if nothing of their kind happened,
columns come and go, and some tables also exist in a later version (``..._V2``). So nothing is assumed:
tables and columns are discovered, and a missing column reads as its default.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.importers.importer import Progress
from tensorboard_plugin_dlprof.importers.nsight.batches import Batch, read_batches
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, columns, real_tables, seal

NO_TIME = -(1 << 63)
"""Default of time columns: never a possible time."""

_EVENT_TABLES = frozenset(
    {
        "CUDA_GPU_MEMORY_USAGE_EVENTS",
        "CUPTI_ACTIVITY_KIND_DRIVER",
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "NVTX_EVENTS",
        "OSRT_API",
    }
)
_TABLES = _EVENT_TABLES | {
    "ANALYSIS_DETAILS",
    "DIAGNOSTIC_EVENT",
    "EXPORT_META_DATA",
    "GPU_METRICS",
    "META_DATA_CAPTURE",
    "META_DATA_EXPORT",
    "StringIds",
    "SystemInfo",
    "TARGET_INFO_CUDA_DEVICE",
    "TARGET_INFO_CUDA_GPU",
    "TARGET_INFO_GPU",
    "TARGET_INFO_GPU_METRICS",
    "TARGET_INFO_SESSION_START_TIME",
    "TARGET_INFO_SYSTEM_ENV",
    "ThreadNames",
}
"""The only tables that are read. The dozens of others are private: processes, outputs, call stacks."""

_VERSION = re.compile(r"(?P<base>[A-Za-z_]\w*?)_V(?P<version>\d{1,3})")


_DEFAULTS = {
    **dict.fromkeys(("start", "end", "timestamp"), NO_TIME),
    **dict.fromkeys(("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "priority"), 0),
    "deviceId": 0,  # an export without device numbers has a single device
    "memKind": 2,
}
"""What integer columns read as where the table or the row lacks them, if not -1."""


class Export:
    """An open export. Seals the connection, which then allows only reading.

    Args:
        progress: called with the rows read so far; may raise to cancel.
    """

    def __init__(self, con: UntrustedConnection, progress: Progress, store: ColumnStore) -> None:
        self.con = con
        self.store = store
        self._progress = progress
        self._versions = _versions(real_tables(con))
        self._refuse_code()
        self._columns = {table: columns(con, table) for tables in self._versions.values() for table in tables}
        seal(con, functions=("typeof",))
        self._expected_rows = sum(map(self.rows_at_most, filter(None, map(self.table, _EVENT_TABLES))))
        self._read_rows = 0

    def _refuse_code(self) -> None:
        """Raises ``BrokenSource`` if what should be a table is a view or virtual: its rows are made by code."""
        rows = self.con.execute("SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view')")
        others = {name for (name,) in rows if isinstance(name, str)} - real_tables(self.con)
        for names in _versions(others).values():
            raise BrokenSource(
                f"{self.con.shown_name}: {names[0]} is not an ordinary table, so nobody recorded its rows; export the "
                "recording again with nsys export --type sqlite."
            )

    def table(self, base: str, needed: Collection[str] = ()) -> str | None:
        """The name of the latest version of a table that has rows; ``None`` if there is none.

        Raises:
            BrokenSource: it lacks one of the ``needed`` columns, without which its rows are meaningless.
        """
        latest = next((table for table in self._versions.get(base, ()) if self.rows_at_most(table)), None)
        if latest is not None and (missing := sorted(set(needed) - self._columns[latest])):
            raise self.con.refusal(
                f"{self.con.shown_name} lacks {', '.join(missing)} in the table {latest}; "
                "export the report again with a current Nsight Systems."
            )
        return latest

    def has(self, base: str, *columns: str) -> bool:
        """Whether the export has the table, with or without rows; or, of one with rows, all of these columns."""
        table = self.table(base)
        return table is not None and self._columns[table] >= set(columns) if columns else base in self._versions

    def has_column(self, table: str, column: str) -> bool:
        """Whether an existing table has the column."""
        return column in self._columns[table]

    def rows_at_most(self, table: str) -> int:
        """An upper bound of the rows of an existing table, without counting them."""
        ((last,),) = self.con.execute(f"SELECT ifnull(max({self._rowid(table)}), 0) FROM {_quoted(table)}").fetchall()
        return max(0, int(last))

    def value_type(self, base: str, column: str) -> str:
        """SQLite's type of the column's first value that is not NULL: ``integer``, ``text``, ... or ``null``."""
        table = self.table(base)
        if table is None or not self.has_column(table, column):
            return "null"
        name = _quoted(column)
        first = self.con.execute(
            f"SELECT typeof(value) FROM (SELECT {name} AS value FROM {_quoted(table)} LIMIT 1000) "
            "WHERE value IS NOT NULL LIMIT 1"
        ).fetchone()
        return str(first[0]) if first else "null"

    def rows(self, base: str, wanted: Sequence[str]) -> list[dict[str, object]]:
        """All rows of a table with tens of rows, by column name; a missing column is ``None``."""
        table = self.table(base)
        if table is None:
            return []
        terms = ", ".join(_quoted(name) if self.has_column(table, name) else "NULL" for name in wanted)
        cursor = self.con.execute(f"SELECT {terms} FROM {_quoted(table)}")
        return [dict(zip(wanted, row, strict=True)) for row in cursor.fetchmany(100_000)]

    def batches(
        self,
        base: str,
        wanted: Sequence[str],
        *,
        needed: Collection[str] = (),
        text: str = "",
        doing: str,
        where: str = "",
    ) -> Iterator[Batch]:
        """Some integer columns, and one text column, of a table in the order of its rows; nothing if there is none.

        Args:
            wanted: integer columns; other values in the file are converted as by SQLite's CAST.
            needed: columns that it must have.
            text: a text column; NULL and a missing column read as the empty text.
            doing: what is being done, for the progress.
            where: a condition on the rows, never taken from a file.

        Raises:
            BrokenSource: as ``table``.
        """
        table = self.table(base, needed)
        if table is None:
            return
        defaults = {name: _DEFAULTS.get(name, -1) for name in wanted}
        present = [name for name in wanted if self.has_column(table, name)]
        numbers = {name: f"ifnull(CAST({_quoted(name)} AS INTEGER), {defaults[name]})" for name in present}
        texts = (f"ifnull({_quoted(text)}, '')" if self.has_column(table, text) else "''") if text else ""
        # An index would return the rows that meet the condition in another order.
        rows = f"{_quoted(table)} NOT INDEXED {f'WHERE {where} ' if where else ''}ORDER BY {self._rowid(table)}"
        for batch in read_batches(self.con, numbers, texts, rows):
            self._read_rows += len(batch)
            self._progress(doing, min(1.0, self._read_rows / max(1, self._expected_rows)))
            columns = batch.columns
            if len(present) < len(wanted):
                absent = {name: np.full(len(batch), defaults[name], np.int64) for name in wanted if name not in columns}
                columns = {name: {**columns, **absent}[name] for name in wanted}
            yield Batch(columns, batch.texts)

    def _rowid(self, table: str) -> str:
        """A name for SQLite's row id that no column of the table has, ignoring case."""
        taken = {column.lower() for column in self._columns[table]}
        name = next((name for name in ("rowid", "oid", "_rowid_") if name not in taken), None)
        if name is None:
            raise self.con.refusal(f"{self.con.shown_name} has columns in {table} that no profile has.")
        return name


def _versions(tables: Collection[str]) -> dict[str, list[str]]:
    """Base name -> its tables, latest version first, for all tables that are read."""
    by_base: dict[str, list[tuple[int, str]]] = {}
    for table in tables:
        match = _VERSION.fullmatch(table)
        base, version = (match["base"], int(match["version"])) if match else (table, 1)
        if base in _TABLES:
            by_base.setdefault(base, []).append((version, table))
    return {base: [table for _, table in sorted(versions, reverse=True)] for base, versions in by_base.items()}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
