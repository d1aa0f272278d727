"""Turns: a limited number of requests run at once; others wait in the order in which they arrived."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from weakref import WeakValueDictionary

from tensorboard_plugin_dlprof.imports.lru_cache import LruCache
from tensorboard_plugin_dlprof.routes import responses


class Turns:
    """A fair semaphore: places go to the thread that has waited longest.

    With the semaphore of the standard library, new arrivals may overtake, so some threads wait several times as long as
    others.

    Args:
        places: Number of turns at once.
        seconds: Longest time to wait for a turn.
    """

    def __init__(self, places: int, seconds: float) -> None:
        self._lock = threading.Lock()
        self._free = places
        self.seconds = seconds
        self._waiting: deque[threading.Lock] = deque()

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Wait for a turn, and hold it during the block. Yields False if there was none in time."""
        has_turn = self._wait()
        try:
            yield has_turn
        finally:
            if has_turn:
                self._hand_over()

    def _wait(self) -> bool:
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        if called.acquire(timeout=self.seconds):
            return True
        with self._lock:
            if called in self._waiting:
                self._waiting.remove(called)
                return False
        # The turn was handed over between the timeout and the lock.
        return True

    def _hand_over(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


class TurnsByKey:
    """The same for each of any number of keys, such as databases, or requests that are equal.

    Args:
        places: Number of turns of a key at once.
        seconds: Longest time to wait for a turn.
    """

    def __init__(self, places: int, seconds: float) -> None:
        self._lock = threading.Lock()
        self._places, self._seconds = places, seconds
        self._turns: WeakValueDictionary[str, Turns] = WeakValueDictionary()
        """For each key, its turns while a thread has or awaits one."""

    @contextmanager
    def turn(self, key: str) -> Iterator[bool]:
        """Wait for a turn, and hold it during the block. Yields False if there was none in time."""
        with self._lock:
            turns = self._turns.setdefault(key, Turns(self._places, self._seconds))
        with turns.turn() as has_turn:
            yield has_turn


AT_ONCE, EACH = 8, 2
"""Most requests that query databases at once, and most that query the same one."""

WAIT_SECONDS = 2.0
"""How long others wait before they are refused."""

SLOW_SECONDS = 5.0
"""After a request that took longer, a database counts as slow. Pages of a million kernels take less than a second."""

_MOST_SLOW = 1_000


class Places:
    """How many requests query the databases of one server at once.

    Anybody may write a database whose every query ends at its time limit, so one database never has all places, and
    those that were slow before share one.
    """

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
