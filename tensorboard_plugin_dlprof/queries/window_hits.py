"""Where a text is found in a window of the timeline: how often, the first ones, and what of each track holds any."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.queries.tracks import (
    TABLE_OF_CLASS,
    Int64s,
    Items,
    Names,
    TrackRow,
    items_by_part,
    parts_in,
    recorded_tracks,
)
from tensorboard_plugin_dlprof.timeline.tables import OP, RANGE, STREAM

SEARCHED = (STREAM, OP, RANGE)
"""Kinds of tracks whose items have names to search for."""
MOST_ITEMS = 1_000_000
"""Items of all tracks that are searched in one window."""
MOST_LISTED = 500
"""Hits that are listed, the first ones."""
_HAIR = 2
"""Pixels between hits that are not seen apart."""


def hits_in(
    con: sqlite3.Connection, text: str, start_ns: int, stop_ns: int, width: int, wanted: list[int] | None
) -> dict[str, Any]:
    """The items in a window whose name contains a text.

    Args:
        text: what is searched for.
        width: pixels that the window is drawn on.
        wanted: ids of the tracks that are shown; by default all.

    Returns:
        ``count`` and the first of them; ``count`` is None where there is too much to search.

    Raises:
        NotFound: the database has no tracks.
    """
    names = Names(con)
    tracks = [
        track
        for track in recorded_tracks(con)
        if track.kind in SEARCHED and track.items and (wanted is None or track.id in wanted)
    ]
    answer: dict[str, Any] = {"from": start_ns, "to": stop_ns, "count": None, "listed": [], "tracks": []}
    if sum(count for track in tracks for _, count in parts_in(con, track, start_ns, stop_ns)) > MOST_ITEMS:
        return answer
    hair = max((stop_ns - start_ns) * _HAIR // width, 1)
    listed: list[tuple[int, int, int]] = []
    count = 0
    # What an op launched is drawn with it, but is not called so: it does not count.
    launched = names.launched_by(text) if any(track.kind == STREAM for track in tracks) else {}
    for track in tracks:
        refs = names.holding(track, text)
        starts, stops = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        drawn = launched if track.kind == STREAM else {}
        is_any = len(refs) or any(len(some) for some in drawn.values())
        for items in items_by_part(con, track, start_ns, stop_ns) if is_any else ():
            found = _are_named(track, items, refs)
            hits = some_rows(items, found)
            count += len(hits.start)
            shown = some_rows(items, found | _are_launched(items, drawn)) if drawn else hits
            starts.append(shown.start)
            stops.append(shown.stop)
            rows = zip(*(each[:MOST_LISTED].tolist() for each in (hits.start, hits.stop, hits.number)), strict=True)
            listed = sorted([*listed, *rows])[:MOST_LISTED]
        start, stop = _merged(np.concatenate(starts), np.concatenate(stops), hair)
        answer["tracks"].append(
            {"id": track.id, "start": (start - start_ns).tolist(), "duration": (stop - start).tolist()}
        )
    answer["count"] = count
    answer["listed"] = [{"id": number, "start": start, "duration": stop - start} for start, stop, number in listed]
    return answer


def named(track: TrackRow, items: Items, refs: Int64s) -> Items:
    """The items that ``Names.holding`` found: copies, sets and graphs are rows of other tables than kernels."""
    return some_rows(items, _are_named(track, items, refs))


def _are_named(track: TrackRow, items: Items, refs: Int64s) -> npt.NDArray[np.bool_]:
    found = np.isin(items.ref, refs)
    return found & ~np.isin(items.work_class, list(TABLE_OF_CLASS)) if track.kind == STREAM else found


def _are_launched(items: Items, launched: dict[str, Int64s]) -> npt.NDArray[np.bool_]:
    """Which work of a stream is among ``Names.launched_by``."""
    found = ~np.isin(items.work_class, list(TABLE_OF_CLASS)) & np.isin(items.ref, launched["launch"])
    for number, table in TABLE_OF_CLASS.items():
        found |= (items.work_class == number) & np.isin(items.ref, launched[table])
    return found


def _merged(start: Int64s, stop: Int64s, hair: int) -> tuple[Int64s, Int64s]:
    """Stretches of time, by start, those that are less than a hair apart as one."""
    reach = np.maximum.accumulate(stop) if len(stop) else stop
    begins = np.ones(len(start), np.bool_)
    begins[1:] = start[1:] > reach[:-1] + hair
    first = np.flatnonzero(begins)
    return start[first], reach[np.append(first[1:], len(start)) - 1] if len(first) else reach
