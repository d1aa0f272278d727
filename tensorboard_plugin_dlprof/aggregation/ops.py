"""Ops and op types (DLProf database reference, section 7.2)."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups, by_op, sort_bytes
from tensorboard_plugin_dlprof.aggregation.instance_times import InstanceTimes
from tensorboard_plugin_dlprof.aggregation.metrics import (
    added,
    merged_times,
    no_metrics,
    no_time_metrics,
    select_times,
    time_metrics,
)
from tensorboard_plugin_dlprof.aggregation.tables import Bools, Metrics, OpNodes, OpTypes, TimeMetrics
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.profile.tables import Op, Profile

TENSOR_CORE_TYPES = frozenset(
    {"float16", "bfloat16", "int8", "uint8", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
     "float8_e5m2fnuz", "float8", "float4", "float4_e2m1fn_x2"}
)  # fmt: skip
"""Types that Tensor Cores multiply as they are. ``float32`` is cut to TF32 only where the user allows it, and the
FP64 units of A100 and later are no reason to compute in ``float64``: in both cases the advice is another type."""

_INSTANCES = 1 << 18
"""At a time: one op may have millions."""


def op_nodes(profile: Profile, times: InstanceTimes, aggregated: Bools, kernel_aggregated: Bools) -> OpNodes:
    """One row per op that has an instance among the aggregated ones.

    Args:
        times: of all instances.
        aggregated: which instances count.
        kernel_aggregated: which kernels count.
    """
    of_op = _times_of_ops(profile, times, aggregated)
    calls = of_op.cpu.count
    api, gpu, using = _kernels_of_ops(profile, kernel_aggregated)
    eligible = np.array([op.eligibility == Eligibility.ELIGIBLE for op in profile.ops], np.bool_)
    bad = eligible & ~using & np.array([_is_bad_type(op) for op in profile.ops], np.bool_)
    op = np.array(sorted(np.flatnonzero(calls).tolist(), key=lambda row: sort_bytes(profile.ops[row].op_id)), np.int64)
    return OpNodes(
        op=op,
        times=select_times(of_op, op),
        kernel_api=some_rows(api, op),
        kernel_gpu=some_rows(gpu, op),
        num_calls=calls[op],
        kernel_calls=gpu.count[op],
        eligible=eligible[op],
        using_tensor_cores=using[op],
        bad_data_type=bad[op],
    )


def _times_of_ops(profile: Profile, times: InstanceTimes, aggregated: Bools) -> TimeMetrics:
    """Of all ops of the profile, also of those without an aggregated instance."""
    result = no_time_metrics(len(profile.ops))
    for begin in range(0, len(aggregated), _INSTANCES):
        instance = np.flatnonzero(aggregated[begin : begin + _INSTANCES]) + begin
        of_op = Groups.of(profile.instances.op[instance], len(profile.ops))
        result = merged_times(result, time_metrics(of_op, times.columns(instance)))
    return result


def _kernels_of_ops(profile: Profile, kernel_aggregated: Bools) -> tuple[Metrics, Metrics, Bools]:
    """Of all ops of the profile: the API time and the GPU time of the kernels; whether one uses Tensor Cores."""
    count, kernels = len(profile.ops), profile.kernels
    api, gpu = no_metrics(count), no_metrics(count)
    using = np.zeros(count, np.bool_)
    for (some,) in by_op(count, kernels.op):
        kernel = np.flatnonzero(kernel_aggregated[some]) + some.start
        of_op = Groups.of(kernels.op[kernel], count)
        api = added(api, of_op.metrics(kernels.api_end_ns[kernel] - kernels.api_start_ns[kernel]))
        gpu = added(gpu, of_op.metrics(kernels.end_ns[kernel] - kernels.start_ns[kernel]))
        using[kernels.op[kernel[kernels.matrix_unit[kernel] == MatrixUnit.YES]]] = True
    return api, gpu, using


def op_types(profile: Profile, nodes: OpNodes) -> OpTypes:
    """One row per type of the aggregated ops; the samples are their instances."""
    types = [profile.ops[op].op_type for op in nodes.op.tolist()]
    names = sorted(set(types), key=sort_bytes)
    number = {name: row for row, name in enumerate(names)}
    of_type = Groups.of(np.array([number[name] for name in types], np.int64), len(names))

    def together(metrics: Metrics) -> Metrics:
        return Metrics(
            of_type.sum(metrics.count), of_type.max(metrics.max), of_type.min(metrics.min), of_type.sum(metrics.sum)
        )

    times = nodes.times
    return OpTypes(
        op_type=names,
        times=TimeMetrics(*map(together, (times.cpu, times.gpu, times.api, times.cpu_overhead, times.gpu_idle))),
        num_nodes=of_type.count(),
        num_calls=of_type.sum(nodes.num_calls),
    )


def _is_bad_type(op: Op) -> bool:
    return op.data_type != "" and op.data_type not in TENSOR_CORE_TYPES
