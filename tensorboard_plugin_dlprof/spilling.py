"""Long columns of numbers lie in memory as long as they may, then in temporary files.

What lies in a file is a shared mapping of it: the system writes it out and forgets it when it needs the memory, and
reads it again when it is touched. The files have no names, so nothing is left of them when a process is killed.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import IO, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.growing import Growing, columns_of
from tensorboard_plugin_dlprof.mapped_files import in_file, is_in_file, let_go, note
from tensorboard_plugin_dlprof.temporary_files import temporary_file

_SMALL_BYTES = 1 << 20
"""Shorter columns stay in memory."""

LONG_BYTES = 32 << 20
"""Columns that a profile is read into and aggregated to lie in files from here on: four million numbers. A mapping of
a file does not count towards the memory that a process may claim."""

_Column = TypeVar("_Column", bound=npt.NDArray[Any])


class Spill(Growing):
    """The columns of one import, also those that grow no more."""

    @classmethod
    def of(cls, growing: Growing) -> Spill:
        """That of an import whose columns grew elsewhere; nothing more may grow there."""
        spill = cls()
        vars(spill).update(vars(growing))
        return spill

    def complete(self, tables: Iterable[dict[str, Any]]) -> None:
        """Puts whole columns in the places of those that grew, be they in memory or in files."""
        for table, name, column in columns_of(tables):
            if (id(table), name) in self._files:
                self._append(table, name, column)
                with self._files.pop((id(table), name)) as file:
                    size = file.tell() // column.itemsize
                    table[name] = self._mapped(file, column.typecode, size) if size else np.zeros(0, column.typecode)
            else:
                self._in_memory_bytes += len(column) * column.itemsize
                table[name] = np.asarray(column)

    def empty(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A column to be filled, in a file once there are files."""
        return np.empty(count, dtype) if self._fits(count, dtype) else self.zeros(count, dtype)

    def zeros(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A column of zeros. What is not written to takes no room, wherever it lies."""
        kind = np.dtype(dtype)
        if self._fits(count, kind):
            return np.zeros(count, kind)
        with self._written(), temporary_file(self._folder) as file:
            _reserve(file, count * kind.itemsize)
            return self._mapped(file, kind, count)

    def keep(self, *tables: Any) -> None:
        """Moves long columns of tables (structs) to files, once there are files."""
        if not self.has_begun:
            return
        for table in tables:
            for name in table.__struct_fields__:
                column = getattr(table, name)
                if isinstance(column, np.ndarray) and column.flags.owndata and column.nbytes >= _SMALL_BYTES:
                    kept = self.empty(column.size, column.dtype).reshape(column.shape)
                    kept[...] = column
                    setattr(table, name, kept)
                    self.rest()
        self.rest()

    def rest(self) -> None:
        """Lets go of the memory of what lies in files. Call it where much of it was read or written."""
        if self.has_begun:
            let_go()

    def _fits(self, count: int, dtype: npt.DTypeLike) -> bool:
        return not self.has_begun or count * np.dtype(dtype).itemsize < _SMALL_BYTES

    def _mapped(self, file: IO[bytes], dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        file.flush()
        mapping = mmap.mmap(file.fileno(), 0)
        note(mapping)
        return np.frombuffer(mapping, dtype, count)


def _reserve(file: IO[bytes], size_bytes: int) -> None:
    """Takes the room on the disk now: a mapping of a full disk would kill the process that writes to it."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size_bytes)
    else:
        file.truncate(size_bytes)


def spilled(column: _Column) -> _Column:
    """A whole column, in a file where it is long."""
    if column.nbytes < LONG_BYTES or not column.flags.c_contiguous or is_in_file(column):
        return column
    return cast(_Column, in_file(column))


def keep_columns(table: Any) -> None:
    """Moves the long columns of a table (a struct) to files."""
    for name in table.__struct_fields__:
        column = getattr(table, name)
        if isinstance(column, np.ndarray):
            setattr(table, name, spilled(column))


def joined(chunks: Iterable[npt.NDArray[np.int64]], columns: int) -> list[npt.NDArray[np.int64]]:
    """The columns of chunks of rows, in files where they are long."""
    waiting: list[npt.NDArray[np.int64]] = []
    held = 0
    files: list[IO[bytes]] = []
    with ExitStack() as opened:
        for chunk in chunks:
            waiting.append(chunk)
            held += chunk.nbytes
            if held >= LONG_BYTES * columns:
                if not files:
                    files = [opened.enter_context(temporary_file()) for _ in range(columns)]
                _write(files, waiting)
                waiting, held = [], 0
        if not files:
            whole = np.concatenate(waiting) if waiting else np.zeros((0, columns), np.int64)
            return [np.ascontiguousarray(whole[:, column]) for column in range(columns)]
        _write(files, waiting)
        return [np.memmap(file, np.int64, "r+").view(np.ndarray) for file in files]


def _write(files: list[IO[bytes]], chunks: list[npt.NDArray[np.int64]]) -> None:
    for chunk in chunks:
        for column, file in enumerate(files):
            np.ascontiguousarray(chunk[:, column]).tofile(file)
