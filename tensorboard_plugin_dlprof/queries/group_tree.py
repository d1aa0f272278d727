"""The tree of module and name-scope paths with its ops, as columns for the tree table, the icicle and the graph."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from operator import add
from typing import TypedDict

import msgspec

from tensorboard_plugin_dlprof.classify.directions import direction_in_words
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.extension import is_of_another_version
from tensorboard_plugin_dlprof.queries.limited import CauseColumns, Limited, added, cause_columns, limited_op
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.ops import ELIGIBLE_OR_UNKNOWN, USING_OR_UNKNOWN, has_host_time
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.unknown_kernels import at_least
from tensorboard_plugin_dlprof.queries.unmeasured import Missing, missing_of_gains

DEFAULT_LIMIT = 5_000
MAX_LIMIT = 20_000
"""Nodes in one response, which takes about 4 MB."""

MAX_NODES = 2_000_000
"""Nodes of one tree that are read. Only a damaged or hostile database has more."""

_STORED: Mapping[str, str] = {
    "level": "place.level",
    "calls": "place.num_op_instances",
    "eligible_ops": "place.num_supported_leaf_ops",
    "using_ops": "place.num_tc_leaf_ops",
    "cpu_time_ns": "cpu.sum",
    "gpu_time_ns": "gpu.sum",
    "cpu_overhead_ns": "overhead.sum",
    "gpu_idle_ns": "idle.sum",
}
"""What is stored of each node: column -> expression."""

_GPU_TIME = list(_STORED).index("gpu_time_ns")

_SUMMED: Mapping[str, str] = {
    "ops": "1",
    "kernel_time_ns": "kernels.kernel_ns",
    "tensor_core_time_ns": "kernels.tc_kernel_ns",
    "unknown_time_ns": "kernels.unknown_ns",
    "communication_ns": "(rate.family = 'collective') * kernels.kernel_ns",
    "unknown_ops": f"({USING_OR_UNKNOWN}) IS NULL",
    "unknown_eligibility": f"({ELIGIBLE_OR_UNKNOWN}) IS NULL",
    "ops_of_known_gain": "rate.measured_ns - rate.best_ns IS NOT NULL",
    "ops_of_known_bound": "rate.bound IS NOT NULL",
    "unrated_time_ns": "(rate.measured_ns - rate.best_ns IS NULL) * kernels.kernel_ns",
    "gain_ns": "rate.measured_ns - rate.best_ns",
    "compute_bound_ns": "(rate.bound = 'compute') * rate.kernel_ns",
    "memory_bound_ns": "(rate.bound = 'memory') * rate.kernel_ns",
    "caches_bound_ns": "(rate.bound = 'caches') * rate.kernel_ns",
    "latency_bound_ns": "(rate.bound = 'latency') * rate.kernel_ns",
}
"""What is summed over the ops below a node: column -> expression for one op."""

_NOTHING = [0] * len(_SUMMED)

_NODES = (
    f"SELECT place.id, place.row_type, path.string, ident.string, direction.string, rate.cause, rate.kept_off_ns, "
    f"{', '.join(_STORED.values())}, {', '.join(_SUMMED.values())} "
    "FROM group_ops AS place JOIN dictionary AS path ON path.id = place.group_op_full_name_id "
    "JOIN dictionary AS ident ON ident.id = place.group_op_full_id_id "
    "JOIN node_time_metrics AS times ON times.id = place.group_op_time_metrics_id "
    "JOIN metric AS cpu ON cpu.id = times.cpu_time_metric_id "
    "JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id "
    "JOIN metric AS overhead ON overhead.id = times.cpu_overhead_time_metric_id "
    "JOIN metric AS idle ON idle.id = times.gpu_idle_time_metric_id "
    "LEFT JOIN read_only_ops AS op ON place.row_type = 2 AND op.domain_id = place.domain_id "
    "AND op.op_id_id = place.group_op_full_id_id "
    "LEFT JOIN dictionary AS direction ON direction.id = op.direction_id "
    "LEFT JOIN op_nodes AS node ON node.aggr_id = place.aggr_id AND node.read_only_ops_id = op.id "
    "LEFT JOIN ext_op_kernels AS kernels ON kernels.aggr_id = place.aggr_id AND kernels.read_only_ops_id = op.id "
    "LEFT JOIN ext_op_efficiency AS rate ON rate.aggr_id = place.aggr_id AND rate.read_only_ops_id = op.id "
    "WHERE place.aggr_id = :aggregation AND place.domain_id = :domain "
    "AND substr(path.string, 1, length(:group)) = :group ORDER BY place.id"
)
"""Groups and ops, of a group and below it."""

_NUMBER = re.compile(r"\[\d+\]|(?<=[_.])\d+(?=$)")
"""The number of a repeated layer: ``Layer[3]`` (the first may be plain ``Layer``), ``conv_7``, ``layers.5``."""


class Nodes(TypedDict):
    """One list per column, with one item for each node. A parent comes before its children.

    Where the Tensor Core use of some kernels below a node is unknown, ``using_ops`` and ``tensor_core_time_ns`` are
    lower bounds, and unknown where these would be 0; ``unknown_time_ns`` is the time of those kernels, and
    ``unknown_ops`` counts the ops whose use is unknown. ``eligible_ops`` is unknown where no op is known to be eligible
    but some may be; times on the host are, where no call that launched the work was recorded. ``gain_ns`` is kernel
    time less the time at the GPU's published rates, of the ops of which that is known: ``unrated_time_ns`` is the
    kernel time of the others. The times after it are those of ops by what bounds them. All of these are None where they
    are known of no op below, and for databases without the efficiency of ops.
    """

    id: list[int]
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
    communication_ns: list[int]
    unknown_ops: list[int]
    unrated_time_ns: list[int]
    gain_ns: list[int | None]
    compute_bound_ns: list[int | None]
    memory_bound_ns: list[int | None]
    caches_bound_ns: list[int | None]
    latency_bound_ns: list[int | None]


class GroupTree(TypedDict):
    """The tree below ``group`` (empty: the whole tree); ``left_out`` of ``total`` nodes did not fit."""

    group: str
    nodes: Nodes
    causes: list[CauseColumns] | None
    """Why eligible ops do not use matrix units well, as further columns of ``nodes``; None if that is unknown."""
    missing: list[Missing]
    """What was not recorded, without which nothing tells what some or all nodes could gain."""
    total: int
    left_out: int


class _Node(msgspec.Struct):
    id: int
    path: str
    """With a slash at its end if the node is a group."""
    op_id: str | None
    direction: str
    stored: tuple[int | None, ...]
    """In the order of ``_STORED``."""
    sums: list[int]
    """In the order of ``_SUMMED``."""
    limited: Limited | None
    parent: int = -1
    children: list[int] = msgspec.field(default_factory=list)
    structure: int = 0

    @property
    def name(self) -> str:
        """The last part of the path; ``/`` for the root."""
        return _without_slash(self.path).rpartition("/")[2] or self.path


def group_tree(connection: sqlite3.Connection, scope: Scope, group: str = "", limit: int = DEFAULT_LIMIT) -> GroupTree:
    """The whole tree, or the subtree of one group.

    Args:
        group: path of a group; empty for the whole tree.
        limit: maximum number of nodes; the deepest levels are left out first.

    Raises:
        NotFound: there is no such group.
    """
    nodes = _read(connection, scope, group)
    if group and not any(node.path == group and node.op_id is None for node in nodes):
        raise NotFound(f"The profile has no group {group[:80]!r}; reload the tree.")
    _link(nodes)
    _add_up(nodes)
    selected = _fitting(nodes, limit)
    rated = not is_of_another_version(connection)
    return GroupTree(
        group=group,
        nodes=_columns(nodes, selected, rated),
        causes=cause_columns([nodes[position].limited for position in selected]) if rated else None,
        missing=missing_of_gains(connection, scope) if rated else [],
        total=len(nodes),
        left_out=len(nodes) - len(selected),
    )


def _read(connection: sqlite3.Connection, scope: Scope, group: str) -> list[_Node]:
    cursor = connection.execute(_NODES, {"aggregation": scope.aggregation, "domain": scope.domain, "group": group})
    count = len(_STORED)
    nodes: list[_Node] = []
    while (some := cursor.fetchmany(10_000)) and len(nodes) < MAX_NODES:
        for number, row_type, path, ident, direction, cause, limited_ns, *numbers in some:
            is_op = row_type == 2
            stored, sums = tuple(map(whole, numbers[:count])), _NOTHING
            if is_op:
                sums = [whole(number) or 0 for number in numbers[count:]]
            limited = limited_op(cause, limited_ns) if is_op and whole(limited_ns) else None
            op_id, towards = str(ident) if is_op else None, direction_in_words(direction or "")
            nodes.append(_Node(number, str(path), op_id, towards, stored, sums, limited))
    # Parents before their children, a group before an op of the same path.
    nodes.sort(key=lambda node: (f"{_without_slash(node.path)}/", node.op_id is not None))
    return nodes


def _without_slash(path: str) -> str:
    return path.removesuffix("/")


def _link(nodes: list[_Node]) -> None:
    """Set each node's parent: the group with the longest path that is a prefix of the node's path. As DLProf counts, an
    op that has a group's path is beside that group."""
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
    for node in reversed(nodes):
        below = sorted({nodes[child].structure for child in node.children})
        shape = (_NUMBER.sub("", node.name), node.op_id is None, node.direction, *below)
        node.structure = known.setdefault(shape, len(known))
        if node.parent >= 0:
            above = nodes[node.parent]
            above.sums = [*map(add, above.sums, node.sums)]
            if node.limited:
                above.limited = added(above.limited, node.limited)


