"""Writes small traces for tests, event by event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto import KinetoImporter

MAIN = {"pid": 100, "tid": 100}
GPU = {"pid": 0, "tid": 7}


def x(cat: str, name: str, ts: Any, dur: Any, track: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
    """A complete event; underscores in the names of ``args`` stand for spaces."""
    named = {key.replace("_", " "): value for key, value in args.items()}
    where = track if track is not None else (GPU if cat in ("kernel", "gpu_memcpy", "gpu_memset") else MAIN)
    return {"ph": "X", "cat": cat, "name": name, **where, "ts": ts, "dur": dur, "args": named}


def op(name: str = "aten::mm", ts: Any = 10, dur: Any = 5, **args: Any) -> dict[str, Any]:
    """An operator on the main thread."""
    return x("cpu_op", name, ts, dur, **args)


def kernel(name: str = "k", ts: Any = 12, dur: Any = 3, **args: Any) -> dict[str, Any]:
    """A kernel on stream 7 of device 0."""
    return x("kernel", name, ts, dur, **({"device": 0, "stream": 7, "correlation": 1} | args))


def trace(*events: Any, **metadata: Any) -> bytes:
    """A trace as Kineto lays it out, metadata first."""
    return json.dumps({**metadata, "traceEvents": events}).encode()


def read_path(path: Path) -> Capture:
    """Reads a trace with default options."""
    return KinetoImporter().read(path, ReadOptions(), lambda stage, fraction: None)


def read(content: bytes, folder: Path, name: str = "trace.json") -> Capture:
    """Writes a trace and reads it."""
    path = folder / name
    path.write_bytes(content)
    return read_path(path)


def texts(capture: Capture, ids: Any) -> list[str]:
    """The texts of a column."""
    return [capture.strings[int(identifier)] for identifier in ids]


def spans(capture: Capture) -> list[tuple[str, int, int]]:
    """Name, start and end of every host range."""
    ranges = capture.ranges
    return list(zip(texts(capture, ranges.name), ranges.start_ns.tolist(), ranges.end_ns.tolist(), strict=True))
