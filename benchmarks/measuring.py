"""Measures whole processes: processor time, wall time and peak memory, children included."""

from __future__ import annotations

import compileall
import math
import os
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_SAMPLE_EVERY_S = 0.02


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a process."""

    cpu_s: float
    wall_s: float
    peak_bytes: int
    """Peak memory of the process and its children; 0 where it is unknown, as on systems other than Linux."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits beyond which a process is ended."""

    memory_bytes: float = math.inf
    wall_s: float = math.inf


class CommandFailed(RuntimeError):
    """A measured process ended with an error, or was ended at its limits."""

    def __init__(self, output: str, command: Sequence[str] = ()) -> None:
        super().__init__(f"{' '.join(command)}: {output}" if command else output)
        self.output = output
        """What it said of it."""


def compile_modules() -> None:
    """As an installation does: where Python writes no bytecode, each start would measure its compiler."""
    for folder in (Path(__file__).parent, Path(__file__).parent.parent / "tensorboard_plugin_dlprof"):
        compileall.compile_dir(folder, quiet=2)


def run(command: Sequence[str], environment: Mapping[str, str] | None = None, limits: Limits | None = None) -> Run:
    """Runs a command to its end, or to its limits: then it is ended with all its children.

    Raises:
        CommandFailed: it ended with an error, or was ended.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=None if environment is None else dict(environment),
    )
    watcher = _Watcher(process.pid, limits or Limits())
    watcher.start()
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    watcher.stop()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stderr:
        process.stderr.close()
    if watcher.exceeded:
        raise CommandFailed(f"ended, as it took more than {watcher.exceeded}", command)
    if process.returncode:
        raise CommandFailed(errors.decode(errors="replace").strip()[-2000:], command)
    return Run(usage.ru_utime + usage.ru_stime, wall_s, watcher.peak_bytes)


def paired(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[Run]]:
    """Run the commands in turn, so that other work of the machine affects all of them alike."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(run(command))
    return runs


def median_ratio(runs: Sequence[Run], reference: Sequence[Run]) -> float:
    """Median of the ratios of processor time, round by round."""
    return statistics.median(a.cpu_s / b.cpu_s for a, b in zip(runs, reference, strict=True))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class _Watcher(threading.Thread):
    """Watches a process and its children until it is stopped, and kills them beyond the limits."""

    def __init__(self, process: int, limits: Limits) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self.exceeded = ""
        """The limit that the process was ended at."""
        self._process = process
        self._limits = limits
        self._done = threading.Event()

    def run(self) -> None:
        """Ends the process with its children once it is beyond its limits."""
        start = time.perf_counter()
        while not self._done.wait(_SAMPLE_EVERY_S):
            family = _family(self._process)
            self.peak_bytes = max(self.peak_bytes, sum(map(_peak_bytes, family)))
            if self.peak_bytes > self._limits.memory_bytes:
                self.exceeded = f"{self._limits.memory_bytes / 1e9:g} GB of memory"
            elif time.perf_counter() - start > self._limits.wall_s:
                self.exceeded = f"{self._limits.wall_s / 60:g} minutes"
            if self.exceeded:
                for member in family:
                    with suppress(ProcessLookupError):
                        os.kill(member, signal.SIGKILL)

    def stop(self) -> None:
        """Stop watching; returns when the thread has ended."""
        self._done.set()
        self.join()


def _family(process: int) -> list[int]:
    family = [process]
    with suppress(OSError, ValueError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                family += _family(int(child))
    return family


def _peak_bytes(process: int) -> int:
    """Its largest memory so far. What the system reports at its end would count the memory of our own process."""
    with suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{process}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return 0
