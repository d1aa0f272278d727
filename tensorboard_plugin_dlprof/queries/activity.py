"""What each GPU did in a window of time, read from the stored activity without the rest of the capture."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.packing import unpack_from
from tensorboard_plugin_dlprof.diagnosis.parts import BUSY, Part
from tensorboard_plugin_dlprof.errors import BadRequest, UnfitDatabase
from tensorboard_plugin_dlprof.queries.extension import shown_name

Int64s = npt.NDArray[np.int64]

_MOST_CAUSES = 1_000_000
_ROW = 8_192
"""Segments in a stored row."""
_CACHE_KEY = "parts_of_causes"


class Pieces(msgspec.Struct):
    """Segments of one GPU, clipped to a window: disjoint, ascending, without gaps."""

    start: Int64s
    stop: Int64s
    cause: Int64s
    """``activity_causes.id``."""
    part: Int64s
    """``Part``."""

    def is_idle(self) -> npt.NDArray[np.bool_]:
        """Whether the GPU was idle in each."""
        idle: npt.NDArray[np.bool_] = self.part > max(BUSY)
        return idle


class Waits(msgspec.Struct):
    """Stretches in which one GPU is idle for one part, with the gap that each belongs to."""

    start: Int64s
    stop: Int64s
    part: Int64s
    gap_start: Int64s
    gap_stop: Int64s


def waits_of(pieces: Pieces) -> Waits:
    """The idle pieces, those that follow each other in one part as one: the host goes on from call to call in it."""
    idle = np.flatnonzero(pieces.is_idle())
    start, stop, part = pieces.start[idle], pieces.stop[idle], pieces.part[idle]
    opens, begins = np.ones((2, len(idle)), np.bool_)
    opens[1:] = start[1:] != stop[:-1]
    begins[1:] = opens[1:] | (part[1:] != part[:-1])
    closes, ends = (np.append(each[1:], True)[: len(idle)] for each in (opens, begins))
    gap = (np.cumsum(opens) - 1)[begins]
    return Waits(start[begins], stop[ends], part[begins], start[opens][gap], stop[closes][gap])


def pieces_in(con: sqlite3.Connection, device: int, start_ns: int, stop_ns: int, most: int) -> Pieces | None:
    """The segments of a GPU that overlap a window, clipped to it; None if there are more than about ``most``.

    Raises:
        UnfitDatabase: the tables contradict each other.
    """
    rows = con.execute(
        "SELECT id, start_ns FROM activity_segments WHERE device_id = ? AND stop_ns > ? AND start_ns < ? "
        "ORDER BY start_ns LIMIT ?",
        (device, start_ns, stop_ns, most // _ROW + 3),
    ).fetchall()
    if len(rows) > most // _ROW + 2:
        return None
    starts, stops, causes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number, first in rows:
        (data,) = con.execute("SELECT data FROM activity_segments WHERE id = ?", (number,)).fetchone()
        try:
            length, cause = unpack_from(con, data, 2)
        except ValueError:
            raise _damaged(con) from None
        stop = np.cumsum(length) + int(first)
        starts.append(stop - length)
        stops.append(stop)
        causes.append(cause)
    start, stop, cause = np.concatenate(starts), np.concatenate(stops), np.concatenate(causes)
    inside = (start < stop_ns) & (stop > start_ns)
    start, stop, cause = start[inside], stop[inside], cause[inside]
    parts = _parts(con)
    if len(cause) and not 0 < int(cause.min()) <= int(cause.max()) < len(parts):
        raise _damaged(con)
    return Pieces(np.maximum(start, start_ns), np.minimum(stop, stop_ns), cause, parts[cause])


def some_pieces_in(con: sqlite3.Connection, device: int, start_ns: int, stop_ns: int, most: int) -> Pieces:
    """As ``pieces_in``, for what cannot do with less.

    Raises:
        BadRequest: there are more.
    """
    result = pieces_in(con, device, start_ns, stop_ns, most)
    if result is None:
        raise BadRequest(f"This window holds more than {most:,} changes between work and waiting; zoom in.")
    return result


def _parts(con: sqlite3.Connection) -> Int64s:
    """The part of each cause, by its id; those of a connection whose file does not change are kept."""
    cache: dict[str, Any] = getattr(con, "cache", {})
    if _CACHE_KEY not in cache:
        rows = con.execute("SELECT id, part FROM activity_causes ORDER BY id").fetchmany(_MOST_CAUSES)
        parts = np.zeros(max((int(row[0]) for row in rows), default=0) + 1, np.int64)
        for number, part in rows:
            if not (0 < number < len(parts) and 0 <= part < len(Part)):
                raise _damaged(con)
            parts[number] = part
        cache[_CACHE_KEY] = parts
    result: Int64s = cache[_CACHE_KEY]
    return result


def causes_named(con: sqlite3.Connection, numbers: list[int]) -> dict[int, dict[str, str]]:
    """The words of some causes, by their ids; unknown ones are left out."""
    result: dict[int, dict[str, str]] = {}
    for begin in range(0, len(numbers), 500):
        some = numbers[begin : begin + 500]
        for number, part, *words in con.execute(
            f"SELECT id, part, detail, call, path, op_id, thread FROM activity_causes "
            f"WHERE id IN ({','.join('?' * len(some))})",
            some,
        ):
            texts = dict(zip(("detail", "call", "path", "op_id", "thread"), map(str, words), strict=True))
            result[number] = {"part": Part(part).label, **{key: text for key, text in texts.items() if text}}
    return result


def _damaged(con: sqlite3.Connection) -> UnfitDatabase:
    return UnfitDatabase(f"{shown_name(con)} has damaged activity of the GPUs; import its source again.")
