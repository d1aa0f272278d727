"""Columns of numbers that grow while a source is read: in memory as long as they may, then in temporary files.

Without NumPy, as a second process begins to read before that is loaded; ``spilling`` makes whole columns of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.temporary_files import temporary_file, temporary_folder

_SHARE_OF_COLUMNS = 8
"""Of the memory that an import may use, the columns that are being read may take an eighth: what is made of them, and
what is needed meanwhile, takes the rest."""


class Growing:
    """The growing columns of one import.

    Args:
        memory_bytes: what the import may use; ``None`` for no limit.
        folder: where the temporary files lie; ``None`` for the system's folder, which may be memory itself.
    """

    def __init__(self, memory_bytes: int | None = None, folder: Path | None = None) -> None:
        self.has_begun = False
        """Whether the columns were too long for the memory."""
        self._columns_bytes = None if memory_bytes is None else memory_bytes // _SHARE_OF_COLUMNS
        self._folder = folder
        self._files: dict[tuple[int, str], IO[bytes]] = {}
        """By the ``id`` of a table and the name of a column: its beginning."""
        self._in_memory_bytes = 0
        """Of columns that are complete."""

    def relieve(self, tables: Iterable[dict[str, Any]]) -> None:
        """Moves what was read so far to files, where all columns together take too much.

        Args:
            tables: name -> column; what is no ``array`` is left alone. The same dictionaries every time.
        """
        if self._columns_bytes is None:
            return
        growing = columns_of(tables)
        growing_bytes = sum(len(column) * column.itemsize for _, _, column in growing)
        if growing_bytes + self._in_memory_bytes > self._columns_bytes:
            self.has_begun = True
            for table, name, column in growing:
                self._append(table, name, column)

    def _append(self, table: dict[str, Any], name: str, column: array[Any]) -> None:
        key = id(table), name
        with self._written():
            if key not in self._files:
                self._files[key] = temporary_file(self._folder)
            self._files[key].write(column)
            self._files[key].flush()
        del column[:]

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputNotWritable(
                f"{self._folder or temporary_folder()}: the columns of a large profile cannot be written to "
                f"temporary files there ({reason_of(error)}); make room, or allow the import more memory."
            ) from error


def columns_of(tables: Iterable[dict[str, Any]]) -> list[tuple[dict[str, Any], str, array[Any]]]:
    """The columns that are still growing."""
    return [(table, name, column) for table in tables for name, column in table.items() if isinstance(column, array)]
