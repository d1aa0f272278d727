"""The routes of the timeline: windows, items, gaps and traces of what was imported, and of NVIDIA's databases."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES, REASON_NAMES
from tensorboard_plugin_dlprof.queries import timeline_item
from tests.imports.traces import write_long_trace, write_trace
from tests.routes.serving import Server
from tests.routes.test_response_types import fits
from tests.shared_data import shared_data

FAR = f"slack={10**17}"
IDLE = ("queued", "blocked", "launching", "host_op", "host_code", "data_loader", "io", "unrecorded", "launch_unknown")

SHARED = (
    "torch/h100_transformer_steps/*.json",
    "torch/v100_resnet50_memory/*.gz",
    "torch/a100_copies_only/*",
    "torch/cpu_only_rank34/*.gz",
    "nsight/t4_four_streams_old_schema/*.sqlite",
    "nsight/h100_2gpu_torchrun_nccl/*.sqlite",
    "nsight/a100_cuda_graphs/*.sqlite",
    "dlprof-golden/dlprof_dldb.sqlite",
)


class Profile:
    """A served profile."""

    def __init__(self, source: Path, folder: Path) -> None:
        logs = folder / "logs"
        if "golden" in str(source):
            logs.mkdir()
            (logs / source.name).write_bytes(source.read_bytes())
        else:
            assert main(["import", str(source), "-o", str(logs)]) == 0
        (self.database,) = logs.rglob("*.sqlite")
        self.server = Server(logs, folder / "cache")
        self.id = self.server.profile(self.database.name)["id"]

    def ask(self, path: str) -> Any:
        """The response to a request."""
        return self.server.get(f"{path}{'&' if '?' in path else '?'}profile={self.id}")

    def get(self, path: str) -> Any:
        """The JSON of a response."""
        response = self.ask(path)
        assert response.status_code == 200, response.json
        return response.json

    def rows(self, table: str, start: int, stop: int) -> list[dict[str, Any]]:
        """All rows of a table of gaps."""
        result: list[dict[str, Any]] = []
        while True:
            page = self.get(f"/table?table={table}&from={start}&to={stop}&limit=1000&offset={len(result)}")
            result += page["rows"]
            if len(result) >= page["total"]:
                return result


@pytest.fixture(params=SHARED, scope="module")
def profile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """A recorded profile."""
    (source,) = shared_data().glob(request.param)
    result = Profile(source, tmp_path_factory.mktemp("timeline"))
    yield result
    result.server.app.close()


def test_the_typical_iteration_is_the_one_that_pages_select(profile: Profile) -> None:
    """The lower one of the two in the middle, by length, of those that are aggregated; it is one of the list."""
    iterations = profile.get("/timeline")["iterations"]
    assert iterations["typical"] in iterations["list"]
    profiled = [row for row in profile.get("/dashboard")["iterations"]["rows"] if row["profiled"]]
    lengths = sorted((row["duration_ns"], row["iteration"]) for row in profiled)
    assert iterations["typical"]["iteration"] == lengths[(len(lengths) - 1) // 2][1]


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
            seen += row["host"] == "cudaStreamSynchronize in /to"
    assert seen > 3


def test_items_of_a_window_are_the_work_in_it(profile: Profile) -> None:
    """All of it where it is little, at their times; and no answer has more than 100 kB."""
    about = profile.get("/timeline")
    start, stop = about["start"], about["stop"]
    tracks = ",".join(str(track["id"]) for track in about["tracks"][:16])
    with closing(sqlite3.connect(profile.database)) as con:
        work = []
        for table in ("kernels", "memcpys", "memsets"):
            work += con.execute(f"SELECT gpu_start, gpu_stop FROM read_only_{table}").fetchall()
        if con.execute("SELECT count(*) FROM sqlite_master WHERE name = 'ext_graph_launches'").fetchone()[0]:
            work += con.execute("SELECT gpu_start, gpu_stop FROM ext_graph_launches").fetchall()
    streams = {track["id"] for track in about["tracks"] if track["kind"] == "stream"}
    for level in range(12):
        span = max((stop - start) >> level, 1)
        low = start + (stop - start - span) // 2
        answer = profile.ask(f"/timeline?from={low}&to={low + span}&width=1600&tracks={tracks}")
        assert len(answer.data) < 100_000
        shown = [track for track in answer.json["tracks"] if track["id"] in streams]
        if len(streams) <= 10 and all("bins" not in track for track in shown):
            result = [
                (low + begin, low + begin + length)
                for track in shown
                for begin, length in zip(track["items"]["start"], track["items"]["duration"], strict=True)
            ]
            inside = [one for one in work if one[0] < low + span and (one[1] > low or one[0] >= low)]
            assert sorted(result) == sorted(inside)


def test_answers_are_as_declared(profile: Profile) -> None:
    """Every key is there and no other: of all tracks, items of each kind, a moment of each GPU, and its launches."""
    about = profile.get("/timeline")
    fits(about, "TimelineOverview")
    window = f"from={about['start']}&to={about['stop']}"
    for width in (4, 4_000):
        tracks = ",".join(str(track["id"]) for track in about["tracks"][:32])
        fits(profile.get(f"/timeline?{window}&width={width}&tracks={tracks}"), "TimelineWindow")
    middle = (about["start"] + about["stop"]) // 2
    for track in about["tracks"][:32]:
        if track["kind"] == "device":
            response = profile.ask(f"/timeline_item?device={track['device']}&at={middle}")
            if response.status_code == 200:
                fits(response.json, "TimelineItem" if "id" in response.json else "TimelineGap")
            response = profile.ask(f"/launches?device={track['device']}&{window}")
            if response.status_code == 200:
                fits(response.json, "LaunchStatistics")
            response = profile.ask(f"/timeline_work?device={track['device']}&{window}")
            if response.status_code == 200:
                fits(response.json, "LargestWork")
        elif track["kind"] not in ("queue", "memory"):
            fits(profile.get(f"/timeline_item?track={track['id']}&at={about['stop']}&{FAR}")["item"], "TimelineItem")


def test_what_takes_the_most_time_of_a_window_is_cut_to_it(profile: Profile) -> None:
    """By name and by op: with few names all of the work, to the nanosecond."""
    about = profile.get("/timeline")
    middle = (about["start"] + about["stop"]) // 2
    low, high = about["start"] + (middle - about["start"]) // 2, middle
    for device in {track["device"] for track in about["tracks"] if track["kind"] == "stream"}:
        streams = [
            str(track["id"]) for track in about["tracks"] if track["kind"] == "stream" and track["device"] == device
        ]
        if len(streams) > 1:
            continue
        answer = profile.get(f"/timeline_work?device={device}&from={low}&to={high}")
        window = profile.get(f"/timeline?from={low}&to={high}&width=8000&tracks={','.join(streams)}")
        items = window["tracks"][0]["items"]
        cut = [
            min(start + length, high - low) - max(start, 0)
            for start, length in zip(items["start"], items["duration"], strict=True)
        ]
        for key in ("works", "ops"):
            times = [each["ns"] for each in answer[key]]
            assert times == sorted(times, reverse=True)
            assert all(each["count"] > 0 for each in answer[key])
            if len(times) < 5 and window["tracks"][0]["count"] == len(cut):
                assert sum(times) == sum(cut)


def test_a_search_finds_all_of_a_window(profile: Profile) -> None:
    """As many as there are, the first in order, each within the stretches that are drawn; nothing for another text."""
    about = profile.get("/timeline")
    window = f"from={about['start']}&to={about['stop']}"
    searched = [track for track in about["tracks"] if track["kind"] in ("stream", "op", "range")]
    for track in searched[:8]:
        text = profile.get(f"/timeline_item?track={track['id']}&at={about['stop']}&{FAR}")["item"]["name"]
        if not text or text.startswith(("Mem", "CUDA graph")):
            continue
        answer = profile.get(f"/timeline_hits?{window}&tracks={track['id']}&search={quote(text)}")
        fits(answer, "TimelineHits")
        assert answer["count"] >= len(answer["listed"]) > 0
        starts = [each["start"] for each in answer["listed"]]
        assert starts == sorted(starts)
        (drawn,) = answer["tracks"]
        begins = [about["start"] + start for start in drawn["start"]]
        ends = [start + length for start, length in zip(begins, drawn["duration"], strict=True)]
        for each in answer["listed"]:
            assert any(
                begin <= each["start"] and each["start"] + each["duration"] <= end
                for begin, end in zip(begins, ends, strict=True)
            )
    assert profile.get(f"/timeline_hits?{window}&search=no%20such%20name")["count"] == 0


def test_a_search_draws_what_the_ops_found_launched(profile: Profile) -> None:
    """A kernel lies in the stretches of its stream when its op is searched for, and is not counted for that."""
    about = profile.get("/timeline")
    window = f"from={about['start']}&to={about['stop']}"
    for track in about["tracks"]:
        if track["kind"] != "stream":
            continue
        work = profile.get(f"/timeline_item?track={track['id']}&at={about['stop']}&{FAR}")["item"]
        path = work["facts"].get("op", "")
        if not path or path in work["name"]:
            continue
        answer = profile.get(f"/timeline_hits?{window}&tracks={track['id']}&search={quote(path)}")
        (drawn,) = answer["tracks"]
        assert any(
            about["start"] + start <= work["start"] < about["start"] + start + max(length, 1)
            for start, length in zip(drawn["start"], drawn["duration"], strict=True)
        )
        assert answer["count"] == 0


def test_an_item_names_its_call_and_op(profile: Profile) -> None:
    """A kernel's call began before it and its op around the call, where both are recorded."""
    about = profile.get("/timeline")
    for track in about["tracks"]:
        if track["kind"] in ("device", "queue", "memory"):
            continue
        window = profile.get(f"/timeline?from={about['start']}&to={about['stop']}&width=4000&tracks={track['id']}")
        for number in window["tracks"][0]["items"]["id"][:3]:
            item = profile.get(f"/timeline_item?id={number}")
            assert item["id"] == number
            there = profile.get(f"/timeline_item?track={track['id']}&at={item['start']}")["item"]
            assert there["start"] <= item["start"] <= there["start"] + there["duration"]
            if track["kind"] in ("op", "range"):
                times = [work["duration"] for work in item["works"]]
                assert times == sorted(times, reverse=True)
                assert item["launched"]["ns"] >= sum(times)
                assert (item["launched"]["ns"] == sum(times)) == (item["launched"]["count"] == len(times))
                for work in item["works"]:
                    start = profile.get(f"/timeline_item?id={work['id']}")["call"]["start"]
                    assert item["start"] <= start < item["start"] + item["duration"]
            call = item.get("call")
            if call:
                assert item["starts_before_call"] or item["start"] >= call["start"]
                assert number in [work["id"] for work in profile.get(f"/timeline_item?id={call['id']}")["works"]]


