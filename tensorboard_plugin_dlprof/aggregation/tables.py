"""The aggregated tables as columns: what ``aggregate`` computes and ``database.writer`` stores.

Times are integer nanoseconds. ``op`` columns are rows of ``Profile.ops``; ``kernel`` columns rows of
``Profile.kernels``; ``name`` columns ids of ``Profile.strings``. Only what starts in the aggregated
iterations is in here, except where a docstring says otherwise.
"""

from __future__ import annotations

import enum

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.diagnosis.windows import TypicalRange
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate
from tensorboard_plugin_dlprof.units import Percent, percent

Bools = npt.NDArray[np.bool_]


class Part(enum.IntEnum):
    """The seven exclusive parts of the wall time, in order of precedence: columns of the ``parts`` arrays."""

    TENSOR_CORE = 0
    OTHER_KERNEL = 1
    MEMORY = 2
    DATA_LOADER = 3
    IO = 4
    CPU = 5
    OTHER = 6


class Metrics(msgspec.Struct):
    """DLProf's ``metric`` for each row of a table; all 0 if there are no samples."""

    count: Int64s
    max: Int64s
    min: Int64s
    sum: Int64s


class TimeMetrics(msgspec.Struct):
    """DLProf's ``node_time_metrics`` for each row of a table."""

    cpu: Metrics
    """Length of the host range."""
    gpu: Metrics
    """Time with device work of the instance, overlap counted once."""
    api: Metrics
    """Time in API calls of the instance."""
    cpu_overhead: Metrics
    """Host range without API calls."""
    gpu_idle: Metrics
    """Gaps between the first and the last device work of the instance."""


class OpNodes(msgspec.Struct):
    """One row per op with an aggregated instance, ordered by op id as bytes."""

    op: Int64s
    times: TimeMetrics
    """Samples: instances."""
    kernel_api: Metrics
    """Samples: kernels."""
    kernel_gpu: Metrics
    """Samples: kernels."""
    num_calls: Int64s
    kernel_calls: Int64s
    eligible: Bools
    using_tensor_cores: Bools
    bad_data_type: Bools
    """Eligible but not using Tensor Cores, with a type that they do not support (FP32 can use them as TF32)."""


class GroupOps(msgspec.Struct):
    """Groups ordered by name, then the ops of ``OpNodes`` in their order."""

    is_group: Bools
    full_id: list[str]
    full_name: list[str]
    level: Int64s
    num_op_instances: Int64s
    num_supported_leaf_ops: Int64s
    num_tc_leaf_ops: Int64s
    times: TimeMetrics
    """Samples: iterations that call an op of the group, each with the sum over its ops."""


class OpTypes(msgspec.Struct):
    """One row per op type, by name as bytes."""

    op_type: list[str]
    times: TimeMetrics
    """Samples: instances."""
    num_nodes: Int64s
    num_calls: Int64s


class KernelSummaries(msgspec.Struct):
    """One row per op and short kernel name, by op id, then name, as bytes."""

    op: Int64s
    name: Int64s
    api: Metrics
    gpu: Metrics
    uses_tensor_cores: Bools


class IterationOps(msgspec.Struct):
    """One row per aggregated iteration and op that it calls, by iteration, then op."""

    iter_value: Int64s
    op: Int64s
    instances: Int64s
    cpu_time_ns: Int64s
    gpu_time_ns: Int64s
    kernels: Int64s
    tc_kernels: Int64s
    kernel_ns: Int64s
    """Plain sum, like ``tc_kernel_ns``."""
    tc_kernel_ns: Int64s


class UnknownKernels(msgspec.Struct):
    """One row per op with kernels whose Tensor Core use is unknown, ascending by op."""

    op: Int64s
    kernels: Int64s
    kernel_ns: Int64s
    """Plain sum."""


class IterationKernels(msgspec.Struct):
    """One row per aggregated kernel, ascending."""

    kernel: Int64s
    iteration_op: Int64s
    """Row of ``IterationOps``, which has the iteration, the op and the totals that DLProf repeats for every kernel."""


class Iterations(msgspec.Struct):
    """The aggregated iterations, ascending."""

    iter_value: Int64s
    start_ns: Int64s
    stop_ns: Int64s
    parts_ns: Int64s
    """Shape (n, 7), by ``Part``; a row adds up to the length of its iteration. Mean over the devices in use."""
    unknown_part_ns: Int64s
    """The share of ``OTHER_KERNEL`` in ``parts_ns`` in which kernels whose Tensor Core use is unknown, or CUDA graphs
    recorded as a whole, were running. Mean over the devices in use."""
    kernels: Int64s
    tc_kernels: Int64s
    unknown_kernels: Int64s
    """Kernels whose Tensor Core use is unknown."""
    graphs: Int64s
    """CUDA graphs recorded as a whole."""
    kernel_ns: Int64s
    """Plain sum, like ``tc_kernel_ns`` and ``unknown_kernel_ns``."""
    tc_kernel_ns: Int64s
    unknown_kernel_ns: Int64s


