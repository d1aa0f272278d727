"""Whole processes, measured: time of the processor and the clock, and the largest memory, children included."""

from __future__ import annotations

import os
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
    """Largest memory of the process and its children; 0 where the system does not tell it (not on Linux)."""


class CommandFailed(RuntimeError):
    """A measured process ended with an error."""


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Run:
    """Runs a command to its end.

    Raises:
        CommandFailed: it ended with an error.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=None if environment is None else dict(environment),
    )
    peak = [0]
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(process.pid, peak, done), daemon=True)
    watcher.start()
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    done.set()
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stderr:
        process.stderr.close()
    if process.returncode:
        raise CommandFailed(f"{' '.join(command)}: {errors.decode(errors='replace').strip()[-2000:]}")
    return Run(usage.ru_utime + usage.ru_stime, wall_s, peak[0])


def paired(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[Run]]:
    """Runs the commands in turn, so that what else the machine does meets all of them."""
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


def _watch(process: int, peak: list[int], done: threading.Event) -> None:
    while not done.wait(_SAMPLE_EVERY_S):
        peak[0] = max(peak[0], sum(map(_peak_bytes, _family(process))))


def _family(process: int) -> list[int]:
    found = [process]
    with suppress(OSError, ValueError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += _family(int(child))
    return found


def _peak_bytes(process: int) -> int:
    """Its largest memory so far. What the system reports at its end would count the memory of our own process."""
    with suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{process}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return 0
