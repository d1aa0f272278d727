"""Small traces, each named for its oddity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.events.tables import Capture, RangeKind, WorkKind
from tensorboard_plugin_dlprof.importers import kineto_text
from tests.importers.kineto_traces import GPU, MAIN, kernel, op, read, texts, trace, x
from tests.imports.traces import write_trace

LAUNCH = x("cuda_runtime", "cudaLaunchKernel", 11, 1, correlation=1)


def spans(capture: Capture) -> list[tuple[str, int, int]]:
    """Name, start and end of every host range."""
    ranges = capture.ranges
    return list(zip(texts(capture, ranges.name), ranges.start_ns.tolist(), ranges.end_ns.tolist(), strict=True))


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
    ],
)
def test_categories_are_known_by_old_and_new_names_in_any_case(tmp_path: Path, category: str, kind: WorkKind) -> None:
    """What 2020 calls Kernel, Memcpy and Memset is today's kernel, gpu_memcpy and gpu_memset."""
    capture = read(trace(x(category, "k", 1, 2, GPU)), tmp_path)
    assert capture.work.kind.tolist() == [kind]
    assert capture.skipped == {}


@pytest.mark.parametrize("category", ["Runtime", "cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime"])
def test_calls_of_every_runtime_are_calls(tmp_path: Path, category: str) -> None:
    """Categories that end in _runtime or _driver hold host calls."""
    assert len(read(trace(x(category, "launch", 1, 2, correlation=5)), tmp_path).calls.start_ns) == 1


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
        x("cpu_instant_event", "[OutOfMemory]", 1, 0) | {"ph": "i"},
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


@pytest.mark.parametrize(
    ("first", "second", "base_ns", "gap_ns"),
    [
        pytest.param("1712195495519689.047", "1712195495519689.048", 1712195495519689047, 1, id="absolute, decimals"),
        pytest.param("1712195495519689", "1712195495519690", 1712195495519689000, 1000, id="absolute, whole"),
        pytest.param("6869181218001.421", "6869181218001.422", 6869181218001421, 1, id="relative, decimals"),
        pytest.param(
            "1712999999999999.999", "1713000000000000.001", 1712999999999999999, 2, id="leading digits change"
        ),
        pytest.param('"1712195495519689.047"', '"1712195495519689.048"', 1712195495519689047, 1, id="as text"),
        pytest.param("0.001", "0.002", 1, 1, id="from zero"),
        pytest.param("-5.5", "1.25", -5500, 6750, id="negative"),
        pytest.param("1.5e3", "2e3", 1500000, 500000, id="exponents"),
    ],
)
def test_times_are_exact_to_the_nanosecond(tmp_path: Path, first: str, second: str, base_ns: int, gap_ns: int) -> None:
    """A double does not hold microseconds since 1970 with three decimals; the capture does."""
    event = '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": %s, "dur": 0.004}'
    capture = read(f'{{"traceEvents": [{event % first}, {event % second}]}}'.encode(), tmp_path)
    assert capture.info.base_time_ns == base_ns
    assert capture.ranges.start_ns[0] == 0
    assert (capture.ranges.end_ns - capture.ranges.start_ns).tolist() == [4, 4]
    assert capture.ranges.start_ns[1] == gap_ns


def test_the_base_time_makes_the_clock_absolute(tmp_path: Path) -> None:
    """Times relative to baseTimeNanoseconds become wall-clock time, so that ranks share an axis."""
    capture = read(trace(op(ts=2.5), baseTimeNanoseconds=1_719_853_884_000_000_000), tmp_path)
    assert capture.info.base_time_ns == capture.info.utc_start_ns == 1_719_853_884_000_002_500


def test_a_clock_that_counts_from_boot_gives_no_wall_time(tmp_path: Path) -> None:
    """Unknown stays unknown."""
    assert read(trace(op(ts=86_400e6)), tmp_path).info.utc_start_ns == -1


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("metadata first", '{"with_stack": 1, "distributedInfo": {"rank": 3}, "traceEvents": [%s]}'),
        ("metadata last", '{"traceEvents": [%s], "distributedInfo": {"rank": 3}}'),
        ("on both sides", '{"schemaVersion": 1, "traceEvents": [%s], "distributedInfo": {"rank": 3}}'),
        ("Kineto's lines", '\n{\n  "distributedInfo": {"rank": 3},\n  "traceEvents" : [\n  %s\n  ]\n}\n'),
        ("byte order mark", '\ufeff{"distributedInfo": {"rank": 3}, "traceEvents": [%s]}'),
        (
            "the words as a value",
            '{"name": "\\"traceEvents\\": [", "distributedInfo": {"rank": 3}, "traceEvents": [%s]}',
        ),
        (
            "a list that looks like events",
            '{"traceEvents": [%s], "a": [{"b": 1},{"c": 2}], "distributedInfo": {"rank": 3}}',
        ),
    ],
)
def test_metadata_may_stand_on_either_side_of_the_events(tmp_path: Path, layout: str, text: str) -> None:
    """However the file is laid out, events and metadata arrive."""
    events = ",".join(json.dumps(op(ts=number)) for number in range(50))
    capture = read((text % events).encode(), tmp_path)
    assert (len(capture.ranges.kind), capture.info.rank) == (50, 3), layout
    assert capture.skipped == {}


