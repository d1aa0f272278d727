"""Writes the tracks of the timeline, packed, with their levels of detail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.packing import pack
from tensorboard_plugin_dlprof.columns.rows import Value, insert_row, insert_rows
from tensorboard_plugin_dlprof.columns.store import release_freed
from tensorboard_plugin_dlprof.database.work_rows import StoredLaunches
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.timeline import bins
from tensorboard_plugin_dlprof.timeline.tables import (
    CALL,
    CLASSES,
    COPY,
    DEVICE,
    GRAPH,
    LAUNCH_CALL,
    NO_CALL,
    OP,
    PART,
    QUEUE,
    SET,
    STREAM,
    Track,
)


class ItemIds(msgspec.Struct, frozen=True):
    """The ids in the database of what the items of tracks are."""

    kernels: Callable[[Int64s], Int64s]
    """``launches.id``, or ``read_only_kernels.id``, of rows of ``Profile.kernels``."""
    memcpys: Int64s
    """``read_only_memcpys.id`` of each row of ``Profile.memcpys``."""
    memsets: Int64s
    ops: Int64s
    """``read_only_ops.id`` of each row of ``Profile.ops``."""
    texts: Int64s
    """``dictionary.id`` of each text id of the profile; 0 if the dictionary does not have it."""


def write_tracks(con: sqlite3.Connection, tracks: Iterable[Track], ids: ItemIds) -> None:
    """Store all tracks of a profile, calls first."""
    first_item = 0
    for number, track in enumerate(tracks, 1):
        items = len(track.start_ns)
        has_items = track.kind not in (DEVICE, QUEUE)
        of_class = track.classes()
        row: dict[str, Value] = {
            "id": number,
            "kind": track.kind,
            "device_id": track.device,
            "stream": track.stream,
            "process_id": track.process,
            "thread_id": track.thread,
            "level": track.level,
            "first_item": first_item,
            "items": items,
            "launches": int(np.count_nonzero(of_class == LAUNCH_CALL)) if track.kind == CALL else 0,
            "sum_ns": int((track.stop_ns - track.start_ns).sum()),
            "first_ns": int(track.start_ns[0]) if items else 0,
            "last_ns": int(track.stop_ns.max()) if items else 0,
        }
        insert_row(con, "ext_tracks", row)
        if has_items:
            columns = ("track_id", "first_item", "items", "start_ns", "stop_ns", "first_call", "data")
            insert_rows(con, "ext_track_items", columns, _parts(number, first_item, track, ids))
            first_item += items
        insert_rows(con, "ext_track_bins", ("track_id", "level", "first_bin", "data"), _bins(number, track))
        release_freed()


def ids_of_ours(profile: Profile, launches: StoredLaunches, texts: Int64s) -> ItemIds:
    """The ids in a database that this package writes: rows are numbered from 1."""
    return ItemIds(
        kernels=lambda rows: launches.of_kernel[rows],
        memcpys=np.arange(1, len(profile.memcpys.op) + 1),
        memsets=np.arange(1, len(profile.memsets.op) + 1),
        ops=np.arange(1, len(profile.ops) + 1),
        texts=texts,
    )


def _refs(track: Track, ids: ItemIds, some: slice) -> Int64s:
    """The ids of what some items are."""
    if track.ref is None:
        return np.zeros(len(track.start_ns[some]), np.int64)
    ref = track.ref[some]
    if track.kind == OP:
        return ids.ops[ref]
    if track.kind != STREAM:
        return ids.texts[ref]
    # Graphs are in tables of our own only, whose ids count from 1.
    result, of_class = ref + 1, track.classes()[some]
    copies, sets = np.flatnonzero(of_class == COPY), np.flatnonzero(of_class == SET)
    result[copies], result[sets] = ids.memcpys[ref[copies]], ids.memsets[ref[sets]]
    kernels = np.flatnonzero((of_class != COPY) & (of_class != SET) & (of_class != GRAPH))
    result[kernels] = ids.kernels(ref[kernels])
    return result


def _parts(number: int, first_item: int, track: Track, ids: ItemIds) -> Iterable[tuple[Any, ...]]:
    for begin in range(0, len(track.start_ns), PART):
        some = slice(begin, begin + PART)
        start, stop, of_class = track.start_ns[some], track.stop_ns[some], track.classes()[some]
        columns = [np.diff(start, prepend=start[:1]), stop - start, of_class, _refs(track, ids, some)]
        first_call = 0
        if track.call is not None:
            call = track.call[some]
            known = call >= 0
            columns[2] = of_class + np.where(known, 0, NO_CALL)
            # An item without a call repeats the call before it, so that the steps stay small.
            last = np.maximum.accumulate(np.where(known, np.arange(len(call)), -1))
            first_call = int(call[known][0]) if known.any() else 0
            columns.append(np.diff(np.where(last >= 0, call[last], first_call), prepend=first_call))
        yield number, first_item + begin, len(start), int(start[0]), int(stop.max()), first_call, pack(columns)


def _bins(number: int, track: Track) -> Iterable[tuple[Any, ...]]:
    for level, first, busy in bins.levels(track.start_ns, track.stop_ns, track.classes(), len(CLASSES[track.kind])):
        # Parts begin at multiples of their length, so that a reader knows which parts a window needs.
        padded = np.pad(busy, ((0, 0), (first % bins.PART, 0)))
        start = first - first % bins.PART
        for begin in range(0, padded.shape[1], bins.PART):
            part = padded[:, begin : begin + bins.PART]
            if part.any():
                yield number, level, start + begin, pack(list(part))
