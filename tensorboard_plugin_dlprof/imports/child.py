"""Starts a worker process, listens to its messages, and ends it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from tensorboard_plugin_dlprof.errors import ProfileError, QueueFull, reason_of
from tensorboard_plugin_dlprof.opening.threads import start_thread

TERMINATE_SECONDS = 3.0
_LOOK_SECONDS = 0.5
"""How often it is checked whether somebody still waits for the result."""

MAX_LINE_LETTERS = 1 << 20
MAX_ERROR_BYTES = 64 << 10

WORKER = "tensorboard_plugin_dlprof.imports.worker"


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a worker process."""

    finished: bool
    error: str = ""
    """The worker's error message."""
    of_source: bool = False
    """Whether the source is the cause of the error, so that only another file would help."""
    crash: str = ""
    """How the process died, if it did so without an error message."""
    is_ended: bool = False
    """Whether we ended it: it took too long, or nobody waited for it any more."""
    details: str = ""
    """The end of the process's standard error, for the log."""
    result: dict[str, Any] = msgspec.field(default_factory=dict)
    """The result that the worker reported, if it finished."""


class Child:
    """A worker process.

    Args:
        job: The job for ``worker``: kind, source, database, memory_bytes, and further fields for some kinds.
        folder: The working directory, which must be one of our own.
        worker: The module that does the job.

    Raises:
        ProfileError: The system cannot start the process.
    """

    def __init__(self, job: Mapping[str, Any], folder: Path, worker: str = WORKER) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", worker],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # "-m" puts the working directory first on the module path, so others must not be able to write to it.
                cwd=folder,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise ProfileError(
                f"No process could be started for it ({reason_of(error)}); try again when the machine is less busy."
            ) from error
        self._errors = b""
        self._is_ended = False
        try:
            self._error_reader = start_thread(self._read_errors, "dlprof-import-errors")
        except QueueFull:
            self._process.kill()
            self._process.wait()
            raise
        orders = self._pipe(self._process.stdin)
        try:
            orders.write(json.dumps(dict(job)).encode() + b"\n")
            orders.flush()
        except OSError:
            # The process has died; listen() reports why. Close the pipe now, or it would try to write again later.
            with suppress(OSError):
                orders.close()

    @property
    def process_id(self) -> int:
        """Process id of the worker."""
        return self._process.pid

    def listen_for(self, seconds: float = math.inf, is_unwanted: Callable[[], bool] = lambda: False) -> Outcome:
        """Wait for the end of the process, and end it after a time limit, or when its result is unwanted.

        Raises:
            QueueFull: The system starts no thread that looks after it.
        """
        is_done = threading.Event()
        try:
            start_thread(partial(self._end_unwanted, seconds, is_unwanted, is_done), "dlprof-limit")
            return self.listen(lambda _stage, _fraction: None)
        except QueueFull:
            self.end()
            raise
        finally:
            is_done.set()

    def _end_unwanted(self, seconds: float, is_unwanted: Callable[[], bool], is_done: threading.Event) -> None:
        end = time.monotonic() + seconds
        while not is_unwanted() and (left := end - time.monotonic()) > 0:
            if is_done.wait(min(left, _LOOK_SECONDS)):
                return
        self._is_ended = True
        self.end()

    def listen(self, progress: Callable[[str, float], None]) -> Outcome:
        """Wait for the end of the process. ``progress`` is called with the stage and the fraction done, 0 to 1."""
        error, of_source = "", False
        result: dict[str, Any] | None = None
        with self._process:
            lines = self._pipe(self._process.stdout)
            while line := lines.readline(MAX_LINE_LETTERS):
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                if "stage" in message:
                    progress(str(message["stage"]), float(message["fraction"]))
                error = str(message.get("error", error))
                of_source = bool(message.get("of_source", of_source))
                result = message.get("result", result)
            code = self._process.wait()
            self._error_reader.join(TERMINATE_SECONDS)
        details = self._errors.decode(errors="replace")
        if result is not None and code == 0:
            return Outcome(True, details=details, result=result)
        crash = "" if error or self._is_ended else _crash(code)
        return Outcome(False, error, of_source, crash, self._is_ended, details)

    def end(self) -> None:
        """Terminate the process, and kill it if it has not ended after some seconds."""
        self._process.terminate()
        try:
            self._process.wait(TERMINATE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _read_errors(self) -> None:
        pipe = self._pipe(self._process.stderr)
        while some := pipe.read1(8_192):  # type: ignore[attr-defined]
            self._errors = (self._errors + some)[-MAX_ERROR_BYTES:]

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise RuntimeError("the process was started without this pipe")
        return pipe


def _crash(code: int) -> str:
    if code == -9:
        return "The import process was killed, most likely because the machine ran out of memory"
    if code < 0:
        return f"The import process was ended by signal {-code}"
    return f"The import process ended with code {code}"


def _environment() -> dict[str, str]:
    """Environment in which the worker finds the modules of the server, and numerical libraries use a single core."""
    folders = [os.path.abspath(folder) for folder in sys.path if folder]  # noqa: PTH100
    package = os.fspath(Path(__file__).resolve().parents[2])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([package, *folders])),
        "PYTHONUNBUFFERED": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
