"""A copy of this process does part of the work beside it.

A copy starts in some milliseconds with all modules and data at hand, where a new interpreter takes a fifth of a second.
It is made on Linux only, and only of a process with one thread: a lock that another thread holds would be held in the
copy for ever.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from types import TracebackType
from typing import IO, Any

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
"""Linux: a pipe takes a megabyte at once, where it took 64 kB."""

_LENGTH = struct.Struct("<Q")


def can_fork() -> bool:
    """Whether this process can be copied."""
    return sys.platform == "linux" and threading.active_count() == 1


class Fork:
    """The copy, with a pipe to it and a pipe from it. Use it as a context manager, which ends the copy.

    Args:
        work: what the copy does with its ends of the pipes: what comes, and what goes.

    Raises:
        OSError: the system makes no process.
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
    """The whole life of the copy. It leaves no trace: nothing is flushed, no exception is told, no handler runs."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when the other end of its pipe does
        with os.fdopen(to_read, "rb", buffering=0) as pipe, os.fdopen(from_write, "wb", buffering=0) as out:
            work(pipe, out)
        status = 0
    finally:
        os._exit(status)


class Beside:
    """The results of a generator that a copy of this process runs. Use it as a context manager.

    Results come through memory that both see, as a pipe would take several times as long. Through the pipe goes where
    each ends, when it is there.

    Args:
        compute: changes nothing of this process, as it may run in the copy.
        beside: whether there may be a copy; else all results are computed at once.
    """

    def __init__(self, compute: Callable[[], Iterator[Any]], *, beside: bool) -> None:
        self._compute = compute
        self._taken = 0
        """Results that came from the copy."""
        self._taken_bytes = 0
        self._here: Iterator[Any] = iter(())
        self._closing = contextlib.ExitStack()
        self._fork: Fork | None = None
        if beside and can_fork() and hasattr(os, "memfd_create"):  # not everywhere, as it needs a newer C library
            with contextlib.suppress(OSError):
                self._memory = self._closing.enter_context(os.fdopen(os.memfd_create("result"), "w+b"))
                self._fork = self._closing.enter_context(Fork(self._work))
        if self._fork is None:
            self._closing.close()
            self._here = iter(list(compute()))

    def next(self) -> Any:
        """Waits for the next result. What fails in the copy is done here, and fails here in the same way."""
        if self._fork is not None:
            with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
                (end,) = _LENGTH.unpack(receive_into(self._fork.from_, bytearray(_LENGTH.size)))
                with mmap.mmap(self._memory.fileno(), end) as shared, memoryview(shared) as pickled:
                    found = pickle.loads(pickled[self._taken_bytes :])  # from our own process
                self._taken, self._taken_bytes = self._taken + 1, end
                return found
            self._fork, self._here = None, islice(self._compute(), self._taken, None)
        return next(self._here)

    def _work(self, _pipe: IO[bytes], out: IO[bytes]) -> None:
        for result in self._compute():
            pickle.dump(result, self._memory, protocol=pickle.HIGHEST_PROTOCOL)
            self._memory.flush()
            send(out, _LENGTH.pack(self._memory.tell()))

    def __enter__(self) -> Beside:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()


def send(pipe: IO[bytes], data: Any) -> None:
    """Writes all of ``data``, a buffer."""
    view = memoryview(data).cast("B")
    while view:
        view = view[pipe.write(view) :]


def receive_into(pipe: IO[bytes], buffer: Any) -> Any:
    """Fills ``buffer`` and returns it.

    Raises:
        EOFError: the pipe ends before it is full.
    """
    view = memoryview(buffer).cast("B")
    while view:
        count = pipe.readinto(view)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        view = view[count:]
    return buffer


def send_text(pipe: IO[bytes], text: bytes) -> None:
    """Writes ``text`` behind its length."""
    send(pipe, _LENGTH.pack(len(text)))
    send(pipe, text)


def receive_text(pipe: IO[bytes]) -> bytearray:
    """The next text behind its length.

    Raises:
        EOFError: there is none, or no whole one.
    """
    (length,) = _LENGTH.unpack(receive_into(pipe, bytearray(_LENGTH.size)))
    text: bytearray = receive_into(pipe, bytearray(length))
    return text


def _widen(descriptor: int) -> None:
    import fcntl

    with contextlib.suppress(OSError):  # the system may allow less: then writing waits a little more often
        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
