"""Writes what a simulated process left behind as PyTorch's profiler would."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

from scripts.samples.gpus import REGISTERS, RESERVED_BYTES
from scripts.samples.process import Process

_BASE_TIME_NS: Final = 1_767_225_600_000_000_000
"""1 January 2026, the ``baseTimeNanoseconds`` that times are written relative to."""


def write_trace(process: Process, path: Path) -> None:
    """Writes the trace, gzip-compressed and the same bytes every time."""
    header: dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [_device_properties(process, number) for number in range(process.world_size)],
        "cuda_runtime_version": 12_080,
        "cuda_driver_version": 12_080,
        "cupti_version": 26,
        "trace_id": f"{process.seed:032X}",
        "record_shapes": 1,
        "with_stack": 1,
        "with_modules": 1,
        "profile_memory": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": _BASE_TIME_NS,
    }
    if process.world_size > 1:
        header["distributedInfo"] = {
            "backend": "nccl",
            "rank": process.rank,
            "world_size": process.world_size,
            "pg_count": 1,
            "pg_config": [
                {
                    "pg_name": "0",
                    "pg_desc": "default_pg",
                    "backend_config": "cuda:nccl",
                    "pg_size": process.world_size,
                    "ranks": list(range(process.world_size)),
                }
            ],
            "nccl_version": "2.26.2",
        }
    header["generated"] = "made by scripts.samples.generate, not recorded"
    header["traceName"] = process.trace_name
    events = [*_metadata(process), *sorted(process.events, key=lambda event: event["ts"])]
    for event in events:
        event["ts"] = _microseconds(event["ts"])
        if "dur" in event:
            event["dur"] = _microseconds(event["dur"])
    text = json.dumps(header | {"traceEvents": events}, separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(text.encode())


def _device_properties(process: Process, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": process.gpu.name,
        "totalGlobalMem": process.gpu.memory_bytes,
        "computeMajor": process.gpu.capability[0],
        "computeMinor": process.gpu.capability[1],
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048,
        "regsPerBlock": 65536,
        "warpSize": 32,
        "sharedMemPerBlock": 49152,
        "numSms": process.gpu.sm_count,
        "regsPerMultiprocessor": REGISTERS,
        "sharedMemPerBlockOptin": process.gpu.shared_bytes - RESERVED_BYTES,
        "sharedMemPerMultiprocessor": process.gpu.shared_bytes,
    }


def _metadata(process: Process) -> list[dict[str, Any]]:
    def name(kind: str, pid: int, tid: int, value: str) -> dict[str, Any]:
        return {"name": kind, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": {kind.split("_")[1]: value}}

    streams = sorted({record.stream for record in process.device})
    return [
        name("process_name", process.pid, 0, "python"),
        name("process_labels", process.pid, 0, "CPU"),
        name("process_name", process.rank, 0, "python"),
        name("process_labels", process.rank, 0, f"GPU {process.rank}"),
        name("thread_name", process.pid, process.pid, f"thread {process.pid} (python)"),
        name(
            "thread_name",
            process.pid,
            process.autograd_tid,
            f"thread {process.autograd_tid} (pt_autograd_{process.rank})",
        ),
        *(name("thread_name", process.rank, stream, f"stream {stream} ") for stream in streams),
    ]


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1_000
