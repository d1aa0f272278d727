"""Every number of an aggregation, computed."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile
from tests.aggregation.oracle.metrics import (
    by_op,
    categories,
    efficiency,
    groups,
    iteration_ops,
    kernel_summaries,
    kernel_sums,
    op_node,
    op_types,
)
from tests.aggregation.oracle.parts import parts_of
from tests.aggregation.oracle.rows import UNKNOWN, YES, RawRows, iteration_of, times_of
from tests.aggregation.oracle.time_line import length


def expected(profile: Profile, candidate: IterationCandidate, first: int, last: int) -> dict[str, Any]:
    """Every number of the aggregation of the iterations numbered ``first`` to ``last``."""
    raw = RawRows(profile)
    iterations = [
        (value, start, stop)
        for value, start, stop in zip(
            candidate.values.tolist(), candidate.start_ns.tolist(), candidate.stop_ns.tolist(), strict=True
        )
    ]
    for instance in raw.instances:
        is_whole = candidate.source == "whole_capture"  # with what is called before the first GPU work
        instance["iteration"] = 0 if is_whole else iteration_of(instance["cpu_start"], iterations)
        instance.update(times_of(instance, profile.dlprof_markers))
    selected = [i for i in raw.instances if i["iteration"] is not None and first <= i["iteration"] <= last]
    windows = [row for row in iterations if first <= row[0] <= last]
    parts = parts_of(raw, profile, windows)
    kernels = [kernel for instance in selected for kernel in instance["kernels"]]
    return {
        "op_nodes": {op["op_id"]: op_node(op, mine) for op, mine in by_op(selected)},
        "groups": groups(selected),
        "op_types": op_types(selected),
        "kernel_summaries": kernel_summaries(selected),
        "iteration_ops": iteration_ops(selected),
        "iteration_kernels": {
            kernel["row"]: (instance["iteration"], instance["op"]["op_id"])
            for instance in selected
            for kernel in instance["kernels"]
        },
        "parts": parts["mean"],
        "device_parts": parts["devices"],
        "unknown_parts": parts["unknown"],
        "unknown_device_parts": parts["unknown of devices"],
        "unknown_by_iteration": {
            value: (
                len(untold),
                sum(length(k["gpu"]) for k in untold),
                sum(len(i["graphs"]) for i in selected if i["iteration"] == value),
            )
            for value, untold in (
                (value, [k for i in selected if i["iteration"] == value for k in i["kernels"] if k["unit"] == UNKNOWN])
                for value, _, _ in windows
            )
        },
        "unknown_by_op": {
            op["op_id"]: (len(untold), sum(length(k["gpu"]) for k in untold))
            for op, untold in (
                (op, [k for i in mine for k in i["kernels"] if k["unit"] == UNKNOWN]) for op, mine in by_op(selected)
            )
            if untold
        },
        "other_names": len({k["name"] for k in kernels if k["unit"] not in (YES, UNKNOWN)}),
        "iteration_kernel_sums": {
            value: kernel_sums([k for i in selected if i["iteration"] == value for k in i["kernels"]])
            for value, _, _ in windows
        },
        "categories": categories(selected),
        "efficiency": efficiency(selected),
        "unknown": (
            sum(k["unit"] == UNKNOWN for k in kernels),
            len({k["name"] for k in kernels if k["unit"] == UNKNOWN}),
            sum(length(k["gpu"]) for k in kernels if k["unit"] == UNKNOWN),
        ),
        "outside": (
            len(raw.instances) - len(selected),
            len(raw.kernels) - len(kernels),
            sum(length(k["gpu"]) for k in raw.kernels) - sum(length(k["gpu"]) for k in kernels),
        ),
    }
