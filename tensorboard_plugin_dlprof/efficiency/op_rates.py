"""Computes the rates of ops, what bounds them, and why eligible ops do not use matrix units."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import Groups
from tensorboard_plugin_dlprof.aggregation.selection import iteration_of
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Bools
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.classify.dtypes import ITEM_BYTES
from tensorboard_plugin_dlprof.classify.vocabulary import LAYOUT_CHANGES, PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.efficiency import thresholds
from tensorboard_plugin_dlprof.efficiency.by_time import heaviest, weighted_mean
from tensorboard_plugin_dlprof.efficiency.causes import PRECISION_OF_TYPE, Facts, cause, misaligned
from tensorboard_plugin_dlprof.efficiency.measure import UNKNOWN, InstanceWork
from tensorboard_plugin_dlprof.efficiency.peaks import Peaks, find_peaks
from tensorboard_plugin_dlprof.efficiency.tables import Bound, Cause, Floats, KernelFacts, Misaligned, OpEfficiency
from tensorboard_plugin_dlprof.efficiency.work import Work
from tensorboard_plugin_dlprof.events.tables import Device, Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.units import NS_PER_S


class Roofs(msgspec.Struct, frozen=True):
    """One row per op; NaN is unknown."""

    ideal_ns: Floats
    """Time at the peak rates of the device."""
    best_ns: Floats
    """Time at the peaks in 16 bits on matrix units, for products that could use them; else ``ideal_ns``."""
    bound: list[Bound]


def roofs(
    flops: Int64s, moved_bytes: Int64s, measured_ns: Int64s, kernel_calls: Int64s,
    flops_per_second: Floats, bytes_per_second: Floats, half_per_second: Floats,
) -> Roofs:  # fmt: skip
    """The roofs of ops. All arguments have one value per op.

    Args:
        flops: Operations in calls whose work is known; -1 if unknown.
        moved_bytes: The least that these calls must read and write; -1 if unknown.
        measured_ns: Kernel time in these calls.
        kernel_calls: Number of all kernels of the op.
        flops_per_second: Peak for the precision and unit of the op; NaN if unknown.
        bytes_per_second: Peak of the memory; NaN if unknown.
        half_per_second: Peak of 16-bit products, for products in wider types; NaN for other ops.
    """
    moving = np.where(moved_bytes >= 0, moved_bytes, np.nan) / bytes_per_second * NS_PER_S
    computing = np.where(flops >= 0, flops, np.nan) / flops_per_second * NS_PER_S
    computing[(flops == 0) & np.isnan(computing)] = 0.0
    roof = np.maximum(moving, computing)
    ideal = np.where(measured_ns > 0, np.minimum(roof, measured_ns), np.nan)
    best = np.fmin(np.maximum(moving / 2, flops / half_per_second * NS_PER_S), ideal)
    small = measured_ns / np.maximum(kernel_calls, 1) < thresholds.LATENCY_KERNEL_NS
    latency = small & (roof < thresholds.LATENCY_ROOF_FRACTION * measured_ns)
    from_caches = moving > _ABOVE_PEAK * measured_ns
    codes = np.select([np.isnan(ideal), latency, computing >= moving, from_caches], [0, 1, 2, 4], 3)
    return Roofs(ideal, np.where(np.isnan(ideal), np.nan, best), [_BOUNDS[code] for code in codes.tolist()])


_BOUNDS = (Bound.UNKNOWN, Bound.LATENCY, Bound.COMPUTE, Bound.MEMORY, Bound.CACHES)

_ABOVE_PEAK = 1.02
"""Clocks of memories vary by less."""


_ITEM = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8": "int8",
         "int8": "int8"}  # fmt: skip
"""Precision of an op's kernels -> assumed type of its tensors, if no type was recorded."""

_AMPERE = 80
"""Architecture of the first GPUs with TF32."""

_NEAR_PEAK = 0.6
"""Share of the peak of its unit from which padding has little to give an op."""

_UNITS = {int(unit): unit for unit in MatrixUnit}


def op_efficiency(
    profile: Profile, work: InstanceWork, aggregation: Aggregation, facts: KernelFacts, rows: Int64s
) -> OpEfficiency:
    """The table of ops, in the order of ``OpNodes``.

    Args:
        aggregation: selects the instances and kernels that count.
        rows: row of the instance of each kernel.
    """
    return _Ops(profile, work, aggregation, facts, rows).table()


