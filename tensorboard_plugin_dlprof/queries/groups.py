"""Flat tables of groups of ops: all groups, and the ops and kernels of one group. The tree is in ``group_tree``."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import msgspec

from tensorboard_plugin_dlprof.queries.efficiency import CAUSES
from tensorboard_plugin_dlprof.queries.kernels_of_ops import kernels_of_ops
from tensorboard_plugin_dlprof.queries.limited import LimitedByPath
from tensorboard_plugin_dlprof.queries.ops import ELIGIBLE_OR_UNKNOWN, OPS, on_host, time_joins
from tensorboard_plugin_dlprof.queries.ops import USING_OR_UNKNOWN as USING_OR_UNKNOWN_OP
from tensorboard_plugin_dlprof.queries.reasons import KEPT_OFF
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import FILLED, Column, Table
from tensorboard_plugin_dlprof.queries.unknown_kernels import at_least_sql

_OPEN = "substr(path.string, 1, length(path.string) - 1)"
"""A group's path without the slash at its end."""

_PARENT = f"rtrim({_OPEN}, replace({_OPEN}, '/', ''))"
"""The path of the parent. SQLite cannot search from the right, so all but slashes are trimmed off the end."""

_TIMES = (
    ("cpu_time", "CPU Time", "Time of the ops on the host."),
    ("gpu_time", "GPU Time", "Time with GPU work of the ops."),
    ("cpu_overhead", "CPU Overhead", "Time of the ops on the host outside of API calls."),
    ("gpu_idle", "GPU Idle", "Gaps between the first and the last GPU work of each call of the ops."),
)


def _time_column(described: tuple[str, str, str]) -> Column:
    time, label, meaning = described
    column = Column(f"{time}_ns", label, "duration_ns", f"{meaning} Sum over all ops below.", f"{time}.sum")
    return on_host(column) if time.startswith("cpu") else column


def _some_below(path: str, expression: str) -> str:
    """Condition that ``expression``, of ``op_nodes AS node``, is NULL for some op below the group with this path.

    SQLite evaluates the subquery once: it takes the innermost groups of such ops, and cuts their paths at all lengths
    that paths of groups have, which gives all groups above.
    """
    return (
        f"{path} IN (SELECT substr(inner.path, 1, size.letters) FROM (SELECT DISTINCT "
        "rtrim(op.op_name, replace(op.op_name, '/', '')) AS path FROM op_nodes AS node "
        "JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
        f"WHERE node.aggr_id = :aggregation AND op.domain_id = :domain AND ({expression}) IS NULL) AS inner "
        "CROSS JOIN (SELECT DISTINCT length(path.string) AS letters FROM group_ops AS node "
        "JOIN dictionary AS path ON path.id = node.group_op_full_name_id "
        "WHERE node.aggr_id = :aggregation AND node.domain_id = :domain AND node.row_type = 1) AS size "
        "WHERE substr(inner.path, size.letters, 1) = '/')"
    )


def eligible_ops(path: str) -> str:
    """Expression for the number of eligible ops below ``group_ops AS node`` with this path. NULL if no
    op is known to be eligible but the eligibility of some is unknown."""
    return at_least_sql("node.num_supported_leaf_ops", _some_below(path, ELIGIBLE_OR_UNKNOWN))


def using_ops(path: str) -> str:
    """Expression for the number of ops below it that use Tensor Cores; NULL as for ``eligible_ops``."""
    return at_least_sql("node.num_tc_leaf_ops", _some_below(path, USING_OR_UNKNOWN_OP))


_USING = using_ops("path.string")

_REASONS = (
    Column("limited_ns", "Limited Kernel Time", "duration_ns",
           "Kernel time of eligible ops below that could be on Tensor Cores and is not.", FILLED, sortable=False,
           filterable=False, hidden=True),
    Column("cause", KEPT_OFF, "text", "The cause of most of that time.", FILLED, nullable=True, sortable=False,
           filterable=False, hidden=True),
)  # fmt: skip
"""Filled in by ``_fill_reasons``. In SQL, every group would read every limited op: minutes for a large tree."""


