"""Tables of the history of GPU memory: events of an allocator, and the blocks that they allocate and free.

Numbers of events are those of one device, from 0. A state is what holds before the first event (0), or after an event.
"""

from __future__ import annotations

import enum

import msgspec
import numpy as np
import numpy.typing as npt

_Int8s = npt.NDArray[np.int8]
_Int32s = npt.NDArray[np.int32]
_Int64s = npt.NDArray[np.int64]

STAYS = np.iinfo(np.int64).max
"""``Blocks.freed`` of a block that is never freed."""


class Phase(enum.IntEnum):
    """Part of a training step."""

    UNKNOWN = 0
    FORWARD = 1
    BACKWARD = 2
    ZERO_GRAD = 3
    OPTIMIZER = 4


CATEGORIES = (
    *("optimizer state", "optimizer temporary", "gradient", "backward temporary", "activation", "forward temporary"),
    *("activation or output", "parameter", "input", "temporary", "autograd detail", "taken from the driver"),
    *("unknown", "held before the recording"),
)
"""What memory holds, by the phases in which it was allocated and freed; of memory timelines as PyTorch says; of Nsight
Systems taken from the driver."""

HELD_BEFORE = len(CATEGORIES) - 1
KINDS = CATEGORIES[:HELD_BEFORE]
"""Those of blocks."""

UNKNOWN = CATEGORIES.index("unknown")


EXPANDABLE = "expandable_segments:True"
"""The setting of PyTorch's allocator (``History.settings``) that keeps its segments whole."""

STACK_STEP = " < "
"""Between a line of a stack and the line that called it."""


class Blocks(msgspec.Struct):
    """Blocks that were allocated in the recording: one row each, by allocation."""

    allocated: _Int64s
    """Number of the event; -1 if it was before the first."""
    freed: _Int64s
    """Number of the event; ``STAYS`` if it was not freed."""
    num_bytes: _Int64s
    category: _Int8s
    """Index into ``CATEGORIES``."""
    owner: _Int32s
    """Index into ``History.owners``."""
    stack: _Int32s
    """Index into ``History.stacks``."""


FREE = "inactive"
"""State of a block of a segment that is cached, not in use."""


class Segment(msgspec.Struct, frozen=True):
    """A piece of memory that the allocator took from the driver, at the end of the recording."""

    address: int
    total_bytes: int
    pool: str
    stream: int
    blocks: tuple[tuple[int, str, int], ...]
    """Size in bytes and state of each block, and its row in ``History.blocks``; -1 where it was allocated before the
    recording, or is free."""


class History(msgspec.Struct):
    """The memory of one device."""

    device: int
    measure: str
    """``allocated``, ``requested`` where the source tells only that, or ``driver``: taken from the driver."""
    relative: bool
    """Whether values count from the start of the recording, because no total was recorded."""
    time_ns: _Int64s
    """Of each event; empty if the source records none, so that only the order is known."""
    in_use_bytes: _Int64s
    """Before the first event, and after each: n + 1 values."""
    reserved_bytes: _Int64s
    """The same; -1 if unknown."""
    blocks: Blocks
    owners: list[str]
    """Paths of ops, or places in the program, that allocate; the first is empty: unknown."""
    owner_ops: _Int64s = msgspec.field(default_factory=lambda: np.zeros(0, np.int64))
    """Of each owner, the row of ``Profile.ops``, -1 if unknown; empty where they are places in the program."""
    stacks: list[str] = msgspec.field(default_factory=lambda: [""])
    """Lines of the program that allocate with those that called them (``STACK_STEP`` between), innermost first; the
    first is empty: unknown."""
    capacity_bytes: int = 0
    """Of the device; 0 if unknown."""
    segments: list[Segment] = msgspec.field(default_factory=list)
    settings: str = ""
    """``PYTORCH_CUDA_ALLOC_CONF``."""
    out_of_memory: list[tuple[int, int, int]] = msgspec.field(default_factory=list)
    """Failed allocations: number of the event, bytes asked for, bytes free on the device (-1 if unknown)."""
    segment_events: _Int64s = msgspec.field(default_factory=lambda: np.zeros(0, np.int64))
    """Numbers of the events in which the allocator took memory from the driver."""
    return_events: _Int64s = msgspec.field(default_factory=lambda: np.zeros(0, np.int64))
    """Numbers of the events in which it gave some back."""
    phase: _Int8s = msgspec.field(default_factory=lambda: np.zeros(0, np.int8))
    """``Phase`` of each event; empty if the source does not tell several."""
    lost_frees: int = 0
    """Allocations at an address that was in use: their frees were not recorded."""