class _Ops:
    """Builds the table of ops: column by column, and the causes of eligible ops one by one."""

    def __init__(
        self, profile: Profile, work: InstanceWork, aggregation: Aggregation, facts: KernelFacts, rows: Int64s
    ) -> None:
        self._profile, self._work, self._nodes, self._facts = profile, work, aggregation.op_nodes, facts
        self._kernel = aggregation.iteration_kernels.kernel
        count = len(profile.ops)
        self._op = spilled(profile.kernels.op[self._kernel].astype(np.int64))
        self._duration = spilled(facts.duration[self._kernel])
        self._of_op = Groups.of(self._op, count)
        in_iterations = iteration_of(profile.instances.start_ns, aggregation.candidate)
        is_selected = np.isin(aggregation.candidate.values, aggregation.iterations.iter_value)
        self._instance = spilled(np.flatnonzero((in_iterations >= 0) & is_selected[in_iterations]))
        self._of_instances = Groups.of(profile.instances.op[self._instance], count)
        known = (work.flops >= 0) | (work.elements >= 0)
        self._known_kernel = known[rows[self._kernel]]
        self._peaks = {device.device_id: find_peaks(device.name, device.memory_bytes) for device in profile.devices}
        self._devices = {device.device_id: device for device in profile.devices}
        self._transposes = _changing_the_layout(profile)[self._kernel]
        self._transposing = set(distinct_values(self._op[self._transposes]).tolist())
        self._first = np.full(count, -1, np.int64)
        self._first[self._op[::-1]] = self._kernel[::-1]
        self._tf32 = _tf32_families(profile, facts)
        architectures = {each.architecture for each in profile.kernel_classes.values()}
        self._runs_ampere = any(each.startswith("sm_") and int(each[3:]) >= _AMPERE for each in architectures)
        self._multiplies = self._facts.product[self._kernel]
        self._multiplying = set(distinct_values(self._op[self._multiplies]).tolist())

    def _sum(self, values: Int64s) -> Int64s:
        """The sum of the known values over the aggregated instances of each op; -1 if none is known."""
        if len(values) and values.strides == (0,) and values[0] < 0:
            return np.full(len(self._nodes.op), UNKNOWN, np.int64)
        selected = values[self._instance]
        some = self._of_instances.sum(selected >= 0) > 0
        return np.where(some, self._of_instances.sum(np.maximum(selected, 0)), UNKNOWN)[self._nodes.op]

    def table(self) -> OpEfficiency:
        """The whole table."""
        profile, nodes, facts = self._profile, self._nodes, self._facts
        kernel_ns = self._of_op.sum(self._duration)[nodes.op]
        measured = self._time_of(self._known_kernel)
        weights = self._weights()
        precision = self._heaviest(facts.precision, len(facts.precisions), weights)
        arithmetic = self._heaviest(facts.arithmetic, len(facts.arithmetics), weights)
        unit = self._heaviest(profile.kernels.matrix_unit, len(MatrixUnit), weights)
        family = self._heaviest(facts.family, len(facts.families), self._duration)
        shape = self._largest_shape()[nodes.op]
        columns = [self._sum(column) for column in (
            self._work.flops, self._work.product_flops, self._work.masked_flops, self._work.min_bytes,
            self._work.elements,
        )]  # fmt: skip
        device, launched = self._first_devices()
        ops = [profile.ops[op] for op in nodes.op.tolist()]
        works = [self._work.works[row] if row >= 0 else None for row in shape.tolist()]
        named = _known_texts(facts.precisions, precision, launched)
        spelt = [name or PRECISION_OF_TYPE.get(op.data_type, "") for name, op in zip(named, ops, strict=True)]
        families = [
            work.family if work and family not in PRODUCT_FAMILIES else family
            for work, family in zip(works, _known_texts(facts.families, family, launched), strict=True)
        ]
        matrix = np.where(launched, unit, MatrixUnit.NO)
        rates = self._rates(device, spelt, _known_texts(facts.arithmetics, arithmetic, launched), matrix, families)
        moved = _bytes(columns[3], columns[4], spelt)
        over = roofs(columns[0], moved, measured, nodes.kernel_calls, *rates)
        mean_ns = kernel_ns / np.maximum(nodes.kernel_calls, 1)
        eligible = launched & np.array([op.eligibility == Eligibility.ELIGIBLE for op in ops], np.bool_)
        causes = [Cause.NONE] * len(ops)
        wrong: list[Misaligned | None] = [None] * len(ops)
        for row in np.flatnonzero(eligible).tolist():
            described = spelt[row], int(matrix[row]), families[row], works[row]
            judged = self._facts_of(int(nodes.op[row]), int(device[row]), float(mean_ns[row]), *described)
            causes[row], wrong[row] = cause(judged), misaligned(judged.work, judged.precision)
            reached = columns[1][row] / (rates[0][row] * measured[row] * 1e-9) if measured[row] > 0 else 0.0
            if judged.matrix_unit == MatrixUnit.YES and _NEAR_PEAK <= reached <= 1:
                wrong[row] = None

        return OpEfficiency(
            op=nodes.op, device=device, family=families, kernel_ns=kernel_ns, measured_ns=measured,
            flops=columns[0], product_flops=columns[1], masked_flops=np.maximum(columns[2], 0), min_bytes=moved,
            precision=spelt, matrix_unit=unit.astype(np.int8), peak_flops=rates[0], peak_bytes=rates[1],
            ideal_ns=over.ideal_ns, best_ns=over.best_ns, bound=over.bound, cause=causes,
            kept_off_ns=self._kept_off(causes),
            dimensions=[tuple(each.length for each in work.dimensions) if work else () for work in works],
            size=[work.size if work else "" for work in works], misaligned=wrong,
            occupancy=self._mean(facts.occupancy)[nodes.op], achieved=self._mean(facts.achieved)[nodes.op],
            waves=self._mean(facts.waves)[nodes.op], tail=self._mean(facts.tail)[nodes.op],
        )  # fmt: skip

    def _kept_off(self, causes: list[Cause]) -> Int64s:
        """What the cause of each op costs, ns: the time of the kernels that multiply, but not on matrix units, and of
        those that change the layout if that is the cause; of those that nothing tells of, where it is that. Without
        matrix units nothing is kept off them.

        Kernels of an op may run at the same time: it is never more than the GPU time of the op.
        """
        unit = self._profile.kernels.matrix_unit[self._kernel]
        is_off = unit == MatrixUnit.NO
        multiplying = self._time_of(self._multiplies & is_off)
        changing = self._time_of((self._multiplies | self._transposes) & is_off)
        unknown = self._time_of(unit == MatrixUnit.UNKNOWN)
        none = np.zeros_like(unknown)
        by_cause = {Cause.NONE: none, Cause.NO_UNIT: none, Cause.LAYOUT: changing, Cause.NO_NAME: unknown}
        cost = [by_cause.get(cause, multiplying)[row] for row, cause in enumerate(causes)]
        return np.minimum(np.array(cost, np.int64), self._nodes.times.gpu.sum)

    def _time_of(self, kernels: Bools) -> Int64s:
        """For each op of the table, the plain sum over these of the aggregated kernels, ns."""
        return self._of_op.sum(np.where(kernels, self._duration, 0))[self._nodes.op]

    def _heaviest(self, values: npt.NDArray[np.integer], count: int, weights: Int64s) -> Int64s:
        """For each op of the table, the value with the most weight among its kernels.

        ``values`` has a number below ``count`` for each kernel of the profile, ``weights`` one for each aggregated
        kernel.
        """
        return heaviest(self._op, values[self._kernel], weights, len(self._profile.ops), count)[self._nodes.op]

    def _first_devices(self) -> tuple[Int64s, Bools]:
        """Device of the first kernel of each op, -1 if unknown; and whether the op launched any kernel."""
        first = self._first[self._nodes.op]
        launched = first >= 0
        device = np.where(launched, self._profile.kernels.device[first], -1) if launched.any() else first
        return np.where(np.isin(device, list(self._devices)), device, -1), launched

    def _facts_of(
        self, op: int, device_id: int, mean_ns: float, precision: str, unit: int, family: str, work: Work | None
    ) -> Facts:
        """The facts that decide on the cause of an eligible op."""
        device, peaks = self._devices.get(device_id), self._peaks.get(device_id)
        return Facts(
            precision, _UNITS[unit], _tf32(device, peaks, self._runs_ampere), work, mean_ns,
            family in PRODUCT_FAMILIES or op in self._multiplying, op in self._transposing,
            peaks is not None and precision in peaks.matrix_flops, _has_units(device, peaks),
            self._tf32.get(self._process_of(op), frozenset()), family,
        )  # fmt: skip

    def _process_of(self, op: int) -> int:
        """The process of the first kernel of an op that launched one."""
        return int(self._profile.kernels.process_id[self._first[op]])

    def _rates(
        self, device: Int64s, precision: list[str], arithmetic: list[str], unit: Int64s, family: list[str]
    ) -> Floats:
        """The peaks for each op, as three rows: of its operations, of the memory, and of 16-bit products if the op is a
        product in a wider type."""
        keys = list(zip(device.tolist(), precision, arithmetic, unit.tolist(), family, strict=True))
        rates = {key: _rates_of(self._peaks.get(key[0]), *key[1:3], _UNITS[key[3]], key[4]) for key in set(keys)}
        columns: Floats = np.array([rates[key] for key in keys], np.float64).reshape(-1, 3).T
        return columns

    def _weights(self) -> Int64s:
        """Kernel times, in which products outweigh all else: what precision transposes have is irrelevant."""
        return self._duration * np.where(self._facts.product[self._kernel], 1_000, 1)

    def _largest_shape(self) -> Int64s:
        shape = np.full(len(self._profile.ops), -1, np.int64)
        shapes = self._work.shape[self._instance]
        flops = np.array([UNKNOWN if work.flops is None else work.flops for work in self._work.works] or [0], np.int64)
        known = np.flatnonzero(shapes >= 0)
        known = known[np.argsort(flops[shapes[known]], kind="stable")]
        shape[self._profile.instances.op[self._instance[known]]] = shapes[known]
        return shape

    def _mean(self, values: Floats) -> Floats:
        return weighted_mean(self._of_op, values, self._kernel, self._duration)


