"""Computes the aggregated tables from a profile and a choice of iterations."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation import kernels as of_kernels
from tensorboard_plugin_dlprof.aggregation import ops as of_ops
from tensorboard_plugin_dlprof.aggregation import resources
from tensorboard_plugin_dlprof.aggregation.group_tree import group_ops
from tensorboard_plugin_dlprof.aggregation.grouping import counted, summed
from tensorboard_plugin_dlprof.aggregation.instance_times import instance_rows, instance_times
from tensorboard_plugin_dlprof.aggregation.selection import (
    KEY_OP,
    Selection,
    choose_candidate,
    choose_range,
    iteration_of,
    propose,
)
from tensorboard_plugin_dlprof.aggregation.tables import (
    Aggregation,
    Bools,
    DeviceTimes,
    Iterations,
    Outside,
)
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.columns.store import release_freed, spill_columns, spilled
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile


def aggregate(profile: Profile, selection: Selection = Selection()) -> Aggregation:  # noqa: B008 (frozen)
    """Compute every aggregated table for the selected iterations.

    An instance belongs to the iteration in which it starts, and device work to the iteration of its instance. Only the
    parts of the wall time count work at the time when it runs (``resources``).

    Raises:
        BadRequest: the selection does not fit the profile.
    """
    candidate = choose_candidate(profile, selection)
    selected = choose_range(profile, candidate, selection)
    rows = instance_rows(profile)
    spill_columns(rows)
    times = instance_times(profile, rows)
    release_freed()

    iteration = spilled(iteration_of(profile.instances.start_ns, candidate))
    aggregated = (iteration >= 0) & selected[iteration]
    instance = spilled(np.flatnonzero(aggregated))
    kernel_aggregated = aggregated[rows.kernels]
    kernel = spilled(np.flatnonzero(kernel_aggregated))
    memcpy, memset = (np.flatnonzero(aggregated[work]) for work in (rows.memcpys, rows.memsets))

    nodes = of_ops.op_nodes(profile, times, aggregated, kernel_aggregated)
    release_freed()
    in_iterations, iteration_kernels = of_kernels.iteration_ops(
        profile,
        times,
        instance,
        candidate.values[iteration[instance]],
        kernel,
        rows.kernels,
    )
    release_freed()
    parts, unknown = resources.device_parts(profile, candidate.start_ns[selected], candidate.stop_ns[selected])
    release_freed()
    in_use = resources.devices_in_use(profile)
    window_parts = resources.mean_parts(parts, in_use)
    graph = np.flatnonzero(aggregated[rows.graphs])
    return Aggregation(
        candidate=candidate,
        key_op=candidate.label if candidate.source == KEY_OP else "",
        iterations=_iterations(
            profile,
            candidate,
            selected,
            (window_parts, resources.mean_time(unknown, in_use)),
            (kernel, iteration[rows.kernels[kernel]]),
            iteration[rows.graphs[graph]],
        ),
        parts_ns=window_parts.sum(axis=0),
        devices=_devices(profile, parts, unknown, in_use, kernel),
        op_nodes=nodes,
        group_ops=group_ops(profile, nodes, times, iteration, aggregated, len(candidate.values)),
        op_types=of_ops.op_types(profile, nodes),
        kernel_summaries=of_kernels.kernel_summaries(profile, nodes, kernel),
        iteration_ops=in_iterations,
        unknown_kernels=of_kernels.unknown_kernels(profile, kernel),
        iteration_kernels=iteration_kernels,
        categories=of_kernels.categories(profile, nodes, kernel, memcpy, memset),
        launches=of_kernels.launches(profile, kernel, len(memcpy) + len(memset), graph),
        efficiency=of_kernels.efficiency(profile, nodes, kernel, graph),
        outside=_outside(profile, aggregated, rows.kernels, rows.memcpys, rows.memsets),
        proposal=propose(profile, candidate),
    )


def _iterations(
    profile: Profile,
    candidate: IterationCandidate,
    selected: Bools,
    parts: tuple[Int64s, Int64s],
    work: tuple[Int64s, Int64s],
    graph_iteration: Int64s,
) -> Iterations:
    """The table of aggregated iterations.

    Args:
        candidate: all iterations.
        selected: which of them are aggregated.
        parts: ``parts_ns`` and ``unknown_part_ns`` of the aggregated iterations.
        work: rows of the aggregated kernels, and the row of the iteration of each.
        graph_iteration: row of the iteration of each aggregated CUDA graph.
    """
    kernels, (kernel, kernel_iteration) = profile.kernels, work
    count = len(candidate.values)
    duration = (kernels.end_ns - kernels.start_ns)[kernel]
    on_tensor_cores = kernels.matrix_unit[kernel] == MatrixUnit.YES
    unknown = np.flatnonzero(kernels.matrix_unit[kernel] == MatrixUnit.UNKNOWN)
    return Iterations(
        iter_value=candidate.values[selected],
        start_ns=candidate.start_ns[selected],
        stop_ns=candidate.stop_ns[selected],
        parts_ns=parts[0],
        unknown_part_ns=parts[1],
        kernels=counted(kernel_iteration, count)[selected],
        tc_kernels=summed(kernel_iteration, on_tensor_cores, count)[selected],
        unknown_kernels=counted(kernel_iteration[unknown], count)[selected],
        graphs=counted(graph_iteration, count)[selected],
        kernel_ns=summed(kernel_iteration, duration, count)[selected],
        tc_kernel_ns=summed(kernel_iteration, np.where(on_tensor_cores, duration, 0), count)[selected],
        unknown_kernel_ns=summed(kernel_iteration[unknown], duration[unknown], count)[selected],
    )


def _devices(profile: Profile, parts: Int64s, unknown: Int64s, in_use: Bools, kernel: Int64s) -> DeviceTimes:
    ids = np.array([device.device_id for device in profile.devices], np.int64)
    kernels = profile.kernels
    result, row = numbered(kernels.device[kernel])
    count = counted(row, len(result))
    kernel_ns = summed(row, (kernels.end_ns - kernels.start_ns)[kernel], len(result))
    place = np.minimum(np.searchsorted(result, ids), max(len(result) - 1, 0))
    has = result[place] == ids if len(result) else np.zeros(len(ids), np.bool_)
    place = place[has]
    times = DeviceTimes(
        device_id=ids,
        in_use=in_use,
        kernels=np.zeros(len(ids), np.int64),
        kernel_ns=np.zeros(len(ids), np.int64),
        parts_ns=resources.of_devices(parts.sum(axis=1), in_use),
        unknown_part_ns=resources.of_devices(unknown.sum(axis=1), in_use),
    )
    times.kernels[has], times.kernel_ns[has] = count[place], kernel_ns[place]
    return times


def _outside(profile: Profile, aggregated: Bools, kernels: Int64s, memcpys: Int64s, memsets: Int64s) -> Outside:
    kernel, memcpy, memset = (~aggregated[rows] for rows in (kernels, memcpys, memsets))
    memory = [(profile.memcpys, memcpy), (profile.memsets, memset)]
    return Outside(
        instances=int((~aggregated).sum()),
        kernels=int(kernel.sum()),
        kernel_ns=int((profile.kernels.end_ns - profile.kernels.start_ns)[kernel].sum()),
        memory_ops=sum(int(rows.sum()) for _, rows in memory),
        memory_ns=sum(int((table.end_ns - table.start_ns)[rows].sum()) for table, rows in memory),
    )
