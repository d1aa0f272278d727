"""The totals of one aggregation, as shown in the panels of the dashboard."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, TypedDict, cast

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.queries.extension import shown_name
from tensorboard_plugin_dlprof.queries.numbers import fraction, minus, plus, whole
from tensorboard_plugin_dlprof.queries.ops import ELIGIBLE_OR_UNKNOWN, NO_GPU_WORK
from tensorboard_plugin_dlprof.queries.records import records
from tensorboard_plugin_dlprof.queries.resources import RESOURCE_COLUMNS, RESOURCES, Resource, unrecorded_resources
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import at_least
from tensorboard_plugin_dlprof.units import short_duration


class ModelSummary(TypedDict):
    """Numbers of ops as their table has them: kernels outside ops count, as eligible where they use matrix units."""

    ops: int | None
    eligible_ops: int | None
    """None if no op is known to be eligible but some may be."""
    eligible_ops_using_tensor_cores: int | None
    """A lower bound; None if no op is known to use them but some may."""
    eligible_ops_unknown: int | None
    """Eligible ops whose Tensor Core use is unknown: up to this many more may use them."""
    gpu_time_ns: int | None
    eligible_gpu_time_fraction: float | None


class DeviceUtilization(TypedDict):
    """Kernel time of one GPU."""

    device_id: int | None
    cuda_ordinal: int | None
    """Its number in CUDA; None where the recording does not have it beside ``device_id``."""
    name: str
    in_use: bool
    """Whether it has any work in the profile, even just a copy; in NVIDIA's databases, any kernel."""
    fraction: float | None
    busy_ns: int | None


class GpuUtilization(TypedDict):
    """Time with at least one kernel running over wall time."""

    fraction: float | None
    busy_ns: int | None
    wall_ns: int | None
    devices: list[DeviceUtilization]


class ResourceShare(TypedDict):
    """One exclusive part of the wall time; None if the recording could not contain it.

    If ``unknown_kernel`` is not 0, ``tensor_core`` is a lower bound, and None instead of 0.
    """

    resource: Resource
    time_ns: int | None
    fraction: float | None


class KernelClassTime(TypedDict):
    """The kernels of one class."""

    time_ns: int | None
    """Plain sum of durations."""
    names: int | None
    """Number of distinct names."""
    launches: int | None


KernelClass: TypeAlias = Literal["total", "tensor_core", "unknown", "other_kernel", "memory", "graph"]
"""Kernels, copies and sets by class; ``graph`` (CUDA graphs recorded as a whole) is not in ``total``.

``unknown`` are kernels whose Tensor Core use is unknown. Where it or ``graph`` is not 0, ``tensor_core`` is a lower
bound, and None instead of 0."""


class TensorCoreEfficiency(TypedDict):
    """GPU time of Tensor Core kernels over that of all kernels, both in eligible ops."""

    fraction: float | None
    """None if no kernel is known to use Tensor Cores but some may."""
    tensor_core_ns: int | None
    kernel_ns: int | None
    unknown_ns: int | None
    """The part of ``kernel_ns`` whose Tensor Core use is unknown; if it is not 0, ``fraction`` is a lower bound."""


class Performance(TypedDict):
    """Wall clock and iterations."""

    wall_clock_ns: int | None
    total_iterations: int | None
    profiled_iterations: int | None
    iter_start: int | None
    iter_stop: int | None
    average_iteration_ns: int | None
    iteration_std_dev_ns: int | None


class Recommendation(TypedDict):
    """One recommendation of DLProf's expert system."""

    problem: str
    recommendation: str


def model_summary(connection: sqlite3.Connection, scope: Scope) -> ModelSummary:
    """Numbers of ops, and their GPU time."""
    row = _row(connection, scope, "view_op_summary")
    stored = _stored(connection, scope)
    eligible_ops, eligible_ns = stored["eligible_ops"], stored["eligible_op_ns"]
    using_ops, unknown_ops = stored["eligible_ops_using"], stored["eligible_ops_unknown"]
    if connection.execute(f"SELECT {NO_GPU_WORK}").fetchone()[0]:
        unknown_ops = eligible_ops
    if eligible_ops == 0 and _may_be_eligible(connection, scope):
        eligible_ops = eligible_ns = None
    return ModelSummary(
        ops=row["nodes_total_count"],
        eligible_ops=eligible_ops,
        eligible_ops_using_tensor_cores=at_least(using_ops, unknown_ops),
        eligible_ops_unknown=unknown_ops,
        gpu_time_ns=row["nodes_total_gpu_time"],
        eligible_gpu_time_fraction=fraction(eligible_ns, row["nodes_total_gpu_time"]),
    )


def _may_be_eligible(connection: sqlite3.Connection, scope: Scope) -> bool:
    (result,) = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM op_nodes AS node WHERE node.aggr_id = ? AND ({ELIGIBLE_OR_UNKNOWN}) IS NULL)",
        (scope.aggregation,),
    ).fetchone()
    return bool(result)