@pytest.mark.parametrize(
    ("end", "skipped"), [("]", {}), ("]\n\n", {}), ("", {kineto_text.CUT_SHORT: 1}), (",", {kineto_text.CUT_SHORT: 1})]
)
def test_a_bare_array_is_a_trace_and_may_lack_its_end(tmp_path: Path, end: str, skipped: dict[str, int]) -> None:
    """Chrome's format allows both; a missing end may mean a cut file, so it is told."""
    capture = read(("[" + json.dumps(op()) + "," + json.dumps(op(ts=20)) + end).encode(), tmp_path)
    assert len(capture.ranges.kind) == 2
    assert capture.skipped == skipped


@pytest.mark.parametrize("size", [200, 5_000, 70_000, 400_000])
def test_a_cut_file_keeps_its_whole_events(tmp_path: Path, size: int) -> None:
    """Wherever the file ends, the events before are read and the cut is told."""
    events = [op(ts=number, External_id=number) for number in range(5000)]
    whole = trace(*events)
    capture = read(whole[:size], tmp_path)
    assert len(capture.ranges.kind) == whole[:size].count(b"}}")
    assert capture.skipped == {kineto_text.CUT_SHORT: 1}


@pytest.mark.parametrize(
    ("layout", "separator"),
    [("compact", ","), ("json.dump", ", "), ("Kineto", ",\n  "), ("lines", "\n,\n"), ("carriage returns", ",\r\n")],
)
def test_any_layout_of_events_is_cut_rightly(tmp_path: Path, layout: str, separator: str) -> None:
    """Pieces end between events, even when lists of objects in ``args`` look like the gap between events."""
    events = [op(f"op{n}", ts=n, list=[{"a": 1}, {"b": 2}], text='},{"}, {') for n in range(3000)]
    text = '{"traceEvents": [' + separator.join(map(json.dumps, events)) + '], "end": 1}'
    capture = read(text.encode(), tmp_path)
    assert texts(capture, capture.ranges.name) == [event["name"] for event in events], layout
    assert capture.skipped == {}


def test_the_gap_between_events_may_change_within_a_file(tmp_path: Path) -> None:
    """Tools append events in a layout of their own."""
    one = ",\n  ".join(json.dumps(op(ts=n)) for n in range(1000))
    other = ",".join(json.dumps(op(ts=n)) for n in range(20_000))
    capture = read(f'{{"traceEvents": [{one},{other}]}}'.encode(), tmp_path)
    assert len(capture.ranges.kind) == 21_000


def event_text(**changed: str) -> str:
    """One operator as JSON text; what is given stands as it is."""
    fields = {"ph": '"X"', "cat": '"cpu_op"', "name": '"bad"', "pid": "1", "tid": "1", "ts": "10", "dur": "5"} | changed
    return "{" + ", ".join(f'"{key}": {value}' for key, value in fields.items() if value) + "}"


