"""Makes small Nsight Systems exports for tests: only the tables and columns that a test names."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.nsight import NsightSystemsImporter

Table = tuple[str, Sequence[Sequence[Any]]]
"""Column names with blanks between, and rows."""

MACHINE = 1 << 48
"""High bits that Nsight sets in every ``globalTid``."""


def thread(process: int, number: int) -> int:
    """A ``globalTid``."""
    return MACHINE | process << 24 | number


def process(number: int) -> int:
    """A ``globalPid``."""
    return MACHINE | number << 24


def strings(*texts: str) -> Table:
    """``StringIds`` with ids from 0."""
    return "id value", list(enumerate(texts))


def write_export(path: Path, tables: Mapping[str, Table]) -> Path:
    """An export with the given tables."""
    with closing(sqlite3.connect(path)) as con:
        for name, (columns, rows) in tables.items():
            names = ", ".join(f'"{column}"' for column in columns.split())
            con.execute(f'CREATE TABLE "{name}"({names})')
            con.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns.split()))})', rows)
        con.commit()
    return path


def read(path: Path) -> Capture:
    """The capture of an export."""
    return NsightSystemsImporter().read(path, ReadOptions(), lambda doing, fraction: None)


def read_tables(folder: Path, tables: Mapping[str, Table]) -> Capture:
    """The capture of an export with the given tables."""
    return read(write_export(folder / "report.sqlite", tables))
