"""The bytes of a plain or gzip file, in chunks and within limits.

Which of the two a file is says its content, never its name. A compressed file may be hostile: it is
read in small pieces and refused as soon as it grows far beyond what real traces do (13 to 21 fold).
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from tensorboard_plugin_dlprof.errors import BrokenSource, UnsafeFile, reason_of
from tensorboard_plugin_dlprof.opening.regular_file import open_regular, shown

if TYPE_CHECKING:
    import gzip

GZIP_MAGIC = b"\x1f\x8b"

MAX_EXPANDED_BYTES = 32 << 30
"""Default limit of what one compressed file may become."""

MAX_EXPANSION = 200
"""Expanded bytes per compressed byte; a gzip bomb reaches 1029, a trace 21."""

EXPANSION_CHECKED_FROM_BYTES = 64 << 20
"""A small file may expand as it likes."""


class ByteStream:
    """Reads a regular file from its start, expanding gzip. Use it as a context manager.

    Raises (on opening):
        NotFound: there is no such file.
        UnsafeFile: not a regular file, or it may not be read.
    """

    def __init__(self, path: Path, max_expanded_bytes: int = MAX_EXPANDED_BYTES) -> None:
        self._name = shown(path)
        self._max_expanded_bytes = max_expanded_bytes
        self._file: BinaryIO = open_regular(path)
        try:
            self.size_bytes = self._file.seek(0, 2)
            self._file.seek(0)
            self.is_gzip = self._file.read(2) == GZIP_MAGIC
            self._file.seek(0)
        except OSError as error:
            self._file.close()
            raise _unreadable(self._name, error) from None
        self._source: BinaryIO | gzip.GzipFile = self._file
        self._damage: tuple[type[Exception], ...] = ()
        """What reading damaged data raises."""
        if self.is_gzip:
            import gzip
            import zlib

            self._source = gzip.GzipFile(fileobj=self._file)
            self._damage = (gzip.BadGzipFile, zlib.error)
        self._expanded_bytes = 0
        self._furthest = 0
        """Where the last of what ``read_into`` read ends."""

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, empty at the end of the file.

        Raises:
            BrokenSource: the gzip data is cut short or damaged, or the storage fails.
            UnsafeFile: the file expands beyond a limit.
        """
        try:
            chunk = self._source.read(size)
        except EOFError:
            raise BrokenSource(
                f"{self._name} is cut short: its gzip data ends too early; copy or record it again."
            ) from None
        except self._damage:
            raise BrokenSource(
                f"{self._name} is damaged: its gzip data does not match its checksum or is followed by other data; "
                "copy or record it again."
            ) from None
        except OSError as error:
            raise _unreadable(self._name, error) from None
        self._expanded_bytes += len(chunk)
        if self.is_gzip:
            self._check_expansion()
        return chunk

    def read_into(self, buffer: memoryview, begin: int) -> int:
        """Reads from a place in a plain file; where ``read`` goes on stays as it is.

        A copy of this process may call it too, though it shares the place where ``read`` goes on.

        Args:
            buffer: what is read, from its start.
            begin: the place.

        Returns:
            How many bytes were read: less than the buffer holds where the file ends.

        Raises:
            BrokenSource: the storage fails.
        """
        try:
            count = os.preadv(self._file.fileno(), [buffer], begin)
        except OSError as error:
            raise _unreadable(self._name, error) from None
        self._furthest = max(self._furthest, begin + count)
        return count

    @property
    def position(self) -> int:
        """Where ``read`` goes on, in the file as it lies there."""
        return self._file.tell()

    def go_on_at(self, position: int) -> None:
        """Where ``read`` goes on in a plain file."""
        self._file.seek(position)

    @property
    def fraction(self) -> float:
        """Share of the file that has been read, from 0 to 1."""
        return min(1.0, max(self._file.tell(), self._furthest) / self.size_bytes) if self.size_bytes else 1.0

    @property
    def remaining_bytes(self) -> int:
        """Of the file, as it lies there, that have not been read."""
        return self.size_bytes - self._file.tell()

    def close(self) -> None:
        """Closes the file."""
        self._source.close()
        self._file.close()

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_expansion(self) -> None:
        if self._expanded_bytes > self._max_expanded_bytes:
            raise UnsafeFile(
                f"{self._name} expands to more than {self._max_expanded_bytes:,} bytes; "
                "allow more with --max-expanded, or profile fewer steps."
            )
        if (
            self._expanded_bytes > EXPANSION_CHECKED_FROM_BYTES
            and self._expanded_bytes > MAX_EXPANSION * self._file.tell()
        ):
            raise UnsafeFile(
                f"{self._name} expands more than {MAX_EXPANSION} times, which no profile does; "
                "if you trust it, expand it with gunzip and name the result."
            )


def read_head(path: Path, size: int = 1 << 16) -> bytes:
    """The first ``size`` expanded bytes of a file, fewer where it is shorter or its gzip data breaks off.

    Raises:
        NotFound: there is no such file.
        UnsafeFile: not a regular file, or it may not be read.
        BrokenSource: the storage fails.
    """
    raw = read_start(path, size + 4096)  # gzip may be a little longer than what it holds
    return _expand(raw, size) if raw.startswith(GZIP_MAGIC) else raw[:size]


def read_start(path: Path, size: int = 64) -> bytes:
    """The first ``size`` bytes of a file as they lie there; raises as ``read_head`` does."""
    with open_regular(path) as file:
        try:
            return file.read(size)
        except OSError as error:
            raise _unreadable(shown(path), error) from None


def _unreadable(name: str, error: OSError) -> BrokenSource:
    return BrokenSource(f"{name} cannot be read ({reason_of(error)}); check its storage.")


def _expand(compressed: bytes, size: int) -> bytes:
    """What ``compressed`` expands to, at most ``size`` bytes, of all its gzip members, up to the first damage."""
    import zlib

    expanded = b""
    while compressed and len(expanded) < size:
        member = zlib.decompressobj(wbits=31)
        try:
            expanded += member.decompress(compressed, size - len(expanded))
        except zlib.error:
            break
        compressed = member.unused_data.lstrip(b"\0")
    return expanded
