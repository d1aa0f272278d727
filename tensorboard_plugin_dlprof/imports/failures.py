"""Pauses after failures: things that failed are tried again, but not at every request."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from tensorboard_plugin_dlprof.imports.lru_cache import LruCache

FIRST_PAUSE_SECONDS = 5.0
"""Short, because some causes soon pass, such as a file that is being written or a full disk."""

LONGEST_PAUSE_SECONDS = 1_800.0
"""Long, because each attempt at a lasting failure may occupy a process for a minute."""

MAX_FAILURES = 1_000
"""Most failures that are remembered."""


class Failures:
    """Remembers failures and pauses after them. Each pause is twice as long as the previous one, up to a limit.

    Args:
        clock: A monotonic clock in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pauses: LruCache[Hashable, tuple[float, float]] = LruCache(MAX_FAILURES)
        """Length and end of each pause in seconds."""

    def is_paused(self, what: Hashable) -> bool:
        """Whether ``what`` failed too recently to be tried again."""
        pause = self._pauses.get(what)
        return pause is not None and self._clock() < pause[1]

    def add(self, what: Hashable, is_lasting: bool = False) -> None:
        """Record a failure of ``what``; if its cause is lasting, with the longest pause at once."""
        before, _end = self._pauses.get(what) or (0.0, 0.0)
        pause = (
            LONGEST_PAUSE_SECONDS if is_lasting else min(max(2 * before, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
        )
        self._pauses.put(what, (pause, self._clock() + pause))

    def clear(self, what: Hashable) -> None:
        """Record a success of ``what``, which forgets its failures."""
        self._pauses.put(what, (0.0, 0.0))
