"""How the kernel time of a table of one iteration leads to the time that the iteration has a kernel running.

Kernels are listed under the iteration that launched them. They may run outside of it, kernels that were launched
elsewhere may run in it, and where several run at once their times add up to more than the clock shows.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.diagnosis.answer import MISSING_FRACTION
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, covered, joined
from tensorboard_plugin_dlprof.queries.iteration_tables import ITERATION_LINK, OF_DOMAIN
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.tracks import all_tracks, has_tracks, items_in, parts_in
from tensorboard_plugin_dlprof.timeline.tables import COPY, GRAPH, SET, STREAM
from tensorboard_plugin_dlprof.units import percentage, short_duration

TABLES = frozenset({"kernels_of_iteration", "ops_of_iteration", "kernel_names_of_iteration", "op_paths_of_iteration"})
"""Tables of all that an iteration launched."""
_OF_ALL = "kernels_of_group"
"""Of no group, the table of all kernels; where one iteration is aggregated, they are its."""

_LEAST_SHARE = 0.0005
"""Less of the kernel time than this is not told: sums look the same without it."""

_MOST_KERNELS = 100_000
"""Of more kernels it is not told: they would be read again for each page, which takes 30 ms for so many."""

_ONLY = "SELECT min(iter_value) FROM iteration_aggregation_list WHERE aggr_id = :aggregation HAVING count(*) = 1"
_COUNT = (
    "SELECT coalesce(sum(total_count), 0) FROM kernel_iteration_stats "
    "WHERE aggr_id = :aggregation AND domain_id = :domain AND iter_value = :iteration"
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
_ALL = (
    "SELECT coalesce(sum(total_count), 0), count(DISTINCT iter_value) FROM kernel_iteration_stats "
    "WHERE aggr_id = :aggregation AND domain_id = :domain"
)
_LATE = (
    "WITH ends(stop) AS (SELECT max(stop_time) FROM iteration_list JOIN iteration_aggregation_list "
    "USING (aggr_id, iter_value) WHERE aggr_id = :aggregation) "
    "SELECT coalesce(sum(node.gpu_time_ns), 0), "
    f"coalesce(sum(max({_END} - max(node.gpu_start_ns, stop), 0)), 0) FROM iteration_kernels AS node, ends "
    f"WHERE node.aggr_id = :aggregation AND {OF_DOMAIN}"
)
"""Of the kernels that all iterations launched: their time, and how much of it is after the last iteration."""


_OTHERS = (
    "SELECT max((busy_ns - kernel_ns) * 1.0 / busy_ns) FROM ext_device_times "
    "WHERE aggr_id = :aggregation AND domain_id = :domain AND busy_ns > 0"
)
"""How much of a GPU's busy time the kernels that the iterations launched on it cannot cover, as all took less."""


class _Running(NamedTuple):
    """What runs in a window, in ns."""

    kernels_ns: int
    """Plain sum of the kernels, cut to the window, of all GPUs."""
    graphs_ns: int
    """The same of CUDA graphs that were recorded as a whole."""
    covered_ns: int
    """Time with any of them running, summed over the GPUs."""
    gpus: int


