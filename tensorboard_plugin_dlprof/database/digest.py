"""The SHA-256 of a database, kept inside it: random damage of a file is visible to nothing else.

The digest is that of the file with zeros in the place of the digest itself. No second file has to be copied along.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable
from io import BufferedRandom, BufferedReader
from pathlib import Path

from tensorboard_plugin_dlprof.opening.regular_file import open_regular

DIGEST_KEY = "file_sha256"
"""Of ``ext_info``."""

DIGEST_LETTERS = 64
NO_DIGEST = "0" * DIGEST_LETTERS

_CHUNK_BYTES = 1 << 20


def mark(con: sqlite3.Connection) -> str:
    """Puts a text that occurs nowhere else in the place of the digest; empty where the database has no such place."""
    if not con.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ext_info'").fetchone():
        return ""
    text = os.urandom(DIGEST_LETTERS // 2).hex()
    changed = con.execute("UPDATE ext_info SET value = ? WHERE key = ?", (text, DIGEST_KEY)).rowcount
    return text if changed == 1 else ""


def write_digest(database: Path, marked: str) -> None:
    """Puts the digest in the place of the mark, in a closed database."""
    with database.open("r+b") as file:
        digest, places = _digest_without(file, marked)
        if len(places) == 1:
            file.seek(places[0])
            file.write(digest.encode())


def is_intact(database: Path, stored: str) -> bool:
    """Whether the file is byte for byte as it was written, given the digest that it holds.

    Raises:
        NotFound: there is no such file.
        UnsafeFile: it is not a regular file, or may not be read.
        OSError: the storage fails.
    """
    with open_regular(database) as file:
        return holds_digest(file, stored)


def holds_digest(
    file: BufferedReader | BufferedRandom, stored: str, hand_on: Callable[[memoryview], object] | None = None
) -> bool:
    """``is_intact`` of an open file.

    Args:
        file: at its beginning.
        stored: the digest that it holds.
        hand_on: gets what is read, all of it where the file is intact.
    """
    if stored == NO_DIGEST or not re.fullmatch(r"[0-9a-f]{64}", stored):
        return False
    digest, places = _digest_without(file, stored, hand_on)
    return len(places) == 1 and digest == stored


def _digest_without(
    file: BufferedReader | BufferedRandom, text: str, hand_on: Callable[[memoryview], object] | None = None
) -> tuple[str, list[int]]:
    """The SHA-256 of a file with zeros in place of a text, and where the text stood; gives up at the second place."""
    wanted = text.encode()
    digest, places = hashlib.sha256(), []
    buffer = bytearray(_CHUNK_BYTES)
    view = memoryview(buffer)
    position = waiting = 0
    while True:
        read = file.readinto(view[waiting:])
        end = waiting + read
        if hand_on is not None:
            hand_on(view[waiting:end])
        while (found := buffer.find(wanted, 0, end)) >= 0:
            places.append(position + found)
            if len(places) > 1:
                return "", places
            view[found : found + len(wanted)] = NO_DIGEST.encode()
        # The text may lie across two chunks.
        whole = max(0, end - len(wanted) + 1) if read else end
        digest.update(view[:whole])
        position += whole
        waiting = end - whole
        view[:waiting] = bytes(view[whole:end])
        if not read:
            return digest.hexdigest(), places
