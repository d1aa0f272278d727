"""An event of a trace as msgspec decodes it, and the table that its category belongs to.

``args`` stays JSON text: which of its fields are needed, and their types, depends on the table (``tables``).

Names of categories have changed: ``Operator``, ``Kernel``, ``Runtime``, ``Memcpy``, ``Memset`` and ``async`` (2020,
2021) are ``cpu_op``, ``kernel``, ``cuda_runtime``, ``gpu_memcpy``, ``gpu_memset`` and ``ac2g`` today. A category may be
a list with commas.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec

DECODE_ERRORS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
"""What decoding may raise on untrusted bytes."""

NO_ARGS: Final = msgspec.Raw(b"{}")


class Event(msgspec.Struct, frozen=True, gc=False):
    """One entry of ``traceEvents``. -1, NaN and empty values stand for absent; ``ts`` and ``dur`` are microseconds.

    Fields are in Kineto's order, because the decoder tries the one after the last first.
    """

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = -1
    tid: int | str = -1
    ts: float = math.nan
    dur: float = math.nan
    args: msgspec.Raw = NO_ARGS
    id: int | str = -1


class ExactEvent(Event, frozen=True, gc=False):
    """An event whose timestamp has more digits than a double holds, and stays JSON text."""

    ts: msgspec.Raw = msgspec.Raw(b"null")  # type: ignore[assignment]


IGNORED: Final = "ignored"
"""Known but not needed: metadata, launch arrows, the profiler's events about itself."""

UNKNOWN: Final = "unknown"

BY_NAME: Final = "by name"
"""The category does not tell: instants, the ops of 2020, metadata."""

COUNTER_RANGES: Final = (
    "counters of kernels, which PyTorch recorded in place of their times: give this file as --counters beside a "
    "profile without them"
)

_TABLES = {
    "": BY_NAME,
    "operator": "old_ops",
    "cpu_op": "ops",
    "user_annotation": "annotations",
    "python_function": "frames",
    "runtime": "calls",
    "driver": "calls",
    "kernel": "work",
    "concurrent_kernel": "work",
    "memcpy": "work",
    "memset": "work",
    "fwdbwd": "flows",
    "forward_backward": "flows",
    "cpu_instant_event": BY_NAME,
    "hardware_counters": "counters",
    "cuda_profiler_range": COUNTER_RANGES,
    **dict.fromkeys(("async", "ac2g", "async_cpu_to_gpu", "async_gpu", "trace", "overhead"), IGNORED),
    **dict.fromkeys(("cuda_event", "external_correlation", "collective_comm"), IGNORED),
}

_SUFFIXES = {
    "_runtime": "calls",
    "_driver": "calls",
    "_memcpy": "work",
    "_memset": "work",
    "_sync": "syncs",
    "_user_annotation": IGNORED,  # repeats each on the device's track, from its first to its last kernel
}
"""Endings of the categories of all devices: ``cuda_runtime``, ``privateuse1_driver``, ``mlu_memcpy``, ``xpu_sync``."""


def table_of(category: str) -> str:
    """The table (``tables.TABLES``) of the first known category in a comma-separated list, ignoring case; or
    ``IGNORED``, ``UNKNOWN``, ``BY_NAME``, or the reason why its events are left out."""
    for name in map(str.strip, category.lower().split(",")):
        if name in _TABLES:
            return _TABLES[name]
        for suffix, table in _SUFFIXES.items():
            if name.endswith(suffix):
                return table
    return UNKNOWN
