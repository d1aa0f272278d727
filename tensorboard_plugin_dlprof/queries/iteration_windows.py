"""The iterations of the capture as windows of time, whatever is aggregated."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.queries.extension import extension_tables


def iteration_windows(con: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """Number, start and stop (ns since the start of the capture) of every iteration, by start: those of the best way to
    divide the capture; of NVIDIA's databases, those of the first aggregation."""
    if "ext_iterations" in extension_tables(con):
        sql = "SELECT iter_value, start_ns, stop_ns FROM ext_iterations WHERE position = 0 ORDER BY start_ns"
    else:
        sql = (
            "SELECT DISTINCT iter_value, start_time, stop_time FROM iteration_list "
            "WHERE aggr_id = (SELECT min(aggr_id) FROM model_summary) ORDER BY start_time"
        )
    return con.execute(sql).fetchall()
