"""A pool of database connections, each used by one request at a time."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.errors import NotFound, ProfileError, UnfitDatabase
from tensorboard_plugin_dlprof.opening.regular_file import Identity, identity_of, shown
from tensorboard_plugin_dlprof.opening.sqlite_file import deadline, reading

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
    from tensorboard_plugin_dlprof.queries.table_query import CountKey

MAX_DATABASES = 8
MAX_IDLE_CONNECTIONS = 2
"""Idle connections that are kept per database, each with a cache of up to 4 MB. Only during slow requests, more than
``TURNS`` connections are used at once."""

MAX_COUNTS = 1_000
"""Most row counts that are cached per database."""

MAX_TEXT_BYTES = 65_536
"""Limit of one text that is sent to a browser; longer texts are cut. The longest kernel names have some kB."""

QUERY_SECONDS = 20.0
"""Time limit of the queries of one request."""


class _OpenDatabase(msgspec.Struct):
    identity: Identity
    idle: list[UntrustedConnection] = msgspec.field(default_factory=list)
    counts: dict[CountKey, int] = msgspec.field(default_factory=dict)


class Borrowed(msgspec.Struct, frozen=True):
    """A connection for the duration of one request, and the cached row counts of the database."""

    connection: UntrustedConnection
    counts: dict[CountKey, int]


def identity(path: Path) -> Identity:
    """The identity of a file, which changes if the file is replaced or rewritten.

    Raises:
        NotFound: The file is gone.
    """
    try:
        return identity_of(path.stat())
    except OSError:
        raise NotFound("The database of this profile is gone: it was moved or deleted.") from None


class Databases:
    """The open databases of a server.

    Args:
        on_gone: Called if a database is gone, so that the list of profiles is updated.
    """

    def __init__(self, on_gone: Callable[[], None] = lambda: None) -> None:
        self._on_gone = on_gone
        self._lock = threading.Lock()
        self._cache: OrderedDict[Path, _OpenDatabase] = OrderedDict()

    @contextmanager
    def borrow(
        self,
        path: Path,
        name: str,
        seconds: float = QUERY_SECONDS,
    ) -> Iterator[Borrowed]:
        """A hardened connection to a database for the duration of the block.

        Args:
            seconds: Time limit of all queries in the block.

        Raises:
            NotFound: The file is gone.
            UnfitDatabase: It is not a DLProf database that can be read, or a query took too long.
        """
        try:
            now = identity(path)
        except NotFound:
            self._on_gone()
            raise
        with _without_paths(path, name), reading(name, UnfitDatabase):
            connection, counts = self._take(path, now)
            healthy = False
            try:
                with deadline(connection, seconds):
                    yield Borrowed(connection, counts)
                healthy = True
            finally:
                self._give_back(path, now, connection, healthy)

    def close(self) -> None:
        """Close all connections that are not in use."""
        with self._lock:
            for database in self._cache.values():
                _close(database.idle)
            self._cache.clear()

    def _take(self, path: Path, now: Identity) -> tuple[UntrustedConnection, dict[CountKey, int]]:
        with self._lock:
            database = self._cache.get(path)
            if database is None or database.identity != now:
                if database is not None:
                    _close(database.idle)
                database = self._cache[path] = _OpenDatabase(now)
            self._cache.move_to_end(path)
            while len(self._cache) > MAX_DATABASES:
                _close(self._cache.popitem(last=False)[1].idle)
            if len(database.counts) > MAX_COUNTS:
                database.counts.clear()
            if database.idle:
                return database.idle.pop(), database.counts
        connection = open_database(path, follow_links=False)
        connection.longest_text_bytes = MAX_TEXT_BYTES
        return connection, database.counts

    def _give_back(self, path: Path, now: Identity, connection: UntrustedConnection, healthy: bool) -> None:
        with self._lock:
            database = self._cache.get(path)
            if (
                healthy
                and database is not None
                and database.identity == now
                and len(database.idle) < MAX_IDLE_CONNECTIONS
            ):
                database.idle.append(connection)
                return
        connection.close()


def _close(connections: list[UntrustedConnection]) -> None:
    while connections:
        connections.pop().close()


@contextmanager
def _without_paths(path: Path, name: str) -> Iterator[None]:
    """Replace paths in error messages by the file's name, because users of the page must not see them."""
    try:
        yield
    except ProfileError as error:
        text = str(error)
        for spelling in {shown(path), str(path), os.path.realpath(path)}:
            text = text.replace(spelling, name)
        raise type(error)(text) from error.__cause__