def test_what_has_the_colour_of_a_bin_is_found(profile: Profile) -> None:
    """Of all around a moment the longest there of the class that takes most, as the items of the window tell."""
    about = profile.get("/timeline")
    for track in about["tracks"]:
        if track["kind"] != "stream":
            continue
        window = profile.get(f"/timeline?from={about['start']}&to={about['stop']}&width=8000&tracks={track['id']}")
        first = about["start"] + window["tracks"][0]["items"]["start"][0]
        span = 200_000
        near = profile.get(f"/timeline?from={first}&to={first + span}&width=8000&tracks={track['id']}")["tracks"][0]
        if "bins" in near:
            continue
        items = near["items"]
        ends = [start + length for start, length in zip(items["start"], items["duration"], strict=True)]
        inside = [min(end, span) - max(start, 0) for start, end in zip(items["start"], ends, strict=True)]
        times: dict[int, int] = {}
        for work_class, ns in zip(items["class"], inside, strict=True):
            times[work_class] = times.get(work_class, 0) + ns
        most = max(times.values())
        place = f"track={track['id']}&at={first + span // 2}&span={span}"
        there = profile.get(f"/timeline_item?{place}")["item"]
        work_class = about["classes"]["stream"].index(there["class"])
        own = [ns for ns, each in zip(inside, items["class"], strict=True) if each == work_class]
        assert times[work_class] == most
        assert inside[items["id"].index(there["id"])] == max(own)


