"""Identifies the file that a database was made from."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.opening.regular_file import open_regular, shown

_SAMPLE_BYTES = 1 << 20


class SourceIdentity(msgspec.Struct, frozen=True):
    """A source file at the time of its import."""

    name: str
    """File name without its folder, as text that SQLite can store."""
    size_bytes: int
    mtime_ns: int
    """Time of the last change, nanoseconds since 1970."""
    fingerprint: str
    """SHA-256 over the size and the first and last MiB; reading a large trace whole would take a minute. Unlike the
    time of the last change, it survives copying to another machine."""


def identify(source: Path) -> SourceIdentity:
    """Name, size, time and fingerprint of a file.

    Raises:
        NotFound: there is no such file.
        UnsafeFile: it is not a regular file, or may not be read.
    """
    with open_regular(source) as file:
        status = os.fstat(file.fileno())
        digest = hashlib.sha256(str(status.st_size).encode())
        digest.update(file.read(_SAMPLE_BYTES))
        if status.st_size > 2 * _SAMPLE_BYTES:
            file.seek(-_SAMPLE_BYTES, os.SEEK_END)
        digest.update(file.read(_SAMPLE_BYTES))
    return SourceIdentity(shown(Path(source.name)), status.st_size, status.st_mtime_ns, digest.hexdigest())
