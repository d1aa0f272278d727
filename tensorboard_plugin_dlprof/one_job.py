"""A process that does one job and ends, as a command or an import on demand does."""

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
"""More objects than the modules of any job make: looking for those that nobody can reach finds none of them."""

_ENDINGS = tuple(signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))  # Windows has one


_ending: BaseException | None = None
"""What the process was told to end by."""


def end_when_told() -> None:
    """Lets a process that is told to end, or whose terminal is closed, remove its unfinished files first.

    What is ignored stays so, as SIGHUP is below ``nohup``. The exit code is the one that shells tell of the signal.
    """
    for number in (*_ENDINGS, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def end_if_told() -> None:
    """Ends the process after all, where the signal came in a callback, whose exceptions SQLite takes for refusals."""
    if _ending is not None:
        raise _ending


def open_closed_streams() -> None:
    """Gives a process that was started without an input or output, as some jobs are, one that leads nowhere.

    The next file that is opened would take its number, and be written to by whoever writes to the output.
    """
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:
            setattr(sys, stream, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  as long as the process


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    global _ending
    _ending = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
    raise _ending


def run_and_end(job: Callable[[], int]) -> int:
    """Runs ``job``, whose exit code is returned only where Python has to wait for threads; else the process ends here.

    Python would look through all objects a dozen times while modules load and once more at the end, when the process
    gives everything back anyway: an eighth of a short job. It would also free millions of them one by one.
    """
    gc.set_threshold(_UNTIL_COLLECTED)
    try:
        code = job()
    finally:
        gc.freeze()
    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # none, gone, or closed
                stream.flush()
        os._exit(code)
    return code
