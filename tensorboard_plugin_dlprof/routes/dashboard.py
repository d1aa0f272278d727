"""The data of the dashboard."""

from __future__ import annotations

import sqlite3
from typing import Any

from tensorboard_plugin_dlprof.queries import iterations, ops, summary, system
from tensorboard_plugin_dlprof.queries.coverage import coverage_notes
from tensorboard_plugin_dlprof.queries.extension import recorded
from tensorboard_plugin_dlprof.queries.memory import highest_peak
from tensorboard_plugin_dlprof.queries.scope import Scope, aggregations, domains
from tensorboard_plugin_dlprof.queries.throughput import throughput


def dashboard(connection: sqlite3.Connection, scope: Scope) -> dict[str, Any]:
    """The body of ``./dashboard`` without ``profile``."""
    rows, is_binned = iterations.iteration_rows(connection, scope)
    return {
        "aggregations": aggregations(connection),
        "aggregation": scope.aggregation,
        "domains": domains(connection, scope.aggregation),
        "domain": scope.domain_name,
        "recorded": recorded(connection),
        "matrix_unit": system.matrix_unit(connection),
        "framework": system.framework(connection),
        "model": summary.model_summary(connection, scope),
        "gpu_utilization": summary.gpu_utilization(connection, scope),
        "resource_breakdown": summary.resource_breakdown(connection, scope),
        "kernel_time": summary.kernel_time(connection, scope),
        "tensor_core_efficiency": summary.tensor_core_efficiency(connection, scope),
        "performance": summary.performance(connection, scope),
        "iterations": {
            "unit": "iteration",
            "binned": is_binned,
            "rows": rows,
            "source": iterations.iteration_source(connection, scope),
            "proposal": iterations.proposal(connection, scope),
        },
        "throughput": {key: value for key, value in throughput(connection, scope).items() if key != "iterations"},
        "memory": highest_peak(connection),
        "top_ops": ops.top_ops(connection, scope),
        "system": system.system_facts(connection),
        "recommendations": summary.recommendations(connection, scope),
        "coverage": {"notes": coverage_notes(connection, scope)},
    }
