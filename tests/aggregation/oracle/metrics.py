"""What is said of ops, groups, types, kernels and their kinds, from instances with their work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from tests.aggregation.oracle.rows import UNKNOWN, YES, Rows
from tests.aggregation.oracle.time_line import length

GOOD_TYPES = {"float16", "bfloat16", "int8", "uint8", "int4", "uint4"}


def metric(samples: list[int]) -> tuple[int, int, int, int]:
    """Count, largest, smallest and sum."""
    return (len(samples), max(samples), min(samples), sum(samples)) if samples else (0, 0, 0, 0)


def five_of(samples: list[tuple[int, ...]]) -> tuple[tuple[int, int, int, int], ...]:
    """That of each of the five times of instances."""
    return tuple(metric([sample[column] for sample in samples]) for column in range(5))


def by_op(instances: Rows) -> Iterable[tuple[dict[str, Any], Rows]]:
    """Each op with its instances."""
    of_op: dict[str, Rows] = defaultdict(list)
    for instance in instances:
        of_op[instance["op"]["op_id"]].append(instance)
    return [(mine[0]["op"], mine) for mine in of_op.values()]


def op_node(op: dict[str, Any], instances: Rows) -> tuple[Any, ...]:
    """An op: its times, those of its kernels, and whether it can use and uses Tensor Cores."""
    kernels = [kernel for instance in instances for kernel in instance["kernels"]]
    using = any(kernel["unit"] == YES for kernel in kernels)
    good = op["data_type"] in GOOD_TYPES or op["data_type"].startswith(("float8", "float4")) or not op["data_type"]
    return (
        five_of([instance["times"] for instance in instances]),
        metric([length(kernel["api"]) for kernel in kernels]),
        metric([length(kernel["gpu"]) for kernel in kernels]),
        len(instances),
        len(kernels),
        op["eligible"],
        using,
        op["eligible"] and not using and not good,
    )


def groups(instances: Rows) -> dict[tuple[str, str], Any]:
    """Every group that a path names, and every op as its own leaf."""
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
        nodes = [op_node(op, rows) for op, rows in by_op(mine)]
        result[full_id, name] = (
            is_group,
            name.count("/") + (0 if is_group else 1),
            len(mine),
            sum(node[5] for node in nodes),
            sum(node[6] for node in nodes),
            five_of(sums),
        )
    return result


def op_types(instances: Rows) -> dict[str, Any]:
    """By type: times, ops, instances."""
    of_type: dict[str, Rows] = defaultdict(list)
    for instance in instances:
        of_type[instance["op"]["type"]].append(instance)
    return {
        name: (five_of([i["times"] for i in mine]), len({i["op"]["op_id"] for i in mine}), len(mine))
        for name, mine in of_type.items()
    }


def kernel_summaries(instances: Rows) -> dict[tuple[str, str], Any]:
    """By op and short name."""
    launches: dict[tuple[str, str], Rows] = defaultdict(list)
    for instance in instances:
        for kernel in instance["kernels"]:
            launches[instance["op"]["op_id"], kernel["name"]].append(kernel)
    return {
        key: (
            metric([length(kernel["api"]) for kernel in mine]),
            metric([length(kernel["gpu"]) for kernel in mine]),
            any(kernel["unit"] == YES for kernel in mine),
        )
        for key, mine in launches.items()
    }


def kernel_sums(kernels: Rows) -> tuple[int, int, int, int]:
    """Number and plain sum of all kernels, and of those on Tensor Cores."""
    using = [kernel for kernel in kernels if kernel["unit"] == YES]
    return (
        len(kernels),
        len(using),
        sum(length(kernel["gpu"]) for kernel in kernels),
        sum(length(kernel["gpu"]) for kernel in using),
    )


def iteration_ops(instances: Rows) -> dict[tuple[int, str], Any]:
    """By iteration and op."""
    calls: dict[tuple[int, str], Rows] = defaultdict(list)
    for instance in instances:
        calls[instance["iteration"], instance["op"]["op_id"]].append(instance)
    return {
        key: (
            len(mine),
            sum(i["times"][0] for i in mine),
            sum(i["times"][1] for i in mine),
            *kernel_sums([kernel for i in mine for kernel in i["kernels"]]),
        )
        for key, mine in calls.items()
    }


def categories(instances: Rows) -> list[tuple[int, ...]]:
    """The eight rows of DLProf's ``category_summary``."""
    nodes = [op_node(op, mine) for op, mine in by_op(instances)]
    kernels = [kernel for instance in instances for kernel in instance["kernels"]]
    memory = [work for instance in instances for work in instance["memory"]]

    def ops(selected: list[Any]) -> tuple[int, ...]:
        sums = [sum(node[0][column][3] for node in selected) for column in (0, 1, 3, 4)]
        return (*sums, len(selected))

    def works(selected: Rows) -> tuple[int, ...]:
        return (
            sum(length(work["api"]) for work in selected),
            sum(length(work["gpu"]) for work in selected),
            0,
            0,
            len({work["name"] for work in selected}),
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


def efficiency(instances: Rows) -> tuple[int, ...]:
    """Of ops that could use Tensor Cores: how many do, and how much of the time of the eligible ones."""
    nodes = [op_node(op, mine) for op, mine in by_op(instances)]
    kernels = [kernel for instance in instances if instance["op"]["eligible"] for kernel in instance["kernels"]]
    return (
        sum(node[5] or node[6] for node in nodes),
        sum(node[6] for node in nodes),
        sum(
            node[5]
            and not node[6]
            and any(i["graphs"] or any(k["unit"] == UNKNOWN for k in i["kernels"]) for i in mine)
            for (_, mine), node in zip(by_op(instances), nodes, strict=True)
        ),
        sum(node[0][1][3] for node in nodes if node[5] or node[6]),
        sum(length(kernel["gpu"]) for kernel in kernels),
        sum(length(kernel["gpu"]) for kernel in kernels if kernel["unit"] == YES),
        sum(length(kernel["gpu"]) for kernel in kernels if kernel["unit"] == UNKNOWN),
    )
