"""Which events of a trace are what, and on which thread, GPU and stream: small traces, each named for its oddity."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import RangeKind, WorkKind
from tensorboard_plugin_dlprof.importers.kineto.collect import EventTables
from tensorboard_plugin_dlprof.importers.kineto.events import Event
from tests.importers.kineto.traces import GPU, MAIN, op, read, spans, texts, trace, x


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("kernel", WorkKind.KERNEL),
        ("Kernel", WorkKind.KERNEL),
        ("KERNEL", WorkKind.KERNEL),
        ("some,kernel", WorkKind.KERNEL),
        ("Memcpy", WorkKind.MEMCPY),
        ("gpu_memcpy", WorkKind.MEMCPY),
        ("Memset", WorkKind.MEMSET),
        ("gpu_memset", WorkKind.MEMSET),
        ("mlu_memcpy", WorkKind.MEMCPY),
        ("GCU_MEMSET", WorkKind.MEMSET),
    ],
)
def test_categories_are_known_by_old_and_new_names_in_any_case(tmp_path: Path, category: str, kind: WorkKind) -> None:
    """What 2020 calls Kernel, Memcpy and Memset is today's kernel, gpu_memcpy and gpu_memset."""
    capture = read(trace(x(category, "k", 1, 2, GPU)), tmp_path)
    assert capture.work.kind.tolist() == [kind]
    assert capture.skipped == {}


@pytest.mark.parametrize(
    "category", ["Runtime", "cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime", "privateuse1_driver"]
)
def test_calls_of_every_runtime_are_calls(tmp_path: Path, category: str) -> None:
    """Categories that end in _runtime or _driver hold host calls."""
    assert len(read(trace(x(category, "launch", 1, 2, correlation=5)), tmp_path).calls.start_ns) == 1


@pytest.mark.parametrize("category", ["cuda_sync", "xpu_sync"])
def test_synchronisations_of_every_device_are_read(tmp_path: Path, category: str) -> None:
    """Categories that end in _sync hold the profiler's records of waiting."""
    assert len(read(trace(op(), x(category, "barrier", 1, 2, correlation=5)), tmp_path).syncs.start_ns) == 1


@pytest.mark.parametrize("category", ["gpu_user_annotation", "mlu_user_annotation"])
def test_what_repeats_annotations_on_a_device_is_left_out(tmp_path: Path, category: str) -> None:
    """It is no work of the device, nor anything that was lost."""
    capture = read(trace(op(), x(category, "forward", 1, 2, GPU)), tmp_path)
    assert (len(capture.work.start_ns), len(capture.ranges.start_ns), capture.skipped) == (0, 1, {})


@pytest.mark.parametrize(
    ("category", "name", "kind"),
    [
        ("cpu_op", "aten::mm", RangeKind.OP),
        ("Operator", "aten::mm", RangeKind.OP),
        ("Operator", "AddmmBackward", RangeKind.OP),
        ("Operator", "autograd::engine::evaluate_function: AddBackward0", RangeKind.OP),
        ("Operator", "Optimizer.step#SGD.step", RangeKind.ANNOTATION),
        ("Operator", "## forward ##", RangeKind.ANNOTATION),
        ("Operator", "DistributedDataParallel.forward", RangeKind.ANNOTATION),
        ("Operator", "ProfilerStep#3", RangeKind.ITERATION),
        ("user_annotation", "ProfilerStep#3", RangeKind.ITERATION),
        ("user_annotation", "ProfilerStep", RangeKind.ANNOTATION),
        ("user_annotation", "my step", RangeKind.ANNOTATION),
        ("python_function", "nn.Module: Linear_3", RangeKind.MODULE),
        ("python_function", "torch/nn/modules/linear.py(12): forward", RangeKind.FRAME),
    ],
)
def test_ranges_are_told_apart_by_category_and_name(tmp_path: Path, category: str, name: str, kind: RangeKind) -> None:
    """Event model, section 2."""
    assert read(trace(x(category, name, 1, 2)), tmp_path).ranges.kind.tolist() == [kind]


