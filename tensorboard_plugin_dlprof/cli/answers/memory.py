"""``dlprof memory --format json``."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from tensorboard_plugin_dlprof.cli.answers.diagnosis import Clock, DeviceId
from tensorboard_plugin_dlprof.cli.answers.units import Bytes, Fraction, Ns


class HeldBy(Struct):
    """What a category holds; the categories add up to the memory in use."""

    category: str
    bytes: Bytes
    blocks: int | None


class HeldByOwner(Struct):
    """What an op, or a place in the program, holds."""

    owner: str
    bytes: Bytes
    blocks: int | None


class HeldByModule(Struct):
    """What an op, or a place in the program, holds."""

    module: str
    bytes: Bytes
    blocks: int | None


class HeldByStack(Struct):
    """What a line of the program and those that called it (after ``<``) hold."""

    stack: str
    bytes: Bytes
    blocks: int | None


class HeldBySize(Struct):
    """What blocks of about a size hold."""

    size: str
    bytes: Bytes
    blocks: int | None


class Fragmentation(Struct):
    """What is reserved and not in use at the end."""

    cached_bytes: Bytes | None
    cached_fraction: Fraction | None
    largest_free_block_bytes: Bytes | None
    free_bytes: Bytes | None
    segments: int | None


class MemoryIteration(Struct):
    """The memory of an iteration."""

    index: int
    number: int
    start_ns: Ns
    peak_bytes: Bytes
    peak_ns: Ns | None
    end_bytes: Bytes


class Leak(Struct):
    """Whether memory grows from iteration to iteration."""

    verdict: Literal["leak", "none", "cannot_tell"]
    bytes_per_iteration: Bytes | None
    low_bytes: Bytes | None
    high_bytes: Bytes | None
    iterations_until_full: int | None


class Failure(Struct):
    """An allocation that failed."""

    event: int
    time_ns: Ns | None
    asked_bytes: Bytes
    free_bytes: Bytes | None


class MemoryEvidence(Struct):
    """What holds memory."""

    path: str
    call: str
    kind: str
    count: int | None
    bytes: Bytes
    device: DeviceId
    time_ns: Ns | UnsetType = UNSET


class MemoryFinding(Struct):
    """What to change."""

    rule: str
    cause: Literal["memory"]
    title: str
    action: str
    severity: Literal["info", "advice", "warning"]
    confidence: Literal["low", "medium", "high"]
    part: None
    time_ns: None
    share: None
    gain: None
    evidence: list[MemoryEvidence]
    overlaps_with: list[str]


class MemoryDevice(Struct):
    """The memory of a GPU. ``at_peak`` and ``by_*`` are of the moment ``at_ns``, when ``in_use_bytes`` were in
    use; ``by_stack`` is empty where no stacks were recorded."""

    peak_bytes: Bytes
    peak_of: str
    relative: bool
    peak_ns: Ns | None
    peak_event: int | None
    peak_reserved_bytes: Bytes | None
    capacity_bytes: Bytes | None
    end_bytes: Bytes
    events: int
    at_ns: Ns | None
    in_use_bytes: Bytes
    at_peak: list[HeldBy]
    held_before: str | None
    """What was probably held before the recording, in one sentence; None where nothing tells it."""
    by_owner: list[HeldByOwner]
    by_module: list[HeldByModule]
    by_stack: list[HeldByStack]
    by_size: list[HeldBySize]
    fragmentation: Fragmentation
    iterations: list[MemoryIteration]
    leak: Leak
    lost_frees: int
    out_of_memory: list[Failure]
    findings: list[MemoryFinding]


class HeldBlock(Struct):
    """A block that is in use at a moment."""

    size_bytes: Bytes
    category: str
    owner: str | None
    stack: str | None
    allocated_event: int | None
    allocated_ns: Ns | None
    lasts_ns: Ns | None
    stays: bool
    """Whether it is not freed before the recording ends."""
    op_gpu_time_average_ns: Ns | None
    op_input_shapes: str | None


class MemoryAt(Struct):
    """What is in use at a moment, for pages: sums, and the largest blocks."""

    at_ns: Ns | None
    in_use_bytes: Bytes
    at_peak: list[HeldBy]
    by_owner: list[HeldByOwner]
    by_module: list[HeldByModule]
    by_stack: list[HeldByStack]
    by_size: list[HeldBySize]
    blocks: list[HeldBlock]


class Memory(Struct):
    """What holds the memory of each GPU; no devices where none was recorded."""

    schema: str
    source: str
    clock: Clock
    devices: dict[DeviceId, MemoryDevice]
    headline: str
