"""What is told of one item of the timeline, or of one gap: what it is, what launched it, and what it waited for."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.diagnosis.parts import NAMES
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.activity import causes_named
from tensorboard_plugin_dlprof.queries.gaps import gaps_in, largest_parts, works_after
from tensorboard_plugin_dlprof.queries.item_facts import Facts
from tensorboard_plugin_dlprof.queries.tracks import (
    Int64s,
    Items,
    Names,
    TrackRow,
    items_by_part,
    items_in,
    items_numbered,
    parts_in,
    recorded_tracks,
)
from tensorboard_plugin_dlprof.queries.window_hits import SEARCHED, named
from tensorboard_plugin_dlprof.timeline.tables import CALL, CLASSES, DEVICE, OP, RANGE, STREAM

MOST_WORKS = 5
"""Pieces of work that are named for a call."""
_PARTS_SEARCHED = 6
_MOST_PARTS_SEARCHED = 1_400
"""Parts of a track that a search reads: of ten million items."""
_MOST_PARTS_OF_OP = 64
"""Parts of the calls, and of a stream, that are read for what an op or range launched."""
FARTHEST_NS = 1 << 60
_AROUND_NS = 60_000_000_000
"""How far a gap is followed beyond the moment that was asked for."""


def item(con: sqlite3.Connection, number: int) -> dict[str, Any]:
    """One item, by its number; of work also what the GPU did before and after it.

    Raises:
        NotFound: there is no such item.
    """
    tracks = recorded_tracks(con)
    answer = _item(con, tracks, number)
    if answer["kind"] == STREAM:
        answer |= _beside(con, tracks, answer.get("device", -1), answer["start"], answer["duration"])
    return answer


def _item(con: sqlite3.Connection, tracks: list[TrackRow], number: int) -> dict[str, Any]:
    track = _track_of(tracks, number)
    if track is None:
        raise NotFound("There is no such item on the timeline; reload the page.")
    result = items_numbered(con, track, np.array([number], np.int64))
    if not len(result.number):
        raise NotFound("There is no such item on the timeline; reload the page.")
    answer = _about(con, track, result)
    if track.kind == STREAM:
        answer["call"] = call = _call(con, tracks, int(result.call[0]))
        if call is not None:
            answer["delay_ns"] = max(answer["start"] - call["start"] - call["duration"], 0)
            answer["starts_before_call"] = answer["start"] < call["start"]
            answer["op"] = _op_around(con, tracks, call)
    elif track.kind in (OP, RANGE):
        works, count, ns = _launched_in(con, tracks, answer)
        answer["works"] = works
        answer["launched"] = None if count is None else {"count": count, "ns": ns}
    elif track.kind == CALL:
        answer["op"] = _op_around(con, tracks, answer)
        answer["works"] = _works_of(con, tracks, answer)
    return answer


def item_at(
    con: sqlite3.Connection, track_id: int, at_ns: int, slack_ns: int = 0, span_ns: int = 0
) -> dict[str, Any] | None:
    """The item of a track around a moment, else the nearest within ``slack_ns`` of it; None if there is none.

    With ``span_ns``, of the items of that length around the moment, the longest there of the class that takes most of
    it: a bin has its colour.
    """
    for track in recorded_tracks(con):
        if track.id == track_id and _has_items(track):
            if span_ns:
                number = _most_of(con, track, at_ns - span_ns // 2, at_ns - span_ns // 2 + span_ns)
                if number is not None:
                    return item(con, number)
            near: list[tuple[int, int, int]] = []
            for items in items_by_part(con, track, at_ns - slack_ns, at_ns + slack_ns + 1):
                away = np.maximum(np.maximum(items.start - at_ns, at_ns - items.stop), 0)
                # Of several the one that began last: it is drawn above the others.
                for row in np.lexsort((-items.start, away))[:1].tolist():
                    near.append((int(away[row]), -int(items.start[row]), int(items.number[row])))
            return item(con, min(near)[2]) if near else None
    raise NotFound("There is no such track on the timeline; reload the page.")


def _most_of(con: sqlite3.Connection, track: TrackRow, start_ns: int, stop_ns: int) -> int | None:
    """Number of the item with the most time in a window, of the class with the most time there; None without one."""
    sums = np.zeros(len(CLASSES[track.kind]), np.int64)
    longest: dict[int, tuple[int, int]] = {}
    for items in items_by_part(con, track, start_ns, stop_ns):
        inside = np.minimum(items.stop, stop_ns) - np.maximum(items.start, start_ns)
        np.add.at(sums, items.work_class, inside)
        for work_class in distinct_values(items.work_class).tolist():
            rows = np.flatnonzero(items.work_class == work_class)
            row = rows[inside[rows].argmax()]
            longest[work_class] = max(longest.get(work_class, (-1, 0)), (int(inside[row]), int(items.number[row])))
    return longest[int(sums.argmax())][1] if sums.any() else None


def _track_of(tracks: list[TrackRow], number: int) -> TrackRow | None:
    """The track of an item."""
    return next(
        (one for one in tracks if one.first_item <= number < one.first_item + one.items and _has_items(one)), None
    )


def _has_items(track: TrackRow) -> bool:
    return track.kind not in (DEVICE, "queue")


def _about(con: sqlite3.Connection, track: TrackRow, items: Items) -> dict[str, Any]:
    (name,) = Names(con).of(track, items.work_class, items.ref)
    (facts,) = Facts(con).of(track, items.work_class, items.ref)
    start, stop = int(items.start[0]), int(items.stop[0])
    return {
        "id": int(items.number[0]),
        "track": track.id,
        "kind": track.kind,
        "class": CLASSES[track.kind][int(items.work_class[0])],
        "name": name or ("launch" if track.kind == CALL else ""),
        "start": start,
        "duration": stop - start,
        "facts": facts,
        **{key: place for key, place in (("device", track.device), ("stream", track.stream)) if place >= 0},
        **({"process": track.process, "thread": track.thread} if track.device < 0 else {}),
    }


def _call(con: sqlite3.Connection, tracks: list[TrackRow], number: int) -> dict[str, Any] | None:
    track = _track_of(tracks, number)
    if track is None or track.kind != CALL:
        return None
    result = items_numbered(con, track, np.array([number], np.int64))
    return _about(con, track, result) if len(result.number) else None


def _op_around(con: sqlite3.Connection, tracks: list[TrackRow], call: dict[str, Any]) -> dict[str, Any] | None:
    """The op of the call's thread in which it began."""
    for track in tracks:
        if track.kind == OP and (track.process, track.thread) == (call["process"], call["thread"]):
            around = items_in(con, track, call["start"], call["start"] + 1)
            if len(around.number):
                return _about(con, track, some_rows(around, np.array([len(around.number) - 1])))
    return None


