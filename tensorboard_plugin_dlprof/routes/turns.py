"""Turns: some questions at once, the others one after the other in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A semaphore that hands its places over to who has waited longest.

    One of the standard library lets whoever comes just then go first, so some wait several times as long as others.

    Args:
        places: How many have their turn at once.
        seconds: How long one waits for it.
    """

    def __init__(self, places: int, seconds: float) -> None:
        self._lock = threading.Lock()
        self._free = places
        self.seconds = seconds
        self._waiting: deque[threading.Lock] = deque()

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Waits for its turn, and has it while the block runs; false where it waited too long."""
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
        # It was called at the last moment.
        return True

    def _hand_over(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


class TurnsByQuestion:
    """One after the other of those who ask the same; all but the first find its answer then.

    Args:
        seconds: How long one waits for the others.
    """

    def __init__(self, seconds: float) -> None:
        self._lock = threading.Lock()
        self._seconds = seconds
        self._asked: dict[str, tuple[Turns, int]] = {}
        """Each with the number of those who ask it, or wait to."""

    @contextmanager
    def turn(self, question: str) -> Iterator[bool]:
        """Waits for its turn, and has it while the block runs; false where it waited too long."""
        with self._lock:
            turns, number = self._asked.get(question) or (Turns(1, self._seconds), 0)
            self._asked[question] = turns, number + 1
        try:
            with turns.turn() as has_turn:
                yield has_turn
        finally:
            with self._lock:
                turns, number = self._asked.pop(question)
                if number > 1:
                    self._asked[question] = turns, number - 1
