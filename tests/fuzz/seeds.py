"""Small valid inputs of every format, from our own samples: damaged copies are made of them.

Real profiles, where there are any beside the clone, are cut down to the same size.
"""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.ranks.job_step import make_jobs
from tensorboard_plugin_dlprof.samples import DATA
from tests.imports.traces import write_trace
from tests.shared_data import shared_data_or_none

EVENTS = 300
"""Of one cut trace."""

MAX_SOURCE_BYTES = 1 << 20
"""Larger ones take longer to cut down than all the copies take."""

MAX_COPIED_BYTES = 1 << 20


def trace(folder: Path) -> list[Path]:
    """Plain JSON: three steps made for tests, and the heads of real traces."""
    paths = [write_trace(folder / "made.pt.trace.json", rank=0)]
    for source in [*sorted(DATA.glob("*.pt.trace.json.gz"))[:3], *_shared("torch/*/*.json*")]:
        paths.append(_head(source, folder / f"{source.parent.name}-{source.name.partition('.')[0]}.pt.trace.json"))
    return paths


def gzip_trace(folder: Path) -> list[Path]:
    """The same, compressed."""
    paths = []
    for path in trace(folder):
        packed = path.with_name(f"{path.name}.gz")
        packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
        paths.append(packed)
    return paths


def nsight(folder: Path) -> list[Path]:
    """Exports of Nsight Systems."""
    made = folder / "mnist.sqlite"
    made.write_bytes(gzip.decompress((DATA / "generated-mnist-nsys.sqlite.gz").read_bytes()))
    return [made, *_copies("nsight/*/*.sqlite", folder)]


def xplane(folder: Path) -> list[Path]:
    """XPlane profiles."""
    made = folder / "made.xplane.pb"
    made.write_bytes((DATA / "generated-transformer-jax.xplane.pb").read_bytes())
    return [made, *_copies("xplane/*/*.xplane.pb", folder)]


def snapshot(folder: Path) -> list[Path]:
    """Memory snapshots."""
    frames = [{"name": "forward", "filename": "model.py", "line": 7}]
    events = [
        {
            "action": ("segment_alloc", "alloc", "alloc", "free_completed")[number % 4],
            "addr": 4096 + 512 * (number // 4),
            "size": 512,
            "stream": 0,
            "time_us": 1_000 + number,
            "frames": frames,
        }
        for number in range(EVENTS)
    ]
    blocks = [{"size": 512, "requested_size": 500, "state": "active_allocated", "frames": frames}]
    segment = {"device": 0, "address": 4096, "total_size": 2048, "stream": 0, "segment_type": "small", "blocks": blocks}
    annotations = [
        {"name": "Optimizer.step", "stage": stage, "device": 0, "time_us": 1_100} for stage in ("START", "END")
    ]
    made = folder / "made.pickle"
    parts = {"segments": [segment], "device_traces": [events], "external_annotations": annotations}
    made.write_bytes(pickle.dumps(parts, 2))
    return [made, *_copies("memory/*/*.pickle", folder)]


def dlprof(folder: Path) -> list[Path]:
    """Databases: one of ours, and genuine ones of DLProf."""
    source = write_trace(folder / "made.pt.trace.json", rank=0)
    database = folder / database_name(source.name)
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    source.unlink()
    return [database, *_copies("dlprof-golden/dlprof_dldb.sqlite", folder)]


def job(folder: Path) -> list[Path]:
    """The database of a job of two ranks, whose own are beside it."""
    for name in ("rank0", "rank1"):
        source = next(DATA.glob(f"*-{name}.pt.trace.json.gz"))
        import_source(source, folder / database_name(source.name), ImportOptions(), lambda _stage, _fraction: None)
    made, _ = make_jobs(folder)
    return [made[0].database]


SEEDS: Mapping[str, Callable[[Path], list[Path]]] = MappingProxyType(
    {
        "trace": trace,
        "gzip_trace": gzip_trace,
        "nsight": nsight,
        "xplane": xplane,
        "snapshot": snapshot,
        "dlprof": dlprof,
        "job": job,
    }
)
"""Format -> writes its valid inputs into a folder."""


def _shared(pattern: str) -> list[Path]:
    folder = shared_data_or_none()
    result = sorted(folder.glob(pattern)) if folder else []
    return [path for path in result if path.stat().st_size <= MAX_SOURCE_BYTES]


def _copies(pattern: str, folder: Path) -> list[Path]:
    paths = []
    for source in _shared(pattern):
        if source.stat().st_size <= MAX_COPIED_BYTES:
            target = folder / f"{source.parent.name}-{source.name}"
            target.write_bytes(source.read_bytes())
            paths.append(target)
    return paths


def _head(source: Path, target: Path) -> Path:
    content = source.read_bytes()
    whole: Any = json.loads(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content, strict=False)
    about = whole if isinstance(whole, dict) else {"traceEvents": whole}
    target.write_text(json.dumps({**about, "traceEvents": _mixed(about["traceEvents"])}))
    return target


def _mixed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some of each category, so that the head is not all frames or all metadata."""
    remaining: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        group = remaining.setdefault(f"{event.get('ph')} {event.get('cat')}", [])
        if len(group) < EVENTS // 10:
            group.append(event)
    return [event for group in remaining.values() for event in group][:EVENTS]
