"""The categories of events, and the table that each goes to.

Their names have changed: ``Operator``, ``Kernel``, ``Runtime``, ``Memcpy``, ``Memset`` and ``async``
(2020, 2021) are ``cpu_op``, ``kernel``, ``cuda_runtime``, ``gpu_memcpy``, ``gpu_memset`` and ``ac2g``
today. A category may be a list with commas.
"""

from __future__ import annotations

import enum


class Kind(enum.IntEnum):
    """The table that an event of a category goes to."""

    IGNORED = 0
    """Known but not needed: metadata, launch arrows, the profiler's events about itself."""
    UNKNOWN = 1
    OLD_OP = 2
    """An operator or annotation of 2020 or 2021, when traces did not distinguish them."""
    OP = 3
    ANNOTATION = 4
    FRAME = 5
    CALL = 6
    KERNEL = 7
    MEMCPY = 8
    MEMSET = 9
    SYNC = 10
    FLOW = 11
    INSTANT = 12
    COUNTER = 14
    """A sample of a hardware counter."""
    COUNTER_RANGE = 15
    """Hardware counters of a kernel, recorded in place of its times."""
    COLLECTIVE = 16
    """Arguments that describe a collective, beside the event that has them."""
    UNNAMED = 13
    """No category: metadata, and the ``[memory]`` instants of 2021."""


_KINDS = {
    "": Kind.UNNAMED,
    "operator": Kind.OLD_OP,
    "cpu_op": Kind.OP,
    "user_annotation": Kind.ANNOTATION,
    "python_function": Kind.FRAME,
    "runtime": Kind.CALL,
    "driver": Kind.CALL,
    "kernel": Kind.KERNEL,
    "concurrent_kernel": Kind.KERNEL,
    "memcpy": Kind.MEMCPY,
    "gpu_memcpy": Kind.MEMCPY,
    "memset": Kind.MEMSET,
    "gpu_memset": Kind.MEMSET,
    "cuda_sync": Kind.SYNC,
    "fwdbwd": Kind.FLOW,
    "forward_backward": Kind.FLOW,
    "cpu_instant_event": Kind.INSTANT,
    "async": Kind.IGNORED,
    "ac2g": Kind.IGNORED,
    "async_cpu_to_gpu": Kind.IGNORED,
    "async_gpu": Kind.IGNORED,
    "trace": Kind.IGNORED,
    "overhead": Kind.IGNORED,
    # Repeats each user annotation on the device's track, from its first to its last kernel.
    "gpu_user_annotation": Kind.IGNORED,
    "cuda_event": Kind.IGNORED,
    "hardware_counters": Kind.COUNTER,
    "cuda_profiler_range": Kind.COUNTER_RANGE,
    "external_correlation": Kind.IGNORED,
    "collective_comm": Kind.IGNORED,
}


_SUFFIXES = {
    "_runtime": Kind.CALL,
    "_driver": Kind.CALL,
    "_memcpy": Kind.MEMCPY,
    "_memset": Kind.MEMSET,
    "_sync": Kind.SYNC,
    "_user_annotation": Kind.IGNORED,
}
"""Endings of the categories of other devices: ``xpu_runtime``, ``privateuse1_driver``, ``mlu_memcpy``, ``xpu_sync``."""


OTHER_DEVICES = {"mtia_ccp_events": "MTIA", "mtia_insight": "MTIA", "hpu_op": "Gaudi"}
"""Categories of work on devices that are no GPUs. It is not read."""


def kind_of_category(category: str) -> Kind:
    """The kind of the first known category in a comma-separated list, ignoring case."""
    for part in category.lower().split(","):
        name = part.strip()
        if name in _KINDS:
            return _KINDS[name]
        for suffix, kind in _SUFFIXES.items():
            if name.endswith(suffix):
                return kind
    return Kind.UNKNOWN