def _works_of(con: sqlite3.Connection, tracks: list[TrackRow], call: dict[str, Any]) -> list[dict[str, Any]]:
    """The first pieces of work that a call launched, as far as they begin soon after it."""
    works: list[dict[str, Any]] = []
    for track in tracks:
        if track.kind != STREAM:
            continue
        for number, items in enumerate(items_by_part(con, track, call["start"], 1 << 60)):
            result = np.flatnonzero(items.call == call["id"])[:MOST_WORKS]
            works += [_about(con, track, some_rows(items, np.array([row]))) for row in result.tolist()]
            if len(result) or number == _PARTS_SEARCHED:
                break
    return sorted(works, key=lambda work: int(work["start"]))[:MOST_WORKS]


def _launched_in(
    con: sqlite3.Connection, tracks: list[TrackRow], op: dict[str, Any]
) -> tuple[list[dict[str, Any]], int | None, int]:
    """The longest work that calls within an op or range launched, how many these are, and the sum of their times.

    None in place of the number where there is too much to read.
    """
    start, stop = op["start"], op["start"] + op["duration"]
    found: list[tuple[int, int, int, TrackRow, Items]] = []
    for calls in tracks:
        if calls.kind != CALL or (calls.process, calls.thread) != (op["process"], op["thread"]):
            continue
        if len(parts_in(con, calls, start, stop)) > _MOST_PARTS_OF_OP:
            return [], None, 0
        within = items_in(con, calls, start, stop)
        within = some_rows(within, within.start >= start)
        if not len(within.number):
            continue
        first, last = int(within.number[0]), int(within.number[-1])
        end = calls.first_item + calls.items
        for track in tracks:
            if track.kind != STREAM:
                continue
            for part, items in enumerate(items_by_part(con, track, start, FARTHEST_NS)):
                if part == _MOST_PARTS_OF_OP:
                    return [], None, 0
                rows = np.flatnonzero((items.call >= first) & (items.call <= last))
                lengths = (items.stop - items.start)[rows].tolist()
                found += [
                    (length, int(items.number[row]), int(row), track, items)
                    for row, length in zip(rows.tolist(), lengths, strict=True)
                ]
                # A stream runs in order what a thread launches into it.
                if ((items.call > last) & (items.call < end)).any():
                    break
    longest = sorted(found, key=lambda each: (-each[0], each[1]))[:MOST_WORKS]
    works = [_about(con, track, some_rows(items, np.array([row]))) for _, _, row, track, items in longest]
    return works, len(found), sum(each[0] for each in found)


