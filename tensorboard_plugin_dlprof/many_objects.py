"""Memory that is handled as the making of millions of small objects wants it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

_KEPT_BYTES = 16 << 20

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
"""Of ``mallopt`` in glibc's malloc.h."""

_SETTINGS = {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_", "GLIBC_TUNABLES"}
"""By which users choose for themselves."""


@contextmanager
def memory_for_millions() -> Iterator[None]:
    """What is made inside by the million never refers to itself, so nobody looks for what does: a tenth of the time.

    And what is freed stays at hand.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    _keep_some_freed_memory()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@cache
def _keep_some_freed_memory() -> None:
    """glibc gives it back to the system at once, to ask for it again for the next piece of a file, which can take half
    of the time; after it has seen a large block come and go it keeps that much.

    Nobody writes to that block, so the first one costs nothing; glibc itself would fill the next with zeros.
    """
    bytes(_KEPT_BYTES)


def keep_freed_memory() -> None:
    """Lets glibc keep what is freed for what comes next, until the process ends; other libraries do as they like.

    Columns of ten million rows would be fetched from the system anew for every step, which clears them first: a sixth
    of the time of aggregating, for 3 % more memory.
    """
    if sys.platform != "linux" or _SETTINGS & os.environ.keys():
        return
    import ctypes

    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, 2**31 - 1)