def crossing(connection: sqlite3.Connection, table: str, scope: Scope, request: PageRequest) -> str:
    """The way from the sum of a table's kernel times to the GPU time of the Iteration Summary, or what else kept GPUs
    busy. Empty if they are the same, for other tables, and where more kernels would be read than for a page."""
    values = {"aggregation": scope.aggregation, "domain": scope.domain}
    if table in TABLES:
        values["iteration"] = int(request.links[ITERATION_LINK])
    elif table == "gpus":
        return _of_gpus(connection, values)
    elif table == _OF_ALL and request.links["group"] == "" and (only := connection.execute(_ONLY, values).fetchone()):
        values["iteration"] = only[0]
    else:
        return ""
    (kernels,) = connection.execute(_COUNT, values).fetchone()
    borders = connection.execute(_BORDERS, values).fetchone()
    ran = None if borders is None or kernels > _MOST_KERNELS else _running(connection, *borders)
    if ran is None:
        return ""
    values |= {"start": borders[0], "stop": borders[1]}
    whole, inside, after = connection.execute(_TIMES, values).fetchone()
    left, elsewhere = whole - inside, ran.kernels_ns - inside
    at_once = ran.kernels_ns + ran.graphs_ns - ran.covered_ns
    least = _LEAST_SHARE * whole
    if max(left, elsewhere, ran.graphs_ns, at_once) <= least:
        return ""
    where = "after the iteration ends" if inside + after == whole else "outside of the iteration"
    taken = _running_late(left, whole, where) if left > least else f"These kernels take {short_duration(whole)}"
    others = [
        what
        for what, ns in (("those launched elsewhere", elsewhere), ("CUDA graphs recorded as a whole", ran.graphs_ns))
        if ns > least
    ]
    why = f"with {' and '.join(others)}" if others else "as some overlap" if at_once > least else ""
    mean = f", {short_duration(ran.covered_ns // ran.gpus)} on average of {ran.gpus} GPUs" if ran.gpus > 1 else ""
    of = "it" if left > least else "the iteration"
    return f"{taken}; {why and f'{why}, '}a kernel runs for {short_duration(ran.covered_ns)} of {of}{mean}."


def ran_late(connection: sqlite3.Connection, scope: Scope) -> str:
    """How much of the kernel time that the iterations launched is of after the last one, where that is much of it: it
    is in these sums, and in no time of theirs. Else empty."""
    values = {"aggregation": scope.aggregation, "domain": scope.domain}
    kernels, iterations = connection.execute(_ALL, values).fetchone()
    if kernels > _MOST_KERNELS:
        return ""
    whole, late = connection.execute(_LATE, values).fetchone()
    if late <= MISSING_FRACTION * whole:
        return ""
    of = "iteration ends" if iterations == 1 else "last iteration ends"
    return f"{_running_late(late, whole, f'after the {of}')}."


def _running_late(part_ns: int, whole_ns: int, where: str) -> str:
    return f"Of {short_duration(whole_ns)} of kernels, {short_duration(part_ns)} run {where}"


def _running(connection: sqlite3.Connection, start_ns: int, stop_ns: int) -> _Running | None:
    """What runs in a window; None if that is not known, or too much to read."""
    streams = [track for track in all_tracks(connection) if track.kind == STREAM] if has_tracks(connection) else []
    parts = [part for track in streams for part in parts_in(connection, track, start_ns, stop_ns)]
    if not streams or sum(items for _, items in parts) > _MOST_KERNELS:
        return None
    by_gpu: dict[int, list[Spans]] = {track.device: [] for track in streams}
    sums = {True: 0, False: 0}
    for track in streams:
        items = items_in(connection, track, start_ns, stop_ns)
        items = some_rows(items, (items.work_class != COPY) & (items.work_class != SET))
        start, stop = np.maximum(items.start, start_ns), np.minimum(items.stop, stop_ns)
        for is_graph in sums:
            sums[is_graph] += int((stop - start)[(items.work_class == GRAPH) == is_graph].sum())
        by_gpu[track.device].append(Spans(start, stop, items.number))
    unions = [covered(joined(spans)) for spans in by_gpu.values()]
    covered_ns = sum(int((union.stop - union.start).sum()) for union in unions)
    return _Running(sums[False], sums[True], covered_ns, len(by_gpu))


def _of_gpus(connection: sqlite3.Connection, values: dict[str, int]) -> str:
    """Beside kernel times of what the iterations launched, GPUs are busy with what ran in them."""
    (others,) = connection.execute(_OTHERS, values).fetchone()
    if others is None or others < _LEAST_SHARE:
        return ""
    share = percentage(others)
    return f"Kernels that these iterations did not launch ran in them, too: at least {share} of the busy time."
