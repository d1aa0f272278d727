"""The exclusive parts of the time of a GPU, and the constants by which idle time is told apart."""

from __future__ import annotations

import enum
from typing import Final


class Part(enum.IntEnum):
    """What a GPU did at an instant. Of the busy ones, the first that holds; their order is that of reports."""

    COMPUTE_TENSOR = 0
    """A kernel runs that uses matrix units."""
    COMPUTE_OTHER = 1
    """A kernel runs that does not."""
    COMPUTE_UNKNOWN = 2
    """A kernel runs of which that is not known, or a CUDA graph that was recorded as a whole."""
    COMMUNICATION = 3
    """A collective, a send or a receive runs, and nothing computes."""
    COPY = 4
    """A copy or a set runs, and no kernel."""
    QUEUED = 5
    """Idle, although work had been launched."""
    BLOCKED = 6
    """Idle: the host was inside an API call that blocks."""
    LAUNCHING = 7
    """Idle: the host prepared or made the next launch, for less than ``LONG_NS``."""
    HOST_OP = 8
    """Idle for long: the host was in an op or a short API call."""
    HOST_CODE = 9
    """Idle for long: the host was in a user's range or a Python function."""
    DATA_LOADER = 10
    """Idle: the host waited for the data loader."""
    IO = 11
    """Idle: the host read or wrote files or sockets."""
    UNRECORDED = 12
    """Idle for long, while nothing was recorded on the host."""
    LAUNCH_UNKNOWN = 13
    """Idle: no call is recorded for the work that ends the gap."""

    @property
    def label(self) -> str:
        """The name in JSON: ``compute_tensor``."""
        return self.name.lower()


NAMES: Final = {
    "compute_tensor": "{unit}s",
    "compute_other": "Other kernels",
    "compute_unknown": "Unknown kernels",
    "communication": "Communication, exposed",
    "copy": "Copies, exposed",
    "data_loader": "Data loader",
    "blocked": "Blocking calls",
    "launching": "Launching",
    "host_op": "Ops on the CPU",
    "host_code": "Other code on the CPU",
    "io": "I/O",
    "queued": "Queued",
    "unrecorded": "Not recorded",
    "launch_unknown": "Launch not recorded",
}
"""What users read for each part by its ``label``, in pages, reports and comparisons (``model/parts.ts`` has the same);
``unit`` is from ``classify.architecture.matrix_unit_of``."""

REASON_NAMES: Final = {
    "turnaround": "Latency of the GPU",
    "dependency": "Waits for other work",
    "graph": "Inside a CUDA graph",
    "unexplained": "Not recorded",
    "delivery": "Latency of the launch",
    "sync": "Synchronization",
    "copy": "Copy",
    "allocation": "Memory allocation",
    "module": "Loading of code",
    "launch": "Launch",
    "other": "Other call",
}
"""What users read for the detail of a cause: why queued work waits, or what kind of call blocks."""

COMPUTE: Final = (Part.COMPUTE_TENSOR, Part.COMPUTE_OTHER, Part.COMPUTE_UNKNOWN)
BUSY: Final = (*COMPUTE, Part.COMMUNICATION, Part.COPY)
HOST: Final = (
    Part.BLOCKED,
    Part.LAUNCHING,
    Part.HOST_OP,
    Part.HOST_CODE,
    Part.DATA_LOADER,
    Part.IO,
    Part.UNRECORDED,
)
"""Idle because nothing had been launched."""

LONG_NS: Final = 1_000_000
"""Host time in one gap from which it is no longer launching, which takes microseconds."""

DELIVERY_NS: Final = 10_000
"""A launch to an empty queue takes this long to start, which still counts as launching."""

SHORT_NS: Final = 50_000
"""Queued work that starts this soon needs no other explanation than the GPU's own turnaround."""

NEAR_NS: Final = 20_000
"""How soon after the end of what it waits for on another GPU work starts."""

BLOCK_NS: Final = 100_000
"""Any call this long blocks the host."""
