"""Every real trace gives what a slow and obvious reading of its JSON gives.

The expectations are computed here with the standard library alone, times as exact decimals.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_left
from collections import Counter, defaultdict
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorboard_plugin_dlprof.events.tables import Capture, RangeKind, WorkKind
from tests.importers.kineto.traces import read_path, texts
from tests.shared_data import shared_data, shared_data_or_none

FOLDER = shared_data_or_none()
TRACES = sorted(path.relative_to(FOLDER) for path in FOLDER.glob("torch/*/*")) if FOLDER else [Path("absent")]

KINDS = {
    "operator": "op", "cpu_op": "op", "user_annotation": "annotation", "python_function": "frame",
    "runtime": "call", "cuda_runtime": "call", "cuda_driver": "call",
    "kernel": "kernel", "memcpy": "memcpy", "gpu_memcpy": "memcpy", "memset": "memset", "gpu_memset": "memset",
    "cuda_sync": "sync",
}  # fmt: skip


def ns(value: Any) -> int:
    """Microseconds as the nearest nanosecond."""
    return int((Decimal(value) * 1000).quantize(Decimal(1), ROUND_HALF_EVEN))


class Expected:
    """The trace, read whole."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        self.trace = json.loads(raw, strict=False, parse_float=Decimal)
        self.events: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for event in self.trace["traceEvents"]:
            if event.get("ph") == "X":
                self.events[KINDS.get(event["cat"].lower(), "ignored")].append(event)
            elif event["name"] == "[memory]":
                self.events["memory"].append(event)
            elif event.get("cat") == "fwdbwd":
                self.events["link"].append(event)
        self.base_ns = min(
            ns(e["ts"]) for kind, group in self.events.items() if kind not in ("ignored", "link") for e in group
        )

    def spans(self, kind: str) -> list[tuple[int, int]]:
        """Start and end since the first event, sorted."""
        starts = ((ns(event["ts"]) - self.base_ns, ns(event["dur"])) for event in self.events[kind])
        return sorted((start, start + duration) for start, duration in starts)


@pytest.fixture(scope="module", params=TRACES, ids=lambda path: path.parent.name)
def real(request: pytest.FixtureRequest) -> tuple[Expected, Capture]:
    """What is expected of a real trace, and what was read; once for all tests of it."""
    path = shared_data() / request.param
    return Expected(path), read_path(path)


def union_ns(spans: list[tuple[int, int]]) -> int:
    """The time that the intervals cover."""
    total, reached = 0, 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


@pytest.mark.parametrize(
    ("kind", "code"), [("kernel", WorkKind.KERNEL), ("memcpy", WorkKind.MEMCPY), ("memset", WorkKind.MEMSET)]
)
def test_device_work_has_the_traces_exact_times(real: tuple[Expected, Capture], kind: str, code: WorkKind) -> None:
    """Count, every start and every end agree to the nanosecond."""
    expected, capture = real
    of_kind = capture.work.kind == code
    result = zip(capture.work.start_ns[of_kind].tolist(), capture.work.end_ns[of_kind].tolist(), strict=True)
    assert sorted(result) == expected.spans(kind)


def test_time_by_device_is_that_of_the_trace(real: tuple[Expected, Capture]) -> None:
    """The union of the kernels' intervals agrees, device by device."""
    expected, capture = real
    by_device: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in expected.events["kernel"]:
        by_device[int(event["args"]["device"])].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
    base = expected.base_ns
    assert {device: union_ns([(a - base, b - base) for a, b in spans]) for device, spans in by_device.items()} == {
        int(device): union_ns(
            list(
                zip(
                    *(column[selected].tolist() for column in (capture.work.start_ns, capture.work.end_ns)), strict=True
                )
            )
        )
        for device in np.unique(capture.work.device[capture.work.kind == WorkKind.KERNEL])
        for selected in [(capture.work.kind == WorkKind.KERNEL) & (capture.work.device == device)]
    }


def test_kernels_keep_their_names_streams_and_launches(real: tuple[Expected, Capture]) -> None:
    """Name, stream, correlation, grid and block of each kernel are those of the trace."""
    expected, capture = real
    work = capture.work
    rows = np.flatnonzero(work.kind == WorkKind.KERNEL)
    counts = Counter(
        (name, int(work.stream[row]), int(work.correlation[row]), *work.grid[row].tolist(), *work.block[row].tolist())
        for name, row in zip(texts(capture, work.name[rows]), rows, strict=True)
    )
    zeros = [0, 0, 0]
    assert counts == Counter(
        (e["name"], a["stream"], a["correlation"], *a.get("grid", zeros), *a.get("block", zeros))
        for e in expected.events["kernel"]
        for a in [e["args"]]
    )


