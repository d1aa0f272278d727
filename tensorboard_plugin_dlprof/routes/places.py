"""Places: how many requests query databases at once.

Anybody may write a database whose every query ends at its time limit, so one database never has all places, and those
that were slow before share one.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.imports.lru_cache import LruCache
from tensorboard_plugin_dlprof.routes import responses
from tensorboard_plugin_dlprof.routes.turns import Turns, TurnsByKey

AT_ONCE, EACH = 8, 2
"""Most requests that query databases at once, and most that query the same one."""

WAIT_SECONDS = 2.0
"""How long others wait before they are refused."""

SLOW_SECONDS = 5.0
"""After a request that took longer, a database counts as slow. Pages of a million kernels take less than a second."""

_MOST_SLOW = 1_000


class Places:
    """The places of one server."""

    def __init__(self) -> None:
        self._all = Turns(AT_ONCE, WAIT_SECONDS)
        self._of_each = TurnsByKey(EACH, WAIT_SECONDS)
        self._of_slow = Turns(1, WAIT_SECONDS)
        self._slow: LruCache[Path, bool] = LruCache(_MOST_SLOW)

    @contextmanager
    def place(self, databases: Collection[Path]) -> Iterator[None]:
        """Wait for a place for a request to these databases, and hold it during the block.

        Raises:
            Busy: There was none in time.
        """
        with ExitStack() as held:
            turns = [self._of_each.turn(str(path)) for path in sorted(set(databases))]
            if any(map(self._slow.get, databases)):
                turns.append(self._of_slow.turn())
            for turn in (*turns, self._all.turn()):
                if not held.enter_context(turn):
                    raise responses.Busy("The server is busy with other requests.")
            started = time.monotonic()
            try:
                yield
            finally:
                if time.monotonic() - started > SLOW_SECONDS:
                    for path in databases:
                        self._slow.put(path, True)
