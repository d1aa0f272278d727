"""Turns: a limited number of requests run at once; others wait in the order in which they arrived."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary


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
