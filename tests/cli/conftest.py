"""A folder with programs but without Nsight Systems, and one with an export of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running.programs import path_with, small_export


@pytest.fixture
def without_nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that is all of the PATH, without Nsight Systems."""
    folder = path_with(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``nsys_profile.sqlite`` in the working directory."""
    monkeypatch.chdir(tmp_path)
    return small_export(tmp_path / "nsys_profile.sqlite")
