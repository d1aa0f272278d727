"""Whether one launch of a CUDA or HIP graph holds most GPU time, so that groups of ops tell next to nothing."""

from __future__ import annotations

import re
import sqlite3

from tensorboard_plugin_dlprof.queries.page_answer import totals
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import kernel_time
from tensorboard_plugin_dlprof.queries.tables import table_of

_LAUNCH = re.compile(r"(?:^|/|_)(?:cuda|cu|hip)GraphLaunch\w*$")
_MOST = 0.5


def graph_launch_fraction(connection: sqlite3.Connection, scope: Scope) -> float | None:
    """The share of the GPU time of all ops that a graph launch takes; None unless it is over half, and the kernels of
    graphs were recorded: then what took the time is told by kernel, not by op."""
    table, asked = table_of(connection, "op_paths"), PageRequest(limit=1, sort="-gpu_time_ns")
    rows = page(connection, table, scope, asked).rows
    if not rows or not _LAUNCH.search(str(rows[0]["name"])):
        return None
    time_ns, all_ns = rows[0]["gpu_time_ns"], totals(connection, table, scope, asked)["gpu_time_ns"]
    if not isinstance(time_ns, int) or not isinstance(all_ns, int) or time_ns <= _MOST * all_ns:
        return None
    # Of a graph that was recorded as a whole no kernel is known.
    kernels_ns = kernel_time(connection, scope)["total"]["time_ns"] or 0
    return time_ns / all_ns if kernels_ns > _MOST * all_ns else None
