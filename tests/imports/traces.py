"""Small PyTorch traces with known answers, written by the tests that need a source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KERNEL_NAME = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>(int)"


def write_trace(path: Path, steps: int = 3, adds_per_step: int = 2, rank: int | None = None) -> Path:
    """Steps of 1 ms; each holds ``adds_per_step`` adds of up to 100 µs that launch one kernel of up to 40 µs."""
    events: list[dict[str, Any]] = []
    correlation = 0
    for step in range(steps):
        base = 1_000 * step
        events.append(_event("user_annotation", f"ProfilerStep#{step}", base, 900, 1, 1))
        for number in range(adds_per_step):
            correlation += 1
            start = base + 10 + number * 800 // adds_per_step
            length = min(100, 800 // adds_per_step)
            events += [
                _event("cpu_op", "aten::add", start, length, 1, 1, {"Input Dims": [[8, 8], [8, 8]]}),
                _event("cuda_runtime", "cudaLaunchKernel", start + 1, 2, 1, 1, {"correlation": correlation}),
                _event(
                    "kernel",
                    KERNEL_NAME,
                    start + 20,
                    min(40, length // 2),
                    0,
                    7,
                    {"correlation": correlation, "device": 0, "stream": 7, "grid": [1, 1, 1], "block": [64, 1, 1]},
                ),
            ]
    about: dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA Test GPU", "computeMajor": 8, "computeMinor": 0, "numSms": 4}],
    }
    if rank is not None:
        about["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**about, "traceEvents": events}))
    return path


def write_long_trace(path: Path) -> Path:
    """A trace of 80,000 kernels, whose import needs more than a few megabytes."""
    return write_trace(path, steps=200, adds_per_step=400)


def _event(
    category: str,
    name: str,
    start_us: int,
    length_us: int,
    process: int,
    thread: int,
    args: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "ts": start_us,
        "dur": length_us,
        "pid": process,
        "tid": thread,
        "args": args or {},
    }
