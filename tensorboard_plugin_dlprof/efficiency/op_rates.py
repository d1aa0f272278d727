"""Rates, bounds and causes of ops."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups
from tensorboard_plugin_dlprof.aggregation.selection import iteration_of
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.distinct import are_among, distinct_values
from tensorboard_plugin_dlprof.efficiency import thresholds
from tensorboard_plugin_dlprof.efficiency.by_time import heaviest, weighted_mean
from tensorboard_plugin_dlprof.efficiency.calls import item_bytes
from tensorboard_plugin_dlprof.efficiency.causes import PRECISION_OF_TYPE, Facts, cause, misaligned
from tensorboard_plugin_dlprof.efficiency.measure import UNKNOWN, InstanceWork
from tensorboard_plugin_dlprof.efficiency.peaks import Peaks, find_peaks
from tensorboard_plugin_dlprof.efficiency.tables import Bound, Cause, Floats, KernelFacts, Misaligned, OpEfficiency
from tensorboard_plugin_dlprof.efficiency.work import PRODUCTS, Work
from tensorboard_plugin_dlprof.events.tables import Device, Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.spilling import spilled

_ITEM = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8": "int8",
         "int8": "int8"}  # fmt: skip
"""Type of the tensors of an op whose kernels compute in a precision, where no type was recorded."""

_UNITS = {int(unit): unit for unit in MatrixUnit}

TRANSPOSES = ("nchwtonhwc", "nhwctonchw", "nchw_to_nhwc", "nhwc_to_nchw", "batched_transpose", "subtensor_op")
"""Parts of the names of kernels that change the layout around a convolution (cuDNN, MIOpen), without case."""


def op_efficiency(
    profile: Profile, work: InstanceWork, aggregation: Aggregation, facts: KernelFacts, rows: Int64s
) -> OpEfficiency:
    """The table of ops, in the order of ``OpNodes``.

    Args:
        profile: the raw tables.
        work: of all instances.
        aggregation: which of them count.
        facts: of all kernels.
        rows: the instance of each kernel.
    """
    return _Ops(profile, work, aggregation, facts, rows).table()


class _Sums(msgspec.Struct, frozen=True):
    """What NumPy tells of an op."""

    op: int
    launched: bool
    """Whether it has kernels: without, device, precision, family and unit mean nothing."""
    device: int
    shape: int
    precision: int
    family: int
    unit: int
    flops: int
    measured_ns: int
    kernel_ns: int
    kernel_calls: int


class _Ops:
    """Builds the table of ops: sums by NumPy, then one pass over the ops."""

    def __init__(
        self, profile: Profile, work: InstanceWork, aggregation: Aggregation, facts: KernelFacts, rows: Int64s
    ) -> None:
        self._profile, self._work, self._nodes, self._facts = profile, work, aggregation.op_nodes, facts
        self._kernel = aggregation.iteration_kernels.kernel
        count = len(profile.ops)
        self._op = spilled(profile.kernels.op[self._kernel].astype(np.int64))
        self._duration = spilled(facts.duration[self._kernel])
        self._of_op = Groups.of(self._op, count)
        in_iterations = iteration_of(profile.instances.cpu_start, aggregation.candidate)
        chosen = np.isin(aggregation.candidate.values, aggregation.iterations.iter_value)
        self._instance = spilled(np.flatnonzero((in_iterations >= 0) & chosen[in_iterations]))
        self._of_instances = Groups.of(profile.instances.op[self._instance], count)
        known = (work.flops >= 0) | (work.elements >= 0)
        self._known_kernel = known[rows[self._kernel]]
        self._peaks = {device.device_id: find_peaks(device.name, device.memory_bytes) for device in profile.devices}
        self._devices = {device.device_id: device for device in profile.devices}
        self._transposing = _transposing_ops(profile)
        self._multiplying = set(distinct_values(self._op[self._facts.product[self._kernel]]).tolist())

    def _sum(self, values: Int64s) -> Int64s:
        """Of known values over the aggregated instances of each op; -1 where none is known."""
        chosen = values[self._instance]
        some = self._of_instances.sum(chosen >= 0) > 0
        return np.where(some, self._of_instances.sum(np.maximum(chosen, 0)), UNKNOWN)[self._nodes.op]

    def table(self) -> OpEfficiency:
        """Everything."""
        profile, nodes, facts = self._profile, self._nodes, self._facts
        kernel_ns = self._of_op.sum(self._duration)[nodes.op]
        measured = self._of_op.sum(np.where(self._known_kernel, self._duration, 0))[nodes.op]
        precision = heaviest(
            self._op, facts.precision[self._kernel], self._weights(), len(profile.ops), len(facts.precisions)
        )[nodes.op]
        unit = heaviest(
            self._op, profile.kernels.matrix_unit[self._kernel].astype(np.int64), self._weights(), len(profile.ops), 3
        )[nodes.op]
        family = heaviest(self._op, facts.family[self._kernel], self._duration, len(profile.ops), len(facts.families))[
            nodes.op
        ]
        first_kernel = np.full(len(profile.ops), -1, np.int64)
        first_kernel[self._op[::-1]] = self._kernel[::-1]
        shape = self._largest_shape()[nodes.op]
        columns = [self._sum(column) for column in (
            self._work.flops, self._work.product_flops, self._work.masked_flops, self._work.min_bytes,
            self._work.elements,
        )]  # fmt: skip
        out = _Rows(len(nodes.op))
        first_kernel = first_kernel[nodes.op]
        launched = first_kernel >= 0
        device_of = np.where(launched, profile.kernels.device[first_kernel], -1) if launched.any() else first_kernel
        sums = zip(
            *(column.tolist() for column in (
                nodes.op, launched, device_of, shape, precision, family, unit, columns[0], measured, kernel_ns,
                nodes.kernel_calls,
            )), strict=True,
        )  # fmt: skip
        for row, of_op in enumerate(_Sums(*row) for row in sums):
            self._judge(out, row, of_op, columns)
        return OpEfficiency(
            op=nodes.op, device=out.device, family=out.family, kernel_ns=kernel_ns, measured_ns=measured,
            flops=columns[0], product_flops=columns[1], masked_flops=np.maximum(columns[2], 0), min_bytes=out.min_bytes,
            precision=out.precision, matrix_unit=unit.astype(np.int8), peak_flops=out.peak_flops,
            peak_bytes=out.peak_bytes, ideal_ns=out.ideal_ns, best_ns=out.best_ns, bound=out.bound, cause=out.cause,
            dimensions=out.dimensions, size=out.size, misaligned=out.misaligned,
            occupancy=self._mean(facts.occupancy)[nodes.op], achieved=self._mean(facts.achieved)[nodes.op],
            waves=self._mean(facts.waves)[nodes.op], tail=self._mean(facts.tail)[nodes.op],
        )  # fmt: skip

    def _judge(self, out: _Rows, row: int, of: _Sums, columns: list[Int64s]) -> None:
        """Fills one row."""
        facts, op = self._facts, self._profile.ops[of.op]
        device = self._devices.get(of.device) if of.launched else None
        peaks = self._peaks.get(device.device_id) if device is not None else None
        work = self._work.works[of.shape] if of.shape >= 0 else None
        named = facts.precisions[of.precision] if of.launched else ""
        spelt = named or PRECISION_OF_TYPE.get(op.data_type, "")
        named_family = facts.families[of.family] if of.launched else ""
        family = work.family if work and named_family not in PRODUCTS else named_family
        matrix = _UNITS[of.unit] if of.launched else MatrixUnit.NO
        out.device[row] = -1 if device is None else device.device_id
        out.precision.append(spelt)
        out.family.append(family)
        out.roof(row, of, self._bytes(columns, row, spelt), peaks, _rate(peaks, spelt, matrix, family),
                 family in PRODUCTS and spelt in ("fp32", "tf32"))  # fmt: skip
        is_judged = of.launched and op.eligibility == Eligibility.ELIGIBLE
        out.why(work, None if not is_judged else Facts(
            spelt, matrix, _tf32(device, peaks), work, of.kernel_ns / max(of.kernel_calls, 1),
            family in PRODUCTS or of.op in self._multiplying, of.op in self._transposing,
            peaks is not None and spelt in peaks.matrix_flops, _has_units(device, peaks),
        ))  # fmt: skip

    def _weights(self) -> Int64s:
        """Time, of products above all: what a convolution's transposes compute in does not matter."""
        return self._duration * np.where(self._facts.product[self._kernel], 1_000, 1)

    def _bytes(self, columns: list[Int64s], row: int, precision: str) -> int:
        if columns[3][row] >= 0:
            return int(columns[3][row])
        size = item_bytes(_ITEM.get(precision, ""))
        return round(int(columns[4][row]) * size) if columns[4][row] >= 0 and size else UNKNOWN

    def _largest_shape(self) -> Int64s:
        shape = np.full(len(self._profile.ops), -1, np.int64)
        chosen = self._work.shape[self._instance]
        flops = np.array([UNKNOWN if work.flops is None else work.flops for work in self._work.works] or [0], np.int64)
        known = np.flatnonzero(chosen >= 0)
        known = known[np.argsort(flops[chosen[known]], kind="stable")]
        shape[self._profile.instances.op[self._instance[known]]] = chosen[known]
        return shape

    def _mean(self, values: Floats) -> Floats:
        return weighted_mean(self._of_op, values, self._kernel, self._duration)


