"""Columns of millions of rows that lie in temporary files: the system keeps in memory what there is room for.

A file that is mapped does not count towards the memory that a process may claim, so a profile of ten million kernels
can be aggregated within a limit that its columns alone would exceed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

LARGE_BYTES = 16 << 20
"""Smaller columns stay in memory."""

_Column = TypeVar("_Column", bound=npt.NDArray[Any])


def spilled(column: _Column) -> _Column:
    """The column, in a temporary file of its own where it is large; the file goes when the column does."""
    if column.nbytes < LARGE_BYTES or not column.flags.c_contiguous:
        return column
    with tempfile.TemporaryFile(prefix="dlprof-") as file:
        column.tofile(file)
        return np.memmap(file, column.dtype, "r+", shape=column.shape).view(np.ndarray)  # type: ignore[return-value]


def joined(chunks: Iterable[npt.NDArray[np.int64]], columns: int) -> list[npt.NDArray[np.int64]]:
    """The columns of chunks of rows, each in a temporary file where there are many rows."""
    waiting: list[npt.NDArray[np.int64]] = []
    held = 0
    files: list[IO[bytes]] = []
    with ExitStack() as opened:
        for chunk in chunks:
            waiting.append(chunk)
            held += chunk.nbytes
            if held >= LARGE_BYTES * columns:
                if not files:
                    files = [opened.enter_context(tempfile.TemporaryFile(prefix="dlprof-")) for _ in range(columns)]
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
