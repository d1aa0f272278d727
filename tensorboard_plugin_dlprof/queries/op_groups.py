"""Ops summed over the repetitions of a model: by the pattern of their path, or by their own name."""

from __future__ import annotations

import sqlite3

import msgspec

from tensorboard_plugin_dlprof.classify.directions import DIRECTION_SQL
from tensorboard_plugin_dlprof.queries.kernels_of_ops import kernels_of_ops
from tensorboard_plugin_dlprof.queries.kinds_of_work import (
    EFFICIENCY_OF_LONGEST,
    ELIGIBLE_OPS,
    KERNEL_TIME,
    ON_TENSOR_CORES,
    PATTERN_SUMS,
    PATTERNS,
    PATTERNS_OF_SCOPE,
    family,
    family_column,
)
from tensorboard_plugin_dlprof.queries.limits_of_groups import (
    BOUND,
    BOUND_TIMES,
    CAUSE,
    GAIN,
    KEPT_OFF_TIMES,
    RATES,
    UNRATED,
    limits_joins,
)
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Table


def _summed(own_name: int) -> str:
    """One row per group of ops."""
    return (
        f"SELECT path_pattern(first.op_name, {own_name}) AS pattern, first.direction_id AS direction_id, "
        f"{PATTERN_SUMS} FROM {PATTERNS} WHERE {PATTERNS_OF_SCOPE} GROUP BY pattern, first.direction_id"
    )


def pattern_key(pattern: str) -> str:
    """Expression that identifies a row."""
    return f"{pattern} || ' ' || ifnull({DIRECTION_SQL}, '')"


_ALL_OPS = (
    "SELECT all_ops.gpu_time FROM model_summary AS summary JOIN category_summary AS all_ops "
    "ON all_ops.id = summary.nodes_total_id WHERE summary.aggr_id = :aggregation AND summary.domain_id = :domain"
)

PATH = Column("name", "Op Name", "path",
              "Path of the ops, with * for numbers that only count repetitions, and without indices.", "ops.pattern",
              searchable=True)  # fmt: skip

DIRECTION = Column("direction", "Direction", "text", "The pass of the network: forward or backward.",
                   DIRECTION_SQL, nullable=True)  # fmt: skip

KEY = Column("key", "Row", "text", "Identifies the row.", pattern_key("ops.pattern"), hidden=True, tier=2)

DIRECTION_JOIN = "LEFT JOIN dictionary AS direction ON direction.id = ops.direction_id"
"""For tables with these columns, whose base is ``ops``."""

_NAME = (PATH, Column("name", "Op", "path", "Name of the ops without their path.", "ops.pattern", searchable=True))

_COLUMNS = (
    DIRECTION,
    Column("ops", "Ops", "integer", "How many ops of the model the row stands for.", "ops.ops"),
    Column("calls", "Calls", "integer", "How often these ops were called.", "ops.calls", tier=1),
    Column("gpu_time_ns", "GPU Time", "duration_ns",
           "Time during which work of an op ran on a GPU, summed over the ops and their calls.", "ops.gpu_ns"),
    Column("gpu_time_fraction", "Share", "fraction", "GPU time over the sum of the GPU times of all ops.",
           f"ops.gpu_ns * 1.0 / nullif(({_ALL_OPS}), 0)", nullable=True),
    KERNEL_TIME,
    ON_TENSOR_CORES,
    BOUND,
    GAIN,
    UNRATED,
    *RATES,
    CAUSE,
    KEPT_OFF_TIMES,
    *BOUND_TIMES,
    family_column("the op that takes the most time",
                  family("ops.kernel_calls", "ops.gpu_ns", "ops.graph_ops", "rate.family")),
    Column("op_type", "Op Type", "text", "What the op that takes the most time does.", "op_type.string",
           searchable=True, hidden=True, tier=1),
    Column("cpu_time_ns", "CPU Time", "duration_ns", "Time of the ops on the host.", "ops.cpu_ns", hidden=True, tier=1),
    Column("kernel_calls", "Kernel Calls", "integer", "How many kernels the ops launched.", "ops.kernel_calls",
           hidden=True, tier=1),
    ELIGIBLE_OPS,
    Column("longest_op", "Longest Op", "text", "The op that takes the most GPU time.", "longest.op_id", hidden=True,
           tier=2),
)  # fmt: skip


def _table(name: str, own_name: int) -> Table:
    return Table(
        name=name,
        key="key",
        base=f"({_summed(own_name)}) AS ops",
        row_id="ops.longest_id",
        where="1",
        default_sort="-gpu_time_ns",
        default_then="cpu_time_ns",
        joins=(
            DIRECTION_JOIN,
            "JOIN read_only_ops AS longest ON longest.id = ops.longest_id",
            "LEFT JOIN dictionary AS op_type ON op_type.id = longest.op_type_id",
            EFFICIENCY_OF_LONGEST,
            *limits_joins(
                {"pattern": f"path_pattern(first.op_name, {own_name})", "direction_id": "first.direction_id"}
            ),
        ),
        columns=(_NAME[own_name], *_COLUMNS, KEY),
    )


