"""Invariants that the numbers of every aggregation must satisfy, checked on every import.

A violation is a bug in this package, never the input's fault. The numbers are kept and the user is warned, because a
profile that cannot be opened does not help to find the bug. The check sums each column once, which takes little time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tensorboard_plugin_dlprof.aggregation.group_tree import enclosing
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Category, Metrics, TimeMetrics
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


def broken_rules(profile: Profile, aggregation: Aggregation) -> list[str]:
    """The rules that the numbers of an aggregation violate, each in words that complete a sentence."""
    rules = (*_parts(aggregation), *_kernels(profile, aggregation), *_ops(aggregation), *_groups(aggregation))
    return [rule for rule, holds in rules if not holds]


_Rules = Iterator[tuple[str, bool]]


def _parts(aggregation: Aggregation) -> _Rules:
    iterations, devices = aggregation.iterations, aggregation.devices
    lengths = iterations.stop_ns - iterations.start_ns
    yield (
        "no part of the wall time is negative",
        not ((iterations.parts_ns < 0).any() or (devices.parts_ns < 0).any() or (aggregation.parts_ns < 0).any()),
    )
    yield "the parts of each iteration add up to it", bool((iterations.parts_ns.sum(axis=1) == lengths).all())
    yield "the iterations add up to the wall time", aggregation.wall_ns == int(lengths.sum())
    yield (
        "the parts of the iterations add up to those of the wall time",
        bool((iterations.parts_ns.sum(axis=0) == aggregation.parts_ns).all()),
    )
    yield (
        "the parts of each GPU add up to the wall time",
        bool((devices.parts_ns.sum(axis=1) == aggregation.wall_ns).all()),
    )
    yield "the GPU utilization is from 0 to 100 %", 0 <= aggregation.gpu_utilization <= 100
    yield "the Tensor Core utilization is from 0 to 100 %", 0 <= aggregation.efficiency.percent() <= 100


def _kernels(profile: Profile, aggregation: Aggregation) -> _Rules:
    """All kernels are accounted for, unassociated ones included, in number and time, by op, iteration and GPU."""
    kernels, iterations, ops = profile.kernels, aggregation.iterations, aggregation.iteration_ops
    summaries, nodes, devices = aggregation.kernel_summaries, aggregation.op_nodes, aggregation.devices
    launches, outside = aggregation.launches.kernels, aggregation.outside
    total_ns = int((kernels.end_ns - kernels.start_ns).sum())
    inside_ns = total_ns - outside.kernel_ns
    yield "every kernel is in one iteration or outside of all", launches + outside.kernels == len(kernels.op)
    yield (
        "the kernels of all iterations are all kernels",
        _all_are(
            launches, iterations.kernels, ops.kernels, nodes.kernel_calls, summaries.gpu.count, nodes.kernel_gpu.count
        )
        and len(aggregation.iteration_kernels.kernel) == launches,
    )
    yield (
        "the times of the kernels add up along every way",
        _all_are(inside_ns, iterations.kernel_ns, ops.kernel_ns, summaries.gpu.sum, nodes.kernel_gpu.sum),
    )
    known = np.isin(kernels.device, devices.device_id).all()
    yield "the kernels of all GPUs are all kernels", not known or _all_are(launches, devices.kernels)
    yield (
        "the Tensor Core kernels are a part of the kernels",
        bool(
            (iterations.tc_kernels <= iterations.kernels).all()
            and (iterations.tc_kernel_ns <= iterations.kernel_ns).all()
            and int(iterations.tc_kernels.sum()) == aggregation.launches.tensor_core
        ),
    )


def _all_are(total: int, *columns: Int64s) -> bool:
    return all(int(column.sum()) == total for column in columns)


def _ops(aggregation: Aggregation) -> _Rules:
    nodes, types, kinds = aggregation.op_nodes, aggregation.op_types, aggregation.categories
    yield (
        "the op types add up to the ops",
        (
            _sums(nodes.times) == _sums(types.times)
            and int(types.num_calls.sum()) == int(nodes.num_calls.sum())
            and int(types.num_nodes.sum()) == len(nodes.op)
        ),
    )
    yield (
        "the ops of all iterations are all calls",
        _all_are(int(nodes.num_calls.sum()), aggregation.iteration_ops.instances),
    )
    yield (
        "the kinds of ops add up to all ops",
        _add_up(kinds.every_op, kinds.eligible_ops, kinds.using_ops, kinds.other_ops),
    )
    yield (
        "the kinds of kernels add up to all kernels",
        (kinds.every_kernel.gpu_time_ns == kinds.using_kernels.gpu_time_ns + kinds.other_kernels.gpu_time_ns),
    )
    yield (
        "no time of an op is negative",
        all(bool((metric.min >= 0).all()) for metric in (nodes.times.cpu, nodes.times.gpu, nodes.times.gpu_idle)),
    )


def _sums(times: TimeMetrics) -> list[int]:
    return [int(metric.sum.sum()) for metric in _five(times)]


def _five(times: TimeMetrics) -> tuple[Metrics, ...]:
    return (times.cpu, times.gpu, times.api, times.cpu_overhead, times.gpu_idle)


def _add_up(whole: Category, *parts: Category) -> bool:
    return all(
        getattr(whole, name) == sum(getattr(part, name) for part in parts)
        for name in ("cpu_time_ns", "gpu_time_ns", "cpu_overhead_ns", "gpu_idle_ns", "count")
    )


def _groups(aggregation: Aggregation) -> _Rules:
    """Each group is the sum of the groups and ops directly in it."""
    groups = aggregation.group_ops
    columns = [groups.num_op_instances, groups.num_supported_leaf_ops, groups.num_tc_leaf_ops]
    columns += [metric.sum for metric in _five(groups.times)]
    rows = np.flatnonzero(groups.is_group)
    number_of: dict[str, int] = {}
    number = [number_of.setdefault(groups.full_name[row], len(number_of)) for row in rows.tolist()]
    # What lies in no group is added up behind them.
    around = [number_of.get(enclosing(name), len(number_of)) for name in groups.full_name]
    adds_up = True
    for column in columns:
        expected = np.zeros(len(number_of) + 1, np.int64)
        np.add.at(expected, around, column)
        adds_up &= bool((expected[number] == column[rows]).all())
    yield "each group adds up from its children", adds_up
