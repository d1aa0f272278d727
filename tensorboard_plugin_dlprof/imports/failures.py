"""Pauses after failures: things that failed are tried again, but not at every request."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

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
        self._lock = threading.Lock()
        self._pauses: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        """Length and end of each pause in seconds."""

    def is_paused(self, what: Hashable) -> bool:
        """Whether ``what`` failed too recently to be tried again."""
        with self._lock:
            return what in self._pauses and self._clock() < self._pauses[what][1]

    def add(self, what: Hashable, is_lasting: bool = False) -> None:
        """Record a failure of ``what``; if its cause is lasting, with the longest pause at once."""
        with self._lock:
            before = self._pauses.pop(what, None)
            pause = FIRST_PAUSE_SECONDS if before is None else min(2 * before[0], LONGEST_PAUSE_SECONDS)
            if is_lasting:
                pause = LONGEST_PAUSE_SECONDS
            self._pauses[what] = (pause, self._clock() + pause)
            while len(self._pauses) > MAX_FAILURES:
                self._pauses.popitem(last=False)

    def clear(self, what: Hashable) -> None:
        """Record a success of ``what``, which forgets its failures."""
        with self._lock:
            self._pauses.pop(what, None)
