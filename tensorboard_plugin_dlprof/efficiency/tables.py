"""The efficiency tables as columns: one row per op, iteration, and kernel name of an op. NaN and -1 are unknown."""

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
    LATENCY = "latency"
    UNKNOWN = ""


class Cause(enum.Enum):
    """Why an eligible op does not use matrix units, as far as the data shows it."""

    NONE = ""
    FP64 = "fp64"
    FP32_TYPE = "fp32_type"
    """FP32 on a device whose matrix units take 16 bits only."""
    TF32_OFF = "tf32_off"
    """FP32 on a device that could cut it to TF32."""
    DIMENSION = "dimension"
    """A length that is no multiple of what the data type needs."""
    LAYOUT = "layout"
    """Layout transposes around a convolution."""
    TOO_SMALL = "too_small"
    """Or a matrix by a vector, or a convolution channel by channel."""
    NO_UNIT = "no_unit"
    """The device has no matrix units."""
    LIBRARY_CHOICE = "library_choice"
    UNKNOWN = "unknown"


class Misaligned(msgspec.Struct):
    """A length that keeps an op from matrix units, and the next that would do."""

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
    """``Device.device_id`` of its first kernel; -1 without one."""
    family: list[str]
    """Of the op's work, else of its kernels; empty where neither is known."""
    kernel_ns: Int64s
    """Plain sum over the kernels of the op."""
    measured_ns: Int64s
    """The part of it in calls whose FLOPs or bytes are known: what the rates divide by."""
    flops: Int64s
    product_flops: Int64s
    masked_flops: Int64s
    min_bytes: Int64s
    precision: list[str]
    """In which most of its kernel time computes."""
    matrix_unit: Int8s
    """``MatrixUnit`` of most of its product kernels' time."""
    peak_flops: Floats
    """Per second, for that precision and unit."""
    peak_bytes: Floats
    """Per second."""
    ideal_ns: Floats
    """The time that the op would take at the device's peak rates: the roof over it."""
    best_ns: Floats
    """Likewise in 16 bits on matrix units, for products that compute in FP32 or TF32; else ``ideal_ns``."""
    bound: list[Bound]
    cause: list[Cause]
    dimensions: list[tuple[int, ...]]
    """Lengths of its largest product; empty where not recorded."""
    size: list[str]
    """``Work.size`` of it."""
    misaligned: list[Misaligned | None]
    """Also of ops that do not use matrix units for another reason first."""
    occupancy: Floats
    """Theoretical, mean by time over the kernels of which it is known; likewise the columns below."""
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
    """Of the launches with the most time."""


class IterationEfficiency(msgspec.Struct):
    """One row per aggregated iteration."""

    iter_value: Int64s
    product_flops: Int64s
    """Of products alone, without what causal kernels leave out; of the ops whose FLOPs are known."""
    masked_flops: Int64s
    ideal_ns: Floats
    """Time that they would take at the peak of the precision they ran in; NaN where no peak is known."""
    measured_fraction: Floats
    """Share of the product kernels' time in calls with known FLOPs; NaN without product kernels."""
    mfu: Floats
    """Model FLOPs utilisation: ``ideal_ns`` over wall time times devices in use. NaN where that would be more than 1:
    the host was ahead, and the GPU computed when the iteration was over."""


class KernelFacts(msgspec.Struct):
    """One row per kernel of the profile: what rates and rules need of it. Not stored."""

    duration: Int64s
    product: Bools
    precision: Int16s
    """Index of ``precisions``."""
    precisions: list[str]
    arithmetic: Int16s
    """Index of ``arithmetics``: the type in which it computes where it uses no matrix units."""
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
    """The kernels that compute in one precision, on matrix units or not."""

    precision: str
    """``communication`` of collectives; empty where no name tells."""
    matrix_unit: MatrixUnit
    kernel_ns: int
    """Plain sum."""
    kernels: int


class Efficiency(msgspec.Struct):
    """Everything of an aggregation."""

    ops: OpEfficiency
    kernels: KernelEfficiency
    iterations: IterationEfficiency
    precisions: list[PrecisionTime]
    peaks: list[DevicePeaks]
    """Of the profile's devices, those that are known."""
    facts: KernelFacts
