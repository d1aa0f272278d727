"""Reads the calls of ops from one of our databases.

The tensors and parameters of an op whose calls all have the same ones are read once, not for each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.database.lookups import counts_from_1, integers
from tensorboard_plugin_dlprof.database.portions import Column, read_columns
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection

_TABLE = "read_only_op_instances"

_TEXTS = ("input_names_id", "input_shapes_id", "output_names_id", "output_shapes_id", "parameters_id")

_NEAR = 8_192
"""Ops with varying tensors are read together if no more rows than this are between them."""

Rows = Callable[[Int64s], Int64s]
Texts = Callable[[Int64s], Int32s]


class _Ranges(msgspec.Struct, frozen=True):
    """The calls of each op that has any, which are adjacent rows."""

    op: Int64s
    """``read_only_ops.id``."""
    first: Int64s
    """``read_only_op_instances.id`` of the first call."""
    calls: Int64s
    """Number of calls."""
    is_steady: npt.NDArray[np.bool_]
    """Whether all calls of the op have the same tensors and parameters."""


def instance_columns(con: UntrustedConnection, rows_of_ops: Rows, text: Texts) -> list[npt.NDArray[Any]]:
    """The columns of ``Instances``, in the order of its fields.

    Args:
        con: one of our databases.
        rows_of_ops: maps ``read_only_ops.id`` to rows of ``Profile.ops``.
        text: maps ``dictionary.id`` to ids in ``Profile.strings``.

    Raises:
        ValueError: a value is not an integer.
    """
    times = (Column("cpu_start"), Column("cpu_stop"), Column("process_id"), Column("thread_id"))
    op = Column("read_only_ops_id", np.int32, rows_of_ops)
    texts = [Column(name, np.int32, text) for name in _TEXTS]
    ranges = _ranges(con)
    if ranges is None:
        return read_columns(con, _TABLE, (op, *times, *texts))
    return [
        spilled(np.repeat(rows_of_ops(ranges.op).astype(np.int32), ranges.calls)),
        *read_columns(con, _TABLE, times),
        *_texts(con, ranges, texts),
    ]


def _ranges(con: UntrustedConnection) -> _Ranges | None:
    """None if the ranges do not cover the rows one after the other, because somebody changed the file."""
    op, first, calls, kinds = integers(
        con,
        "SELECT read_only_ops_id, first_instance_id, instances, variants FROM ext_op_ranges "
        "WHERE instances <> 0 ORDER BY read_only_ops_id",
        4,
    )
    count = int(calls.sum())
    follow = len(op) and (calls > 0).all() and (first == np.cumsum(calls) - calls + 1).all()
    if not follow or not counts_from_1(con, _TABLE, count):
        return None
    return _Ranges(op, first, calls, kinds == 1)


def _texts(con: UntrustedConnection, ranges: _Ranges, columns: Sequence[Column]) -> list[npt.NDArray[Any]]:
    of_op = integers(
        con,
        f"SELECT {', '.join(f'call.{column.name}' for column in columns)} FROM ext_op_ranges AS op "
        f"JOIN {_TABLE} AS call ON call.id = op.first_instance_id "
        "WHERE op.instances <> 0 ORDER BY op.read_only_ops_id",
        len(columns),
    )
    found = []
    is_one = ranges.is_steady.all()
    for column, first in zip(columns, of_op, strict=True):
        values = column.convert(first)
        if is_one and (values == values[0]).all():
            found.append(np.broadcast_to(values[0], int(ranges.calls.sum())))
        else:
            found.append(spilled(np.repeat(values, ranges.calls)))
    for begin, end in _together(ranges):
        for whole, part in zip(found, read_columns(con, _TABLE, columns, (begin, end)), strict=True):
            whole[begin - 1 : end] = part
    return found


def _together(ranges: _Ranges) -> list[tuple[int, int]]:
    """First and last ids of the calls of ops with varying tensors; ranges near one another are merged."""
    several = ~ranges.is_steady
    bounds: list[tuple[int, int]] = []
    for first, calls in zip(ranges.first[several].tolist(), ranges.calls[several].tolist(), strict=True):
        if bounds and first - bounds[-1][1] <= _NEAR:
            bounds[-1] = (bounds[-1][0], first + calls - 1)
        else:
            bounds.append((first, first + calls - 1))
    return bounds
