"""The data of the dashboard."""

from __future__ import annotations

import sqlite3
from typing import TypedDict

from tensorboard_plugin_dlprof.queries import crossing, iteration_bars, ops, summary, system
from tensorboard_plugin_dlprof.queries.coverage import Note, coverage_notes
from tensorboard_plugin_dlprof.queries.extension import recorded
from tensorboard_plugin_dlprof.queries.graph_launch import graph_launch_fraction
from tensorboard_plugin_dlprof.queries.iteration_bars import IterationRow
from tensorboard_plugin_dlprof.queries.memory import highest_peak
from tensorboard_plugin_dlprof.queries.memory_answers import MemoryPeak
from tensorboard_plugin_dlprof.queries.scope import Aggregation, Scope, aggregations, domains
from tensorboard_plugin_dlprof.queries.throughput import Throughput, rates
from tensorboard_plugin_dlprof.routes.profiles import About


class DashboardIterations(TypedDict):
    """The iterations as bars, and how they were found."""

    unit: str
    binned: bool
    rows: list[IterationRow]
    source: iteration_bars.IterationSource
    proposal: iteration_bars.Proposal | None


class DashboardCoverage(TypedDict):
    """What the recording lacks."""

    notes: list[Note]


class Dashboard(TypedDict):
    """Everything on the Dashboard."""

    profile: About
    aggregations: list[Aggregation]
    aggregation: int
    domains: list[str]
    domain: str
    recorded: list[str] | None
    """What the capture holds (``ops``, ``shapes``, ``modules``, ...); None where it does not say."""
    matrix_unit: str
    has_matrix_units: bool
    """False where no GPU has any; true where that is not known."""
    framework: str | None
    """``PyTorch``, ``TensorFlow`` or ``TensorRT``."""
    model: summary.ModelSummary
    gpu_utilization: summary.GpuUtilization
    resource_breakdown: list[summary.ResourceShare]
    kernel_time: dict[summary.KernelClass, summary.KernelClassTime]
    graph_launch_fraction: float | None
    """The share of the GPU time that a graph launch takes, where that is over half and its kernels were recorded."""
    collective_ns: int
    """The part of ``kernel_time.other_kernel`` that is communication."""
    launched_outside: str
    """A sentence, where ``resource_breakdown`` holds work that is not in ``kernel_time``; else empty."""
    ran_late: str
    """A sentence, where much of the kernel time that the iterations launched is of after the last one; else empty."""
    tensor_core_efficiency: summary.TensorCoreEfficiency
    performance: summary.Performance
    iterations: DashboardIterations
    throughput: Throughput
    memory: MemoryPeak | None
    """The GPU that holds most, at its peak; None where no memory was recorded."""
    top_ops: list[ops.TopOp]
    system: list[system.SystemFact]
    recommendations: list[summary.Recommendation]
    coverage: DashboardCoverage


def dashboard(connection: sqlite3.Connection, scope: Scope, profile: About) -> Dashboard:
    """The body of ``./dashboard``."""
    rows, is_binned = iteration_bars.iteration_rows(connection, scope)
    return {
        "profile": profile,
        "aggregations": aggregations(connection),
        "aggregation": scope.aggregation,
        "domains": domains(connection, scope.aggregation),
        "domain": scope.domain_name,
        "recorded": recorded(connection),
        "matrix_unit": system.matrix_unit(connection),
        "has_matrix_units": system.has_matrix_units(connection),
        "framework": system.framework(connection),
        "model": summary.model_summary(connection, scope),
        "gpu_utilization": summary.gpu_utilization(connection, scope),
        "resource_breakdown": summary.resource_breakdown(connection, scope),
        "kernel_time": summary.kernel_time(connection, scope),
        "graph_launch_fraction": graph_launch_fraction(connection, scope),
        "collective_ns": summary.collectives(connection, scope)["time_ns"] or 0,
        "launched_outside": summary.launched_outside(connection, scope),
        "ran_late": crossing.ran_late(connection, scope),
        "tensor_core_efficiency": summary.tensor_core_efficiency(connection, scope),
        "performance": summary.performance(connection, scope),
        "iterations": {
            "unit": "iteration",
            "binned": is_binned,
            "rows": rows,
            "source": iteration_bars.iteration_source(connection, scope),
            "proposal": iteration_bars.proposal(connection, scope),
        },
        "throughput": rates(connection, scope),
        "memory": highest_peak(connection),
        "top_ops": ops.top_ops(connection, scope),
        "system": system.system_facts(connection),
        "recommendations": summary.recommendations(connection, scope),
        "coverage": {"notes": coverage_notes(connection, scope)},
    }
