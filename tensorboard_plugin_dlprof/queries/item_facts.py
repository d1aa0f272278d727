"""What is known of the GPU work on the timeline besides its name and times."""

from __future__ import annotations

import sqlite3
from typing import Any

from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.rows import RowsById
from tensorboard_plugin_dlprof.queries.tracks import Int64s, TrackRow, table_keys
from tensorboard_plugin_dlprof.timeline.tables import STREAM

_NOT_RECORDED = -1

_DIMENSIONS = (
    "JOIN read_only_grid_block AS grid ON grid.id = work.grid_id "
    "JOIN read_only_grid_block AS block ON block.id = work.block_id"
)
_OP = "LEFT JOIN read_only_ops AS op ON op.id = work.read_only_ops_id"
_SQL = {
    "launch": "SELECT work.id, op.op_name, op.op_id, long.string, grid.x, grid.y, grid.z, block.x, block.y, block.z, "
    "work.registers, CASE WHEN work.static_shared_bytes < 0 THEN -1 ELSE work.static_shared_bytes + "
    f"work.dynamic_shared_bytes END FROM launches AS work {_OP} {_DIMENSIONS} "
    "JOIN dictionary AS long ON long.id = work.long_name_id WHERE work.id IN ({})",
    "memcpy": f"SELECT work.id, op.op_name, op.op_id, work.num_bytes FROM read_only_memcpys AS work {_OP} "
    "WHERE work.id IN ({})",
    "memset": f"SELECT work.id, op.op_name, op.op_id, work.num_bytes FROM read_only_memsets AS work {_OP} "
    "WHERE work.id IN ({})",
    "graph": f"SELECT work.id, op.op_name, op.op_id FROM ext_graph_launches AS work {_OP} WHERE work.id IN ({{}})",
}


class Facts:
    """Facts about work, by what its items are; unknown ones are left out. Keys are those of PyTorch's traces."""

    def __init__(self, con: sqlite3.Connection) -> None:
        self._rows: RowsById[dict[str, Any]] = RowsById(con, _SQL, _facts, {})

    def of(self, track: TrackRow, work_class: Int64s, ref: Int64s) -> list[dict[str, Any]]:
        """The facts about each of some items of a stream."""
        if track.kind != STREAM:
            return [{} for _ in ref]
        return self._rows.of(table_keys(track.kind, work_class, ref))


def _facts(values: list[Any]) -> dict[str, Any]:
    op, op_id, *rest = values
    facts: dict[str, Any] = {"op": op, "op_id": op_id}
    if len(rest) == 1:
        facts["bytes"] = whole(rest[0])
    elif len(rest) > 1:
        long_name, *values = rest
        numbers = [whole(value) for value in values]
        facts |= {"long_name": long_name, "grid": numbers[:3], "block": numbers[3:6]}
        facts |= {"registers per thread": numbers[6], "shared memory": numbers[7]}
    return {key: value for key, value in facts.items() if value not in (None, "", _NOT_RECORDED)}
