"""Computes the tree of groups, which are the common prefixes of the ops' paths (DLProf database reference, section
7.2)."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups, by_op, codes, sort_bytes
from tensorboard_plugin_dlprof.aggregation.instance_times import InstanceTimes
from tensorboard_plugin_dlprof.aggregation.metrics import (
    added_times,
    appended_times,
    no_time_metrics,
    select_times,
    time_metrics,
)
from tensorboard_plugin_dlprof.aggregation.tables import Bools, GroupOps, OpNodes, TimeMetrics
from tensorboard_plugin_dlprof.columns.group import rows_by_value
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile

_INSTANCES = 1 << 18
"""Instances that are handled at once, so that intermediate arrays fit into the processor's cache."""


def group_ops(
    profile: Profile, nodes: OpNodes, times: InstanceTimes, iteration: Int64s, aggregated: Bools, iterations: int
) -> GroupOps:
    """The groups that the paths form, and the ops below them.

    Args:
        iteration: row of the iteration of each instance.
        aggregated: which instances count.
    """
    names = [profile.ops[op].name for op in nodes.op.tolist()]
    tree = _Tree(names)
    of_groups, of_ops = _times(tree, profile, nodes, times, iteration, aggregated, iterations)
    in_order = np.array(sorted(range(len(tree.paths)), key=lambda row: sort_bytes(tree.paths[row])), np.int64)
    paths = [tree.paths[row] for row in in_order.tolist()]

    def counted(of_op: Int64s) -> Int64s:
        return np.concatenate([tree.total(of_op)[in_order], of_op])

    return GroupOps(
        is_group=np.concatenate([np.ones(len(paths), np.bool_), np.zeros(len(names), np.bool_)]),
        full_id=paths + [profile.ops[op].op_id for op in nodes.op.tolist()],
        full_name=paths + names,
        level=np.array([path.count("/") for path in paths] + [name.count("/") + 1 for name in names], np.int64),
        num_op_instances=counted(nodes.num_calls),
        num_supported_leaf_ops=counted(nodes.eligible.astype(np.int64)),
        num_tc_leaf_ops=counted(nodes.using_tensor_cores.astype(np.int64)),
        times=appended_times(select_times(of_groups, in_order), of_ops),
    )


def _times(
    tree: _Tree,
    profile: Profile,
    nodes: OpNodes,
    times: InstanceTimes,
    iteration: Int64s,
    aggregated: Bools,
    iterations: int,
) -> tuple[TimeMetrics, TimeMetrics]:
    """The time metrics of all groups, and of all ops. A sample is the time of one of them in one iteration."""
    position = np.zeros(len(profile.ops), np.int64)
    position[nodes.op] = np.arange(len(nodes.op))

    def of_instances(begin: int, end: int) -> _Samples:
        instance = np.flatnonzero(aggregated[begin:end]) + begin
        op = position[profile.instances.op[instance]]
        return _samples(op, iteration[instance], times.columns(instance), iterations)

    of_ops, below = no_time_metrics(len(nodes.op)), list[_Samples]()
    for (some,) in by_op(len(profile.ops), profile.instances.op):
        # In blocks, because an op may have millions of instances, but few samples.
        begins = range(some.start, some.stop, _INSTANCES)
        of_op = _added_up([of_instances(each, min(each + _INSTANCES, some.stop)) for each in begins], iterations)
        # Each op is in a single portion; the metrics of all other portions are 0 for it.
        of_ops = added_times(of_ops, _metrics_of(of_op, len(nodes.op)))
        # Kept as samples of groups, of which there are far fewer than of ops.
        below.append(_of_innermost(tree, of_op, iterations))
        del of_op
        release_freed()
    return _of_groups(tree, below, iterations), of_ops


