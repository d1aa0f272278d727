"""Stores the kernels of each iteration in every sort order that a table of kernels offers.

Kernels are stored by op, so the kernels of one iteration are scattered over the database. Reading all of them to find
the first fifty takes a millisecond for a thousand kernels, but half a minute for ten million. So sort orders are stored
too, and read by ``queries.packed``:

* Iterations of up to ``LARGE_ITERATION`` kernels: several in one part, since similar iterations compress well together.
* Larger iterations: each order by itself, in parts of which a page of the table needs one or two.

Iterations of at most ``FEW_KERNELS`` kernels are sorted by SQLite on request.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, IterationKernels
from tensorboard_plugin_dlprof.columns.rows import insert_rows
from tensorboard_plugin_dlprof.database.iteration_rows import are_by_iteration
from tensorboard_plugin_dlprof.database.launch_rows import LaunchRuns
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.packing import pack
from tensorboard_plugin_dlprof.profile.tables import Kernels, Profile

FEW_KERNELS = 64
"""Kernels of an iteration that SQLite reads and sorts in half a millisecond."""

LARGE_ITERATION = 20_000
"""Kernels that are unpacked in a millisecond."""

PART = 16_384
"""Rows in one part of a large iteration, of which a page of kernels reads few."""

_PACKED_ROWS = 16_384
"""Kernels in one part of small iterations, unless one iteration alone has more: enough to compress well."""

_ROWS_AT_ONCE = 1 << 20
"""Rows that are sorted by iteration at once; ten million would take a gigabyte."""


def write_kernel_orders(
    con: sqlite3.Connection,
    aggr_id: int,
    profile: Profile,
    aggregation: Aggregation,
    launches: LaunchRuns | None = None,
) -> None:
    """Store the orders of all iterations with more than ``FEW_KERNELS`` kernels.

    Args:
        con: the database, in which the rows of this aggregation are the last ones of ``kernel_iteration_node``.
        aggr_id: ``aggregations.id``.
        profile: the profile of the aggregation.
        aggregation: whose kernels to store.
        launches: the launch of each kernel; read from the database if not given.
    """
    counts = aggregation.iterations.kernels
    if not (counts > FEW_KERNELS).any():
        return
    launches = launches or LaunchRuns.of(con)
    nodes = aggregation.iteration_kernels
    before = int(con.execute("SELECT max(id) FROM kernel_iteration_node").fetchone()[0]) - len(nodes.kernel)
    values = aggregation.iterations.iter_value
    first_nodes = before + 1 + np.cumsum(counts) - counts
    iteration = np.searchsorted(values, aggregation.iteration_ops.iter_value).astype(np.int32)[nodes.iteration_op]
    for number in np.flatnonzero(counts > LARGE_ITERATION).tolist():
        rows = np.flatnonzero(iteration == number)
        node = np.arange(len(rows)) + first_nodes[number] if are_by_iteration(aggregation) else rows + before + 1
        insert_rows(
            con,
            "ext_kernel_orders",
            ("aggr_id", "iter_value", "kind", "part", "lowest_ns", "data"),
            (
                (aggr_id, int(values[number]), *part)
                for part in _of_large(profile.kernels, nodes.kernel[rows], node, launches)
            ),
        )
    is_small = (counts > FEW_KERNELS) & (counts <= LARGE_ITERATION)
    for first, last in _blocks(np.where(is_small, counts, 0), _ROWS_AT_ONCE):
        block = _block(profile.kernels, nodes, launches, iteration, first, last, is_small)
        insert_rows(
            con,
            "ext_iteration_kernels",
            ("aggr_id", "first_value", "last_value", "data"),
            ((aggr_id, int(values[low]), int(values[high]), data) for low, high, data in _parts(block, values)),
        )


class _Block(msgspec.Struct, frozen=True):
    """The kernels of some iterations, ordered by iteration and then by row of ``kernel_iteration_node``."""

    iteration: Int64s
    """Index of the iteration within the aggregation."""
    launch: Int64s
    """``ext_launches.id``."""
    api_start: Int64s
    gpu_start: Int64s
    duration: Int64s
    """Nanoseconds, as the two above."""


def _block(
    kernels: Kernels,
    nodes: IterationKernels,
    launches: LaunchRuns,
    iteration: np.ndarray[tuple[int], np.dtype[np.int32]],
    first: int,
    last: int,
    is_small: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> _Block:
    rows = np.flatnonzero((iteration >= first) & (iteration < last))
    rows = rows[is_small[iteration[rows]]]
    kernel, number = nodes.kernel[rows], iteration[rows].astype(np.int64)
    order = np.argsort(number, kind="stable")
    start = kernels.gpu_start[kernel]
    return _Block(
        number[order],
        launches.of_kernels(kernel + 1)[order],
        kernels.api_start[kernel][order],
        start[order],
        (kernels.gpu_stop[kernel] - start)[order],
    )


def _parts(block: _Block, values: Int64s) -> Iterator[tuple[int, int, bytes]]:
    """Index of the first and last iteration of each part, and its packed columns."""
    heads = np.flatnonzero(np.diff(block.iteration, prepend=-1))
    bounds = [*heads.tolist(), len(block.iteration)]
    orders = [np.empty(len(block.iteration), np.int64) for _ in range(3)]
    for begin, end in pairwise(bounds):
        for order, times in zip(orders, (block.api_start, block.gpu_start, block.duration), strict=True):
            order[begin:end] = _order(times[begin:end])
    counts = np.diff(bounds)
    for first, last in _blocks(counts, _PACKED_ROWS):
        rows = slice(bounds[first], bounds[last])
        columns = [values[block.iteration[rows]], block.launch[rows], *(column[rows] for column in orders)]
        low, high = int(block.iteration[bounds[first]]), int(block.iteration[bounds[last] - 1])
        yield low, high, pack(columns)


def _blocks(counts: Int64s, rows: int) -> Iterator[tuple[int, int]]:
    """Splits ``counts`` into ranges ``(first, end)`` of up to ``rows`` rows, or of one element if that has more.

    Stops before trailing elements without rows.
    """
    first, ends = 0, np.cumsum(counts)
    while first < len(counts) and ends[-1] > (before := int(ends[first - 1]) if first else 0):
        last = max(int(np.searchsorted(ends, before + rows, side="right")), first + 1)
        yield first, last
        first = last


def _order(times: Int64s) -> Int64s:
    """Sorts by time, and equal times by row, since queries in SQL order equal times by the id of the row."""
    return np.argsort(times, kind="stable")


def _of_large(
    kernels: Kernels, kernel: Int64s, node: Int64s, launches: LaunchRuns
) -> Iterator[tuple[str, int, int, bytes]]:
    """Kind, number, lowest time (ns) and packed columns of each part of a large iteration."""
    yield from _run_parts("node", node, 1)
    yield from _run_parts("launch", launches.of_kernels(kernel + 1), 0)
    start = kernels.gpu_start[kernel]
    yield from _order_parts("api_start", kernels.api_start[kernel])
    yield from _order_parts("gpu_start", start)
    yield from _order_parts("duration", kernels.gpu_stop[kernel] - start)


def _run_parts(kind: str, numbers: Int64s, step: int) -> Iterator[tuple[str, int, int, bytes]]:
    heads = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1] + step))
    columns = np.append(heads, len(numbers)), np.append(numbers[heads], 0)
    for part, begin in enumerate(range(0, len(heads) + 1, PART)):
        yield kind, part, 0, pack([column[begin : begin + PART] for column in columns])


def _order_parts(kind: str, times: Int64s) -> Iterator[tuple[str, int, int, bytes]]:
    order = _order(times)
    for part, begin in enumerate(range(0, len(order), PART)):
        some = order[begin : begin + PART]
        yield kind, part, int(times[some[0]]), pack([np.diff(some, prepend=0)])
