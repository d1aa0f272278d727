"""The slow, obvious way from raw events to every total: plain Python over a capture, nothing shared with the package.

For captures of framework ops (kind ``op``, no wrappers, properly nested on each thread). The rules, in words:

* an op instance is an op range of a thread that lies in no other one; a range holds its start and not its end, one
  without length holds its very moment;
* a call belongs to the instance of its thread that holds its start; device work to the instance of the call with its
  correlation;
* what belongs to no instance is one of its own: a call for itself, named for the one kernel that it launched, else for
  itself; work without a call for itself, at its start.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tensorboard_plugin_dlprof.events.tables import Capture, RangeKind, WorkKind
from tests.aggregation.oracle.time_line import CPU, IO, LOADER, MEMORY, OTHER_KERNEL, TENSOR_CORE, union_length, walk

Times = tuple[int, int, int, int, int]
"""CPU, GPU, API, CPU overhead, GPU idle."""


def totals(capture: Capture, tensor_core_names: set[str]) -> dict[str, Any]:
    """Everything that does not depend on how ops are joined and named."""
    instances = _instances(capture)
    iterations = _iterations(capture)
    is_marked = (capture.ranges.kind == RangeKind.ITERATION).any()
    for instance in instances:
        instance["iteration"] = 0
        if is_marked:
            last = iterations[-1][2]
            of = (value for value, start, stop in iterations if _in(instance["start"], start, stop, last))
            instance["iteration"] = next(of, None)
        instance["times"] = _times(instance)
    selected = [instance for instance in instances if instance["iteration"] is not None]
    kernels = [work for instance in selected for work in instance["work"] if work["kind"] == WorkKind.KERNEL]
    return {
        "types": _types(selected),
        "kernels": {value: _sums([i for i in selected if i["iteration"] == value]) for value, _, _ in iterations},
        "parts": _parts(capture, instances, iterations, tensor_core_names),
        "outside": (
            len(instances) - len(selected),
            sum(kind == WorkKind.KERNEL for kind in capture.work.kind.tolist()) - len(kernels),
        ),
        "kernel_names": len({work["name"] for work in kernels}),
        "unlaunched": sum(1 for instance in instances if instance["unlaunched"]),
    }


def _in(time: int, start: int, stop: int, last: int) -> bool:
    return start <= time < stop or time == stop == last


def _holds(start: int, end: int, time: int) -> bool:
    return start <= time < end or start == time == end


def _lies_in(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    """Times doubled: a range without length takes half a nanosecond."""
    (a, b), (c, d) = ((2 * start, max(2 * end, 2 * start + 1)) for start, end in (inner, outer))
    return c <= a and b <= d


def _instances(capture: Capture) -> list[dict[str, Any]]:
    strings, ranges = capture.strings, capture.ranges
    ops = [
        (thread, start, end, strings[name].removeprefix("aten::"))
        for thread, start, end, name, kind in _rows(ranges, "thread", "start_ns", "end_ns", "name", "kind")
        if kind == RangeKind.OP
    ]
    instances = []
    for row, (thread, start, end, name) in enumerate(ops):
        others = [(other[1:3], number) for number, other in enumerate(ops) if other[0] == thread and number != row]
        if not any(_lies_in((start, end), span) and (span != (start, end) or number < row) for span, number in others):
            instances.append(_instance(thread, start, end, name))
    of_call: dict[int, dict[str, Any]] = {}
    works = [
        {"kind": kind, "gpu": (start, end), "device": device, "name": strings[short] or strings[name], "corr": corr}
        for kind, start, end, device, short, name, corr in _rows(
            capture.work, "kind", "start_ns", "end_ns", "device", "short_name", "name", "correlation"
        )
    ]
    for thread, start, end, name, correlation in _rows(
        capture.calls, "thread", "start_ns", "end_ns", "name", "correlation"
    ):
        result = [i for i in instances if i["thread"] == thread and i["op"] and _holds(i["start"], i["end"], start)]
        launched = [work for work in works if correlation > 0 and work["corr"] == correlation]
        if not result:
            one_kernel = len(launched) == 1 and launched[0]["kind"] == WorkKind.KERNEL
            label = launched[0]["name"] if one_kernel else strings[name]
            result = [_instance(thread, start, end, label, op=False)]
            instances.append(result[0])
        result[0]["calls"].append((start, end))
        result[0]["work"] += launched
        for work in launched:
            of_call[id(work)] = result[0]
    for work in works:
        if id(work) not in of_call:
            alone = _instance(-1, work["gpu"][0], work["gpu"][0], work["name"], op=False)
            alone["work"].append(work)
            alone["unlaunched"] = True
            instances.append(alone)
    return instances


def _instance(thread: int, start: int, end: int, name: str, op: bool = True) -> dict[str, Any]:
    return {
        "thread": thread, "start": start, "end": end, "type": name, "op": op, "calls": [], "work": [],
        "unlaunched": False,
    }  # fmt: skip


def _times(instance: dict[str, Any]) -> Times:
    spans = [work["gpu"] for work in instance["work"]]
    cpu, gpu, api = instance["end"] - instance["start"], union_length(spans), union_length(instance["calls"])
    idle = max(stop for _, stop in spans) - min(start for start, _ in spans) - gpu if spans else 0
    return cpu, gpu, api, max(cpu - api, 0), idle


def _types(instances: list[dict[str, Any]]) -> dict[str, Any]:
    """Number of calls, and count-free sum, smallest and largest of the five times, by op type."""
    of_type: dict[str, list[Times]] = defaultdict(list)
    for instance in instances:
        of_type[instance["type"]].append(instance["times"])
    return {
        name: (len(times), [(sum(column), min(column), max(column)) for column in zip(*times, strict=True)])
        for name, times in of_type.items()
    }


def _sums(instances: list[dict[str, Any]]) -> tuple[int, int]:
    kernels = [work["gpu"] for i in instances for work in i["work"] if work["kind"] == WorkKind.KERNEL]
    return len(kernels), sum(stop - start for start, stop in kernels)


def _iterations(capture: Capture) -> list[tuple[int, int, int]]:
    """Those of ``ProfilerStep#N``; else all from the first to the last GPU work, or from the first event on."""
    ordered = sorted(
        (int(capture.strings[name].partition("#")[2]), start, end)
        for start, end, name, kind in _rows(capture.ranges, "start_ns", "end_ns", "name", "kind")
        if kind == RangeKind.ITERATION
    )
    if ordered:
        return ordered
    if len(capture.work.start_ns) and capture.work.end_ns.max() > capture.work.start_ns.min():
        return [(0, int(capture.work.start_ns.min()), int(capture.work.end_ns.max()))]
    starts = [start for table in (capture.ranges, capture.calls, capture.work) for start in table.start_ns.tolist()]
    return [(0, min(starts, default=0), capture.info.end_ns)]


