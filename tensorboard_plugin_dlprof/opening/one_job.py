"""Support for processes that do one job and then end, such as a command or an import on demand."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

_UNTIL_COLLECTED = 200_000
"""Garbage collection threshold: more objects than loading the modules of any job creates, none of which are garbage."""

_ENDINGS = tuple(signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end the process; Windows has no SIGHUP."""

_ending: BaseException | None = None
"""The exception of the signal that was received."""


def exit_on_sigterm() -> None:
    """Install signal handlers that raise exceptions, so that a process that is asked to end, or whose terminal is
    closed, removes its unfinished files first.

    Ignored signals stay ignored, as SIGHUP is under ``nohup``. The exit code is that of shells: 128 + signal.
    """
    for number in (*_ENDINGS, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def exit_if_terminated() -> None:
    """Raise the exception of a received signal again.

    A signal may arrive in a callback of SQLite, which treats exceptions there as a refusal and hides them.
    """
    if _ending is not None:
        raise _ending


def open_closed_streams() -> None:
    """Connect missing standard streams to the null device; some job systems start processes without them.

    Otherwise the next opened file would get the stream's file descriptor, and output would be written to it.
    """
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:
            setattr(sys, stream, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  never closed


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    global _ending
    _ending = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
    raise _ending


def run_and_end(job: Callable[[], int]) -> int:
    """Run ``job`` and end the process with its exit code.

    Returns the exit code only if Python has to wait for other threads before it ends. Otherwise the process ends
    without Python's clean-up, which would search all objects for garbage and free millions of them one by one although
    the system frees all memory anyway. So are garbage collections while modules are loaded.
    """
    gc.set_threshold(_UNTIL_COLLECTED)
    try:
        code = job()
    finally:
        gc.freeze()
    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # No stream, a broken one, or a closed one.
                stream.flush()
        os._exit(code)
    return code
