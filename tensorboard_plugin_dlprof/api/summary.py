"""The key figures of a profile."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields
from html import escape

from tensorboard_plugin_dlprof.queries import summary as queries
from tensorboard_plugin_dlprof.queries.memory import known_peak
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.system import gpu_names, matrix_unit, system_facts
from tensorboard_plugin_dlprof.queries.throughput import throughput


@dataclass(slots=True, frozen=True)
class Summary:
    """Key figures of the aggregated iterations.

    ``*_ns`` are nanoseconds, ``*_fraction`` are from 0 to 1, and ``None`` means unknown.
    """

    gpu_names: list[str]
    """One name per GPU."""
    system: dict[str, str]
    """Versions of driver, framework and tools, as far as known."""
    matrix_unit: str
    """``Tensor Core``, or ``Matrix Core`` on AMD GPUs."""
    wall_time_ns: int | None
    """Length of the aggregated iterations."""
    total_iterations: int | None
    """Number of iterations in the capture."""
    iterations: int | None
    """Number of aggregated iterations, from ``iter_start`` to ``iter_stop``, inclusive."""
    iter_start: int | None
    iter_stop: int | None
    average_iteration_ns: int | None
    iteration_std_dev_ns: int | None
    gpu_utilization_fraction: float | None
    """Time with at least one kernel running, divided by the wall time; mean over the GPUs in use."""
    gpu_busy_ns: int | None
    """The time with at least one kernel running."""
    tensor_core_efficiency_fraction: float | None
    """Fraction of the kernel time of eligible ops that is in kernels that use Tensor Cores. A lower bound if the use of
    some kernels is unknown, and then ``None`` instead of 0."""
    resources_ns: dict[str, int | None]
    """The exclusive parts of the wall time: tensor_core, unknown_kernel (kernels whose Tensor Core use is unknown, and
    CUDA graphs recorded as a whole), other_kernel, memory, data_loader, io, cpu, other. If unknown_kernel is not 0,
    tensor_core is a lower bound, and ``None`` instead of 0. Parts that the recording could not contain are ``None``,
    such as those of the GPU in a recording of the CPU."""
    kernel_times_ns: dict[str, int | None]
    """Plain sums of durations: total, and its parts tensor_core, unknown (kernels whose Tensor Core use is unknown),
    other_kernel and memory; and graph, CUDA graphs recorded as a whole, which are not in the total. If unknown or
    graph is not 0, tensor_core is a lower bound, and ``None`` instead of 0."""
    ops: int | None
    """Number of ops."""
    eligible_ops: int | None
    """Number of ops that can use Tensor Cores; ``None`` if none is known to be eligible but some may be."""
    eligible_ops_using_tensor_cores: int | None
    """Number of eligible ops known to use them, a lower bound if ``eligible_ops_unknown`` is not 0, and then ``None``
    instead of 0."""
    eligible_ops_unknown: int | None
    """Number of eligible ops that may use them."""
    op_gpu_time_ns: int | None
    """Sum of the GPU times of all ops."""
    samples_per_s: float | None
    tokens_per_s: float | None
    """Of all GPUs, from what the shapes of the first layer tell, or what was given when the source was imported."""
    throughput_from: str
    """What tells them (``batch 64 taken from shapes``), or what would."""
    memory_peak_bytes: int | None
    """Of the GPU that holds most; ``None`` if no memory was recorded."""

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{field.name}</th><td>{escape(_shown(getattr(self, field.name)))}</td></tr>"
            for field in fields(self)
        )
        return f"<table>{rows}</table>"


def summary(connection: sqlite3.Connection, scope: Scope) -> Summary:
    """The summary of one aggregation."""
    times = queries.performance(connection, scope)
    used = queries.gpu_utilization(connection, scope)
    model = queries.model_summary(connection, scope)
    rates, peak = throughput(connection, scope), known_peak(connection)
    return Summary(
        gpu_names=gpu_names(connection),
        system={fact["label"]: fact["value"] for fact in system_facts(connection)},
        matrix_unit=matrix_unit(connection),
        wall_time_ns=times["wall_clock_ns"],
        total_iterations=times["total_iterations"],
        iterations=times["profiled_iterations"],
        iter_start=times["iter_start"],
        iter_stop=times["iter_stop"],
        average_iteration_ns=times["average_iteration_ns"],
        iteration_std_dev_ns=times["iteration_std_dev_ns"],
        gpu_utilization_fraction=used["fraction"],
        gpu_busy_ns=used["busy_ns"],
        tensor_core_efficiency_fraction=queries.tensor_core_efficiency(connection, scope)["fraction"],
        resources_ns={part["resource"]: part["time_ns"] for part in queries.resource_breakdown(connection, scope)},
        kernel_times_ns={name: kind["time_ns"] for name, kind in queries.kernel_time(connection, scope).items()},
        ops=model["ops"],
        eligible_ops=model["eligible_ops"],
        eligible_ops_using_tensor_cores=model["eligible_ops_using_tensor_cores"],
        eligible_ops_unknown=model["eligible_ops_unknown"],
        op_gpu_time_ns=model["gpu_time_ns"],
        samples_per_s=rates["samples_per_s"],
        tokens_per_s=rates["tokens_per_s"],
        throughput_from=rates["basis"],
        memory_peak_bytes=peak["peak_bytes"] if peak else None,
    )


def _shown(value: object) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
