"""Ops, op types and the tree of groups (DLProf database reference, section 7.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups, codes, sort_bytes
from tensorboard_plugin_dlprof.aggregation.instance_times import InstanceTimes
from tensorboard_plugin_dlprof.aggregation.portions import by_op
from tensorboard_plugin_dlprof.aggregation.tables import (
    Bools,
    GroupOps,
    Metrics,
    OpNodes,
    OpTypes,
    TimeMetrics,
)
from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Op, Profile

TENSOR_CORE_TYPES = frozenset(
    {"float16", "bfloat16", "int8", "uint8", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
     "float8_e5m2fnuz", "float8", "float4", "float4_e2m1fn_x2"}
)  # fmt: skip
"""Types that Tensor Cores multiply as they are. ``float32`` is cut to TF32 only where the user allows it, and the
FP64 units of A100 and later are no reason to compute in ``float64``: in both cases the advice is another type."""


def op_nodes(profile: Profile, times: InstanceTimes, aggregated: Bools, kernel_aggregated: Bools) -> OpNodes:
    """One row per op that has an instance among the aggregated ones.

    Args:
        profile: the raw tables.
        times: of all instances.
        aggregated: which instances count.
        kernel_aggregated: which kernels count.
    """
    of_op = _times_of_ops(profile, times, aggregated)
    calls = of_op.cpu.count
    api, gpu, using = _kernels_of_ops(profile, kernel_aggregated)
    eligible = np.array([op.eligibility == Eligibility.ELIGIBLE for op in profile.ops], np.bool_)
    bad = eligible & ~using & np.array([_is_bad_type(op) for op in profile.ops], np.bool_)
    op = np.array(sorted(np.flatnonzero(calls).tolist(), key=lambda row: sort_bytes(profile.ops[row].op_id)), np.int64)
    return OpNodes(
        op=op,
        times=take(of_op, op),
        kernel_api=_take(api, op),
        kernel_gpu=_take(gpu, op),
        num_calls=calls[op],
        kernel_calls=gpu.count[op],
        eligible=eligible[op],
        using_tensor_cores=using[op],
        bad_data_type=bad[op],
    )


def _times_of_ops(profile: Profile, times: InstanceTimes, aggregated: Bools) -> TimeMetrics:
    """Of all ops of the profile, also of those without an aggregated instance."""
    found = _nothing(len(profile.ops))
    for (some,) in by_op(len(profile.ops), profile.instances.op):
        instance = np.flatnonzero(aggregated[some]) + some.start
        of_op = Groups.of(profile.instances.op[instance], len(profile.ops))
        # An op is in one portion alone, of which the others' metrics are 0.
        found = _both(found, time_metrics(of_op, times.columns(instance)))
    return found


def _kernels_of_ops(profile: Profile, kernel_aggregated: Bools) -> tuple[Metrics, Metrics, Bools]:
    """Of all ops of the profile: the API time and the GPU time of the kernels; whether one uses Tensor Cores."""
    count, kernels = len(profile.ops), profile.kernels
    api, gpu = _no_metrics(count), _no_metrics(count)
    using = np.zeros(count, np.bool_)
    for (some,) in by_op(count, kernels.op):
        kernel = np.flatnonzero(kernel_aggregated[some]) + some.start
        of_op = Groups.of(kernels.op[kernel], count)
        api = _added(api, of_op.metrics(kernels.api_stop[kernel] - kernels.api_start[kernel]))
        gpu = _added(gpu, of_op.metrics(kernels.gpu_stop[kernel] - kernels.gpu_start[kernel]))
        using[kernels.op[kernel[kernels.matrix_unit[kernel] == MatrixUnit.YES]]] = True
    return api, gpu, using


def op_types(profile: Profile, nodes: OpNodes) -> OpTypes:
    """One row per type of the aggregated ops; the samples are their instances."""
    types = [profile.ops[op].op_type for op in nodes.op.tolist()]
    names = sorted(set(types), key=sort_bytes)
    number = {name: row for row, name in enumerate(names)}
    of_type = Groups.of(np.array([number[name] for name in types], np.int64), len(names))

    def together(metrics: Metrics) -> Metrics:
        return Metrics(
            of_type.sum(metrics.count), of_type.max(metrics.max), of_type.min(metrics.min), of_type.sum(metrics.sum)
        )

    times = nodes.times
    return OpTypes(
        op_type=names,
        times=TimeMetrics(*map(together, (times.cpu, times.gpu, times.api, times.cpu_overhead, times.gpu_idle))),
        num_nodes=of_type.count(),
        num_calls=of_type.sum(nodes.num_calls),
    )


def group_ops(
    profile: Profile, nodes: OpNodes, times: InstanceTimes, iteration: Int64s, aggregated: Bools, iterations: int
) -> GroupOps:
    """The groups of the paths, and the ops below them.

    Args:
        profile: the raw tables.
        nodes: the aggregated ops.
        times: of all instances.
        iteration: row of the iteration of each instance.
        aggregated: which instances count.
        iterations: how many rows of iterations there are.
    """
    tree = _Tree([profile.ops[op].name for op in nodes.op.tolist()])
    position = np.zeros(len(profile.ops), np.int64)
    position[nodes.op] = np.arange(len(nodes.op))
    of_ops, below = _nothing(len(nodes.op)), [_no_samples()]
    for (some,) in by_op(len(profile.ops), profile.instances.op):
        instance = np.flatnonzero(aggregated[some]) + some.start
        of_op = _samples(
            position[profile.instances.op[instance]],
            iteration[instance],
            times.columns(instance),
            iterations,
        )
        # An op is in one portion alone, of which the others' metrics are 0.
        of_ops = _both(of_ops, _metrics_of(of_op, len(nodes.op)))
        # There are many times fewer groups than ops.
        below.append(_of_innermost(tree, of_op, iterations))
    of_group = _add_up(tree, _joined(below), iterations)
    in_order = np.array(sorted(range(len(tree.paths)), key=lambda row: sort_bytes(tree.paths[row])), np.int64)
    groups = take(_metrics_of(of_group, len(tree.paths)), in_order)
    names = [profile.ops[op].name for op in nodes.op.tolist()]
    paths = [tree.paths[row] for row in in_order.tolist()]
    return GroupOps(
        is_group=np.concatenate([np.ones(len(paths), np.bool_), np.zeros(len(names), np.bool_)]),
        full_id=paths + [profile.ops[op].op_id for op in nodes.op.tolist()],
        full_name=paths + names,
        level=np.array([path.count("/") for path in paths] + [name.count("/") + 1 for name in names], np.int64),
        num_op_instances=np.concatenate([tree.total(nodes.num_calls)[in_order], nodes.num_calls]),
        num_supported_leaf_ops=np.concatenate(
            [tree.total(nodes.eligible.astype(np.int64))[in_order], nodes.eligible.astype(np.int64)]
        ),
        num_tc_leaf_ops=np.concatenate(
            [
                tree.total(nodes.using_tensor_cores.astype(np.int64))[in_order],
                nodes.using_tensor_cores.astype(np.int64),
            ]
        ),
        times=_append(groups, of_ops),
    )


def time_metrics(groups: Groups, columns: list[Int64s]) -> TimeMetrics:
    """The five metrics of each group of rows."""
    cpu, gpu, api, overhead, idle = (groups.metrics(column) for column in columns)
    return TimeMetrics(cpu, gpu, api, overhead, idle)


def take(times: TimeMetrics, rows: Int64s) -> TimeMetrics:
    """Some rows, in the order asked for."""
    return TimeMetrics(
        _take(times.cpu, rows),
        _take(times.gpu, rows),
        _take(times.api, rows),
        _take(times.cpu_overhead, rows),
        _take(times.gpu_idle, rows),
    )


class _Tree:
    """The groups: every proper prefix of a path that begins and ends with a slash."""

    def __init__(self, names: list[str]) -> None:
        self.paths: list[str] = []
        self.parent: list[int] = []
        """Row of the enclosing group; -1 for the root."""
        self.depth: list[int] = []
        self._rows: dict[str, int] = {}
        self.group_of_op = np.array([self._row(_enclosing(name)) for name in names], np.int64)
        """Row of the innermost group of each op, -1 where its name is no path."""

    def _row(self, path: str) -> int:
        if not path:
            return -1
        new: list[str] = []
        while path and path not in self._rows:
            new.append(path)
            path = _enclosing(path)
        row = self._rows[path] if path else -1
        for missing in reversed(new):
            self.paths.append(missing)
            self.parent.append(row)
            self.depth.append(self.depth[row] + 1 if row >= 0 else 0)
            row = self._rows[missing] = len(self.paths) - 1
        return row

    def total(self, of_op: Int64s) -> Int64s:
        """Sum over the ops below each group. A parent always has a smaller row than its children."""
        totals = [0] * len(self.paths)
        for group, value in zip(self.group_of_op.tolist(), of_op.tolist(), strict=True):
            if group >= 0:
                totals[group] += value
        for row in range(len(totals) - 1, 0, -1):
            if self.parent[row] >= 0:
                totals[self.parent[row]] += totals[row]
        return np.array(totals, np.int64)


def _enclosing(path: str) -> str:
    """``/a/b`` and ``/a/b/`` lie in ``/a/``; ``/`` and what is no path in nothing."""
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


def _joined(samples: list[_Samples]) -> _Samples:
    return (
        np.concatenate([some[0] for some in samples]),
        np.concatenate([some[1] for some in samples]),
        [np.concatenate(columns) for columns in zip(*(some[2] for some in samples), strict=True)],
    )


def _of_innermost(tree: _Tree, of_op: _Samples, iterations: int) -> _Samples:
    """Samples of ops as those of the groups that they lie in."""
    op, iteration, sums = of_op
    group = tree.group_of_op[op]
    inside = np.flatnonzero(group >= 0)
    return _samples(group[inside], iteration[inside], [column[inside] for column in sums], iterations)


def _add_up(tree: _Tree, innermost: _Samples, iterations: int) -> _Samples:
    """Samples of all groups, from the deepest level to the root: each passes its sums on to its parent."""
    depth, parent = np.array(tree.depth, np.int64), np.array(tree.parent, np.int64)
    finished, below = [_no_samples()], _no_samples()
    group, iteration, sums = innermost
    for level in range(int(depth.max(initial=-1)), -1, -1):
        here = np.flatnonzero(depth[group] == level)
        passed = (parent[below[0]], below[1], below[2])
        owner, of, columns = _joined([(group[here], iteration[here], [column[here] for column in sums]), passed])
        below = _samples(owner, of, columns, iterations)
        finished.append(below)
    return _joined(finished)


def _metrics_of(samples: _Samples, size: int) -> TimeMetrics:
    return time_metrics(Groups.of(samples[0], size), samples[2])


def _is_bad_type(op: Op) -> bool:
    return op.data_type != "" and op.data_type not in TENSOR_CORE_TYPES


def _take(metrics: Metrics, rows: Int64s) -> Metrics:
    return Metrics(metrics.count[rows], metrics.max[rows], metrics.min[rows], metrics.sum[rows])


def _nothing(size: int) -> TimeMetrics:
    """The metrics of rows without samples."""
    return TimeMetrics(*(_no_metrics(size) for _ in range(5)))


def _no_metrics(size: int) -> Metrics:
    return Metrics(*(np.zeros(size, np.int64) for _ in range(4)))


def _append(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """The rows of both."""
    return _by_column(one, other, lambda first, second: np.concatenate([first, second]))


def _both(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """Metrics of the same rows, each of which has samples in one of them alone."""
    return _by_column(one, other, np.add)


def _by_column(one: TimeMetrics, other: TimeMetrics, made: Callable[[Int64s, Int64s], Int64s]) -> TimeMetrics:
    return TimeMetrics(
        _made(one.cpu, other.cpu, made),
        _made(one.gpu, other.gpu, made),
        _made(one.api, other.api, made),
        _made(one.cpu_overhead, other.cpu_overhead, made),
        _made(one.gpu_idle, other.gpu_idle, made),
    )


def _added(one: Metrics, other: Metrics) -> Metrics:
    """As ``_both``, of one metric."""
    return _made(one, other, np.add)


def _made(one: Metrics, other: Metrics, made: Callable[[Int64s, Int64s], Int64s]) -> Metrics:
    return Metrics(
        made(one.count, other.count), made(one.max, other.max), made(one.min, other.min), made(one.sum, other.sum)
    )
