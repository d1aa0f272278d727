"""A trace makes the same tables whatever the number of processes that read it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.importers.kineto import reader
from tests.importers.kineto.traces import kernel, trace, x
from tests.shared_data import REPOSITORY, shared_data

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux copies processes")

EVENTS = 40_000
"""Some twenty megabytes: the last is never offered to the second process."""


CHUNK_BYTES = 1 << 19
"""Traces of some megabytes have enough of these for several processes."""


def read(traces: list[Path], workers: int, *, chunk_bytes: int = CHUNK_BYTES, **job: Any) -> Any:
    """What ``read_trace.py`` prints."""
    job |= {"traces": list(map(str, traces)), "workers": workers, "chunk_bytes": chunk_bytes}
    done = subprocess.run(
        [sys.executable, "-m", "tests.importers.kineto.read_trace", json.dumps(job)],
        env=os.environ | {"PYTHONHASHSEED": "0"},  # sets are written in one order
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


FEWER_EVENTS = 12_000
"""Some six megabytes: both processes read four of them."""


def events(count: int = EVENTS) -> list[dict[str, Any]]:
    """Every kind of event, with names, shapes, threads and launches that appear first all along the trace, which was
    merged from those of some ranks."""
    made: list[dict[str, Any]] = []
    for number in range(count):
        rank = f"[TP{number // 3_000:02}]"
        ts, track = number * 10, {"pid": f"{rank} 100", "tid": 100 + number // 5_000}
        made += [
            x(
                "cpu_op",
                f"aten::op{number // 50}",
                ts,
                8,
                track,
                Input_Dims=[[number % 700, 2]],
                Input_type=[f"type{number % 3}"],
                Sequence_number=number,
            ),
            x(f"cuda_{('runtime', 'driver')[number % 2]}", "cudaLaunchKernel", ts + 1, 2, track, correlation=number),
            kernel(f"kernel{number // 90}", ts + 4, 3, correlation=number, grid=[number % 300 + 1, 1, 1])
            | {"pid": f"{rank} 0"},
        ]
        if number % 7 == 0:
            flow = {"cat": "fwdbwd", "id": number, **track}
            made += [{"ph": "s", "ts": ts, **flow}, {"ph": "f", "ts": ts + 3, **flow}]
        if number % 11 == 0:
            made.append({
                "ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": ts, **track,
                "args": {"Bytes": 64, "Total Allocated": number, "Device Type": 1, "Device Id": 0},
            })  # fmt: skip
        if number % 500 == 0:
            made.append(x("unheard_of", "a", ts, 1))
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A trace, and what one process reads."""
    path = tmp_path_factory.mktemp("trace") / "plain.json"
    path.write_bytes(trace(*events()))
    return path, read([path], 1)["captures"]


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_many_processes_read_what_one_reads(made: tuple[Path, Any], workers: int) -> None:
    """Rows lie in the order of the file; texts, threads and sizes are numbered as they are met."""
    path, alone = made
    assert read([path], workers) == {"captures": alone, "copies": workers - 1, "opened": 1}


def test_a_compressed_trace_is_read_by_many(made: tuple[Path, Any], tmp_path: Path) -> None:
    """Each expands what comes before its part, and leaves it out."""
    path = tmp_path / made[0].name
    path.write_bytes(gzip.compress(made[0].read_bytes(), 1))
    assert read([path], 3) == {"captures": made[1], "copies": 2, "opened": 1}


@pytest.mark.parametrize("size_bytes", [0, 1 << 20, (1 << 32) - 1])
def test_a_wrong_size_at_the_end_of_gzip_data_changes_nothing(
    made: tuple[Path, Any], tmp_path: Path, size_bytes: int
) -> None:
    """It only says where parts begin. (Two members: the last one says its own size.)"""
    content = made[0].read_bytes()
    path = tmp_path / made[0].name
    path.write_bytes(gzip.compress(content[:-2], 1) + gzip.compress(content[-2:], 1))
    assert read([path], 2)["captures"] == made[1]
    damaged = bytearray(gzip.compress(content, 1))
    damaged[-4:] = size_bytes.to_bytes(4, "little")
    path.write_bytes(damaged)
    done = read([path], 2, may_fail=True)
    assert "does not match its checksum" in done["error"]


