"""What is stored in packed columns about one op: how it fared by iteration, and the recorded ops in its calls."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.packing import unpack

Numbers = npt.NDArray[np.int64]

_ITERATION_COLUMNS = 9
"""Iteration, op, calls, kernels, Tensor Core kernels, CPU time, GPU time, kernel time, Tensor Core kernel time."""


def op_range(connection: sqlite3.Connection, op: int, rows: str) -> tuple[int, int]:
    """The first id of the op's rows, and how many there are; ``rows`` is instance or kernel."""
    row = connection.execute(
        f"SELECT first_{rows}_id, {rows}s FROM ext_op_ranges WHERE read_only_ops_id = ?", (op,)
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else (1, 0)


def op_iterations(connection: sqlite3.Connection, aggregation: int, op: int, most: int) -> list[tuple[int, ...]]:
    """First and last iteration, and the other columns, of an op by iteration; several in one row where more than
    ``most`` would not do."""
    parts = []
    for first, columns in _parts(
        connection,
        "SELECT first_op_id, data FROM ext_iteration_ops WHERE aggr_id = ? AND last_op_id >= ? ORDER BY last_op_id, id",
        (aggregation, op),
        _ITERATION_COLUMNS,
    ):
        if first > op:
            break
        low, high = np.searchsorted(columns[1], (op, op + 1)).tolist()
        del columns[1]
        parts.append(np.stack([column[low:high] for column in columns]))
    if not parts:
        return []
    iteration, *sums = np.concatenate(parts, axis=1)
    if not len(iteration):
        return []
    size = max(-(-(int(iteration[-1]) - int(iteration[0]) + 1) // most), 1)
    heads = np.flatnonzero(np.diff((iteration - iteration[0]) // size, prepend=-1))
    last = iteration[np.append(heads[1:], len(iteration)) - 1]
    rows = [iteration[heads], last, *(np.add.reduceat(column, heads) for column in sums)]
    return list(zip(*(column.tolist() for column in rows), strict=True))


def sub_op_calls(connection: sqlite3.Connection, op: int, most: int) -> list[tuple[int, int]]:
    """``ext_sub_op_inputs.id`` and number of the recorded ops in the calls of an op, the most frequent ones first."""
    begin, calls = op_range(connection, op, "instance")
    counts: dict[int, int] = {}
    for first, (instance, inputs) in _parts(
        connection,
        "SELECT first_op_instance_id, data FROM ext_sub_ops WHERE last_op_instance_id >= ? "
        "ORDER BY last_op_instance_id, id",
        (begin,),
        2,
    ):
        if first >= begin + calls:
            break
        low, high = np.searchsorted(instance, (begin, begin + calls)).tolist()
        numbers, times = np.unique(inputs[low:high], return_counts=True)
        for number, count in zip(numbers.tolist(), times.tolist(), strict=True):
            counts[number] = counts.get(number, 0) + count
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def _parts(
    connection: sqlite3.Connection, sql: str, values: tuple[int, ...], columns: int
) -> Iterator[tuple[int, list[Numbers]]]:
    for first, data in connection.execute(sql, values):
        try:
            yield int(first), unpack(data, columns)
        except (TypeError, ValueError):
            name = getattr(connection, "shown_name", "The database")
            raise UnfitDatabase(f"{name} is damaged in {sql.split('FROM ')[1].split()[0]}; make it again.") from None
