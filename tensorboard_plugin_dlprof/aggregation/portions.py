"""Splits tables into portions of hundreds of thousands of rows, which contain whole ops.

Intermediate results of a portion stay in the processor's cache, in memory that the next portion reuses. For whole
columns of ten million rows, memory would be requested from the system, and returned, at every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import is_ascending

_ROWS = 1 << 18


def by_op(ops: int, *columns: npt.NDArray[np.integer]) -> Iterator[Sequence[slice]]:
    """For each portion, the slice of rows in each of several tables; a single portion if a table is not ordered by op.

    Args:
        ops: number of ops.
        columns: for each table, the op of each row.
    """
    if not all(is_ascending(column) for column in columns):
        yield [slice(0, len(column)) for column in columns]
        return
    rows = sum((np.bincount(column, minlength=ops) for column in columns), np.zeros(ops, np.int64))
    portion = np.cumsum(rows) // _ROWS
    first = np.flatnonzero(np.append(True, portion[1:] != portion[:-1])) if ops else np.zeros(0, np.int64)
    bounds = [np.append(np.searchsorted(column, first), len(column)).tolist() for column in columns]
    for number in range(len(first)):
        yield [slice(bound[number], bound[number + 1]) for bound in bounds]
