"""The efficiency of an aggregation: totals, and the roofs and dots of the roofline chart."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Literal, TypeAlias, TypedDict

from tensorboard_plugin_dlprof.classify.directions import DIRECTION_SQL
from tensorboard_plugin_dlprof.classify.vocabulary import RANGE_TYPE
from tensorboard_plugin_dlprof.queries.extension import is_of_another_version, maker
from tensorboard_plugin_dlprof.queries.numbers import fraction, number, plus, whole
from tensorboard_plugin_dlprof.queries.records import records
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.system import has_matrix_units
from tensorboard_plugin_dlprof.queries.unmeasured import IS_PRODUCT, Missing, missing, shapes_hint

CAUSES: Mapping[str, str] = {
    "fp64": "FP64",
    "fp32_type": "FP32 tensors",
    "tf32_off": "TF32 is off",
    "dimension": "Dimension",
    "layout": "Layout",
    "too_small": "Too small",
    "no_unit": "No matrix units",
    "library_choice": "Library's choice",
    "no_name": "Unknown kernels",
    "no_device": "Unknown GPU",
    "no_shapes": "Unknown shapes",
    "unknown": "Cause unknown",
}
"""Why eligible ops do not use matrix units well: value of ``ext_op_efficiency.cause`` -> words for users."""

GAIN = "rate.measured_ns - rate.best_ns"
"""What an op, a row ``rate`` of ``ext_op_efficiency``, could gain, ns."""

KEPT_OFF_NS = "CASE WHEN rate.cause <> 'no_name' THEN rate.kept_off_ns ELSE 0 END"
"""How long the kernels of a row ``rate`` are known to be off matrix units, which could be on them, ns."""

MAX_DOTS = 1_000
MAX_ITERATIONS = 1_000


PeakUnit: TypeAlias = Literal["memory", "vector", "matrix"]
OnMatrixUnit: TypeAlias = Literal["yes", "no", "unknown"]


class Peak(TypedDict):
    """One published peak rate of one GPU."""

    device_id: int | None
    product: str
    unit: PeakUnit
    precision: str
    per_second: float | int | None
    """Floating-point operations, or bytes for ``memory``."""
    source: str
    """Address of the publication."""
    used: bool
    """Whether an op of the aggregation is compared with it."""


class PrecisionTime(TypedDict):
    """The kernels of one precision that use, or do not use, matrix units."""

    precision: str
    """Empty if unknown; ``communication`` for collectives."""
    matrix_unit: OnMatrixUnit
    kernel_ns: int | None
    kernels: int | None


class CauseTime(TypedDict):
    """Kernel time of eligible ops that is off matrix units for the same cause."""

    cause: str
    label: str
    """The cause in words, as in the table."""
    ops: int | None
    kernel_ns: int | None


class LimitTime(TypedDict):
    """A part of the kernel time of the ops, by what limits it; the parts are exclusive, and add up to it."""

    limit: str
    """``matrix_unit`` (on matrix units), a cause of ``CAUSES`` (eligible, but not on them; ``cause_unknown`` for
    the unknown one), ``memory``, ``other``, ``communication``, ``unknown`` (whether it is on matrix units)."""
    kernel_ns: int


class Dot(TypedDict):
    """One op on the roofline."""

    op_id: str
    name: str
    pattern: str
    """With the direction what groups it in the table by path."""
    direction: str
    family: str
    precision: str
    bound: str
    kernel_ns: int | None
    intensity: float | None
    """Operations per byte."""
    flops_per_second: float | None
    peak_fraction: float | None
    peak_flops_per_second: float | None
    """The published rate that it is compared with."""
    cause: str
    """What keeps it off matrix units, in words; empty where nothing does."""
    gain_ns: float | None
    """As in the table of ops."""


class Undrawn(TypedDict):
    """Ops of one name without dots, as they have no FLOPs, or these or their bytes are not known: those with the most
    kernel time."""

    name: str
    """Without the path."""
    ops: int | None
    kernel_ns: int | None


class IterationRate(TypedDict):
    """Model FLOPs utilisation of one iteration."""

    iteration: int | None
    product_flops: int | None
    """Launched in it."""
    mfu_fraction: float | None
    """Of what ran in it, whichever iteration launched it."""
    measured_fraction: float | None
    """Of the time of the products that ran in it, the part whose shapes are known."""


class Network(TypedDict):
    """Means by kernel time: rates over the ops, occupancy over their kernels, each over those for which it is known."""

    peak_fraction: float | None
    """What the ops computed, as their shapes tell, of what they could at the peak rate for the precision of each."""
    peak_known_ns: int | None
    """The kernel time of these ops; likewise below."""
    flops_per_second: float | None
    """Over the ops that have a share of the peak; over all where none has."""
    peak_flops_per_second: float | None
    """What the peaks of these ops allow for their mix of work."""
    memory_fraction: float | None
    memory_known_ns: int | None
    bytes_per_second: float | None
    peak_bytes_per_second: float | None
    occupancy_fraction: float | None
    occupancy_known_ns: int | None
    achieved_fraction: float | None
    achieved_known_ns: int | None
    occupancy_of_achieved_fraction: float | None
    """Theoretical occupancy of the kernels whose achieved one is known."""


class EfficiencySummary(TypedDict):
    """Totals of an aggregation. They are unknown if shapes were not recorded or the peaks of the GPU are unknown."""

    product_flops: int | None
    masked_flops: int | None
    flops_per_second: float | None
    mfu_fraction: float | None
    measured_fraction: float | None
    gain_ns: float | None
    """What all ops could gain, those of which it is known."""
    hint: str
    network: Network
    peaks: list[Peak]
    precisions: list[PrecisionTime]
    causes: list[CauseTime]
    limits: list[LimitTime]
    other_types: list[str]
    """The types of the ops with most of the time of the limit ``other``, at most three."""
    dots: list[Dot]
    left_out_dots: int
    undrawn: Undrawn | None
    """None where all ops have dots."""
    iterations: list[IterationRate]
    missing: list[Missing]


_UNITS: dict[object, OnMatrixUnit] = {0: "no", 1: "yes", 2: "unknown"}


def efficiency(connection: sqlite3.Connection, scope: Scope) -> EfficiencySummary:
    """The totals of the aggregation; all unknown if another version of this package made the database."""
    flops, masked, ideal, known, total = connection.execute(
        "SELECT sum(product_flops), sum(masked_flops), sum(ideal_ns), sum(ideal_ns IS NOT NULL), count(*) "
        "FROM ext_iteration_efficiency WHERE aggr_id = ?",
        (scope.aggregation,),
    ).fetchone()
    wall_ns, gpus = _wall_ns_and_gpus(connection, scope)
    measured = connection.execute(
        "SELECT sum(CASE WHEN product_flops > 0 THEN measured_ns ELSE 0 END) * 1.0 / nullif(sum(kernel_ns), 0) "
        f"FROM ext_op_efficiency WHERE aggr_id = ? AND {IS_PRODUCT}",
        (scope.aggregation,),
    ).fetchone()[0]
    gain = connection.execute(
        f"SELECT sum({GAIN}) FROM ext_op_efficiency AS rate WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()[0]
    hint = "" if whole(flops) else shapes_hint(connection)
    if is_of_another_version(connection):
        hint = f"{maker(connection)} made this database: import its source again."
    product_flops = whole(flops) or None
    mfu = fraction(number(ideal), (wall_ns or 0) * max(gpus, 1)) if known == total else None
    dots, left_out = _dots(connection, scope)
    has_units = has_matrix_units(connection)
    return EfficiencySummary(
        product_flops=product_flops,
        masked_flops=whole(masked),
        flops_per_second=None if not product_flops or not wall_ns else product_flops / wall_ns * 1e9,
        mfu_fraction=None if mfu is None or mfu > 1 else mfu,
        measured_fraction=number(measured),
        gain_ns=number(gain),
        hint=hint,
        network=_network(connection, scope),
        peaks=_peaks(connection, scope),
        precisions=_precisions(connection, scope),
        causes=_causes(connection, scope) if has_units else [],
        limits=_limits(connection, scope, has_units),
        other_types=_other_types(connection, scope),
        dots=dots,
        left_out_dots=left_out,
        undrawn=_undrawn(connection, scope),
        iterations=_iterations(connection, scope),
        missing=missing(connection, scope),
    )


def _peaks(connection: sqlite3.Connection, scope: Scope) -> list[Peak]:
    return records(
        connection,
        Peak,
        "SELECT device_id, product, unit, precision, per_second, source, (unit, per_second) IN ("
        f"SELECT CASE WHEN matrix_unit = 1 AND {IS_PRODUCT} THEN 'matrix' ELSE 'vector' END, peak_flops_per_second "
        "FROM ext_op_efficiency WHERE aggr_id = ?) AS used FROM ext_device_peaks ORDER BY device_id, unit, precision",
        (scope.aggregation,),
    )


def _precisions(connection: sqlite3.Connection, scope: Scope) -> list[PrecisionTime]:
    """Those with the most time first."""
    return records(
        connection,
        PrecisionTime,
        "SELECT precision, matrix_unit, kernel_ns, kernels FROM ext_precision_times "
        "WHERE aggr_id = ? AND kernel_ns > 0 ORDER BY kernel_ns DESC, precision, ext_precision_times.matrix_unit",
        (scope.aggregation,),
        matrix_unit=lambda unit: _UNITS.get(unit, "unknown"),
    )


def _causes(connection: sqlite3.Connection, scope: Scope) -> list[CauseTime]:
    """Those with the most time first."""
    return records(
        connection,
        CauseTime,
        "SELECT cause, cause AS label, count(*) AS ops, sum(kept_off_ns) AS kernel_ns FROM ext_op_efficiency "
        "WHERE aggr_id = ? AND kept_off_ns > 0 GROUP BY cause ORDER BY sum(kept_off_ns) DESC",
        (scope.aggregation,),
        label=lambda cause: CAUSES.get(cause, str(cause)),
    )


_LIMIT = (
    "CASE WHEN rate.family = 'collective' THEN 'communication' WHEN rate.bound = 'memory' THEN 'memory' "
    "ELSE 'other' END"
)
"""What limits kernels of a row ``rate`` that neither are on matrix units nor could be."""

_OPS_AND_KERNELS = (
    "ext_op_efficiency AS rate LEFT JOIN ext_op_kernels AS kernels ON kernels.aggr_id = rate.aggr_id "
    "AND kernels.read_only_ops_id = rate.read_only_ops_id"
)

_MOST_TYPES = 3


def _other_types(connection: sqlite3.Connection, scope: Scope) -> list[str]:
    """The largest types of ops that nothing known limits; not ranges, which have ops of all types in them."""
    rows = connection.execute(
        "SELECT name.string, sum(rate.kernel_ns - coalesce(kernels.tc_kernel_ns, 0) - coalesce(kernels.unknown_ns, 0) "
        f"- coalesce({KEPT_OFF_NS}, 0)) AS ns FROM {_OPS_AND_KERNELS} JOIN read_only_ops AS op "
        "ON op.id = rate.read_only_ops_id JOIN dictionary AS name ON name.id = op.op_type_id WHERE rate.aggr_id = ? "
        f"AND {_LIMIT} = 'other' AND name.string NOT IN ('', '{RANGE_TYPE}') GROUP BY name.string HAVING ns > 0 "
        "ORDER BY ns DESC, 1 LIMIT ?",
        (scope.aggregation, _MOST_TYPES),
    )
    return [str(name) for name, _ in rows]


def _limits(connection: sqlite3.Connection, scope: Scope, has_units: bool) -> list[LimitTime]:
    """In the order of a bar: what is on matrix units, what could be by cause, then the rest.

    Nothing could be on what the GPU does not have.
    """
    cursor = connection.execute(
        f"SELECT {_LIMIT} AS what, rate.cause AS cause, sum(rate.kernel_ns), "
        f"sum(coalesce(kernels.tc_kernel_ns, 0)), sum(coalesce(kernels.unknown_ns, 0)), sum({KEPT_OFF_NS}) "
        f"FROM {_OPS_AND_KERNELS} WHERE rate.aggr_id = ? GROUP BY what, cause",
        (scope.aggregation,),
    )
    result: dict[str, int] = {}
    for what, cause, *sums in cursor.fetchmany(100):
        rest, *parts = (max(whole(each) or 0, 0) for each in sums)
        kept_off = "cause_unknown" if cause == "unknown" else str(cause)
        # A collective computes nothing that could be on matrix units.
        keys = () if what == "communication" or not has_units else ("matrix_unit", "unknown", kept_off)
        for key, time in zip(keys, parts, strict=False):
            result[key] = result.get(key, 0) + min(time, rest)
            rest -= min(time, rest)
        result[what] = result.get(what, 0) + rest
    last = ("memory", "other", "communication", "unknown")
    causes = sorted(result.keys() - {"matrix_unit", *last}, key=lambda key: -result[key])
    order = ("matrix_unit", *causes, *last)
    return [LimitTime(limit=key, kernel_ns=result[key]) for key in order if result.get(key, 0) > 0]


def _iterations(connection: sqlite3.Connection, scope: Scope) -> list[IterationRate]:
    """The first iterations, in order, up to as many as the page draws."""
    return records(
        connection,
        IterationRate,
        "SELECT iter_value AS iteration, product_flops, mfu_fraction, measured_fraction FROM ext_iteration_efficiency "
        "WHERE aggr_id = ? ORDER BY iter_value",
        (scope.aggregation,),
        MAX_ITERATIONS,
    )


def _wall_ns_and_gpus(connection: sqlite3.Connection, scope: Scope) -> tuple[int | None, int]:
    """Wall time of the aggregated iterations, and number of GPUs in use."""
    row = connection.execute(
        "SELECT wall_ns, devices_in_use FROM ext_aggregations WHERE aggr_id = ? AND domain_id = ?",
        (scope.aggregation, scope.domain),
    ).fetchone()
    return (whole(row[0]), whole(row[1]) or 0) if row is not None else (None, 0)


_MEASURED = (
    "(SELECT measured_ns, flops * 1e9 AS flops, min_bytes * 1e9 AS bytes, flops * 1e9 / peak_flops_per_second "
    "AS compute_ns, min_bytes * 1e9 / peak_bytes_per_second AS memory_ns FROM ext_op_efficiency "
    "WHERE aggr_id = ? AND measured_ns > 0) AS rate"
)
"""The ops, with the time that each would take at its peaks."""

_RATES = {
    "peak_fraction": "rate.compute_ns",
    "rated_flops": "CASE WHEN rate.compute_ns IS NOT NULL THEN rate.flops END",
    "any_flops": "rate.flops",
    "memory_fraction": "rate.memory_ns",
    "rated_bytes": "CASE WHEN rate.memory_ns IS NOT NULL THEN rate.bytes END",
    "any_bytes": "rate.bytes",
}
"""What is summed over the ops, for means by their time."""

_OCCUPANCY = {
    "occupancy_fraction": "rate.occupancy_fraction * gpu.sum",
    "achieved_fraction": "rate.achieved_fraction * gpu.sum",
    "occupancy_of_achieved_fraction": "CASE WHEN rate.achieved_fraction IS NOT NULL THEN rate.occupancy_fraction END "
    "* gpu.sum",
}
"""Likewise, summed over the kernels of each op: the mean of an op may leave out some of its kernels."""


def _network(connection: sqlite3.Connection, scope: Scope) -> Network:
    (result,) = records(
        connection,
        Network,
        "SELECT peak_fraction, peak_known_ns, coalesce(rated_flops, any_flops) AS flops_per_second, "
        "rated_flops / nullif(peak_fraction, 0) AS peak_flops_per_second, "
        "memory_fraction, memory_known_ns, coalesce(rated_bytes, any_bytes) AS bytes_per_second, "
        "rated_bytes / nullif(memory_fraction, 0) AS peak_bytes_per_second, occupancy_fraction, occupancy_known_ns, "
        "achieved_fraction, achieved_known_ns, occupancy_of_achieved_fraction "
        f"FROM (SELECT {_means(_RATES, 'rate.measured_ns')} FROM {_MEASURED}), "
        f"(SELECT {_means(_OCCUPANCY, 'gpu.sum')} FROM kernel_summaries AS summary "
        "JOIN metric AS gpu ON gpu.id = summary.gpu_time_metric_id LEFT JOIN ext_kernel_efficiency AS rate "
        "ON rate.aggr_id = summary.aggr_id AND rate.read_only_ops_id = summary.read_only_ops_id "
        "AND rate.kernel_name_id = summary.kernel_name_id WHERE summary.aggr_id = ? AND summary.domain_id = ?)",
        (scope.aggregation, scope.aggregation, scope.domain),
    )
    return result


def _means(sums: dict[str, str], time: str) -> str:
    """Each mean by time, and of shares the time for which it is known."""
    terms = []
    for name, value in sums.items():
        known = f"nullif(sum(CASE WHEN {time} > 0 AND ({value}) IS NOT NULL THEN {time} END), 0)"
        terms.append(f"sum(CASE WHEN {time} > 0 THEN {value} END) * 1.0 / {known} AS {name}")
        if name.endswith("_fraction"):
            terms.append(f"{known} AS {name.removesuffix('_fraction')}_known_ns")
    return ", ".join(terms)


_DRAWN = "ifnull(rate.measured_ns > 0 AND rate.flops > 0 AND rate.min_bytes > 0, 0)"
"""Whether an op has a place on the roofline."""


def _undrawn(connection: sqlite3.Connection, scope: Scope) -> Undrawn | None:
    found = records(
        connection,
        Undrawn,
        "SELECT path_pattern(op.op_name, 1) AS name, count(*) AS ops, sum(rate.kernel_ns) AS kernel_ns "
        "FROM ext_op_efficiency AS rate JOIN read_only_ops AS op ON op.id = rate.read_only_ops_id "
        f"WHERE rate.aggr_id = ? AND rate.kernel_ns > 0 AND NOT {_DRAWN} GROUP BY name ORDER BY kernel_ns DESC, name",
        (scope.aggregation,),
        1,
    )
    return found[0] if found else None


def _dots(connection: sqlite3.Connection, scope: Scope) -> tuple[list[Dot], int]:
    """The ops with the most kernel time among those whose FLOPs and bytes are known, and the number left out."""
    where = f"rate.aggr_id = ? AND {_DRAWN}"
    count = connection.execute(f"SELECT count(*) FROM ext_op_efficiency AS rate WHERE {where}", (scope.aggregation,))
    dots = records(
        connection,
        Dot,
        "SELECT op.op_id AS op_id, op.op_name AS name, path_pattern(op.op_name, 0) AS pattern, "
        f"ifnull({DIRECTION_SQL}, '') AS direction, rate.family AS family, rate.precision AS precision, "
        "rate.bound AS bound, rate.kernel_ns AS kernel_ns, rate.flops * 1.0 / rate.min_bytes AS intensity, "
        "rate.flops * 1e9 / rate.measured_ns AS flops_per_second, "
        "min(rate.flops * 1e9 / rate.measured_ns / rate.peak_flops_per_second, 1.0) AS peak_fraction, "
        "rate.peak_flops_per_second AS peak_flops_per_second, rate.cause AS cause, "
        f"{GAIN} AS gain_ns "
        "FROM ext_op_efficiency AS rate JOIN read_only_ops AS op ON op.id = rate.read_only_ops_id "
        f"LEFT JOIN dictionary AS direction ON direction.id = op.direction_id WHERE {where} "
        "ORDER BY rate.kernel_ns DESC, rate.read_only_ops_id",
        (scope.aggregation,),
        MAX_DOTS,
        cause=lambda cause: CAUSES.get(cause, str(cause)),
    )
    return dots, max((plus(whole(count.fetchone()[0])) or 0) - len(dots), 0)
