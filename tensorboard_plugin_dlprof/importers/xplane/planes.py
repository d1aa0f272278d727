"""The planes of an XSpace, and the events of their lines as columns."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s, Strings, valid_text
from tensorboard_plugin_dlprof.importers.xplane.wire import BYTES, Columns, Octets, Source, decode, signed

ABSOLUTE_NS = 10**17
"""Later starts of lines count from 1970, not from the start of the session (1973 and later; sessions are shorter)."""

MOST_TEXT_BYTES = 1 << 16
"""Longer texts are cut."""

_DENSE = 1 << 22
"""Keys below this are looked up in a table. Writers number metadata from 1."""

_GPU = re.compile(r"/device:GPU:(\d+)\Z")

Value = int | float | str | bytes


class Metadata(msgspec.Struct):
    """What all events of one kind share."""

    name: str
    stats: list[tuple[int, int]]
    """Where their stats begin and end in the file."""


class Line(msgspec.Struct):
    """One line of a plane: a stream, a thread, or something derived."""

    id: int
    name: str
    timestamp_ns: int
    begin: int
    end: int


class Plane(msgspec.Struct):
    """One plane: a device, or the host."""

    name: str
    lines: list[Line]
    metadata: dict[int, Metadata]
    stat_names: dict[int, str]
    stats: dict[str, Value]

    @property
    def gpu(self) -> int:
        """Number of the GPU; -1 if the plane is none."""
        found = _GPU.match(self.name)
        return int(found[1]) if found and len(found[1]) < 6 else -1

    @property
    def is_host(self) -> bool:
        """Whether its lines are threads."""
        return self.name.startswith("/host:")


class Space(msgspec.Struct):
    """A whole file."""

    planes: list[Plane]
    errors: list[str]
    hosts: list[str]


def read_space(source: Source) -> Space:
    """The planes of a file, without the events of their lines."""
    space = Space([], [], [])
    for number, wire, length, end in source.fields(0, source.size):
        if wire != BYTES:
            continue
        if number == 1:
            space.planes.append(_plane(source, end - length, end))
        elif number == 2 and len(space.errors) < 10:
            space.errors.append(_text(source, length, end))
        elif number == 4 and len(space.hosts) < 10:
            space.hosts.append(_text(source, length, end))
    return space


def _text(source: Source, length: int, end: int) -> str:
    begin = end - length
    return valid_text(source.text(begin, min(end, begin + MOST_TEXT_BYTES)))


def _plane(source: Source, begin: int, end: int) -> Plane:
    plane = Plane("", [], {}, {}, {})
    lines, entries, stats = [], [], []
    for number, wire, length, stop in source.fields(begin, end):
        if wire != BYTES:
            continue
        if number == 2:
            plane.name = _text(source, length, stop)
        elif number == 3:
            lines.append((stop - length, stop))
        elif number == 4:
            entries.append((stop - length, stop))
        elif number == 5:
            key, first, last = _entry(source, stop - length, stop)
            plane.stat_names[key] = _named(source, first, last)[0]
        elif number == 6:
            stats.append((stop - length, stop))
    for first, last in entries:
        key, first, last = _entry(source, first, last)
        plane.metadata[key] = Metadata(*_named(source, first, last))
    plane.stats = read_stats(source, stats, plane.stat_names)
    plane.lines = [_line(source, first, last) for first, last in lines]
    return plane


class Lookup:
    """Values by integer keys, for many keys at once.

    Args:
        found: The values; the keys are any integers.
        missing: The value of all other keys.
    """

    def __init__(self, found: Mapping[int, int], missing: int) -> None:
        keys = np.array(sorted(found), np.int64)
        values = np.array([found[key] for key in keys.tolist()], np.int64)
        self._keys, self._values, self._missing = keys, values, missing
        self._dense: Int64s | None = None
        if len(keys) and keys[0] >= 0 and keys[-1] < _DENSE:
            self._dense = np.full(int(keys[-1]) + 2, missing, np.int64)
            self._dense[keys] = values

    def __call__(self, keys: Int64s) -> Int64s:
        """The values of some keys."""
        if self._dense is not None:
            last = len(self._dense) - 1
            return self._dense[np.where((keys >= 0) & (keys < last), keys, last)]
        if not len(self._keys):
            return np.full(len(keys), self._missing, np.int64)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._values[place], self._missing)


def _entry(source: Source, begin: int, end: int) -> tuple[int, int, int]:
    """Key of a map's entry, and where its value begins and ends."""
    key, first, last = 0, end, end
    for number, wire, value, stop in source.fields(begin, end):
        if number == 1:
            key = signed(value)
        elif number == 2 and wire == BYTES:
            first, last = stop - value, stop
    return key, first, last


