"""Reads the ops that were recorded in the calls of an op, which are stored packed."""

from __future__ import annotations

import sqlite3

import numpy as np

from tensorboard_plugin_dlprof.columns.packing import unpack
from tensorboard_plugin_dlprof.errors import UnfitDatabase


def sub_op_calls(connection: sqlite3.Connection, op: int, most: int) -> list[tuple[int, int]]:
    """``ext_sub_op_inputs.id`` and number of the ops recorded in the calls of an op, the most frequent first."""
    row = connection.execute(
        "SELECT first_instance_id, instances FROM ext_op_ranges WHERE read_only_ops_id = ?", (op,)
    ).fetchone()
    first_call, calls = map(int, row or (1, 0))
    counts: dict[int, int] = {}
    for first, data in connection.execute(
        "SELECT first_op_instance_id, data FROM ext_sub_ops WHERE last_op_instance_id >= ? "
        "ORDER BY last_op_instance_id, id",
        (first_call,),
    ):
        if first >= first_call + calls:
            break
        try:
            call, inputs = unpack(data, 2)
        except ValueError:
            name = getattr(connection, "shown_name", "The database")
            raise UnfitDatabase(f"{name} is damaged in ext_sub_ops; make it again.") from None
        begin, end = np.searchsorted(call, (first_call, first_call + calls)).tolist()
        numbers, times = np.unique(inputs[begin:end], return_counts=True)
        for number, count in zip(numbers.tolist(), times.tolist(), strict=True):
            counts[number] = counts.get(number, 0) + count
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
