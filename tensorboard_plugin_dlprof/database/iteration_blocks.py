"""Stores sums over blocks of neighbouring iterations, from which charts of many iterations are drawn."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.aggregation.tables import Part
from tensorboard_plugin_dlprof.database.aggregated_rows import PART_NAMES

MANY_ITERATIONS = 1 << 13
"""Up to this many iterations need no blocks: they are added up within the time of a page (``benchmarks/serving.py``).

More are stored as at least half as many blocks.
"""

_SUMS = {
    **{f"{part.name.lower()}_ns": f"part.{name}_duration" for part, name in zip(Part, PART_NAMES, strict=True)},
    "unknown_part_ns": "unknown.unknown_part_ns",
}

_INSERT = (
    "INSERT INTO ext_iteration_blocks (aggr_id, position, width, block, is_aggregated, iterations, first_value, "
    f"last_value, start_ns, duration_ns, shortest_ns, longest_ns, {', '.join(_SUMS)}) "
    "SELECT :aggregation, row_number() OVER (ORDER BY min(each.iter_value)) - 1, :width, each.iter_value / :width, "
    "part.id IS NOT NULL, count(*), min(each.iter_value), max(each.iter_value), min(each.start_time), "
    "sum(each.stop_time - each.start_time), min(each.stop_time - each.start_time), "
    "max(each.stop_time - each.start_time), "
    + ", ".join(f"ifnull(sum({column}), 0)" for column in _SUMS.values())
    + " FROM iteration_list AS each LEFT JOIN iteration_aggregation_list AS part "
    "ON part.aggr_id = each.aggr_id AND part.iter_value = each.iter_value "
    "LEFT JOIN ext_iteration_unknown AS unknown ON unknown.part_id = part.id "
    "WHERE each.aggr_id = :aggregation GROUP BY each.iter_value / :width, part.id IS NOT NULL"
)


def write_iteration_blocks(con: sqlite3.Connection, aggr_id: int) -> None:
    """Store the blocks of an aggregation with more than ``MANY_ITERATIONS`` iterations; otherwise store none.

    A block holds the iterations with the same ``iter_value // width``, where the width is a power of two. Aggregated
    and other iterations are never in the same block. The rows of the iterations are written before.
    """
    count, first = con.execute(
        "SELECT count(*), min(iter_value) FROM iteration_list WHERE aggr_id = ?", (aggr_id,)
    ).fetchone()
    if count > MANY_ITERATIONS and first >= 0:
        width = 1 << (-(-count // MANY_ITERATIONS) - 1).bit_length()
        con.execute(_INSERT, {"aggregation": aggr_id, "width": width})
