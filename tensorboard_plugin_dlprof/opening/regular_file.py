"""Opens regular files and nothing else, because the path of a profile is not trusted.

A FIFO would block ``open`` forever, a device could do anything, and a symbolic link could lead to a file that the owner
of the log directory may not read but the server may.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path

from tensorboard_plugin_dlprof.errors import NotFound, UnsafeFile, reason_of
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.opening.masking import MASK

_READ_ONLY = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)
"""Not every platform has each flag. With ``O_NONBLOCK``, opening a FIFO returns at once."""


_ADDRESS = Expression(r"(?!file:/)[a-zA-Z][a-zA-Z0-9+.-]+:/", words=frozenset((":/",)))
"""At least two letters, because a drive of Windows has one."""

_CREDENTIALS = Expression(r"(:/+)[^/@\s]+@")


Identity = tuple[int, int, int, int]
"""Device, inode, size in bytes and modification time of a file, which change if it is replaced or rewritten."""


def identity_of(status: os.stat_result) -> Identity:
    """The identity of a file."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading, following symbolic links to it.

    Raises:
        NotFound: There is no such file.
        UnsafeFile: The path is not a regular file, is a loop of links, or may not be read.
    """
    try:
        descriptor = os.open(resolved(path), _READ_ONLY)
    except OSError as error:
        raise _refusal(path, error) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode) or _keeps_waiting(descriptor):
        os.close(descriptor)
        raise UnsafeFile(_irregular(path, stat.S_ISDIR(mode)))
    return os.fdopen(descriptor, "rb")


def _keeps_waiting(descriptor: int) -> bool:
    """Whether it has nothing to read yet, as logs of the kernel that say they are regular files."""
    try:
        if hasattr(os, "pread"):
            os.pread(descriptor, 1, 0)
    except BlockingIOError:
        return True
    except OSError:
        pass  # reported where it is read
    return False


def shown(path: Path | str) -> str:
    """The path as one line of text that is safe for terminals, logs and JSON.

    File names may contain line breaks, terminal escapes and bytes that are not UTF-8. Credentials in addresses are
    masked.
    """
    text = printable(os.fsencode(path).decode("utf-8", "replace"))
    return _CREDENTIALS.sub(rf"\g<1>{MASK}@", text) if is_remote(text) else text


def printable(text: str) -> str:
    """The text with control characters, line breaks and characters that cannot be encoded replaced."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def resolved(path: Path) -> Path:
    """The path without symbolic links.

    Raises:
        UnsafeFile: The links form a loop, or the path cannot name a file.
    """
    try:
        # Path.resolve raises RuntimeError on a loop until Python 3.12; with realpath, opening the file fails instead.
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        raise UnsafeFile(f"{shown(path)} cannot name a file; name a profile file.") from None


def is_remote(text: str) -> bool:
    """Whether the text is an address: ``s3://bucket/run``, or ``s3:/bucket/run`` as pathlib writes it."""
    return _ADDRESS.match(text) is not None


def remote_refusal(text: str) -> str:
    """The message that an address cannot be read, and what to do; credentials in it are masked.

    pathlib removes one of the slashes, which is put back.
    """
    scheme, _, place = text.partition(":/")
    address = shown(f"{scheme}://{place.removeprefix('/')}")
    return (
        f"{address} is on remote storage, which cannot be read here; fetch it with dlprof import {address} -o DIR, or "
        "copy it to this machine."
    )


def unmoved(path: Path, real: Path) -> Path:
    """Check that ``path`` still leads to ``real``, and return ``real``.

    Since the file was found to be inside the log directory, anyone with write permission there may have replaced it, or
    a folder above it, by a symbolic link.

    Raises:
        NotFound: The path leads elsewhere now.
    """
    if resolved(path) != real:
        raise NotFound(f"{shown(path)} now leads to another file than when it was found; reload the list of profiles.")
    return real


def inside(path: Path, roots: Iterable[Path]) -> bool:
    """Whether the file that ``path`` leads to is in one of the folders, after resolving the symbolic links of both."""
    real = str(resolved(path))
    return any(_is_under(real, str(resolved(root))) for root in roots)


def _is_under(path: str, root: str) -> bool:
    try:
        return os.path.commonpath([path, root]) == root
    except ValueError:  # Another drive on Windows.
        return False


def _irregular(path: Path, is_folder: bool) -> str:
    return (
        f"{shown(path)} is {'a folder; name a profile in it' if is_folder else 'not a regular file; name a profile'}."
    )


def _refusal(path: Path, error: OSError) -> UnsafeFile | NotFound:
    name = shown(path)
    if is_remote(os.fspath(path)):
        return NotFound(remote_refusal(os.fspath(path)))
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return NotFound(f"{name} does not exist; check the path.")
    if error.errno == errno.ELOOP:
        return UnsafeFile(f"{name} is a loop of symbolic links; name the file itself.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return UnsafeFile(f"{name} may not be read; give yourself read permission on it.")
    if error.errno in (errno.ENXIO, errno.EISDIR):  # A socket, a FIFO without writer; a folder on Windows.
        return UnsafeFile(_irregular(path, error.errno == errno.EISDIR))
    return UnsafeFile(f"{name} cannot be opened ({reason_of(error)}); check the file and its storage.")
