"""CUDA graphs that were recorded as a whole: what of an iteration they leave unknown."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.queries.extension import extension_tables

_WITH_GRAPHS = (
    # Of the graphs that began before an iteration ended, one ran in it if the last of them to end did after it began.
    # One pass in the order of time; where a graph begins as an iteration ends, it is behind it.
    "(SELECT iter_value FROM (SELECT moment.iter_value, moment.start_time, max(moment.graph_stop) OVER "
    "(ORDER BY moment.time, moment.iter_value IS NULL ROWS UNBOUNDED PRECEDING) AS last_stop FROM ("
    "SELECT gpu_start AS time, gpu_stop AS graph_stop, NULL AS iter_value, NULL AS start_time FROM ext_graph_launches "
    "UNION ALL SELECT stop_time, NULL, iter_value, start_time FROM iteration_list WHERE aggr_id = :aggregation"
    ") AS moment) WHERE iter_value IS NOT NULL AND last_stop > start_time)"
)
"""The iterations of ``:aggregation`` in which any part of such a graph ran."""


def has_whole_graphs(connection: sqlite3.Connection) -> bool:
    """Whether the recording holds any. NVIDIA's databases do not tell."""
    if "ext_graph_launches" not in extension_tables(connection):
        return False
    (found,) = connection.execute("SELECT EXISTS (SELECT 1 FROM ext_graph_launches)").fetchone()
    return bool(found)


def known_on_tensor_cores(time: str, iteration: str) -> str:
    """The time with a Tensor Core kernel running, as SQL: unknown where none is known and such a graph ran.

    Args:
        time: expression of the time of kernels that are known.
        iteration: expression of the number of the iteration.
    """
    return f"CASE WHEN {time} > 0 OR {iteration} NOT IN {_WITH_GRAPHS} THEN {time} END"
