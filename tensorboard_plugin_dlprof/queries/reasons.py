"""The tables of ops and groups with columns on why ops do not use matrix units."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from types import MappingProxyType

import msgspec

from tensorboard_plugin_dlprof.queries.efficiency import CAUSES
from tensorboard_plugin_dlprof.queries.groups import GROUPS, OPS_OF_GROUP
from tensorboard_plugin_dlprof.queries.limited import LimitedByPath
from tensorboard_plugin_dlprof.queries.ops import OPS
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Table

_RATE = ("rate",)
_WORDS = " ".join(f"WHEN '{key}' THEN '{words.replace(chr(39), chr(39) * 2)}'" for key, words in CAUSES.items())

CAUSE = Column(
    "cause",
    "Cause",
    "text",
    f"Why an eligible op does not use Tensor Cores, or not well: {'; '.join(CAUSES.values())}.",
    f"CASE rate.cause WHEN '' THEN NULL {_WORDS} ELSE rate.cause END",
    _RATE,
    nullable=True,
)

DIMENSION = Column(
    "dimension",
    "Dimension",
    "text",
    "Length that does not fit the data type, and the next that would.",
    "CASE WHEN rate.length IS NOT NULL THEN rate.dimension || ' ' || rate.length || ' -> ' || rate.padded_length END",
    _RATE,
    nullable=True,
)

ELIGIBILITY = "CASE WHEN node.using_tc <> 0 THEN 'eligible' ELSE replace(rate.eligibility, '_', ' ') END"
"""Eligibility in words, consistent with the tables of ops: an op that uses matrix units is eligible, even if it stands
for work that no op is known to have launched."""

_OP_REASONS = (
    Column(
        "eligibility",
        "Eligibility",
        "text",
        "Whether the op could use Tensor Cores: eligible, not eligible, or unknown where nothing tells what it does.",
        ELIGIBILITY,
        _RATE,
        nullable=True,
        hidden=True,
    ),
    CAUSE,
    msgspec.structs.replace(DIMENSION, hidden=True),
    Column(
        "padded_shape",
        "Padded Shape",
        "text",
        "Lengths of the op's largest matrix multiplication, each padded to what the data type needs.",
        "rate.padded_shape",
        _RATE,
        nullable=True,
        hidden=True,
    ),
)

_JOIN = "LEFT JOIN ext_op_efficiency AS rate ON rate.aggr_id = node.aggr_id AND rate.read_only_ops_id = op.id"

_GROUP_REASONS = (
    Column(
        "limited_ns",
        "Limited Kernel Time",
        "duration_ns",
        "Kernel time of eligible ops below that do not use Tensor Cores, or not well.",
        "NULL",
        sortable=False,
        filterable=False,
        hidden=True,
    ),
    Column(
        "cause",
        "Main Cause",
        "text",
        "The cause of most of that time.",
        "NULL",
        nullable=True,
        sortable=False,
        filterable=False,
        hidden=True,
    ),
)
"""Filled in by ``_group_reasons``. In SQL, every group would read every limited op: minutes for a large tree."""


def _group_reasons(connection: sqlite3.Connection, scope: Scope) -> Callable[[Row], None]:
    limited = LimitedByPath(connection, scope)

    def fill(row: Row) -> None:
        times = limited.below(str(row["path"]))
        main = max(times, key=lambda cause: (times[cause], cause), default=None)
        row["limited_ns"] = sum(times.values())
        row["cause"] = None if main is None else CAUSES[main]

    return fill


def _with_op_reasons(table: Table) -> Table:
    """The table with the columns of the reasons inserted next to the columns that they explain."""
    behind = 1 + next(place for place, column in enumerate(table.columns) if column.key == "using_tensor_cores")
    return msgspec.structs.replace(
        table,
        joins=MappingProxyType({**table.joins, "rate": _JOIN}),
        columns=(*table.columns[:behind], *_OP_REASONS, *table.columns[behind:]),
    )


OPS_WITH_REASONS, OPS_OF_GROUP_WITH_REASONS = _with_op_reasons(OPS), _with_op_reasons(OPS_OF_GROUP)
GROUPS_WITH_REASONS = msgspec.structs.replace(GROUPS, columns=(*GROUPS.columns, *_GROUP_REASONS), filler=_group_reasons)
