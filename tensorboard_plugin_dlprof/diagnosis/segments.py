"""The partition of each GPU's time into segments, each with one cause."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import ColumnStore, GrowingColumn

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]


OVERLAPS_COMMUNICATION, OVERLAPS_COPY = 1, 2


class Cause(msgspec.Struct, frozen=True):
    """What segments have in common. Unknown texts are empty."""

    part: int
    """``Part``."""
    detail: str = ""
    """``turnaround``, ``dependency``, ``graph`` or ``unexplained`` if queued; ``sync``, ``copy``, ``allocation``,
    ``module``, ``launch`` or ``other`` if blocked; ``delivery`` for the way of a launch to an idle GPU; ``graph`` for
    graphs recorded as a whole; else empty."""
    call: str = ""
    """Name of the API or system call that the host was in; of what waited if queued, of what came next if nothing is
    recorded."""
    path: str = ""
    """Path of the op or module, or name of the range or Python function, that the host was in, or the call is in."""
    kind: str = ""
    """What ``path`` names: ``op``, ``range``, ``frame``."""
    op_id: str = ""
    """Id of the op, where it is one of the profile's."""
    thread: str = ""
    """Name of the host thread; ``main`` for the one that drives the program."""
    long: bool = False
    """Whether the call took ``LONG_NS`` or longer."""
    overlaps: int = 0
    """What runs at the same time and does not count: ``OVERLAPS_COMMUNICATION``, ``OVERLAPS_COPY``, their sum, or 0."""


class Segments(msgspec.Struct):
    """The segments of one GPU: disjoint, ascending, in nanoseconds since the start of the capture."""

    device: int
    start_ns: Int64s
    stop_ns: Int64s
    cause: Int32s
    """Row of ``Activity.causes``."""


def of_devices(blocks: Iterable[Segments]) -> list[Segments]:
    """The segments of each GPU, of which there may be several blocks, by time."""
    store = ColumnStore()
    by_device: dict[int, tuple[GrowingColumn, GrowingColumn, GrowingColumn]] = {}
    for block in blocks:
        if block.device not in by_device:
            by_device[block.device] = store.growing("q"), store.growing("q"), store.growing("i")
        start, stop, cause = by_device[block.device]
        start.append(block.start_ns)
        stop.append(block.stop_ns)
        cause.append(block.cause.astype(np.int32, copy=False))
    return [
        Segments(device, start.whole(), stop.whole(), cause.whole())
        for device, (start, stop, cause) in by_device.items()
    ]


class Activity(msgspec.Struct):
    """What each GPU with work did throughout the capture."""

    causes: list[Cause]
    devices: list[Segments]
    """By device id."""
    launch_calls: int = 0
    """Calls that launch kernels or graphs."""
    launch_calls_without_work: int = 0
    """Those of which no device work is recorded."""


def no_activity() -> Activity:
    """The activity of a capture without device work."""
    return Activity([], [])
