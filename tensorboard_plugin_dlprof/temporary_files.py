"""Files without names: nothing is left of them when a process is killed. Some are used again.

Without NumPy, as ``growing`` is.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO

_TOO_LARGE = 2
"""A column takes no file that could hold as many of it."""


def temporary_file(folder: Path | None = None) -> IO[bytes]:
    """An open file without a name, in a folder or that of the system for temporary files.

    ``tempfile`` takes 3 ms to load, which an import of a small profile does without.
    """
    import tempfile

    return tempfile.TemporaryFile(dir=folder)


def temporary_folder() -> str:
    """The system's folder for temporary files."""
    import tempfile

    return tempfile.gettempdir()


class Shelf:
    """The files that no column uses."""

    def __init__(self) -> None:
        self._free: list[mmap.mmap] = []
        self._lock = threading.Lock()
        self._is_open = True

    def take(self, size_bytes: int) -> mmap.mmap | None:
        """The smallest that is large enough."""
        with self._lock:
            fitting = [file for file in self._free if size_bytes <= len(file) < _TOO_LARGE * size_bytes]
            if not fitting:
                return None
            found = min(fitting, key=len)
            self._free = [file for file in self._free if file is not found]
            return found

    def give_back(self, mapping: mmap.mmap) -> None:
        """It may be used again."""
        with self._lock:
            if self._is_open:
                self._free.append(mapping)

    def close(self) -> None:
        """Forgets all files, those that come back later too."""
        with self._lock:
            self._is_open = False
            self._free.clear()


SHELF: ContextVar[Shelf | None] = ContextVar("files of columns that are gone", default=None)


@contextmanager
def files_used_again() -> Iterator[None]:
    """What columns need files for inside, they put into files of others that are gone, where there are some."""
    shelf = Shelf()
    before = SHELF.set(shelf)
    try:
        yield
    finally:
        SHELF.reset(before)
        shelf.close()
