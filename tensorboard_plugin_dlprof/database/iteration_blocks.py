"""Stores sums over blocks of neighbouring iterations, from which charts of many iterations are drawn."""

from __future__ import annotations

import sqlite3

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Part
from tensorboard_plugin_dlprof.columns.rows import insert_integers
from tensorboard_plugin_dlprof.events.tables import Int64s

MANY_ITERATIONS = 1 << 13
"""Up to this many iterations need no blocks: they are added up within the time of a page (``benchmarks/serving.py``).

More are stored as at least half as many blocks.
"""


def write_iteration_blocks(con: sqlite3.Connection, aggr_id: int, aggregation: Aggregation) -> None:
    """Store the blocks of an aggregation with more than ``MANY_ITERATIONS`` iterations; otherwise store none.

    A block holds the iterations with the same ``iter_value // width``, where the width is a power of two. Aggregated
    and other iterations are never in the same block.
    """
    every, aggregated = aggregation.candidate, aggregation.iterations
    count = len(every.values)
    if count <= MANY_ITERATIONS or every.values[0] < 0:
        return
    width = 1 << (-(-count // MANY_ITERATIONS) - 1).bit_length()
    row = np.searchsorted(aggregated.iter_value, every.values)
    row[row == len(aggregated.iter_value)] = 0
    is_aggregated = aggregated.iter_value[row] == every.values if len(aggregated.iter_value) else np.zeros(count, bool)
    block = every.values // width
    order = np.lexsort((every.values, is_aggregated, block))
    key = np.stack((block[order], is_aggregated[order]))
    heads = np.flatnonzero(np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0)))
    values = every.values[order]
    duration = (every.stop_ns - every.start_ns)[order]

    def sums(column: Int64s) -> Int64s:
        return np.add.reduceat(column, heads)

    def of_aggregated(column: Int64s) -> Int64s:
        if not len(aggregated.iter_value):
            return np.zeros(len(heads), np.int64)
        return sums(np.where(is_aggregated, column[row], 0)[order])

    insert_integers(
        con,
        "ext_iteration_blocks",
        {
            "aggr_id": aggr_id,
            "position": np.arange(len(heads)),
            "width": width,
            "block": block[order][heads],
            "is_aggregated": is_aggregated[order][heads].astype(np.int64),
            "iterations": np.diff(np.append(heads, count)),
            "first_value": values[heads],
            "last_value": np.maximum.reduceat(values, heads),
            "start_ns": every.start_ns[order][heads],
            "duration_ns": sums(duration),
            "shortest_ns": np.minimum.reduceat(duration, heads),
            "longest_ns": np.maximum.reduceat(duration, heads),
            **{f"{part.name.lower()}_ns": of_aggregated(aggregated.parts_ns[:, part]) for part in Part},
            "unknown_part_ns": of_aggregated(aggregated.unknown_part_ns),
        },
    )
