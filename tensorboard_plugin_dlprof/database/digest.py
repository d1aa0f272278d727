"""The SHA-256 of a database, stored inside it, because nothing else reveals random damage.

It is computed with zeros in place of the digest itself. Stored inside, it cannot be lost when the file is copied.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from io import BufferedRandom, BufferedReader
from pathlib import Path

from tensorboard_plugin_dlprof.opening.regular_file import open_regular

DIGEST_KEY = "file_sha256"
"""``ext_info.key`` of the digest."""

DIGEST_LETTERS = 64
NO_DIGEST = "0" * DIGEST_LETTERS
"""Placeholder of a database whose digest is not computed yet."""

_CHUNK_BYTES = 1 << 20


def mark(con: sqlite3.Connection) -> str:
    """Puts a random text in place of the digest, by which ``write_digest`` finds it.

    Returns:
        The text; empty for a database that stores no digest, such as a copy of NVIDIA's.
    """
    if not con.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ext_info'").fetchone():
        return ""
    text = os.urandom(DIGEST_LETTERS // 2).hex()
    changed = con.execute("UPDATE ext_info SET value = ? WHERE key = ?", (text, DIGEST_KEY)).rowcount
    return text if changed == 1 else ""


def write_digest(database: Path, marked: str) -> None:
    """Puts the digest in place of the text that ``mark`` returned. The database must be closed."""
    with database.open("r+b") as file:
        digest, places = _digest_without(file, marked)
        if len(places) == 1:
            file.seek(places[0])
            file.write(digest.encode())


def is_intact(database: Path, stored: str) -> bool:
    """Whether a file is byte for byte as it was written.

    Args:
        stored: the digest that is stored in it.

    Raises:
        NotFound: there is no such file.
        UnsafeFile: it is not a regular file, or may not be read.
        OSError: the storage fails.
    """
    if stored == NO_DIGEST or not re.fullmatch(r"[0-9a-f]{64}", stored):
        return False
    with open_regular(database) as file:
        digest, places = _digest_without(file, stored)
    return len(places) == 1 and digest == stored


def _digest_without(file: BufferedReader | BufferedRandom, text: str) -> tuple[str, list[int]]:
    """The SHA-256 of a file with zeros in place of ``text``, and the offsets of the text.

    Stops at a second occurrence, since the text then is no place for a digest.
    """
    wanted = text.encode()
    digest, places = hashlib.sha256(), []
    buffer = bytearray(_CHUNK_BYTES)
    view = memoryview(buffer)
    position = waiting = 0
    while True:
        read = file.readinto(view[waiting:])
        end = waiting + read
        while (result := buffer.find(wanted, 0, end)) >= 0:
            places.append(position + result)
            if len(places) > 1:
                return "", places
            view[result : result + len(wanted)] = NO_DIGEST.encode()
        # The text may span two chunks.
        whole = max(0, end - len(wanted) + 1) if read else end
        digest.update(view[:whole])
        position += whole
        waiting = end - whole
        view[:waiting] = bytes(view[whole:end])
        if not read:
            return digest.hexdigest(), places
