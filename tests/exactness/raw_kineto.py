"""A trace of the PyTorch profiler, with ``json`` and exact decimals."""

from __future__ import annotations

import gzip
import json
import re
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

from tests.exactness.raw import Call, Launch, Raw, Span, Thread, Work

CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
MEMORY = {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
RANGES = {"cpu_op", "user_annotation", "Operator", "fwdbwd", "python_function"}
LOADER = "enumerate(DataLoader)#"


def read(path: Path) -> Raw:
    """The complete events of a trace."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        document = json.load(stream, parse_float=Decimal)
    raw = Raw()
    for event in document["traceEvents"] if isinstance(document, dict) else document:
        if event.get("ph") == "X":
            _add(raw, event)
    raw.steps.sort()
    return raw


def _add(raw: Raw, event: dict[str, Any]) -> None:
    kind, name, arguments = event.get("cat", ""), str(event.get("name", "")), event.get("args", {})
    if kind in ("kernel", "Kernel") or kind in MEMORY:
        is_kernel = kind not in MEMORY
        work = Work(_span(event), int(arguments.get("device", 0)), _launch(arguments))
        (raw.kernels if is_kernel else raw.memory).append(work)
    elif kind in CALLS:
        raw.calls.append(Call(_thread(event), _span(event), _launch(arguments)))
    elif kind in RANGES:
        raw.ranges.setdefault(_thread(event), set()).add(_span(event))
        if step := re.fullmatch(r"ProfilerStep#(\d+)", name):
            raw.steps.append((int(step[1]), _span(event)))
        if name.startswith(LOADER):
            raw.loader.append(_span(event))


def _launch(arguments: dict[str, Any]) -> Launch:
    """A trace holds one process."""
    return 0, int(arguments.get("correlation", -1))


def _thread(event: dict[str, Any]) -> Thread:
    """The oldest traces write the number of a thread as a text, with its name behind it."""
    process, thread = (int(str(event[key]).split()[0]) for key in ("pid", "tid"))
    return process, thread


def _span(event: dict[str, Any]) -> Span:
    start, duration = _ns(event["ts"]), _ns(event.get("dur", 0))
    return start, start + duration


def _ns(microseconds: Decimal | int) -> int:
    return int((Decimal(microseconds) * 1000).to_integral_value(ROUND_HALF_EVEN))