def _fitting(nodes: list[_Node], limit: int) -> list[int]:
    """The indexes of up to ``limit`` nodes, level by level; of a level that does not fit, those with most GPU time."""
    selected: list[int] = []
    level = [position for position, node in enumerate(nodes) if node.parent < 0]
    while level and len(selected) < limit:
        room = limit - len(selected)
        if len(level) > room:
            level = sorted(sorted(level, key=lambda position: -(_gpu_time(nodes[position])))[:room])
        selected.extend(level)
        level = [child for position in level for child in nodes[position].children]
    return selected


def _gpu_time(node: _Node) -> int:
    return node.stored[_GPU_TIME] or 0


def _columns(nodes: list[_Node], selected: Sequence[int], rated: bool) -> Nodes:
    place = {position: number for number, position in enumerate(selected)}
    rows = [nodes[position] for position in selected]
    structures: dict[int, int] = {}
    stored = {name: [row.stored[number] for row in rows] for number, name in enumerate(_STORED)}
    sums = {name: [row.sums[number] for row in rows] for number, name in enumerate(_SUMMED)}
    # Ops that use Tensor Cores count as eligible, even work that no op is known to have launched.
    eligible = [
        count if count is None or using is None else max(count, using)
        for count, using in zip(stored["eligible_ops"], stored["using_ops"], strict=True)
    ]
    launched = list(map(has_host_time, stored["cpu_time_ns"], stored["gpu_time_ns"]))

    def on_host(name: str) -> list[int | None]:
        return [time if known else None for time, known in zip(stored[name], launched, strict=True)]

    def rates(name: str, known: str) -> list[int | None]:
        return [number if rated and ops else None for number, ops in zip(sums[name], sums[known], strict=True)]

    return Nodes(
        id=[row.id for row in rows],
        parent=[place.get(row.parent, -1) for row in rows],
        name=[row.name for row in rows],
        op_id=[row.op_id for row in rows],
        direction=[row.direction for row in rows],
        level=stored["level"],
        children=[len(row.children) for row in rows],
        structure=[structures.setdefault(row.structure, len(structures)) for row in rows],
        ops=sums["ops"],
        calls=stored["calls"],
        eligible_ops=list(map(at_least, eligible, sums["unknown_eligibility"])),
        using_ops=list(map(at_least, stored["using_ops"], sums["unknown_ops"])),
        cpu_time_ns=on_host("cpu_time_ns"),
        gpu_time_ns=stored["gpu_time_ns"],
        cpu_overhead_ns=on_host("cpu_overhead_ns"),
        gpu_idle_ns=stored["gpu_idle_ns"],
        kernel_time_ns=sums["kernel_time_ns"],
        tensor_core_time_ns=list(map(at_least, sums["tensor_core_time_ns"], sums["unknown_ops"])),
        unknown_time_ns=sums["unknown_time_ns"],
        communication_ns=sums["communication_ns"],
        unknown_ops=sums["unknown_ops"],
        unrated_time_ns=sums["unrated_time_ns"],
        gain_ns=rates("gain_ns", "ops_of_known_gain"),
        compute_bound_ns=rates("compute_bound_ns", "ops_of_known_bound"),
        memory_bound_ns=rates("memory_bound_ns", "ops_of_known_bound"),
        caches_bound_ns=rates("caches_bound_ns", "ops_of_known_bound"),
        latency_bound_ns=rates("latency_bound_ns", "ops_of_known_bound"),
    )
