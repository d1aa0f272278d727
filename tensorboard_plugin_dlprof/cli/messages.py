"""Messages for people, on stderr; results go to stdout."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time

from tensorboard_plugin_dlprof.opening.regular_file import printable

DEBUG_VARIABLE = "DLPROF_DEBUG"
"""Set to show where an error of the program itself comes from."""


def say(message: str) -> None:
    """One message, in one line: names of files, which others chose, may hold letters that act on a terminal."""
    print(f"dlprof: {printable(message)}", file=sys.stderr, flush=True)


def tell(result: str) -> None:
    """One line of results; scripts get the names of files byte for byte, a terminal gets what it can show."""
    if sys.stdout.isatty():
        result = printable(result)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")
    print(result, flush=True)


def say_bug(subject: str, error: Exception) -> None:
    """An error that is ours: one sentence, and all of it for who wants to report it."""
    say(
        f"error: {subject}: the program failed ({type(error).__name__}: {error}). This is a bug of ours; please "
        f"report it with what {DEBUG_VARIABLE}=1 prints."
    )
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error)


def terminal_columns() -> int:
    """Columns of the terminal, 80 where there is none.

    As ``shutil`` tells, which takes 3 ms to load, with all the archives that it can read.
    """
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns <= 0 and sys.__stdout__ is not None:
        with contextlib.suppress(ValueError, OSError):  # closed, or no terminal
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns
    return columns if columns > 0 else 80


class ProgressBar:
    """A bar on the last line of a terminal; silent where stderr is none. Call it with a stage and a fraction."""

    REDRAW_SECONDS = 0.1
    BAR_WIDTH = 24

    def __init__(self, label: str) -> None:
        self._label = printable(label)
        self._shown = sys.stderr.isatty()
        self._last = 0.0
        self._stage = ""

    def __call__(self, stage: str, fraction: float) -> None:
        """Draws, unless it was drawn just now."""
        now = time.monotonic()
        if not self._shown or (stage == self._stage and now - self._last < self.REDRAW_SECONDS):
            return
        self._last, self._stage = now, stage
        filled = round(min(max(fraction, 0.0), 1.0) * self.BAR_WIDTH)
        bar = "#" * filled + "." * (self.BAR_WIDTH - filled)
        line = f"[{bar}] {100 * min(max(fraction, 0.0), 1.0):3.0f} %  {self._label}: {stage}"
        sys.stderr.write("\r\x1b[K" + line[: terminal_columns() - 1])
        sys.stderr.flush()

    def clear(self) -> None:
        """Removes the bar, so that the next message starts a line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
