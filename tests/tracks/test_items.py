"""What lies in a window and at a moment: items, what they launched, and what a search finds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from urllib.parse import quote

import pytest

from tensorboard_plugin_dlprof.queries import timeline_item
from tests.routes.test_response_types import fits
from tests.tracks.profiles import Profile

FAR = f"slack={10**17}"


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
