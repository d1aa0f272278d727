"""What ``aggregate`` returned, laid out as ``computed`` has it."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Metrics, TimeMetrics
from tensorboard_plugin_dlprof.profile.tables import Profile


def computed_tables(profile: Profile, aggregation: Aggregation) -> dict[str, Any]:
    """The same numbers as ``aggregate`` computed them."""
    ids = [op.op_id for op in profile.ops]
    nodes, groups, types = aggregation.op_nodes, aggregation.group_ops, aggregation.op_types
    kernels, ops, its = aggregation.kernel_summaries, aggregation.iteration_ops, aggregation.iterations
    names = [profile.strings[name] for name in kernels.name.tolist()]
    launches, efficiency, outside = aggregation.launches, aggregation.efficiency, aggregation.outside
    node_times, group_times, type_times = _five(nodes.times), _five(groups.times), _five(types.times)
    node_api, node_gpu = _metric_rows(nodes.kernel_api), _metric_rows(nodes.kernel_gpu)
    summary_api, summary_gpu = _metric_rows(kernels.api), _metric_rows(kernels.gpu)
    return {
        "op_nodes": {
            ids[op]: (
                node_times[row],
                node_api[row],
                node_gpu[row],
                int(nodes.num_calls[row]),
                int(nodes.kernel_calls[row]),
                bool(nodes.eligible[row]),
                bool(nodes.using_tensor_cores[row]),
                bool(nodes.bad_data_type[row]),
            )
            for row, op in enumerate(nodes.op.tolist())
        },
        "groups": {
            (full_id, groups.full_name[row]): (
                bool(groups.is_group[row]),
                int(groups.level[row]),
                int(groups.num_op_instances[row]),
                int(groups.num_supported_leaf_ops[row]),
                int(groups.num_tc_leaf_ops[row]),
                group_times[row],
            )
            for row, full_id in enumerate(groups.full_id)
        },
        "op_types": {
            name: (type_times[row], int(types.num_nodes[row]), int(types.num_calls[row]))
            for row, name in enumerate(types.op_type)
        },
        "kernel_summaries": {
            (ids[op], names[row]): (summary_api[row], summary_gpu[row], bool(kernels.uses_tensor_cores[row]))
            for row, op in enumerate(kernels.op.tolist())
        },
        "iteration_ops": {
            (value, ids[op]): tuple(rest)
            for value, op, *rest in zip(
                *(
                    column.tolist()
                    for column in (
                        ops.iter_value,
                        ops.op,
                        ops.instances,
                        ops.cpu_time_ns,
                        ops.gpu_time_ns,
                        ops.kernels,
                        ops.tc_kernels,
                        ops.kernel_ns,
                        ops.tc_kernel_ns,
                    )
                ),
                strict=True,
            )
        },
        "iteration_kernels": {
            kernel: (int(ops.iter_value[row]), ids[int(ops.op[row])])
            for kernel, row in zip(
                aggregation.iteration_kernels.kernel.tolist(),
                aggregation.iteration_kernels.iteration_op.tolist(),
                strict=True,
            )
        },
        "parts": its.parts_ns.tolist(),
        "device_parts": aggregation.devices.parts_ns.tolist(),
        "unknown_parts": its.unknown_part_ns.tolist(),
        "unknown_device_parts": aggregation.devices.unknown_part_ns.tolist(),
        "unknown_by_iteration": {
            value: tuple(rest)
            for value, *rest in zip(
                its.iter_value.tolist(),
                its.unknown_kernels.tolist(),
                its.unknown_kernel_ns.tolist(),
                its.graphs.tolist(),
                strict=True,
            )
        },
        "unknown_by_op": {
            ids[op]: (kernels, kernel_ns)
            for op, kernels, kernel_ns in zip(
                aggregation.unknown_kernels.op.tolist(),
                aggregation.unknown_kernels.kernels.tolist(),
                aggregation.unknown_kernels.kernel_ns.tolist(),
                strict=True,
            )
        },
        "other_names": launches.other_names,
        "iteration_kernel_sums": {
            value: tuple(rest)
            for value, *rest in zip(
                its.iter_value.tolist(),
                its.kernels.tolist(),
                its.tc_kernels.tolist(),
                its.kernel_ns.tolist(),
                its.tc_kernel_ns.tolist(),
                strict=True,
            )
        },
        "categories": [
            (row.cpu_time_ns, row.gpu_time_ns, row.cpu_overhead_ns, row.gpu_idle_ns, row.count)
            for row in (
                getattr(aggregation.categories, name)
                for name in (
                    "every_op",
                    "eligible_ops",
                    "using_ops",
                    "other_ops",
                    "every_kernel",
                    "using_kernels",
                    "other_kernels",
                    "memory",
                )
            )
        ],
        "efficiency": (
            efficiency.eligible_ops,
            efficiency.eligible_ops_using,
            efficiency.eligible_ops_unknown,
            efficiency.eligible_op_ns,
            efficiency.kernel_ns,
            efficiency.tensor_core_ns,
            efficiency.unknown_ns,
        ),
        "unknown": (launches.unknown, launches.unknown_names, launches.unknown_ns),
        "outside": (outside.instances, outside.kernels, outside.kernel_ns),
    }


def _metric_rows(metrics: Metrics) -> list[tuple[int, int, int, int]]:
    columns = (metrics.count.tolist(), metrics.max.tolist(), metrics.min.tolist(), metrics.sum.tolist())
    return list(zip(*columns, strict=True))


def _five(times: TimeMetrics) -> list[tuple[tuple[int, int, int, int], ...]]:
    columns = [_metric_rows(column) for column in (times.cpu, times.gpu, times.api, times.cpu_overhead, times.gpu_idle)]
    return list(zip(*columns, strict=True))