def gpu_utilization(connection: sqlite3.Connection, scope: Scope) -> GpuUtilization:
    """Share of the wall time with a kernel running, mean over the GPUs in use; unknown if there is no GPU work."""
    summary = _row(connection, scope, "view_performance_summary")
    wall_ns = summary["wall_clock_time"]
    devices = _devices(connection, scope, wall_ns)
    is_used = any(device["busy_ns"] for device in devices)
    if _row(connection, scope, "view_kernel_summary")["total_count"] == 0 and not is_used:
        return GpuUtilization(fraction=None, busy_ns=None, wall_ns=wall_ns, devices=devices)
    busy_ns = _stored(connection, scope)["gpu_busy_ns"]
    return GpuUtilization(fraction=fraction(busy_ns, wall_ns), busy_ns=busy_ns, wall_ns=wall_ns, devices=devices)


def _devices(connection: sqlite3.Connection, scope: Scope, wall_ns: int | None) -> list[DeviceUtilization]:
    return records(
        connection,
        DeviceUtilization,
        "SELECT gpu.device_id AS device_id, device.cuda_ordinal AS cuda_ordinal, gpu.gpu_name AS name, "
        "time.in_use AS in_use, "
        "time.busy_ns * 1.0 / nullif(:wall, 0) AS fraction, time.busy_ns AS busy_ns FROM view_gpu_devices AS gpu "
        "LEFT JOIN ext_device_times AS time ON time.aggr_id = gpu.aggr_id AND time.domain_id = :domain "
        "AND time.device_id = gpu.device_id LEFT JOIN ext_devices AS device ON device.device_id = gpu.device_id "
        "WHERE gpu.aggr_id = :aggregation AND gpu.domain_name = :name "
        "ORDER BY gpu.device_id",
        {"aggregation": scope.aggregation, "domain": scope.domain, "name": scope.domain_name, "wall": wall_ns},
        10_000,
    )


def resource_breakdown(connection: sqlite3.Connection, scope: Scope) -> list[ResourceShare]:
    """The exclusive parts of the aggregated iterations' time, in order of precedence; they add up to it.

    A part that the recording could not contain is None, except in NVIDIA's databases, which do not store what was
    recorded.
    """
    times = resource_times(connection, scope)
    whole_ns = plus(*times.values())
    known = {**times, "tensor_core": at_least(times["tensor_core"], times["unknown_kernel"])}
    known |= dict.fromkeys(unrecorded_resources(connection))
    return [
        ResourceShare(resource=cast("Resource", resource), time_ns=time_ns, fraction=fraction(time_ns, whole_ns))
        for resource, time_ns in known.items()
    ]


def resource_times(connection: sqlite3.Connection, scope: Scope) -> dict[str, int | None]:
    """The time (ns) of each of ``RESOURCES``; ``tensor_core`` is what is known to be on Tensor Cores."""
    stored = _stored(connection, scope)
    return apart({resource: stored[f"{resource}_ns"] for resource in RESOURCE_COLUMNS}, stored["unknown_part_ns"])


def apart(times: Mapping[str, int | None], unknown_ns: int | None) -> dict[str, int | None]:
    """Convert the times of DLProf's seven parts into those of ``RESOURCES``.

    Args:
        times: time (ns) of each part; other kernels include those whose Tensor Core use is unknown.
        unknown_ns: the time of the latter.
    """
    split = {**times, "unknown_kernel": unknown_ns, "other_kernel": minus(times["other_kernel"], unknown_ns)}
    return {resource: split[resource] for resource in RESOURCES}


def kernel_time(connection: sqlite3.Connection, scope: Scope) -> dict[KernelClass, KernelClassTime]:
    """Kernels, copies and sets by class, with plain sums of their GPU durations."""
    summary = _row(connection, scope, "view_kernel_summary")
    stored = _stored(connection, scope)
    kernels, tensor_core, memory = (stored[f"{kind}_launches"] for kind in ("kernel", "tensor_core", "memory"))
    unknown = KernelClassTime(
        time_ns=stored["unknown_ns"], names=stored["unknown_names"], launches=stored["unknown_launches"]
    )
    graph = KernelClassTime(time_ns=stored["graph_ns"], names=None, launches=stored["graph_launches"])
    may_use = (unknown["launches"] or 0) + (graph["launches"] or 0)
    return {
        "total": KernelClassTime(
            time_ns=summary["total_gpu_time"],
            names=summary["total_count"],
            launches=plus(kernels, memory),
        ),
        "tensor_core": _UNKNOWN_CLASS
        if at_least(tensor_core, may_use) is None
        else KernelClassTime(
            time_ns=summary["using_tc_gpu_time"], names=summary["using_tc_count"], launches=tensor_core
        ),
        "unknown": unknown,
        "other_kernel": KernelClassTime(
            time_ns=minus(summary["other_gpu_time"], unknown["time_ns"]),
            names=stored["other_names"],
            launches=minus(minus(kernels, tensor_core), unknown["launches"]),
        ),
        "memory": KernelClassTime(time_ns=summary["memory_gpu_time"], names=summary["memory_count"], launches=memory),
        "graph": graph,
    }


