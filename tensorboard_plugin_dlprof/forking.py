"""Runs part of the work in parallel, in a fork of this process.

A fork starts within milliseconds with all modules and data loaded; a new interpreter takes a fifth of a second. Forks
are made only on Linux and only of processes with one thread: a lock held by another thread would stay locked in the
fork forever.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import IO, Any

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
"""The fcntl command of Linux to enlarge a pipe's buffer, which is 64 kB by default."""

_LENGTH = struct.Struct("<Q")


def can_fork() -> bool:
    """Whether this process can be forked safely."""
    return sys.platform == "linux" and threading.active_count() == 1


class Fork:
    """A fork of this process, with a pipe in each direction. Use it as a context manager, which kills the fork.

    Args:
        work: Runs in the fork; gets its ends of the pipes, the first for reading, the second for writing.

    Raises:
        OSError: The system cannot create a process.
    """

    def __init__(self, work: Callable[[IO[bytes], IO[bytes]], None]) -> None:
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        _widen(to_write)
        _widen(from_write)
        try:
            self._process = os.fork()
        except OSError:
            for descriptor in (to_read, to_write, from_read, from_write):
                os.close(descriptor)
            raise
        if not self._process:
            os.close(to_write)
            os.close(from_read)
            _do(work, to_read, from_write)
        os.close(to_read)
        os.close(from_write)
        self.to: IO[bytes] = os.fdopen(to_write, "wb", buffering=0)
        self.from_: IO[bytes] = os.fdopen(from_read, "rb", buffering=0)

    def __enter__(self) -> Fork:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            os.kill(self._process, signal.SIGKILL)
        self.to.close()
        self.from_.close()
        os.waitpid(self._process, 0)


def _do(work: Callable[[IO[bytes], IO[bytes]], None], to_read: int, from_write: int) -> None:
    """Do the work of the fork, then end it without flushing files, reporting exceptions or running exit handlers."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # The fork ends when the parent closes its end of the pipe.
        with os.fdopen(to_read, "rb", buffering=0) as pipe, os.fdopen(from_write, "wb", buffering=0) as out:
            work(pipe, out)
        status = 0
    finally:
        os._exit(status)


def send(pipe: IO[bytes], data: Any) -> None:
    """Write all of ``data``, an object with the buffer protocol."""
    view = memoryview(data).cast("B")
    while view:
        view = view[pipe.write(view) :]


def receive_into(pipe: IO[bytes], buffer: Any) -> Any:
    """Fill ``buffer`` from a pipe, and return it.

    Raises:
        EOFError: The pipe ends before the buffer is full.
    """
    view = memoryview(buffer).cast("B")
    while view:
        count = pipe.readinto(view)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        view = view[count:]
    return buffer


def send_text(pipe: IO[bytes], text: bytes) -> None:
    """Write the length of ``text``, then ``text``."""
    send(pipe, _LENGTH.pack(len(text)))
    send(pipe, text)


def receive_text(pipe: IO[bytes]) -> bytearray:
    """Read a text that ``send_text`` wrote.

    Raises:
        EOFError: There is none, or it is incomplete.
    """
    (length,) = _LENGTH.unpack(receive_into(pipe, bytearray(_LENGTH.size)))
    text: bytearray = receive_into(pipe, bytearray(length))
    return text


def _widen(descriptor: int) -> None:
    import fcntl

    with contextlib.suppress(OSError):  # The system may allow less; then writers only wait more often.
        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
