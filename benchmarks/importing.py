"""Measures imports of traces and exports of growing size: time against the floor, memory, size of the database."""

from __future__ import annotations

import gzip
import sqlite3
import statistics
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.measuring import Run, median_ratio, paired
from tensorboard_plugin_dlprof.database.naming import database_name


def import_command(source: Path, output: Path, *options: str) -> list[str]:
    """The command line that imports a file."""
    package = "tensorboard_plugin_dlprof"
    return [sys.executable, "-m", package, "import", str(source), "-o", str(output), "--force", *options]


def floor_command(source: Path) -> list[str]:
    """The command line of the floor."""
    return [sys.executable, "-m", "benchmarks.floor", str(source)]


def measure_import(source: Path, output: Path, rounds: int) -> dict[str, Any]:
    """Measure one file: floor, import, and import with two workers, in turn, each with its process start."""
    commands = {
        "floor": floor_command(source),
        "two workers": import_command(source, output, "--workers", "2"),
        "import": import_command(source, output),
    }
    runs = paired(commands, rounds)
    database = output / database_name(source.name)
    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as con:
        kernels = con.execute("SELECT count(*) FROM read_only_kernels").fetchone()[0]
    return {
        "source_bytes": source.stat().st_size,
        "expanded_bytes": _expanded_bytes(source),
        "kernels": kernels,
        "floor_cpu_s": _median([run.cpu_s for run in runs["floor"]]),
        "import_cpu_s": _median([run.cpu_s for run in runs["import"]]),
        "import_wall_s": _median([run.wall_s for run in runs["import"]]),
        "cpu_over_floor": round(median_ratio(runs["import"], runs["floor"]), 2),
        "wall_over_two_workers": round(
            statistics.median(
                one.wall_s / two.wall_s for one, two in zip(runs["import"], runs["two workers"], strict=True)
            ),
            2,
        ),
        "peak_bytes": _peak(runs["import"]),
        "database_bytes": database.stat().st_size,
        "database": str(database),
    }


def _expanded_bytes(source: Path) -> int:
    if source.suffix != ".gz":
        return source.stat().st_size
    with gzip.open(source) as stream:
        return sum(map(len, iter(lambda: stream.read(1 << 20), b"")))


def _median(values: list[float]) -> float:
    return round(statistics.median(values), 3)


def _peak(runs: list[Run]) -> int:
    return max(run.peak_bytes for run in runs)
