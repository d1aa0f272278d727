"""Reads the counters that PyTorch's profiler recorded with ``profiler_metrics`` (Kineto's CUPTI Range Profiler).

Such a trace holds, in place of kernels and their times, a complete event of the category ``cuda_profiler_range`` for
each kernel, with every metric by its name among the arguments. Its times mean nothing: Kineto divides the whole span
evenly (``libkineto/src/CuptiRangeProfiler.cpp`` until its removal in June 2026; it needs CUDA 12.6 or older). With
``profiler_measure_per_kernel=False`` one range is for everything, which proves nothing of a kernel.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Final

import msgspec

from tensorboard_plugin_dlprof.counters.metrics import is_wanted
from tensorboard_plugin_dlprof.counters.ncu_csv import Measured, Report
from tensorboard_plugin_dlprof.errors import BrokenSource, UnsafeFile
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream

CATEGORY: Final = "cuda_profiler_range"

MAX_BYTES: Final = 256 << 20
"""Replaying every kernel is slow, and the number of ranges limited: traces of counters are small."""

_NO_NUMBER: Final = re.compile(rb"(?<=[:\s])-?(?:nan|inf|NaN|Infinity)(?=[\s,}])")
_UNKNOWN_KERNEL: Final = "__missing__"


class _Event(msgspec.Struct, gc=False):
    cat: Any = ""
    name: Any = ""
    pid: Any = 0
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Trace(msgspec.Struct):
    events: list[_Event] = msgspec.field(name="traceEvents")
    devices: Any = msgspec.field(name="deviceProperties", default=None)


def read_ranges(path: Path) -> Report:
    """Read the ranges of a trace, in its order.

    Raises:
        BrokenSource: The trace is damaged, or has no counters of kernels.
        UnsafeFile: It is larger than a trace of counters can reasonably be.
    """
    trace = _decoded(_text(path), str(path))
    majors = _capabilities(trace.devices)
    report = Report([])
    for event in trace.events:
        if event.cat != CATEGORY:
            continue
        values = _values(event.args)
        if not isinstance(event.name, str) or event.name == _UNKNOWN_KERNEL or not values:
            report.skipped_rows += 1
            continue
        major = majors.get(event.pid, 0) if isinstance(event.pid, int) else 0
        report.launches.append(Measured(event.name, None, None, major, values))
    if not report.launches:
        raise BrokenSource(
            f"{path}: the trace holds no usable counters of kernels; record it with "
            'experimental_config=torch.profiler._ExperimentalConfig(profiler_metrics=["kineto__tensor_core_insts"], '
            "profiler_measure_per_kernel=True), or measure with Nsight Compute."
        )
    return report


def _text(path: Path) -> bytes:
    parts: list[bytes] = []
    size = 0
    with ByteStream(path) as stream:
        while chunk := stream.read(1 << 20):
            size += len(chunk)
            if size > MAX_BYTES:
                raise UnsafeFile(
                    f"{path} is larger than a trace of counters may be ({MAX_BYTES >> 20} MiB); profile fewer steps of "
                    "the program with counters."
                )
            parts.append(chunk)
    return b"".join(parts)


def _decoded(text: bytes, shown: str) -> _Trace:
    whole = _trace_in(text) or _trace_in(_NO_NUMBER.sub(b"null", text))
    if whole is None:
        raise BrokenSource(f"{shown}: the trace of counters is damaged or cut short; record it again.")
    return whole


def _trace_in(text: bytes) -> _Trace | None:
    try:
        if text.lstrip().startswith(b"["):
            return _Trace(msgspec.json.decode(text, type=list[_Event]))
        return msgspec.json.decode(text, type=_Trace)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _values(arguments: msgspec.Raw) -> dict[str, float]:
    try:
        fields = msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    if not isinstance(fields, dict):
        return {}
    numbers = {name: value for name, value in fields.items() if isinstance(value, (int, float)) and is_wanted(name)}
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def _capabilities(devices: object) -> dict[int, int]:
    """The major compute capability of each device."""
    rows = [row for row in devices if isinstance(row, dict)] if isinstance(devices, list) else []
    pairs = [(row.get("id"), row.get("computeMajor")) for row in rows]
    return {number: major for number, major in pairs if isinstance(number, int) and isinstance(major, int)}
