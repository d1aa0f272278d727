"""Gaps of what was imported, and of NVIDIA's databases: their causes, times and order."""

from __future__ import annotations

import json

import pytest

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES, REASON_NAMES
from tests.shared_data import shared_data
from tests.tracks.profiles import Profile

IDLE = ("queued", "blocked", "launching", "host_op", "host_code", "data_loader", "io", "unrecorded", "launch_unknown")


def test_parts_of_any_window_add_up(profile: Profile) -> None:
    """For every GPU, to the nanosecond; and gaps, one by one and grouped, are what is idle."""
    about = profile.get("/timeline")
    start, stop = about["start"], about["stop"]
    devices = [track for track in about["tracks"] if track["kind"] == "device"]
    for low, high in ((start, stop), (start + (stop - start) // 3, start + (stop - start) // 2)):
        window = profile.get(f"/timeline?from={low}&to={high}&width=900")
        assert len(window["parts"]) == len(devices)
        gaps, groups = profile.rows("gaps", low, high), profile.rows("gap_groups", low, high)
        for device, parts in window["parts"].items():
            # The activity of a GPU lasts from the first event of the capture to the last.
            assert sum(parts.values()) <= high - low
            assert (low, high) == (start, stop) or sum(parts.values()) == high - low
            idle = sum(parts.get(part, 0) for part in IDLE)
            assert sum(row["duration_ns"] for row in gaps if row["device"] == int(device)) == idle
            assert sum(row["total_ns"] for row in groups if row["device"] == int(device)) == idle


def test_a_strip_has_one_length_for_a_wait_and_names_its_gap(profile: Profile) -> None:
    """Neighbours of one cause are one stretch, however many calls the host made in it; its gap is one of the table."""
    about = profile.get("/timeline")
    start, stop = about["start"], about["stop"]
    low = start + (stop - start) // 3
    high = low + (stop - start) // 50 + 1
    for track in about["tracks"]:
        if track["kind"] != "device":
            continue
        answer = profile.get(f"/timeline?from={low}&to={high}&width=1600&tracks={track['id']}")
        items = answer["tracks"][0]["items"]
        ends = [begin + length for begin, length in zip(items["start"], items["duration"], strict=True)]
        touching = [at for at in range(1, len(ends)) if items["start"][at] == ends[at - 1]]
        assert all(items["class"][at] != items["class"][at - 1] for at in touching)
        gaps = {
            (row["start_ns"] - low, row["duration_ns"])
            for row in profile.rows("gaps", low, high)
            if row["device"] == track["device"]
        }
        assert set(zip(items["gap_start"], items["gap_duration"], strict=True)) <= gaps


def test_groups_of_gaps_count_and_measure_the_same_gaps(profile: Profile) -> None:
    """No two rows show the same cause and ops of a GPU, a single gap is the longest, and no gap exceeds the listed."""
    about = profile.get("/timeline")
    start, stop = about["start"], about["stop"]
    gaps, groups = profile.rows("gaps", start, stop), profile.rows("gap_groups", start, stop)
    assert {row["reason"] for row in gaps} | {row["reason"] for row in groups} <= {"", *REASON_NAMES.values()}
    shown = [(row["device"], row["cause"], row["op"]) for row in groups]
    assert len(set(shown)) == len(shown)
    for row in groups:
        before = [gap for gap in gaps if (gap["device"], path_pattern(gap["op"])) == (row["device"], row["op"])]
        assert row["gaps"] <= len(before)
        assert row["longest_ns"] <= max(gap["duration_ns"] for gap in before)
        assert row["longest_ns"] <= row["total_ns"] <= row["gaps"] * row["longest_ns"]


def test_a_gap_has_the_cause_that_takes_most_of_it(profile: Profile) -> None:
    """Told with its time, which is that of all pieces of the cause, as the details of the gap have them."""
    about = profile.get("/timeline")
    rows = profile.rows("gaps", about["start"], about["stop"])
    for row in rows[:: len(rows) // 40 + 1]:
        gap = profile.get(f"/timeline_item?device={row['device']}&at={row['start_ns']}")
        sums: dict[str, int] = {}
        for part in gap["parts"]:
            sums[NAMES[part["part"]]] = sums.get(NAMES[part["part"]], 0) + part["duration"]
        if row["duration_ns"] == gap["duration"]:
            assert sums[row["cause"]] == row["cause_ns"] == max(sums.values())
            assert row["cause"] == gap["label"]


@pytest.mark.parametrize("profile", ["torch/v100_megatron_tp2_rank0/*.json"], indirect=True)
def test_the_host_is_in_the_call_that_runs_while_work_waits(profile: Profile) -> None:
    """Not in the one that launched the work, which returned long before: as the raw trace has it."""
    (source,) = shared_data().glob("torch/v100_megatron_tp2_rank0/*.json")
    events = [event for event in json.loads(source.read_bytes())["traceEvents"] if event.get("ph") == "X"]
    begin = min(event["ts"] for event in events if event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime"))
    calls = [
        (event["name"], (event["ts"] - begin) * 1e3, (event["ts"] + event["dur"] - begin) * 1e3)
        for event in events
        if event["cat"] == "cuda_runtime"
    ]
    seen = 0
    for row in profile.rows("gaps", 0, 62_600_000):
        # What else such a gap has is short, and before it.
        start, stop = row["start_ns"] + row["duration_ns"] - row["cause_ns"], row["start_ns"] + row["duration_ns"]
        if row["cause"] == "Queued" and row["cause_ns"] > 1_000_000:
            longest = max(calls, key=lambda call: min(call[2], stop) - max(call[1], start))
            is_in_call = min(longest[2], stop) > max(longest[1], start)
            assert row["host"].split(" in ")[0] == (longest[0] if is_in_call else "")
            seen += row["host"] == "cudaStreamSynchronize in to"
    assert seen > 3


def test_next_gaps_are_those_of_the_table(profile: Profile) -> None:
    """One after the other, forwards and backwards, each with its parts."""
    about = profile.get("/timeline")
    device = next((track["device"] for track in about["tracks"] if track["kind"] == "device"), None)
    if device is None:
        return
    rows = profile.rows("gaps", about["start"], about["stop"])
    gaps = sorted(row["start_ns"] for row in rows if row["device"] == device)
    inner = gaps[1:4] if len(gaps) > 4 else []
    at = inner[0] - 1 if inner else 0
    for expected in inner:
        gap = profile.get(f"/timeline_item?device={device}&at={at}&step=next")["gap"]
        assert gap["start"] == expected
        assert sum(part["duration"] for part in gap["parts"]) == gap["duration"]
        at = gap["start"] + gap["duration"]
    if inner:
        back = profile.get(f"/timeline_item?device={device}&at={inner[-1]}&step=previous")["gap"]
        assert back["start"] == inner[-2]
