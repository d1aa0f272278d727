"""The SHA-256 of a database, kept inside it: random damage of a file is visible to nothing else.

The digest is that of the file with zeros in the place of the digest itself. No second file has to be copied along.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sqlite3
from pathlib import Path
from typing import BinaryIO

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
    text = secrets.token_hex(DIGEST_LETTERS // 2)
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
    if stored == NO_DIGEST or not re.fullmatch(r"[0-9a-f]{64}", stored):
        return False
    with open_regular(database) as file:
        digest, places = _digest_without(file, stored)
    return len(places) == 1 and digest == stored


def _digest_without(file: BinaryIO, text: str) -> tuple[str, list[int]]:
    """The SHA-256 of a file with zeros in place of a text, and where the text stood; gives up at the second place."""
    wanted = text.encode()
    digest, places = hashlib.sha256(), []
    waiting, position = bytearray(), 0
    while True:
        chunk = file.read(_CHUNK_BYTES)
        waiting += chunk
        while (found := waiting.find(wanted)) >= 0:
            places.append(position + found)
            if len(places) > 1:
                return "", places
            waiting[found : found + len(wanted)] = NO_DIGEST.encode()
        # The text may lie across two chunks.
        whole = len(waiting) - len(wanted) + 1 if chunk else len(waiting)
        if whole > 0:
            digest.update(waiting[:whole])
            position += whole
            del waiting[:whole]
        if not chunk:
            return digest.hexdigest(), places
