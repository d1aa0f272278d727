"""The routes of the timeline: the overview, the form of answers, traces and refusals."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.samples import DATA
from tests.imports.traces import write_long_trace, write_trace
from tests.routes.serving import Server
from tests.routes.test_response_types import fits
from tests.tracks.profiles import Profile

FAR = f"slack={10**17}"


def test_the_typical_iteration_is_the_one_that_pages_select(profile: Profile) -> None:
    """The lower one of the two in the middle, by length, of those that are aggregated; it is one of the list."""
    iterations = profile.get("/timeline")["iterations"]
    assert iterations["typical"] in iterations["list"]
    profiled = [row for row in profile.get("/dashboard")["iterations"]["rows"] if row["profiled"]]
    lengths = sorted((row["duration_ns"], row["iteration"]) for row in profiled)
    assert iterations["typical"]["iteration"] == lengths[(len(lengths) - 1) // 2][1]


def test_the_recording_is_as_long_as_on_other_pages(profile: Profile) -> None:
    """NVIDIA's databases count from before the first op."""
    about, shown = profile.get("/timeline"), profile.get("/dashboard")["iterations"]["rows"]
    assert about["start"] <= shown[0]["start_ns"]
    assert about["stop"] >= shown[-1]["start_ns"] + shown[-1]["duration_ns"]


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


def test_a_thread_is_of_the_backward_pass_where_most_of_its_ops_are(profile: Profile) -> None:
    """Never the first thread of a process, which drives the program."""
    tracks = profile.get("/timeline")["tracks"]
    assert not [track for track in tracks if track.get("backward") and track["thread"] == track["process"]]


def test_the_only_thread_that_runs_ops_is_not_of_the_backward_pass(tmp_path: Path) -> None:
    """XLA launches all of a training step, most of which is backward, from one thread."""
    tracks = Profile(DATA / "generated-transformer-jax.xplane.pb", tmp_path).get("/timeline")["tracks"]
    assert [track["kind"] for track in tracks].count("op") == 1
    assert not [track for track in tracks if track.get("backward")]


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
