"""Writes where the rows of each op are, and its times by iteration."""

from __future__ import annotations

import sqlite3

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups
from tensorboard_plugin_dlprof.aggregation.tables import IterationOps, UnknownKernels
from tensorboard_plugin_dlprof.columns.rows import insert_integers
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


def write_op_ranges(con: sqlite3.Connection, profile: Profile) -> None:
    """Store the first row and the number of rows of each op, in the table of calls of ops and in that of kernels.

    Raises:
        ValueError: the rows of an op are not adjacent.
    """
    columns: dict[str, Int64s] = {"read_only_ops_id": np.arange(1, len(profile.ops) + 1)}
    for name, op in (("instance", profile.instances.op), ("kernel", profile.kernels.op)):
        if len(op) and (op[1:] < op[:-1]).any():
            raise ValueError(f"The rows of an op are not adjacent: {name}.")
        counts = np.bincount(op, minlength=len(profile.ops))
        columns[f"first_{name}_id"] = np.cumsum(counts) - counts + 1
        columns[f"{name}s"] = counts
    insert_integers(con, "ext_op_ranges", columns)


def write_iteration_ops(
    con: sqlite3.Connection, aggr_id: int, ops: IterationOps, unknown: UnknownKernels, op_ids: Int64s
) -> None:
    """Store the kernels of each op in each iteration (``iteration_ops``), and of all of them together
    (``ext_op_kernels``)."""
    rows = np.flatnonzero(ops.kernels)
    insert_integers(
        con,
        "iteration_ops",
        {
            "aggr_id": aggr_id,
            "iteration": ops.iter_value[rows],
            "read_only_ops_id": op_ids[ops.op[rows]],
            "kernels": ops.kernels[rows],
            "tc_kernels": ops.tc_kernels[rows],
            "kernel_ns": ops.kernel_ns[rows],
            "tc_kernel_ns": ops.tc_kernel_ns[rows],
        },
    )
    of_op = Groups.of(ops.op, int(ops.op.max()) + 1 if len(ops.op) else 0)
    kernels, kernel_ns, tc_kernel_ns = (of_op.sum(column) for column in (ops.kernels, ops.kernel_ns, ops.tc_kernel_ns))
    used = np.flatnonzero(kernels)
    unknown_kernels, unknown_ns = np.zeros((2, len(kernels)), np.int64)
    unknown_kernels[unknown.op], unknown_ns[unknown.op] = unknown.kernels, unknown.kernel_ns
    insert_integers(
        con,
        "ext_op_kernels",
        {
            "aggr_id": aggr_id,
            "read_only_ops_id": op_ids[used],
            "kernel_ns": kernel_ns[used],
            "tc_kernel_ns": tc_kernel_ns[used],
            "unknown_kernels": unknown_kernels[used],
            "unknown_ns": unknown_ns[used],
        },
    )
