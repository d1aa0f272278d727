"""Stores the kernels of large iterations in every order that a table of them is asked for.

A capture without steps is one iteration of ten million kernels: to sort and filter it would take SQLite half a minute.
Numbers of four bytes, in parts, take 20 bytes a kernel and are read at the speed of memory (``queries.packed``).
Smaller iterations are sorted when somebody asks.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.database.launch_rows import launch_of_kernels
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile

LARGE_ITERATION = 20_000
"""Kernels. SQLite sorts as many in 10 ms."""

PART = 65_536
"""Numbers in one part: a page of rows reads few of them."""


def write_kernel_orders(
    con: sqlite3.Connection, aggr_id: int, profile: Profile, aggregation: Aggregation, large: int = LARGE_ITERATION
) -> None:
    """Store the orders of the large iterations; ``kernel_iteration_node`` ends with the rows of this aggregation."""
    counts = aggregation.iterations.kernels
    if not (counts > large).any():
        return
    nodes = aggregation.iteration_kernels
    before = int(con.execute("SELECT max(id) FROM kernel_iteration_node").fetchone()[0]) - len(nodes.kernel)
    launch = launch_of_kernels(con, len(profile.kernels.op))
    iteration = aggregation.iteration_ops.iter_value[nodes.iteration_op]
    for value in aggregation.iterations.iter_value[counts > large].tolist():
        rows = np.flatnonzero(iteration == value)
        for kind, numbers in _orders(profile, nodes.kernel[rows]):
            _write(con, aggr_id, value, kind, numbers)
        _write(con, aggr_id, value, "node", rows + before + 1)
        _write(con, aggr_id, value, "launch", launch[nodes.kernel[rows]])


def _orders(profile: Profile, kernel: Int64s) -> Iterator[tuple[str, Int64s]]:
    """Equal times stay in the order of the rows, as the id of the row decides between them elsewhere."""
    kernels = profile.kernels
    yield "api_start", np.argsort(kernels.api_start[kernel], kind="stable")
    start = kernels.gpu_start[kernel]
    yield "gpu_start", np.argsort(start, kind="stable")
    yield "duration", np.argsort(kernels.gpu_stop[kernel] - start, kind="stable")


def _write(con: sqlite3.Connection, aggr_id: int, iteration: int, kind: str, numbers: Int64s) -> None:
    small = numbers.astype("<i4")
    con.executemany(
        "INSERT INTO ext_kernel_orders (aggr_id, iter_value, kind, part, data) VALUES (?, ?, ?, ?, ?)",
        (
            (aggr_id, iteration, kind, part, small[begin : begin + PART].tobytes())
            for part, begin in enumerate(range(0, len(small), PART))
        ),
    )
