"""Every aggregated iteration with its duration and the shares of it that kernels ran."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from tensorboard_plugin_dlprof.queries.numbers import fraction
from tensorboard_plugin_dlprof.queries.scope import Scope


class IterationShares(NamedTuple):
    """One iteration. Shares are those of its exclusive parts, unknown where it has no duration."""

    iteration: int
    duration_ns: int
    kernel_fraction: float | None
    """A kernel was running."""
    tensor_core_fraction: float | None
    """A Tensor Core kernel was running."""


def iteration_shares(connection: sqlite3.Connection, scope: Scope) -> Iterator[IterationShares]:
    """One row per aggregated iteration, in order."""
    cursor = connection.execute(
        "SELECT iter_value, duration, tc_duration, tc_duration + non_tc_duration FROM view_iterations_profiled "
        "WHERE aggr_id = ? AND domain_name = ? ORDER BY iter_value",
        (scope.aggregation, scope.domain_name),
    )
    for iteration, duration_ns, tensor_core_ns, kernel_ns in cursor:
        yield IterationShares(
            iteration, duration_ns, fraction(kernel_ns, duration_ns), fraction(tensor_core_ns, duration_ns)
        )