def test_ops_of_the_autograd_profiler_of_2020_are_read(tmp_path: Path) -> None:
    """Before Kineto, events had no category: processes told CPU from GPU, whose times were those of ops."""
    track = {"tid": 1, "pid": "CPU functions", "args": {}}
    arrow = {"name": "conv2d", "ts": 3.5, "id": 0, "cat": "cpu_to_cuda", "args": {}}
    events = [
        {"name": "conv2d", "ph": "X", "ts": 3.5, "dur": 40.25, **track},
        {**arrow, "ph": "s", "tid": 1, "pid": "CPU functions"},
        {**arrow, "ph": "f", "tid": 0, "pid": "CUDA functions"},
        {"name": "conv2d", "ph": "X", "ts": 9.0, "dur": 21.0, "tid": 0, "pid": "CUDA functions", "args": {}},
        {"name": "MkldnnConvolutionBackward", "ph": "X", "ts": 60.0, "dur": 2.0, **track},
        {"name": "my forward", "ph": "X", "ts": 3.0, "dur": 50.0, **track},
    ]
    capture = read(json.dumps(events).encode(), tmp_path)
    assert spans(capture) == [
        ("conv2d", 500, 40_750),
        ("MkldnnConvolutionBackward", 57_000, 59_000),
        ("my forward", 0, 50_000),
    ]
    assert capture.ranges.kind.tolist() == [RangeKind.OP, RangeKind.OP, RangeKind.ANNOTATION]
    assert list(capture.skipped.values()) == [1]
    assert "GPU times of ops" in next(iter(capture.skipped))


@pytest.mark.parametrize(
    "ignored",
    [
        x("gpu_user_annotation", "ProfilerStep#3", 1, 50, GPU),
        x("Trace", "PyTorch Profiler (0)", 0, 99, {"pid": "Spans", "tid": "PyTorch Profiler"}),
        x("overhead", "CUPTI Flush", 1, 50),
        {"ph": "s", "cat": "ac2g", "id": 1, **MAIN, "ts": 11, "name": "ac2g"},
        {"ph": "f", "cat": "async", "id": 1, "pid": 0, "tid": "stream 7", "ts": 12, "name": "launch", "bp": "e"},
        {"ph": "M", "name": "process_name", **MAIN, "ts": 1, "args": {"name": "python"}},
        {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 99},
        {"ph": "C", "name": "GPU 0 Utilization", "pid": 0, "ts": 1, "args": {"value": 0.5}},
        x("cpu_instant_event", "Record Window End", 1, 0) | {"ph": "i"},
    ],
    ids=lambda event: event.get("cat") or event["name"],
)
def test_what_repeats_or_says_nothing_is_left_out_without_a_word(tmp_path: Path, ignored: dict[str, Any]) -> None:
    """Such events neither appear nor move the start of the capture nor count as skipped."""
    capture = read(trace(ignored, op(ts=10, dur=5)), tmp_path)
    assert spans(capture) == [("aten::mm", 0, 5000)]
    assert len(capture.work.kind) == 0
    assert capture.skipped == {}


@pytest.mark.parametrize(
    ("track", "device", "stream", "args"),
    [
        ({"pid": 3, "tid": "stream 7"}, 3, 7, {}),
        ({"pid": "GPU 2", "tid": 20}, 2, 20, {}),
        ({"pid": 3, "tid": 7}, 1, 9, {"device": 1, "stream": 9}),
        ({"pid": "3", "tid": "7"}, 3, 7, {"device": None, "stream": None}),
        ({"pid": 9, "tid": 0}, 9, 0, {"device": 9, "stream": 0}),
        ({"pid": "?", "tid": "?"}, 0, -1, {}),
    ],
)
def test_device_and_stream_are_in_args_or_else_in_the_track(
    tmp_path: Path, track: dict[str, Any], device: int, stream: int, args: dict[str, Any]
) -> None:
    """Numbers may be text, or end a name."""
    capture = read(trace(x("kernel", "k", 1, 1, track, **args)), tmp_path)
    assert (capture.work.device.tolist(), capture.work.stream.tolist()) == ([device], [stream])
    assert [known.device_id for known in capture.devices] == [device]


