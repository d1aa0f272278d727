"""Walks the B-trees of an SQLite file: a page that two pages claim as a child would be read twice.

Pages that share children make half a megabyte count as 10^20 rows, over which no statement ends. SQLite does not
notice. A tree whose pages are each met once has no more rows than its pages hold.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from typing import BinaryIO

from tensorboard_plugin_dlprof.opening.sqlite_header import BadHeader

MOST_PAGES = 100_000
"""Pages that are walked. In a larger file a lie multiplies little, and the limit of time ends what reads it."""

_MOST_KNOWN = 1_000
_LEAVES = (0x0D, 0x0A)
_INTERIORS = (0x05, 0x02)
_DAMAGED = "is damaged: two of its pages lead to the same page; copy it again, or make it again"

Identity = tuple[int, int, int, int, int]

_known: dict[Identity, None] = {}
"""Files whose trees were walked, the latest last. Nobody can set their times of change: a rewritten file is another."""


def check_trees(file: BinaryIO, roots: Iterable[int]) -> None:
    """Refuse a file in whose trees a page is met twice.

    Args:
        file: The file.
        roots: The root pages of its tables and indexes.

    Raises:
        BadHeader: The file is refused, with the reason.
        OSError: The file cannot be read.
    """
    status = os.fstat(file.fileno())
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if identity in _known:
        return
    stated = int.from_bytes(_read(file, 16, 2), "big")
    _walk(file, 65_536 if stated == 1 else stated, status.st_size, roots)
    while len(_known) >= _MOST_KNOWN:
        _known.pop(next(iter(_known)), None)
    _known[identity] = None


def _walk(file: BinaryIO, page_bytes: int, size_bytes: int, roots: Iterable[int]) -> None:
    waiting = list(roots)
    visited = set(waiting)
    if len(visited) < len(waiting):
        raise BadHeader(_DAMAGED)
    last = size_bytes // page_bytes
    while waiting and len(visited) <= MOST_PAGES:
        number = waiting.pop()
        if not 1 <= number <= last:
            raise BadHeader("is damaged: it refers to a page that it does not have; copy it again, or make it again")
        begin = (number - 1) * page_bytes
        start = 100 if number == 1 else 0
        head = _read(file, begin + start, 12)
        if len(head) < 12 or head[0] in _LEAVES:
            continue
        if head[0] not in _INTERIORS:
            raise BadHeader("is damaged: a page of it is of no known kind; copy it again, or make it again")
        children = _children(_read(file, begin, page_bytes), start, head)
        visited_before = len(visited)
        visited.update(children)
        if len(visited) < visited_before + len(children):
            raise BadHeader(_DAMAGED)
        waiting += children


def _read(file: BinaryIO, begin: int, size: int) -> bytes:
    file.seek(begin)
    return file.read(size)


def _children(page: bytes, start: int, head: bytes) -> list[int]:
    cells = int.from_bytes(head[3:5], "big")
    pointers = page[start + 12 : start + 12 + 2 * cells]
    offsets = struct.unpack(f">{len(pointers) // 2}H", pointers[: len(pointers) // 2 * 2])
    children = [int.from_bytes(page[offset : offset + 4], "big") for offset in offsets]
    return [*children, int.from_bytes(head[8:12], "big")]
