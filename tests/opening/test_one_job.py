"""A process that does one job ends with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports.traces import write_trace

_PROGRAM = """
import atexit, sys, threading, time
from tensorboard_plugin_dlprof.opening.one_job import run_and_end

def work():
    {work}
    print("worked")

def job():
    atexit.register(print, "looked through all objects")
    threading.Thread(target=work, daemon={daemon}).start()
    print("told", end=" ")
    return 3

sys.exit(run_and_end(job))
"""


@pytest.mark.parametrize(
    ("work", "daemon", "described"),
    [
        ("time.sleep(60)", True, "told "),
        ("threading.main_thread().join()", False, "told worked\nlooked through all objects\n"),
    ],
)
def test_a_job_ends_the_process_unless_a_thread_has_something_to_do(work: str, daemon: bool, described: str) -> None:
    """Its exit code and output are there either way; a daemon thread is waited for by nobody."""
    command = [sys.executable, "-c", _PROGRAM.format(work=work, daemon=daemon)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, described, "")


def test_an_error_of_a_job_is_told() -> None:
    """As Python does."""
    program = "from tensorboard_plugin_dlprof.opening.one_job import run_and_end\nrun_and_end(lambda: 1 // 0)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "ZeroDivisionError" in ended.stderr


_SIGTERM_IN_A_CALLBACK = """
import os, signal, sqlite3
from tensorboard_plugin_dlprof.opening.one_job import exit_on_sigterm
from tensorboard_plugin_dlprof.opening.sqlite_file import reading

def authorize(*_asked):
    os.kill(os.getpid(), {number})
    return sqlite3.SQLITE_OK

signal.signal(signal.SIGINT, signal.default_int_handler)  # Python leaves it ignored in a shell's background jobs
exit_on_sigterm()
con = sqlite3.connect(":memory:")
con.set_authorizer(authorize)
with reading("a.sqlite"):
    con.execute("SELECT 1")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Windows end a process at once")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, -signal.SIGINT)])
def test_a_job_that_is_told_to_end_while_sqlite_asks_something(number: signal.Signals, code: int) -> None:
    """What is raised in SQLite's callbacks is a refusal to it: the file was called one that asks for too much."""
    program = _SIGTERM_IN_A_CALLBACK.format(number=int(number))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr


_WORKER = """
import atexit, runpy
atexit.register(print, "looked through all objects")
runpy.run_module("tensorboard_plugin_dlprof.imports.worker", run_name="__main__", alter_sys=True)
"""


def test_an_import_on_demand_ends_as_a_command_does(tmp_path: Path) -> None:
    """The page waits for the process, so its end must not take long."""
    source = tmp_path / "a.pt.trace.json"
    write_trace(source)
    database = tmp_path / "a.sqlite"
    job = {"kind": "import", "memory_bytes": 2 << 30, "kernel_rules": "", "source": str(source)}
    read, write = os.pipe()  # as long as it is open, the server is there
    try:
        os.write(write, f"{json.dumps({**job, 'database': str(database)})}\n".encode())
        command = [sys.executable, "-c", _WORKER]
        ended = subprocess.run(command, stdin=read, capture_output=True, text=True, check=True)
    finally:
        os.close(read)
        os.close(write)
    assert json.loads(ended.stdout.splitlines()[-1]) == {"result": {"warnings": []}}
    assert (ended.stderr, database.is_file()) == ("", True)
