"""How kernels are launched: their grids and blocks."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection
from typing import TypedDict

MOST_SIZES = 4
"""Of a kernel; further ones are left out."""


class LaunchSize(TypedDict):
    """The grid and the block of a launch, three dimensions each."""

    grid: list[int]
    block: list[int]


def launch_sizes(connection: sqlite3.Connection, op_ids: Collection[str]) -> dict[str, list[LaunchSize]]:
    """The grids and blocks with which kernels of some ops are launched, by long name and by short name; none where they
    were not recorded."""
    result: dict[str, list[LaunchSize]] = defaultdict(list)
    for short, long, *lengths in connection.execute(
        "SELECT DISTINCT short.string, long.string, grid.x, grid.y, grid.z, block.x, block.y, block.z "
        "FROM read_only_ops AS op CROSS JOIN launches AS launch ON launch.read_only_ops_id = op.id "
        "JOIN read_only_grid_block AS grid ON grid.id = launch.grid_id "
        "JOIN read_only_grid_block AS block ON block.id = launch.block_id "
        "LEFT JOIN dictionary AS short ON short.id = launch.name_id "
        "LEFT JOIN dictionary AS long ON long.id = launch.long_name_id "
        f"WHERE op.op_id IN ({','.join('?' * len(op_ids))}) AND block.x > 0",
        tuple(op_ids),
    ):
        size: LaunchSize = {"grid": lengths[:3], "block": lengths[3:]}
        for name in {short, long}:
            if size not in result[name] and len(result[name]) < MOST_SIZES:
                result[name].append(size)
    return dict(result)
