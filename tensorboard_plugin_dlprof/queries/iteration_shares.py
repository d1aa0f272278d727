"""The duration of every aggregated iteration, and the shares of it with a kernel running."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from tensorboard_plugin_dlprof.queries.numbers import fraction
from tensorboard_plugin_dlprof.queries.resources import unrecorded_resources
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import OF_ITERATION, at_least_sql, has_unknown_kernels


class IterationShares(NamedTuple):
    """One iteration. Shares are sums of its exclusive parts, and None if its duration is 0 or no GPU was recorded."""

    iteration: int
    duration_ns: int
    kernel_fraction: float | None
    """Share of the duration with a kernel running."""
    tensor_core_fraction: float | None
    """Share of the duration with a kernel running that is known to use Tensor Cores; None if that is 0 and the Tensor
    Core use of some kernel is unknown."""


def iteration_shares(connection: sqlite3.Connection, scope: Scope) -> Iterator[IterationShares]:
    """One row per aggregated iteration, in order."""
    time = "tc_duration"
    if has_unknown_kernels(connection):
        unknown = (
            f"SELECT part.iter_value FROM iteration_aggregation_list AS part {OF_ITERATION} "
            "WHERE part.aggr_id = :aggregation AND unknown.unknown_part_ns > 0"
        )
        time = at_least_sql(time, f"iter_value IN ({unknown})")
    cursor = connection.execute(
        f"SELECT iter_value, duration, {time}, tc_duration + non_tc_duration FROM view_iterations_profiled "
        "WHERE aggr_id = :aggregation AND domain_name = :domain ORDER BY iter_value",
        {"aggregation": scope.aggregation, "domain": scope.domain_name},
    )
    without_gpu = "tensor_core" in unrecorded_resources(connection)
    for iteration, duration_ns, tensor_core_ns, kernel_ns in cursor:
        shares = fraction(kernel_ns, duration_ns), fraction(tensor_core_ns, duration_ns)
        yield IterationShares(iteration, duration_ns, *((None, None) if without_gpu else shares))