def test_a_thread_is_one_whether_its_number_is_text_or_not(tmp_path: Path) -> None:
    """2021: operators have tid "25738", memory events 25738."""
    as_text = {"pid": 100, "tid": "100"}
    name = {"ph": "M", "name": "thread_name", "pid": "100", "tid": 100, "args": {"name": "thread 100 (python)"}}
    capture = read(trace(x("Operator", "a", 1, 1, as_text), op(ts=2), name), tmp_path)
    assert [(t.process_id, t.thread_id, t.name) for t in capture.threads] == [(100, 100, "thread 100 (python)")]


def test_threads_may_have_names_for_numbers(tmp_path: Path) -> None:
    """Two named threads stay two."""
    tracks = [{"pid": 1, "tid": "loader"}, {"pid": 1, "tid": "trainer"}]
    capture = read(trace(*(x("cpu_op", "a", 1, 1, track) for track in tracks)), tmp_path)
    assert [thread.name for thread in capture.threads] == ["loader", "trainer"]
    assert len({thread.thread_id for thread in capture.threads}) == 2


def test_one_thread_number_in_two_processes_is_two_threads() -> None:
    """Also where one list has threads of one process only, and the next those of the other."""
    tracks = [(process, thread) for process in (100, 200) for thread in (1, 2)]
    tables = EventTables(ColumnStore())
    for piece in (tracks[:2], tracks[2:], tracks):
        tables.add([Event("X", "cpu_op", pid=process, tid=thread, ts=1, dur=1) for process, thread in piece])
    result = tables.finish()
    assert result.threads == tracks
    assert result.tables["ops"]["thread"].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_columns_are_freed_without_a_garbage_collection() -> None:
    """An import collects none for long, and the columns are much of its memory."""
    gc.disable()
    try:
        tables = EventTables(ColumnStore())
        tables.add([Event("X", "cpu_op", ts=1, dur=1)])
        alive = weakref.ref(tables)
        del tables
        assert alive() is None
    finally:
        gc.enable()


def test_a_zero_byte_in_what_is_not_decoded_moves_no_other_value(tmp_path: Path) -> None:
    """JSON has none, and the decoder refuses it: what it hands over is parted by them."""
    dtypes = [["float"], ["a@b"], ["half"]]
    content = trace(*(op(ts=number, Input_type=dtype) for number, dtype in enumerate(dtypes)))
    capture = read(content.replace(b"@", b"\0"), tmp_path)
    assert texts(capture, capture.ranges.dtypes) == ['["float"]', r'["a\u0000b"]', '["half"]']
    for text in (b'["a\0b"]', b"[\0]"):
        with pytest.raises(msgspec.DecodeError):
            msgspec.json.decode(text, type=msgspec.Raw)


def test_an_event_of_an_unknown_type_costs_no_other_event(tmp_path: Path) -> None:
    """Types that the format does not have are no complete events."""
    events = [op(ts=number) for number in range(3)]
    events[1]["ph"] = "Unheard of"
    assert [start for _, start, _ in spans(read(trace(*events), tmp_path))] == [0, 2_000]


def test_thousands_of_instants_without_a_category(tmp_path: Path) -> None:
    """2021: memory events fill whole pieces of a trace; what lies among them is read as anywhere."""

    def instant(number: int, **args: Any) -> dict[str, Any]:
        return {"ph": "i", "s": "t", "name": "[memory]", **MAIN, "ts": number, "args": {"Device Type": 1} | args}

    instants = [instant(number, Bytes=number, **{"Device Id": number % 2}) for number in range(15_000)]
    others = [
        instant(7_500),
        {"ph": "i", "name": "Iteration Start", **MAIN, "ts": 7_500},
        {"ph": "M", "name": "thread_name", **MAIN, "args": {"name": "trainer"}},
        {"ph": "B", "name": "unknown", **MAIN, "ts": 7_500},
    ]
    capture = read(trace(op(ts=3), *instants[:7_000], *others, *instants[7_000:]), tmp_path)
    assert capture.memory.num_bytes.tolist() == list(range(15_000))
    assert capture.memory.time_ns.tolist() == list(range(0, 15_000_000, 1_000))
    assert capture.memory.device.tolist() == [0, 1] * 7_500
    assert [thread.name for thread in capture.threads] == ["trainer"]
    assert capture.skipped == {"memory events without a size": 1, "events without a category": 1}
