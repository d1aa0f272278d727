"""Kernels by op and name, by iteration and op, and the eight categories (DLProf database reference, 7.1 and 7.3)."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups, byte_ranks, codes, counted, summed
from tensorboard_plugin_dlprof.aggregation.instance_times import InstanceTimes
from tensorboard_plugin_dlprof.aggregation.tables import (
    Bools,
    Categories,
    Category,
    Efficiency,
    IterationKernels,
    IterationOps,
    KernelSummaries,
    Launches,
    OpNodes,
    UnknownKernels,
)
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


def kernel_summaries(profile: Profile, nodes: OpNodes, kernel: Int64s) -> KernelSummaries:
    """One row per op and short kernel name; ``kernel`` are the rows of the aggregated kernels."""
    kernels = profile.kernels
    op_rank = np.zeros(len(profile.ops), np.int64)
    op_rank[nodes.op] = np.arange(len(nodes.op))
    number, first = codes(op_rank[kernels.op[kernel]], byte_ranks(profile.strings, kernels.name[kernel]))
    groups = Groups.of(number, len(first))
    return KernelSummaries(
        op=kernels.op[kernel[first]].astype(np.int64),
        name=kernels.name[kernel[first]].astype(np.int64),
        api=groups.metrics((kernels.api_end_ns - kernels.api_start_ns)[kernel]),
        gpu=groups.metrics((kernels.end_ns - kernels.start_ns)[kernel]),
        uses_tensor_cores=groups.sum(kernels.matrix_unit[kernel] == MatrixUnit.YES) > 0,
    )


def iteration_ops(
    profile: Profile,
    times: InstanceTimes,
    instance: Int64s,
    instance_iteration: Int64s,
    kernel: Int64s,
    kernel_instance: Int64s,
) -> tuple[IterationOps, IterationKernels]:
    """Counts and times of each op in each iteration, and the aggregated kernels with their rows in that table.

    Args:
        instance: rows of the aggregated instances.
        instance_iteration: number of the iteration of each of them.
        kernel: rows of the aggregated kernels, ascending.
        kernel_instance: row of the instance of each kernel of the profile.
    """
    kernels = profile.kernels
    ops = profile.instances.op[instance]
    number, first = codes(instance_iteration, ops)
    iter_value, op = spilled(instance_iteration[first]), spilled(ops[first].astype(np.int64))
    size = len(first)
    # There may be ten million rows, so free what is no longer needed.
    del ops, first
    # A kernel belongs to the op and the iteration of its instance, which is aggregated if the kernel is.
    of_row = np.zeros(len(profile.instances.op), np.int64)
    of_row[instance] = number
    kernel_number = spilled(of_row[kernel_instance[kernel]])
    del of_row
    instances = spilled(counted(number, size))
    cpu_time_ns = spilled(summed(number, times.cpu(instance), size))
    gpu_time_ns = spilled(summed(number, times.gpu[instance], size))
    del number
    duration = (kernels.end_ns - kernels.start_ns)[kernel]
    on_tensor_cores = kernels.matrix_unit[kernel] == MatrixUnit.YES
    return (
        IterationOps(
            iter_value=iter_value,
            op=op,
            instances=instances,
            cpu_time_ns=cpu_time_ns,
            gpu_time_ns=gpu_time_ns,
            kernels=spilled(counted(kernel_number, size)),
            tc_kernels=spilled(summed(kernel_number, on_tensor_cores, size)),
            kernel_ns=spilled(summed(kernel_number, duration, size)),
            tc_kernel_ns=spilled(summed(kernel_number, np.where(on_tensor_cores, duration, 0), size)),
        ),
        IterationKernels(kernel=kernel, iteration_op=kernel_number),
    )


def categories(profile: Profile, nodes: OpNodes, kernel: Int64s, memcpy: Int64s, memset: Int64s) -> Categories:
    """The eight categories; the last three arguments are the rows of the aggregated kernels, copies and sets."""
    using = nodes.using_tensor_cores
    eligible = nodes.eligible & ~using
    kernels = profile.kernels
    api = (kernels.api_end_ns - kernels.api_start_ns)[kernel]
    gpu = (kernels.end_ns - kernels.start_ns)[kernel]
    name = kernels.name[kernel]
    on_tensor_cores = kernels.matrix_unit[kernel] == MatrixUnit.YES
    memory = [(profile.memcpys, memcpy), (profile.memsets, memset)]
    return Categories(
        every_op=_ops(nodes, np.ones(len(using), np.bool_)),
        eligible_ops=_ops(nodes, eligible),
        using_ops=_ops(nodes, using),
        other_ops=_ops(nodes, ~using & ~eligible),
        every_kernel=_work(api, gpu, name),
        using_kernels=_work(api[on_tensor_cores], gpu[on_tensor_cores], name[on_tensor_cores]),
        other_kernels=_work(api[~on_tensor_cores], gpu[~on_tensor_cores], name[~on_tensor_cores]),
        memory=_work(
            np.concatenate([(table.api_end_ns - table.api_start_ns)[rows] for table, rows in memory]),
            np.concatenate([(table.end_ns - table.start_ns)[rows] for table, rows in memory]),
            np.concatenate([table.name[rows] for table, rows in memory]),
        ),
    )


def launches(profile: Profile, kernel: Int64s, memory: int, graph: Int64s) -> Launches:
    """Counts of launches.

    Args:
        kernel: rows of the aggregated kernels.
        memory: number of aggregated copies and sets.
        graph: rows of the aggregated CUDA graphs.
    """
    kernels, graphs = profile.kernels, profile.graphs
    unit = kernels.matrix_unit[kernel]
    unknown = kernel[unit == MatrixUnit.UNKNOWN]
    return Launches(
        kernels=len(kernel),
        tensor_core=int((unit == MatrixUnit.YES).sum()),
        memory=memory,
        unknown=len(unknown),
        unknown_names=len(distinct_values(kernels.name[unknown])),
        other_names=len(distinct_values(kernels.name[kernel[unit == MatrixUnit.NO]])),
        unknown_ns=int((kernels.end_ns - kernels.start_ns)[unknown].sum()),
        graphs=len(graph),
        graph_ns=int((graphs.end_ns - graphs.start_ns)[graph].sum()),
    )


def unknown_kernels(profile: Profile, kernel: Int64s) -> UnknownKernels:
    """Number and time of the aggregated kernels whose Tensor Core use is unknown, by op."""
    kernels = profile.kernels
    unknown = kernel[kernels.matrix_unit[kernel] == MatrixUnit.UNKNOWN]
    number, first = codes(kernels.op[unknown])
    duration = (kernels.end_ns - kernels.start_ns)[unknown]
    return UnknownKernels(
        op=kernels.op[unknown][first].astype(np.int64),
        kernels=counted(number, len(first)),
        kernel_ns=summed(number, duration, len(first)),
    )


def efficiency(profile: Profile, nodes: OpNodes, kernel: Int64s, graph: Int64s) -> Efficiency:
    """Tensor Core use of the eligible ops; ``kernel`` and ``graph`` are the rows of what is aggregated."""
    kernels = profile.kernels
    may_use = np.zeros(len(profile.ops), np.bool_)
    may_use[kernels.op[kernel[kernels.matrix_unit[kernel] == MatrixUnit.UNKNOWN]]] = True
    may_use[profile.graphs.op[graph]] = True
    eligible = np.array([op.eligibility == Eligibility.ELIGIBLE for op in profile.ops], np.bool_)
    counted = kernel[eligible[kernels.op[kernel]]] if len(kernel) else kernel
    duration = (kernels.end_ns - kernels.start_ns)[counted]
    unit = kernels.matrix_unit[counted]
    # What multiplies on matrix units could, even if no op is known to have launched it: as the table of ops has it.
    could = nodes.eligible | nodes.using_tensor_cores
    return Efficiency(
        eligible_ops=int(could.sum()),
        eligible_ops_using=int(nodes.using_tensor_cores.sum()),
        eligible_ops_unknown=int((nodes.eligible & ~nodes.using_tensor_cores & may_use[nodes.op]).sum()),
        eligible_op_ns=int(nodes.times.gpu.sum[could].sum()),
        kernel_ns=int(duration.sum()),
        tensor_core_ns=int(duration[unit == MatrixUnit.YES].sum()),
        unknown_ns=int(duration[unit == MatrixUnit.UNKNOWN].sum()),
    )


def _ops(nodes: OpNodes, selected: Bools) -> Category:
    times = nodes.times
    return Category(
        cpu_time_ns=int(times.cpu.sum[selected].sum()),
        gpu_time_ns=int(times.gpu.sum[selected].sum()),
        cpu_overhead_ns=int(times.cpu_overhead.sum[selected].sum()),
        gpu_idle_ns=int(times.gpu_idle.sum[selected].sum()),
        count=int(selected.sum()),
    )


def _work(api: Int64s, gpu: Int64s, name: Int32s) -> Category:
    return Category(int(api.sum()), int(gpu.sum()), 0, 0, len(distinct_values(name)))
