"""Columns of numbers: in memory while they are short, in temporary files when they are long.

A column in a file is a shared mapping of it: the system writes its pages to the file and drops them when it needs
memory, and reads them again on access. The files have no names, so nothing is left of them if a process is killed.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.errors import OutputNotWritable, reason_of
from tensorboard_plugin_dlprof.opening.allowance import spend_bytes

LONG_BYTES: Final = 1 << 19
"""Size from which a column that no import's store makes is in a file: 64 thousand numbers."""

_COLUMNS: Final = 64
"""A column of this share of an import's memory is long: about as many columns are there at the same time."""

_MUCH_BYTES: Final = 64 << 20
"""Size of the columns in files from which memory is given back after the stages of an import. Taking it anew costs a
fifteenth of the processor time of an import of 200 or 400 MB, which needs 15 or 20 MB less by it
(``benchmarks/importing.py``)."""

_Column = TypeVar("_Column", bound=npt.NDArray[Any])

_mappings: weakref.WeakSet[Any] = weakref.WeakSet()
"""The mappings of all columns in files."""


class ColumnStore:
    """Makes the columns of one import.

    Args:
        memory_bytes: Memory that the import may use.
        folder: Folder for the temporary files; ``None`` for the system's folder, which may itself be in memory.
    """

    def __init__(self, memory_bytes: int = LONG_BYTES * _COLUMNS, folder: Path | None = None) -> None:
        self.long_bytes: Final = memory_bytes // _COLUMNS
        self._folder = folder

    def empty(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A new column with undefined values.

        Raises:
            OutputNotWritable: The folder of temporary files is full or read-only.
        """
        return np.empty(count, dtype) if self._is_short(count, dtype) else self.zeros(count, dtype)

    def zeros(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A new column of zeros.

        Raises:
            OutputNotWritable: The folder of temporary files is full or read-only.
        """
        if self._is_short(count, dtype):
            return np.zeros(count, dtype)
        with self.explained(), self.temporary_file() as file:
            size_bytes = count * np.dtype(dtype).itemsize
            spend_bytes(size_bytes)
            if hasattr(os, "posix_fallocate"):  # Writing to a mapping on a full disk would kill the process.
                os.posix_fallocate(file.fileno(), 0, size_bytes)
            else:
                file.truncate(size_bytes)
            return _mapped(file, dtype, count)

    def keep(self, column: _Column) -> _Column:
        """The column: read-only and in the memory of one row if all rows are equal, in a file if it is long."""
        if not isinstance(column, np.ndarray) or not _has_memory(column):
            return column
        if _are_equal(column):
            return np.broadcast_to(column[:1].copy(), column.shape)  # type: ignore[return-value]
        if self._is_short(column.size, column.dtype):
            return column
        # Written to the file, not through its mapping, the column is not in memory twice.
        with self.explained(), self.temporary_file() as file:
            spend_bytes(column.nbytes)
            file.write(np.ascontiguousarray(column).data.cast("B"))
            file.flush()
            return _mapped(file, column.dtype, column.size).reshape(column.shape)  # type: ignore[return-value]

    def keep_tables(self, *tables: msgspec.Struct) -> None:
        """``keep`` the columns of tables (structs)."""
        for table in tables:
            for name in table.__struct_fields__:
                column = getattr(table, name)
                if isinstance(column, np.ndarray):
                    setattr(table, name, self.keep(column))

    def growing(self, typecode: str) -> GrowingColumn:
        """A new column without values, whose type is that of ``array``."""
        return GrowingColumn(self, typecode)

    def temporary_file(self) -> IO[bytes]:
        """An open file without a name.

        Raises:
            OutputNotWritable: The folder of temporary files is full or read-only.
        """
        with self.explained():
            return tempfile.TemporaryFile(dir=self._folder)

    def _is_short(self, count: int, dtype: npt.DTypeLike) -> bool:
        return count * np.dtype(dtype).itemsize < max(self.long_bytes, 1)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raises ``OutputNotWritable`` for an ``OSError`` in the block."""
        try:
            yield
        except OSError as error:
            raise OutputNotWritable(
                f"{self._folder or tempfile.gettempdir()}: the columns of a large profile cannot be written to "
                f"temporary files there ({reason_of(error)}); make room, or allow the import more memory."
            ) from error


class GrowingColumn:
    """A column that grows batch by batch."""

    def __init__(self, store: ColumnStore, typecode: str) -> None:
        self._store = store
        self._recent: array[Any] = array(typecode)
        """The values that are not in the file."""
        self._dtype = np.dtype(f"{np.dtype(typecode).kind}{self._recent.itemsize}")
        self._file: IO[bytes] | None = None
        self._in_file = 0

    def __len__(self) -> int:
        return self._in_file + len(self._recent)

    def extend(self, values: list[Any]) -> None:
        """Append Python numbers; nothing is appended where one does not fit.

        Raises:
            TypeError: A value is not a number of the column's type.
            OverflowError: A value does not fit the column.
        """
        self._recent.fromlist(values)
        self._spill()

    def append(self, values: npt.NDArray[Any] | bytes) -> None:
        """Append an array of the column's type, or its bytes."""
        self._recent.frombytes(values if isinstance(values, bytes) else np.ascontiguousarray(values).data.cast("B"))
        self._spill()

    def whole(self) -> npt.NDArray[Any]:
        """The complete column. Nothing can be appended afterwards."""
        if self._file is None:
            return np.frombuffer(self._recent, self._dtype)
        with self._file as file:
            self._flush(file)
            return _mapped(file, self._dtype, self._in_file)

    def _spill(self) -> None:
        if len(self._recent) * self._recent.itemsize > self._store.long_bytes:
            if self._file is None:
                self._file = self._store.temporary_file()
            with self._store.explained():
                self._flush(self._file)

    def _flush(self, file: IO[bytes]) -> None:
        spend_bytes(len(self._recent) * self._recent.itemsize)
        file.write(self._recent)
        file.flush()
        self._in_file += len(self._recent)
        del self._recent[:]


def spilled(column: _Column) -> _Column:
    """``ColumnStore.keep``, with files in the system's folder."""
    return _DEFAULT.keep(column)


def spill_columns(table: msgspec.Struct) -> None:
    """``spilled`` for the columns of a table."""
    _DEFAULT.keep_tables(table)


def joined(chunks: Iterable[npt.NDArray[np.int64]], columns: int) -> list[npt.NDArray[np.int64]]:
    """Concatenate chunks of rows, of shape (any, ``columns``), and return the columns."""
    whole = [_DEFAULT.growing("q") for _ in range(columns)]
    for chunk in chunks:
        for position, column in enumerate(whole):
            column.append(chunk[:, position])
    return [column.whole() for column in whole]


def release_pages() -> bool:
    """Release the memory of columns in files, if it is much. Call it after reading or writing many of them.

    No data is lost: it is in the files, and is read from there again when it is accessed.

    Returns:
        Whether it is much.
    """
    live = list(_mappings)
    is_much = sum(map(len, live)) > _MUCH_BYTES
    if is_much and hasattr(mmap, "MADV_DONTNEED"):  # On Linux, a shared mapping does not lose written data by this.
        for mapping in live:
            mapping.madvise(mmap.MADV_DONTNEED)
    return is_much


def _has_memory(column: npt.NDArray[Any]) -> bool:
    """Whether the column is all of some memory of its own, also by another shape, as what ``flatnonzero`` returns."""
    owner = column if column.base is None else column.base
    return isinstance(owner, np.ndarray) and owner.flags.owndata and owner.nbytes == column.nbytes


def _are_equal(column: npt.NDArray[Any]) -> bool:
    """Whether all rows are equal, of which there are several: the process, mostly the device, what is not recorded."""
    return len(column) > 1 and bool((column[0] == column[-1]).all() and (column == column[0]).all())


def _mapped(file: IO[bytes], dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
    if not count:
        return np.zeros(0, dtype)
    mapping = mmap.mmap(file.fileno(), 0)
    _mappings.add(mapping)
    return np.frombuffer(mapping, dtype, count)


_DEFAULT: Final = ColumnStore()


def release_freed() -> None:
    """Give freed memory back, where the C library can, and the pages of columns in files, if these are much; it takes
    milliseconds. Call it after a stage of an import.

    glibc keeps what lies between blocks in use, which after large columns came and went is more than all columns there
    are.
    """
    if release_pages():
        _trim()(0)


@cache
def _trim() -> Callable[[int], int]:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    return trim or (lambda _padding: 0)
