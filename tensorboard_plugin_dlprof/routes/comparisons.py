"""Comparisons of two profiles, computed once and kept for the requests about them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.queries.scope import Scope

if TYPE_CHECKING:
    import sqlite3

    from tensorboard_plugin_dlprof.comparing.comparison import Comparison
    from tensorboard_plugin_dlprof.comparing.recording import Recording

TABLES = frozenset({"compare", "compare_kernels", "compare_modules", "compare_new", "compare_types"})
"""Tables of ``./table`` that belong to a comparison, as in ``comparing.tables``."""

_MOST_KEPT = 64
_MOST_KEPT_ROWS = 100_000
"""Of all comparisons that are kept; the newest is kept in any case."""

SCOPE = Scope(0, 0, "")
"""The tables of a comparison have no aggregations of their own."""

Key = tuple[object, ...]
"""The state of both databases, and their aggregations."""


class Kept(msgspec.Struct):
    """A comparison and its tables."""

    found: Comparison
    connection: sqlite3.Connection
    """To its tables; used under ``lock``."""
    lock: threading.Lock = msgspec.field(default_factory=threading.Lock)
    counts: dict[Any, int] = msgspec.field(default_factory=dict)


class Comparisons:
    """A cache of comparisons; may be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Kept] = OrderedDict()

    def get(self, key: Key, read: Callable[[], tuple[Recording, Recording]]) -> Kept:
        """The comparison of this key.

        Args:
            key: the state of both sides.
            read: reads both recordings, if they must be compared.

        Raises:
            ProfileError: from ``read``.
            UnfitDatabase: a number is too large.
        """
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        kept = _compared(*read())
        with self._lock:
            self._kept[key] = kept
            while len(self._kept) > 1 and (
                len(self._kept) > _MOST_KEPT
                or sum(len(one.found.rows) for one in self._kept.values()) > _MOST_KEPT_ROWS
            ):
                self._kept.popitem(last=False)
        return kept


def _compared(a: Recording, b: Recording) -> Kept:
    from tensorboard_plugin_dlprof.comparing.comparison import compare
    from tensorboard_plugin_dlprof.comparing.tables import rows_of_tables
    from tensorboard_plugin_dlprof.database.memory import memory_database

    found = compare([a], [b])
    try:
        return Kept(found, memory_database(rows_of_tables(found)))
    except OverflowError:
        raise UnfitDatabase("A number of these profiles is impossibly large; make their databases again.") from None


@contextmanager
def copy_of(kept: Kept) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the tables, which may be read slowly."""
    from tensorboard_plugin_dlprof.database.memory import copied

    with kept.lock:
        connection = copied(kept.connection)
    with closing(connection):
        yield connection


@contextmanager
def tables_of(kept: Kept) -> Iterator[sqlite3.Connection]:
    """The connection to the tables of a comparison, for this thread alone."""
    with kept.lock:
        yield kept.connection
