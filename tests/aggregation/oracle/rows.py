"""The raw tables as nested dictionaries: instances of ops with their work and calls."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.oracle.time_line import union_length

YES, UNKNOWN = 1, 2
"""Whether a kernel uses Tensor Cores."""

ELIGIBLE, UNASSOCIATED = 0, 2

Rows = list[dict[str, Any]]


class RawRows:
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
        for op, start, stop in zip(table.op.tolist(), table.start_ns.tolist(), table.end_ns.tolist(), strict=True):
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
                "gpu": (int(graphs.start_ns[row]), int(graphs.end_ns[row])),
                "device": int(graphs.device[row]),
            }
            self.graphs.append(work)
            numbered[int(graphs.op[row]), int(graphs.instance[row])]["graphs"].append(work)
        for calls in (profile.syncs, profile.calls):
            for row in range(len(calls.op)):
                span = (int(calls.api_start_ns[row]), int(calls.api_end_ns[row]))
                numbered[int(calls.op[row]), int(calls.instance[row])]["calls"].append(span)
                self.calls.append(span)


def _work(profile: Profile, table: Any, row: int) -> dict[str, Any]:
    return {
        "name": profile.strings[int(table.name[row])],
        "api": (int(table.api_start_ns[row]), int(table.api_end_ns[row])),
        "gpu": (int(table.start_ns[row]), int(table.end_ns[row])),
        "device": int(table.device[row]),
    }


def iteration_of(time: int, iterations: list[tuple[int, int, int]]) -> int | None:
    """The iteration that a time lies in."""
    for number, (value, start, stop) in enumerate(iterations):
        if start <= time < stop or (number == len(iterations) - 1 and time == stop):
            return value
    return None


def times_of(instance: dict[str, Any], dlprof_markers: bool) -> dict[str, tuple[int, ...]]:
    """CPU, GPU, API, overhead and idle time of an instance."""
    cpu = instance["cpu_stop"] - instance["cpu_start"]
    work = [work["gpu"] for work in instance["kernels"] + instance["memory"] + instance["graphs"]]
    gpu = union_length(work)
    api = union_length(instance["calls"])
    idle = max(stop for _, stop in work) - min(start for start, _ in work) - gpu if work else 0
    overhead = cpu - api if dlprof_markers else max(cpu - api, 0)
    return {"times": (cpu, gpu, api, overhead, idle)}