def test_columns_that_lie_in_files_are_the_same(made: tuple[Path, Any]) -> None:
    """All processes put what is too long for the memory into files."""
    assert read([made[0]], 2, options={"memory_bytes": 1 << 20}) == {"captures": made[1], "copies": 1, "opened": 1}


@pytest.mark.parametrize("damage", ["half a text", "begin and end"])
def test_what_can_only_be_read_in_order_is_read_by_one(damage: str, tmp_path: Path) -> None:
    """Nothing is lost: events that a quotation mark too few joins are counted, halves are joined."""
    all_events = events()
    halfway = len(all_events) // 3
    if damage == "begin and end":
        for number in range(2_000):
            half = x("cpu_op", f"half{number}", number, 1)
            all_events[halfway + number] = {**half, "ph": "E" if number % 2 else "B"}
    content = trace(*all_events)
    if damage == "half a text":
        content = content.replace(b'"name": "aten::op4', b'"name": aten::op4')
    path = tmp_path / "damaged.json"
    path.write_bytes(content)
    alone = read([path], 1)
    assert alone["captures"] != []
    two = read([path], 2)
    assert two["captures"] == alone["captures"]
    assert two["copies"] == 1


LONG_BYTES = 400_000
"""Of an event: chunks lie inside it, with no end of an event in them."""


def test_long_events_end_in_later_chunks(tmp_path: Path) -> None:
    """Where chunks hold no end of an event, their text belongs to the batch that ends behind them."""
    all_events = events(FEWER_EVENTS)
    for number in range(2_000, len(all_events), 1_500):
        all_events[number].setdefault("args", {})["Call stack"] = f"long{number}" * (LONG_BYTES // 8)
    path = tmp_path / "long.json"
    path.write_bytes(trace(*all_events))
    alone = read([path], 1)["captures"]
    for workers in (2, 5):
        assert read([path], workers) == {"captures": alone, "copies": workers - 1, "opened": 1}


def test_a_part_that_begins_in_a_very_long_event_is_read_by_one(tmp_path: Path) -> None:
    """Nobody looks back for ever for where a part begins."""
    all_events = events(FEWER_EVENTS)
    all_events[len(all_events) // 2].setdefault("args", {})["Call stack"] = "long" * (1 << 19)
    path = tmp_path / "longer.json"
    path.write_bytes(trace(*all_events))
    assert read([path], 2)["captures"] == read([path], 1)["captures"]


def test_what_looks_like_events_behind_their_list_is_none(tmp_path: Path) -> None:
    """The last part begins in the middle of what follows the list of events."""
    content = trace(*events(FEWER_EVENTS))
    path = tmp_path / "followed.json"
    path.write_bytes(content[:-1] + b', "others"' + content[content.index(b":") :])
    alone = read([path], 1)
    assert read([path], 3)["captures"] == alone["captures"]
    path.write_bytes(content)
    assert read([path], 1)["captures"] == alone["captures"]


def test_a_damaged_event_is_left_out_by_the_one_who_meets_it(tmp_path: Path) -> None:
    """It is counted, and the rest of the trace is not read anew."""
    path = tmp_path / "damaged.json"
    path.write_bytes(trace(*events(FEWER_EVENTS)).replace(b'"name": "aten::op15', b'"name": ?"aten::op15'))
    alone = read([path], 1)["captures"]
    assert read([path], 2) == {"captures": alone, "copies": 1, "opened": 1}


def test_a_process_that_dies_costs_nothing_but_time(made: tuple[Path, Any]) -> None:
    """It may be killed where memory is short."""
    two = read([made[0]], 2, copies_die=True)
    assert two == {"captures": made[1], "copies": 1, "opened": 2}


def test_a_short_trace_is_read_by_one(tmp_path: Path) -> None:
    """It is no longer than the part that is read in order."""
    path = tmp_path / "short.json"
    path.write_bytes(trace(*events(400)[:1_000]))
    alone = read([path], 1)
    assert alone["captures"] != []
    assert read([path], 2) == {**alone, "copies": 0}


def test_real_traces_read_by_many() -> None:
    """Those that are long enough for a second part."""
    traces = [path for path in sorted(shared_data().glob("torch/*/*")) if path.stat().st_size > 700_000]
    three = read(traces, 3, chunk_bytes=reader.CHUNK_BYTES)
    assert three["captures"] == read(traces, 1, chunk_bytes=reader.CHUNK_BYTES)["captures"]
    assert three["copies"] > 0
