"""Fixtures that several packages of tests share."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
"""No test measures time: on a busy machine any example takes long now and then."""

CHROMIUM_COMMANDS = ("chromium", "chromium-browser", "google-chrome")


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
