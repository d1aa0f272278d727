"""What ran when, as the Dashboard shows it where one iteration is all there is: ops, idle time by cause, streams.

A row is as sharp as it is drawn: runs of pixels of one class, and above them what is wide enough to be pointed at.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.as_data import least_computing
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES
from tensorboard_plugin_dlprof.queries.timeline import LETTERS, MAX_TRACKS, SHARES, overview, window
from tensorboard_plugin_dlprof.queries.tracks import has_tracks
from tensorboard_plugin_dlprof.reports import answer
from tensorboard_plugin_dlprof.reports.charts import WIDTH, Part, line
from tensorboard_plugin_dlprof.reports.markup import section
from tensorboard_plugin_dlprof.units import short_duration

_MOST_THREADS = 2
_MOST_STREAMS = 4
_MOST_COMMUNICATING = 2
"""As many as on the Dashboard (``components/timeline/strip.tsx``, ``model/timeline.ts``)."""

_STRENGTHS = 4
"""So many are told apart of how much of a pixel is covered."""

_COLOURS = {**answer.COLOURS, "set": "memory", "graph": "unknown_kernel", "op": "timeline-op"}
"""Class of what a track holds -> class of its colour, where it is another, as in ``model/timeline.ts``."""

_ITEM = ("start", "duration", "class")

Track = Mapping[str, Any]


def strip(connection: sqlite3.Connection, diagnosis: answer.Diagnosis) -> str:
    """The section, of the GPU that the sentence is about; empty unless there is one iteration."""
    device = least_computing(diagnosis)
    if device is None or len(diagnosis["iterations"]) != 1 or not has_tracks(connection):
        return ""
    known = overview(connection)
    if len(known["iterations"]["list"]) != 1:
        return ""
    _, start, stop = known["iterations"]["list"][0].values()
    asked = _asked(known["tracks"], int(device))
    loaded = window(connection, start, stop, WIDTH, [track["id"] for track in asked])["tracks"]
    colours = {**_COLOURS, "queued": "missing"} if answer.missing_of_queued_ns(diagnosis, device) else _COLOURS
    classes = known["classes"]
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{_row(name, data, classes[kind], colours, stop - start)}</td></tr>"
        for name, kind, data in _shown(asked, loaded, classes["stream"].index("communication"))
    )
    if not rows:
        return ""
    length = short_duration(stop - start)
    what = "The iteration" if diagnosis["marked"] else "From the first GPU work to the last"
    note = f"{what}, in the colours of the bar at the top: what ran, and why the GPU was idle."
    axis = f"<tr><td></td><td><p class='axis ends'><span>0</span><span>{length}</span></p></td></tr>"
    return section("What ran when", note, f"<table class=bars>{rows}{axis}</table>")


def _asked(tracks: Sequence[Track], device: int) -> list[Track]:
    """The ops of the threads that launch most, and what is known of the GPU, busiest streams first."""
    launches: dict[tuple[int, int], float] = defaultdict(float)
    for track in tracks:
        if "thread" in track:
            items = track["items"] / 1e6 if track["kind"] == "op" else 0
            launches[track["process"], track["thread"]] += 1000 * track["launches"] + items
    threads = sorted(launches, key=lambda thread: -launches[thread])[:_MOST_THREADS]
    ops = [each for each in tracks if each["kind"] == "op" and (each["process"], each["thread"]) in threads]
    own = [track for track in tracks if track.get("device") == device]
    streams = sorted((track for track in own if track["kind"] == "stream"), key=lambda track: -track["sum_ns"])
    ops.sort(key=lambda track: threads.index((track["process"], track["thread"])))
    return [*ops, *(track for track in own if track["kind"] == "device"), *streams][:MAX_TRACKS]


def _shown(asked: Sequence[Track], loaded: Sequence[Track], communication: int) -> Iterator[tuple[str, str, Track]]:
    """Name, kind and content of each row: the streams with the most work, and of the others some that communicate."""
    streams = communicating = 0
    many = sum(track["kind"] == "op" for track in asked) > 1
    ops = 0
    for track, data in zip(asked, loaded, strict=True):
        kind = track["kind"]
        classes = {*data.get("items", {}).get("class", ()), *map(LETTERS.find, data.get("bins", {}).get("class", ""))}
        if kind == "stream":
            streams += 1
            if streams > _MOST_STREAMS:
                communicating += communication in classes
                if communication not in classes or communicating > _MOST_COMMUNICATING:
                    continue
        ops += kind == "op"
        # A lane in which nothing happens tells nothing; that a GPU was never idle does.
        if kind == "device" or classes - {-1}:
            names = {"device": "idle by cause", "op": f"ops, thread {ops}" if many else "ops"}
            yield names.get(kind, str(track["name"])), kind, data


def _row(name: str, data: Track, classes: Sequence[str], colours: Mapping[str, str], length: int) -> str:
    """One row: where bins hold what is narrow, below what is wide."""
    bins = data.get("idle_bins", data.get("bins"))
    paths: dict[tuple[str, int], str] = defaultdict(str)
    if bins is not None:
        first, last = (WIDTH * data[end] / length for end in ("bins_from", "bins_to"))
        wide = (last - first) / max(len(bins["class"]), 1)
        drawn = [
            (_colour(classes, colours, LETTERS.find(letter)), -(-_STRENGTHS * SHARES.find(share) // (len(SHARES) - 1)))
            for letter, share in zip(bins["class"], bins["share"], strict=True)
        ]
        at = 0
        for style, run in groupby(drawn):
            count = len(list(run))
            if style[0]:
                paths[style] += _box(first + at * wide, count * wide)
            at += count
    marks = []
    items = data.get("items", {"start": (), "duration": (), "class": ()})
    numbers = items.get("name", [-1] * len(items["start"]))
    for start, duration, kind, number in zip(*(items[key] for key in _ITEM), numbers, strict=True):
        low, high = max(start, 0), min(start + duration, length)
        x, wide = WIDTH * low / length, max(WIDTH * (high - low) / length, 0.5)
        if number < 0 and "name" in items:
            # Too narrow to be pointed at.
            paths[_colour(classes, colours, kind), _STRENGTHS] += _box(x, wide)
        else:
            said = data["names"][number] if number >= 0 else NAMES[classes[kind]]
            marks.append(
                (x, wide, Part(duration, _colour(classes, colours, kind), f"{said}: {short_duration(duration)}"))
            )
    shapes = [(colour, strength / _STRENGTHS, path) for (colour, strength), path in paths.items()]
    return line(f"{name} over time", shapes, marks)


def _colour(classes: Sequence[str], colours: Mapping[str, str], number: int) -> str:
    return colours.get(classes[number], classes[number]) if number >= 0 else ""


def _box(x: float, width: float) -> str:
    return f"M{x:.1f} 0h{width:.1f}v28h-{width:.1f}z"
