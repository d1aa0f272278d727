"""What is stored of one rank, so that ranks can be compared without reading a trace again.

Times are nanoseconds since the start of the capture; ``CaptureInfo.base_time_ns`` is that start on the rank's clock.
"""

from __future__ import annotations

import enum

import msgspec

from tensorboard_plugin_dlprof.events.tables import Int64s, ProcessGroup


class Collective(enum.IntEnum):
    """Kinds of communication."""

    OTHER = 0
    ALL_REDUCE = 1
    ALL_GATHER = 2
    REDUCE_SCATTER = 3
    ALL_TO_ALL = 4
    BARRIER = 5
    BROADCAST = 6
    REDUCE = 7
    GATHER = 8
    SCATTER = 9
    SEND_RECV = 10


class Parts(msgspec.Struct, frozen=True):
    """How the time of windows is spent: one row per window.

    ``compute_ns + exposed_communication_ns + exposed_copy_ns + idle_ns`` is the length of the window, exactly. The
    diagnosis's parts (``diagnosis.parts.Part``) of compute and of idle time add up to these.
    """

    start_ns: Int64s
    stop_ns: Int64s
    compute_ns: Int64s
    """While a compute kernel runs."""
    exposed_communication_ns: Int64s
    """While a communication kernel runs, and no compute kernel."""
    exposed_copy_ns: Int64s
    """While a copy or set runs, and no kernel."""
    idle_ns: Int64s
    communication_ns: Int64s
    """While a communication kernel runs, whatever else does."""
    compute_tensor_ns: Int64s
    compute_other_ns: Int64s
    compute_unknown_ns: Int64s
    data_loader_ns: Int64s
    queued_ns: Int64s
    blocked_ns: Int64s
    launching_ns: Int64s
    host_op_ns: Int64s
    host_code_ns: Int64s
    io_ns: Int64s
    launch_unknown_ns: Int64s
    unrecorded_ns: Int64s


class CommunicationRows(msgspec.Struct, frozen=True):
    """Communication kernels, by start: one row per kernel. -1 is unknown.

    Of the columns ``*_before``, the difference of two rows tells about the time between the starts of two kernels.
    """

    start_ns: Int64s
    end_ns: Int64s
    iteration: Int64s
    """Number of the iteration in whose window the kernel begins; -1 outside all of them."""
    kind: Int64s
    """``Collective``."""
    group: Int64s
    """Row of ``RankTables.groups``."""
    sequence: Int64s
    comms_id: Int64s
    in_elements: Int64s
    out_elements: Int64s
    element_bytes: Int64s
    """0 if the type of elements is unknown, -1 if nothing is known of them."""
    split: Int64s
    source: Int64s
    destination: Int64s
    stream: Int64s
    compute_ns_before: Int64s
    """Compute since the start of the first iteration, or the first GPU work if that is earlier, up to the start of this
    kernel."""
    exposed_communication_ns_before: Int64s
    exposed_copy_ns_before: Int64s
    input_ns_before: Int64s
    """Idle time in which the program waits for or prepares a batch."""
    held_ns_before: Int64s
    """Idle time in which launched work waits although nothing that was recorded runs."""
    kernels_before: Int64s
    """Compute kernels that begin before."""
    kernel_ns_before: Int64s
    """The sum of their durations."""
    work_before: Int64s
    """A sum, modulo 2**32, over the names and grids of these kernels: equal differences mean the same kernels."""


class RankTables(msgspec.Struct, frozen=True):
    """One process of a job and its GPU work. Unknown numbers are -1, unknown texts empty."""

    process_id: int
    """0 where the source has one process only."""
    rank: int
    world_size: int
    host_name: str
    device: int
    """The GPU with most kernels."""
    gpu_name: str
    kernels: int
    graphs: int
    """CUDA graphs recorded as a whole, which count as compute."""
    fused: int
    """Kernels that communicate while they multiply matrices, which count as compute."""
    whole: Parts
    """One window: from the first to the last GPU work. No row if there is none."""
    iterations: Int64s
    """Numbers of the iterations."""
    parts: Parts
    """One window per iteration."""
    groups: list[ProcessGroup]
    communication: CommunicationRows
    overlap_start_ns: Int64s
    """Compute during communication: disjoint intervals, ascending."""
    overlap_stop_ns: Int64s
