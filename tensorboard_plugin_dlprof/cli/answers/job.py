"""``dlprof distributed --format json``."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from tensorboard_plugin_dlprof.cli.answers.units import Bytes, BytesPerSecond, Fraction, Ns, Text


class Dimension(Struct):
    """A dimension of parallelism."""

    kind: str
    size: int


class Suspect(Struct):
    """A rank that costs time, but less than the one that is named."""

    rank: int
    cause: str
    detail: Text
    own_delay_ns: Ns
    cost_ns: Ns
    """What of it the others waited for while they computed nothing, at most."""
    share: Fraction
    iterations: int
    ratio: float | None


class Verdict(Struct):
    """Who costs time, and why; null where nobody stands out, or not ``judged``."""

    rank: int | None
    cause: str | None
    detail: str | None
    own_delay_ns: Ns | None
    cost_ns: Ns | None
    """What of it the others waited for while they computed nothing, at most."""
    share: Fraction | None
    sentence: str
    judged: bool
    unjudged_links: Text
    """Why slow links of some or all ranks could not be told."""
    stage: int | None
    host: str | None
    ratio: float | None
    runners_up: list[Suspect]


class Missing(Struct):
    """Ranks without a profile: the first of them, and how many."""

    ranks: list[int]
    count: int


class Clocks(Struct):
    """Whether times of different ranks can be compared."""

    aligned: bool
    islands: int
    pairs: int
    samples: int
    residual_ns: Ns | None
    residual_p90_ns: Ns | None
    sentence: str


class LeftOut(Struct):
    """Operations that could not be used, by reason."""

    without_group: int
    missing_ranks: int
    incomplete: int
    inconsistent: int
    not_paired: int
    not_believed: int
    not_synchronising: int
    unknown_type: int
    graphs: int
    fused: int


class Rank(Struct):
    """A rank from its first to its last GPU work, or in an iteration."""

    rank: int
    database: str
    name: str
    process_index: int
    host: Text
    device_id: int | None
    gpu_name: Text
    coordinates: Text
    island: int
    clock_offset_ns: Ns
    clock_drift: float
    kernels: int
    window_ns: Ns | None
    overlapped_ns: Ns | None
    last: int
    compute_ns: Ns | None
    exposed_communication_ns: Ns | None
    exposed_transfer_ns: Ns | None
    exposed_wait_ns: Ns | None
    exposed_unmatched_ns: Ns | None
    exposed_copy_ns: Ns | None
    idle_ns: Ns | None
    compute_tensor_ns: Ns | None
    compute_other_ns: Ns | None
    compute_unknown_ns: Ns | None
    data_loader_ns: Ns | None
    queued_ns: Ns | None
    blocked_ns: Ns | None
    launching_ns: Ns | None
    host_op_ns: Ns | None
    host_code_ns: Ns | None
    io_ns: Ns | None
    launch_unknown_ns: Ns | None
    unrecorded_ns: Ns | None
    own_delay_ns: Ns | None


class Group(Struct):
    """A process group; ``ranks`` is a text such as ``0-7`` or ``0-24/8``."""

    id: int
    name: str
    description: Text
    kind: Text
    inferred: bool
    ranks: str
    size: int | None
    believed: bool
    reason: str
    matched: int
    transfer_ns: Ns
    wait_ns: Ns
    spread_ns: Ns | None
    slow: bool


class Collective(Struct):
    """Sums over collectives of one dimension, kind, size and number of ranks."""

    id: int
    group_kind: Text
    kind: str
    bytes: Bytes | None
    ranks: int
    operations: int
    transfer_ns: Ns
    transfer_median_ns: Ns
    transfer_p95_ns: Ns
    wait_ns: Ns
    skew_p95_ns: Ns
    bus_bandwidth: BytesPerSecond | None
    peak_bandwidth: BytesPerSecond | None
    bandwidth_reason: str
    imbalance: float | None
    last_rank: int | None
    last_fraction: Fraction | None


class Pair(Struct):
    """What one rank sends to another; not ``directed`` where only is known that they exchange."""

    id: int
    source: int
    destination: int
    directed: bool
    operations: int
    bytes: Bytes | None
    transfer_ns: Ns | None
    bandwidth: BytesPerSecond | None
    slow: bool


class Operation(Struct):
    """A collective, of those with the longest waits."""

    id: int
    group_id: int
    iteration: int | None
    kind: str
    bytes: Bytes | None
    ranks: int
    start_ns: Ns
    transfer_ns: Ns
    skew_ns: Ns
    wait_ns: Ns
    last_rank: int
    own_delay_ns: Ns
    cause: Text


class JobFinding(Struct):
    """What to change; ``evidence`` holds the numbers of its rule."""

    id: int
    rule: str
    severity: Literal[1, 2, 3]
    title: str
    text: str
    action: str
    ranks: str
    gain_ns: Ns | None
    evidence: dict[str, Any]


class Job(Struct):
    """Which rank of a job costs time, and why."""

    job: str
    world_size: int
    ranks_present: int
    knows_ranks: bool
    hosts: int | None
    gpus: list[str]
    iterations: int
    warm_up: list[int]
    """Numbers of the iterations of the warm-up, which are left out of ``iterations`` and of all that is said."""
    median_iteration_ns: Ns
    wait_fraction: Fraction | None
    exposed_communication_fraction: Fraction | None
    own_delay_fraction: Fraction | None
    dimensions: list[Dimension]
    matched_by: str
    operations: int
    verdict: Verdict
    missing: Missing
    clocks: Clocks
    left_out: LeftOut
    left_out_texts: list[str]
    warnings: list[str]
    iteration: int | None
    """Number of the only iteration that numbers of ranks are of."""
    first_iteration: int | None
    last_iteration: int | None
    """Numbers of the iterations that numbers of ranks are of; null: from their first to their last GPU work."""
    ranks: list[Rank]
    groups: list[Group]
    collectives: list[Collective]
    pairs: list[Pair]
    longest_waits: list[Operation]
    findings: list[JobFinding]


class Jobs(Struct):
    """Several captures in one folder."""

    jobs: list[Job]


class MadeJob(Struct):
    """The database of a job, which ``dlprof job`` made, or found up to date."""

    database: str
    ranks: int
    """How many there are."""
    world_size: int
    is_new: bool
    sentence: str
    """The verdict."""
    warnings: list[str]


class MadeJobs(Struct):
    """The jobs below a folder, and what could not be used for them: a sentence for each database."""

    jobs: list[MadeJob]
    unusable: list[str]
