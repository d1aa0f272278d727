"""What the host was in while launched work waited: its cause names the call that launched the work, which returned."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.diagnosis.spans import Spans, innermost, joined, meeting, within
from tensorboard_plugin_dlprof.queries.tracks import Int64s, Names, TrackRow, all_tracks, items_by_part
from tensorboard_plugin_dlprof.timeline.tables import CALL, OP


def calls_during(con: sqlite3.Connection, waits: Spans) -> list[tuple[str, str]]:
    """The call of any thread that overlaps each of some disjoint, ascending stretches the most, and the path of the op
    that it is in; empty where no call, or no op, is recorded."""
    named = [("", "")] * len(waits.start)
    longest = np.zeros(len(waits.start), np.int64)
    tracks = all_tracks(con)
    for track in tracks if named else ():
        if track.kind != CALL:
            continue
        # The number of a text and a moment inside the call, by the number of the stretch.
        ref, at = np.full(len(named), -1), np.zeros(len(named), np.int64)
        for calls in map(innermost, _meeting(con, track, waits)):
            inside, number = within(waits, calls)
            length = inside.stop - inside.start
            order = np.argsort(length, kind="stable")  # the longest last
            order = order[length[order] > longest[inside.row[order]]]
            rows = inside.row[order]
            longest[rows], at[rows], ref[rows] = length[order], inside.start[order], calls.row[number[order]]
        rows = np.flatnonzero(ref >= 0)
        names = Names(con).of(track, np.zeros(len(rows), np.int64), ref[rows])
        paths = _ops_at(con, tracks, track, at[rows])
        for row, name, path in zip(rows.tolist(), names, paths, strict=True):
            named[row] = (name, path)
    return named


def _meeting(con: sqlite3.Connection, track: TrackRow, spans: Spans) -> Iterator[Spans]:
    """What of a track overlaps some disjoint, ascending stretches, part by part, each with what it refers to."""
    for items in items_by_part(con, track, int(spans.start[0]), int(spans.stop[-1])):
        own = Spans(items.start, items.stop, items.ref)
        yield own.some(meeting(own, spans))


def _ops_at(con: sqlite3.Connection, tracks: list[TrackRow], calls: TrackRow, at: Int64s) -> list[str]:
    """The path of the op that the thread of some calls was in at some moments; empty for none."""
    result = [""] * len(at)
    moments = distinct_values(at)
    for track in tracks if result else ():
        if track.kind != OP or (track.process, track.thread) != (calls.process, calls.thread):
            continue
        ops = innermost(joined(list(_meeting(con, track, Spans(moments, moments + 1, moments)))))
        inside, number = within(Spans(at, at + 1, np.arange(len(at))), ops)
        names = Names(con).of(track, np.zeros(len(number), np.int64), ops.row[number])
        for row, name in zip(inside.row.tolist(), names, strict=True):
            result[row] = name
    return result
