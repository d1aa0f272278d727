"""Fixtures that several packages of tests share."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
"""No test measures time: on a busy machine any example takes long now and then."""


class _Raising(logging.Handler):
    """Lets a rule of advice that fails fail the test, too: an import goes on without it."""

    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError(record.getMessage())


logging.getLogger("tensorboard_plugin_dlprof.analysis.engine").addHandler(_Raising())

CHROMIUM_COMMANDS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def three_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of ours: three steps of two adds with one kernel of 40 µs each. Copy it to change it."""
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
    from tests.imports.traces import write_trace

    folder = tmp_path_factory.mktemp("three_steps")
    source = write_trace(folder / "a.json")
    import_source(source, folder / "a.dlprof_dldb.sqlite", ImportOptions(), lambda _stage, _fraction: None)
    return folder / "a.dlprof_dldb.sqlite"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that is all of the PATH: Python, a shell, and stand-ins for ``nsys`` and ``mpirun``."""
    from tests.running.programs import path_with

    folder = path_with(tmp_path / "bin", "nsys", "mpirun")
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium without access to anything outside; nothing is downloaded.

    Skips the browser tests where there is none.
    """
    executable = next((path for command in CHROMIUM_COMMANDS if (path := shutil.which(command))), None)
    if executable is None:
        pytest.skip("Chromium is not installed; `make test` installs it where it may")
    return {
        **browser_type_launch_args,
        "executable_path": executable,
        "args": [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
        ],
    }