class _Rows:
    """The columns that the pass over the ops fills."""

    def __init__(self, count: int) -> None:
        self.device = np.full(count, -1, np.int64)
        self.min_bytes = np.full(count, UNKNOWN, np.int64)
        self.peak_flops, self.peak_bytes, self.ideal_ns, self.best_ns = (np.full(count, np.nan) for _ in range(4))
        self.family: list[str] = []
        self.precision: list[str] = []
        self.bound: list[Bound] = []
        self.cause: list[Cause] = []
        self.dimensions: list[tuple[int, ...]] = []
        self.size: list[str] = []
        self.misaligned: list[Misaligned | None] = []

    def roof(
        self, row: int, of: _Sums, moved: int, peaks: Peaks | None, rate: float | None, wide: bool
    ) -> None:  # fmt: skip
        """The roof over an op, and which part of it is the lower; ``wide`` products could compute in 16 bits."""
        flops, measured_ns = of.flops, of.measured_ns
        self.min_bytes[row] = moved
        computing = moving = None
        if peaks is not None:
            self.peak_bytes[row] = peaks.bytes_per_second
            moving = moved / peaks.bytes_per_second * 1e9 if moved >= 0 else None
        if rate:
            self.peak_flops[row] = rate
            computing = flops / rate * 1e9 if flops >= 0 else None
        bound = Bound.UNKNOWN
        if measured_ns > 0 and moving is not None and (computing is not None or flops == 0):
            roof = max(moving, computing or 0.0)
            self.ideal_ns[row] = self.best_ns[row] = min(roof, measured_ns)
            half = peaks.best_half() if peaks is not None and wide else None
            if half:
                self.best_ns[row] = min(max(moving / 2, flops / half * 1e9), self.ideal_ns[row])
            small = measured_ns / max(of.kernel_calls, 1) < thresholds.LATENCY_KERNEL_NS
            if small and roof < thresholds.LATENCY_ROOF_FRACTION * measured_ns:
                bound = Bound.LATENCY
            else:
                bound = Bound.COMPUTE if (computing or 0.0) >= moving else Bound.MEMORY
        self.bound.append(bound)

    def why(self, work: Work | None, facts: Facts | None) -> None:
        """The sizes of an op, and the cause of an eligible one, which has facts."""
        self.cause.append(cause(facts) if facts else Cause.NONE)
        self.size.append(work.size if work else "")
        self.dimensions.append(tuple(each.length for each in work.dimensions) if work else ())
        self.misaligned.append(misaligned(facts.work, facts.precision) if facts else None)


