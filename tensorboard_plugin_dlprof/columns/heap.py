"""Gives memory that was freed back to the system.

glibc keeps what lies between blocks in use, which after large columns came and went is more than all columns there are.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release_freed() -> None:
    """Give freed memory back, where the C library can; it takes milliseconds. Call it after a stage of an import."""
    _trim()(0)


@cache
def _trim() -> Callable[[int], int]:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    return trim or (lambda _padding: 0)
