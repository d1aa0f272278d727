"""Checks of an SQLite file without SQLite, which reject most bad files within a millisecond.

SQLite itself opens a file without its last page and returns rows of NULLs from it, and it reads the whole schema before
its first statement can be interrupted. File format: https://sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from typing import BinaryIO

import msgspec

MAGIC = b"SQLite format 3\x00"

MOST_SCHEMA_OBJECTS = 2_000
"""Real files have 111 (DLProf) or up to 90 (Nsight Systems); so many views can be put into a file that the first
statement never ends."""

_LEAF, _INTERIOR = 0x0D, 0x05
_FILE_HEADER_BYTES = 100


class BadHeader(Exception):
    """The file is refused; the message completes a sentence that begins with the file's name."""


class Header(msgspec.Struct, frozen=True):
    """Page size and number of pages according to the header."""

    page_bytes: int
    pages: int


def check(file: BinaryIO, size_bytes: int) -> None:
    """Refuse a file that is not an SQLite 3 database, is incomplete, or has too large a schema.

    Args:
        file: The file, at its start.

    Raises:
        BadHeader: The file is refused, with the reason.
        OSError: The file cannot be read.
    """
    header = _header(file.read(_FILE_HEADER_BYTES))
    if header.pages * header.page_bytes != size_bytes:
        raise BadHeader("is truncated or still being written; wait until it is complete, or make it again")
    if _schema_objects(file, header) > MOST_SCHEMA_OBJECTS:
        raise BadHeader(f"has more than {MOST_SCHEMA_OBJECTS:,} schema objects, which no profile has")


def _header(first: bytes) -> Header:
    if len(first) < _FILE_HEADER_BYTES or not first.startswith(MAGIC):
        raise BadHeader("is not an SQLite 3 database")
    (stated,) = struct.unpack_from(">H", first, 16)
    page_bytes = 65_536 if stated == 1 else stated
    if page_bytes < 512 or page_bytes & (page_bytes - 1):
        raise BadHeader("is damaged: its page size is not a power of two")
    (pages,) = struct.unpack_from(">I", first, 28)
    return Header(page_bytes, pages)


def _schema_objects(file: BinaryIO, header: Header) -> int:
    """Number of rows in the schema table, counted in its B-tree; stops early above the limit."""
    objects = 0
    waiting, visited = [1], {1}
    while waiting and objects <= MOST_SCHEMA_OBJECTS:
        number = waiting.pop()
        page = _page(file, header, number)
        start = _FILE_HEADER_BYTES if number == 1 else 0
        kind, cells = page[start], int.from_bytes(page[start + 3 : start + 5], "big")
        if kind == _LEAF:
            objects += cells
        elif kind == _INTERIOR:
            children = _children(page, start, cells)
            if visited.intersection(children) or len(visited) + len(children) > 2 * MOST_SCHEMA_OBJECTS:
                raise BadHeader("is damaged: its schema cannot be read; make it again")
            visited.update(children)
            waiting.extend(children)
        else:
            raise BadHeader("is damaged: its schema cannot be read; make it again")
    return objects


def _children(page: bytes, start: int, cells: int) -> list[int]:
    """Numbers of the child pages of an interior page; 0 if the page is damaged, which ``_page`` refuses."""
    pointers = page[start + 12 : start + 12 + 2 * cells]
    offsets = struct.unpack(f">{len(pointers) // 2}H", pointers[: len(pointers) // 2 * 2])
    children = [int.from_bytes(page[offset : offset + 4], "big") for offset in offsets]
    children.append(int.from_bytes(page[start + 8 : start + 12], "big"))
    return children


def _page(file: BinaryIO, header: Header, number: int) -> bytes:
    if not 1 <= number <= header.pages:
        raise BadHeader("is damaged: its schema cannot be read; make it again")
    file.seek((number - 1) * header.page_bytes)
    page = file.read(header.page_bytes)
    if len(page) != header.page_bytes:
        raise BadHeader("is truncated or still being written; wait until it is complete, or make it again")
    return page
