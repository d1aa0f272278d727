"""Databases to ask: one that our own importer made, with known numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.imports.traces import write_trace


@pytest.fixture(scope="session")
def three_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three steps of two adds with one kernel of 40 µs each."""
    folder = tmp_path_factory.mktemp("three_steps")
    source = write_trace(folder / "a.json")
    import_source(source, folder / "a.dlprof_dldb.sqlite", ImportOptions(), lambda _stage, _fraction: None)
    return folder / "a.dlprof_dldb.sqlite"


@pytest.fixture
def ours(three_steps: Path) -> Iterator[UntrustedConnection]:
    """A connection to ``three_steps``."""
    connection = open_database(three_steps)
    yield connection
    connection.close()
