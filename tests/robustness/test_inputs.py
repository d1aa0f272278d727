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
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_dlprof.analysis.rules.naming import runtime_advice
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.columns.packing import pack
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import Cause
from tensorboard_plugin_dlprof.opening.masking import mask_command_line
from tests.fuzz.run_batch import strict
from tests.imports.traces import write_trace
from tests.routes.serving import Server
from tests.waiting import PATIENCE_S

MEGABYTE = 1 << 20
MEMORY_BYTES = 400 * MEGABYTE
"""The libraries alone take some 100 MB of it."""

MAX_ANSWER_BYTES = 8 * MEGABYTE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit of written memory is Linux's")


def members(head: bytes, filler: bytes, times: int) -> bytes:
    """Gzip data that repeats one member: what it expands to need not be made first."""
    return gzip.compress(head) + gzip.compress(filler) * times


def sqlite_head() -> bytes:
    """The first 100 bytes of a database of one page of 4 kB."""
    numbers = (4_096).to_bytes(2, "big") + bytes([1, 1, 0, 64, 32, 32]) + bytes(4) + (1).to_bytes(4, "big")
    return (b"SQLite format 3\0" + numbers).ljust(100, b"\0")


SOURCES: dict[str, tuple[Callable[[], bytes], str]] = {
    "3 GB of blanks in 3 MB": (
        lambda: members(b'{"schemaVersion": 1, "traceEvents": [', b" " * (64 * MEGABYTE), 48),
        "expands more than 200 times",
    ),
    "3 GB of one text": (
        lambda: members(b'{"traceEvents": [{"name": "', b"x" * (64 * MEGABYTE), 48),
        "expands more than 200 times",
    ),
    "3 GB before the events": (
        lambda: members(b'{"traceName": "a", "schemaVersion": "', b"x" * (64 * MEGABYTE), 48) + gzip.compress(b'"}'),
        "",
    ),
    "million empty events": (lambda: b'{"traceEvents": [' + b"{}," * 1_000_000 + b"{}]}", "events have no category"),
    "million brackets": (lambda: b'{"traceEvents": [' + b"[" * 1_000_000, "holds no event"),
    "million nested objects": (lambda: b'{"traceEvents": [' + b'{"args":' * 1_000_000, ""),
    "20 MB event": (
        lambda: b'{"traceEvents": [{"ph": "X", "name": "' + b"x" * (20 * MEGABYTE) + b'"}]}',
        "one event larger than 8 MB",
    ),
    "300,000 empty members": (lambda: gzip.compress(b"") * 300_000, "gzip data cannot be read"),
    "name of 5 MB in the header of gzip": (
        lambda: b"\x1f\x8b\x08\x08" + bytes(6) + b"A" * (5 * MEGABYTE),
        "gzip data cannot be read",
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
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 3, done.stderr
    (line,) = done.stderr.splitlines()
    assert "bad.pt.trace.json" in line
    assert words in line
    assert "memory" not in line.replace("memory snapshot", "").replace("memory timeline", "")
    assert {path.name for path in tmp_path.iterdir() if "tfevents" not in path.name} == {
        *("bad.pt.trace.json", "good.json", "good.dlprof_dldb.sqlite")
    }


HOST = '{"ph": "X", "cat": "cpu_op", "name": "%s", "ts": %s, "dur": %s, "pid": %s, "tid": %s}'

READ: dict[str, Callable[[], list[str]]] = {
    "numbers of a billion digits": lambda: [HOST % ("a", "1e999999999", "1e999999999", "1e999999999", "1e999999999")],
    "20,000 threads": lambda: [HOST % (f"o{number}", number, 5, number, number) for number in range(20_000)],
    "20,000 ops within each other": lambda: [HOST % ("o", 10_000 + n, 100_000 - 2 * n, 1, 1) for n in range(20_000)],
    "arguments of 90,000 levels": lambda: [
        HOST.replace("}", ', "args": ' + '{"a": ' * 90_000 + "1" + "}" * 90_000 + "}") % ("a", 1, 1, 1, 1)
    ],
    "name of 7 MB": lambda: [HOST % ("<" * (7 * MEGABYTE), 3, 2, 1, 1)],
}
"""Events that a trace may hold without being refused."""


@pytest.mark.parametrize("name", READ)
def test_a_hostile_source_is_read_within_bounds(tmp_path: Path, name: str) -> None:
    """What is good in it is there, and the database is well; two commands take no more than 400 MB each."""
    source = write_trace(tmp_path / "a.json")
    text = source.read_text().removesuffix("]}")
    source.write_text(", ".join([text, *READ[name]()]) + "]}")
    for command in (["import", str(source)], ["summary", str(tmp_path / "a.dlprof_dldb.sqlite")]):
        limited = [sys.executable, "-c", _LIMITED, str(MEMORY_BYTES), *command]
        done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("head", [b'{"traceEvents": [', sqlite_head(), b""], ids=["trace", "database", "nothing"])
def test_a_file_of_a_terabyte_that_is_not_there(tmp_path: Path, head: bytes) -> None:
    """Sparse: it takes no space on the disk, and must take none in memory."""
    bad = tmp_path / "bad.pt.trace.json"
    try:
        with bad.open("wb") as file:
            file.write(head)
            file.truncate(1 << 40)
    except OSError:
        pytest.skip("this file system holds no file of a terabyte")
    command = [sys.executable, "-c", _LIMITED, str(MEMORY_BYTES), "import", str(bad)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "bad.pt.trace.json" in line


LONG = "x" * (10 * MEGABYTE)

DATABASES: dict[str, tuple[str, ...]] = {
    "kernel name of 10 MB": ("UPDATE dictionary SET string = :long || id WHERE string LIKE '%elementwise%'",),
    "every text of 10 MB": ("UPDATE dictionary SET string = :long || id WHERE id < 4",),
    "op that is part of itself": (
        "INSERT INTO read_only_sub_ops SELECT id, id, 9, -9 FROM read_only_ops",
        "UPDATE read_only_ops SET op_name = op_id",
    ),
    "path of 5,000 levels": ("UPDATE read_only_ops SET op_name = replace(substr(:long, 1, 10000), 'xx', '/x')",),
    "negative durations": ("UPDATE kernels SET gpu_time_ns = -1000000",),
    "huge durations": ("UPDATE kernels SET gpu_time_ns = 9223372036854775807",),
    "texts in number columns": ("UPDATE kernels SET gpu_start_ns = 'abc', gpu_time_ns = '9e9x'",),
    "bytes in number columns": ("UPDATE kernels SET gpu_start_ns = x'00ff', gpu_time_ns = zeroblob(100)",),
    "texts in the times of iterations": ("UPDATE ext_iterations SET start_ns = 'abc', stop_ns = x'00ff'",),
    "infinite times": ("UPDATE kernels SET gpu_start_ns = -9e999, gpu_time_ns = 9e999",),
    "infinite and enormous counts": ("UPDATE read_only_grid_block SET y = 9e999", "UPDATE metric SET count = 1e308"),
    "ids at the end of numbers": ("UPDATE read_only_ops SET id = id + 9223372036854775000",),
    "names of bytes": ("UPDATE dictionary SET string = x'ff00fe80' || id",),
    "names that act": ("UPDATE dictionary SET string = char(27) || '[31m' || char(8238) || '<script>' || string",),
    "aggregation below zero": ("UPDATE aggregations SET id = -1", "UPDATE model_summary SET aggr_id = -1"),
    "one table in the place of another": (
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'kernels') "
        "WHERE name = 'dictionary'",
    ),
    "check that makes 800 MB": (
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'string TEXT', "
        "'string TEXT CHECK (length(hex(zeroblob(400000000))) > 0)') WHERE name = 'dictionary'",
    ),
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
        names = [
            row[1]
            for row in connection.execute(f"PRAGMA table_info({table})")
            if not row[1].endswith("id") and not row[5]
        ]
        for name in names:
            connection.execute(f"UPDATE OR IGNORE {table} SET {name} = NULL")


@pytest.mark.parametrize("name", DATABASES)
def test_a_hostile_database_is_shown_within_bounds(three_steps: Path, tmp_path: Path, name: str) -> None:
    """Every route answers in valid JSON of at most 8 MB, or with a sentence; the good profile beside it is served."""
    for run in ("bad", "good"):
        (tmp_path / "logs" / run).mkdir(parents=True)
        (tmp_path / "logs" / run / f"{run}.dlprof_dldb.sqlite").write_bytes(three_steps.read_bytes())
    with_statements(tmp_path / "logs" / "bad" / "bad.dlprof_dldb.sqlite", DATABASES[name])
    server = Server(tmp_path / "logs", tmp_path / "cache")
    bad, good = (profile["id"] for profile in server.profiles())
    window = "from=0&to=1000000000"
    for route in server.app.routes():
        if "*" in route:
            continue
        for table in ("ops", "kernels_of_op"):
            answer = server.get(f"{route}?profile={bad}&base={good}&table={table}&op=ADD_1&limit=1000&{window}")
            content = answer.data if route != "/trace" or answer.status_code != 200 else gzip.decompress(answer.data)
            assert answer.status_code in (200, 400, 404, 405, 413, 422), content[:300]
            assert len(content) <= MAX_ANSWER_BYTES
            if answer.mimetype == "application/json":
                strict(content.decode())
    assert server.get(f"/dashboard?profile={good}").status_code == 200
    server.app.close()


def test_packed_rows_without_end(three_steps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A kilobyte is 65,536 rows, and there are 3,000 of them: one sentence, long before the limit of time."""
    for name in ("bad", "good"):
        (tmp_path / "logs").mkdir(exist_ok=True)
        (tmp_path / "logs" / f"{name}.dlprof_dldb.sqlite").write_bytes(three_steps.read_bytes())
    packed = pack([np.ones(65_536, np.int64)] * 2)
    with closing(sqlite3.connect(tmp_path / "logs" / "bad.dlprof_dldb.sqlite")) as con, con:
        (columns,) = con.execute("SELECT device_id FROM activity_segments").fetchmany(1)
        rows = [(*columns, number, 1 << 40, packed) for number in range(3_000)]
        con.executemany("INSERT INTO activity_segments (device_id, start_ns, stop_ns, data) VALUES (?, ?, ?, ?)", rows)
    server = Server(tmp_path / "logs", tmp_path / "cache")
    bad, good = (profile["id"] for profile in server.profiles())
    used = time.process_time()
    for address, words in (
        (f"compare?profile={good}&base={bad}", "holds more packed rows than any profile"),
        (f"trace?profile={bad}&from=0&to=1000000000", "has damaged tracks"),
    ):
        answer = server.get(f"/{address}")
        assert answer.status_code == 422
        assert answer.json["error"]["message"].startswith(f"bad.dlprof_dldb.sqlite {words}")
    server.app.close()
    assert main(["trace", str(tmp_path / "logs" / "bad.dlprof_dldb.sqlite"), "-o", str(tmp_path / "a.json")]) == 1
    assert "bad.dlprof_dldb.sqlite holds more packed rows" in capsys.readouterr().err
    assert time.process_time() - used < 30


def test_long_names_take_time_by_their_length() -> None:
    """Not by its square, which is minutes: digits, letters, or beginnings of what is looked for."""
    used = time.process_time()
    assert path_pattern("1" * 300_000) == "*"
    assert mask_command_line("a" * 300_000) == "a" * 300_000
    assert mask_command_line("-eyJ" * 10_000) == "-eyJ" * 10_000
    assert "JAX" not in runtime_advice(Cause(Part.HOST_CODE, path="PjRt" * 100_000))
    assert time.process_time() - used < 30


def test_what_is_no_strict_json_is_seen() -> None:
    """The tests above would miss what browsers refuse otherwise."""
    with pytest.raises(Exception, match="Infinity"):
        strict(json.dumps({"a": float("inf")}))
