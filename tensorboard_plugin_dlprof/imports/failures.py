"""What failed lately: not tried again at every look, but tried again."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

FIRST_PAUSE_SECONDS = 5.0
"""A file that is being written, a full disk: such things pass, and somebody waits."""

LONGEST_PAUSE_SECONDS = 1_800.0
"""What cannot work takes a process for up to a minute each time."""

KEPT = 64


class Failures:
    """Until when each thing that failed is left alone: twice as long as the time before, and never for good.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pauses: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        """Length of the pause and its end."""

    def is_paused(self, what: Hashable) -> bool:
        """Whether it failed too lately to be tried again."""
        with self._lock:
            return what in self._pauses and self._clock() < self._pauses[what][1]

    def add(self, what: Hashable) -> None:
        """It failed."""
        with self._lock:
            before = self._pauses.pop(what, None)
            pause = FIRST_PAUSE_SECONDS if before is None else min(2 * before[0], LONGEST_PAUSE_SECONDS)
            self._pauses[what] = (pause, self._clock() + pause)
            while len(self._pauses) > KEPT:
                self._pauses.popitem(last=False)

    def clear(self, what: Hashable) -> None:
        """It worked."""
        with self._lock:
            self._pauses.pop(what, None)