def _named(source: Source, begin: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """Name of an event's or a stat's metadata, and where the stats in it begin and end."""
    name, stats = "", []
    for number, wire, value, stop in source.fields(begin, end):
        if wire == BYTES and number == 2:
            name = _text(source, value, stop)
        elif wire == BYTES and number == 5:
            stats.append((stop - value, stop))
    return name, stats


def read_stats(source: Source, places: list[tuple[int, int]], names: dict[int, str]) -> dict[str, Value]:
    """Some stats by name, in lower case; bytes are cut like texts. A later stat of the same name wins."""
    found: dict[str, Value] = {}
    for begin, end in places:
        key, value = 0, None
        for number, wire, raw, stop in source.fields(begin, end):
            if number == 1:
                key = signed(raw)
            elif number == 2:
                value = struct.unpack("<d", raw.to_bytes(8, "little"))[0]
            elif number in (3, 4):
                value = raw if number == 3 else signed(raw)
            elif number == 5 and wire == BYTES:
                value = _text(source, raw, stop)
            elif number == 6 and wire == BYTES:
                value = source.data(stop - raw, min(stop, stop - raw + MOST_TEXT_BYTES))
            elif number == 7:
                value = names.get(raw, "")
        if value is not None:
            found[names.get(key, "").lower()] = value
    return found


def bytes_stat(source: Source, metadata: Metadata) -> tuple[int, int] | None:
    """Where the first stat of bytes in some metadata begins and ends: the HLO proto of a module."""
    for begin, end in metadata.stats:
        for number, wire, value, stop in source.fields(begin, end):
            if number == 6 and wire == BYTES:
                return stop - value, stop
    return None


def _line(source: Source, begin: int, end: int) -> Line:
    """The head of a line. Writers put it before the events; where they do not, the events are passed over."""
    line = Line(0, "", 0, begin, end)
    events = False
    for number, wire, value, stop in source.fields(begin, end):
        if number == 1:
            line.id = signed(value)
        elif wire == BYTES and (number == 2 or (number == 11 and not line.name)):
            line.name = _text(source, value, stop)
        elif number == 3:
            line.timestamp_ns = signed(value)
        elif number == 4:
            if line.name:
                break
            events = True
    if events and not line.timestamp_ns:
        line.timestamp_ns = next((signed(value) for number, _, value, _ in source.fields(begin, end) if number == 3), 0)
    return line


class Events:
    """Some events of a line, as columns of n rows, and their stats.

    Args:
        metadata: Keys of ``Plane.metadata``.
        start_ps: Start in picoseconds since the start of the session, or since 1970 (``ABSOLUTE_NS``).
        duration_ps: Duration in picoseconds.
        stats: The stats by name.
    """

    def __init__(self, metadata: Int64s, start_ps: Int64s, duration_ps: Int64s, stats: _Stats) -> None:
        self.metadata, self.start_ps, self.duration_ps, self._stats = metadata, start_ps, duration_ps, stats

    def __len__(self) -> int:
        return len(self.metadata)

    def integers(self, name: str, missing: int = -1) -> Int64s:
        """The values of a stat, in lower case, of each event; texts count as missing."""
        return self._stats.integers(name, len(self), missing)

    def texts(self, name: str) -> Int64s:
        """The ids of a stat's text of each event; 0 where it is missing or a number."""
        return self._stats.texts(name, len(self))

    def has(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which events have a stat."""
        found = np.zeros(len(self), np.bool_)
        found[self._stats.rows_of(name)[0]] = True
        return found


class _Stats(msgspec.Struct):
    """Stats of events, one row each, in the order of writing."""

    owner: Int64s
    key: Int64s
    kind: Int64s
    """Field number of the value."""
    columns: Columns
    """Of the values."""
    data: bytes
    keys: dict[str, list[int]]
    """Keys of ``stat_names`` by name in lower case."""
    ref_texts: dict[int, int]
    """Text id of each name of a stat, by key."""
    known: dict[bytes, int]
    strings: Strings
    shared: dict[str, tuple[Int64s, list[Value]]]
    """Stats of the events' metadata by name: rows, and values."""

    def rows_of(self, name: str) -> tuple[Int64s, Int64s]:
        """Rows of the events with a stat, and its row here."""
        here = np.flatnonzero(np.isin(self.key, self.keys.get(name, [])))
        rows = self.owner[here]
        if name in self.shared:
            rows = np.concatenate((self.shared[name][0], rows))
            here = np.concatenate((np.full(len(self.shared[name][0]), -1, np.int64), here))
        return rows, here

    def integers(self, name: str, count: int, missing: int) -> Int64s:
        """See ``Events.integers``."""
        column = np.full(count, missing, np.int64)
        if name in self.shared:
            rows, values = self.shared[name]
            column[rows] = [value if isinstance(value, int) and value < 1 << 63 else missing for value in values]
        rows, here = self.rows_of(name)
        rows, here = rows[here >= 0], here[here >= 0]
        whole = (self.kind[here] == 3) | (self.kind[here] == 4)
        column[rows[whole]] = self.columns.value[here[whole]].astype(np.int64)
        return column

    def texts(self, name: str, count: int) -> Int64s:
        """See ``Events.texts``."""
        column = np.zeros(count, np.int64)
        if name in self.shared:
            rows, values = self.shared[name]
            column[rows] = [self.strings.intern(value) if isinstance(value, str) else 0 for value in values]
        rows, here = self.rows_of(name)
        rows, here = rows[here >= 0], here[here >= 0]
        referred = self.kind[here] == 7
        if referred.any():
            keys, inverse = np.unique(self.columns.value[here[referred]].astype(np.int64), return_inverse=True)
            ids = np.array([self.ref_texts.get(key, 0) for key in keys.tolist()], np.int64)
            column[rows[referred]] = ids[inverse.reshape(-1)]
        written = self.kind[here] == 5
        if written.any():
            column[rows[written]] = self._interned(here[written])
        return column

    def _interned(self, here: Int64s) -> list[int]:
        begin = self.columns.at[here]
        end = begin + np.minimum(self.columns.value[here].astype(np.int64), MOST_TEXT_BYTES)
        known, data, strings = self.known, self.data, self.strings
        ids = []
        for first, last in zip(begin.tolist(), end.tolist(), strict=True):
            octets = data[first:last]
            number = known.get(octets)
            if number is None:
                number = known[octets] = strings.intern(octets.decode("utf-8", "replace"))
            ids.append(number)
        return ids


class EventReader:
    """Reads the events of lines of one plane.

    Args:
        source: The file.
        plane: The plane.
        strings: Where texts are interned.
    """

    def __init__(self, source: Source, plane: Plane, strings: Strings) -> None:
        self._source, self._plane, self._strings = source, plane, strings
        self._keys: dict[str, list[int]] = {}
        for key, name in plane.stat_names.items():
            self._keys.setdefault(name.lower(), []).append(key)
        self._ref_texts = {key: strings.intern(name) for key, name in plane.stat_names.items()}
        self._known: dict[bytes, int] = {}
        self._shared = {
            key: read_stats(source, each.stats, plane.stat_names)
            for key, each in plane.metadata.items()
            if each.stats and not plane.name.startswith("/host:metadata")
        }

    def read(self, line: Line, without_stats: Lookup | None = None) -> Iterator[Events]:
        """The events of a line, some tens of thousands at a time.

        Args:
            line: The line.
            without_stats: Not 0 for keys of metadata of events whose stats are not wanted.
        """
        for chunk, starts, stops, base in self._source.messages(line.begin, line.end, 4):
            data = np.frombuffer(chunk, np.uint8)
            columns = decode(data, starts, stops, self._source, base)
            scalars = []
            for number in (1, 2, 3):
                column = np.zeros(len(starts), np.int64)
                some = columns.number == number
                column[columns.row[some]] = columns.value[some].astype(np.int64)
                scalars.append(column)
            metadata, offset_ps, duration_ps = scalars
            is_stat = (columns.number == 4) & (columns.at > 0)
            if without_stats is not None:
                is_stat &= (without_stats(metadata) == 0)[columns.row]
            stats = self._stats(columns, is_stat, chunk, data, base)
            self._share(stats, metadata)
            yield Events(metadata, line.timestamp_ns * 1000 + offset_ps, duration_ps, stats)

    def _stats(self, columns: Columns, is_stat: Octets, chunk: bytes, data: Octets, base: int) -> _Stats:
        owner, at = columns.row[is_stat], columns.at[is_stat]
        # In the order of events, so that of stats of one name the last one stays.
        order = np.argsort(at, kind="stable")
        owner, at = owner[order], at[order]
        end = at + columns.value[is_stat][order].astype(np.int64)
        parts = decode(data, at, end, self._source, base)
        count = len(owner)
        key, kind = np.zeros(count, np.int64), np.zeros(count, np.int64)
        value, place = np.zeros(count, np.uint64), np.zeros(count, np.int64)
        keyed = parts.number == 1
        key[parts.row[keyed]] = parts.value[keyed].astype(np.int64)
        rows = parts.row[~keyed]
        kind[rows], value[rows], place[rows] = parts.number[~keyed], parts.value[~keyed], parts.at[~keyed]
        values = Columns(owner, kind, value, place)
        return _Stats(owner, key, kind, values, chunk, self._keys, self._ref_texts, self._known, self._strings, {})

    def _share(self, stats: _Stats, metadata: Int64s) -> None:
        """Give events the stats of their metadata; few files have any."""
        for key in set(np.unique(metadata).tolist()) & self._shared.keys() if self._shared else ():
            rows = np.flatnonzero(metadata == key)
            for name, value in self._shared[key].items():
                known_rows, values = stats.shared.get(name, (np.zeros(0, np.int64), []))
                stats.shared[name] = np.concatenate((known_rows, rows)), values + [value] * len(rows)