def gap(con: sqlite3.Connection, device: int, at_ns: int) -> dict[str, Any]:
    """The gap of a GPU around a moment.

    Raises:
        NotFound: the GPU was not idle then.
    """
    tracks = recorded_tracks(con)
    if not any(track.kind == DEVICE and track.device == device for track in tracks):
        raise NotFound(f"There is no GPU {device} in this profile.")
    result = _gap_around(con, device, at_ns)
    if result is None:
        raise NotFound("The GPU was not idle at this moment.")
    start, duration = result["start"], result["duration"]
    return {
        **result,
        "ended_by": _ended_by(con, tracks, device, start + duration),
        **_beside(con, tracks, device, start, duration),
    }


def _gap_around(con: sqlite3.Connection, device: int, at_ns: int) -> dict[str, Any] | None:
    """The gap of a GPU around a moment and its causes; None if it was not idle then."""
    reach = 1_000_000
    while True:
        result = gaps_in(con, device, at_ns - reach, at_ns + reach)
        place = int(np.searchsorted(result.start, at_ns, side="right")) - 1
        if place < 0 or result.stop[place] <= at_ns:
            return None
        start, stop = int(result.start[place]), int(result.stop[place])
        if (start > at_ns - reach and stop < at_ns + reach) or reach > _AROUND_NS:
            break
        reach *= 8
    rows = np.flatnonzero(result.of_piece == place)
    words = causes_named(con, sorted(set(result.pieces.cause[rows].tolist())))
    parts: list[dict[str, Any]] = [
        {
            "start": int(result.pieces.start[row]),
            "duration": int(result.pieces.stop[row] - result.pieces.start[row]),
            **words.get(int(result.pieces.cause[row]), {}),
        }
        for row in rows.tolist()
    ]
    main, _ = largest_parts(result.of_piece, result.pieces)
    cause = words.get(int(result.pieces.cause[main[place]]), {}).get("part", "")
    return {
        "device": device,
        "start": start,
        "duration": stop - start,
        "cause": cause,
        "label": NAMES.get(cause, ""),
        "parts": parts,
    }


def _beside(
    con: sqlite3.Connection, tracks: list[TrackRow], device: int, start: int, duration: int
) -> dict[str, dict[str, Any] | None]:
    """What a GPU did before and after a stretch of time: in each case the longest work, else the gap."""
    return {
        "before": _at(con, tracks, device, start - 1),
        "after": _at(con, tracks, device, start + duration),
    }


