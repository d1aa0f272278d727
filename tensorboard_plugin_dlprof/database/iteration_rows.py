"""The order of ``kernel_iteration_node``: DLProf's, by kernel, or by iteration where the table is large.

Questions are about one iteration. Of a small table, a connection has all pages in its memory; of a large one, the rows
of an iteration lie in a few pages only if they lie side by side.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.events.tables import Int64s

MOST_BY_KERNEL = 1 << 17
"""Rows; so many take the 4 MB that a connection keeps (``opening.sqlite_file``)."""


def are_by_iteration(aggregation: Aggregation) -> bool:
    """Whether the rows of the aggregation lie by iteration, those of one by kernel; else by kernel alone."""
    return len(aggregation.iteration_kernels.kernel) > MOST_BY_KERNEL


def order_of_rows(aggregation: Aggregation) -> Int64s:
    """Which of ``Aggregation.iteration_kernels`` each row is."""
    kernels, ops = aggregation.iteration_kernels, aggregation.iteration_ops
    if not are_by_iteration(aggregation):
        return np.arange(len(kernels.kernel))
    number = np.cumsum(np.diff(ops.iter_value, prepend=ops.iter_value[:1]) != 0)
    # NumPy sorts numbers of two bytes by counting them.
    iteration = number.astype(np.uint16 if number[-1] < 1 << 16 else np.int32)
    return np.argsort(iteration[kernels.iteration_op], kind="stable")
