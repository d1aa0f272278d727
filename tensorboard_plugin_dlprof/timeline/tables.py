"""What tracks hold. A track is one line of the timeline: the work of a stream, or the ops or calls of a host thread."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.events.tables import Int8s, Int32s, Int64s

STREAM, OP, CALL, RANGE, DEVICE, QUEUE = "stream", "op", "call", "range", "device", "queue"
"""``Track.kind``: work of a stream; ops, API calls and users' ranges of a host thread; what a whole device does; how
many launches wait for it."""

WORK_CLASSES = ("tensor_core", "other_kernel", "unknown_kernel", "communication", "copy", "set", "graph")
"""Classes of the items of streams."""
TENSOR_CORE, OTHER_KERNEL, UNKNOWN_KERNEL, COMMUNICATION, COPY, SET, GRAPH = range(len(WORK_CLASSES))

CALL_CLASSES = ("launch", "copy", "sync", "allocation", "other")
"""Classes of the items of call tracks."""
LAUNCH_CALL, COPY_CALL, SYNC_CALL, ALLOCATION_CALL, OTHER_CALL = range(len(CALL_CLASSES))

CLASSES = {
    STREAM: WORK_CLASSES,
    DEVICE: tuple(part.label for part in Part),
    CALL: CALL_CLASSES,
    OP: ("op",),
    RANGE: ("range",),
    QUEUE: ("launches",),
}
"""Names of the classes of each kind of track, by number."""

PART = 8_192
"""Items that are packed together."""
NO_CALL = 16
"""Added to the stored class of an item whose call is not recorded."""


class Track(msgspec.Struct):
    """One track. Its items are ordered by start, then stop; they may overlap."""

    kind: str
    start_ns: Int64s
    stop_ns: Int64s
    device: int = -1
    stream: int = -1
    """-1 where streams are not recorded."""
    process: int = -1
    thread: int = -1
    level: int = 0
    """Of users' ranges: number of users' ranges around them, 0 to 2."""
    work_class: Int8s | None = None
    """Number of the class of each item; None if there is one class only."""
    ref: Int64s | None = None
    """What each item is. Of streams: row of ``Profile.kernels``, ``memcpys``, ``memsets`` or ``graphs``, by class; of
    ops: row of ``Profile.ops``; of calls and ranges: text id of the name. None if the track has only bins."""
    call: Int32s | None = None
    """Of streams: the call that launched each item, as its number among the items of all call tracks, which come first
    and in order; -1 where it is not recorded."""

    def classes(self) -> npt.NDArray[np.integer]:
        """The class of each item."""
        return np.zeros(len(self.start_ns), np.int8) if self.work_class is None else self.work_class
