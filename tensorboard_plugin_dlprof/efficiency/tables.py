"""The efficiency tables as columns: per op, per iteration, and per kernel name of an op. NaN and -1 are unknown."""

from __future__ import annotations

import enum

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.events.tables import Int8s, Int64s

Floats = npt.NDArray[np.float64]
Int16s = npt.NDArray[np.int16]


class Bound(enum.Enum):
    """What limits an op."""

    COMPUTE = "compute"
    MEMORY = "memory"
    CACHES = "caches"
    """Its data came faster than the memory's peak rate: from caches, so the memory is no roof."""
    LATENCY = "latency"
    UNKNOWN = ""


class Cause(enum.Enum):
    """Why an eligible op does not use matrix units, as far as the data shows."""

    NONE = ""
    FP64 = "fp64"
    FP32_TYPE = "fp32_type"
    """FP32 on a device whose matrix units support 16-bit types only."""
    TF32_OFF = "tf32_off"
    """FP32 on a device that could compute it as TF32."""
    DIMENSION = "dimension"
    """A length that is not a multiple of what the data type needs."""
    LAYOUT = "layout"
    """Layout transposes around a convolution."""
    TOO_SMALL = "too_small"
    """Too small; also a matrix by a vector, or a depthwise convolution."""
    NO_UNIT = "no_unit"
    """The device has no matrix units."""
    LIBRARY_CHOICE = "library_choice"
    NO_NAME = "no_name"
    """Not known, because the names of its kernels do not tell whether they use matrix units."""
    NO_DEVICE = "no_device"
    """Not known, because the recording does not name the device, on which FP32 may be computed as TF32."""
    NO_SHAPES = "no_shapes"
    """Not known, because its shapes were not recorded or do not tell enough."""
    UNKNOWN = "unknown"


class Misaligned(msgspec.Struct):
    """A length that keeps an op from using matrix units well, and the next length that would not."""

    dimension: str
    length: int
    padded: int
    padded_shape: str
    """All lengths of the product, each padded: ``M 4096, N 4096, K 1008``."""


class OpEfficiency(msgspec.Struct):
    """One row per row of ``OpNodes``."""

    op: Int64s
    """Row of ``Profile.ops``."""
    device: Int64s
    """``Device.device_id`` of its first kernel; -1 if there is none."""
    family: list[str]
    """Family of the op's work, else of its kernels; empty if both are unknown."""
    kernel_ns: Int64s
    """Plain sum over the kernels of the op."""
    measured_ns: Int64s
    """The part of it in calls whose FLOPs or bytes are known, by which rates divide."""
    flops: Int64s
    product_flops: Int64s
    masked_flops: Int64s
    min_bytes: Int64s
    precision: list[str]
    """The precision of most of its kernel time."""
    matrix_unit: Int8s
    """``MatrixUnit`` of most of its product kernels' time."""
    peak_flops: Floats
    """Peak for that precision and unit, operations per second."""
    peak_bytes: Floats
    """Peak of the memory, bytes per second."""
    ideal_ns: Floats
    """The time that the op would take at these peaks: its roof."""
    best_ns: Floats
    """The same in 16 bits on matrix units, for products that compute in FP32 or TF32; else ``ideal_ns``."""
    bound: list[Bound]
    cause: list[Cause]
    kept_off_ns: Int64s
    """What the cause costs; 0 without one."""
    dimensions: list[tuple[int, ...]]
    """Lengths of its largest product; empty if not recorded."""
    size: list[str]
    """``Work.size`` of its largest product."""
    misaligned: list[Misaligned | None]
    """Set even if ``cause`` is another one that comes first."""
    occupancy: Floats
    """Theoretical. This and the columns below are means over the kernels for which they are known, weighted by time."""
    achieved: Floats
    """Occupancy as recorded."""
    waves: Floats
    tail: Floats
    """Share of block slots that stay empty in the last wave."""


class KernelEfficiency(msgspec.Struct):
    """One row per row of ``KernelSummaries``: means by time over the launches; NaN unknown."""

    occupancy: Floats
    achieved: Floats
    waves: Floats
    tail: Floats
    """Share of block slots that stay empty in the last wave."""
    limiter: list[str]
    """The limiter of the launches with the most time."""


class IterationEfficiency(msgspec.Struct):
    """One row per aggregated iteration."""

    iter_value: Int64s
    product_flops: Int64s
    """Operations of products launched in it whose FLOPs are known, without what causal kernels leave out."""
    masked_flops: Int64s
    ideal_ns: Floats
    """Time that they would take at the peaks of the precisions that they ran in; NaN if no peak is known."""
    measured_fraction: Floats
    """Of the time that product kernels ran in it, the share in calls with known FLOPs; NaN without product kernels."""
    mfu: Floats
    """Model FLOPs utilisation: what ``ideal_ns`` is of the products that ran in it, whichever iteration launched them,
    over wall time times devices in use. NaN if that is not known, or would be more than 1."""


class KernelFacts(msgspec.Struct):
    """One row per kernel of the profile, with what rates and rules need. Not stored."""

    duration: Int64s
    product: Bools
    precision: Int16s
    """Index of ``precisions``."""
    precisions: list[str]
    arithmetic: Int16s
    """Index of ``arithmetics``: the type in which it computes without matrix units."""
    arithmetics: list[str]
    family: Int16s
    """Index of ``families``."""
    families: list[str]
    library: Int16s
    """Index of ``libraries``."""
    libraries: list[str]
    occupancy: Floats
    achieved: Floats
    waves: Floats
    tail: Floats
    limiter: Int16s
    """Index of ``limiters``."""
    limiters: list[str]


class DevicePeaks(msgspec.Struct, frozen=True):
    """One published rate of one device."""

    device_id: int
    unit: str
    """``vector``, ``matrix`` or ``memory``."""
    precision: str
    per_second: float
    product: str
    source: str


class PrecisionTime(msgspec.Struct, frozen=True):
    """The kernels of one precision that use, or do not use, matrix units."""

    precision: str
    """``communication`` for collectives; empty if unknown."""
    matrix_unit: MatrixUnit
    kernel_ns: int
    """Plain sum of durations."""
    kernels: int


class Efficiency(msgspec.Struct):
    """The efficiency tables of an aggregation."""

    ops: OpEfficiency
    kernels: KernelEfficiency
    iterations: IterationEfficiency
    precisions: list[PrecisionTime]
    peaks: list[DevicePeaks]
    """The known peaks of the profile's devices."""
    facts: KernelFacts
