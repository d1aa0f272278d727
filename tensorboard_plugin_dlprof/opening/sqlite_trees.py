"""Walks the B-trees of an SQLite file: a page that two pages claim as a child would be read twice.

Pages that share children make half a megabyte count as 10^20 rows, over which no statement ends. SQLite does not
notice. A tree whose pages are each met once has no more rows than its pages hold.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import BinaryIO

from tensorboard_plugin_dlprof.opening.sqlite_header import BadHeader

_MOST_KNOWN = 1_000
_LEAVES = (b"\x0d", b"\x0a")
_INTERIORS = (b"\x05", b"\x02")
_DAMAGED = "is damaged: two of its pages lead to the same page; copy it again, or make it again"

_Read = Callable[[int, int], bytes]
"""Reads so many bytes from an offset on."""

Identity = tuple[int, int, int, int, int]

_known: dict[Identity, None] = {}
"""Files whose trees were walked, the latest last. Nobody can set their times of change: a rewritten file is another."""


def check_trees(file: BinaryIO, roots: Iterable[int]) -> None:
    """Refuse a file in whose trees a page is met twice.

    Args:
        roots: The root pages of its tables and indexes.

    Raises:
        BadHeader: The file is refused, with the reason.
        OSError: The file cannot be read.
    """
    status = os.fstat(file.fileno())
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if identity in _known:
        return
    read = _reads(file)
    stated = int.from_bytes(read(2, 16), "big")
    _walk(read, 65_536 if stated == 1 else stated, status.st_size, roots)
    while len(_known) >= _MOST_KNOWN:
        _known.pop(next(iter(_known)), None)
    _known[identity] = None


def _walk(read: _Read, page_bytes: int, size_bytes: int, roots: Iterable[int]) -> None:
    last = size_bytes // page_bytes
    waiting: list[int] = []
    met: set[int] = set()

    def meet(pages: Sequence[int]) -> None:
        before = len(met)
        met.update(pages)
        if len(met) < before + len(pages):
            raise BadHeader(_DAMAGED)
        if pages and not 1 <= min(pages) <= max(pages) <= last:
            raise BadHeader("is damaged: it refers to a page that it does not have; copy it again, or make it again")
        # Most pages are leaves, of which no more is read than their kind.
        waiting.extend([page for page in pages if read(1, (page - 1) * page_bytes) not in _LEAVES])

    meet(list(roots))
    while waiting:
        page = read(page_bytes, (waiting.pop() - 1) * page_bytes)
        if page[:1] not in _INTERIORS:
            raise BadHeader("is damaged: a page of it is of no known kind; copy it again, or make it again")
        meet(_children(page))


def _reads(file: BinaryIO) -> _Read:
    if hasattr(os, "pread"):  # A buffered file would read, and throw away, much more.
        return partial(os.pread, file.fileno())

    def read(size: int, begin: int) -> bytes:
        file.seek(begin)
        return file.read(size)

    return read


def _children(page: bytes) -> list[int]:
    cells = int.from_bytes(page[3:5], "big")
    pointers = page[12 : 12 + 2 * cells]
    offsets = struct.unpack(f">{len(pointers) // 2}H", pointers[: len(pointers) // 2 * 2])
    children = [int.from_bytes(page[offset : offset + 4], "big") for offset in offsets]
    return [*children, int.from_bytes(page[8:12], "big")]
