"""Launches of a window: how many wait, how long, which outlast their work; memory, moments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorboard_plugin_dlprof.queries.launches import Launches, queue_lengths
from tests.imports.traces import write_trace
from tests.shared_data import shared_data
from tests.tracks.profiles import Profile

spans = st.lists(st.tuples(st.integers(-20, 120), st.integers(-5, 60)), max_size=12)


@given(spans)
def test_queue_lengths_are_those_of_each_nanosecond(waits: list[tuple[int, int]]) -> None:
    """Launches wait from the begin of their call to the begin of their work."""
    begins = np.array([begin for begin, _ in waits], np.int64)
    ends = begins + np.array([length for _, length in waits], np.int64)
    rest = [np.zeros(len(waits), np.int64)] * 4
    result = queue_lengths(Launches(begins, begins, ends, *rest), 0, 100)
    lengths = [sum(begin <= moment < begin + length for begin, length in waits) for moment in range(100)]
    assert result["most"] == max(lengths)
    assert result["mean"] == pytest.approx(sum(lengths) / 100)
    edges = [one["from"] for one in result["bins"]] + [10**9]
    for one, after in zip(result["bins"], edges[1:], strict=True):
        assert one["ns"] == sum(one["from"] <= length < after for length in lengths)


def test_launches_of_a_window_are_those_whose_calls_begin_in_it(tmp_path: Path) -> None:
    """Two a step of 1 ms: calls of 2 µs, whose kernels begin 17 µs after them."""
    profile = Profile(write_trace(tmp_path / "a.json"), tmp_path)
    whole = profile.get("/launches?device=0&from=0&to=3000000")
    assert (whole["launches"], whole["unrecorded"], whole["short"]["launches"]) == (6, 0, 0)
    assert (whole["delay"]["median_ns"], whole["delay"]["p95_ns"], whole["delay"]["before_call"]) == (17_000, 17_000, 0)
    assert {one["from_ns"]: one["launches"] for one in whole["delay"]["bins"] if one["launches"]} == {10_000: 6}
    assert whole["queue"]["most"] == 1
    assert {one["from"]: one["ns"] for one in whole["queue"]["bins"] if one["ns"]} == {0: 2_886_000, 1: 114_000}
    assert whole["host_ahead_ns"] == 57_000
    calls = {item["call"]["start"]: item for item in _work(profile)}
    first = min(calls)
    alone = profile.get(f"/launches?device=0&from={first}&to={first + 1}")
    assert (alone["launches"], alone["queue"]["bins"][1]["ns"]) == (1, 1)
    assert profile.get(f"/launches?device=0&from={first + 1}&to={first + 2}")["launches"] == 0
    busy = calls[first]["start"] + 1
    assert profile.get(f"/timeline_item?device=0&at={busy}")["id"] == calls[first]["id"]
    assert "cause" in profile.get(f"/timeline_item?device=0&at={calls[first]['start'] - 1}")
    assert profile.ask("/launches?device=7&from=0&to=5").status_code == 404
    profile.server.app.close()


def test_launches_that_are_not_counted_are_told(tmp_path: Path) -> None:
    """Of ten graphs recorded as a whole, whose calls are not stored, and 30 kernels, of which the first was called
    before the first work."""
    (source,) = shared_data().glob("nsight/a100_cuda_graphs/*.sqlite")
    profile = Profile(source, tmp_path)
    window = profile.get("/timeline")["iterations"]["typical"]
    answer = profile.get(f"/launches?device=0&from={window['start']}&to={window['stop']}")
    told = {key: answer[key] for key in ("launches", "earlier", "graphs", "unrecorded")}
    assert told == {"launches": 29, "earlier": 1, "graphs": 10, "unrecorded": 0}
    profile.server.app.close()


def test_memory_is_a_track_of_what_recorded_it(tmp_path: Path) -> None:
    """Its peak is that of the Memory page, and lies in the bin of the moment that the page tells."""
    (source,) = shared_data().glob("torch/v100_resnet50_memory/*.gz")
    profile = Profile(source, tmp_path)
    about = profile.get("/timeline")
    (track,) = (one for one in about["tracks"] if one["kind"] == "memory")
    (memory,) = profile.get("/memory")["devices"].values()
    window = profile.get(f"/timeline?from={about['start']}&to={about['stop']}&width=900&tracks={track['id']}")
    result = window["tracks"][0]["in_use_bytes"]
    assert max(result) == memory["peak_bytes"]
    place = (memory["peak_ns"] - about["start"]) * len(result) // (about["stop"] - about["start"])
    assert result[place] == memory["peak_bytes"]
    profile.server.app.close()


def _work(profile: Profile) -> list[dict[str, object]]:
    about = profile.get("/timeline")
    (track,) = (one["id"] for one in about["tracks"] if one["kind"] == "stream")
    window = profile.get(f"/timeline?from={about['start']}&to={about['stop']}&tracks={track}")
    return [profile.get(f"/timeline_item?id={number}") for number in window["tracks"][0]["items"]["id"]]
