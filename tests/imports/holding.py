"""Worker processes that stand still in the middle of their work, as long as a test needs them to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_for

_PROGRAM = """
import runpy, sys, time
from pathlib import Path

sys.executable = sys.argv[1]
held, released = map(Path, sys.argv[2:4])

def hold(event, arguments):
    if event == "sqlite3.connect" and ".tmp-" in str(arguments[0]):
        held.touch()
        while not released.exists():
            time.sleep(0.01)

sys.addaudithook(hold)
sys.argv = sys.argv[5:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Does the work of ``python -m MODULE``, but waits where it begins to write a database; and so does what it starts."""


class Held:
    """What holds the workers that this process starts: the Python that they run in.

    Args:
        folder: of the test's own, not there yet.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.python = folder / "python"
        self._held, self._released = folder / "held", folder / "released"
        (folder / "program.py").write_text(_PROGRAM, encoding="utf-8")
        command = (sys.executable, folder / "program.py", self.python, self._held, self._released)
        words = " ".join(f"'{word}'" for word in command)
        self.python.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        self.python.chmod(0o700)

    def wait(self) -> None:
        """Until a worker stands still."""
        wait_for(self._held.exists)

    def release(self) -> None:
        """Lets all workers go on, also those to come."""
        self._released.touch()


def hold_workers(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Held:
    """Has all workers started in a ``Python`` that holds them."""
    if os.name != "posix":
        pytest.skip("a script that takes the place of Python is POSIX's")
    held = Held(folder)
    monkeypatch.setattr(sys, "executable", str(held.python))
    return held
