"""Small traces of a few steps, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.pipeline import ImportOptions, diagnose_source
from tests.diagnosis.test_parts import Event, event, launch

STEP_US = 100_000
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"


def steps(body: list[Event], *, lengths: tuple[int, ...] = (STEP_US,) * 4, every: bool = True) -> list[Event]:
    """The body in each step, or in the last one alone; each step has a kernel in its first tenth and in its last."""
    result, begin = [], 0
    for number, length in enumerate(lengths):
        marks = [event("user_annotation", f"ProfilerStep#{number}", 0, length)]
        first = launch(1_000 * (number + 1), 10, 20, length // 10)
        last = launch(1_000 * (number + 1) + 1, length - length // 10 - 20, length - length // 10, length // 10)
        inside = body if every or number == len(lengths) - 1 else []
        for each in (*marks, *first, *last, *inside):
            args = dict(each["args"])
            if "correlation" in args:
                args["correlation"] += 10_000 * (number + 1)
            result.append({**each, "ts": each["ts"] + begin, "args": args})
        begin += length
    return result


def unmarked(body: list[Event]) -> list[Event]:
    """One step without its mark."""
    return [each for each in steps(body, lengths=(STEP_US,)) if not each["name"].startswith("ProfilerStep")]


GAP = (20 + STEP_US // 10, STEP_US - STEP_US // 10)
"""The gap of a step, in microseconds."""

LONG = GAP[1] - GAP[0] - 200


def said(events: list[Event], folder: Path, iterations: str = "typical") -> dict[str, Any]:
    """The diagnosis."""
    trace = folder / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    diagnosis: dict[str, Any] = diagnose_source(trace, iterations, ImportOptions(), lambda *_: None)
    return diagnosis