def _fill_reasons(connection: sqlite3.Connection, scope: Scope) -> Callable[[Row], None]:
    limited = LimitedByPath(connection, scope)

    def fill(row: Row) -> None:
        times = limited.below(str(row["path"]))
        main = max(times, key=lambda cause: (times[cause], cause), default=None)
        row["limited_ns"] = sum(times.values())
        row["cause"] = None if main is None else CAUSES[main]

    return fill


GROUPS = Table(
    name="groups",
    key="path",
    base="group_ops AS node JOIN dictionary AS path ON path.id = node.group_op_full_name_id",
    row_id="node.id",
    where="node.aggr_id = :aggregation AND node.domain_id = :domain AND node.row_type = 1",
    default_sort="path",
    joins=time_joins("node.group_op_time_metrics_id"),
    columns=(
        Column("path", "Path", "path", "Path of the group.", "path.string", searchable=True),
        Column("name", "Name", "text", "Last part of the path.",
               f"CASE path.string WHEN '/' THEN '/' ELSE substr({_OPEN}, 1 + length({_PARENT})) END"),
        Column("level", "Level", "integer", "Depth in the tree; 1 is the root.", "node.level"),
        Column("parent", "Parent", "path", "Path of the group around it.", f"nullif({_PARENT}, '')", nullable=True),
        Column("calls", "Calls", "integer", "Calls of the ops below.", "node.num_op_instances"),
        Column("eligible_ops", "TC Eligible Ops", "integer",
               "Eligible ops below. Empty if none is known to be eligible but some may be.",
               eligible_ops("path.string"), nullable=True),
        Column("using_ops", "Ops Using TC", "integer",
               "Ops below that use Tensor Cores. Empty if none is known to use them but some may.", _USING,
               nullable=True),
        Column("using_fraction", "Share of Eligible Ops Using TC", "fraction",
               "Ops that use Tensor Cores, over the eligible ops; empty where none is eligible. Empty if none is "
               "known to use them but some may.",
               f"{_USING} * 1.0 / nullif(max(node.num_supported_leaf_ops, node.num_tc_leaf_ops), 0)", nullable=True),
        *map(_time_column, _TIMES),
        *_REASONS,
    ),
    filler=_fill_reasons,
)  # fmt: skip


_NODES = (
    "FROM group_ops AS place JOIN dictionary AS path ON path.id = place.group_op_full_name_id "
    "JOIN read_only_ops AS op ON op.domain_id = place.domain_id AND {of_op} "
    "WHERE place.aggr_id = :aggregation AND place.domain_id = :domain AND place.row_type = {kind} "
    "AND instr(:nodes, ',' || place.id || ',')"
)

_BELOW_NODES = (
    f"SELECT op.id {_NODES.format(kind=1, of_op='substr(op.op_name, 1, length(path.string)) = path.string')} "
    f"UNION ALL SELECT op.id {_NODES.format(kind=2, of_op='op.op_id_id = place.group_op_full_id_id')}"
)
"""Ids of the ops of some nodes of the tree: of each op itself, of each group those below it."""

_BELOW = f"CASE :nodes WHEN '' THEN substr(op.op_name, 1, length(:group)) = :group ELSE op.id IN ({_BELOW_NODES}) END"
"""Condition for the ops below the group of the link ``group``, a path with a slash at its end, at any depth, or of
``nodes``, where these are given."""

OPS_OF_GROUP = msgspec.structs.replace(
    OPS, name="ops_of_group", where=f"{OPS.where} AND {_BELOW}", links=("group",), narrowed=("nodes",)
)
"""The ops below the group of the link ``group``, a path with a slash at its end, at any depth."""

KERNELS_OF_GROUP = kernels_of_ops("kernels_of_group", _BELOW, links=("group",), narrowed=("nodes",))
"""The kernels of the ops below the group of the link ``group``, by name."""
