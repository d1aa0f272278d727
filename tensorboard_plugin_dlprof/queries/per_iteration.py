"""Sums over the aggregated iterations, told as means of one iteration where a request asks for them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tensorboard_plugin_dlprof.queries.page_request import Per
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Table

_TABLES = frozenset(
    {
        *("ops", "ops_of_path", "ops_of_name", "ops_of_type", "ops_of_kernel", "ops_of_group"),
        *("op_paths", "op_names", "op_types", "groups", "efficiency", "gpus"),
        *("kernels_of_op", "kernels_of_group", "kernels_of_path", "kernels_of_name", "kernels_of_type"),
    }
)
"""Tables whose rows are of all aggregated iterations."""

_COLUMNS = frozenset(
    {
        *("gpu_time_ns", "cpu_time_ns", "cpu_overhead_ns", "gpu_idle_ns", "kernel_time_ns", "kernel_ns", "busy_ns"),
        *("memory_bound_ns", "compute_bound_ns", "caches_bound_ns", "latency_bound_ns", "communication_ns"),
        *(
            "gain_ns",
            "in_kernel_ns",
            "unrated_time_ns",
            "kept_off_ns",
            "limited_ns",
            "calls",
            "kernel_calls",
            "kernels",
            "flops",
            "min_bytes",
        ),
    }
)
"""Columns of these tables that grow with the number of iterations, unlike means, shares, rates and numbers of ops."""


def divisors(table: Table, scope: Scope, per: Per) -> dict[str, int]:
    """By the keys of columns how many iterations their values are sums of, where means of one are asked for instead."""
    if per != "iteration" or scope.iterations <= 1 or table.name not in _TABLES:
        return {}
    return {column.key: scope.iterations for column in table.columns if column.key in _COLUMNS}


def mean(value: float, iterations: int, *, whole: bool) -> float:
    """A sum by iteration; with its fraction, if any, unless ``whole``: then rounded half up, as the pages do."""
    result = value / iterations
    return math.floor(result + 0.5) if whole or result.is_integer() else result


def divide(row: Row, iterations_of: Mapping[str, int]) -> None:
    """Make means of the sums of a row."""
    for key, iterations in iterations_of.items():
        value = row[key]
        if isinstance(value, int | float):
            row[key] = mean(value, iterations, whole=key.endswith("_ns"))
