"""Files that are no usable trace end in one sentence, quickly and without a trace of Python."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, NotFound, UnsafeFile
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto import KinetoImporter, reader
from tests.importers.kineto.traces import kernel, op, read, read_path, texts, trace


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b" \n ", "is empty", id="blank"),
        pytest.param(gzip.compress(b""), "is empty", id="empty gzip"),
        pytest.param(b"{}", "is JSON without traceEvents", id="no events"),
        pytest.param(b'{"a": {"b": 1}}', "is JSON without traceEvents", id="other JSON"),
        pytest.param(b"17", "is JSON without traceEvents", id="number"),
        pytest.param(b'"traceEvents"', "is JSON without traceEvents", id="text"),
        pytest.param(b"hello", "is not JSON", id="no JSON"),
        pytest.param(b'{"schemaVersion": 1, "dev', "is not JSON or is cut short", id="cut before the events"),
        pytest.param(b'{"traceEvents": null}', "traceEvents that are not a list", id="null"),
        pytest.param(b'{"traceEvents": 5}', "traceEvents that are not a list", id="a number"),
        pytest.param(b'{"traceEvents": {"ph": "X"}}', "traceEvents that are not a list", id="an object"),
        pytest.param(b'{"traceEvents": []}', "holds no events", id="empty list"),
        pytest.param(b"[]", "holds no events", id="empty array"),
        pytest.param(
            b"[1, 2, 3]",
            "no event that can be read. Left out: entries of the event list that are not events",
            id="array of numbers",
        ),
        pytest.param(b'{"a": , "traceEvents": []}', "broken JSON before its events", id="broken head"),
        pytest.param(b'{"a": {"traceEvents": [1]}}', "broken JSON before its events", id="events of something else"),
        pytest.param(
            trace(op())[:-1] + b', "traceEvents": [{"ph": "X"}]}', "traceEvents more than once", id="events twice"
        ),
        pytest.param(
            trace(op() | {"cat": "disabled-by-default-v8"}), "not of the PyTorch profiler", id="Chrome's own trace"
        ),
        pytest.param(
            trace(*({"ph": ph, "cat": "devtools.timeline", "pid": 1, "tid": 2, "ts": 3} for ph in "BE" * 9_000)),
            "not of the PyTorch profiler .it has devtools.timeline events.",
            id="many begin and end events of Chrome's",
        ),
        pytest.param(
            trace({"ph": "b", "cat": "resnet50", "name": "1", "id": "1", "ts": 1.5, "pid": 0}),
            "not of the PyTorch profiler .it has resnet50 events.",
            id="asynchronous spans of a server",
        ),
        pytest.param(
            b'{"traceEvents": [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},'
            b'{"ph": "X", "pid": 1, "tid": 16, "ts": 1, "dur": 2, "name": "loop_fusion"}, {}]}',
            "not of the PyTorch profiler .its events have no category.",
            id="trace of JAX",
        ),
        pytest.param(
            b"[" * 100_000, "no event that can be read. Left out: the end of the event list", id="100,000 brackets"
        ),
    ],
)
def test_what_is_no_trace_is_told_in_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    """The sentence names the file as the caller did."""
    with pytest.raises(BrokenSource, match=sentence) as caught:
        read(content, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "trace.json"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("padding", ['"', "[[1]],", '"\\"'])
def test_an_event_of_more_than_8_mb_is_refused(tmp_path: Path, padding: str) -> None:
    """One never-ending event must neither fill memory nor take quadratic time."""
    text = json.dumps(op()) + ', {"ph": "X", "args": {"a": [' + padding * 10 + "1," * (10 << 20)
    with pytest.raises(BrokenSource, match="one event larger than 8 MB"):
        read(f'{{"traceEvents": [{text}'.encode(), tmp_path)


def test_a_large_event_within_the_limit_is_read(tmp_path: Path) -> None:
    """A 5 MB event costs its own size, whole or first."""
    large = op("large", ts=1, stack="x" * (5 << 20))
    capture = read(trace(large, *(op(ts=n) for n in range(1000)), large), tmp_path)
    assert texts(capture, capture.ranges.name).count("large") == 2
    assert len(capture.ranges.kind) == 1002


def test_a_kernel_name_of_megabytes_is_kept(tmp_path: Path) -> None:
    """Long names are cut for display, not when read."""
    capture = read(trace(kernel("k" * (1 << 20))), tmp_path)
    assert len(texts(capture, capture.work.name)[0]) == 1 << 20


def test_hundred_thousand_empty_events_are_counted(tmp_path: Path) -> None:
    """Nothing is lost in silence."""
    content = b'{"traceEvents": [' + b"{}," * 100_000 + json.dumps(op()).encode() + b"]}"
    assert read(content, tmp_path).skipped == {"events without a category": 100_000}


def test_a_trace_without_gpu_events_is_valid(tmp_path: Path) -> None:
    """CPU-only traces have tables without rows."""
    capture = read(trace(op(), deviceProperties=[]), tmp_path)
    assert (len(capture.work.kind), capture.devices, capture.skipped) == (0, [], {})


def test_broken_metadata_behind_the_events_costs_only_itself(tmp_path: Path) -> None:
    """The events are read and the loss is told."""
    capture = read(trace(op())[:-1] + b', "distributedInfo": {"rank": }}', tmp_path)
    assert len(capture.ranges.kind) == 1
    assert capture.skipped == {"metadata after the events that is broken JSON": 1}


@pytest.mark.parametrize("cut", [-4, -200])
def test_a_gzip_file_that_is_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    """Half a copy is no profile: the whole one still exists where it came from."""
    with pytest.raises(BrokenSource, match="cut short"):
        read(gzip.compress(trace(*(op(ts=n, a=n * n) for n in range(1000))))[:cut], tmp_path)


def test_a_gzip_file_may_not_expand_beyond_the_limit(tmp_path: Path) -> None:
    """The limit of the options holds."""
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(trace(*(op(ts=n) for n in range(10_000)))))
    with pytest.raises(UnsafeFile, match="expands to more than 100,000 bytes"):
        KinetoImporter().read(path, ReadOptions(max_expanded_bytes=100_000), lambda stage, fraction: None)


def test_absent_files_and_folders_are_told(tmp_path: Path) -> None:
    """The errors of the opener pass through."""
    with pytest.raises(NotFound):
        read_path(tmp_path / "absent.json")
    with pytest.raises(UnsafeFile):
        read_path(tmp_path)


def test_progress_rises_to_one_and_may_cancel(tmp_path: Path) -> None:
    """The fraction never falls; an exception from the callback ends the reading and closes the file."""
    path = tmp_path / "trace.json"
    path.write_bytes(trace(*(op(ts=n, text="x" * 200) for n in range(30_000))))
    seen: list[float] = []
    KinetoImporter().read(path, ReadOptions(), lambda stage, fraction: seen.append(fraction))
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1] == 1.0

    class Cancelled(Exception):
        """Raised by the caller."""

    def cancel(stage: str, fraction: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        KinetoImporter().read(path, ReadOptions(), cancel)  # an open file would be a ResourceWarning, hence an error


@pytest.mark.parametrize("seed", range(30))
def test_damaged_bytes_never_crash(tmp_path: Path, seed: int) -> None:
    """Flipped bytes end in events or in a sentence, and never lose more than they must."""
    content = bytearray(trace(*(op(f"op{n}", ts=n, Input_Dims=[[n]]) for n in range(2000)), with_stack=1))
    flips = [(seed * 7919 + step * 104_729) % (len(content) - 100) + 50 for step in range(5)]
    for position in flips:
        content[position] ^= 1 << (position % 7)
    capture = read(bytes(content), tmp_path)
    assert len(capture.ranges.kind) + sum(capture.skipped.values()) >= 1990


def test_the_tail_may_be_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata beyond the limit is given up, the events are kept."""
    monkeypatch.setattr(reader, "MAX_METADATA_BYTES", 1 << 20)
    capture = read(trace(op())[:-1] + b', "INFO": "' + b"x" * (3 << 20) + b'"}', tmp_path)
    assert len(capture.ranges.kind) == 1
