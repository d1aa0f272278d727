"""Computes the efficiency of ops, kernels and iterations in an aggregation, from the work of the profile."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups, byte_ranks, codes, summed
from tensorboard_plugin_dlprof.aggregation.instance_times import instance_rows
from tensorboard_plugin_dlprof.aggregation.selection import iteration_of
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Bools
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.store import release_pages, spill_columns, spilled
from tensorboard_plugin_dlprof.efficiency.by_time import heaviest, weighted_mean
from tensorboard_plugin_dlprof.efficiency.causes import PRECISION_OF_TYPE
from tensorboard_plugin_dlprof.efficiency.kernel_facts import kernel_facts
from tensorboard_plugin_dlprof.efficiency.measure import InstanceWork
from tensorboard_plugin_dlprof.efficiency.op_rates import op_efficiency
from tensorboard_plugin_dlprof.efficiency.peaks import find_peaks
from tensorboard_plugin_dlprof.efficiency.tables import (
    DevicePeaks,
    Efficiency,
    Floats,
    IterationEfficiency,
    KernelEfficiency,
    KernelFacts,
    OpEfficiency,
    PrecisionTime,
)
from tensorboard_plugin_dlprof.events.tables import Device, Int64s
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile


def efficiency(profile: Profile, work: InstanceWork, aggregation: Aggregation) -> Efficiency:
    """All efficiency tables of an aggregation."""
    kernels = kernel_facts(profile)
    rows = spilled(instance_rows(profile).kernels)
    spill_columns(work)
    spill_columns(kernels)
    release_pages()
    ops = op_efficiency(profile, work, aggregation, kernels, rows)
    release_pages()
    return Efficiency(
        ops=ops,
        kernels=_of_kernels(profile, aggregation, kernels),
        iterations=_of_iterations(profile, work, aggregation, kernels, rows, ops),
        precisions=precision_times(profile, aggregation, kernels),
        peaks=device_peaks(profile.devices),
        facts=kernels,
    )


def device_peaks(devices: list[Device]) -> list[DevicePeaks]:
    """The published rates of the devices of a profile."""
    rows = []
    for device in devices:
        peaks = find_peaks(device.name, device.memory_bytes)
        if peaks is None:
            continue
        rates = [("memory", "", peaks.bytes_per_second)]
        rates += [("vector", precision, rate) for precision, rate in peaks.vector_flops.items()]
        rates += [("matrix", precision, rate) for precision, rate in peaks.matrix_flops.items()]
        rows += [DevicePeaks(device.device_id, *rate, peaks.product, peaks.source) for rate in rates]
    return rows


def _of_kernels(profile: Profile, aggregation: Aggregation, facts: KernelFacts) -> KernelEfficiency:
    """The table of kernels, in the order of ``KernelSummaries``: by op as in ``OpNodes``, then by name as bytes."""
    kernels, nodes, kernel = profile.kernels, aggregation.op_nodes, aggregation.iteration_kernels.kernel
    rank = np.zeros(len(profile.ops), np.int64)
    rank[nodes.op] = np.arange(len(nodes.op))
    number, first = codes(rank[kernels.op[kernel]], byte_ranks(profile.strings, kernels.name[kernel]))
    groups = Groups.of(number, len(first))
    duration = facts.duration[kernel]

    def mean(values: Floats) -> Floats:
        return weighted_mean(groups, values, kernel, duration)

    limiter = heaviest(number, facts.limiter[kernel], duration, len(first), len(facts.limiters))
    return KernelEfficiency(
        occupancy=mean(facts.occupancy),
        achieved=mean(facts.achieved),
        waves=mean(facts.waves),
        tail=mean(facts.tail),
        limiter=[facts.limiters[index] for index in limiter.tolist()],
    )


def _of_iterations(
    profile: Profile, work: InstanceWork, aggregation: Aggregation, facts: KernelFacts, rows: Int64s, ops: OpEfficiency
) -> IterationEfficiency:
    iterations, candidate = aggregation.iterations, aggregation.candidate
    count = len(candidate.values)
    aggregated: Bools = np.isin(candidate.values, iterations.iter_value)
    iteration = iteration_of(profile.instances.start_ns, candidate)
    # Only instances with operations, because there may be millions without.
    inside = np.flatnonzero((iteration >= 0) & ((work.product_flops > 0) | (work.masked_flops != 0)))
    number = iteration[inside]
    flops = np.maximum(work.product_flops[inside], 0)

    peak = np.full(len(profile.ops), np.nan)
    peak[ops.op] = ops.peak_flops
    rate = peak[profile.instances.op[inside]]
    ideal = np.where(flops > 0, flops / rate * 1e9, 0.0)
    without_peak = summed(number, np.isnan(ideal), count) > 0
    ideal_ns = np.bincount(number, weights=np.nan_to_num(ideal), minlength=count)

    some_flops = summed(number, flops, count)
    wall = (iterations.stop_ns - iterations.start_ns) * max(int(aggregation.devices.in_use.sum()), 1)
    reached, measured = _of_what_ran(profile, work, candidate, facts, rows, peak)
    return IterationEfficiency(
        iter_value=iterations.iter_value,
        product_flops=some_flops[aggregated],
        masked_flops=summed(number, work.masked_flops[inside], count)[aggregated],
        ideal_ns=np.where(without_peak | (some_flops == 0), np.nan, ideal_ns)[aggregated],
        measured_fraction=measured[aggregated],
        mfu=np.where(reached[aggregated] <= wall, reached[aggregated] / np.maximum(wall, 1), np.nan),
    )


def _of_what_ran(
    profile: Profile, work: InstanceWork, candidate: IterationCandidate, facts: KernelFacts, rows: Int64s, peak: Floats
) -> tuple[Floats, Floats]:
    """By iteration, of the products that ran in it, whichever iteration launched them: their time at the peak, and the
    known share of their kernels' time; NaN if not known.

    Args:
        rows: row of the instance of each kernel.
        peak: the peak rate of each op; NaN if not known.
    """
    count = len(candidate.values)
    known = work.product_flops[rows] > 0
    kernel = np.flatnonzero(known | facts.product)
    pieces = ran_in(profile.kernels.start_ns[kernel], profile.kernels.end_ns[kernel], candidate)
    kernel = kernel[pieces.kernel]
    ran_ns = facts.duration[kernel] * pieces.share

    def by_iteration(values: Floats, selected: Bools) -> Floats:
        sums = np.bincount(pieces.iteration[selected], weights=values[selected], minlength=count)
        return sums.astype(np.float64, copy=False)  # Of no pieces they are integers.

    product = facts.product[kernel]
    total, measured = by_iteration(ran_ns, product), by_iteration(ran_ns, product & known[kernel])
    # The work of an instance is spread over its kernels by their time.
    instance = rows[kernel]
    whole_ns = np.bincount(rows[known], weights=facts.duration[known], minlength=len(profile.instances.op))
    ideal = work.product_flops[instance] / peak[profile.instances.op[instance]] * 1e9
    ideal *= ran_ns / np.maximum(whole_ns[instance], 1)
    reached = by_iteration(ideal, known[kernel])
    return np.where(reached > 0, reached, np.nan), np.where(total > 0, measured / np.maximum(total, 1), np.nan)


COMMUNICATION = "communication"
"""Stands in place of the precision of collectives, whose type says what is sent, not what is computed."""

_UNITS = len(MatrixUnit)


def precision_times(profile: Profile, aggregation: Aggregation, facts: KernelFacts) -> list[PrecisionTime]:
    """Kernel time by precision and matrix unit, as far as they occur. The precision is the kernel's, else its op's."""
    kernel = aggregation.iteration_kernels.kernel
    precisions = list(dict.fromkeys([*facts.precisions, *PRECISION_OF_TYPE.values(), COMMUNICATION]))
    place = {precision: number for number, precision in enumerate(precisions)}
    of_op = np.array([place[PRECISION_OF_TYPE.get(op.data_type, "")] for op in profile.ops] or [0], np.int64)
    used = facts.precision[kernel]
    used = np.where(used == place[""], of_op[profile.kernels.op[kernel]] if len(profile.ops) else 0, used)
    if "collective" in facts.families:
        used[facts.family[kernel] == facts.families.index("collective")] = place[COMMUNICATION]
    code = used * _UNITS + profile.kernels.matrix_unit[kernel]
    size = len(precisions) * _UNITS
    # Doubles represent sums of nanoseconds exactly up to a hundred days.
    times = np.bincount(code, weights=facts.duration[kernel], minlength=size).astype(np.int64)
    kernels = np.bincount(code, minlength=size)
    return [
        PrecisionTime(precisions[each // _UNITS], MatrixUnit(each % _UNITS), int(times[each]), int(kernels[each]))
        for each in np.flatnonzero(kernels).tolist()
    ]


class Pieces(msgspec.Struct):
    """The parts of kernels within iterations; what is outside all of them is left out."""

    kernel: Int64s
    """Index into the kernels that were asked for."""
    iteration: Int64s
    """Row of the candidate."""
    share: Floats
    """Of the kernel's duration."""


def ran_in(start_ns: Int64s, end_ns: Int64s, candidate: IterationCandidate) -> Pieces:
    """The kernels, divided where iterations begin and end."""
    if candidate.source == "whole_capture":
        return Pieces(np.arange(len(start_ns)), np.zeros(len(start_ns), np.int64), np.ones(len(start_ns)))
    first = np.searchsorted(candidate.stop_ns, start_ns, side="right")
    last = np.searchsorted(candidate.start_ns, end_ns, side="left") - 1
    count = np.maximum(last - first + 1, 0)
    kernel = np.repeat(np.arange(len(start_ns)), count)
    iteration = np.arange(len(kernel)) + np.repeat(first - (np.cumsum(count) - count), count)
    begin = np.maximum(start_ns[kernel], candidate.start_ns[iteration])
    end = np.minimum(end_ns[kernel], candidate.stop_ns[iteration])
    return Pieces(kernel, iteration, (end - begin) / np.maximum(end_ns - start_ns, 1)[kernel])
