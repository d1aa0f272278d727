"""Messages for people, on stderr; results go to stdout."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Iterator, Mapping

from tensorboard_plugin_dlprof.opening.regular_file import printable
from tensorboard_plugin_dlprof.units import finite

_names: dict[str, str] = {}


@contextlib.contextmanager
def renaming(names: Mapping[str, str]) -> Iterator[None]:
    """Call folders by other names in the messages and results of the block, such as those that were fetched into."""
    _names.update(names)
    try:
        yield
    finally:
        _names.clear()


def _renamed(text: str) -> str:
    for folder, name in _names.items():
        text = text.replace(folder, name)
    return text


DEBUG_VARIABLE = "DLPROF_DEBUG"
"""Environment variable; if it is set, bugs are shown with their traceback."""


def say(message: str) -> None:
    """Print one message on one line of stderr, without control characters, which names of files may contain."""
    print(f"dlprof: {printable(_renamed(message))}", file=sys.stderr, flush=True)


def tell(result: str) -> None:
    """Print one line of results: names of files byte for byte for scripts, printable for a terminal."""
    result = _renamed(result)
    if sys.stdout.isatty():
        result = printable(result)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")
    print(result, flush=True)


def tell_json(result: object) -> None:
    """Print a result as one line of JSON, which knows no infinite numbers."""
    import json  # not for --help

    print(json.dumps(finite(result), ensure_ascii=False))


def say_bug(subject: str, error: Exception) -> None:
    """Report a bug of this program in one sentence, with the traceback if DLPROF_DEBUG is set.

    That the system starts no more threads is none; libraries report it as any other error.
    """
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        say(f"error: {subject}: the system starts no more threads; try again when the machine is less busy.")
        return
    say(
        f"error: {subject}: the program failed ({type(error).__name__}: {error}). This is a bug of ours; please "
        f"report it with what {DEBUG_VARIABLE}=1 prints."
    )
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error)


def terminal_columns() -> int:
    """Number of columns of the terminal; 80 if there is none.

    The same as ``shutil.get_terminal_size``, without loading ``shutil``.
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
    """A progress bar on the last line of a terminal; prints nothing if stderr is not one.

    Call it with the stage and the fraction done, from 0 to 1. The end of its block removes it, so that the next message
    begins at the start of the line.
    """

    REDRAW_SECONDS = 0.1
    BAR_WIDTH = 24

    def __init__(self, label: str) -> None:
        self._label = printable(label)
        self._shown = sys.stderr.isatty()
        self._last = 0.0
        self._stage = ""

    def __call__(self, stage: str, fraction: float) -> None:
        """Draw the bar, but not more often than every ``REDRAW_SECONDS`` within a stage."""
        now = time.monotonic()
        if not self._shown or (stage == self._stage and now - self._last < self.REDRAW_SECONDS):
            return
        self._last, self._stage = now, stage
        filled = round(min(max(fraction, 0.0), 1.0) * self.BAR_WIDTH)
        bar = "#" * filled + "." * (self.BAR_WIDTH - filled)
        line = f"[{bar}] {100 * min(max(fraction, 0.0), 1.0):3.0f} %  {self._label}: {stage}"
        sys.stderr.write("\r\x1b[K" + line[: terminal_columns() - 1])
        sys.stderr.flush()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