def test_copies_keep_their_bytes_and_direction(real: tuple[Expected, Capture]) -> None:
    """The direction is CUPTI's number for the letters in the copy's name."""
    expected, capture = real
    rows = np.flatnonzero(capture.work.kind == WorkKind.MEMCPY)
    numbers = {"HtoD": 1, "DtoH": 2, "DtoD": 8}
    assert Counter(
        zip(capture.work.copy_kind[rows].tolist(), capture.work.num_bytes[rows].tolist(), strict=True)
    ) == Counter((numbers[e["name"].split()[1]], int(e["args"].get("bytes", -1))) for e in expected.events["memcpy"])


def test_calls_keep_their_thread_and_correlation(real: tuple[Expected, Capture]) -> None:
    """Every runtime and driver call stands on its thread."""
    expected, capture = real
    calls = capture.calls
    counts = Counter(
        (capture.threads[thread].process_id, capture.threads[thread].thread_id, name, correlation)
        for thread, name, correlation in zip(
            calls.thread.tolist(), texts(capture, calls.name), calls.correlation.tolist(), strict=True
        )
    )
    assert counts == Counter(
        (int(e["pid"]), int(e["tid"]), e["name"], e["args"]["correlation"]) for e in expected.events["call"]
    )


def expected_ranges(expected: Expected) -> dict[str, list[dict[str, Any]]]:
    """Ranges by kind, without frames in which no other range and no call of their thread starts."""
    frames: list[dict[str, Any]] = []
    remaining = {"op": expected.events["op"], "annotation": expected.events["annotation"], "module": [], "frame": []}
    for event in expected.events["frame"]:
        (remaining["module"] if event["name"].startswith("nn.Module: ") else frames).append(event)
    starts: dict[Any, list[int]] = defaultdict(list)
    for event in chain(*remaining.values(), expected.events["call"]):
        starts[event["tid"]].append(ns(event["ts"]))
    for times in starts.values():
        times.sort()
    last: dict[Any, int] = defaultdict(int)
    for event in frames:
        last[event["tid"]] = max(last[event["tid"]], end_ns(event))
    first = min((ns(event["ts"]) for event in chain(*remaining.values(), frames)), default=0)
    for event in frames:
        here = starts[event["tid"]]
        next_one = bisect_left(here, ns(event["ts"]))
        holds = next_one < len(here) and here[next_one] <= end_ns(event)
        if holds or end_ns(event) == last[event["tid"]] or ns(event["ts"]) == first:
            remaining["frame"].append(event)
    return remaining


def end_ns(event: dict[str, Any]) -> int:
    """When a complete event ends."""
    return ns(event["ts"]) + ns(event["dur"])


def test_ranges_have_their_kind_name_thread_and_time(real: tuple[Expected, Capture]) -> None:
    """Operators, annotations, steps, modules and frames are told apart, and none that holds something is lost."""
    expected, capture = real

    def kind_of(kind: str, name: str) -> RangeKind:
        if name.startswith("ProfilerStep#"):
            return RangeKind.ITERATION
        if kind in ("frame", "module"):
            return RangeKind.MODULE if kind == "module" else RangeKind.FRAME
        # Traces of 2021 and older list annotations among the operators.
        return RangeKind.ANNOTATION if kind == "annotation" or "#" in name else RangeKind.OP

    wanted = Counter(
        (kind_of(kind, e["name"]), e["name"], int(e["tid"]), start, start + ns(e["dur"]))
        for kind, events in expected_ranges(expected).items()
        for e in events
        for start in [ns(e["ts"]) - expected.base_ns]
    )
    ranges = capture.ranges
    threads = [capture.threads[thread].thread_id for thread in ranges.thread]
    counts = Counter(
        zip(
            ranges.kind.tolist(),
            texts(capture, ranges.name),
            threads,
            ranges.start_ns.tolist(),
            ranges.end_ns.tolist(),
            strict=True,
        )
    )
    assert counts == wanted