def _parts(
    capture: Capture, instances: list[dict[str, Any]], iterations: list[tuple[int, int, int]], fast: set[str]
) -> list[list[int]]:
    """The seven parts of each iteration, mean over the devices in use."""
    works = [work for instance in instances for work in instance["work"]]
    cpu = [(i["start"], i["end"]) for i in instances if i["op"]] + [call for i in instances for call in i["calls"]]
    used = sorted({work["device"] for work in works})
    rows = []
    for _, start, stop in iterations:
        by_device = []
        for device in used or [None]:
            here = [work for work in works if work["device"] == device]
            kernels = [work for work in here if work["kind"] == WorkKind.KERNEL]
            on_tensor_cores = [work["gpu"] for work in kernels if work["name"] in fast]
            elsewhere = [work["gpu"] for work in kernels if work["name"] not in fast]
            elsewhere += [work["gpu"] for work in here if work["kind"] == WorkKind.GRAPH]
            memory = [work["gpu"] for work in here if work["kind"] in (WorkKind.MEMCPY, WorkKind.MEMSET)]
            spans = {TENSOR_CORE: on_tensor_cores, OTHER_KERNEL: elsewhere, MEMORY: memory}
            by_device.append(walk({**spans, LOADER: [], IO: [], CPU: cpu}, start, stop))
        parts = [sum(column) // len(by_device) for column in list(zip(*by_device, strict=True))[:6]]
        rows.append([*parts, stop - start - sum(parts)])
    return rows


def _rows(table: Any, *columns: str) -> list[tuple[int, ...]]:
    return list(zip(*(getattr(table, column).tolist() for column in columns), strict=True))
