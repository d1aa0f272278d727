"""A command in the place of this process."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.running.child import run_child
from tests.waiting import PATIENCE_S, wait_for

PARENT = """
import sys
from tensorboard_plugin_dlprof.running.child import run_child
ended = run_child([sys.executable, "-c", sys.argv[1], sys.argv[2]])
print(ended.code, ended.terminated)
"""

CHILD = """
import signal, sys, time
def end(number, frame):
    print("child got", number, flush=True)
    sys.exit(7)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, end)
open(sys.argv[1], "w").close()
time.sleep(60)
"""


@pytest.mark.parametrize(("code", "expected"), [("pass", 0), ("raise SystemExit(3)", 3), ("1 / 0", 1)])
def test_the_exit_code_is_that_of_the_command(code: str, expected: int) -> None:
    """Whatever it is."""
    assert run_child([sys.executable, "-c", code]).code == expected


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_a_signal_gives_128_and_its_number(number: int) -> None:
    """As in a shell."""
    ended = run_child([sys.executable, "-c", f"import os; os.kill(os.getpid(), {int(number)})"])
    assert ended.code == 128 + number
    assert not ended.terminated


@pytest.mark.parametrize(("number", "terminated"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_signals_are_passed_on_and_the_end_is_awaited(number: int, terminated: bool, tmp_path: Path) -> None:
    """The command ends as it likes; without a terminal it gets Ctrl-C from nobody else."""
    ready = tmp_path / "ready"
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD, str(ready)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as parent:
        wait_for(ready.exists)
        os.kill(parent.pid, number)
        output, _ = parent.communicate(timeout=PATIENCE_S)
    assert output == f"child got {int(number)}\n7 {terminated}\n"


def test_the_handlers_are_put_back() -> None:
    """The import that follows can be interrupted."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    run_child([sys.executable, "-c", ""])
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """One sentence each."""
    with pytest.raises(BadRequest, match="no-such-program: there is no such program"):
        run_child(["no-such-program"])
    (tmp_path / "plain").write_text("x")
    with pytest.raises(BadRequest, match="cannot be started: Permission denied"):
        run_child([str(tmp_path / "plain")])


def test_ctrl_c_on_a_terminal_reaches_the_command_once(tmp_path: Path) -> None:
    """The terminal tells every process; a second signal would break off the command's own clean end."""
    ready = tmp_path / "ready"
    child = (
        "import signal, sys, time\nseen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "open(sys.argv[1], 'w').close()\n"
        "while not seen:\n    time.sleep(0.01)\ntime.sleep(0.3)\nprint('signals', len(seen), flush=True)\n"
    )
    process, terminal = pty.fork()
    if process == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.execv(sys.executable, [sys.executable, "-c", PARENT, child, str(ready)])
    wait_for(ready.exists)
    os.write(terminal, b"\x03")
    output = b""
    with contextlib.suppress(OSError):  # Linux ends the reading of a closed terminal so.
        while some := os.read(terminal, 1 << 16):
            output += some
    os.waitpid(process, 0)
    os.close(terminal)
    assert b"signals 1\r\n0 False\r\n" in output
