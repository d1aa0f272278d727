"""A connection to a database that our own importer made, with known numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection


@pytest.fixture
def ours(three_steps: Path) -> Iterator[UntrustedConnection]:
    """A connection to ``three_steps``."""
    connection = open_database(three_steps)
    yield connection
    connection.close()
