"""What a worker process ends with, seen from the server."""

from __future__ import annotations

import os
import sys
from collections import UserDict
from collections.abc import KeysView
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.imports.child import Child


class LateJob(UserDict[str, str]):
    """A job that comes when the process has ended."""

    def keys(self) -> KeysView[str]:
        """What ``dict`` asks for first."""
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        return super().keys()


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="a process that has ended is seen so on POSIX only")
def test_a_process_that_ends_before_it_reads_its_job_has_crashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system out of memory may kill it at any time."""
    monkeypatch.setattr(sys, "executable", "/bin/true")
    outcome = Child(LateJob(kind="import"), tmp_path).listen(lambda _stage, _fraction: None)
    assert not outcome.finished
    assert outcome.crash == "The import process ended with code 0"
