"""Work that crosses the border of an iteration: kernels are listed under the one that launched them, and may run in the
next."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.queries.iteration_tables import ITERATION_LINK, OF_DOMAIN
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.units import short_duration

TABLES = frozenset({"kernels_of_iteration", "ops_of_iteration", "kernel_names_of_iteration", "op_paths_of_iteration"})
"""Tables of all that an iteration launched."""

_LEAST_SHARE = 0.01
"""Less of the kernel time than this is not told: sums look the same without it."""

_MOST_KERNELS = 100_000
"""Of more kernels it is not told: they would be read again for each page, which takes 30 ms for so many."""

_COUNT = (
    "SELECT coalesce(sum(total_count), 0) FROM kernel_iteration_stats "
    "WHERE aggr_id = :aggregation AND domain_id = :domain AND iter_value IN (:iteration, :before)"
)
_BORDERS = "SELECT start_time, stop_time FROM iteration_list WHERE aggr_id = :aggregation AND iter_value = :iteration"
_END = "node.gpu_start_ns + node.gpu_time_ns"
_TIMES = (
    "SELECT coalesce(sum(node.gpu_time_ns), 0), "
    f"coalesce(sum(max(min({_END}, :stop) - max(node.gpu_start_ns, :start), 0)), 0), "
    f"coalesce(sum(max({_END} - max(node.gpu_start_ns, :stop), 0)), 0) FROM iteration_kernels AS node "
    f"WHERE node.aggr_id = :aggregation AND node.iteration = :iteration AND {OF_DOMAIN}"
)
"""Of the kernels that an iteration launched: their time, how much of it is in a window, and how much after it."""


def crossing(connection: sqlite3.Connection, scope: Scope, request: PageRequest) -> str:
    """A sentence about the kernels of an iteration that run after it, and those of the one before that run in it; empty
    if they are next to nothing."""
    iteration = int(request.links[ITERATION_LINK])
    before = iteration - 1
    values = {"aggregation": scope.aggregation, "domain": scope.domain, "iteration": iteration, "before": before}
    (kernels,) = connection.execute(_COUNT, values).fetchone()
    borders = connection.execute(_BORDERS, values).fetchone()
    if borders is None or kernels > _MOST_KERNELS:
        return ""
    values |= {"start": borders[0], "stop": borders[1]}
    whole, _, after = connection.execute(_TIMES, values).fetchone()
    _, inside, _ = connection.execute(_TIMES, {**values, "iteration": before}).fetchone()
    least = max(whole * _LEAST_SHARE, 1)
    said = []
    if after >= least:
        said.append(f"{short_duration(after)} of these {short_duration(whole)} of kernels run after the iteration ends")
    if inside >= least:
        where = "it" if said else "this iteration"
        said.append(f"{short_duration(inside)} of kernels that iteration {before:,} launched run in {where}")
    return f"{'; '.join(said)}." if said else ""