@pytest.mark.parametrize(
    ("oddity", "bad", "reason"),
    [
        ("no duration", event_text(dur=""), "events without a usable duration"),
        ("null duration", event_text(dur="null"), "events without a usable duration"),
        ("infinite duration", event_text(dur="1e999"), "events without a usable duration"),
        ("negative duration", event_text(dur="-5"), "events with a negative duration"),
        ("no start", event_text(ts=""), "events without a usable start time"),
        ("null start", event_text(ts="null"), "events without a usable start time"),
        ("NaN start", event_text(ts="NaN"), "events without a usable start time"),
        ("start as a list", event_text(ts="[1]"), "events without a usable start time"),
        ("start as words", event_text(ts='"soon"'), "events without a usable start time"),
        ("start years away", event_text(ts="1712195495519689"), "events without a usable start time"),
        ("start beyond 64 bits", event_text(ts="123456789012345678901234567890"), "events without a usable start time"),
        ("a number", "17", "entries of the event list that are no events"),
        ("null", "null", "entries of the event list that are no events"),
        ("a text", '"{ [ }"', "entries of the event list that are no events"),
        ("a list", '[{"ph": "X"}]', "entries of the event list that are no events"),
        ("a stray bracket", "}", "entries of the event list that are no events"),
        ("missing value", event_text(name="").replace('"ts"', '"name": , "ts"'), "events that are broken JSON"),
        ("quotes in a name", event_text(name='"a "b" c"'), "events that are broken JSON"),
        ("a quote too few", event_text(name='"a'), "events that are broken JSON"),
        (
            "deep nesting",
            event_text(args='{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
            "events that are broken JSON",
        ),
        ("a number of 5,000 digits", event_text(dur="1" * 5000), None),
        ("an unknown category", event_text(cat='"weather"'), "events of the unknown category 'weather'"),
        ("begin without end", event_text(ph='"B"'), "begin or end events without their counterpart"),
        ("end without begin", event_text(ph='"E"'), "begin or end events without their counterpart"),
        ("no category", event_text(cat=""), "events without a category"),
        ("empty", "{}", "events without a category"),
        ("memory without size", event_text(ph='"i"', name='"[memory]"', cat=""), "memory events without a size"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 and "{" not in value else "",
)
def test_a_bad_event_costs_only_itself(tmp_path: Path, oddity: str, bad: str, reason: str | None) -> None:
    """It is skipped and counted in plain words; the good events before and after are read."""
    good = [json.dumps(op(ts=number)) for number in range(2000)]
    text = ", ".join([*good[:1000], bad, *good[1000:]])
    capture = read(f'{{"traceEvents": [{text}]}}'.encode(), tmp_path)
    assert texts(capture, capture.ranges.name) == ["aten::mm"] * 2000, oddity
    assert sum(capture.skipped.values()) == 1
    assert reason is None or capture.skipped == {reason: 1}


@pytest.mark.parametrize(
    ("oddity", "text", "name"),
    [
        ("control character", event_text(name='"a\tb\x01"').encode(), "a\tb\x01"),
        ("not UTF-8", event_text(name='"a?b"').encode().replace(b"?", b"\xff"), "a\N{REPLACEMENT CHARACTER}b"),
        ("lone surrogate", event_text(name='"a\\ud800b"').encode(), "a?b"),
        ("name is a number", event_text(name="17").encode(), "17"),
        ("no name", event_text(name="").encode(), ""),
        ("NaN in args", event_text(args='{"memory bandwidth": NaN}').encode(), "bad"),
        ("args is null", event_text(args="null").encode(), "bad"),
        ("args is a list", event_text(args="[]").encode(), "bad"),
        ("category is a list", event_text(cat='["cpu_op", "x"]').encode(), "bad"),
        ("duration is text", event_text(dur='"5"').encode(), "bad"),
        ("process is a fraction", event_text(pid="1.0").encode(), "bad"),
        ("unknown fields", event_text(more='{"a": [1, {"b": null}]}').encode(), "bad"),
    ],
)
def test_odd_types_that_make_sense_are_read(tmp_path: Path, oddity: str, text: bytes, name: str) -> None:
    """A piece that the fast decoder refuses is read event by event."""
    capture = read(b'{"traceEvents": [' + json.dumps(op(ts=5)).encode() + b"," + text + b"]}", tmp_path)
    assert spans(capture)[1] == (name, 5000, 10_000), oddity
    assert capture.skipped == {}


@pytest.mark.parametrize("number", [1 << 31, (1 << 63) - 1, -(1 << 40), 10**30])
def test_a_process_number_that_no_system_gives(tmp_path: Path, number: int) -> None:
    """Device work is of an unknown process then; nothing is lost."""
    trace = json.loads(write_trace(tmp_path / "made.json").read_text())
    for event in trace["traceEvents"]:
        event["pid"] = number if event["pid"] else 0
    capture = read(json.dumps(trace).encode(), tmp_path)
    assert len(capture.work.start_ns) == 6
    assert set(capture.work.process.tolist()) <= {0, -1}
    assert capture.skipped == {}


def test_begin_and_end_events_make_ranges(tmp_path: Path) -> None:
    """B and E nest per thread; an E need not repeat category and name."""
    events = [
        {"ph": "B", "cat": "cpu_op", "name": "outer", **MAIN, "ts": 1, "args": {"Input Dims": [[2]]}},
        {"ph": "B", "cat": "user_annotation", "name": "inner", **MAIN, "ts": 2},
        {"ph": "E", **MAIN, "ts": 3},
        {"ph": "E", "cat": "cpu_op", "name": "outer", **MAIN, "ts": 5},
    ]
    capture = read(trace(*events), tmp_path)
    assert sorted(spans(capture)) == [("inner", 1000, 2000), ("outer", 0, 4000)]
    assert sorted(texts(capture, capture.ranges.shapes)) == ["", "[[2]]"]


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
        ("Memcpy", {}, -1),
    ],
)
def test_the_direction_of_a_copy_is_cuptis_number(tmp_path: Path, name: str, args: dict[str, str], number: int) -> None:
    """From the letters in the name, else from AMD's ``kind``."""
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
    """With calls of two processes the trace does not tell whose a kernel is."""
    assert read(trace(LAUNCH, kernel()), tmp_path).work.process.tolist() == [100]
    other = x("cuda_runtime", "launch", 1, 1, {"pid": 200, "tid": 200}, correlation=1)
    assert read(trace(LAUNCH, other, kernel()), tmp_path).work.process.tolist() == [0]


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
