"""What ``./timeline``, ``./timeline_item`` and ``./launches`` answer. Times are nanoseconds."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType, field

TrackKind: TypeAlias = Literal["stream", "op", "call", "range", "device", "queue", "memory"]


class TrackInfo(Struct):
    """A track."""

    id: int
    kind: TrackKind
    name: str
    items: int
    sum_ns: int
    launches: int
    level: int
    device: int | UnsetType = UNSET
    stream: int | UnsetType = UNSET
    process: int | UnsetType = UNSET
    thread: int | UnsetType = UNSET
    backward: bool | UnsetType = UNSET
    """Of ops: whether most are of a backward pass."""


class IterationWindow(Struct):
    """When an iteration begins and ends."""

    iteration: int
    start: int
    stop: int


class TimelineIterations(Struct):
    """The iterations, of many the first ones."""

    count: int
    typical: IterationWindow | None
    longest: IterationWindow | None
    list_: list[IterationWindow] = field(name="list")


class TimelineOverview(Struct):
    """All tracks, the range of the capture, and its iterations."""

    state: int
    """Another number means other tracks: the database was replaced."""
    start: int
    stop: int
    tracks: list[TrackInfo]
    classes: dict[str, list[str]]
    """The classes of items, by kind of track."""
    iterations: TimelineIterations


class TrackItems(Struct):
    """Items of a track, as columns; times count from the start of the window."""

    start: list[int]
    duration: list[int]
    class_: list[int] = field(name="class")
    id: list[int] | UnsetType = UNSET
    name: list[int] | UnsetType = UNSET
    """Index of ``names``; -1 for items too narrow for one."""
    gap_start: list[int] | UnsetType = UNSET
    """Of idle time: the gap that it is in, which may have several causes."""
    gap_duration: list[int] | UnsetType = UNSET


class Bins(Struct):
    """The class that takes most of each bin, and how much of it is covered, a letter each."""

    class_: str = field(name="class")
    share: str


class TrackData(Struct):
    """A track in a window."""

    id: int
    count: int
    items: TrackItems | UnsetType = UNSET
    names: list[str] | UnsetType = UNSET
    bins: Bins | UnsetType = UNSET
    idle_bins: Bins | UnsetType = UNSET
    bins_from: int | UnsetType = UNSET
    bins_to: int | UnsetType = UNSET
    depth: list[float] | UnsetType = UNSET
    """Mean number of waiting launches in each bin."""
    in_use_bytes: list[int] | UnsetType = UNSET
    capacity_bytes: int | UnsetType | None = UNSET


class TimelineWindow(Struct):
    """Some tracks in a window."""

    state: int
    from_: int = field(name="from")
    to: int
    tracks: list[TrackData]
    parts: dict[str, dict[str, int]]
    """What each GPU did in the window, by part."""


class Beside(Struct):
    """What a GPU did before or after an item or a gap: its longest work then; without id a gap, named by its cause."""

    id: int | None
    name: str
    start: int
    duration: int


class Launched(Struct):
    """All that an op or range launched."""

    count: int
    ns: int


class TimelineItem(Struct):
    """One item, with what launched it, or what it launched."""

    id: int
    track: int
    kind: TrackKind
    class_: str = field(name="class")
    name: str
    start: int
    duration: int
    facts: dict[str, Any]
    device: int | UnsetType = UNSET
    stream: int | UnsetType = UNSET
    process: int | UnsetType = UNSET
    thread: int | UnsetType = UNSET
    call: TimelineItem | UnsetType | None = UNSET
    op: TimelineItem | UnsetType | None = UNSET
    works: list[TimelineItem] | UnsetType = UNSET
    launched: Launched | UnsetType | None = UNSET
    delay_ns: int | UnsetType = UNSET
    starts_before_call: bool | UnsetType = UNSET
    before: Beside | UnsetType | None = UNSET
    after: Beside | UnsetType | None = UNSET


class GapPart(Struct):
    """A part of a gap with one cause."""

    start: int
    duration: int
    part: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET
    call: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    op_id: str | UnsetType = UNSET
    thread: str | UnsetType = UNSET


class TimelineGap(Struct):
    """A gap of a GPU: its causes, and what ended it."""

    device: int
    start: int
    duration: int
    cause: str
    label: str
    parts: list[GapPart]
    ended_by: TimelineItem | None
    before: Beside | None
    after: Beside | None


class DelayBin(Struct):
    """A bar of the histogram of delays."""

    from_ns: int
    launches: int


class LaunchDelays(Struct):
    """How long kernels wait after their calls."""

    median_ns: int | None
    p95_ns: int | None
    before_call: int
    bins: list[DelayBin]


class ShortOp(Struct):
    """An op with launches that take longer than their work."""

    op: str
    op_id: str
    launches: int
    work_ns: int
    call_ns: int


class ShortLaunches(Struct):
    """Launches that take longer than their work."""

    launches: int
    work_ns: int
    call_ns: int
    ops: list[ShortOp]


class QueueBin(Struct):
    """For how long so many launches wait, or more."""

    from_: int = field(name="from")
    ns: int


class QueueLengths(Struct):
    """How many launches wait at a time."""

    mean: float
    most: int
    bins: list[QueueBin]


class LaunchStatistics(Struct):
    """How launches reach a GPU: how long they wait, which take longer than their work, and how many wait at a time."""

    device: int
    from_: int = field(name="from")
    to: int
    launches: int
    earlier: int
    """Kernels' launches whose work begins in the window, and whose calls began before it."""
    graphs: int
    """CUDA graphs recorded as a whole, whose launches are not told."""
    unrecorded: int
    host_ahead_ns: int | None
    delay: LaunchDelays
    short: ShortLaunches
    queue: QueueLengths


class WindowWork(Struct):
    """What of one name a GPU runs in a window, cut to it."""

    name: str
    class_: str = field(name="class")
    count: int
    ns: int


class WindowOp(Struct):
    """The work in a window of ops that do the same; empty for work without one."""

    op: str
    op_id: str
    """If it is one op."""
    count: int
    ns: int


class LargestWork(Struct):
    """What takes the most time of a GPU in a window, the largest first."""

    device: int
    from_: int = field(name="from")
    to: int
    works: list[WindowWork]
    ops: list[WindowOp]


class Hit(Struct):
    """An item that was searched for."""

    id: int
    start: int
    duration: int


class HitTrack(Struct):
    """Stretches of a track with hits, from the start of the window; those that touch on the screen are one."""

    id: int
    start: list[int]
    duration: list[int]


class TimelineHits(Struct):
    """Where a text is found in a window."""

    from_: int = field(name="from")
    to: int
    count: int | None
    """None where there is too much to search."""
    listed: list[Hit]
    """The first ones, by start."""
    tracks: list[HitTrack]
