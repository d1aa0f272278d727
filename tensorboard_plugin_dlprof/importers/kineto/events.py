"""An event of a trace as msgspec decodes it, and the table that its category belongs to.

``args`` stays JSON text: which of its fields are needed, and their types, depends on the table (``tables``).

Names of categories have changed: ``Operator``, ``Kernel``, ``Runtime``, ``Memcpy``, ``Memset`` and ``async`` (2020,
2021) are ``cpu_op``, ``kernel``, ``cuda_runtime``, ``gpu_memcpy``, ``gpu_memset`` and ``ac2g`` today. A category may be
a list with commas.
"""

from __future__ import annotations

import math
from decimal import Decimal
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
    ts: float | Decimal = math.nan
    dur: float = math.nan
    args: msgspec.Raw = NO_ARGS
    id: int | str = -1


class RoundedEvent(Event, frozen=True, gc=False):
    """An event whose timestamp a double represents to the nanosecond."""

    ts: float = math.nan


class ExactEvent(Event, frozen=True, gc=False):
    """An event whose timestamp has more digits than a double holds."""

    ts: Decimal = Decimal("nan")


IGNORED: Final = "ignored"
"""Known but not needed: metadata, launch arrows, the profiler's events about itself."""

UNKNOWN: Final = "unknown"

UNNAMED: Final = "unnamed"
"""No category: metadata, the ``[memory]`` instants of 2021, and the ops of 2020."""

COUNTER_RANGE: Final = "counter_range"
"""Hardware counters of a kernel, recorded in place of its times."""

NO_TABLES: Final = (IGNORED, UNKNOWN, UNNAMED, COUNTER_RANGE)

_TABLES = {
    "": UNNAMED,
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
    "cpu_instant_event": "memory",
    "hardware_counters": "counters",
    "cuda_profiler_range": COUNTER_RANGE,
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
    """The table (``tables.TABLES``) of the first known category in a comma-separated list, ignoring case; or one of
    ``NO_TABLES``."""
    for name in map(str.strip, category.lower().split(",")):
        if name in _TABLES:
            return _TABLES[name]
        for suffix, table in _SUFFIXES.items():
            if name.endswith(suffix):
                return table
    return UNKNOWN
