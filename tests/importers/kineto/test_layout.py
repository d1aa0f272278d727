"""Times, layouts and broken events of trace files: small traces, each named for its oddity."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.importers.kineto import reader
from tensorboard_plugin_dlprof.importers.kineto.lenient import decode_event
from tensorboard_plugin_dlprof.importers.kineto.times import NO_START
from tests.importers.kineto.traces import kernel, op, read, spans, texts, trace
from tests.imports.traces import write_trace


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


@pytest.mark.parametrize(
    ("odd", "skipped"),
    [
        ("1712195495519689.25", {}),
        ("null", {NO_START: 1}),
        ('"at noon"', {NO_START: 1}),
        ("9999999999999999.999", {NO_START: 1}),
        ("99999999999999999999.9", {NO_START: 1}),
        ("1712195495519689e000", {}),
    ],
)
def test_times_are_exact_beside_one_of_another_form(tmp_path: Path, odd: str, skipped: dict[str, int]) -> None:
    """Digits are read together where all times are written alike, otherwise one by one: with the same result."""
    event = '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": %s, "dur": 0.004}'
    events = ", ".join(event % stamp for stamp in ("1712195495519689.047", odd, "1712195495519689.952"))
    capture = read(f'{{"traceEvents": [{events}]}}'.encode(), tmp_path)
    assert capture.info.base_time_ns + min(capture.ranges.start_ns) in (1712195495519689000, 1712195495519689047)
    assert capture.info.base_time_ns + max(capture.ranges.start_ns) == 1712195495519689952
    assert capture.skipped == skipped


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
    ("end", "skipped"), [("]", {}), ("]\n\n", {}), ("", {reader.CUT_SHORT: 1}), (",", {reader.CUT_SHORT: 1})]
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
    assert capture.skipped == {reader.CUT_SHORT: 1}


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
        ("start with an endless exponent", event_text(ts="1e999999999999"), "events without a usable start time"),
        ("duration with an endless exponent", event_text(dur="1e999999999999"), "events without a usable duration"),
        ("a number", "17", "entries of the event list that are not events"),
        ("null", "null", "entries of the event list that are not events"),
        ("a text", '"{ [ }"', "entries of the event list that are not events"),
        ("a list", '[{"ph": "X"}]', "entries of the event list that are not events"),
        ("a stray bracket", "}", "entries of the event list that are not events"),
        ("missing value", event_text(name="").replace('"ts"', '"name": , "ts"'), "events that are broken JSON"),
        ("JSON as a name", event_text(name='"{"a": "b", "c": 1}"'), "events that are broken JSON"),
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


def test_unknown_categories_without_number_are_told_together(tmp_path: Path) -> None:
    """A program may give each event a category of its own: the most frequent are told by name."""
    odd = [{**op(), "cat": f"own {number}"} for number in range(100) for _ in range(2 if number < 20 else 1)]
    skipped = read(trace(op(), *odd), tmp_path).skipped
    described = {f"events of the unknown category 'own {number}'": 2 for number in range(20)}
    assert skipped == described | {"events of 80 other unknown categories": 80}


@pytest.mark.parametrize("stamp", ["5.25", "1712195495519689", "1712195495519689.25"])
def test_times_written_as_text_are_decoded_by_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stamp: str
) -> None:
    """A trace may have text in place of all its times: to read each event for itself takes ten times as long."""
    alone: list[bytes] = []
    monkeypatch.setattr(reader, "decode_event", lambda text, kind: alone.append(text) or decode_event(text, kind))
    text = trace(op(ts=stamp, dur="0.5"), kernel(ts=stamp, dur="0.25"), op("last", ts=stamp, dur="0"))
    capture = read(text, tmp_path)
    assert capture.info.base_time_ns == round(Decimal(stamp) * 1000)
    assert sorted(spans(capture)) == [("aten::mm", 0, 500), ("last", 0, 0)]
    assert capture.work.end_ns.tolist() == [250]
    assert [b"last" in each for each in alone] == [True], "behind the last gap between two events"


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
        ("process of a billion digits", event_text(pid="1e999999999").encode(), "bad"),
        ("thread of a billion digits", event_text(tid="-1e999999999").encode(), "bad"),
        ("process of many digits", event_text(pid='"' + "1" * 5000 + '"').encode(), "bad"),
        ("correlation of a billion digits", event_text(args='{"correlation": 1e999999999}').encode(), "bad"),
        ("infinite process", event_text(pid="1e999").encode(), "bad"),
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