def _at(con: sqlite3.Connection, tracks: list[TrackRow], device: int, at_ns: int) -> dict[str, Any] | None:
    """What a GPU did at a moment, in short; None outside of the recording. A gap has no id."""
    work = _longest_at(con, device, at_ns)
    track = None if work is None else _track_of(tracks, int(work.number[0]))
    if work is not None and track is not None:
        about = _about(con, track, work)
        return {key: about[key] for key in ("id", "name", "start", "duration")}
    around = _gap_around(con, device, at_ns)
    if around is None:
        return None
    return {"id": None, "name": around["label"], "start": around["start"], "duration": around["duration"]}


def _longest_at(con: sqlite3.Connection, device: int, at_ns: int) -> Items | None:
    """The longest work of a GPU that ran at a moment."""
    works = works_after(con, device, at_ns, at_ns + 1)
    works = some_rows(works, works.stop > at_ns)
    return some_rows(works, np.array([np.argmax(works.stop - works.start)])) if len(works.number) else None


def moment(con: sqlite3.Connection, device: int, at_ns: int) -> dict[str, Any]:
    """The gap of a GPU around a moment; if it was busy then, the longest work that ran, as ``item`` tells it.

    Raises:
        NotFound: the capture does not tell what the GPU did.
    """
    work = _longest_at(con, device, at_ns)
    return gap(con, device, at_ns) if work is None else item(con, int(work.number[0]))


def _ended_by(con: sqlite3.Connection, tracks: list[TrackRow], device: int, stop: int) -> dict[str, Any] | None:
    items = works_after(con, device, stop, stop + 1)
    first = np.flatnonzero(items.start == stop)
    return _item(con, tracks, int(items.number[first[0]])) if len(first) else None


def search(con: sqlite3.Connection, text: str, at_ns: int) -> dict[str, Any] | None:
    """The next kernel, op or range after a moment whose name contains a text, from the beginning if there is none."""
    names = Names(con)
    tracks = [track for track in recorded_tracks(con) if track.kind in SEARCHED and track.items]
    wanted = {track.id: names.holding(track, text) for track in tracks}
    for start, stop in ((at_ns, FARTHEST_NS), (-FARTHEST_NS, at_ns)):
        result = [
            hit
            for track in tracks
            if len(wanted[track.id]) and (hit := _first_of(con, track, wanted[track.id], start, stop)) is not None
        ]
        if result:
            return item(con, min(result)[1])
    return None


def _first_of(con: sqlite3.Connection, track: TrackRow, refs: Int64s, start: int, stop: int) -> tuple[int, int] | None:
    """Start and number of the first item that starts in a window and is one of ``refs``."""
    for number, items in enumerate(items_by_part(con, track, start, stop)):
        hits = named(track, items, refs)
        rows = np.flatnonzero(hits.start >= start)
        if len(rows):
            return int(hits.start[rows[0]]), int(hits.number[rows[0]])
        if number == _MOST_PARTS_SEARCHED:
            break
    return None


def next_gap(
    con: sqlite3.Connection, device: int, at_ns: int, forwards: bool, longest_ns: int
) -> dict[str, Any] | None:
    """The next gap of a GPU after a moment, or the one before it, of at least some length; None if there is none."""
    reach = 1 << 24
    track = next((one for one in recorded_tracks(con) if one.kind == DEVICE and one.device == device), None)
    if track is None:
        raise NotFound(f"There is no GPU {device} in this profile.")
    while True:
        low, high = (at_ns, at_ns + reach) if forwards else (at_ns - reach, at_ns)
        result = gaps_in(con, device, low, high)
        # A gap at the edge may go on beyond it.
        whole = (result.start > low) & (result.stop < high) & (result.stop - result.start >= longest_ns)
        rows = np.flatnonzero(whole)
        if len(rows):
            return gap(con, device, int(result.start[rows[0] if forwards else rows[-1]]))
        if (high > track.last_ns) if forwards else (low < track.first_ns):
            return None
        reach *= 4
