"""Reads the tracks of the timeline: their items in a window, and what those are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import empty, some_rows
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.packing import unpack_from
from tensorboard_plugin_dlprof.diagnosis.calls import without_version
from tensorboard_plugin_dlprof.errors import NotFound, UnfitDatabase
from tensorboard_plugin_dlprof.queries.extension import is_of_another_version, is_ours, maker, shown_name
from tensorboard_plugin_dlprof.queries.filters import containing
from tensorboard_plugin_dlprof.queries.rows import RowsById
from tensorboard_plugin_dlprof.timeline.tables import (
    CALL,
    CLASSES,
    COPY,
    GRAPH,
    NO_CALL,
    OP,
    PART,
    RANGE,
    SET,
    STREAM,
)

Int64s = npt.NDArray[np.int64]

MAX_TRACKS = 10_000
"""A limit for hostile files."""

_COLUMNS = (
    "id, kind, device_id, stream, process_id, thread_id, level, first_item, items, launches, sum_ns, first_ns, last_ns"
)


class TrackRow(msgspec.Struct, frozen=True):
    """A row of ``ext_tracks``."""

    id: int
    kind: str
    device: int
    stream: int
    process: int
    thread: int
    level: int
    first_item: int
    items: int
    launches: int
    sum_ns: int
    first_ns: int
    last_ns: int

    @property
    def name(self) -> str:
        """What is told of the track: ``stream 7``, ``ops``."""
        if self.kind == STREAM:
            return f"stream {self.stream}" if self.stream >= 0 else "stream unknown"
        if self.kind == RANGE:
            return f"ranges {self.level + 1}"
        return {OP: "ops", CALL: "API calls", "device": "GPU", "queue": "queue length"}.get(self.kind, self.kind)


class Items(msgspec.Struct):
    """Some items of a track, by start; times are ns since the start of the capture."""

    number: Int64s
    start: Int64s
    stop: Int64s
    work_class: Int64s
    ref: Int64s
    """As in ``ext_track_items``."""
    call: Int64s
    """Number of the call that launched each; -1 where it is not recorded, or the track is not a stream."""


def has_tracks(con: sqlite3.Connection) -> bool:
    """Whether the database holds tracks: not of another version, nor of DLProf while it is not imported."""
    return is_ours(con) and not is_of_another_version(con)


def all_tracks(con: sqlite3.Connection) -> list[TrackRow]:
    """All tracks, by id.

    Raises:
        UnfitDatabase: there are more than any program has, or they are damaged.
    """
    rows = con.execute(f"SELECT {_COLUMNS} FROM ext_tracks ORDER BY id").fetchmany(MAX_TRACKS + 1)
    if len(rows) > MAX_TRACKS:
        raise UnfitDatabase(f"{shown_name(con)} holds too many tracks; import its source again.")
    try:
        return [TrackRow(row[0], str(row[1]), *map(int, row[2:])) for row in rows]
    except (TypeError, ValueError):
        raise UnfitDatabase(damaged(con)) from None


def recorded_tracks(con: sqlite3.Connection) -> list[TrackRow]:
    """As ``all_tracks``, for what needs a timeline.

    Raises:
        NotFound: the database has no tracks.
        UnfitDatabase: as for ``all_tracks``.
    """
    if not has_tracks(con):
        raise NotFound(f"{maker(con)} made this database, so its timeline cannot be read; import its source again.")
    return all_tracks(con)


def damaged(con: sqlite3.Connection) -> str:
    """What is said of a database whose tracks hold impossible values."""
    return f"{shown_name(con)} has damaged tracks; import its source again."


def parts_in(con: sqlite3.Connection, track: TrackRow, start_ns: int, stop_ns: int) -> list[tuple[int, int]]:
    """The parts of a track that may have items in the window: row id, and items."""
    return con.execute(
        "SELECT id, items FROM ext_track_items WHERE track_id = ? AND start_ns < ? AND stop_ns >= ? "
        "ORDER BY first_item",
        (track.id, stop_ns, start_ns),
    ).fetchall()


def items_of_part(con: sqlite3.Connection, track: TrackRow, part: int) -> Items:
    """All items of one part.

    Raises:
        UnfitDatabase: it is damaged.
    """
    row = con.execute(
        "SELECT first_item, start_ns, first_call, data FROM ext_track_items WHERE id = ?", (part,)
    ).fetchone()
    try:
        first, start_ns, first_call, data = row
        columns = unpack_from(con, data, 5 if track.kind == STREAM else 4)
    except (TypeError, ValueError):
        raise UnfitDatabase(damaged(con)) from None
    start = np.cumsum(columns[0]) + int(start_ns)
    none = np.full(len(start), -1)
    classes = columns[2]
    call = np.where(classes < NO_CALL, np.cumsum(columns[4]) + int(first_call), -1) if track.kind == STREAM else none
    return Items(
        np.arange(len(start)) + int(first),
        start,
        start + columns[1],
        np.clip(classes % NO_CALL, 0, len(CLASSES[track.kind]) - 1),
        columns[3],
        call,
    )


def items_in(con: sqlite3.Connection, track: TrackRow, start_ns: int, stop_ns: int) -> Items:
    """The items of a track that overlap the window; those of zero length count if they lie in it."""
    return joined(list(items_by_part(con, track, start_ns, stop_ns)))


def items_by_part(con: sqlite3.Connection, track: TrackRow, start_ns: int, stop_ns: int) -> Iterator[Items]:
    """As ``items_in``, part by part."""
    for part, _ in parts_in(con, track, start_ns, stop_ns):
        items = items_of_part(con, track, part)
        inside = (items.start < stop_ns) & ((items.stop > start_ns) | (items.start >= start_ns))
        yield items if inside.all() else some_rows(items, inside)


def items_numbered(con: sqlite3.Connection, track: TrackRow, numbers: Int64s) -> Items:
    """The items of a track with these numbers, ascending; numbers of other tracks are left out."""
    numbers = numbers[(numbers >= track.first_item) & (numbers < track.first_item + track.items)]
    result = []
    for index in distinct_values((numbers - track.first_item) // PART).tolist():
        first = track.first_item + index * PART
        row = con.execute(
            "SELECT id FROM ext_track_items WHERE track_id = ? AND first_item = ?", (track.id, first)
        ).fetchone()
        if row is not None:
            items = items_of_part(con, track, row[0])
            place = numbers[(numbers >= first) & (numbers < first + len(items.number))] - first
            result.append(some_rows(items, place))
    return joined(result)


def joined(parts: list[Items]) -> Items:
    """Several tables of items, one after the other."""
    if not parts:
        return empty(Items)
    return Items(*(np.concatenate([getattr(part, name) for part in parts]) for name in Items.__struct_fields__))


def backward_tracks(con: sqlite3.Connection, tracks: Iterable[TrackRow]) -> set[int]:
    """The ids of tracks of ops of which most, as far as their first part tells, are of a backward pass: none if no
    other thread runs ops, because the pass has a thread of its own only beside that of the forward pass."""
    ops = [track for track in tracks if track.kind == OP]
    backward = {track.id for track in ops if _is_backward(con, track)}
    return backward if len(backward) < len(ops) else set()


def _is_backward(con: sqlite3.Connection, track: TrackRow) -> bool:
    first = con.execute(
        "SELECT id FROM ext_track_items WHERE track_id = ? ORDER BY first_item LIMIT 1", (track.id,)
    ).fetchone()
    if first is None:
        return False
    refs = items_of_part(con, track, first[0]).ref
    directions = RowsById(con, _DIRECTIONS, lambda values: values[0] == "bprop", False)
    return 2 * sum(directions.of([("op", ref) for ref in refs.tolist()])) > len(refs)


class Names:
    """The names of items: of kernels the short name, of ops the path, of ranges their own, of calls as programs call
    them."""

    def __init__(self, con: sqlite3.Connection) -> None:
        self._con = con
        self._rows = RowsById(con, _NAMES, lambda values: str(values[0] or ""), "")

    def of(self, track: TrackRow, work_class: Int64s, ref: Int64s) -> list[str]:
        """The name of each of some items of a track; empty where it is not recorded."""
        found = self._rows.of(table_keys(track.kind, work_class, ref))
        return list(map(without_version, found)) if track.kind == CALL else found

    def holding(self, track: TrackRow, text: str) -> Int64s:
        """What of the items of a track, but copies and sets, has a name that contains a text."""
        condition = containing(text)
        table = _table(track.kind, 0)
        column = {"op": "op_name", "text": "string"}.get(table, "name.string")
        rows = self._con.execute(_SEARCHES[table].format(condition.sql.format(column)), condition.values)
        (numbers,) = rows.fetchone()
        return np.fromstring(numbers or "", np.int64, sep=",")

    def launched_by(self, text: str) -> dict[str, Int64s]:
        """By table the kernels, copies and others that ops launched whose path contains a text."""
        condition = containing(text)
        where = condition.sql.format("op.op_name")
        return {
            table: np.array(
                [
                    number
                    for (number,) in self._con.execute(
                        f"SELECT work.id FROM {works} AS work "
                        f"JOIN read_only_ops AS op ON op.id = work.read_only_ops_id WHERE {where}",
                        condition.values,
                    )
                ],
                np.int64,
            )
            for table, works in _WORKS.items()
        }


def table_keys(kind: str, work_class: Int64s, ref: Int64s) -> list[tuple[str, int]]:
    """Where what is known of items of a kind of track is: a table of ``_NAMES``, and the id there."""
    tables = [_table(kind, number) for number in range(len(CLASSES[kind]))]
    return [(tables[number], one) for number, one in zip(work_class.tolist(), ref.tolist(), strict=True)]


def _table(kind: str, number: int) -> str:
    if kind == STREAM:
        return TABLE_OF_CLASS.get(number, "launch")
    return "op" if kind == OP else "text"


TABLE_OF_CLASS = {COPY: "memcpy", SET: "memset", GRAPH: "graph"}
"""Where work of a class is, which is no kernel: those are launches."""
_WORKS = {
    "launch": "launches",
    "memcpy": "read_only_memcpys",
    "memset": "read_only_memsets",
    "graph": "ext_graph_launches",
}

_SEARCHES = {
    "launch": "SELECT group_concat(work.id) FROM launches AS work "
    "JOIN dictionary AS name ON name.id = work.name_id WHERE {}",
    "op": "SELECT group_concat(id) FROM read_only_ops WHERE {}",
    "text": "SELECT group_concat(id) FROM dictionary WHERE {}",
}
"""The ids of what has a name for which a condition holds."""

_DIRECTIONS = {
    "op": "SELECT op.id, direction.string FROM read_only_ops AS op "
    "JOIN dictionary AS direction ON direction.id = op.direction_id WHERE op.id IN ({})"
}

_KERNEL_NAME = (
    "SELECT work.id, name.string FROM {} AS work JOIN dictionary AS name ON name.id = work.name_id "
    "WHERE work.id IN ({{}})"
)
_KINDS = "CASE copy_kind WHEN 1 THEN ' HtoD' WHEN 2 THEN ' DtoH' WHEN 8 THEN ' DtoD' WHEN 10 THEN ' PtoP' ELSE '' END"
_NAMES = {
    "graph": "SELECT id, 'CUDA graph' FROM ext_graph_launches WHERE id IN ({})",
    "launch": _KERNEL_NAME.format("launches"),
    "memcpy": f"SELECT id, 'Memcpy' || {_KINDS} FROM read_only_memcpys WHERE id IN ({{}})",
    "memset": "SELECT id, 'Memset' FROM read_only_memsets WHERE id IN ({})",
    "op": "SELECT id, op_name FROM read_only_ops WHERE id IN ({})",
    "text": "SELECT id, string FROM dictionary WHERE id IN ({})",
}
"""The name of each row of a table, by id."""
