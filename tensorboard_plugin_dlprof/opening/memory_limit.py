"""Limits the memory of this process, for code whose need only the content of an untrusted file decides, and refuses to
begin with too little."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.units import size

_LEAST_BYTES = 160 << 20
"""Of addresses: with less, the libraries below NumPy end the process with words of their own."""

_STATM = Path("/proc/self/statm")
_DATA = 5
"""Place of the size of the data in ``statm``, in pages."""


@contextmanager
def limited_memory(more_bytes: int) -> Iterator[None]:
    """In the block, allocating more than so many bytes raises ``MemoryError``; a limit of the process itself stays.

    Only Linux has such a limit, elsewhere nothing happens.
    """
    if sys.platform != "linux":
        yield
        return
    import resource  # not everywhere

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        used = int(_STATM.read_text().split()[_DATA]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        yield
        return
    limit = used + more_bytes
    bounds = [each for each in (soft, hard, limit) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def refuse_too_little() -> None:
    """Check that the limit of addresses of this process (``ulimit -v``) lets NumPy be loaded.

    Raises:
        ProfileError: It does not.
    """
    if sys.platform == "win32":
        return
    import resource  # not everywhere

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_BYTES:
        raise ProfileError(
            f"This process may use {size(limit)} of memory (ulimit -v); allow {size(_LEAST_BYTES)} or more."
        )
