"""Reads a plain or gzip file in chunks and within limits.

Whether a file is compressed is decided by its content, never by its name. A compressed file may be hostile, so it is
expanded in small pieces and refused as soon as it expands far more than real traces do (13 to 21 times).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from tensorboard_plugin_dlprof.errors import BrokenSource, UnsafeFile, reason_of
from tensorboard_plugin_dlprof.opening.regular_file import open_regular, shown

if TYPE_CHECKING:
    import gzip

GZIP_MAGIC = b"\x1f\x8b"
_GZIP_SIZE = struct.Struct("<I")
"""At the end of gzip data: the expanded size, modulo 4 GB."""

MAX_EXPANDED_BYTES = 32 << 30
"""Default limit of the expanded size of one file."""

MAX_EXPANSION = 200
"""Limit of expanded bytes per compressed byte; a gzip bomb reaches 1029, a trace 21."""

_SMALL_BYTES = 4 << 20
"""Files of up to this size are read to their end where that does not look like one: the numbers with which they could
be cut are many, and few of them are likely sizes."""

_USUAL_EXPANSION = 20
"""Expanded bytes per compressed byte of real traces."""

EXPANSION_CHECKED_FROM_BYTES = 4 << 20
"""Expanded size from which on ``MAX_EXPANSION`` applies."""


class ByteStream:
    """Reads a regular file from its start, expanding gzip. Use it as a context manager.

    Args:
        path: The file; symbolic links are followed.

    Raises:
        NotFound: There is no such file.
        UnsafeFile: It is not a regular file, or may not be read.
        BrokenSource: The storage fails.
    """

    def __init__(self, path: Path, max_expanded_bytes: int = MAX_EXPANDED_BYTES) -> None:
        self._name = shown(path)
        self._max_expanded_bytes = max_expanded_bytes
        self._file: BinaryIO = open_regular(path)
        try:
            self.size_bytes = self._file.seek(0, 2)
            self._file.seek(0)
            self.is_gzip = self._file.read(2) == GZIP_MAGIC
            self.looks_whole = not self.is_gzip
            """Whether a compressed file ends with a likely size, which proves nothing; several files that were joined
            are whole and do not."""
            self.expanded_bytes = self.size_bytes
            """Size of the expanded file; of a compressed one what its end says, which may be wrong, unless it is more
            than any profile's: the end of a file that was cut short is any number."""
            if self.is_gzip and self.size_bytes > _GZIP_SIZE.size:
                self._file.seek(-_GZIP_SIZE.size, 2)
                (said,) = _GZIP_SIZE.unpack(self._file.read(_GZIP_SIZE.size))
                if said <= max(EXPANSION_CHECKED_FROM_BYTES, MAX_EXPANSION * self.size_bytes):
                    self.expanded_bytes = said
                    self.looks_whole = said >= self.size_bytes
            self._file.seek(0)
        except OSError as error:
            self._file.close()
            raise _unreadable(self._name, error) from None
        self._source: BinaryIO | gzip.GzipFile = self._file
        self._damage: tuple[type[Exception], ...] = ()
        """Exceptions that reading damaged data raises."""
        if self.is_gzip:
            import gzip
            import zlib

            self._source = gzip.GzipFile(fileobj=self._file)
            self._damage = (gzip.BadGzipFile, zlib.error)
        self.position_bytes = 0
        """Offset in the expanded file up to which it has been read."""

    def read(self, size: int) -> bytes:
        """Read and expand at most ``size`` bytes; empty at the end of the file.

        Raises:
            BrokenSource: The gzip data is truncated or damaged, or the storage fails.
            UnsafeFile: The file expands beyond a limit.
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
        self.position_bytes += len(chunk)
        if self.is_gzip:
            self._check_expansion()
        return chunk

    def skip_to(self, position_bytes: int) -> None:
        """Go on at an offset of the expanded file, which is not before the current one, or at its end.

        Raises:
            BrokenSource: As ``read``.
            UnsafeFile: As ``read``.
        """
        if not self.is_gzip:
            self._file.seek(position_bytes)
            self.position_bytes = position_bytes
        while self.position_bytes < position_bytes and self.read(min(1 << 20, position_bytes - self.position_bytes)):
            pass

    @property
    def fraction(self) -> float:
        """Fraction of the stored file that has been read, 0 to 1."""
        return min(1.0, self._file.tell() / self.size_bytes) if self.size_bytes else 1.0

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
        if self.position_bytes > self._max_expanded_bytes:
            raise UnsafeFile(
                f"{self._name} expands to more than {self._max_expanded_bytes:,} bytes; "
                "allow more with --max-expanded, or profile fewer steps."
            )
        if (
            self.position_bytes > EXPANSION_CHECKED_FROM_BYTES
            and self.position_bytes > MAX_EXPANSION * self._file.tell()
        ):
            raise UnsafeFile(
                f"{self._name} expands more than {MAX_EXPANSION} times, which no profile does; "
                "if you trust it, expand it with gunzip and name the result."
            )


def read_head(path: Path, size: int = 1 << 16) -> bytes:
    """The first ``size`` expanded bytes of a file; fewer if it is shorter, or its gzip data truncated or damaged.

    Raises:
        NotFound: There is no such file.
        UnsafeFile: It is not a regular file, or may not be read.
        BrokenSource: The storage fails.
    """
    raw = read_start(path, size + 4096)  # Gzip data may be a little longer than its content.
    return _expand(raw, size) if raw.startswith(GZIP_MAGIC) else raw[:size]


def check_end(path: Path) -> None:
    """Read a small compressed file whose end does not look like one, to say early that it was cut short.

    Raises:
        NotFound: There is no such file.
        UnsafeFile: It is not a regular file, or may not be read, or expands too much.
        BrokenSource: It is cut short or damaged, or the storage fails.
    """
    with ByteStream(path) as stream:
        if stream.size_bytes <= _SMALL_BYTES and not stream.looks_whole:
            while stream.read(1 << 20):
                pass


def likely_bytes(path: Path) -> int:
    """The size of a file, of a compressed one about what it is expanded; raises the same errors as ``read_head``."""
    with open_regular(path) as file:
        try:
            is_gzip = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            return file.seek(0, 2) * (_USUAL_EXPANSION if is_gzip else 1)
        except OSError as error:
            raise _unreadable(shown(path), error) from None


def read_start(path: Path, size: int = 64) -> bytes:
    """The first ``size`` bytes of a file, not expanded; raises the same errors as ``read_head``."""
    with open_regular(path) as file:
        try:
            return file.read(size)
        except OSError as error:
            raise _unreadable(shown(path), error) from None


@contextmanager
def plain_file(path: Path, max_expanded_bytes: int, folder: Path | None) -> Iterator[BinaryIO]:
    """A file open for random access, at its start; a compressed one is expanded into a temporary file.

    Args:
        folder: For the temporary file; None for the system's.

    Raises:
        NotFound, UnsafeFile, BrokenSource: As ``ByteStream``.
    """
    import tempfile

    with (
        ByteStream(path, max_expanded_bytes) as stream,
        tempfile.TemporaryFile(dir=folder) if stream.is_gzip else open_regular(path) as file,
    ):
        while stream.is_gzip and (chunk := stream.read(1 << 20)):
            file.write(chunk)
        file.seek(0)
        yield file


def _unreadable(name: str, error: OSError) -> BrokenSource:
    return BrokenSource(f"{name} cannot be read ({reason_of(error)}); check its storage.")


def _expand(compressed: bytes, size: int) -> bytes:
    """Expand the gzip members of ``compressed``, up to ``size`` bytes or the first damage."""
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
