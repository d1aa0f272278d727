"""The tree of module and name-scope paths with its ops, as columns for the tree table, the icicle and the graph."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TypedDict

import msgspec

from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.extension import is_of_another_version
from tensorboard_plugin_dlprof.queries.limited import CauseColumns, Limited, added, cause_columns, limited_ops
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.ops import ELIGIBLE_OR_UNKNOWN, USING_OR_UNKNOWN, has_host_time
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import at_least

DEFAULT_LIMIT = 5_000
MAX_LIMIT = 20_000
"""Nodes in one response, which takes about 4 MB."""

MAX_NODES = 2_000_000
"""Nodes of one tree that are read. Only a damaged or hostile database has more."""

_TIMES = ("cpu_time_ns", "gpu_time_ns", "cpu_overhead_ns", "gpu_idle_ns")
_NUMBER = re.compile(r"\[\d+\]|(?<=[_.])\d+(?=$)")
"""The number of a repeated layer: ``Layer[3]`` (the first may be plain ``Layer``), ``conv_7``, ``layers.5``."""


class Nodes(TypedDict):
    """One list per column, with one item for each node. A parent comes before its children.

    Where the Tensor Core use of some kernels below a node is unknown, ``using_ops`` and ``tensor_core_time_ns`` are
    lower bounds, and unknown where these would be 0; ``unknown_time_ns`` is the time of those kernels, and
    ``unknown_ops`` counts the ops whose use is unknown. ``eligible_ops`` is unknown where no op is known to be eligible
    but some may be; times on the host are, where no call that launched the work was recorded. ``gain_ns`` is kernel
    time less the time at the GPU's published rates; the times after it are those of ops bound by compute and by memory.
    All three are None for databases without the efficiency of ops.
    """

    parent: list[int]
    name: list[str]
    op_id: list[str | None]
    direction: list[str]
    level: list[int | None]
    children: list[int]
    structure: list[int]
    ops: list[int]
    calls: list[int | None]
    eligible_ops: list[int | None]
    using_ops: list[int | None]
    cpu_time_ns: list[int | None]
    gpu_time_ns: list[int | None]
    cpu_overhead_ns: list[int | None]
    gpu_idle_ns: list[int | None]
    kernel_time_ns: list[int]
    tensor_core_time_ns: list[int | None]
    unknown_time_ns: list[int]
    unknown_ops: list[int]
    gain_ns: list[int | None]
    compute_bound_ns: list[int | None]
    memory_bound_ns: list[int | None]


class GroupTree(TypedDict):
    """The tree below ``group`` (empty: the whole tree); ``left_out`` of ``total`` nodes did not fit."""

    group: str
    nodes: Nodes
    causes: list[CauseColumns] | None
    """Why eligible ops do not use matrix units well, as further columns of ``nodes``; None if that is unknown."""
    total: int
    left_out: int


class _Node(msgspec.Struct):
    path: str
    """With a slash at its end if the node is a group."""
    op_id: str | None
    direction: str
    numbers: tuple[int | None, ...]
    """Level, calls, eligible ops, using ops, then ``_TIMES``."""
    kernel_ns: int = 0
    tensor_core_ns: int = 0
    unknown_ns: int = 0
    ops: int = 0
    unknown_ops: int = 0
    """Ops whose Tensor Core use is unknown."""
    eligibility_unknown: bool = False
    """Whether it is, or contains, an op whose eligibility for matrix units is unknown."""
    limited: Limited | None = None
    rates: tuple[int, int, int] = (0, 0, 0)
    """Possible gain, and kernel time bound by compute and by memory (ns)."""
    parent: int = -1
    children: list[int] = msgspec.field(default_factory=list)
    structure: int = 0

    @property
    def eligible(self) -> int | None:
        """The eligible ops. Ops that use Tensor Cores count, even work that no op is known to have launched."""
        stored, using = self.numbers[2:4]
        return stored if stored is None or using is None else max(stored, using)

    @property
    def name(self) -> str:
        """The last part of the path; ``/`` for the root."""
        return _without_slash(self.path).rpartition("/")[2] or self.path


def group_tree(connection: sqlite3.Connection, scope: Scope, group: str = "", limit: int = DEFAULT_LIMIT) -> GroupTree:
    """The whole tree, or the subtree of one group.

    Args:
        connection: to a DLProf database.
        scope: aggregation and domain.
        group: path of a group; empty for the whole tree.
        limit: maximum number of nodes; the deepest levels are left out first.

    Raises:
        NotFound: there is no such group.
    """
    limited = limited_ops(connection, scope)
    nodes = _read(connection, scope, group, limited or {})
    if group and not any(node.path == group and node.op_id is None for node in nodes):
        raise NotFound(f"The profile has no group {group[:80]!r}; reload the tree.")
    _link(nodes)
    _add_up(nodes)
    chosen = _fitting(nodes, limit)
    return GroupTree(
        group=group,
        nodes=_columns(nodes, chosen, rated=not is_of_another_version(connection)),
        causes=None if limited is None else cause_columns([nodes[position].limited for position in chosen]),
        total=len(nodes),
        left_out=len(nodes) - len(chosen),
    )


def _read(connection: sqlite3.Connection, scope: Scope, group: str, limited: Mapping[int, Limited]) -> list[_Node]:
    """Groups and ops, ordered by path; an op comes after the group of the same path."""
    cursor = connection.execute(
        "SELECT node.row_type, path.string, ident.string, op.id, direction.string, node.level, node.num_op_instances, "
        "node.num_supported_leaf_ops, node.num_tc_leaf_ops, cpu.sum, gpu.sum, overhead.sum, idle.sum "
        "FROM group_ops AS node JOIN dictionary AS path ON path.id = node.group_op_full_name_id "
        "JOIN dictionary AS ident ON ident.id = node.group_op_full_id_id "
        "JOIN node_time_metrics AS times ON times.id = node.group_op_time_metrics_id "
        "JOIN metric AS cpu ON cpu.id = times.cpu_time_metric_id "
        "JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id "
        "JOIN metric AS overhead ON overhead.id = times.cpu_overhead_time_metric_id "
        "JOIN metric AS idle ON idle.id = times.gpu_idle_time_metric_id "
        "LEFT JOIN read_only_ops AS op ON node.row_type = 2 AND op.domain_id = node.domain_id "
        "AND op.op_id_id = node.group_op_full_id_id "
        "LEFT JOIN dictionary AS direction ON direction.id = op.direction_id "
        "WHERE node.aggr_id = :aggregation AND node.domain_id = :domain "
        "AND substr(path.string, 1, length(:group)) = :group "
        "ORDER BY path.string, node.row_type, node.id",
        {"aggregation": scope.aggregation, "domain": scope.domain, "group": group},
    )
    kernels = _kernel_times(connection, scope)
    rates = _rates(connection, scope)
    may_be_eligible = _ops_without(connection, scope, ELIGIBLE_OR_UNKNOWN)
    may_use = _ops_without(connection, scope, USING_OR_UNKNOWN)
    nodes: list[_Node] = []
    while (some := cursor.fetchmany(10_000)) and len(nodes) < MAX_NODES:
        for row_type, path, ident, op, direction, *numbers in some:
            is_op = row_type == 2
            node = _Node(str(path), str(ident) if is_op else None, str(direction or ""), tuple(map(whole, numbers)))
            if is_op:
                node.ops = 1
                node.kernel_ns, node.tensor_core_ns, node.unknown_ns = kernels.get(op, (0, 0, 0))
                node.unknown_ops = int(op in may_use)
                node.eligibility_unknown = op in may_be_eligible
                node.limited = limited.get(op)
                node.rates = rates.get(op, (0, 0, 0))
            nodes.append(node)
    return nodes


def _kernel_times(connection: sqlite3.Connection, scope: Scope) -> dict[int, tuple[int, int, int]]:
    """Plain sums (ns) over the kernels of each op, by ``read_only_ops.id``: of all kernels, of those on Tensor Cores,
    and of those whose Tensor Core use is unknown."""
    cursor = connection.execute(
        "SELECT read_only_ops_id, kernel_ns, tc_kernel_ns, unknown_ns FROM ext_op_kernels WHERE aggr_id = ?",
        (scope.aggregation,),
    )
    found: dict[int, tuple[int, int, int]] = {}
    while some := cursor.fetchmany(10_000):
        found.update((op, (whole(total) or 0, whole(using) or 0, whole(rest) or 0)) for op, total, using, rest in some)
    return found


def _rates(connection: sqlite3.Connection, scope: Scope) -> dict[int, tuple[int, int, int]]:
    """Of each op, by ``read_only_ops.id``: its possible gain, and its kernel time (ns) if it is bound by compute, or by
    memory; empty if the efficiency of ops is not known."""
    cursor = connection.execute(
        "SELECT read_only_ops_id, measured_ns - best_ns, (bound = 'compute') * kernel_ns, "
        "(bound = 'memory') * kernel_ns FROM ext_op_efficiency WHERE aggr_id = ?",
        (scope.aggregation,),
    )
    found: dict[int, tuple[int, int, int]] = {}
    while some := cursor.fetchmany(10_000):
        found.update(
            (op, (round(gain or 0), whole(compute) or 0, whole(memory) or 0)) for op, gain, compute, memory in some
        )
    return found


def _ops_without(connection: sqlite3.Connection, scope: Scope, expression: str) -> set[int]:
    """``read_only_ops.id`` of the ops for which an expression of ``op_nodes AS node`` is NULL."""
    cursor = connection.execute(
        f"SELECT node.read_only_ops_id FROM op_nodes AS node WHERE node.aggr_id = ? AND ({expression}) IS NULL",
        (scope.aggregation,),
    )
    return {op for (op,) in cursor.fetchmany(MAX_NODES)}


def _without_slash(path: str) -> str:
    return path.removesuffix("/")


def _link(nodes: list[_Node]) -> None:
    """Set each node's parent: the group with the longest path that is a prefix of the node's path."""
    groups = {node.path: position for position, node in enumerate(nodes) if node.op_id is None}
    for position, node in enumerate(nodes):
        path = node.path if node.op_id is not None else _without_slash(node.path)
        while "/" in path:
            path = path.rpartition("/")[0]
            above = groups.get(f"{path}/")
            if above is not None and above != position:
                node.parent = above
                nodes[above].children.append(position)
                break


def _add_up(nodes: list[_Node]) -> None:
    """Sum ops, kernel times and causes from the leaves to the root, and number the distinct structures."""
    known: dict[tuple[object, ...], int] = {}
    # A path sorts before all paths that begin with it, so children come after their parents.
    for node in reversed(nodes):
        below = sorted(nodes[child].structure for child in node.children)
        shape = (_NUMBER.sub("", node.name), node.op_id is None, node.direction, *below)
        node.structure = known.setdefault(shape, len(known))
        if node.parent >= 0:
            above = nodes[node.parent]
            above.ops += node.ops
            above.kernel_ns += node.kernel_ns
            above.tensor_core_ns += node.tensor_core_ns
            above.unknown_ns += node.unknown_ns
            above.unknown_ops += node.unknown_ops
            above.eligibility_unknown |= node.eligibility_unknown
            above.rates = (
                above.rates[0] + node.rates[0],
                above.rates[1] + node.rates[1],
                above.rates[2] + node.rates[2],
            )
            if node.limited:
                above.limited = added(above.limited, node.limited)


def _fitting(nodes: list[_Node], limit: int) -> list[int]:
    """The indexes of up to ``limit`` nodes, level by level; of a level that does not fit, those with most GPU time."""
    chosen: list[int] = []
    level = [position for position, node in enumerate(nodes) if node.parent < 0]
    while level and len(chosen) < limit:
        room = limit - len(chosen)
        if len(level) > room:
            level = sorted(sorted(level, key=lambda position: -(_gpu_time(nodes[position])))[:room])
        chosen.extend(level)
        level = [child for position in level for child in nodes[position].children]
    return chosen


def _gpu_time(node: _Node) -> int:
    return node.numbers[5] or 0


def _columns(nodes: list[_Node], chosen: Sequence[int], rated: bool) -> Nodes:
    place = {position: number for number, position in enumerate(chosen)}
    rows = [nodes[position] for position in chosen]
    structures: dict[int, int] = {}
    numbers: list[list[int | None]] = [[row.numbers[column] for row in rows] for column in range(4 + len(_TIMES))]
    cpu, gpu, overhead, idle = numbers[4:]
    launched = list(map(has_host_time, cpu, gpu))
    return Nodes(
        parent=[place.get(row.parent, -1) for row in rows],
        name=[row.name for row in rows],
        op_id=[row.op_id for row in rows],
        direction=[row.direction for row in rows],
        level=numbers[0],
        children=[len(row.children) for row in rows],
        structure=[structures.setdefault(row.structure, len(structures)) for row in rows],
        ops=[row.ops for row in rows],
        calls=numbers[1],
        eligible_ops=[at_least(row.eligible, row.eligibility_unknown) for row in rows],
        using_ops=[at_least(row.numbers[3], row.unknown_ops) for row in rows],
        cpu_time_ns=[time if told else None for time, told in zip(cpu, launched, strict=True)],
        gpu_time_ns=gpu,
        cpu_overhead_ns=[time if told else None for time, told in zip(overhead, launched, strict=True)],
        gpu_idle_ns=idle,
        kernel_time_ns=[row.kernel_ns for row in rows],
        tensor_core_time_ns=[at_least(row.tensor_core_ns, row.unknown_ops) for row in rows],
        unknown_time_ns=[row.unknown_ns for row in rows],
        unknown_ops=[row.unknown_ops for row in rows],
        gain_ns=[row.rates[0] if rated else None for row in rows],
        compute_bound_ns=[row.rates[1] if rated else None for row in rows],
        memory_bound_ns=[row.rates[2] if rated else None for row in rows],
    )
