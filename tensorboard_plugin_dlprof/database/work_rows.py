"""Writes calls of ops and kernels (``sql/work.sql``): each once, and what many share once.

Also where the rows of each op are, kernels by iteration, and times of ops by iteration.
"""

from __future__ import annotations

import sqlite3

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import Groups, alike, byte_ranks
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, IterationOps, UnknownKernels
from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.columns.group import begins_new
from tensorboard_plugin_dlprof.columns.rows import Columns, insert_integers
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.database.aggregated_rows import Numbering
from tensorboard_plugin_dlprof.database.lookups import integers
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings
from tensorboard_plugin_dlprof.profile.tables import Instances, Kernels, Profile


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


_ROWS_AT_ONCE = 1 << 17
"""Rows whose columns are built at once: the columns of ten million rows would take half a gigabyte."""


def write_op_calls(con: sqlite3.Connection, calls: Instances, text: Int64s, sub_op_set: Int64s) -> None:
    """Store all calls of ops, with the ids that 1.8 gives them, and their distinct kinds.

    Args:
        con: an empty database.
        calls: of the profile, by op and start.
        text: ``dictionary.id`` of each id in ``Profile.strings``.
        sub_op_set: ``sub_op_sets.id`` of each call, or 0.
    """
    texts = ("input_names", "input_shapes", "output_names", "output_shapes", "parameters")
    columns = [getattr(calls, name) for name in texts]
    number, first = alike(calls.op, calls.process_id, calls.thread_id, sub_op_set, *columns)
    kinds: Columns = {
        "read_only_ops_id": calls.op[first].astype(np.int64) + 1,
        "process_id": calls.process_id[first],
        "thread_id": calls.thread_id[first],
        **{f"{name}_id": text[column[first]] for name, column in zip(texts, columns, strict=True)},
        "sub_op_set_id": sub_op_set[first],
        "calls": np.bincount(number, minlength=len(first)),
        "first_call_id": first + 1,
    }
    insert_integers(con, "op_call_kinds", kinds)
    for begin in range(0, len(number), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        start = calls.start_ns[rows]
        some = {"kind_id": number[rows] + 1, "start_ns": start, "duration_ns": calls.end_ns[rows] - start}
        insert_integers(con, "op_calls", some)


class StoredLaunches(msgspec.Struct, frozen=True):
    """The launch of each kernel, as stored."""

    of_kernel: Int64s
    """``launches.id`` of each kernel, in the order of ``kernels.id``."""
    name_order: Int64s
    """``launches.name_order`` by ``launches.id``; the first number, of no launch, is 0."""


def write_kernels(con: sqlite3.Connection, kernels: Kernels, strings: Strings, text: Int64s) -> StoredLaunches:
    """Store all kernels, with the ids that 1.8 gives them, and their distinct launches.

    Args:
        con: an empty database.
        kernels: of the profile, by op, name and start of the launch call.
        text: ``dictionary.id`` of each id in ``Profile.strings``.
    """
    number, first = alike(*_common(kernels))
    grid, block = _write_grids(con, kernels.grid[first], kernels.block[first])
    name_order = byte_ranks(strings, kernels.name[first])
    insert_integers(
        con,
        "launches",
        {
            "read_only_ops_id": kernels.op[first].astype(np.int64) + 1,
            "name_id": text[kernels.name[first]],
            "long_name_id": text[kernels.long_name[first]],
            "name_order": name_order,
            "uses_tc": (kernels.matrix_unit[first] == MatrixUnit.YES).astype(np.int64),
            "grid_id": grid,
            "block_id": block,
            "device_id": kernels.device[first],
            "stream": kernels.stream[first],
            "process_id": kernels.process_id[first],
            "thread_id": kernels.thread_id[first],
            "registers": kernels.registers[first],
            "static_shared_bytes": kernels.static_shared_bytes[first],
            "dynamic_shared_bytes": kernels.dynamic_shared_bytes[first],
            "launched": kernels.launched[first],
            "occupancy_percent": kernels.occupancy_percent[first],
        },
    )
    count = len(kernels.op)
    launch = spilled(number + 1)
    for begin in range(0, count, _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        api_start, start = kernels.api_start_ns[rows], kernels.start_ns[rows]
        columns: Columns = {
            "launch_id": launch[rows],
            "op_instance": kernels.instance[rows],
            "api_start_ns": api_start,
            "api_time_ns": kernels.api_end_ns[rows] - api_start,
            "gpu_start_ns": start,
            "gpu_time_ns": kernels.end_ns[rows] - start,
        }
        insert_integers(con, "kernels", columns)
    return StoredLaunches(launch, np.append(0, name_order))


def stored_launches(con: sqlite3.Connection) -> StoredLaunches:
    """The launches of the kernels of one of our databases.

    Raises:
        IndexError, ValueError: the database is damaged.
    """
    (of_kernel,) = integers(con, "SELECT launch_id FROM kernels ORDER BY id", 1)
    launch, order = integers(con, "SELECT id, name_order FROM launches ORDER BY id", 2)
    name_order = np.zeros(int(launch.max(initial=0)) + 1, np.int64)
    name_order[launch] = order
    return StoredLaunches(of_kernel, name_order)


def write_iteration_kernels(
    con: sqlite3.Connection,
    aggr_id: int,
    kernels: Kernels,
    aggregation: Aggregation,
    launches: StoredLaunches,
    numbering: Numbering,
) -> None:
    """Store the kernels of each aggregated iteration.

    Args:
        numbering: ids of ops and kernels.
    """
    ops = aggregation.iteration_ops
    kernel, iteration_op = aggregation.iteration_kernels.kernel, aggregation.iteration_kernels.iteration_op
    iteration = spilled(ops.iter_value[iteration_op])
    # Kernels are ordered by id already, which a stable sort keeps.
    order = spilled(np.lexsort((kernels.api_start_ns[kernel], iteration)))
    heads = np.flatnonzero(begins_new(order, iteration))
    for begin in range(0, len(order), _ROWS_AT_ONCE):
        some = order[begin : begin + _ROWS_AT_ONCE]
        rows = kernel[some]
        place = np.arange(begin, begin + len(some))
        launch, start = launches.of_kernel[rows], kernels.start_ns[rows]
        insert_integers(
            con,
            "iteration_kernels",
            {
                "aggr_id": aggr_id,
                "iteration": iteration[some],
                "position": place - heads[np.searchsorted(heads, place, side="right") - 1],
                "kernel_id": numbering.kernels[rows],
                "launch_id": launch,
                "read_only_ops_id": numbering.ops[kernels.op[rows]],
                "name_order": launches.name_order[launch],
                "gpu_start_ns": start,
                "gpu_time_ns": kernels.end_ns[rows] - start,
            },
        )


def _write_grids(con: sqlite3.Connection, grid: Int32s, block: Int32s) -> tuple[Int64s, Int64s]:
    """Store each triple once, in the order of first use: grid, then block, launch by launch.

    Returns:
        The ids of the grid and of the block of each launch.
    """
    triples = np.stack([grid, block], axis=1).reshape(-1, 3)
    number, first = alike(*triples.T)
    x, y, z = triples[first].T
    insert_integers(con, "read_only_grid_block", {"x": x, "y": y, "z": z})
    grids, blocks = number.reshape(-1, 2).T + 1
    return grids, blocks


def _common(kernels: Kernels) -> list[npt.NDArray[np.integer]]:
    """The columns of a launch."""
    return [
        *(kernels.op, kernels.name, kernels.long_name, kernels.matrix_unit, kernels.device, kernels.stream),
        *(kernels.process_id, kernels.thread_id, kernels.registers, kernels.static_shared_bytes),
        *(kernels.dynamic_shared_bytes, kernels.launched, kernels.occupancy_percent),
        *(size[:, axis] for size in (kernels.grid, kernels.block) for axis in range(3)),
    ]