def _known_texts(texts: list[str], row: Int64s, known: Bools) -> list[str]:
    """The texts at these indexes; empty where ``known`` is false."""
    return [texts[each] if is_known else "" for each, is_known in zip(row.tolist(), known.tolist(), strict=True)]


def _bytes(min_bytes: Int64s, elements: Int64s, precision: list[str]) -> Int64s:
    """The least bytes that must be moved: as recorded, else the elements times the size of the precision."""
    size_of = {name: ITEM_BYTES.get(_ITEM.get(name, ""), np.nan) for name in set(precision)}
    size = np.array([size_of[name] for name in precision], np.float64)
    is_known = (min_bytes < 0) & (elements >= 0) & ~np.isnan(size)
    return np.where(is_known, np.rint(np.where(is_known, elements * size, 0)).astype(np.int64), min_bytes)


def _rates_of(
    peaks: Peaks | None, precision: str, arithmetic: str, matrix: MatrixUnit, family: str
) -> tuple[float, float, float]:
    if peaks is None:
        return np.nan, np.nan, np.nan
    half = peaks.best_half() if family in PRODUCT_FAMILIES and precision in ("fp32", "tf32") else None
    return _rate(peaks, precision, arithmetic, matrix, family) or np.nan, peaks.bytes_per_second, half or np.nan