def test_a_thread_is_of_the_backward_pass_where_most_of_its_ops_are(profile: Profile) -> None:
    """Never the first thread of a process, which drives the program."""
    tracks = profile.get("/timeline")["tracks"]
    assert not [track for track in tracks if track.get("backward") and track["thread"] == track["process"]]


def test_what_a_long_range_launched_is_not_read(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls may be all ten millions of a recording: that they are too many is found out before one is read."""
    monkeypatch.setattr(timeline_item, "_MOST_PARTS_OF_OP", 0)
    monkeypatch.setattr(timeline_item, "items_in", None)
    about = profile.get("/timeline")
    # By another address than those of other tests, whose answers are kept.
    for track in about["tracks"]:
        if track["kind"] in ("op", "range"):
            item = profile.get(f"/timeline_item?track={track['id']}&at={about['stop']}&slack={10**17 - 1}")["item"]
            assert item["launched"] is None or not item["launched"]["count"], "no call is inside"
            assert item["works"] == []


def test_what_is_near_a_moment_is_found_and_what_is_farther_is_not(profile: Profile) -> None:
    """As near as asked for: empty room between two items belongs to neither."""
    about = profile.get("/timeline")
    for track in about["tracks"]:
        if track["kind"] in ("device", "queue", "memory"):
            continue
        last = profile.get(f"/timeline_item?track={track['id']}&at={about['stop']}&{FAR}")["item"]
        behind = last["start"] + last["duration"] + 100
        assert profile.get(f"/timeline_item?track={track['id']}&at={behind}&slack=100")["item"] is None
        there = profile.get(f"/timeline_item?track={track['id']}&at={behind}&slack=101")["item"]
        assert there["start"] + there["duration"] == behind - 100


def test_what_a_gpu_did_before_and_after_leads_from_work_to_gap_to_work(profile: Profile) -> None:
    """Each begins by the end of the one before it, and ends later; the way back is the same where nothing overlaps."""
    about = profile.get("/timeline")
    for device in [track["device"] for track in about["tracks"] if track["kind"] == "device"]:
        streams = [track["id"] for track in about["tracks"] if track["kind"] == "stream" and track["device"] == device]
        items = [profile.get(f"/timeline_item?track={track}&at={about['start']}&{FAR}")["item"] for track in streams]
        here = next((item for item in items if item is not None), None)
        for _ in range(12 if here is not None else 0):
            stop = here["start"] + here["duration"]
            after = here["after"]
            if after is None:
                break
            assert after["start"] <= stop < after["start"] + after["duration"]
            place = f"device={device}&at={stop}" if after["id"] is None else f"id={after['id']}"
            there = profile.get(f"/timeline_item?{place}")
            assert ("cause" in there) == (after["id"] is None)
            assert there.get("label", there.get("name")) == after["name"]
            if there["start"] == stop and here["duration"]:
                assert there["before"]["start"] + there["before"]["duration"] >= stop
            here = there


@pytest.mark.parametrize(
    "profile", ["xplane/mi300x_jax_attention/*.xplane.pb", "dlprof-golden/dlprof_dldb.sqlite"], indirect=True
)
def test_a_long_name_keeps_what_tells_it_apart(profile: Profile) -> None:
    """A kernel's begins as it does, a path is cut to its last part: neither begins in the middle of a word."""
    about, long = profile.get("/timeline"), 0
    begin, stop = (about["iterations"]["longest"][end] for end in ("start", "stop"))
    step = (stop - begin) // 4 + 1
    for track in (each["id"] for each in about["tracks"] if each["kind"] in ("op", "range", "stream")):
        for low in range(begin, stop, step):
            (shown,) = profile.get(f"/timeline?from={low}&to={low + step}&width=8000&tracks={track}")["tracks"]
            named = {name: number for number, name in zip(shown["items"]["id"], shown["items"]["name"], strict=True)}
            for name, number in list(named.items())[:20] if "items" in shown else ():
                text = shown["names"][name] if name >= 0 else ""
                whole = profile.get(f"/timeline_item?id={number}")["name"]
                long += bool(text) and len(whole) > 120
                assert whole.startswith(text) or (text.startswith("/") and whole.endswith(text))
    assert long


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


def test_a_trace_is_what_the_command_writes(profile: Profile, tmp_path: Path) -> None:
    """For the same window, compressed, and never for another site."""
    about = profile.get("/timeline")
    window = f"from={about['start']}&to={(about['start'] + about['stop']) // 2}"
    sent = profile.ask(f"/trace?{window}")
    assert sent.headers["Content-Encoding"] == "gzip"
    options = ["--from", str(about["start"]), "--to", str((about["start"] + about["stop"]) // 2)]
    assert main(["trace", str(profile.database), "-o", str(tmp_path / "t.json"), *options]) == 0
    assert json.loads(gzip.decompress(sent.data)) == json.loads((tmp_path / "t.json").read_bytes())


def test_windows_come_from_stored_levels_where_there_is_much(tmp_path: Path) -> None:
    """Of 80,000 kernels, the bins of the whole capture add up to the parts."""
    result = Profile(write_long_trace(tmp_path / "long.json"), tmp_path)
    about = result.get("/timeline")
    start, stop = about["start"], about["stop"]
    window = result.get(f"/timeline?from={start}&to={stop}&width=1000")
    streams = {track["id"] for track in about["tracks"] if track["kind"] == "stream"}
    (stream,) = (track for track in window["tracks"] if track["id"] in streams)
    assert "items" not in stream
    assert 500 < len(stream["bins"]["class"]) <= 1_001
    assert sum(window["parts"]["0"].values()) == stop - start
    result.server.app.close()


@pytest.mark.parametrize(
    "path",
    [
        "/timeline?from=5&to=5",
        "/timeline?from=0&to=x",
        "/timeline?from=0",
        "/timeline?from=0&to=5&width=0",
        "/timeline?from=0&to=5&tracks=1,x",
        "/timeline?from=0&to=5&tracks=999999",
        "/timeline_item",
        "/timeline_item?at=5&step=sideways",
        "/table?table=gaps",
        "/table?table=gaps&from=5&to=1",
        "/trace?from=1",
    ],
)
def test_questions_that_make_no_sense(path: str, three_steps: Path, tmp_path: Path) -> None:
    """One sentence each."""
    (tmp_path / "logs").mkdir()
    shutil.copyfile(three_steps, tmp_path / "logs" / three_steps.name)
    server = Server(tmp_path / "logs", tmp_path / "cache")
    profile = server.profile(three_steps.name)["id"]
    answer = server.get(f"{path}{'&' if '?' in path else '?'}profile={profile}")
    assert answer.status_code == 400
    assert answer.json["error"]["message"].endswith(".")
    server.app.close()


def test_a_replaced_database_is_told_by_its_windows(three_steps: Path, tmp_path: Path) -> None:
    """Its state is another than that of the overview that a page has, so that the page asks for that again."""
    logs = tmp_path / "logs"
    logs.mkdir()
    database = logs / three_steps.name
    shutil.copyfile(three_steps, database)
    server = Server(logs, tmp_path / "cache")
    profile = server.profile(database.name)["id"]
    window = f"/timeline?from=0&to=100&profile={profile}"
    state = server.get(f"/timeline?profile={profile}").json["state"]
    assert server.get(window).json["state"] == state
    source = write_trace(tmp_path / "other.json", steps=30)
    assert main(["import", str(source), "-o", str(tmp_path / "other")]) == 0
    next((tmp_path / "other").glob("*.sqlite")).replace(database)
    assert server.get(window).json["state"] != state
    server.app.close()