def _rate(peaks: Peaks | None, precision: str, matrix: MatrixUnit, family: str) -> float | None:
    """The peak for an op: of matrix units where its products used them; unknown where that is."""
    if peaks is None or not precision:
        return None
    if family not in PRODUCTS or matrix == MatrixUnit.NO:
        # 16-bit types without a rate of their own compute at FP32's.
        return peaks.flops_per_second(precision, False) or peaks.flops_per_second("fp32", False)
    return peaks.flops_per_second(precision, True) if matrix == MatrixUnit.YES else None


def _tf32(device: Device | None, peaks: Peaks | None) -> bool | None:
    if device is None:
        return None
    if peaks is not None:
        return "tf32" in peaks.matrix_flops
    return device.capability_major >= 8 if _is_nvidia(device) else None


def _has_units(device: Device | None, peaks: Peaks | None) -> bool:
    """Whether there are matrix units, or nobody knows: NVIDIA's came with Volta."""
    if peaks is not None:
        return bool(peaks.matrix_flops)
    return device is None or not _is_nvidia(device) or device.capability_major >= 7


def _is_nvidia(device: Device) -> bool:
    """AMD's devices report the number of their architecture as a capability."""
    return device.capability_major > 0 and not any(word in device.name for word in ("AMD", "Instinct", "Radeon"))


def _transposing_ops(profile: Profile) -> set[int]:
    """Rows of ops that launched kernels which change the layout."""
    names = distinct_values(profile.kernels.name)
    texts = [profile.strings[name].lower() for name in names.tolist()]
    hits = names[[any(part in text for part in TRANSPOSES) for text in texts]] if len(names) else names
    return set(distinct_values(profile.kernels.op[are_among(profile.kernels.name, hits.tolist())]).tolist())