def _rate(peaks: Peaks, precision: str, arithmetic: str, matrix: MatrixUnit, family: str) -> float | None:
    """The peak for an op: that of matrix units if its products used them; None if it is unknown whether they did."""
    if not precision:
        return None
    if family not in PRODUCT_FAMILIES or matrix == MatrixUnit.NO:
        # Types without a rate of their own compute at FP32's.
        return peaks.flops_per_second(arithmetic or precision, False) or peaks.flops_per_second("fp32", False)
    return peaks.flops_per_second(precision, True) if matrix == MatrixUnit.YES else None


def _tf32(device: Device | None, peaks: Peaks | None, runs_ampere: bool) -> bool | None:
    """Whether a device computes TF32. Kernels that are made for a GPU that does run on no older one."""
    if peaks is not None:
        return "tf32" in peaks.matrix_flops
    if device is not None and _is_nvidia(device):
        return 10 * device.capability_major >= _AMPERE
    return True if runs_ampere else None


def _has_units(device: Device | None, peaks: Peaks | None) -> bool:
    """Whether the device has matrix units; True if unknown. NVIDIA's came with Volta."""
    if peaks is not None:
        return bool(peaks.matrix_flops)
    return device is None or not _is_nvidia(device) or device.capability_major >= 7


def _is_nvidia(device: Device) -> bool:
    """AMD's devices report the number of their architecture as a capability."""
    return device.capability_major > 0 and not any(word in device.name for word in ("AMD", "Instinct", "Radeon"))


def _tf32_families(profile: Profile, facts: KernelFacts) -> dict[int, frozenset[str]]:
    """The families of the kernels that run TF32, in the whole profile, by process. Attention in FP32 splits its
    operands for three multiplications in TF32, whether that is allowed or not."""
    if "tf32" not in facts.precisions:
        return {}
    rows = np.flatnonzero(facts.precision == facts.precisions.index("tf32"))
    families_of: dict[int, set[str]] = {}
    pairs = distinct_values(profile.kernels.process_id[rows].astype(np.int64) << 16 | facts.family[rows])
    for pair in pairs.tolist():
        if (family := facts.families[pair & 0xFFFF]) != "attention":
            families_of.setdefault(pair >> 16, set()).add(family)
    return {process: frozenset(families) for process, families in families_of.items()}


def _changing_the_layout(profile: Profile) -> Bools:
    """Whether each kernel of the profile changes the layout."""
    names = distinct_values(profile.kernels.name)
    texts = [profile.strings[name].lower() for name in names.tolist()]
    hits = names[[any(part in text for part in LAYOUT_CHANGES) for text in texts]] if len(names) else names
    return are_among(profile.kernels.name, hits.tolist())
