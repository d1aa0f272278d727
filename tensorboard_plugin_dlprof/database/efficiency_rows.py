"""Writes the ``ext_*`` tables of efficiency: rates of devices, ops, kernels and iterations."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, KernelSummaries
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.columns.rows import Value, insert_rows
from tensorboard_plugin_dlprof.efficiency.tables import (
    DevicePeaks,
    Efficiency,
    Floats,
    IterationEfficiency,
    KernelEfficiency,
    OpEfficiency,
    PrecisionTime,
)
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


def write_device_peaks(con: sqlite3.Connection, peaks: list[DevicePeaks]) -> None:
    """Store the published peaks of the devices. Call it once per database."""
    insert_rows(
        con,
        "ext_device_peaks",
        ("device_id", "unit", "precision", "per_second", "product", "source"),
        [(each.device_id, each.unit, each.precision, each.per_second, each.product, each.source) for each in peaks],
    )


def write_efficiency(
    con: sqlite3.Connection,
    aggr_id: int,
    profile: Profile,
    aggregation: Aggregation,
    found: Efficiency,
    text: Int64s,
    op_ids: Int64s,
) -> None:
    """Store the efficiency of an aggregation; ``text`` and ``op_ids`` as for ``advice_rows.write_advice``."""
    write_op_efficiency(con, aggr_id, op_ids, profile, found.ops)
    write_iteration_efficiency(con, aggr_id, found.iterations)
    write_precision_times(con, aggr_id, found.precisions)
    _write_kernel_efficiency(con, aggr_id, found.kernels, aggregation.kernel_summaries, text, op_ids)


def _write_kernel_efficiency(
    con: sqlite3.Connection,
    aggr_id: int,
    kernels: KernelEfficiency,
    summaries: KernelSummaries,
    text: Int64s,
    op_ids: Int64s,
) -> None:
    insert_rows(
        con,
        "ext_kernel_efficiency",
        (
            "aggr_id",
            "read_only_ops_id",
            "kernel_name_id",
            "occupancy_fraction",
            "achieved_fraction",
            "waves",
            "tail_fraction",
            "limiter",
        ),
        (
            (aggr_id, int(op_ids[op]), int(text[name]), occupancy, achieved, waves, tail, limiter)
            for op, name, occupancy, achieved, waves, tail, limiter in zip(
                summaries.op.tolist(),
                summaries.name.tolist(),
                _known(kernels.occupancy),
                _known(kernels.achieved),
                _known(kernels.waves),
                _known(kernels.tail),
                kernels.limiter,
                strict=True,
            )
            if occupancy is not None or achieved is not None
        ),
    )


def write_precision_times(con: sqlite3.Connection, aggr_id: int, precisions: list[PrecisionTime]) -> None:
    """Store how long the kernels of an aggregation computed in each precision."""
    insert_rows(
        con,
        "ext_precision_times",
        ("aggr_id", "precision", "matrix_unit", "kernel_ns", "kernels"),
        [(aggr_id, each.precision, int(each.matrix_unit), each.kernel_ns, each.kernels) for each in precisions],
    )


def write_iteration_efficiency(con: sqlite3.Connection, aggr_id: int, iterations: IterationEfficiency) -> None:
    """Store the rates of the iterations of an aggregation."""
    insert_rows(
        con,
        "ext_iteration_efficiency",
        ("aggr_id", "iter_value", "product_flops", "masked_flops", "ideal_ns", "measured_fraction", "mfu_fraction"),
        zip(
            repeat(aggr_id, len(iterations.iter_value)),
            iterations.iter_value.tolist(),
            iterations.product_flops.tolist(),
            iterations.masked_flops.tolist(),
            _known(iterations.ideal_ns),
            _known(iterations.measured_fraction),
            _known(iterations.mfu),
            strict=True,
        ),
    )


def write_op_efficiency(
    con: sqlite3.Connection, aggr_id: int, op_ids: Int64s, profile: Profile, ops: OpEfficiency
) -> None:
    """Store the rates of the ops of an aggregation; ``op_ids`` is ``read_only_ops.id`` of each row of
    ``Profile.ops``."""
    insert_rows(con, "ext_op_efficiency", _OP_COLUMNS, _op_rows(aggr_id, op_ids, profile, ops))


_OP_COLUMNS = (
    "aggr_id", "read_only_ops_id", "device_id", "family", "kernel_ns", "measured_ns", "flops", "product_flops",
    "masked_flops", "min_bytes", "precision", "matrix_unit", "peak_flops_per_second", "peak_bytes_per_second",
    "ideal_ns", "best_ns", "bound", "eligibility", "cause", "dimension", "length", "padded_length",
    "padded_shape",
    "size", "occupancy_fraction", "achieved_fraction", "waves", "tail_fraction",
)  # fmt: skip

_VALUE = attrgetter("_value_")
"""The value of an enumeration member; Python 3.11 takes a microsecond for each ``.value``."""


def _op_rows(aggr_id: int, op_ids: Int64s, profile: Profile, ops: OpEfficiency) -> Iterator[tuple[Value, ...]]:
    """One row for each op that launched a kernel or whose work is known."""
    rows = np.flatnonzero((ops.kernel_ns != 0) | (ops.flops >= 0) | (ops.min_bytes >= 0))
    chosen = rows.tolist()

    def texts(column: Sequence[Any]) -> list[Any]:
        return [column[row] for row in chosen]

    wrong = texts(ops.misaligned)
    units = ops.matrix_unit[rows].tolist()
    eligibility = [
        _eligibility(profile.ops[op].eligibility, unit) for op, unit in zip(ops.op[rows].tolist(), units, strict=True)
    ]
    return zip(
        repeat(aggr_id), op_ids[ops.op[rows]].tolist(), _not_negative(ops.device[rows]), texts(ops.family),
        ops.kernel_ns[rows].tolist(), ops.measured_ns[rows].tolist(), _not_negative(ops.flops[rows]),
        _not_negative(ops.product_flops[rows]), ops.masked_flops[rows].tolist(), _not_negative(ops.min_bytes[rows]),
        texts(ops.precision), units,
        *(_known(column[rows]) for column in (ops.peak_flops, ops.peak_bytes, ops.ideal_ns, ops.best_ns)),
        map(_VALUE, texts(ops.bound)), eligibility, map(_VALUE, texts(ops.cause)),
        [each and each.dimension for each in wrong], [each and each.length for each in wrong],
        [each and each.padded for each in wrong], [each and each.padded_shape for each in wrong],
        texts(ops.size), *(_known(column[rows]) for column in (ops.occupancy, ops.achieved, ops.waves, ops.tail)),
    )  # fmt: skip


def _eligibility(status: int, unit: int) -> str:
    """``unknown`` for work that belongs to no op, and for ops that neither their type nor their kernels decide."""
    if status == Eligibility.ELIGIBLE or (status != Eligibility.UNASSOCIATED and unit == MatrixUnit.YES):
        return "eligible"
    return "unknown" if status == Eligibility.UNASSOCIATED or unit == MatrixUnit.UNKNOWN else "not_eligible"


def _not_negative(values: Int64s) -> list[int | None]:
    """The values, with None for those below 0, which stand for unknown."""
    known = values.astype(object)
    known[values < 0] = None
    return list(known.tolist())


def _known(values: Floats) -> list[float | None]:
    """The values, with None for NaN and infinity, which stand for unknown."""
    known = values.astype(object)
    known[~np.isfinite(values)] = None
    return list(known.tolist())