def test_operators_keep_shapes_and_links(real: tuple[Expected, Capture]) -> None:
    """Shapes, types, values, sequence number, forward thread, stack and group are those of the trace."""
    expected, capture = real
    ranges = capture.ranges
    rows = np.flatnonzero(np.isin(ranges.kind, [RangeKind.OP, RangeKind.ANNOTATION, RangeKind.ITERATION]))

    def parsed(text: str) -> str:
        return str(json.loads(text, strict=False)) if text else "None"

    counts = Counter(
        zip(
            ranges.start_ns[rows].tolist(),
            map(parsed, texts(capture, ranges.shapes[rows])),
            map(parsed, texts(capture, ranges.dtypes[rows])),
            map(parsed, texts(capture, ranges.parameters[rows])),
            texts(capture, ranges.stack[rows]),
            texts(capture, ranges.group[rows]),
            ranges.sequence[rows].tolist(),
            ranges.forward_thread[rows].tolist(),
            strict=True,
        )
    )
    assert counts == Counter(
        (
            ns(e["ts"]) - expected.base_ns,
            str(a.get("Input Dims", a.get("Input dims"))),
            str(a.get("Input type")),
            str(a.get("Concrete Inputs")),
            a.get("Call stack", ""),
            str(a.get("Process Group Name", a.get("Process Group ID", ""))),
            a.get("Sequence number", -1),
            a.get("Fwd thread id", -1),
        )
        for kind in ("op", "annotation")
        for e in expected.events[kind]
        for a in [e.get("args", {})]
    )


def test_memory_events_and_arrows_are_complete(real: tuple[Expected, Capture]) -> None:
    """Every allocation and every pair of forward and backward ends arrives."""
    expected, capture = real
    memory = capture.memory
    assert sorted(zip(memory.time_ns.tolist(), memory.num_bytes.tolist(), strict=True)) == sorted(
        (ns(e["ts"]) - expected.base_ns, e["args"]["Bytes"]) for e in expected.events["memory"]
    )
    host = sum(e["args"]["Device Type"] == 0 for e in expected.events["memory"])
    assert int((memory.device == -1).sum()) == host
    forward = {e["id"]: ns(e["ts"]) for e in expected.events["link"] if e["ph"] == "s"}
    backward = {e["id"]: ns(e["ts"]) for e in expected.events["link"] if e["ph"] == "f"}
    links = capture.forward_links
    assert sorted(zip(links.forward_ns.tolist(), links.backward_ns.tolist(), strict=True)) == sorted(
        (forward[flow] - expected.base_ns, backward[flow] - expected.base_ns) for flow in forward
    )


def test_synchronisations_are_complete(real: tuple[Expected, Capture]) -> None:
    """``cuda_sync`` events keep their time and event."""
    expected, capture = real
    assert sorted(zip(capture.syncs.start_ns.tolist(), capture.syncs.end_ns.tolist(), strict=True)) == expected.spans(
        "sync"
    )
    assert sorted(capture.syncs.event_id.tolist()) == sorted(
        e["args"].get("wait_on_cuda_event_id", -1) for e in expected.events["sync"]
    )


def test_the_trace_says_where_it_comes_from(real: tuple[Expected, Capture]) -> None:
    """Base, rank, world size, devices and what was recorded agree with the metadata."""
    expected, capture = real
    metadata, info = expected.trace, capture.info
    distributed = metadata.get("distributedInfo", {})
    assert info.base_time_ns == expected.base_ns + metadata.get("baseTimeNanoseconds", 0)
    assert info.utc_start_ns == info.base_time_ns, "all of these traces count from 1970"
    assert (info.rank, info.world_size) == (distributed.get("rank", -1), distributed.get("world_size", -1))
    assert {"steps", "memory", "modules", "ops"} & info.recorded == {
        word
        for word, present in {
            "steps": any("ProfilerStep#" in e["name"] for kind in ("op", "annotation") for e in expected.events[kind]),
            "memory": expected.events["memory"],
            "modules": any(e["name"].startswith("nn.Module") for e in expected.events["frame"]),
            "ops": expected.events["op"],
        }.items()
        if present
    }
    by_id = {device.device_id: device for device in capture.devices}
    assert set(capture.work.device.tolist()) <= by_id.keys()
    models = {entry["name"] for entry in metadata.get("deviceProperties", [])}
    assert {device.name for device in capture.devices} == (models or ({""} if capture.devices else set()))
    assert capture.skipped == {}
