"""A window of the timeline, with as much detail as fits the screen.

A track is answered with its items if they are few. Else it is answered with bins of about a pixel, of the class that
takes most of each, and with those of its items that are wide enough to be drawn. Bins come from the items where these
can be read quickly, else from the stored levels. Times are nanoseconds since the start of the window.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.columns.packing import unpack_from
from tensorboard_plugin_dlprof.diagnosis.parts import BUSY, Part
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.memory.stored import Facts
from tensorboard_plugin_dlprof.queries import memory_track
from tensorboard_plugin_dlprof.queries.activity import Pieces, pieces_in, waits_of
from tensorboard_plugin_dlprof.queries.launches import launches_until
from tensorboard_plugin_dlprof.queries.scope import iteration_windows
from tensorboard_plugin_dlprof.queries.tracks import (
    Int64s,
    Items,
    Names,
    TrackRow,
    all_tracks,
    backward_tracks,
    items_in,
    parts_in,
    recorded_tracks,
)
from tensorboard_plugin_dlprof.timeline import bins
from tensorboard_plugin_dlprof.timeline.tables import CLASSES, DEVICE, QUEUE, STREAM

MOST_READ = 16_384
"""Items of a track that are read for one window; beyond, bins come from the stored levels."""
MOST_PIECES = 65_536
"""Changes between work and waiting of a GPU that are read for one window."""
MAX_WIDTH = 8_192
MAX_TRACKS = 64
BINS = 24_000
"""Bins in one answer, of all tracks."""
ITEMS = 1_800
"""Items in one answer, of all tracks."""
ITERATIONS = 1_000
"""Iterations whose times are listed; of more, those around the window."""
WIDE_PIXELS = 3
LABEL_PIXELS = 28
"""Items from this width on have a name."""
MAX_NAME = 120
"""Letters of a name, of which more would not be seen."""

SHARES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
"""How much of a bin is covered: from nothing (A) to all of it (/)."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""Classes of bins by number; a dot where nothing is."""


def overview(con: sqlite3.Connection) -> dict[str, Any]:
    """All tracks, the range of the capture, and its iterations.

    Raises:
        NotFound: the database has no tracks.
    """
    stored = recorded_tracks(con)
    tracks = [track for track in stored if track.items]
    memory = memory_track.memory_tracks(con, len(stored)) if tracks else {}
    backward = backward_tracks(con, tracks)
    recorded = iteration_windows(con)
    windows = _windows(con, recorded)
    start = min([*(track.first_ns for track in tracks), *(window[1] for window in recorded)], default=0)
    stop = max([*(track.last_ns for track in tracks), *(window[2] for window in recorded)], default=1)
    named = [{"iteration": number, "start": start, "stop": stop} for number, start, stop in windows]
    return {
        "state": _state(stored),
        "start": start,
        "stop": stop,
        "tracks": [
            *(_described(track, track.id in backward) for track in tracks),
            *(memory_track.described(number, facts) for number, facts in memory.items()),
        ],
        "classes": {kind: list(names) for kind, names in CLASSES.items()},
        "iterations": {
            "count": len(named),
            "typical": _typical(con, windows),
            "longest": max(named, key=lambda window: int(window["stop"]) - int(window["start"])) if named else None,
            "list": named[:ITERATIONS],
        },
    }


def _state(tracks: Iterable[TrackRow]) -> int:
    """A number that differs where the tracks do: a database may be replaced while its timeline is looked at."""
    return zlib.crc32(msgspec.msgpack.encode(list(tracks)))


def _worked(con: sqlite3.Connection) -> tuple[int, int]:
    """When the first GPU work starts and the last ends; all of time without any."""
    streams = [track for track in all_tracks(con) if track.kind == STREAM]
    first = min((track.first_ns for track in streams), default=0)
    return first, max((track.last_ns for track in streams), default=1 << 62)


