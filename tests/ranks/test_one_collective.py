"""What is told of one communication kernel, found by its times."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.database import rank_rows
from tensorboard_plugin_dlprof.events.tables import ProcessGroup
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tests.ranks.by_hand import member

SCHEMA = Path(rank_rows.__file__).with_name("sql") / "ranks.sql"


def test_a_kernel_tells_its_kind_its_size_and_its_group() -> None:
    """An all_gather is as large as what comes out of it; nothing is told of two at the same time."""
    columns: dict[str, list[int]] = {
        "start_ns": [10, 40, 60, 60],
        "end_ns": [30, 50, 70, 70],
        "kind": [Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.OTHER, Collective.OTHER],
        "group": [0, 0, -1, -1],
        "in_elements": [100, 100, -1, -1],
        "out_elements": [100, 800, -1, -1],
        "element_bytes": [2, 2, 0, 0],
    }
    arrays: dict[str, Any] = {name: np.array(column, np.int64) for name, column in columns.items()}
    tables = member(0, **arrays).tables
    groups = [ProcessGroup("1", "mesh_dp", tuple(range(8)), 8, "")]
    with closing(sqlite3.connect(":memory:")) as con:
        con.executescript(SCHEMA.read_text())
        rank_rows.write_ranks(con, [msgspec.structs.replace(tables, groups=groups)])
        of = {times: rank_rows.read_collective(con, *times) for times in ((10, 30), (40, 50), (60, 70), (10, 50))}
    assert of[10, 30] == {"collective": "all_reduce", "bytes": 200, "group": "mesh_dp", "group size": 8}
    assert of[40, 50] == {"collective": "all_gather", "bytes": 1600, "group": "mesh_dp", "group size": 8}
    assert of[60, 70] == {}
    assert of[10, 50] == {}
