"""What leads from one event of a trace to another, and what else events tell: small traces, named for their oddity."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.importers.kineto.traces import GPU, MAIN, kernel, op, read, spans, texts, trace, x

LAUNCH = x("cuda_runtime", "cudaLaunchKernel", 11, 1, correlation=1)


def test_begin_and_end_events_make_ranges(tmp_path: Path) -> None:
    """B and E nest per thread; an E need not repeat category and name."""
    events = [
        {"ph": "B", "cat": "cpu_op", "name": "outer", **MAIN, "ts": 1, "args": {"Input Dims": [[2]]}},
        {"ph": "B", "cat": "user_annotation", "name": "inner", **MAIN, "ts": 2},
        {"ph": "E", **MAIN, "ts": 3},
        {"ph": "E", "cat": "cpu_op", "name": "outer", **MAIN, "ts": 5},
        {"ph": "B", "cat": "cpu_op", "name": "odd", **MAIN, "ts": 6, "args": {"bandwidth": math.nan}},
        {"ph": "E", **MAIN, "ts": 8},
    ]
    capture = read(trace(*events), tmp_path)
    assert sorted(spans(capture)) == [("inner", 1000, 2000), ("odd", 5000, 7000), ("outer", 0, 4000)]
    assert sorted(texts(capture, capture.ranges.shapes)) == ["", "", "[[2]]"]


def begin(name: str, ts: float | None, **more: Any) -> dict[str, Any]:
    """The begin of an op; without a time where there is none."""
    event = {"ph": "B", "cat": "cpu_op", "name": name, **MAIN, "ts": ts, **more}
    return {key: value for key, value in event.items() if value is not None}


def test_an_end_comes_before_what_begins_at_its_time(tmp_path: Path) -> None:
    """As in the trace, though only what begins tells its category."""
    ends = [{"ph": "E", **MAIN, "ts": ts} for ts in (20, 30, 40)]
    events = [begin("a", 10), ends[0], begin("b", 20), ends[1], begin("c", 30), ends[2]]
    capture = read(trace(*events), tmp_path)
    assert sorted(spans(capture)) == [("a", 0, 10_000), ("b", 10_000, 20_000), ("c", 20_000, 30_000)]


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (begin("odd", None), "events without a usable start time"),
        (begin("odd", 15, cat=None), "events without a category"),
        (begin("odd", 15, cat="odd"), "events of the unknown category 'odd'"),
    ],
)
def test_an_odd_begin_takes_its_own_end(tmp_path: Path, odd: dict[str, Any], reason: str) -> None:
    """It is lost with it; what is around both is not."""
    ends = [{"ph": "E", **MAIN, "ts": ts} for ts in (20, 30)]
    other = [begin("b", 50), {"ph": "E", **MAIN, "ts": 60}]
    capture = read(trace(*other, begin("a", 10), odd, *ends), tmp_path)
    assert sorted(spans(capture)) == [("a", 0, 20_000), ("b", 40_000, 50_000)]
    assert capture.skipped == {reason: 1}


def test_an_end_of_an_unknown_category_takes_no_other_begin(tmp_path: Path) -> None:
    """Whether it has a begin or not, ranges of other categories keep their own ends, and each begin is counted once."""
    ends = [{"ph": "E", "cat": cat, **MAIN, "ts": ts} for cat, ts in (("odd", 20), ("cpu_op", 30), ("odd", 70))]
    events = [begin("a", 10), begin("odd", 15, cat="odd"), *ends, begin("b", 50), {"ph": "E", **MAIN, "ts": 60}]
    capture = read(trace(*events, begin("odd", 80, cat="odd")), tmp_path)
    assert sorted(spans(capture)) == [("a", 0, 20_000), ("b", 40_000, 50_000)]
    assert capture.skipped == {"events of the unknown category 'odd'": 2}


@pytest.mark.parametrize(
    ("name", "args", "number"),
    [
        ("Memcpy HtoD (Pageable -> Device)", {}, 1),
        ("Memcpy DtoH (Device -> Pinned)", {}, 2),
        ("Memcpy DtoD (Device -> Device)", {}, 8),
        ("Memcpy HtoH (Pageable -> Pinned)", {}, 9),
        ("Memcpy PtoP (Device -> Device)", {}, 10),
        ("CopyHostToDevice", {"kind": "HtoD"}, 1),
        ("hipMemcpyAsync", {"kind": "DeviceToHost"}, 2),
        ("Memcpy M2D (Memory -> Device)", {}, 1),
        ("Memcpy D2M (Device -> Memory)", {}, 2),
        ("Memcpy D2D (Device -> Device)", {}, 8),
        ("Memcpy M2S (Memory -> Shared)", {}, -1),
        ("Memcpy", {}, -1),
    ],
)
def test_the_direction_of_a_copy_is_cuptis_number(tmp_path: Path, name: str, args: dict[str, str], number: int) -> None:
    """From the letters in the name (Intel's have a 2 between them), else from AMD's ``kind``."""
    capture = read(trace(x("gpu_memcpy", name, 1, 1, bytes="616", **args)), tmp_path)
    assert (capture.work.copy_kind.tolist(), capture.work.num_bytes.tolist()) == ([number], [616])


def test_external_ids_stand_in_where_there_are_no_correlations(tmp_path: Path) -> None:
    """The oldest traces pair calls and kernels by external id; where any correlation exists, it alone counts."""
    old = [x("Runtime", "launch", 1, 1, external_id=7), x("Kernel", "k", 2, 1, GPU, external_id=7)]
    capture = read(trace(*old), tmp_path)
    assert capture.calls.correlation.tolist() == capture.work.correlation.tolist() == [7]
    capture = read(trace(LAUNCH, x("kernel", "k", 12, 1, External_id=7)), tmp_path)
    assert (capture.calls.correlation.tolist(), capture.work.correlation.tolist()) == ([1], [-1])


def test_device_work_belongs_to_the_only_process(tmp_path: Path) -> None:
    """With calls of two processes that launched work of one GPU the trace does not tell whose a kernel is."""
    assert read(trace(LAUNCH, kernel()), tmp_path).work.process.tolist() == [100]
    other = x("cuda_runtime", "launch", 1, 1, {"pid": 200, "tid": 200}, correlation=2)
    assert read(trace(LAUNCH, other, kernel(), kernel(correlation=2)), tmp_path).work.process.tolist() == [0, 0]


def test_a_kernel_keeps_its_launch(tmp_path: Path) -> None:
    """Grid, block, registers, shared memory, occupancy and graph node; what is absent is 0 or -1."""
    full = kernel("void ns::f<1>(int)", grid=[4, 2, 1], block=[256, 1, 1], registers_per_thread=32, shared_memory=1024)
    full["args"]["est. achieved occupancy %"] = 37
    capture = read(trace(full, kernel(grid=[1], block="x", graph_node_id=5)), tmp_path)
    work = capture.work
    assert work.grid.tolist() == [[4, 2, 1], [0, 0, 0]]
    assert work.block.tolist() == [[256, 1, 1], [0, 0, 0]]
    assert work.registers.tolist() == [32, -1]
    assert work.dynamic_shared_bytes.tolist() == [1024, -1]
    assert work.occupancy_percent.tolist() == [37, -1]
    assert work.graph_node.tolist() == [-1, 5]
    assert texts(capture, work.name) == ["void ns::f<1>(int)", "k"]
    assert texts(capture, work.short_name) == ["f", "k"]


@pytest.mark.parametrize("category", ["fwdbwd", "forward_backward"])
def test_forward_and_backward_ends_are_paired_by_id(tmp_path: Path, category: str) -> None:
    """An end without its partner is no arrow."""
    ends = [("s", 1, 100, 1), ("f", 1, 200, 9), ("s", 2, 100, 3), ("f", 3, 200, 8)]
    events = [
        {"ph": ph, "cat": category, "name": category, "id": flow, "pid": 100, "tid": tid, "ts": ts}
        for ph, flow, tid, ts in ends
    ]
    links = read(trace(op(ts=1, dur=2), *events), tmp_path).forward_links
    assert (links.forward_ns.tolist(), links.backward_ns.tolist()) == ([0], [8000])
    assert links.forward_thread.tolist() != links.backward_thread.tolist()


def memory(device_type: int, device_id: int, **args: int) -> dict[str, Any]:
    """An allocation of 512 bytes."""
    named = {"Device Type": device_type, "Device Id": device_id, "Bytes": 512} | args
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", **MAIN, "ts": 3, "args": named}


def test_memory_events_tell_host_from_device(tmp_path: Path) -> None:
    """Device type 0 is the host; totals are -1 where the trace has none (2021)."""
    totals = {"Total Allocated": 900, "Total Reserved": 1000}
    old = {key: value for key, value in memory(1, 1).items() if key != "cat"}
    capture = read(trace(memory(0, -1), memory(1, 0, **totals), old), tmp_path)
    table = capture.memory
    assert table.device.tolist() == [-1, 0, 1]
    assert table.allocated_bytes.tolist() == [-1, 900, -1]
    assert table.reserved_bytes.tolist() == [-1, 1000, -1]


def test_one_device_under_two_numbers_is_one(tmp_path: Path) -> None:
    """AMD: the allocator counts visible GPUs from 0, kernels name agent 9."""
    capture = read(trace(memory(1, 0), kernel(device=9), hip_runtime_version=60443483), tmp_path)
    assert capture.memory.device.tolist() == capture.work.device.tolist() == [9]
    assert [device.device_id for device in capture.devices] == [9]


FRAME = {"pid": 0, "tid": 0}


@pytest.mark.parametrize(
    ("case", "events", "thread"),
    [
        ("the only thread with operators", [op()], 100),
        ("the main thread beside autograd's", [op(), x("cpu_op", "b", 1, 1, {"pid": 100, "tid": 101})], 100),
        ("one has frames of its own", [op(), x("python_function", "f", 1, 9)], 0),
        ("two that could be meant", [x("cpu_op", "b", 1, 1, {"pid": 1, "tid": tid}) for tid in (5, 6)], 0),
        ("no operators", [LAUNCH], 0),
    ],
)
def test_frames_on_a_thread_of_their_own_go_where_nothing_else_can_be_meant(
    tmp_path: Path, case: str, events: list[dict[str, Any]], thread: int
) -> None:
    """Otherwise they stay: a second Python thread is a real one."""
    capture = read(trace(x("python_function", "nn.Module: Net_0", 1, 9, FRAME), *events), tmp_path)
    (row,) = [row for row, name in enumerate(texts(capture, capture.ranges.name)) if name == "nn.Module: Net_0"]
    assert capture.threads[capture.ranges.thread[row]].thread_id == thread, case


def test_synchronisations_have_cuptis_type(tmp_path: Path) -> None:
    """``cuda_sync_kind`` says which; the stream is -1 for a whole context."""
    kinds = ["Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync", "Unknown"]
    events = [x("cuda_sync", kind, 1, 1, {"pid": 0, "tid": -1}, cuda_sync_kind=kind, stream=-1) for kind in kinds]
    syncs = read(trace(*events), tmp_path).syncs
    assert syncs.sync_type.tolist() == [1, 2, 3, 4, 0]
    assert set(syncs.stream.tolist()) == {-1}


def test_texts_of_an_operator_are_kept_as_written(tmp_path: Path) -> None:
    """Shapes, types and values are JSON text; today's and 2020's spelling of the key both count."""
    new = op(Input_Dims=[[2, 3], []], Input_type=["float", "Scalar"], Concrete_Inputs=["", "1"], Sequence_number=4)
    old = op(Input_dims=[[5]], Call_stack="a.py(1): f;b.py(2): g", Process_Group_Name="pg", Fwd_thread_id=1)
    capture = read(trace(new, old), tmp_path)
    ranges = capture.ranges
    assert texts(capture, ranges.shapes) == ["[[2, 3], []]", "[[5]]"]
    assert texts(capture, ranges.dtypes) == ['["float", "Scalar"]', ""]
    assert texts(capture, ranges.parameters) == ['["", "1"]', ""]
    assert texts(capture, ranges.stack) == ["", "a.py(1): f;b.py(2): g"]
    assert texts(capture, ranges.group) == ["", "pg"]
    assert (ranges.sequence.tolist(), ranges.forward_thread.tolist()) == ([4, -1], [-1, 1])
    assert capture.info.recorded == {"ops", "shapes", "stacks"}


def test_operators_with_some_inputs_in_common_keep_their_own(tmp_path: Path) -> None:
    """Shapes, types and values are each those of the operator, whichever of them it has."""
    inputs: list[dict[str, Any]] = [
        {"Input_Dims": [[2]], "Input_type": ["float"]},
        {"Input_Dims": [[2]], "Input_type": ["int"]},
        {"Input_Dims": [[2]], "Concrete_Inputs": ["float"]},
        {"Input_type": ["float"]},
        {},
        {"Concrete_Inputs": ["\0", "1"]},
    ]
    ranges = (capture := read(trace(*(op(**each) for each in inputs)), tmp_path)).ranges
    assert list(
        zip(*(texts(capture, column) for column in (ranges.shapes, ranges.dtypes, ranges.parameters)), strict=True)
    ) == [
        ("[[2]]", '["float"]', ""),
        ("[[2]]", '["int"]', ""),
        ("[[2]]", "", '["float"]'),
        ("", '["float"]', ""),
        ("", "", ""),
        ("", "", '["\\u0000", "1"]'),
    ]


@pytest.mark.parametrize("end", ["", ', {"ph": "X", "name": }'], ids=["last", "before a broken event"])
def test_collectives_are_read_wherever_their_events_stand(tmp_path: Path, end: str) -> None:
    """The last event of a trace, and those around a broken one, are read one by one."""
    described: dict[str, Any] = {
        "Collective name": "allreduce",
        "In msg nelems": 8,
        "Group size": 2,
        "Process Group Name": "0",
    }
    events = [kernel("ncclDevKernel", ts=number, correlation=number, **described) for number in (1, 2)]
    capture = read(f'{{"traceEvents": [{", ".join(map(json.dumps, events))}{end}]}}'.encode(), tmp_path)
    assert texts(capture, capture.collectives.call) == ["allreduce", "allreduce"]
