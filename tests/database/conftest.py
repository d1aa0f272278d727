"""Connections that are closed at the end of the test: Python 3.13 warns of those that are not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tests.database.views import read_only

Opened = Callable[[Path], UntrustedConnection]
Plain = Callable[[Path], sqlite3.Connection]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """``open_database``."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(open_database(path)))


@pytest.fixture
def plain() -> Iterator[Plain]:
    """A plain connection, as a program that knows nothing of us would open it."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(read_only(path)))
