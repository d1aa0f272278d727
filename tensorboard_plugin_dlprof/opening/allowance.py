"""Limits what the work on one file may cost: time, rows, and bytes that are written.

A small file can be made so that it asks for years of work or fills a disk. The limits grow with the size of the file.
Recorded profiles of all formats, expanded, take up to 0.6 seconds a megabyte, become 0.03 rows a byte and 1.6 bytes a
byte, so that honest ones stay far below, on slow machines too.
"""

from __future__ import annotations

import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

import msgspec

from tensorboard_plugin_dlprof.errors import UnsafeFile
from tensorboard_plugin_dlprof.units import size

LEAST_SECONDS, SECONDS_A_BYTE = 30.0, 10e-6
LEAST_ROWS, ROWS_A_BYTE = 2_000_000, 0.5
LEAST_WRITTEN_BYTES, WRITTEN_A_BYTE = 512 << 20, 30

_AGAIN_SECONDS = 1.0
"""How often the limit of time is reported again, should the work go on as if it were another error."""


class Allowance(msgspec.Struct):
    """What the work on one file may cost, and has cost so far."""

    name: str
    size_bytes: int
    seconds: float
    """Of the processor: a busy machine, or one that sleeps, is no reason to end."""
    rows: int
    written_bytes: int
    end: float = 0.0
    """On the clock of the thread's time."""

    def refusal(self, what: str) -> UnsafeFile:
        """The error for exceeding a limit, which ``what`` describes."""
        return UnsafeFile(
            f"{self.name} {what}, which no profile of {size(self.size_bytes)} does; if it is no damaged file, record "
            "fewer iterations."
        )

    def late(self) -> UnsafeFile:
        """The error for exceeding the limit of time."""
        return self.refusal(f"takes more than {self.seconds:,.0f} seconds of the processor")

    def too_large(self) -> UnsafeFile:
        """The error for exceeding the limit of bytes that are written."""
        return self.refusal("needs too much space for files")


_is_our_process = False


def limit_whole_process() -> None:
    """Say that this process does nothing but our work, so that limits may hold for all of it."""
    global _is_our_process
    _is_our_process = True


_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowed(name: str, size_bytes: int) -> Iterator[None]:
    """Limit the work in the block, unless it is part of work that is limited already.

    In the main thread, the limit of time interrupts any work between two steps of Python; in other threads, on Windows,
    and while somebody profiles the process, only statements of SQLite and what writes rows. In a process of ours no
    file gets larger than twice the limit of bytes, be it a temporary one of SQLite's.

    Args:
        name: The file, as messages name it.
        size_bytes: Its size, expanded.

    Raises:
        UnsafeFile: A limit is exceeded.
    """
    if _current.get() is not None:
        yield
        return
    allowance = Allowance(
        name,
        size_bytes,
        LEAST_SECONDS + SECONDS_A_BYTE * size_bytes,
        int(LEAST_ROWS + ROWS_A_BYTE * size_bytes),
        LEAST_WRITTEN_BYTES + WRITTEN_A_BYTE * size_bytes,
    )
    allowance.end = time.thread_time() + allowance.seconds
    token = _current.set(allowance)
    try:
        with _timer(allowance), _file_limit(allowance):
            yield
    except Exception:
        if is_over():  # whatever the interrupted work made of it
            raise allowance.late() from None
        raise
    finally:
        _current.reset(token)


def is_over() -> bool:
    """Whether the time is over. SQLite calls this during statements, and then interrupts them."""
    allowance = _current.get()
    return allowance is not None and time.thread_time() > allowance.end


def refuse_if_over() -> None:
    """Say that the time is over, where a statement of SQLite was interrupted for it.

    Raises:
        UnsafeFile: It is over.
    """
    allowance = _current.get()
    if allowance is not None and is_over():
        raise allowance.late() from None


def spend_rows(con: sqlite3.Connection, count: int) -> None:
    """Account for rows that are going to be written to a database, and for its size.

    Raises:
        UnsafeFile: They are too many, it is too large, or the time is over.
    """
    allowance = _current.get()
    if allowance is None:
        return
    allowance.rows -= count
    if allowance.rows < 0:
        raise allowance.refusal("becomes too many rows")
    (pages,) = con.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = con.execute("PRAGMA page_size").fetchone()
    if pages * page_bytes > allowance.written_bytes:
        raise allowance.too_large()
    refuse_if_over()


def spend_bytes(count: int) -> None:
    """Account for bytes that are going to be written to temporary files.

    Raises:
        UnsafeFile: They are too many.
    """
    allowance = _current.get()
    if allowance is None:
        return
    allowance.written_bytes -= count
    if allowance.written_bytes < 0:
        raise allowance.too_large()


def start_timer() -> None:
    """Limit the time of a fork of this process, which does not inherit its timer."""
    allowance = _current.get()
    if allowance is not None and hasattr(signal, "SIGPROF"):
        signal.setitimer(signal.ITIMER_PROF, allowance.seconds, _AGAIN_SECONDS)


def _can_interrupt() -> bool:
    """Whether this thread receives signals, and nobody else uses that of the timer: a statistical profiler does."""
    return (
        hasattr(signal, "SIGPROF")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGPROF) in (signal.SIG_DFL, signal.SIG_IGN)
        and signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    )


@contextmanager
def _timer(allowance: Allowance) -> Iterator[None]:
    if not _can_interrupt():
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        if is_over():  # the timer counts what other threads take, too
            raise allowance.late()

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, allowance.seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _file_limit(allowance: Allowance) -> Iterator[None]:
    if not _is_our_process or sys.platform == "win32":
        yield
        return
    import resource  # not everywhere

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    bounds = [each for each in (soft, 2 * allowance.written_bytes) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
