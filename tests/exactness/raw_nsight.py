"""An SQLite export of Nsight Systems, with ``sqlite3`` and the columns that NVIDIA documents."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.exactness.raw import Call, Raw, Thread, Work

PUSH_POP = 59
"""``NVTX_EVENTS.eventType``."""

WORK = {
    "kernels": ("CUPTI_ACTIVITY_KIND_KERNEL",),
    "memory": ("CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"),
    "graphs": ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",),
}

TRANSFER = re.compile(
    r"(p?read|p?write|f(read|write|open|close|flush|put|get)|open|close|creat|accept|connect|recv|send|splice|"
    r"copy_file|get(line|delim)|(get|put)(c|s|wc)(har)?(_unlocked)?$|f?(data)?sync|msync)(?!link|dir)"
)
"""Names of calls of the operating system that move data, or wait for it to be moved."""


def read(path: Path) -> Raw:
    """The rows of an export."""
    raw = Raw()
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        connection.text_factory = lambda data: data.decode(errors="replace")
        for kind, tables in WORK.items():
            for table in tables:
                columns = "start, end, deviceId, correlationId, globalPid"
                getattr(raw, kind).extend(
                    Work((start, end), device, (_process(process), correlation))
                    for start, end, device, correlation, process in _rows(connection, table, columns)
                )
        columns = "start, end, globalTid, correlationId"
        for start, end, thread, correlation in _rows(connection, "CUPTI_ACTIVITY_KIND_RUNTIME", columns):
            raw.calls.append(Call(_thread(thread), (start, end), (_process(thread), correlation)))
        for start, end, thread, kind in _rows(connection, "NVTX_EVENTS", "start, end, globalTid, eventType"):
            if kind == PUSH_POP and end is not None:
                raw.ranges.setdefault(_thread(thread), set()).add((start, end))
        strings = dict(connection.execute("SELECT id, value FROM StringIds"))
        launching = {call.thread for call in raw.calls}
        for start, end, thread, name in _rows(connection, "OSRT_API", "start, end, globalTid, nameId"):
            if _thread(thread) in launching and TRANSFER.match(strings[name]):
                raw.io.append((start, end))
    return raw


def _rows(connection: sqlite3.Connection, table: str, columns: str) -> list[tuple[Any, ...]]:
    result = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
    return connection.execute(f"SELECT {columns} FROM {table}").fetchall() if result else []


def _thread(global_id: int) -> Thread:
    return _process(global_id), global_id % 0x1000000


def _process(global_id: int) -> int:
    return global_id // 0x1000000 % 0x1000000
