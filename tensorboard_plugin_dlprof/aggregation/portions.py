"""Splits tables into portions of some hundred thousand rows, each of whole ops.

Intermediate results of a portion stay in the processor's cache, in memory that the next portion reuses. Columns of ten
million rows would be allocated by the system, and returned, for every intermediate step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.ordering import are_ascending

_ROWS = 1 << 18


def by_op(ops: int, *columns: npt.NDArray[np.integer]) -> Iterator[Sequence[slice]]:
    """Where the rows of some ops lie in each of several tables; all rows at once where they do not lie by op.

    Args:
        ops: how many there are.
        columns: the op of each row of a table.
    """
    if not all(are_ascending(column) for column in columns):
        yield [slice(0, len(column)) for column in columns]
        return
    rows = sum((np.bincount(column, minlength=ops) for column in columns), np.zeros(ops, np.int64))
    portion = np.cumsum(rows) // _ROWS
    first = np.flatnonzero(np.append(True, portion[1:] != portion[:-1])) if ops else np.zeros(0, np.int64)
    bounds = [np.append(np.searchsorted(column, first), len(column)).tolist() for column in columns]
    for number in range(len(first)):
        yield [slice(bound[number], bound[number + 1]) for bound in bounds]