def _windows(con: sqlite3.Connection, windows: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """``iteration_windows``; where none are marked, the only one is from the first GPU work to the last."""
    marked = con.execute("SELECT candidate_source <> 'whole_capture' FROM ext_aggregations ORDER BY aggr_id").fetchone()
    if len(windows) != 1 or (marked is not None and marked[0]):
        return windows
    first, last = _worked(con)
    return [(number, max(start, first), min(stop, last)) for number, start, stop in windows]


def _typical(con: sqlite3.Connection, windows: list[tuple[int, int, int]]) -> dict[str, int] | None:
    """The iteration of median length, with GPU work, of those that are aggregated at first: what pages select."""
    first_aggregation = "(SELECT min(aggr_id) FROM iteration_aggregation_list)"
    select = f"SELECT iter_value FROM iteration_aggregation_list WHERE aggr_id = {first_aggregation}"
    numbers = {number for (number,) in con.execute(select)}
    first, last = _worked(con)
    aggregated = [window for window in windows if window[0] in numbers] or windows
    some = [window for window in aggregated if window[1] < last and window[2] > first] or aggregated
    ranked = sorted(some, key=lambda window: (window[2] - window[1], window[0]))
    if not ranked:
        return None
    number, start, stop = ranked[(len(ranked) - 1) // 2]
    return {"iteration": number, "start": start, "stop": stop}


def _described(track: TrackRow, backward: bool) -> dict[str, Any]:
    about = {key: getattr(track, key) for key in ("id", "kind", "name", "items", "sum_ns", "launches", "level")}
    places = {key: getattr(track, key) for key in ("device", "stream", "process", "thread")}
    told = {"backward": True} if backward else {}
    return about | {key: place for key, place in places.items() if place != -1} | told


def window(
    con: sqlite3.Connection, start_ns: int, stop_ns: int, width: int, wanted: list[int] | None = None
) -> dict[str, Any]:
    """The tracks in a window.

    Args:
        width: pixels that the window is drawn on.
        wanted: ids of the tracks; by default the first ``MAX_TRACKS``.

    Raises:
        NotFound: the database has no tracks.
        BadRequest: too many tracks are wanted, or one that is not there.
    """
    known = {track.id: track for track in recorded_tracks(con)}
    wanted = list(known)[:MAX_TRACKS] if wanted is None else wanted
    memory = memory_track.memory_tracks(con, len(known)) if set(wanted) - set(known) else {}
    if len(wanted) > MAX_TRACKS or any(number not in known and number not in memory for number in wanted):
        raise BadRequest(f"tracks must be at most {MAX_TRACKS} ids from the list of tracks; reload the page.")
    result = _Window(con, start_ns, stop_ns, width, list(known.values()), len(wanted))
    return {
        "state": _state(known.values()),
        "from": start_ns,
        "to": stop_ns,
        "tracks": [
            {"id": number} | (result.of(known[number]) if number in known else result.memory(memory[number]))
            for number in wanted
        ],
        "parts": result.parts(),
    }


class _Window:
    def __init__(
        self, con: sqlite3.Connection, start_ns: int, stop_ns: int, width: int, tracks: list[TrackRow], wanted: int
    ) -> None:
        self._con, self._start, self._stop = con, start_ns, stop_ns
        self._tracks = tracks
        self._names = Names(con)
        self._pixel = max((stop_ns - start_ns) / width, 1e-3)
        self._bins = max(min(width, BINS // max(wanted, 1), stop_ns - start_ns), 1)
        self._most_items = max(ITEMS // max(wanted, 1), 20)

    def of(self, track: TrackRow) -> dict[str, Any]:
        """What is answered of one track."""
        if track.kind == QUEUE:
            return self._queue(track)
        if track.kind == DEVICE:
            return self._device(track)
        if sum(items for _, items in parts_in(self._con, track, self._start, self._stop)) > 2 * MOST_READ:
            return self._stored(track)
        items = items_in(self._con, track, self._start, self._stop)
        if len(items.number) > MOST_READ and self._level(track) is not None:
            return self._stored(track)
        answer = {"count": len(items.number)}
        if len(items.number) <= self._most_items:
            return answer | self._items(track, items)
        edges = self._edges()
        busy = bins.binned(items.start, items.stop, items.work_class, len(CLASSES[track.kind]), edges)
        wide = np.flatnonzero(items.stop - items.start >= WIDE_PIXELS * self._pixel)
        if len(wide) > self._most_items:
            longest = np.argsort((items.start - items.stop)[wide], kind="stable")
            wide = np.sort(wide[longest[: self._most_items]])
        return answer | self._encoded(busy, edges) | self._items(track, some_rows(items, wide))

    def memory(self, facts: Facts) -> dict[str, Any]:
        """What is answered of a GPU's memory."""
        return memory_track.window(self._con, facts, self._start, self._stop, self._bins)

    def parts(self) -> dict[str, dict[str, int]]:
        """What each GPU did in the window: ns by part, which add up to as much of it as lies in the capture."""
        result = {}
        for track in self._tracks:
            if track.kind == DEVICE:
                sums = self._sums(track)
                result[str(track.device)] = {part.label: int(sums[part]) for part in Part if sums[part]}
        return result

    def _sums(self, track: TrackRow) -> Int64s:
        pieces = pieces_in(self._con, track.device, self._start, self._stop, MOST_PIECES)
        if pieces is not None:
            return _sums(pieces)
        # The stored bins that lie in the window, and the rest on both sides of them.
        level = self._level(track)
        if level is None:
            return np.zeros(len(Part), np.int64)
        first, last = -(-self._start >> level), self._stop >> level
        sums: Int64s = self._read_bins(track, level, first, last).sum(axis=1)
        for start, stop in ((self._start, first << level), (last << level, self._stop)):
            pieces = pieces_in(self._con, track.device, start, stop, 1 << 40) if stop > start else None
            if pieces is not None:
                sums = sums + _sums(pieces)
        return sums

    def _edges(self) -> Int64s:
        return np.linspace(self._start, self._stop, self._bins + 1).astype(np.int64)

    def _device(self, track: TrackRow) -> dict[str, Any]:
        pieces = pieces_in(self._con, track.device, self._start, self._stop, MOST_PIECES)
        if pieces is None:
            return self._stored(track)
        edges = self._edges()
        busy = bins.binned(pieces.start, pieces.stop, pieces.part, len(Part), edges)
        waits = waits_of(pieces)
        few = np.flatnonzero(waits.stop - waits.start >= WIDE_PIXELS * self._pixel)
        if len(few) > self._most_items:
            longest = np.argsort((waits.start - waits.stop)[few], kind="stable")
            few = np.sort(few[longest[: self._most_items]])
        return {
            "count": len(waits.start),
            **self._encoded(busy, edges),
            "items": {
                "start": (waits.start[few] - self._start).tolist(),
                "duration": (waits.stop[few] - waits.start[few]).tolist(),
                "class": waits.part[few].tolist(),
                "gap_start": (waits.gap_start[few] - self._start).tolist(),
                "gap_duration": (waits.gap_stop[few] - waits.gap_start[few]).tolist(),
            },
        }

    def _items(self, track: TrackRow, items: Items) -> dict[str, Any]:
        labelled = np.flatnonzero(items.stop - items.start >= LABEL_PIXELS * self._pixel)
        some = some_rows(items, labelled)
        texts = [_shortened(text) for text in self._names.of(track, some.work_class, some.ref)]
        known = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        name = np.full(len(items.number), -1)
        name[labelled] = [known[text] for text in texts]
        return {
            "items": {
                "start": (items.start - self._start).tolist(),
                "duration": (items.stop - items.start).tolist(),
                "class": items.work_class.tolist(),
                "id": items.number.tolist(),
                "name": name.tolist(),
            },
            "names": list(known),
        }

    def _encoded(self, busy: Int64s, edges: Int64s) -> dict[str, Any]:
        """The strip of a track. That of a GPU has two: of its work and of its idle time."""
        widths = np.maximum(np.diff(edges), 1)
        about = {"bins_from": int(edges[0]) - self._start, "bins_to": int(edges[-1]) - self._start}
        if len(busy) != len(Part):
            return about | {"bins": _strip(busy, widths, 0)}
        idle = len(BUSY)
        return about | {"bins": _strip(busy[:idle], widths, 0), "idle_bins": _strip(busy[idle:], widths, idle)}

    def _level(self, track: TrackRow) -> int | None:
        """The finest stored level that has no more bins than are wanted, or the coarsest; None if none is stored."""
        levels = [
            int(row[0])
            for row in self._con.execute(
                "SELECT DISTINCT level FROM ext_track_bins WHERE track_id = ? ORDER BY level", (track.id,)
            ).fetchmany(64)
        ]
        fit = [level for level in levels if (self._stop - self._start) >> level <= self._bins]
        return fit[0] if fit else levels[-1] if levels else None

    def _stored(self, track: TrackRow) -> dict[str, Any]:
        level = self._level(track)
        if level is None:
            return {"count": track.items}
        first, last = self._start >> level, ((self._stop - 1) >> level) + 1
        busy = self._read_bins(track, level, first, last)
        edges = np.arange(first, last + 1, dtype=np.int64) << level
        return {"count": track.items, **self._encoded(busy, edges)}

    def _read_bins(self, track: TrackRow, level: int, first: int, last: int) -> Int64s:
        """The stored bins from ``first`` to before ``last``: ns, of shape (classes, bins)."""
        classes = len(CLASSES[track.kind])
        result = np.zeros((classes, max(last - first, 0)), np.int64)
        rows = self._con.execute(
            "SELECT first_bin, data FROM ext_track_bins "
            "WHERE track_id = ? AND level = ? AND first_bin > ? AND first_bin < ?",
            (track.id, level, first - bins.PART, last),
        )
        for begin, data in rows:
            part = np.stack(unpack_from(self._con, data, classes))
            low, high = max(first, begin), min(last, begin + part.shape[1])
            if low < high:
                result[:, low - first : high - first] = part[:, low - begin : high - begin]
        return result

    def _queue(self, track: TrackRow) -> dict[str, Any]:
        """The mean number of waiting launches in each bin."""
        result = launches_until(self._con, self._tracks, track.device, self._start, self._stop, MOST_READ)
        edges = self._edges()
        if result is None:
            level = self._level(track)
            if level is None:
                return {"count": track.items}
            first, last = self._start >> level, ((self._stop - 1) >> level) + 1
            sums = self._read_bins(track, level, first, last)
            edges = np.arange(first, last + 1, dtype=np.int64) << level
        else:
            waits = some_rows(result, (result.work_start > result.call_start) & (result.work_start > self._start))
            start, stop = np.sort(waits.call_start), waits.work_start
            sums = bins.binned(start, stop, np.zeros(len(start), np.int8), 1, edges)
        depth = sums[0] / np.maximum(np.diff(edges), 1)
        about = {"bins_from": int(edges[0]) - self._start, "bins_to": int(edges[-1]) - self._start}
        return {"count": track.items, **about, "depth": np.round(depth, 1).tolist()}


def _sums(pieces: Pieces) -> Int64s:
    sums = np.zeros(len(Part), np.int64)
    np.add.at(sums, pieces.part, pieces.stop - pieces.start)
    return sums


def _strip(busy: Int64s, widths: npt.NDArray[np.int64], first_class: int) -> dict[str, str]:
    """The class that takes most of each bin, and how much of the bin is covered, a letter each."""
    most, covered = busy.argmax(axis=0), np.minimum(busy.sum(axis=0) / widths, 1)
    share = np.where(covered > 0, np.maximum(np.rint(covered * 63), 1), 0).astype(np.int64)
    letters = np.frombuffer(LETTERS.encode(), np.uint8)[most + first_class].copy()
    letters[share == 0] = ord(".")
    return {
        "class": letters.tobytes().decode(),
        "share": np.frombuffer(SHARES.encode(), np.uint8)[share].tobytes().decode(),
    }


def _shortened(name: str) -> str:
    """What is seen of a long name: the begin of a kernel's, and the last part of a path, with its slash."""
    return name[name.rfind("/") :][:MAX_NAME] if name.startswith("/") and len(name) > MAX_NAME else name[:MAX_NAME]
