"""The least that reading a file costs, to measure imports by. ``python -m benchmarks.floor FILE`` does it once.

For a trace: decompressing, cutting into chunks of 64 kB at event boundaries, decoding each with a typed decoder.
For an export: reading the columns that a profile needs with ``sqlite3``; of calls of the system and of metrics the rows
that it needs.
"""

from __future__ import annotations

import gc
import gzip
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import msgspec

CHUNK_BYTES = 1 << 16

COLUMNS = {
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        "start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName, gridX, gridY, gridZ, "
        "blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId"
    ),
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, globalTid, correlationId, nameId",
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        "start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind, graphNodeId"
    ),
    "CUPTI_ACTIVITY_KIND_MEMSET": "start, end, deviceId, streamId, correlationId, globalPid, bytes, graphNodeId",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (
        "start, end, deviceId, streamId, correlationId, globalPid, syncType, eventId"
    ),
    "NVTX_EVENTS": "start, end, eventType, globalTid, textId, text, domainId",
    "OSRT_API": "start, end, globalTid, nameId",
    "GPU_METRICS": "timestamp, typeId, value",
    "StringIds": "id, value",
}

CONDITIONS = {
    "OSRT_API": (
        "StringIds",
        "nameId IN (SELECT id FROM StringIds WHERE value IN ("
        "'open', 'open64', 'openat64', 'fopen', 'close', 'fclose', 'read', 'pread64', 'readv', 'fread', "
        "'write', 'pwrite64', 'writev', 'fwrite', 'recv', 'recvmsg', 'send', 'sendmsg'))",
    ),
    "GPU_METRICS": (
        "TARGET_INFO_GPU_METRICS",
        "(typeId, metricId) IN ("
        "SELECT typeId, metricId FROM TARGET_INFO_GPU_METRICS WHERE metricName LIKE 'Tensor Active%')",
    ),
}
"""Tables of which a profile needs some rows only, calls that move data and samples of Tensor Cores: the table that
tells them, and which they are."""


class Arguments(msgspec.Struct, gc=False):
    """The arguments that link an event to others."""

    correlation: int | float | str | None = -1
    external_id: int | float | str | None = msgspec.field(name="External id", default=-1)
    device: int | float | str | None = -1
    stream: int | float | str | None = -1


class Event(msgspec.Struct, gc=False):
    """The fields of an event that every profile needs."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = -1
    tid: int | str = -1
    ts: float = 0.0
    dur: float = 0.0
    args: Arguments | None = None


def decode_trace(path: Path) -> int:
    """Decode a trace; returns the number of its events."""
    decode = msgspec.json.Decoder(list[Event]).decode
    gc.disable()
    events = 0
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        buffer = file.read(1 << 20)
        begin = re.search(rb'"traceEvents"\s*:\s*\[\s*', buffer)
        ahead = buffer[begin.end() if begin else buffer.index(b"[") + 1 :]
        gap = re.search(rb"\}\s*,\s*\{", ahead[ahead.index(b'"ph"') :])
        separator = gap[0] if gap else b"},{"
        buffer = b""
        while chunk := ahead[:CHUNK_BYTES] or file.read(CHUNK_BYTES):
            ahead = ahead[CHUNK_BYTES:]
            buffer += chunk
            cut = buffer.rfind(separator)
            if cut >= 0:
                events += len(decode(b"[" + buffer[: cut + 1] + b"]"))
                buffer = buffer[cut + len(separator) - 1 :]
    return events


def read_export(path: Path) -> int:
    """Read the columns of an export; returns the number of its rows."""
    rows = 0
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as con:
        present = {name for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in COLUMNS.keys() & present:
            telling, condition = CONDITIONS.get(table, (table, "1"))
            if telling not in present:
                continue
            # A column that the export lacks reads as zero.
            has = {row[1] for row in con.execute(f"PRAGMA table_info({table})")}
            wanted = (name if name in has else "0" for name in COLUMNS[table].split(", "))
            cursor = con.execute(f"SELECT {', '.join(wanted)} FROM {table} WHERE {condition}")
            while some := cursor.fetchmany(1_000):
                rows += len(some)
    return rows


def main() -> None:
    """Read the file that the command line names."""
    path = Path(sys.argv[1])
    print(read_export(path) if path.suffix == ".sqlite" else decode_trace(path))


if __name__ == "__main__":
    main()
