"""Columns of numbers in temporary files, which are used again when the columns are gone.

Aggregating ten million kernels puts eighty columns of 80 MB into files, of which a dozen live at a time. The system
takes ten times as long to find room for what is new as to let it be written over what was there.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.temporary_files import SHELF, temporary_file


class _Memory:
    """The memory of one column, as NumPy asks for it; the file is free when it, and with it the last view, is gone."""

    def __init__(self, mapping: mmap.mmap, column: npt.NDArray[Any]) -> None:
        place = np.frombuffer(mapping, np.uint8).ctypes.data
        self.__array_interface__ = {
            "version": 3,
            "shape": column.shape,
            "typestr": column.dtype.str,
            "data": (place, False),
        }
        self.mapping = mapping


_MAPPINGS: list[weakref.ref[mmap.mmap]] = []
"""Of all files that hold columns."""
_LOCK = threading.Lock()


def note(mapping: mmap.mmap) -> None:
    """Has a mapping let go of its memory with the others."""
    with _LOCK:
        _MAPPINGS.append(weakref.ref(mapping))


def let_go() -> None:
    """Lets go of the memory of all columns in files. Call it where much of them was read or written.

    Nothing is lost: what was written stays in the file, and is read again from there when it is touched.
    """
    with _LOCK:
        live = [mapping for found in _MAPPINGS if (mapping := found()) is not None]
        _MAPPINGS[:] = map(weakref.ref, live)
    if hasattr(mmap, "MADV_DONTNEED"):  # Linux: a shared mapping keeps what was written to it
        for mapping in live:
            mapping.madvise(mmap.MADV_DONTNEED)


_MUCH_BYTES = 256 << 20
_MEMORY_OF_PROCESS = Path("/proc/self/statm")


def let_go_of_much() -> None:
    """``let_go`` where what lies in files takes much of the memory: to read it again takes time."""
    try:
        in_files = int(_MEMORY_OF_PROCESS.read_bytes().split()[2]) * mmap.PAGESIZE
    except OSError:  # not Linux
        return
    if in_files > _MUCH_BYTES:
        let_go()


def in_file(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy of a contiguous column, in a file."""
    shelf = SHELF.get()
    mapping = shelf.take(column.nbytes) if shelf is not None else None
    is_new = mapping is None
    if mapping is None:
        with temporary_file() as file:
            # Written, not mapped: a mapping of a full disk would kill the process.
            column.tofile(file)
            file.flush()
            mapping = mmap.mmap(file.fileno(), column.nbytes)
            note(mapping)
    memory = _Memory(mapping, column)
    if shelf is not None:
        weakref.finalize(memory, shelf.give_back, mapping).atexit = False
    kept = np.asarray(memory)
    if not is_new:
        np.copyto(kept, column)
    return kept


def is_in_file(column: npt.NDArray[Any]) -> bool:
    """Whether a column, or what it is a view of, lies in a file already."""
    base: Any = column
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, (_Memory, np.memmap))
