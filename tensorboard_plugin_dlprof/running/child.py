"""Runs a command in the place of this process: its output, its input, its signals, its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import msgspec

from tensorboard_plugin_dlprof.errors import BadRequest, reason_of

_FROM_TERMINAL = tuple(signal.Signals[name] for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
PASSED_ON = (
    *_FROM_TERMINAL,
    *(signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)),  # Windows has not all
)

SIGNALLED = 128
"""Added to the number of the signal that a process died of, as shells do."""


class Ended(msgspec.Struct, frozen=True):
    """How a command ended."""

    code: int
    """Its exit code; 128 + n where signal n ended it."""
    told_to_end: bool
    """Whether we were told to end meanwhile, by something other than Ctrl-C: then there is no time for more."""


def run_child(command: Sequence[str]) -> Ended:
    """Runs a command and waits for its end. Signals that this process gets meanwhile are passed on to it.

    Raises:
        BadRequest: there is no such program, or it cannot be executed.
    """
    received: list[int] = []
    process: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        # Ctrl-C reaches every process of the terminal; a second one would break off the child's own clean end.
        if process is not None and not (number in _FROM_TERMINAL and _owns_terminal()):
            process.send_signal(number)

    # What is ignored stays so (nohup, a shell's background job); what is not Python's handler cannot be put back.
    handlers = {number: signal.getsignal(number) for number in PASSED_ON}
    handlers = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in handlers:
            signal.signal(number, pass_on)
        process = _started(command)
        code = process.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    told_to_end = any(number != signal.SIGINT for number in received)
    return Ended(SIGNALLED - code if code < 0 else code, told_to_end)


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(list(command))
    except FileNotFoundError:
        raise BadRequest(f"{command[0]}: there is no such program; check its name and the PATH.") from None
    except OSError as error:
        raise BadRequest(f"{command[0]} cannot be started: {reason_of(error)}.") from None


def _owns_terminal() -> bool:
    """Whether the processes of this shell job are those that a Ctrl-C on the terminal goes to."""
    if not hasattr(os, "tcgetpgrp"):  # Windows, where it goes to every process of the console
        return True
    try:
        with Path("/dev/tty").open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
