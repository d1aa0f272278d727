"""What the work on one file may cost: time, rows and bytes, wherever in the work they are spent."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from tensorboard_plugin_dlprof.checking.sources import check_file
from tensorboard_plugin_dlprof.columns.rows import insert_rows
from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError, UnsafeFile
from tensorboard_plugin_dlprof.opening import allowance
from tensorboard_plugin_dlprof.opening.memory_limit import refuse_too_little
from tensorboard_plugin_dlprof.opening.sqlite_file import open_untrusted, reading
from tensorboard_plugin_dlprof.pipeline import ImportOptions, Selection, aggregate_database, import_source
from tests.imports.traces import write_trace

ENDLESS = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


# The refusal may meet a callback of the garbage collector, hypothesis's, which cannot pass it on: it comes again.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def nothing(_stage: str, _fraction: float) -> None:
    """No progress is shown."""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a second for a small file, and a second chance after another tenth."""
    monkeypatch.setattr(allowance, "LEAST_SECONDS", 0.1)
    monkeypatch.setattr(allowance, "SECONDS_A_BYTE", 0)
    monkeypatch.setattr(allowance, "_AGAIN_SECONDS", 0.1)


def test_work_that_never_ends_is_ended() -> None:
    """Even if a part of it takes the first refusal for an error of its own."""

    def spin() -> None:
        while True:
            pass

    def spin_twice() -> None:
        with allowance.allowed("a.json", 10):
            with suppress(ProfileError):
                spin()
            spin()

    with pytest.raises(UnsafeFile, match=r"^a\.json takes more than 0 seconds .* no profile of 10 bytes does"):
        spin_twice()


def test_waiting_is_no_work() -> None:
    """A machine that is busy or sleeps is no reason to end."""
    with allowance.allowed("a.json", 10):
        time.sleep(0.3)


def test_a_statement_is_interrupted_in_any_thread(tmp_path: Path) -> None:
    """Statements run for hours between two steps of Python, and signals reach only the main thread."""
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE t (a)")
    ends: dict[str, str] = {}

    def work() -> None:
        thread = threading.current_thread().name
        try:
            with allowance.allowed("a.sqlite", 10), closing(open_untrusted(path)) as con:
                try:
                    with reading("a.sqlite"):
                        con.execute(ENDLESS)
                except ProfileError as error:  # within the limited block: a check notes errors, and goes on
                    ends[thread] = str(error)
        except UnsafeFile as error:  # the main thread's timer may tell it too, just after the statement
            ends[thread] = str(error)

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(ends) == 2
    assert all("takes more than" in end for end in ends.values())


@pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="systems without this signal have no such profilers")
def test_a_profiler_of_the_user_is_not_disturbed() -> None:
    """Its signal and its timer stay as they are, within the work and after it."""
    signals: list[int] = []
    before = signal.signal(signal.SIGPROF, lambda number, _frame: signals.append(number))
    signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
    try:
        with allowance.allowed("a.json", 10):
            end = time.process_time() + 0.08
            while time.process_time() < end:
                pass
        assert len(signals) > 2
        assert signal.getitimer(signal.ITIMER_PROF)[1] == pytest.approx(0.01)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_temporary_files_of_sqlite_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In processes of ours; afterwards files may have any size again."""
    monkeypatch.setattr(allowance, "LEAST_SECONDS", 60)
    monkeypatch.setattr(allowance, "LEAST_WRITTEN_BYTES", 1 << 20)
    monkeypatch.setattr(allowance, "_is_our_process", True)
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("CREATE TABLE t (a)")
        con.executemany("INSERT INTO t VALUES (?)", ((str(number) * 50,) for number in range(20_000)))
    question = (
        "SELECT count(*) FROM (SELECT x.a FROM t x, (SELECT a FROM t LIMIT 2) ORDER BY x.a DESC LIMIT -1 OFFSET 1)"
    )
    with closing(open_untrusted(path)) as con:
        with pytest.raises(BrokenSource, match="temporary files"), allowance.allowed("a", 10), reading("a.sqlite"):
            con.execute(question).fetchall()
        con.execute(question).fetchall()


def test_rows_and_bytes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of the database, its size, and columns in temporary files; nothing is left of it."""
    monkeypatch.setattr(allowance, "LEAST_ROWS", 1_000)
    monkeypatch.setattr(allowance, "LEAST_WRITTEN_BYTES", 1 << 20)
    monkeypatch.setattr(allowance, "LEAST_SECONDS", 60)

    def write(rows: int, letters: int) -> None:
        with allowance.allowed("a.json", 10), published(tmp_path / "b.sqlite", 10) as con:
            con.execute("CREATE TABLE t (a)")
            insert_rows(con, "t", ("a",), ((bytes(letters),) for _ in range(rows)))

    write(900, 10)
    with pytest.raises(UnsafeFile, match="becomes too many rows"):
        write(2_000, 1)
    with pytest.raises(UnsafeFile, match="needs too much space"):
        write(900, 10_000)
    with pytest.raises(UnsafeFile, match="needs too much space"), allowance.allowed("a.json", 10):
        ColumnStore(64, tmp_path).zeros(1 << 20, np.int64)
    assert [path.name for path in tmp_path.iterdir()] == ["b.sqlite"]


def crowd(path: Path) -> Path:
    """A trace of 80 kB whose GPUs all work in all of its steps: many seconds of work."""
    events = []
    for n in range(300):
        call = {"correlation": n}
        kernel = {"device": n, "stream": 7, "correlation": n}
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "ts": n * 900, "dur": 900, "tid": 1},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": n * 900, "dur": 1, "args": call},
            {"ph": "X", "cat": "kernel", "name": "k", "ts": n * 900 + 9, "dur": 10**6, "pid": n, "args": kernel},
        ]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def test_imports_checks_and_aggregations_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with one sentence that names the file, and without leaving one."""
    source, database = crowd(tmp_path / "a.json"), tmp_path / "a.dlprof_dldb.sqlite"
    with pytest.raises(UnsafeFile, match=r"a\.json takes more than"):
        import_source(source, database, ImportOptions(), nothing)
    monkeypatch.setattr(allowance, "LEAST_SECONDS", 60)
    good = tmp_path / "good.dlprof_dldb.sqlite"
    import_source(write_trace(tmp_path / "good.json"), good, ImportOptions(), nothing)
    monkeypatch.setattr(allowance, "LEAST_SECONDS", 0.001)
    with pytest.raises(UnsafeFile, match=r"good\.dlprof_dldb\.sqlite takes more than"):
        aggregate_database(good, tmp_path / "more.dlprof_dldb.sqlite", Selection(None, 0, 1), nothing)
    for path in (source, good):
        report = check_file(path, nothing)
        assert not report.passed
        assert any("takes more than" in finding.message for finding in report.findings)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "good.dlprof_dldb.sqlite", "good.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_too_little_memory_is_said_before_numpy_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its libraries end the process with sentences of their own."""
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _which: (100 << 20, -1))
    with pytest.raises(ProfileError, match="100 MiB of memory"):
        refuse_too_little()
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (resource.RLIM_INFINITY, -1))
    refuse_too_little()
