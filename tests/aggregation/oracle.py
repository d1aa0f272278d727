"""The slow, obvious way to every aggregated number: plain Python over rows, no NumPy, nothing shared with the package.

``expected`` computes from a profile, ``found`` lays out what ``aggregate`` returned in the same shape; both are
plain dictionaries, so a test compares them with ``==``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from tensorboard_plugin_dlprof.aggregation.tables import Aggregation, Metrics, TimeMetrics
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile

YES, UNKNOWN = 1, 2
ELIGIBLE, UNASSOCIATED = 0, 2
GOOD_TYPES = {"float16", "bfloat16", "int8", "uint8", "int4", "uint4"}
TENSOR_CORE, OTHER_KERNEL, MEMORY, LOADER, IO, CPU, OTHER = range(7)

Rows = list[dict[str, Any]]


def expected(profile: Profile, candidate: IterationCandidate, first: int, last: int) -> dict[str, Any]:
    """Every number of the aggregation of the iterations numbered ``first`` to ``last``."""
    raw = _Raw(profile)
    iterations = [
        (value, start, stop)
        for value, start, stop in zip(
            candidate.values.tolist(), candidate.start_ns.tolist(), candidate.stop_ns.tolist(), strict=True
        )
    ]
    for instance in raw.instances:
        instance["iteration"] = _iteration(instance["cpu_start"], iterations)
        instance.update(_times(instance, profile.dlprof_markers))
    chosen = [i for i in raw.instances if i["iteration"] is not None and first <= i["iteration"] <= last]
    windows = [row for row in iterations if first <= row[0] <= last]
    parts = _parts(raw, profile, windows)
    kernels = [kernel for instance in chosen for kernel in instance["kernels"]]
    return {
        "op_nodes": {op["op_id"]: _op_node(op, mine) for op, mine in _by_op(chosen)},
        "groups": _groups(chosen),
        "op_types": _op_types(chosen),
        "kernel_summaries": _kernel_summaries(chosen),
        "iteration_ops": _iteration_ops(chosen),
        "iteration_kernels": {
            kernel["row"]: (instance["iteration"], instance["op"]["op_id"])
            for instance in chosen
            for kernel in instance["kernels"]
        },
        "parts": parts["mean"],
        "device_parts": parts["devices"],
        "iteration_kernel_sums": {
            value: _kernel_sums([k for i in chosen if i["iteration"] == value for k in i["kernels"]])
            for value, _, _ in windows
        },
        "categories": _categories(chosen),
        "efficiency": _efficiency(chosen),
        "unknown": (
            sum(k["unit"] == UNKNOWN for k in kernels),
            len({k["name"] for k in kernels if k["unit"] == UNKNOWN}),
            sum(_length(k["gpu"]) for k in kernels if k["unit"] == UNKNOWN),
        ),
        "outside": (
            len(raw.instances) - len(chosen),
            len(raw.kernels) - len(kernels),
            sum(_length(k["gpu"]) for k in raw.kernels) - sum(_length(k["gpu"]) for k in kernels),
        ),
    }


def found(profile: Profile, aggregation: Aggregation) -> dict[str, Any]:
    """The same numbers as ``aggregate`` computed them."""
    ids = [op.op_id for op in profile.ops]
    nodes, groups, types = aggregation.op_nodes, aggregation.group_ops, aggregation.op_types
    kernels, ops, its = aggregation.kernel_summaries, aggregation.iteration_ops, aggregation.iterations
    names = [profile.strings[name] for name in kernels.name.tolist()]
    launches, efficiency, outside = aggregation.launches, aggregation.efficiency, aggregation.outside
    node_times, group_times, type_times = _five(nodes.times), _five(groups.times), _five(types.times)
    node_api, node_gpu = _metric_rows(nodes.kernel_api), _metric_rows(nodes.kernel_gpu)
    summary_api, summary_gpu = _metric_rows(kernels.api), _metric_rows(kernels.gpu)
    return {
        "op_nodes": {
            ids[op]: (
                node_times[row],
                node_api[row],
                node_gpu[row],
                int(nodes.num_calls[row]),
                int(nodes.kernel_calls[row]),
                bool(nodes.eligible[row]),
                bool(nodes.using_tensor_cores[row]),
                bool(nodes.bad_data_type[row]),
            )
            for row, op in enumerate(nodes.op.tolist())
        },
        "groups": {
            (full_id, groups.full_name[row]): (
                bool(groups.is_group[row]),
                int(groups.level[row]),
                int(groups.num_op_instances[row]),
                int(groups.num_supported_leaf_ops[row]),
                int(groups.num_tc_leaf_ops[row]),
                group_times[row],
            )
            for row, full_id in enumerate(groups.full_id)
        },
        "op_types": {
            name: (type_times[row], int(types.num_nodes[row]), int(types.num_calls[row]))
            for row, name in enumerate(types.op_type)
        },
        "kernel_summaries": {
            (ids[op], names[row]): (summary_api[row], summary_gpu[row], bool(kernels.uses_tensor_cores[row]))
            for row, op in enumerate(kernels.op.tolist())
        },
        "iteration_ops": {
            (value, ids[op]): tuple(rest)
            for value, op, *rest in zip(
                *(
                    column.tolist()
                    for column in (
                        ops.iter_value,
                        ops.op,
                        ops.instances,
                        ops.cpu_time_ns,
                        ops.gpu_time_ns,
                        ops.kernels,
                        ops.tc_kernels,
                        ops.kernel_ns,
                        ops.tc_kernel_ns,
                    )
                ),
                strict=True,
            )
        },
        "iteration_kernels": {
            kernel: (int(ops.iter_value[row]), ids[int(ops.op[row])])
            for kernel, row in zip(
                aggregation.iteration_kernels.kernel.tolist(),
                aggregation.iteration_kernels.iteration_op.tolist(),
                strict=True,
            )
        },
        "parts": its.parts_ns.tolist(),
        "device_parts": aggregation.devices.parts_ns.tolist(),
        "iteration_kernel_sums": {
            value: tuple(rest)
            for value, *rest in zip(
                its.iter_value.tolist(),
                its.kernels.tolist(),
                its.tc_kernels.tolist(),
                its.kernel_ns.tolist(),
                its.tc_kernel_ns.tolist(),
                strict=True,
            )
        },
        "categories": [
            (row.cpu_time_ns, row.gpu_time_ns, row.cpu_overhead_ns, row.gpu_idle_ns, row.count)
            for row in (
                getattr(aggregation.categories, name)
                for name in (
                    "every_op",
                    "eligible_ops",
                    "using_ops",
                    "other_ops",
                    "every_kernel",
                    "using_kernels",
                    "other_kernels",
                    "memory",
                )
            )
        ],
        "efficiency": (
            efficiency.eligible_ops,
            efficiency.eligible_ops_using,
            efficiency.eligible_op_ns,
            efficiency.kernel_ns,
            efficiency.tensor_core_ns,
            efficiency.unknown_ns,
        ),
        "unknown": (launches.unknown, launches.unknown_names, launches.unknown_ns),
        "outside": (outside.instances, outside.kernels, outside.kernel_ns),
    }


def union_length(spans: Iterable[tuple[int, int]]) -> int:
    """Time covered by at least one span."""
    total, reached = 0, None
    for start, stop in sorted(spans):
        if stop <= start:
            continue
        if reached is None or start > reached:
            total += stop - start
            reached = stop
        elif stop > reached:
            total += stop - reached
            reached = stop
    return total


class _Raw:
    """The rows as nested dictionaries: instances with their work."""

    def __init__(self, profile: Profile) -> None:
        ops = [
            {
                "op_id": op.op_id,
                "name": op.name,
                "type": op.op_type,
                "data_type": op.data_type,
                "eligible": int(op.eligibility) == ELIGIBLE,
                "unassociated": int(op.eligibility) == UNASSOCIATED,
            }
            for op in profile.ops
        ]
        self.instances: Rows = []
        numbered: dict[tuple[int, int], dict[str, Any]] = {}
        count: dict[int, int] = defaultdict(int)
        table = profile.instances
        for op, start, stop in zip(table.op.tolist(), table.cpu_start.tolist(), table.cpu_stop.tolist(), strict=True):
            instance: dict[str, Any] = {"op": ops[op], "cpu_start": start, "cpu_stop": stop}
            instance.update(kernels=[], memory=[], graphs=[], calls=[])
            numbered[op, count[op]] = instance
            count[op] += 1
            self.instances.append(instance)
        self.kernels: Rows = []
        self.memory: Rows = []
        self.graphs: Rows = []
        self.calls: list[tuple[int, int]] = []
        for row in range(len(profile.kernels.op)):
            kernel = _work(profile, profile.kernels, row)
            kernel["unit"] = int(profile.kernels.matrix_unit[row])
            kernel["row"] = row
            self.kernels.append(kernel)
            instance = numbered[int(profile.kernels.op[row]), int(profile.kernels.instance[row])]
            instance["kernels"].append(kernel)
            instance["calls"].append(kernel["api"])
            if profile.kernels.launched[row]:
                self.calls.append(kernel["api"])
        for copies in (profile.memcpys, profile.memsets):
            for row in range(len(copies.op)):
                work = _work(profile, copies, row)
                self.memory.append(work)
                instance = numbered[int(copies.op[row]), int(copies.instance[row])]
                instance["memory"].append(work)
                instance["calls"].append(work["api"])
                if copies.launched[row]:
                    self.calls.append(work["api"])
        graphs = profile.graphs
        for row in range(len(graphs.op)):
            work = {
                "gpu": (int(graphs.gpu_start[row]), int(graphs.gpu_stop[row])),
                "device": int(graphs.device[row]),
            }
            self.graphs.append(work)
            numbered[int(graphs.op[row]), int(graphs.instance[row])]["graphs"].append(work)
        for calls in (profile.syncs, profile.calls):
            for row in range(len(calls.op)):
                span = (int(calls.api_start[row]), int(calls.api_stop[row]))
                numbered[int(calls.op[row]), int(calls.instance[row])]["calls"].append(span)
                self.calls.append(span)


def _work(profile: Profile, table: Any, row: int) -> dict[str, Any]:
    return {
        "name": profile.strings[int(table.name[row])],
        "api": (int(table.api_start[row]), int(table.api_stop[row])),
        "gpu": (int(table.gpu_start[row]), int(table.gpu_stop[row])),
        "device": int(table.device[row]),
    }


def _iteration(time: int, iterations: list[tuple[int, int, int]]) -> int | None:
    for number, (value, start, stop) in enumerate(iterations):
        if start <= time < stop or (number == len(iterations) - 1 and time == stop):
            return value
    return None


def _times(instance: dict[str, Any], dlprof_markers: bool) -> dict[str, int]:
    cpu = instance["cpu_stop"] - instance["cpu_start"]
    work = [work["gpu"] for work in instance["kernels"] + instance["memory"] + instance["graphs"]]
    gpu = union_length(work)
    api = union_length(instance["calls"])
    idle = max(stop for _, stop in work) - min(start for start, _ in work) - gpu if work else 0
    overhead = cpu - api if dlprof_markers else max(cpu - api, 0)
    return {"times": (cpu, gpu, api, overhead, idle)}


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _metric(samples: list[int]) -> tuple[int, int, int, int]:
    return (len(samples), max(samples), min(samples), sum(samples)) if samples else (0, 0, 0, 0)


def _five_of(samples: list[tuple[int, ...]]) -> tuple[tuple[int, int, int, int], ...]:
    return tuple(_metric([sample[column] for sample in samples]) for column in range(5))


def _by_op(instances: Rows) -> Iterable[tuple[dict[str, Any], Rows]]:
    of_op: dict[str, Rows] = defaultdict(list)
    for instance in instances:
        of_op[instance["op"]["op_id"]].append(instance)
    return [(mine[0]["op"], mine) for mine in of_op.values()]


def _op_node(op: dict[str, Any], instances: Rows) -> tuple[Any, ...]:
    kernels = [kernel for instance in instances for kernel in instance["kernels"]]
    using = any(kernel["unit"] == YES for kernel in kernels)
    good = op["data_type"] in GOOD_TYPES or op["data_type"].startswith(("float8", "float4")) or not op["data_type"]
    return (
        _five_of([instance["times"] for instance in instances]),
        _metric([_length(kernel["api"]) for kernel in kernels]),
        _metric([_length(kernel["gpu"]) for kernel in kernels]),
        len(instances),
        len(kernels),
        op["eligible"],
        using,
        op["eligible"] and not using and not good,
    )


def _groups(instances: Rows) -> dict[tuple[str, str], Any]:
    members: dict[tuple[bool, str, str], Rows] = defaultdict(list)
    for instance in instances:
        name = instance["op"]["name"]
        members[False, instance["op"]["op_id"], name].append(instance)
        if name.startswith("/"):
            for end in range(1, len(name)):
                if name[end - 1] == "/":
                    members[True, name[:end], name[:end]].append(instance)
    result = {}
    for (is_group, full_id, name), mine in members.items():
        by_iteration: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for instance in mine:
            by_iteration[instance["iteration"]].append(instance["times"])
        sums = [tuple(sum(column) for column in zip(*rows, strict=True)) for rows in by_iteration.values()]
        nodes = [_op_node(op, rows) for op, rows in _by_op(mine)]
        result[full_id, name] = (
            is_group,
            name.count("/") + (0 if is_group else 1),
            len(mine),
            sum(node[5] for node in nodes),
            sum(node[6] for node in nodes),
            _five_of(sums),
        )
    return result


def _op_types(instances: Rows) -> dict[str, Any]:
    of_type: dict[str, Rows] = defaultdict(list)
    for instance in instances:
        of_type[instance["op"]["type"]].append(instance)
    return {
        name: (_five_of([i["times"] for i in mine]), len({i["op"]["op_id"] for i in mine}), len(mine))
        for name, mine in of_type.items()
    }


def _kernel_summaries(instances: Rows) -> dict[tuple[str, str], Any]:
    launches: dict[tuple[str, str], Rows] = defaultdict(list)
    for instance in instances:
        for kernel in instance["kernels"]:
            launches[instance["op"]["op_id"], kernel["name"]].append(kernel)
    return {
        key: (
            _metric([_length(kernel["api"]) for kernel in mine]),
            _metric([_length(kernel["gpu"]) for kernel in mine]),
            any(kernel["unit"] == YES for kernel in mine),
        )
        for key, mine in launches.items()
    }


def _kernel_sums(kernels: Rows) -> tuple[int, int, int, int]:
    using = [kernel for kernel in kernels if kernel["unit"] == YES]
    return (
        len(kernels),
        len(using),
        sum(_length(kernel["gpu"]) for kernel in kernels),
        sum(_length(kernel["gpu"]) for kernel in using),
    )


def _iteration_ops(instances: Rows) -> dict[tuple[int, str], Any]:
    calls: dict[tuple[int, str], Rows] = defaultdict(list)
    for instance in instances:
        calls[instance["iteration"], instance["op"]["op_id"]].append(instance)
    return {
        key: (
            len(mine),
            sum(i["times"][0] for i in mine),
            sum(i["times"][1] for i in mine),
            *_kernel_sums([kernel for i in mine for kernel in i["kernels"]]),
        )
        for key, mine in calls.items()
    }


def _categories(instances: Rows) -> list[tuple[int, ...]]:
    nodes = [_op_node(op, mine) for op, mine in _by_op(instances)]
    kernels = [kernel for instance in instances for kernel in instance["kernels"]]
    memory = [work for instance in instances for work in instance["memory"]]

    def ops(chosen: list[Any]) -> tuple[int, ...]:
        sums = [sum(node[0][column][3] for node in chosen) for column in (0, 1, 3, 4)]
        return (*sums, len(chosen))

    def works(chosen: Rows) -> tuple[int, ...]:
        return (
            sum(_length(work["api"]) for work in chosen),
            sum(_length(work["gpu"]) for work in chosen),
            0,
            0,
            len({work["name"] for work in chosen}),
        )

    return [
        ops(nodes),
        ops([node for node in nodes if node[5] and not node[6]]),
        ops([node for node in nodes if node[6]]),
        ops([node for node in nodes if not node[5] and not node[6]]),
        works(kernels),
        works([kernel for kernel in kernels if kernel["unit"] == YES]),
        works([kernel for kernel in kernels if kernel["unit"] != YES]),
        works(memory),
    ]


def _efficiency(instances: Rows) -> tuple[int, ...]:
    nodes = [_op_node(op, mine) for op, mine in _by_op(instances)]
    kernels = [kernel for instance in instances if instance["op"]["eligible"] for kernel in instance["kernels"]]
    return (
        sum(node[5] for node in nodes),
        sum(node[5] and node[6] for node in nodes),
        sum(node[0][1][3] for node in nodes if node[5]),
        sum(_length(kernel["gpu"]) for kernel in kernels),
        sum(_length(kernel["gpu"]) for kernel in kernels if kernel["unit"] == YES),
        sum(_length(kernel["gpu"]) for kernel in kernels if kernel["unit"] == UNKNOWN),
    )


def _parts(raw: _Raw, profile: Profile, windows: list[tuple[int, int, int]]) -> dict[str, Any]:
    """By walking through time: between two neighbouring boundaries the first active kind has it all."""
    if profile.dlprof_markers:
        cpu = [(instance["cpu_start"], instance["cpu_stop"]) for instance in raw.instances]
    else:
        cpu = [
            (instance["cpu_start"], instance["cpu_stop"])
            for instance in raw.instances
            if not instance["op"]["unassociated"]
        ]
        cpu += raw.calls
    loader = list(zip(profile.data_loader.start_ns.tolist(), profile.data_loader.stop_ns.tolist(), strict=True))
    io = list(zip(profile.io.start_ns.tolist(), profile.io.stop_ns.tolist(), strict=True))
    devices = [device.device_id for device in profile.devices]
    used = {work["device"] for work in raw.kernels + raw.memory + raw.graphs}
    by_device = {}
    for device in devices or [None]:
        spans = {
            TENSOR_CORE: [k["gpu"] for k in raw.kernels if k["device"] == device and k["unit"] == YES],
            OTHER_KERNEL: [k["gpu"] for k in raw.kernels if k["device"] == device and k["unit"] != YES]
            + [graph["gpu"] for graph in raw.graphs if graph["device"] == device],
            MEMORY: [work["gpu"] for work in raw.memory if work["device"] == device],
            LOADER: loader,
            IO: io,
            CPU: cpu,
        }
        by_device[device] = [walk(spans, start, stop) for _, start, stop in windows]
    in_use = [device for device in devices if device in used] or list(by_device)[:1]
    mean = []
    for window, (_, start, stop) in enumerate(windows):
        parts = [sum(by_device[device][window][part] for device in in_use) // len(in_use) for part in range(6)]
        mean.append([*parts, stop - start - sum(parts)])
    totals = [[sum(column) for column in zip(*by_device[device], strict=True)] for device in devices]
    return {"mean": mean, "devices": totals}


def walk(spans: dict[int, list[tuple[int, int]]], start: int, stop: int) -> list[int]:
    """The seven parts of the time from ``start`` to ``stop``, given the spans of the first six."""
    changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for kind, mine in spans.items():
        for begin, end in mine:
            begin, end = max(begin, start), min(end, stop)
            if begin < end:
                changes[begin].append((kind, 1))
                changes[end].append((kind, -1))
    parts, active, before = [0] * 7, [0] * 6, start
    for time in sorted({*changes, stop}):
        kind = next((kind for kind in range(6) if active[kind]), OTHER)
        parts[kind] += time - before
        before = time
        for changed, by in changes[time]:
            active[changed] += by
    return parts


def _metric_rows(metrics: Metrics) -> list[tuple[int, int, int, int]]:
    columns = (metrics.count.tolist(), metrics.max.tolist(), metrics.min.tolist(), metrics.sum.tolist())
    return list(zip(*columns, strict=True))


def _five(times: TimeMetrics) -> list[tuple[tuple[int, int, int, int], ...]]:
    columns = [_metric_rows(column) for column in (times.cpu, times.gpu, times.api, times.cpu_overhead, times.gpu_idle)]
    return list(zip(*columns, strict=True))