class DeviceTimes(msgspec.Struct):
    """One row per device of the profile, in its order."""

    device_id: Int64s
    in_use: Bools
    """Whether it has any work in the whole profile."""
    kernels: Int64s
    kernel_ns: Int64s
    """Plain sum."""
    parts_ns: Int64s
    """Shape (n, 7), by ``Part``; a row adds up to the wall time."""
    unknown_part_ns: Int64s
    """As ``Iterations.unknown_part_ns``, of each device."""

    def busy_ns(self) -> Int64s:
        """Time with a kernel running."""
        busy: Int64s = self.parts_ns[:, Part.TENSOR_CORE] + self.parts_ns[:, Part.OTHER_KERNEL]
        return busy


class Category(msgspec.Struct, frozen=True):
    """A row of DLProf's ``category_summary``."""

    cpu_time_ns: int
    gpu_time_ns: int
    cpu_overhead_ns: int
    gpu_idle_ns: int
    count: int
    """Ops, or distinct names of kernels or calls."""


class Categories(msgspec.Struct, frozen=True):
    """In DLProf's order. For kernels and memory, CPU time is that of the calls, and GPU time a plain sum."""

    every_op: Category
    eligible_ops: Category
    """Eligible for Tensor Cores and not using them."""
    using_ops: Category
    other_ops: Category
    """Neither, unassociated ops included."""
    every_kernel: Category
    using_kernels: Category
    other_kernels: Category
    memory: Category


class Launches(msgspec.Struct, frozen=True):
    """Counts and times that DLProf's tables have no columns for."""

    kernels: int
    tensor_core: int
    memory: int
    """Copies and sets."""
    unknown: int
    """Kernels whose Tensor Core use is unknown; counted among the others."""
    unknown_names: int
    other_names: int
    """Distinct names of kernels that do not use Tensor Cores."""
    unknown_ns: int
    graphs: int
    """CUDA graphs recorded as a whole."""
    graph_ns: int


class Efficiency(msgspec.Struct, frozen=True):
    """Tensor Core use of the eligible ops: plain sums over their kernels."""

    eligible_ops: int
    eligible_ops_using: int
    eligible_ops_unknown: int
    """Eligible ops whose Tensor Core use is unknown: none of their kernels is known to use them, but some may."""
    eligible_op_ns: int
    """GPU time of the ops, copies included and overlap within an instance counted once."""
    kernel_ns: int
    tensor_core_ns: int
    unknown_ns: int

    def percent(self) -> Percent:
        """DLProf's ``tc_utilization``; 0 if no eligible op has a kernel."""
        return percent(self.tensor_core_ns, self.kernel_ns)


class Outside(msgspec.Struct, frozen=True):
    """What starts outside the aggregated iterations, and is therefore in no other table."""

    instances: int
    kernels: int
    kernel_ns: int
    memory_ops: int
    memory_ns: int


class Aggregation(msgspec.Struct):
    """Everything that depends on the choice of iterations."""

    candidate: IterationCandidate
    """All iterations, aggregated or not."""
    key_op: str
    """Name of the user's key op; else empty."""
    iterations: Iterations
    parts_ns: Int64s
    """Shape (7,), by ``Part``; adds up to the wall time. Mean over the devices in use."""
    devices: DeviceTimes
    op_nodes: OpNodes
    group_ops: GroupOps
    op_types: OpTypes
    kernel_summaries: KernelSummaries
    iteration_ops: IterationOps
    unknown_kernels: UnknownKernels
    iteration_kernels: IterationKernels
    categories: Categories
    launches: Launches
    efficiency: Efficiency
    outside: Outside
    proposal: TypicalRange | None
    """A range of typical iterations, chosen from all of the candidate's."""

    @property
    def wall_ns(self) -> int:
        """Length of the aggregated iterations."""
        return int(self.parts_ns.sum())

    @property
    def unknown_part_ns(self) -> int:
        """The part of ``OTHER_KERNEL`` by which ``TENSOR_CORE`` in ``parts_ns`` may be larger."""
        return int(self.iterations.unknown_part_ns.sum())

    @property
    def busy_ns(self) -> int:
        """Time with a kernel running, mean over the devices in use."""
        return int(self.parts_ns[Part.TENSOR_CORE] + self.parts_ns[Part.OTHER_KERNEL])

    @property
    def gpu_utilization(self) -> Percent:
        """Percent of the wall time with a kernel running, mean over the devices in use."""
        return percent(self.busy_ns, self.wall_ns)
