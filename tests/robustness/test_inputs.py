"""Inputs of hostile size or shape, from the file to the browser: what each may cost, and how it ends.

Each is read in a process of its own with bounded memory, by the command and on demand alike; beside each lies a good
profile, which is served all the while.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.fuzz.run_batch import strict
from tests.imports.traces import write_trace
from tests.routes.serving import Server

MEGABYTE = 1 << 20
MEMORY_BYTES = 400 * MEGABYTE
"""The libraries alone take some 100 MB of it."""

MAX_ANSWER_BYTES = 8 * MEGABYTE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit of written memory is Linux's")


def members(head: bytes, filler: bytes, times: int) -> bytes:
    """Gzip data that repeats one member: what it expands to need not be made first."""
    return gzip.compress(head) + gzip.compress(filler) * times


SOURCES: dict[str, tuple[Callable[[], bytes], str]] = {
    "3 GB of blanks in 3 MB": (
        lambda: members(b'{"schemaVersion": 1, "traceEvents": [', b" " * (64 * MEGABYTE), 48),
        "expands more than 200 times",
    ),
    "3 GB of one text": (
        lambda: members(b'{"traceEvents": [{"name": "', b"x" * (64 * MEGABYTE), 48),
        "one event larger than 8 MB",
    ),
    "3 GB before the events": (
        lambda: members(b'{"traceName": "a", "schemaVersion": "', b"x" * (64 * MEGABYTE), 48) + gzip.compress(b'"}'),
        "",
    ),
    "million empty events": (lambda: b'{"traceEvents": [' + b"{}," * 1_000_000 + b"{}]}", "holds no event"),
    "million brackets": (lambda: b'{"traceEvents": [' + b"[" * 1_000_000, "holds no event"),
    "million nested objects": (lambda: b'{"traceEvents": [' + b'{"args":' * 1_000_000, ""),
    "20 MB event": (
        lambda: b'{"traceEvents": [{"ph": "X", "name": "' + b"x" * (20 * MEGABYTE) + b'"}]}',
        "one event larger than 8 MB",
    ),
    "XPlane": (lambda: b"\x0a\x10" + bytes(200), ""),
}

_LIMITED = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
from tensorboard_plugin_dlprof.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("name", SOURCES)
def test_a_hostile_source_is_refused_within_bounds(tmp_path: Path, name: str) -> None:
    """With one line that names it, within 400 MB; the other source of the same command is imported."""
    make, words = SOURCES[name]
    bad = tmp_path / "bad.pt.trace.json"
    bad.write_bytes(make())
    good = write_trace(tmp_path / "good.json")
    command = [sys.executable, "-c", _LIMITED, str(MEMORY_BYTES), "import", str(bad), str(good)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3, done.stderr
    (line,) = done.stderr.splitlines()
    assert "bad.pt.trace.json" in line
    assert words in line
    assert "memory" not in line
    assert {path.name for path in tmp_path.iterdir() if "tfevents" not in path.name} == {
        *("bad.pt.trace.json", "good.json", "good.dlprof_dldb.sqlite")
    }


LONG = "x" * (10 * MEGABYTE)

DATABASES: dict[str, tuple[str, ...]] = {
    "kernel name of 10 MB": ("UPDATE dictionary SET string = :long || id WHERE string LIKE '%elementwise%'",),
    "every text of 10 MB": ("UPDATE dictionary SET string = :long || id WHERE id < 4",),
    "op that is part of itself": (
        "INSERT INTO read_only_sub_ops SELECT id, id, 9, -9 FROM read_only_ops",
        "UPDATE read_only_ops SET op_name = op_id",
    ),
    "path of 5,000 levels": ("UPDATE read_only_ops SET op_name = replace(substr(:long, 1, 10000), 'xx', '/x')",),
    "negative durations": ("UPDATE read_only_kernels SET gpu_stop = gpu_start - 1000000",),
    "huge durations": ("UPDATE read_only_kernels SET gpu_stop = 9223372036854775807",),
    "NULL everywhere": ("UPDATE metric SET id = id",),
}


def with_statements(path: Path, statements: tuple[str, ...]) -> None:
    """Changes a database without its constraints."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        # A foreign file need not declare what DLProf's does.
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'")
        connection.commit()
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement, {"long": LONG})
        if statements == DATABASES["NULL everywhere"]:
            nullify(connection)
        connection.commit()


def nullify(connection: sqlite3.Connection) -> None:
    """NULL in every column that may hold it, but for the keys."""
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if table.startswith(("ext_", "db_version", "dictionary", "aggregations", "read_only_domains")):
            continue
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if not row[1].endswith("id")]
        for name in names:
            connection.execute(f"UPDATE OR IGNORE {table} SET {name} = NULL")


@pytest.mark.parametrize("name", DATABASES)
def test_a_hostile_database_is_shown_within_bounds(tmp_path: Path, name: str) -> None:
    """Every route answers in valid JSON of at most 8 MB, or with a sentence; the good profile beside it is served."""
    source = write_trace(tmp_path / "a.json")
    for run in ("bad", "good"):
        (tmp_path / "logs" / run).mkdir(parents=True)
        database = tmp_path / "logs" / run / f"{run}.dlprof_dldb.sqlite"
        import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    with_statements(tmp_path / "logs" / "bad" / "bad.dlprof_dldb.sqlite", DATABASES[name])
    server = Server(tmp_path / "logs", tmp_path / "cache")
    bad, good = (profile["id"] for profile in server.profiles())
    for route in server.app.routes():
        if "*" in route:
            continue
        for table in ("ops", "kernels_of_op"):
            answer = server.get(f"{route}?profile={bad}&table={table}&op=ADD_1&limit=1000")
            assert answer.status_code in (200, 400, 404, 405, 413, 422), answer.text[:300]
            assert len(answer.data) <= MAX_ANSWER_BYTES
            if answer.mimetype == "application/json":
                strict(answer.text)
    assert server.get(f"/dashboard?profile={good}").status_code == 200
    server.app.close()


def test_json_of_every_answer_is_strict(tmp_path: Path) -> None:
    """The test above would see what browsers refuse."""
    with pytest.raises(Exception, match="Infinity"):
        strict(json.dumps({"a": float("inf")}))
