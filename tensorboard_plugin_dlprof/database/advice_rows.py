"""Writes the efficiency and the findings of an aggregation into our own tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, KernelSummaries
from tensorboard_plugin_dlprof.analysis.tables import Verdict
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.columns.rows import (
    finite_or_none,
    insert_columns,
    insert_row,
    insert_rows,
    positive_or_none,
    storable,
)
from tensorboard_plugin_dlprof.efficiency.tables import DevicePeaks, Efficiency, KernelEfficiency, OpEfficiency
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


def write_device_peaks(con: sqlite3.Connection, peaks: list[DevicePeaks]) -> None:
    """Store the published peaks of the devices. Call it once per database."""
    columns = ("device_id", "unit", "precision", "per_second", "product", "source")
    insert_rows(con, "ext_device_peaks", columns, map(attrgetter(*columns), peaks))


def write_efficiency(
    con: sqlite3.Connection,
    aggr_id: int,
    profile: Profile,
    aggregation: Aggregation,
    efficiency: Efficiency,
    text: Int64s,
    op_ids: Int64s,
) -> None:
    """Store the efficiency of an aggregation; ``text`` and ``op_ids`` as for ``advice_rows.write_advice``."""
    _write_op_efficiency(con, aggr_id, op_ids, profile, efficiency.ops)
    iterations = efficiency.iterations
    insert_columns(
        con,
        "ext_iteration_efficiency",
        {
            "aggr_id": aggr_id,
            "iter_value": iterations.iter_value.tolist(),
            "product_flops": iterations.product_flops.tolist(),
            "masked_flops": iterations.masked_flops.tolist(),
            "ideal_ns": finite_or_none(iterations.ideal_ns),
            "measured_fraction": finite_or_none(iterations.measured_fraction),
            "mfu_fraction": finite_or_none(iterations.mfu),
        },
    )
    insert_rows(
        con,
        "ext_precision_times",
        ("aggr_id", "precision", "matrix_unit", "kernel_ns", "kernels"),
        [
            (aggr_id, each.precision, int(each.matrix_unit), each.kernel_ns, each.kernels)
            for each in efficiency.precisions
        ],
    )
    _write_kernel_efficiency(con, aggr_id, efficiency.kernels, aggregation.kernel_summaries, text, op_ids)


def _write_kernel_efficiency(
    con: sqlite3.Connection,
    aggr_id: int,
    kernels: KernelEfficiency,
    summaries: KernelSummaries,
    text: Int64s,
    op_ids: Int64s,
) -> None:
    rows = np.flatnonzero(np.isfinite(kernels.occupancy) | np.isfinite(kernels.achieved))
    insert_columns(
        con,
        "ext_kernel_efficiency",
        {
            "aggr_id": aggr_id,
            "read_only_ops_id": op_ids[summaries.op[rows]].tolist(),
            "kernel_name_id": text[summaries.name[rows]].tolist(),
            "occupancy_fraction": finite_or_none(kernels.occupancy[rows]),
            "achieved_fraction": finite_or_none(kernels.achieved[rows]),
            "waves": finite_or_none(kernels.waves[rows]),
            "tail_fraction": finite_or_none(kernels.tail[rows]),
            "limiter": [kernels.limiter[row] for row in rows.tolist()],
        },
    )


_VALUE = attrgetter("_value_")
"""The value of an enumeration member, without the descriptor that Python 3.11 calls for ``.value``."""


def _write_op_efficiency(
    con: sqlite3.Connection, aggr_id: int, op_ids: Int64s, profile: Profile, ops: OpEfficiency
) -> None:
    """Store one row for each op that launched a kernel or whose work is known."""
    rows = np.flatnonzero((ops.kernel_ns != 0) | (ops.flops >= 0) | (ops.min_bytes >= 0))
    row_numbers = rows.tolist()

    def some(column: Sequence[Any]) -> list[Any]:
        return [column[row] for row in row_numbers]

    wrong = some(ops.misaligned)
    op, units = ops.op[rows], ops.matrix_unit[rows].tolist()
    eligibility = [_eligibility(profile.ops[n].eligibility, unit) for n, unit in zip(op.tolist(), units, strict=True)]
    insert_columns(
        con,
        "ext_op_efficiency",
        {
            "aggr_id": aggr_id,
            "read_only_ops_id": op_ids[op].tolist(),
            "device_id": positive_or_none(ops.device[rows]),
            "family": some(ops.family),
            "kernel_ns": ops.kernel_ns[rows].tolist(),
            "measured_ns": ops.measured_ns[rows].tolist(),
            "flops": positive_or_none(ops.flops[rows]),
            "product_flops": positive_or_none(ops.product_flops[rows]),
            "masked_flops": ops.masked_flops[rows].tolist(),
            "min_bytes": positive_or_none(ops.min_bytes[rows]),
            "precision": some(ops.precision),
            "matrix_unit": units,
            "peak_flops_per_second": finite_or_none(ops.peak_flops[rows]),
            "peak_bytes_per_second": finite_or_none(ops.peak_bytes[rows]),
            "ideal_ns": finite_or_none(ops.ideal_ns[rows]),
            "best_ns": finite_or_none(ops.best_ns[rows]),
            "bound": map(_VALUE, some(ops.bound)),
            "eligibility": eligibility,
            "cause": map(_VALUE, some(ops.cause)),
            "kept_off_ns": ops.kept_off_ns[rows].tolist(),
            "dimension": [each and each.dimension for each in wrong],
            "length": [each and each.length for each in wrong],
            "padded_length": [each and each.padded for each in wrong],
            "padded_shape": [each and each.padded_shape for each in wrong],
            "size": some(ops.size),
            "occupancy_fraction": finite_or_none(ops.occupancy[rows]),
            "achieved_fraction": finite_or_none(ops.achieved[rows]),
            "waves": finite_or_none(ops.waves[rows]),
            "tail_fraction": finite_or_none(ops.tail[rows]),
        },
    )


def _eligibility(status: int, unit: int) -> str:
    """``unknown`` for work that belongs to no op, and for ops that neither their type nor their kernels decide."""
    if status == Eligibility.ELIGIBLE or (status != Eligibility.UNASSOCIATED and unit == MatrixUnit.YES):
        return "eligible"
    return "unknown" if status == Eligibility.UNASSOCIATED or unit == MatrixUnit.UNKNOWN else "not_eligible"


class Advice(msgspec.Struct):
    """How well the GPU was used, and what to change."""

    efficiency: Efficiency
    verdict: Verdict


def write_advice(
    con: sqlite3.Connection,
    aggr_id: int,
    profile: Profile,
    aggregation: Aggregation,
    advice: Advice,
    text: Int64s,
    op_ids: Int64s,
) -> None:
    """Store the advice on an aggregation.

    Args:
        aggregation: what the advice is about.
        text: ``dictionary.id`` of each id in ``Profile.strings``.
        op_ids: ``read_only_ops.id`` of each row of ``Profile.ops``.
    """
    write_efficiency(con, aggr_id, profile, aggregation, advice.efficiency, text, op_ids)
    _write_verdict(con, aggr_id, advice.verdict)


def _write_verdict(con: sqlite3.Connection, aggr_id: int, verdict: Verdict) -> None:
    """Store the findings of the expert system, their evidence, and the rules that it could not decide. Sentences are
    stored with their numbers filled in; the numbers are also stored as data."""
    times = ("iteration_ns", "total_low_ns", "total_high_ns")
    insert_row(con, "ext_verdicts", {"aggr_id": aggr_id, **{name: getattr(verdict, name) for name in times}})
    for position, finding in enumerate(verdict.findings):
        gain, same = finding.gain, {"aggr_id": aggr_id, "position": position}
        insert_row(
            con,
            "ext_findings",
            {
                **same,
                "detector": finding.detector,
                "severity": finding.severity.name.lower(),
                "confidence": finding.confidence.name.lower(),
                "area": finding.area,
                "problem": storable(finding.problem_text()),
                "recommendation": storable(finding.recommendation_text()),
                "numbers": storable(json.dumps(dict(finding.numbers), ensure_ascii=False)),
                "gain_low_ns": gain.low_ns if gain else None,
                "gain_high_ns": gain.high_ns if gain else None,
                "reasoning": gain.reasoning if gain else "",
                "link": finding.link,
            },
        )
        for row, each in enumerate(finding.evidence):
            detail = each.detail if each.call in each.detail else ", ".join(filter(None, (each.call, each.detail)))
            texts = {"kind": each.kind, "key": storable(each.key), "detail": storable(detail)}
            numbers = {"time_ns": each.time_ns, "fraction": each.fraction, "count": each.count}
            insert_row(con, "ext_finding_evidence", {**same, "row": row, **texts, **numbers})
    undecided = [
        (aggr_id, position, each.detector, each.missing, each.hint) for position, each in enumerate(verdict.undecided)
    ]
    insert_rows(con, "ext_undecided_rules", ("aggr_id", "position", "detector", "missing", "hint"), undecided)