_UNKNOWN_CLASS = KernelClassTime(time_ns=None, names=None, launches=None)


_SUMS_OF: Final[dict[Resource, tuple[KernelClass, ...]]] = {
    "tensor_core": ("tensor_core",),
    "unknown_kernel": ("unknown", "graph"),
    "other_kernel": ("other_kernel",),
    "memory": ("memory",),
}
"""The classes of kernels that make up a part of the wall time."""


def launched_outside(connection: sqlite3.Connection, scope: Scope) -> str:
    """A sentence beside the sums of kernel time, where the wall time shows more of a class than its sum; else empty.

    A union is never longer than the sum of what it is made of: then it holds work that was launched outside.
    """
    times, sums = resource_times(connection, scope), kernel_time(connection, scope)
    more_ns = 0
    for resource, kinds in _SUMS_OF.items():
        union, total = times[resource] or 0, sum(sums[kind]["time_ns"] or 0 for kind in kinds)
        if short_duration(union) != short_duration(total):
            more_ns += max(union - total, 0)
    if more_ns == 0:
        return ""
    return (
        "Sums are of what the iterations launched; the wall clock time holds at least "
        f"{short_duration(more_ns)} of work that was launched outside them."
    )


def collectives(connection: sqlite3.Connection, scope: Scope) -> KernelClassTime:
    """The collectives, which ``kernel_time`` counts among other kernels; 0 where none is known."""
    time_ns, launches = connection.execute(
        "SELECT coalesce(sum(kernel_ns), 0), coalesce(sum(kernels), 0) FROM ext_precision_times WHERE aggr_id = ? "
        "AND precision = 'communication' AND matrix_unit = 0",
        (scope.aggregation,),
    ).fetchone()
    others = kernel_time(connection, scope)["other_kernel"]
    if time_ns > (others["time_ns"] or 0):  # They are of all domains.
        time_ns = launches = 0
    return KernelClassTime(time_ns=time_ns, names=None, launches=launches)


def tensor_core_efficiency(connection: sqlite3.Connection, scope: Scope) -> TensorCoreEfficiency:
    """Tensor Core efficiency; unknown if no eligible op launched a kernel, or if no kernel is known to use Tensor Cores
    but some may."""
    stored = _stored(connection, scope)
    tensor_core_ns, kernel_ns = stored["eligible_tensor_core_ns"], stored["eligible_kernel_ns"]
    unknown_ns = stored["eligible_unknown_ns"]
    return TensorCoreEfficiency(
        fraction=fraction(at_least(tensor_core_ns, unknown_ns), kernel_ns),
        tensor_core_ns=tensor_core_ns,
        kernel_ns=kernel_ns,
        unknown_ns=unknown_ns,
    )


def performance(connection: sqlite3.Connection, scope: Scope) -> Performance:
    """Wall clock and iterations."""
    result = records(
        connection,
        Performance,
        "SELECT wall_time AS wall_clock_ns, iter_total AS total_iterations, iter_aggregated AS profiled_iterations, "
        "iter_start, iter_stop, avg_iteration_time AS average_iteration_ns, "
        "iteration_time_std_dev AS iteration_std_dev_ns FROM model_summary WHERE aggr_id = ? AND domain_id = ?",
        (scope.aggregation, scope.domain),
    )
    if not result:
        raise UnfitDatabase(f"{shown_name(connection)} has no summary of this aggregation; import its source again.")
    return result[0]


def recommendations(connection: sqlite3.Connection, scope: Scope) -> list[Recommendation]:
    """The recommendations of DLProf's expert system, in its order."""
    select = "SELECT problem, recommendation FROM view_expert_systems WHERE aggr_id = ?"
    return records(connection, Recommendation, select, (scope.aggregation,))


def _stored(connection: sqlite3.Connection, scope: Scope) -> Mapping[str, int | None]:
    """The integers in the row of ``ext_aggregations``; all None if there is none."""
    select = "SELECT * FROM ext_aggregations WHERE aggr_id = ? AND domain_id = ?"
    return _integers(connection.execute(select, (scope.aggregation, scope.domain)))


def _row(connection: sqlite3.Connection, scope: Scope, view: str) -> Mapping[str, int | None]:
    """The integers in the only row of a view in the scope; all None if a foreign database has no such row."""
    select = f"SELECT * FROM {view} WHERE aggr_id = ? AND domain_name = ?"
    return _integers(connection.execute(select, (scope.aggregation, scope.domain_name)))


def _integers(cursor: sqlite3.Cursor) -> Mapping[str, int | None]:
    row = cursor.fetchone()
    if row is None:
        return defaultdict(lambda: None)
    return {column[0]: whole(value) for column, value in zip(cursor.description, row, strict=True)}
