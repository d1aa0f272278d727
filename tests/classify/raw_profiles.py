"""Kernel times straight from the raw files, with nothing of the package: what the classifier is measured against."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

Times = dict[tuple[str, str], tuple[int, int]]
"""(long name, short name) -> number of kernels, nanoseconds."""


def raw_profiles(folder: Path | None) -> list[str]:
    """Paths, below ``folder``, of the Nsight exports and PyTorch traces; a stand-in where there is no folder."""
    if folder is None:
        return ["no-real-profiles"]
    exports = [*folder.glob("nsight/*/*.sqlite"), *folder.glob("dlprof-golden/nsys_profile.sqlite")]
    traces = [*folder.glob("torch/*/*.json"), *folder.glob("torch/*/*.json.gz")]
    return [path.relative_to(folder).as_posix() for path in sorted(exports + traces)]


@cache
def kernel_times(path: Path) -> Times:
    """The kernels of one file by name; empty when it holds none."""
    return _of_export(path) if path.suffix == ".sqlite" else _of_trace(path)


def _of_export(path: Path) -> Times:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "CUPTI_ACTIVITY_KIND_KERNEL" not in tables:
            return {}
        rows = connection.execute(
            'SELECT long.value, short.value, count(*), sum(kernel."end" - kernel.start) '
            "FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel LEFT JOIN StringIds AS long ON long.id = kernel.demangledName "
            "LEFT JOIN StringIds AS short ON short.id = kernel.shortName GROUP BY 1, 2"
        )
        return {(long or "", short or ""): (count, duration) for long, short, count, duration in rows}


def _of_trace(path: Path) -> Times:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode(errors="replace")
    try:
        trace = json.loads(text, strict=False)
    except ValueError:
        return {}
    times: Times = {}
    for event in trace["traceEvents"] if isinstance(trace, dict) else trace:
        if event.get("ph") == "X" and str(event.get("cat", "")).lower() == "kernel":
            count, duration = times.get((event["name"], ""), (0, 0))
            times[(event["name"], "")] = (count + 1, duration + round(float(event["dur"]) * 1000))
    return times
