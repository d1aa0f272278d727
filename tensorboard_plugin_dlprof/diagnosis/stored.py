"""Reads the activity of GPUs from a database of ours."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.packing import PART, pack, unpack_from
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.diagnosis.segments import Activity, Cause, Segments, no_activity
from tensorboard_plugin_dlprof.events.tables import Int64s

SEGMENTS_A_ROW = PART

_MOST_CAUSES = 10_000_000
MOST_SEGMENTS = 100_000_000
"""Limits for hostile files."""


def packed(segments: Segments, begin: int) -> bytes:
    """The data of a row with the segments from ``begin`` on: lengths, and numbers of causes from 1."""
    rows = slice(begin, begin + SEGMENTS_A_ROW)
    return pack([segments.stop_ns[rows] - segments.start_ns[rows], segments.cause[rows] + 1])


def read_activity(
    con: sqlite3.Connection, begin_ns: int | None = None, end_ns: int | None = None, most: int = MOST_SEGMENTS
) -> Activity:
    """What each GPU did, from some time to another; by default, throughout the capture.

    Times are nanoseconds since the start of the capture. The first and last segments of each GPU may reach beyond the
    time that was asked for.

    Args:
        con: a database of ours, of this version.
        begin_ns: where to begin.
        end_ns: where to end.
        most: most segments, which is exceeded by those of a row at most.

    Raises:
        ValueError: the tables contradict each other, or there are more segments.
        sqlite3.Error: they cannot be read.
    """
    rows = con.execute(
        "SELECT part, detail, call, path, kind, op_id, thread, is_long, overlaps FROM activity_causes ORDER BY id"
    ).fetchmany(_MOST_CAUSES)
    causes = [_cause(row) for row in rows]
    if any(not 0 <= cause.part < len(Part) for cause in causes):
        raise ValueError("an unknown part of the time")
    devices: dict[int, list[tuple[int, list[Int64s]]]] = {}
    count = 0
    for device, start, data in con.execute(
        "SELECT device_id, start_ns, data FROM activity_segments "
        "WHERE (?1 IS NULL OR stop_ns > ?1) AND (?2 IS NULL OR start_ns < ?2) ORDER BY id",
        (begin_ns, end_ns),
    ):
        columns = unpack_from(con, data, 2)
        count += len(columns[0])
        if count > most + SEGMENTS_A_ROW:
            raise ValueError("too many segments of time")
        devices.setdefault(int(device), []).append((int(start), columns))
    totals = con.execute("SELECT launch_calls, launch_calls_without_work FROM activity_totals").fetchone()
    if totals is None:
        return no_activity()
    segments = [_segments(device, parts, len(causes)) for device, parts in sorted(devices.items())]
    return Activity(causes, segments, int(totals[0]), int(totals[1]))


def _cause(row: tuple[Any, ...]) -> Cause:
    part, *words, is_long, overlaps = row
    detail, call, path, kind, op_id, thread = map(str, words)
    return Cause(int(part), detail, call, path, kind, op_id, thread, bool(is_long), int(overlaps))


def _segments(device: int, parts: list[tuple[int, list[Int64s]]], causes: int) -> Segments:
    starts, stops, numbers = [], [], []
    for first, (length, cause) in parts:
        stop = first + np.cumsum(length)
        starts.append(stop - length)
        stops.append(stop)
        numbers.append((cause - 1).astype(np.int32))
    segments = Segments(device, np.concatenate(starts), np.concatenate(stops), np.concatenate(numbers))
    if (segments.stop_ns < segments.start_ns).any() or (segments.start_ns[1:] < segments.stop_ns[:-1]).any():
        raise ValueError("segments of time that overlap")
    known = distinct_values(segments.cause)
    if len(known) and not 0 <= int(known[0]) <= int(known[-1]) < causes:
        raise ValueError("an unknown cause")
    return segments
