"""DLProf's reports with the columns of times that they share: detail (one row per op), op_type, group_op."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import chain

from tensorboard_plugin_dlprof.queries.groups import eligible_ops, using_ops
from tensorboard_plugin_dlprof.queries.ops import ELIGIBLE_OR_UNKNOWN, USING_OR_UNKNOWN
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import at_least_sql
from tensorboard_plugin_dlprof.reports.blocks import Block, Column, Kind
from tensorboard_plugin_dlprof.reports.cursors import OP_JOINS, count_of, scope_values, stream, with_unknown

_TIMES = (
    ("cpu_time", "CPU Time"),
    ("gpu_time", "GPU Time"),
    ("cpu_overhead_time", "CPU Overhead"),
    ("gpu_idle_time", "GPU Idle"),
)
"""Prefix of the column of ``node_time_metrics``, and DLProf's name of the time."""

_STATISTICS = (("sum", "Total", Kind.INTEGER), ("avg", "Avg.", Kind.DECIMAL), ("min", "Min", Kind.INTEGER),
               ("max", "Max", Kind.INTEGER))  # fmt: skip

TIME_COLUMNS = tuple(
    Column(f"{statistic} {label} (ns)", kind) for _, label in _TIMES for _, statistic, kind in _STATISTICS
)

TIMES_SQL = ", ".join(f"{time}.{field}" for time, _ in _TIMES for field, _, _ in _STATISTICS)
"""The SQL expressions of ``TIME_COLUMNS``, in the same order; they need the joins of ``times_join``."""


def times_join(metrics_id: str) -> str:
    """The joins for ``TIMES_SQL``, given an SQL expression of the ``node_time_metrics.id``."""
    return f"LEFT JOIN node_time_metrics AS times ON times.id = {metrics_id} " + " ".join(
        f"LEFT JOIN metric AS {time} ON {time}.id = times.{time}_metric_id" for time, _ in _TIMES
    )


OP_COLUMNS = (
    Column("Op ID", Kind.TEXT),
    Column("Op Name", Kind.TEXT),
    Column("Direction", Kind.WORD),
)

_DETAIL = (
    *OP_COLUMNS,
    Column("Op Type", Kind.TEXT),
    Column("No. Calls", Kind.INTEGER),
    Column("TC Eligible", Kind.YES_NO),
    Column("Using TC", Kind.YES_NO),
    *TIME_COLUMNS,
    Column("Data Type", Kind.WORD),
    Column("Stack Trace", Kind.TEXT),
)

ELIGIBLE = "(node.tc_eligible <> 0 OR node.using_tc <> 0)"
"""On all pages and in all reports, an op that uses Tensor Cores counts as eligible."""

_OF_NODES = (
    "FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
    "WHERE node.aggr_id = :aggregation AND op.domain_id = :domain"
)


def detail_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per op, by op id."""
    values = scope_values(scope)
    sql = (
        f"SELECT op.op_id, op.op_name, direction.string, op_type.string, node.num_calls, {ELIGIBLE_OR_UNKNOWN}, "
        f"{USING_OR_UNKNOWN}, {TIMES_SQL}, data_type.string, op.stack_trace "
        f"FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id {OP_JOINS} "
        f"{times_join('node.node_time_metrics_id')} "
        "WHERE node.aggr_id = :aggregation AND op.domain_id = :domain ORDER BY node.id"
    )
    rows = stream(connection, sql, values, _DETAIL)
    yield Block(
        "All Iterations",
        _DETAIL,
        with_unknown(rows, _DETAIL, "TC Eligible", "Using TC"),
        lambda: count_of(connection, f"SELECT count(*) {_OF_NODES}", values),
        about="Every op, over all aggregated iterations",
    )


_OP_TYPE = (
    Column("Op Type", Kind.TEXT),
    Column("# Ops", Kind.INTEGER),
    Column("# Calls", Kind.INTEGER),
    *TIME_COLUMNS,
)


def op_type_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per op type, by name."""
    values = scope_values(scope)
    where = "FROM op_type_metrics AS type"
    sql = (
        f"SELECT name.string, type.num_nodes, type.num_calls, {TIMES_SQL} {where} "
        f"LEFT JOIN dictionary AS name ON name.id = type.op_node_type_id {times_join('type.op_type_metrics_id')} "
        "WHERE type.aggr_id = :aggregation AND type.domain_id = :domain ORDER BY type.id"
    )
    yield Block(
        "Op Type Summary Report",
        _OP_TYPE,
        stream(connection, sql, values, _OP_TYPE),
        lambda: count_of(
            connection,
            f"SELECT count(*) {where} WHERE type.aggr_id = :aggregation AND type.domain_id = :domain",
            values,
        ),
        about="Ops of one type together",
    )


_GROUP_OP = (
    Column("Name", Kind.TEXT),
    Column("Num Calls Aggregated", Kind.INTEGER),
    Column("Num TC Eligible Ops", Kind.INTEGER),
    Column("Num Ops Using TC", Kind.INTEGER),
    *TIME_COLUMNS,
)

_WHOLE_MODEL = ", ".join(
    f"coalesce(sum({time}.sum), 0)"
    for time in ("cpu_time", "gpu_time", "cpu_overhead_time", "gpu_idle_time")
    for _statistic in range(4)
)
"""The whole model is a single sample, so total, average, minimum and maximum are equal."""


def group_op_blocks(connection: sqlite3.Connection, scope: Scope) -> Iterator[Block]:
    """One row per group, by path, then one for all ops of the model, including those in no group."""
    values = scope_values(scope)
    where = (
        "FROM group_ops AS node {joins} WHERE node.aggr_id = :aggregation AND node.domain_id = :domain "
        "AND node.row_type = 1"
    )
    joins = (
        "LEFT JOIN dictionary AS name ON name.id = node.group_op_full_name_id "
        f"{times_join('node.group_op_time_metrics_id')}"
    )
    eligible_all = at_least_sql(
        f"coalesce(sum({ELIGIBLE}), 0)", f"coalesce(sum(({ELIGIBLE_OR_UNKNOWN}) IS NULL), 0) > 0"
    )
    using_all = at_least_sql(
        "coalesce(sum(node.using_tc <> 0), 0)", f"coalesce(sum(({USING_OR_UNKNOWN}) IS NULL), 0) > 0"
    )
    groups = (
        "SELECT name.string, node.num_op_instances, "
        f"{eligible_ops('name.string')}, {using_ops('name.string')}, {TIMES_SQL} "
        f"{where.format(joins=joins)} ORDER BY node.id"
    )
    model = (
        "SELECT '_CompleteModel_', coalesce(sum(node.num_calls), 0), "
        f"{eligible_all}, {using_all}, {_WHOLE_MODEL} "
        "FROM op_nodes AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
        f"{times_join('node.node_time_metrics_id')} "
        "WHERE node.aggr_id = :aggregation AND op.domain_id = :domain"
    )
    rows = chain(stream(connection, groups, values, _GROUP_OP), stream(connection, model, values, _GROUP_OP))
    yield Block(
        "Group Op Report",
        _GROUP_OP,
        with_unknown(rows, _GROUP_OP, "Num TC Eligible Ops", "Num Ops Using TC"),
        lambda: 1 + count_of(connection, f"SELECT count(*) {where.format(joins='')}", values),
        about="Modules and name scopes, with the ops below them",
    )
