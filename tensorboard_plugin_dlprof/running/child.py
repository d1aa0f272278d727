"""Runs a command as if in place of this process: with its input, output, signals and exit code."""

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
"""Added to the number of the signal that killed a process, as shells do."""


class Ended(msgspec.Struct, frozen=True):
    """The end of a command."""

    code: int
    """The exit code; 128 + n if signal n ended the command."""
    terminated: bool
    """Whether this process got a signal other than that of Ctrl-C meanwhile, so that it should end quickly."""


def run_child(command: Sequence[str]) -> Ended:
    """Run a command and wait for its end. Signals that this process gets meanwhile are passed on to it.

    Raises:
        BadRequest: There is no such program, or it cannot be executed.
    """
    received: list[int] = []
    process: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        # Ctrl-C reaches every process of the terminal; a second signal would interrupt the child's clean-up.
        if process is not None and not (number in _FROM_TERMINAL and _owns_terminal()):
            process.send_signal(number)

    # Ignored signals stay ignored (nohup, background jobs); handlers not set by Python cannot be restored.
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
    terminated = any(number != signal.SIGINT for number in received)
    return Ended(SIGNALLED - code if code < 0 else code, terminated)


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(list(command))
    except FileNotFoundError:
        raise BadRequest(f"{command[0]}: there is no such program; check its name and the PATH.") from None
    except OSError as error:
        raise BadRequest(f"{command[0]} cannot be started: {reason_of(error)}.") from None


def _owns_terminal() -> bool:
    """Whether a Ctrl-C on the terminal reaches the processes of this shell job."""
    if not hasattr(os, "tcgetpgrp"):  # Windows, where it goes to every process of the console
        return True
    try:
        with Path("/dev/tty").open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
