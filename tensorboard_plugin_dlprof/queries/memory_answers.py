"""What is answered about memory over time; the answer about its peak is declared in ``cli.answers.memory``."""

from __future__ import annotations

from typing import TypedDict


class MemoryPeak(TypedDict):
    """The GPU that holds most, at its peak."""

    device: str
    peak_bytes: int
    peak_of: str
    """``allocated``, or ``requested`` where a snapshot tells only that."""
    peak_reserved_bytes: int | None
    capacity_bytes: int | None
    relative: bool
    """Whether bytes count from the start of the recording."""
    shares: list[tuple[str, float]]
    """The largest categories, in percent."""


class CategoryCurve(TypedDict):
    """The bytes of a category in each bin."""

    category: str
    bytes: list[int]


MemoryPhase = TypedDict("MemoryPhase", {"phase": str, "from": int, "to": int})
"""A part of training steps: forward, backward, zero_grad or optimizer."""


MemoryCurve = TypedDict(
    "MemoryCurve",
    {
        "device": int,
        "unit": str,
        "from": int,
        "to": int,
        "in_use_min_bytes": list[int],
        "in_use_max_bytes": list[int],
        "reserved_max_bytes": "list[int] | None",
        "categories": "list[CategoryCurve]",
        "capacity_bytes": "int | None",
        "phases": "list[MemoryPhase]",
        "peak_at": int,
        "segments_taken": "list[int]",
        "segments_returned": "list[int]",
    },
)
"""Memory over time in bins; ``unit`` is ``ns`` or ``events``. ``categories`` say what ``in_use_max_bytes`` consists of,
from below. ``phases`` last from their first to their last event; there are none where they are unknown, or too many.
``peak_at`` is the first moment in the window when most is in use; ``segments_*`` are the numbers of the
bins in which the allocator took memory from the driver, and gave some back."""


class MemorySegment(TypedDict):
    """A segment of the allocator, with the size, the state and the category of each block: its number in
    ``MemorySegments.categories``, -1 of what is free."""

    number: int
    total_bytes: int
    pool: str
    stream: int
    blocks: list[tuple[int, str, int]]


class MemorySegments(TypedDict):
    """What the allocator holds at the end of a snapshot, the largest first."""

    categories: list[str]
    segments: list[MemorySegment]
    segments_left_out: int
    blocks_left_out: int


class SegmentBlock(TypedDict):
    """A block of a segment at the end of a snapshot."""

    size_bytes: int
    offset_bytes: int
    """From the begin of the segment."""
    state: str
    category: str | None
    """None: it is free."""
    owner: str | None
    stack: str | None
    allocated_event: int | None
    allocated_ns: int | None


class SegmentBlocks(TypedDict):
    """A block of a segment with its neighbours, by address."""

    total_bytes: int
    pool: str
    stream: int
    place: int
    """Of the block in ``blocks``."""
    blocks: list[SegmentBlock]