class _Tree:
    """The groups: every proper prefix of a path that begins and ends with a slash."""

    def __init__(self, names: list[str]) -> None:
        self.paths: list[str] = []
        self.parent: list[int] = []
        """Row of the enclosing group; -1 for the root."""
        self.depth: list[int] = []
        self._rows: dict[str, int] = {}
        self.group_of_op = np.array([self._row(enclosing(name)) for name in names], np.int64)
        """Row of the innermost group of each op; -1 if its name is not a path."""

    def _row(self, path: str) -> int:
        if not path:
            return -1
        new: list[str] = []
        while path and path not in self._rows:
            new.append(path)
            path = enclosing(path)
        row = self._rows[path] if path else -1
        for missing in reversed(new):
            self.paths.append(missing)
            self.parent.append(row)
            self.depth.append(self.depth[row] + 1 if row >= 0 else 0)
            row = self._rows[missing] = len(self.paths) - 1
        return row

    def total(self, of_op: Int64s) -> Int64s:
        """Sum over the ops below each group. A parent always has a smaller row than its children."""
        totals = np.zeros(len(self.paths), np.int64)
        in_group = self.group_of_op >= 0
        np.add.at(totals, self.group_of_op[in_group], of_op[in_group])
        parent, depth = np.array(self.parent, np.int64), np.array(self.depth, np.int64)
        for _, rows in reversed(rows_by_value(depth)):
            inner = rows[parent[rows] >= 0]
            np.add.at(totals, parent[inner], totals[inner])
        return totals


def enclosing(path: str) -> str:
    """The enclosing group of a path: ``/a/`` for ``/a/b`` and ``/a/b/``; empty for ``/`` and for other texts."""
    return path[: path.rfind("/", 0, len(path) - 1) + 1] if path.startswith("/") else ""


_Samples = tuple[Int64s, Int64s, list[Int64s]]
"""Row of an op or group, row of the iteration, and the five sums: each pair of rows once."""


def _samples(owner: Int64s, iteration: Int64s, columns: list[Int64s], iterations: int) -> _Samples:
    number, first = codes(owner * iterations + iteration)
    groups = Groups.of(number, len(first))
    return owner[first], iteration[first], [groups.sum(column) for column in columns]


def _no_samples() -> _Samples:
    none = np.zeros(0, np.int64)
    return none, none, [none] * 5


def _added_up(blocks: list[_Samples], iterations: int) -> _Samples:
    """The samples of all blocks, added where they are of the same op and iteration. The list is emptied."""
    if len(blocks) < 2:
        return blocks.pop() if blocks else _no_samples()
    owner, iteration = (np.concatenate([some[number] for some in blocks]) for number in (0, 1))
    number, first = codes(owner * iterations + iteration)
    groups = Groups.of(number, len(first))
    owner, iteration = owner[first], iteration[first]
    del number, first
    # One column of all blocks after the other, which are removed, so that they are not in memory twice.
    columns = list(zip(*(some[2] for some in blocks), strict=True))[::-1]
    blocks.clear()
    return owner, iteration, [groups.sum(np.concatenate(columns.pop())) for _ in range(len(columns))]


def _of_innermost(tree: _Tree, of_op: _Samples, iterations: int) -> _Samples:
    """The samples of ops, summed as samples of their innermost groups."""
    op, iteration, sums = of_op
    group = tree.group_of_op[op]
    inside = np.flatnonzero(group >= 0)
    return _samples(group[inside], iteration[inside], [column[inside] for column in sums], iterations)


def _of_groups(tree: _Tree, innermost: list[_Samples], iterations: int) -> TimeMetrics:
    """The metrics of all groups, from the samples of innermost ones. From the deepest level to the root, each group
    adds its samples to its parent's."""
    depth, parent = np.array(tree.depth, np.int64), np.array(tree.parent, np.int64)
    metrics, below = no_time_metrics(len(tree.paths)), _no_samples()
    group, iteration, sums = _added_up(innermost, iterations)
    for level in range(int(depth.max(initial=-1)), -1, -1):
        here = np.flatnonzero(depth[group] == level)
        both = [(group[here], iteration[here], [column[here] for column in sums]), (parent[below[0]], *below[1:])]
        del below, here
        below = _added_up(both, iterations)
        metrics = added_times(metrics, _metrics_of(below, len(tree.paths)))
    return metrics


def _metrics_of(samples: _Samples, size: int) -> TimeMetrics:
    return time_metrics(Groups.of(samples[0], size), samples[2])
