"""What limits the kernels of groups of ops, from sums over all their ops: joins and columns for tables of groups.

The groups are those of ``PATTERN_SUMS`` under the alias ``ops``, which have as many rows as their joins.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tensorboard_plugin_dlprof.queries.efficiency import GAIN as GAIN_OF_OP
from tensorboard_plugin_dlprof.queries.efficiency import KEPT_OFF_NS
from tensorboard_plugin_dlprof.queries.reasons import KEPT_OFF, KEPT_OFF_TIME, cause_in_words
from tensorboard_plugin_dlprof.queries.table import Column

_BOUNDS = {
    "memory": "memory_bound_ns",
    "compute": "compute_bound_ns",
    "caches": "caches_bound_ns",
    "latency": "latency_bound_ns",
    "communication": "communication_ns",
}
"""Bound of an op -> column with the time of the kernels of such ops; of equal times, the first is told."""

_COMMUNICATES = "ifnull(rate.family, '') = 'collective'"

_OF_BOUND = {
    bound: _COMMUNICATES if bound == "communication" else f"rate.bound = '{bound}' AND NOT ({_COMMUNICATES})"
    for bound in _BOUNDS
}

_KNOWN_NS = "CASE WHEN {0} IS NOT NULL THEN rate.measured_ns END"

_RATED = {
    "flops": "rate.flops",
    "compute": "rate.flops / rate.peak_flops_per_second",
    "moved": "rate.min_bytes / rate.peak_bytes_per_second",
}
"""What is divided by the time of the ops of which it is known: seconds at the published rates, but for ``flops``."""

_SUMS = {
    **{
        _BOUNDS[bound]: f"CASE WHEN {condition} THEN rate.kernel_ns ELSE 0 END"
        for bound, condition in _OF_BOUND.items()
    },
    "kept_off_ns": KEPT_OFF_NS,
    "rated_ns": f"CASE WHEN {GAIN_OF_OP} IS NOT NULL THEN rate.kernel_ns ELSE 0 END",
    **{name: f"CASE WHEN rate.measured_ns > 0 THEN {value} END" for name, value in _RATED.items()},
    **{f"{name}_known_ns": _KNOWN_NS.format(value) for name, value in _RATED.items()},
}

_OF_ALL_OPS = (
    "FROM ext_op_efficiency AS rate JOIN op_patterns AS pattern ON pattern.read_only_ops_id = rate.read_only_ops_id"
)

_FIRST = "JOIN read_only_ops AS first ON first.id = of_first.first_id WHERE first.domain_id = :domain"


def limits_joins(keys: dict[str, str]) -> tuple[str, str]:
    """The joins that the columns here need. Both read all ops once, which is why nothing of them is in the base.

    Args:
        keys: what tells groups apart, by the name that it has in ``ops``: expressions on ``read_only_ops AS first``.
    """
    named = ", ".join(f"{value} AS {name}" for name, value in keys.items())
    # First the ops of each pattern by its number: a path is matched once for all of them.
    of_first = (
        f"SELECT pattern.first_ops_id AS first_id, {', '.join(f'sum({sql}) AS {name}' for name, sql in _SUMS.items())} "
        f"{_OF_ALL_OPS} WHERE rate.aggr_id = :aggregation GROUP BY first_id"
    )
    sums = f"SELECT {named}, {', '.join(f'sum({name}) AS {name}' for name in _SUMS)} FROM ({of_first}) AS of_first"
    off = (
        f"SELECT pattern.first_ops_id AS first_id, rate.cause AS cause, sum(rate.kept_off_ns) AS off_ns, "
        f"sum(rate.kernel_ns) AS kernel_ns {_OF_ALL_OPS} "
        "WHERE rate.aggr_id = :aggregation AND rate.cause <> '' GROUP BY first_id, rate.cause"
    )
    ranked = (
        f"SELECT {named}, of_first.cause AS cause, dense_rank() OVER (PARTITION BY {', '.join(keys.values())} "
        "ORDER BY sum(of_first.off_ns) DESC, sum(of_first.kernel_ns) DESC, of_first.cause) AS place "
        f"FROM ({off}) AS of_first {_FIRST} GROUP BY {', '.join(keys)}, of_first.cause"
    )
    return (
        _joined(f"{sums} {_FIRST} GROUP BY {', '.join(keys)}", "limits", keys),
        _joined(f"SELECT * FROM ({ranked}) WHERE place = 1", "kept_off", keys),
    )


def _joined(rows: str, alias: str, keys: Sequence[str] | dict[str, str]) -> str:
    same = " AND ".join(f"{alias}.{key} IS ops.{key}" for key in keys)
    return f"LEFT JOIN ({rows}) AS {alias} ON {same}"


def bound_of_most(times: str, kernel_ns: str) -> str:
    """Expression for what bounds most of a kernel time, of which ``times`` is the alias of the parts by bound; NULL
    where less than half of it is known."""
    parts = {bound: f"{times}.{column}" for bound, column in _BOUNDS.items()}
    most = f"max({', '.join(parts.values())})"
    return (
        f"CASE WHEN 2 * ({' + '.join(parts.values())}) < {kernel_ns} OR {most} = 0 THEN NULL "
        f"{' '.join(f'WHEN {part} = {most} THEN {bound!r}' for bound, part in parts.items())} END"
    )


TIMES_BY_BOUND = ", ".join(
    f"sum(CASE WHEN {condition} THEN gpu.sum ELSE 0 END) AS {_BOUNDS[bound]}" for bound, condition in _OF_BOUND.items()
)
"""The sums of the time of kernels by what bounds their ops, ``rate``: columns of a query that groups."""


BOUND = Column("bound", "Bound by", "text",
               "What limits most of the kernel time: compute, memory, caches (data come faster than from memory), "
               "latency (kernels are too short), or communication. Empty where it is not known for half of the time.",
               bound_of_most("limits", "ops.kernel_ns"), nullable=True)  # fmt: skip

GAIN = Column("gain_ns", "Could Gain", "duration_ns",
              "Kernel time less the time that it would take at the GPU's published rates, which no kernel quite "
              "reaches; for FP32 and TF32 matrix multiplications, at the 16-bit rates.", "ops.gain_ns",
              nullable=True)  # fmt: skip

UNRATED = Column("unrated_time_ns", "Unrated Kernel Time", "duration_ns",
                 "The part of the kernel time of which it is not known what it could gain, and which Could Gain does "
                 "not hold.", "nullif(ops.kernel_ns, 0) - ifnull(limits.rated_ns, 0)", nullable=True, hidden=True,
                 tier=2)  # fmt: skip

CAUSE = Column("cause", KEPT_OFF, "text",
               "What keeps eligible ops off Tensor Cores for most of the time that they are off them, or from using "
               "them well.", cause_in_words("kept_off.cause"), nullable=True, tier=1)  # fmt: skip

KEPT_OFF_TIMES = msgspec.structs.replace(KEPT_OFF_TIME, sql="limits.kept_off_ns")

BOUND_TIMES = tuple(
    Column(column, "Communication" if bound == "communication" else f"{bound.capitalize()} Bound", "duration_ns",
           f"Time of the kernels of ops that are bound by {bound}.", f"limits.{column}", nullable=True, hidden=True,
           tier=2)
    for bound, column in _BOUNDS.items()
)  # fmt: skip


def _rate(name: str) -> str:
    return f"limits.{name} * 1e9 / nullif(limits.{name}_known_ns, 0)"


RATES = (
    Column("flops_per_second", "FLOP/s", "number",
           "FLOPs over kernel time, of those of the ops whose work is known.", _rate("flops"), nullable=True,
           hidden=True, tier=1),
    Column("peak_fraction", "Of Peak FLOP/s", "fraction",
           "The time that the FLOPs of these ops would take at the GPU's published rates, over what they took.",
           f"min({_rate('compute')}, 1.0)", nullable=True, hidden=True, tier=1),
    Column("memory_fraction", "Of Peak Bandwidth", "fraction",
           "The same of the bytes that they must move, at the published rate of the memory.",
           f"min({_rate('moved')}, 1.0)", nullable=True, hidden=True, tier=1),
)  # fmt: skip
