"""Small PyTorch traces, written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STEP_US = 1000
KERNEL_US = 250


def write_trace(path: Path, steps: int = 3, rank: int | None = None) -> Path:
    """A trace of ``steps`` steps of 1 ms each, with one matrix product of 250 us on the GPU in each of them."""
    events: list[dict[str, Any]] = []
    for step in range(steps):
        start = step * STEP_US
        host = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            {**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": start, "dur": STEP_US},
            {
                **host,
                "cat": "cpu_op",
                "name": "aten::mm",
                "ts": start + 100,
                "dur": 100,
                "args": {"External id": step + 1, "Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]},
            },
            {
                **host,
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "ts": start + 120,
                "dur": 20,
                "args": {"correlation": step + 1, "External id": step + 1},
            },
            {
                "ph": "X",
                "pid": 0,
                "tid": 7,
                "cat": "kernel",
                "name": "ampere_sgemm_64x64_nn",
                "ts": start + 200,
                "dur": KERNEL_US,
                "args": {
                    "correlation": step + 1,
                    "External id": step + 1,
                    "device": 0,
                    "stream": 7,
                    "grid": [1, 1, 1],
                    "block": [64, 1, 1],
                },
            },
        ]
    trace: dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "Test GPU", "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
        "traceEvents": events,
    }
    if rank is not None:
        trace["distributedInfo"] = {"rank": rank, "world_size": 2}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(trace))
    return path


def number_ranges(trace: Path, steps: int, **lengths: int) -> None:
    """Puts numbered ranges into a trace, one after the other: ``batch=2`` makes ``batch 0``, ... of two steps each."""
    content = json.loads(trace.read_text())
    content["traceEvents"] += [
        {
            "ph": "X",
            "pid": 1,
            "tid": 1,
            "cat": "user_annotation",
            "name": f"{name} {number}",
            "ts": number * length * STEP_US,
            "dur": length * STEP_US,
        }
        for name, length in lengths.items()
        for number in range(steps // length)
    ]
    trace.write_text(json.dumps(content))
