"""One process at a time puts a database in place of another that it was made from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Wait until no other process is inside of such a block for the folder.

    The lock is on the folder itself, so no file is left behind, and it goes with the process that holds it. Where the
    system or its storage has no such locks (Windows, some network file systems), nobody waits.
    """
    with ExitStack() as stack:
        try:
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass
        yield
