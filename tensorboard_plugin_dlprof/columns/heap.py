"""Gives memory that was freed back to the system.

glibc keeps what lies between blocks in use, which after large columns came and went is more than all columns there are.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

from tensorboard_plugin_dlprof.columns.store import release_pages


def release_freed() -> None:
    """Give freed memory back, where the C library can, and the pages of columns in files; it takes milliseconds. Call
    it after a stage of an import."""
    release_pages()
    _trim()(0)


@cache
def _trim() -> Callable[[int], int]:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    return trim or (lambda _padding: 0)
