"""What PyTorch writes into a trace as it is, without escaping it: the text of real traces, from 1.12 to 2.13."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.importers.kineto.traces import op, read, spans, texts, trace

_EVENT = """{
    "ph": "X", "cat": "user_annotation",
    "name": "%s", "pid": 100, "tid": 100,
    "ts": 10, "dur": 5,
    "args": {
      "External id": 7, "Trace name": "PyTorch Profiler"
    }
  }"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param('say "hello" twice', id="quotation marks"),
        pytest.param('{"name": 1}', id="JSON"),
        pytest.param('an odd " one', id="one quotation mark"),
        pytest.param('library = Library("_inductor_test", "IMPL")\n(1): <module>', id="code on two lines"),
        pytest.param(r"torch\cuda\__init__.py(219): _lazy_init", id="path of Windows"),
        pytest.param(r"torch\nn\modules\module.py(1): _call_impl", id="path that begins as escapes do"),
        pytest.param('quote " back \\ slash / tab \t newline \n nul', id="both"),
        pytest.param('ends in "', id="quotation mark at the end"),
        pytest.param("ends in \\", id="backslash at the end"),
    ],
)
@pytest.mark.parametrize("separator", [",\n  ", ", "])
def test_a_name_that_was_not_escaped_is_read_as_it_was_given(tmp_path: Path, name: str, separator: str) -> None:
    """``record_function`` and frames of Python: the event is not lost, nor are those around it."""
    good = [json.dumps(op(ts=number)) for number in range(2000)]
    text = separator.join([*good[:1000], _EVENT % name, *good[1000:]])
    capture = read(f'{{"traceEvents": [{text}]}}'.encode(), tmp_path)
    assert capture.skipped == {}
    assert spans(capture).count((name, 10_000, 15_000)) == 1
    assert texts(capture, capture.ranges.name).count("aten::mm") == 2000


def test_what_was_escaped_is_left_alone(tmp_path: Path) -> None:
    """Beside a text that was not escaped, others may be."""
    event = _EVENT.replace('"PyTorch Profiler"', r'"a \"b\", \"c\": \\ \u00e9"') % 'the "name"'
    capture = read(f'{{"traceEvents": [{event}]}}'.encode(), tmp_path)
    assert texts(capture, capture.ranges.name) == ['the "name"']


def test_two_events_are_never_read_as_one(tmp_path: Path) -> None:
    """A quotation mark too few does not make a name of all that follows."""
    broken = '{"ph": "X", "cat": "cpu_op", "name": "bad, "pid": 1, "tid": 1, "ts": 1, "dur": 1}'
    for separator in (", ", ",\n"):
        events = [broken, json.dumps(op(ts=20)), json.dumps(op(ts=30))]
        capture = read(f'{{"traceEvents": [{separator.join(events)}]}}'.encode(), tmp_path)
        assert texts(capture, capture.ranges.name) == ["aten::mm", "aten::mm"]
        assert capture.skipped == {"events that are broken JSON": 1}


@pytest.mark.parametrize("value", ['"the "best" model"', '"C:\\models"', '"/"a/" / b"'])
def test_metadata_of_the_user_that_was_not_escaped_costs_nothing(tmp_path: Path, value: str) -> None:
    """``add_metadata`` writes a value between quotation marks as it is."""
    head = f'"schemaVersion": 1,\n  "note": {value},\n  "distributedInfo": {{"rank": 3}},\n  '
    events = json.dumps([op(), op(ts=20)])
    for text in (f'{{{head}"traceEvents": {events}}}', f'{{"traceEvents": {events}, {head}"displayTimeUnit": "ms"}}'):
        capture = read(text.encode(), tmp_path)
        assert (len(capture.ranges.kind), capture.info.rank) == (2, 3)
        assert capture.skipped == {}


@pytest.mark.parametrize("value", ["resnet", "", "{'lr': 0.1}", "[1, 2", '"{"lr": 0.1, "name": "a"}"'])
def test_metadata_that_is_no_json_costs_only_itself(tmp_path: Path, value: str) -> None:
    """``add_metadata_json`` writes a value as it is, whatever it is."""
    head = f'{{"schemaVersion": 1, "note": {value}, "distributedInfo": {{"rank": 3}}, '
    capture = read(f'{head}"traceEvents": {json.dumps([op()])}}}'.encode(), tmp_path)
    assert (len(capture.ranges.kind), capture.info.rank) == (1, 3)
    assert capture.skipped == {"metadata before the events that is broken JSON": 1}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"a": "x', id="texts that do not end"),
        pytest.param('"a": "\\"}', id="escaped ends"),
        pytest.param('"a": [', id="lists that do not end"),
        pytest.param('"a": {', id="objects that do not end"),
        pytest.param('"a":' + " " * 50, id="blanks"),
        pytest.param('"', id="quotation marks"),
    ],
)
def test_a_megabyte_that_cannot_be_mended_takes_no_time(tmp_path: Path, text: str) -> None:
    """Each is looked at a fixed number of times: looking again from every key would take hours."""
    hostile = text * ((1 << 20) // len(text))
    head = '{"distributedInfo": {"rank": 3}, ' + hostile + ', "traceEvents": [' + json.dumps(op()) + "]}"
    assert read(head.encode(), tmp_path).info.rank == 3
    event = '{"ph": "X", "args": {' + hostile + "}}"
    capture = read(trace(op())[:-2] + b",\n" + event.encode() + b",\n" + json.dumps(op()).encode() + b"]}", tmp_path)
    assert len(capture.ranges.kind) >= 1
    assert sum(capture.skipped.values()) >= 1
