"""A lock that lets only one process at a time replace a database by a changed copy of it.

Whoever may read a folder may lock it too, so nobody waits for long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.errors import QueueFull
from tensorboard_plugin_dlprof.opening.regular_file import shown

PATIENCE_S = 60.0
"""A database is replaced within a second; what holds the lock for longer is something else."""

_PAUSE_S = 0.05


@contextmanager
def exclusive(folder: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Run the block while no other process runs such a block for the same folder; waits for others, but not for long.

    The lock is on the folder itself, so no file is left behind, and the system releases it if the process ends. If the
    system or the storage does not support such locks (Windows, some network file systems), there is no waiting.

    Raises:
        QueueFull: Another process holds the lock all the time.
    """
    with ExitStack() as stack:
        try:
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            end = time.monotonic() + patience_s
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise QueueFull(
                            f"{shown(folder)} is locked by another process, for more than {patience_s:.0f} seconds; "
                            "end what locks it, or try again later."
                        ) from None
                    time.sleep(_PAUSE_S)
        except (ImportError, OSError):
            pass
        yield
