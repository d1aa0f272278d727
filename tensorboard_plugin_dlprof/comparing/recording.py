"""What a comparison knows about one aggregation of one profile: exact sums, and samples by iteration.

Plain lists and numbers, so that a recording can be stored as a baseline (``baseline.py``).
"""

from __future__ import annotations

import msgspec

BUSY_PARTS = frozenset(
    {
        *("tensor_core", "unknown_kernel", "other_kernel"),
        *("compute_tensor", "compute_other", "compute_unknown", "communication"),
    }
)
"""The exclusive parts of the wall time with a kernel running, under both sets of names."""

GPU_PARTS = BUSY_PARTS | {"memory", "copy"}
"""Those with any GPU work running; the others are idle time."""

MOST_OPS = 20_000
"""Ops of a recording that are matched; beyond them, those with the least kernel time are summed to one."""

MOST_SAMPLES = 2_000
"""Iterations whose times are kept, evenly spaced."""

MOST_OP_SAMPLES = 32
"""Iterations whose times are kept for each op, evenly spaced."""


FEWEST_SAMPLES = 4
"""Samples of a side below which nothing can be told from noise."""


class Kernel(msgspec.Struct, frozen=True, array_like=True):
    """The launches of one kernel by one op."""

    name: str
    """With template arguments, where the op launches one such variant only; else ``short_name``."""
    short_name: str
    """Without template arguments."""
    launches: int
    time_ns: int
    """Plain sum."""
    tensor_core: bool | None
    precision: str
    """Empty if unknown, like ``family``."""
    family: str


class Op(msgspec.Struct, array_like=True):
    """One op. Times are plain sums over all aggregated iterations and GPUs."""

    op_id: str
    path: str
    op_type: str
    direction: str
    shapes: str
    """Input shapes of the most frequent kind of call, as JSON; empty if unknown."""
    associated: bool
    """False for kernels outside of all ops."""
    start_ns: int
    """Start of its first call, for the order of the program."""
    calls: int
    kernel_ns: int
    tensor_core_ns: int
    unknown_ns: int
    """The part of ``kernel_ns`` whose use of Tensor Cores is unknown."""
    graph_ns: int
    """Time of the CUDA graphs recorded as a whole that it launched."""
    kernels: list[Kernel]
    samples: list[int]
    """Kernel time in each of ``Recording.op_sample_iterations``; empty if not kept."""


class Recording(msgspec.Struct):
    """One aggregation of one profile."""

    name: str
    fingerprint: str
    """Of the source and the aggregated iterations: equal if the numbers must be equal; empty if unknown."""
    source_fingerprint: str
    format: str
    facts: dict[str, str]
    """Versions and the like by label: ``CUDA``, ``Framework``; unknown ones are absent."""
    devices: list[str]
    """Names of the GPUs in use, of which unknown ones are empty."""
    recorded: list[str] | None
    """What the capture contains; None if it does not say."""
    rank: int | None
    world_size: int | None
    started_ns: int | None
    """Since 1970."""
    aggregation: int
    marked: bool
    """Whether iterations are marked, so that there is a time per iteration."""
    iterations_label: str
    first_iteration: int | None
    last_iteration: int | None
    iterations: int
    devices_in_use: int
    parts: dict[str, int]
    """Exclusive parts of the wall time, summed over iterations and GPUs in use; they add up to ``wall_ns``."""
    ops: list[Op]
    ops_beyond: int
    """Ops that are summed to one because there are more than ``MOST_OPS``."""
    kernel_launches: int
    eligible_kernel_ns: int | None
    eligible_tensor_core_ns: int | None
    eligible_unknown_ns: int | None
    gpu_utilization_fraction: float | None
    memory_peak_bytes: int | None
    """Of the GPU that holds most, as all of memory."""
    samples_per_s: float | None
    tokens_per_s: float | None
    """Of all GPUs in use."""
    iteration_values: list[int]
    """Numbers of the iterations that the samples are from, in order."""
    iteration_time: list[int]
    """Samples: ns; 0 for all where iterations are not marked."""
    idle_time: list[int]
    """Samples: ns without GPU work."""
    gpu_utilization: list[float]
    """Samples: share of the iteration with a kernel, copy or set running."""
    kernel_time: list[int]
    """Samples: ns, plain sum over all GPUs."""
    tensor_core_time: list[int]
    """Samples: ns of it known to be on Tensor Cores."""
    memory_reserved_bytes: int | None = None
    memory_at_peak: dict[str, int] = msgspec.field(default_factory=dict)
    """Bytes of each category at the peak of memory; they add up to it. Baselines of before have none."""
    memory_by_op: dict[str, int] = msgspec.field(default_factory=dict)
    """The same bytes by the op or line that allocated them; empty where nothing tells it."""

    @property
    def wall_ns(self) -> int:
        """Wall time, summed over iterations and GPUs in use."""
        return sum(self.parts.values())

    @property
    def idle_ns(self) -> int:
        """The part of it without GPU work."""
        return sum(time_ns for part, time_ns in self.parts.items() if part not in GPU_PARTS)

    @property
    def kernel_ns(self) -> int:
        """Kernel time, plain sum."""
        return sum(op.kernel_ns for op in self.ops)

    @property
    def tensor_core_ns(self) -> int:
        """The part of it known to be on Tensor Cores."""
        return sum(op.tensor_core_ns for op in self.ops)

    @property
    def unknown_ns(self) -> int:
        """The part of it whose use of Tensor Cores is unknown."""
        return sum(op.unknown_ns for op in self.ops)

    @property
    def graph_ns(self) -> int:
        """CUDA graphs recorded as a whole, plain sum."""
        return sum(op.graph_ns for op in self.ops)
