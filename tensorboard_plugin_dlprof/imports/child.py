"""One run of the worker process: started, listened to, ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from tensorboard_plugin_dlprof.errors import ProfileError, reason_of

TERMINATE_SECONDS = 3.0
MAX_LINE_LETTERS = 1 << 20
MAX_ERROR_BYTES = 64 << 10

WORKER = "tensorboard_plugin_dlprof.imports.worker"


class Outcome(msgspec.Struct, frozen=True):
    """How a run ended: ``error`` is the worker's own sentence; ``crash`` says how the process died."""

    finished: bool
    error: str = ""
    of_source: bool = False
    """Whether the error is one of the source: nothing else would help than another file."""
    crash: str = ""
    details: str = ""
    """For the log: the last of what the process wrote to standard error."""
    result: dict[str, Any] = msgspec.field(default_factory=dict)
    """What the worker reported when it had finished."""


class Child:
    """A worker process.

    Args:
        job: what ``worker`` reads: kind, source, database, memory_bytes, and more by kind.
        folder: its working directory, one of our own.

    Raises:
        ProfileError: the system does not start it.
    """

    def __init__(self, job: Mapping[str, Any], folder: Path) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # "-m" puts this first on the module path: it must be a folder that nobody else writes to.
                cwd=folder,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise ProfileError(
                f"No process could be started for it ({reason_of(error)}); try again when the machine is less busy."
            ) from error
        self._errors = b""
        self._error_reader = threading.Thread(target=self._read_errors, name="dlprof-import-errors", daemon=True)
        self._error_reader.start()
        orders = self._pipe(self._process.stdin)
        try:
            orders.write(json.dumps(dict(job)).encode() + b"\n")
            orders.flush()
        except OSError:
            # It is dead already; listening tells why. Closed later, the pipe would try to write once more.
            with suppress(OSError):
                orders.close()

    @property
    def process_id(self) -> int:
        """Of the worker."""
        return self._process.pid

    def listen(self, progress: Callable[[str, float], None]) -> Outcome:
        """Waits for the end of the process and passes on its progress."""
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
        return Outcome(False, error=error, of_source=of_source, crash="" if error else _crash(code), details=details)

    def end(self) -> None:
        """Ends the process: it is asked first, and killed when it does not go."""
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
        return f"The import process died of signal {-code}"
    return f"The import process ended with code {code}"


def _environment() -> dict[str, str]:
    """The worker finds the modules of the server, wherever that was started; numerical libraries stay on one core."""
    folders = [os.path.abspath(folder) for folder in sys.path if folder]  # noqa: PTH100
    package = os.fspath(Path(__file__).resolve().parents[2])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([package, *folders])),
        "PYTHONUNBUFFERED": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