OP_PATHS = _table("op_paths", 0)
"""Ops by the pattern of their path and their direction."""

OP_NAMES = _table("op_names", 1)
"""Ops by their own name and their direction."""


def gpu_time_by_path(connection: sqlite3.Connection, scope: Scope) -> dict[str, int]:
    """The GPU time of each row of ``OP_PATHS`` that has any (ns), by its key."""
    rows = connection.execute(
        f"SELECT {pattern_key('ops.pattern')}, ops.gpu_ns FROM ({_summed(0)}) AS ops {DIRECTION_JOIN} "
        "WHERE ops.gpu_ns > 0",
        {"aggregation": scope.aggregation, "domain": scope.domain},
    )
    return {str(key): int(gpu_ns) for key, gpu_ns in rows}


def kernel_time_by_name(connection: sqlite3.Connection, scope: Scope) -> tuple[dict[str, int], int]:
    """The time of all kernels by their full names, and how much of it is in no op (ns)."""
    rows = connection.execute(
        "SELECT name.string, sum(time.sum), sum(iif(instr(op.op_name, 'unassociated_') = 1, time.sum, 0)) "
        "FROM kernel_summaries AS kernel JOIN metric AS time ON time.id = kernel.gpu_time_metric_id "
        "JOIN dictionary AS name ON name.id = kernel.kernel_name_id "
        "JOIN read_only_ops AS op ON op.id = kernel.read_only_ops_id "
        "WHERE kernel.aggr_id = :aggregation AND kernel.domain_id = :domain GROUP BY kernel.kernel_name_id",
        {"aggregation": scope.aggregation, "domain": scope.domain},
    ).fetchall()
    return {str(name): int(ns) for name, ns, _ in rows}, sum(int(ns) for *_, ns in rows)


_KEYS = {
    "path": pattern_key("path_pattern(first.op_name, 0)"),
    "name": pattern_key("path_pattern(first.op_name, 1)"),
    "type": "op_type.string",
}
"""What identifies a row of ``op_paths``, ``op_names`` and ``op_types``."""


def _ops_of_row(group: str) -> str:
    """SELECT of the ids of the ops that a row of one of these tables sums, given by its key as the link ``row``."""
    patterns = (
        f"SELECT first.id FROM {PATTERNS} LEFT JOIN dictionary AS direction ON direction.id = first.direction_id "
        f"LEFT JOIN dictionary AS op_type ON op_type.id = first.op_type_id "
        f"WHERE {PATTERNS_OF_SCOPE} AND {_KEYS[group]} = :row"
    )
    return f"SELECT read_only_ops_id FROM op_patterns WHERE first_ops_id IN ({patterns})"


def members(table: Table) -> dict[str, Table]:
    """The ops that a row sums, by the names of the tables.

    Args:
        table: the table of all ops.
    """
    return {(name := f"ops_of_{group}"): _narrowed(name, table, _ops_of_row(group)) for group in _KEYS}


def kernels_of_members() -> dict[str, Table]:
    """The kernels of the ops that a row sums, by the names of the tables."""
    return {
        (name := f"kernels_of_{group}"): kernels_of_ops(name, f"op.id IN ({_ops_of_row(group)})", links=("row",))
        for group in _KEYS
    }


def launchers(table: Table) -> Table:
    """The ops that launched a kernel, given by its name as the link ``row``.

    Args:
        table: the table of all ops.
    """
    launches = (
        "FROM kernel_summaries AS launched JOIN dictionary AS kernel_name ON kernel_name.id = launched.kernel_name_id "
        "JOIN metric AS in_kernel ON in_kernel.id = launched.gpu_time_metric_id "
        "WHERE launched.aggr_id = :aggregation AND launched.domain_id = :domain AND kernel_name.string = :row"
    )
    time = Column("in_kernel_ns", "In This Kernel", "duration_ns",
                  "Time of the kernel in the calls of the op, whose GPU Time holds all that the op launched.",
                  f"(SELECT sum(in_kernel.sum) {launches} AND launched.read_only_ops_id = op.id)")  # fmt: skip
    at = [column.key for column in table.columns].index("gpu_time_ns")
    columns = (*table.columns[:at], time, *table.columns[at:])
    ops = _narrowed("ops_of_kernel", table, f"SELECT launched.read_only_ops_id {launches}")
    return msgspec.structs.replace(ops, columns=columns, default_sort="-in_kernel_ns")


def _narrowed(name: str, table: Table, ops: str) -> Table:
    """The table of all ops with those of a SELECT of their ids alone."""
    where = f"{table.where} AND node.read_only_ops_id IN ({ops})"
    return msgspec.structs.replace(table, name=name, where=where, links=("row",))
