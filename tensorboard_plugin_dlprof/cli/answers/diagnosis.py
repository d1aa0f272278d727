"""``dlprof diagnose --format json``."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tensorboard_plugin_dlprof.cli.answers.units import Fraction, Ns

DeviceId = Annotated[str, Meta(description="number of a GPU")]


class Clock(Struct):
    """The unit of times, and what they begin at (ns since 1970, or of the source's own clock) as a text."""

    unit: str
    base_ns: str


class Device(Struct):
    """A GPU that the program works with."""

    id: DeviceId
    name: str | None
    process: str | None
    rank: int | None


class WaitParts(Struct):
    """Idle time of a GPU by cause."""

    blocked: Ns
    launching: Ns
    host_op: Ns
    host_code: Ns
    data_loader: Ns
    io: Ns
    unrecorded: Ns
    launch_unknown: Ns


class Parts(Struct):
    """All of the time of a GPU: these parts add up to it. From ``queued`` on it is idle."""

    compute_tensor: Ns
    compute_other: Ns
    compute_unknown: Ns
    communication: Ns
    copy: Ns
    queued: Ns
    blocked: Ns
    launching: Ns
    host_op: Ns
    host_code: Ns
    data_loader: Ns
    io: Ns
    unrecorded: Ns
    launch_unknown: Ns


class Queued(Struct):
    """Why launched work waited; the parts add up to ``queued``."""

    turnaround: Ns
    dependency: Ns
    graph: Ns
    unexplained: Ns


class Overlap(Struct):
    """Communication and copies with what is hidden behind computing."""

    communication_all_ns: Ns
    copy_all_ns: Ns


class Row(Struct, rename={"class_": "class"}):
    """A cause of a part of the time; ``path`` is ``(rest)`` for what is left of a part."""

    part: str
    class_: str | None
    call: str | None
    path: str | None
    kind: str | None
    op: str | None
    thread: str | None
    count: int
    time_ns: Ns


class Queue(Struct):
    """How many launches wait, and how long."""

    median: int | None
    empty_share: Fraction | None
    start_delay_median_ns: Ns | None
    launches: int
    lag_ns: Ns


class DeviceTimes(Struct):
    """One GPU in an iteration, or in the mean of iterations."""

    parts: Parts
    queued: Queued
    overlap: Overlap
    of_which_graph_ns: Ns
    rows: list[Row]
    queue: Queue


class LeadIn(Struct):
    """What came before the first GPU work."""

    wall_ns: Ns
    queued_ns: Ns
    parts: WaitParts


class Typical(Struct):
    """The iterations that means are of, by position from 0; ``stop`` is inclusive."""

    start: int
    stop: int
    left_out: list[int]
    why: list[str]
    said: str
    mean_said: str
    """The end of ``said`` that tells of a mean that few long iterations make; empty if none do."""
    labels: list[str]


class Iteration(Struct):
    """One iteration."""

    index: int
    label: str
    start_ns: Ns
    stop_ns: Ns
    wall_ns: Ns
    typical: bool
    devices: dict[DeviceId, DeviceTimes]


class Mean(Struct):
    """The mean of the chosen iterations."""

    iterations: int
    selected: list[int]
    wall_ns: Ns
    devices: dict[DeviceId, DeviceTimes]


class Gain(Struct):
    """By how much an iteration would be shorter; null where ``cannot_tell`` says why."""

    low_ns: Ns | None
    high_ns: Ns | None
    share_low: Fraction | None
    share_high: Fraction | None
    how: str | None
    cannot_tell: str | None
    most_ns: Ns | None
    """The most that it can be, where no least is known."""
    none_while: str | None
    """What is to be mended before anything is gained: ``launching limits``."""


class Evidence(Struct):
    """What shows a finding; times are means of an iteration."""

    path: str
    call: str | None
    kind: str
    op: str | None
    device: DeviceId | None
    count: int | None
    time_ns: Ns | None
    iteration: int | None
    from_ns: Ns | None
    to_ns: Ns | None
    detail: str | None


class Finding(Struct):
    """What to change, the most important first."""

    rule: str
    heading: str
    cause: str
    title: str
    action: str
    severity: Literal["info", "advice", "warning"]
    confidence: Literal["low", "medium", "high"]
    part: str | None
    time_ns: Ns | None
    share: Fraction | None
    per: Literal["iteration", "once"]
    gain: Gain | None
    evidence: list[Evidence]
    overlaps_with: list[str]
    missing_work: Literal["some", "throughout"] | None
    """Whether its time lacks GPU work; ``throughout`` where launches are missing, too."""
    link: str | None
    whole_job: bool | UnsetType = UNSET
    """True where the recordings of all ranks tell it, as ``dlprof distributed``."""


class Diagnosis(Struct):
    """Where the time of an iteration goes, GPU by GPU, and what to change first."""

    schema: str
    source: str
    format: str
    marked: bool
    clock: Clock
    devices: list[Device]
    lead_in: dict[DeviceId, LeadIn]
    typical: Typical
    iterations: list[Iteration]
    mean: Mean
    matrix_unit: str
    lower_bound: list[str]
    host_bound: bool
    headline: str
    findings: list[Finding]
