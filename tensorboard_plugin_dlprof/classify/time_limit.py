"""Interrupts a regular expression that a user wrote and that does not end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class TookTooLong(Exception):
    """The block did not end in time."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit the time of a block. Without effect on Windows and in other threads than the main one, where no signal can
    interrupt Python's regular expressions.

    Raises:
        TookTooLong: The time is over.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TookTooLong
