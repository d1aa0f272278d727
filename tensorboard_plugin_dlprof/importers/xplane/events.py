"""Events of lines as columns, with those of their stats that are wanted.

Nearly all events and stats are written alike: their fields in ascending order, lengths below 16 kB, ids below 16,384.
Those are decoded together; the few others go through ``wire.decode``, which takes whatever the format allows.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s, Strings
from tensorboard_plugin_dlprof.importers.xplane.lanes import (
    BYTE,
    LOW,
    Flags,
    Octets,
    UInt64s,
    short_varints,
    varints,
    words,
)
from tensorboard_plugin_dlprof.importers.xplane.planes import (
    MOST_TEXT_BYTES,
    Line,
    Lookup,
    Plane,
    Value,
    as_int64,
    read_stats,
)
from tensorboard_plugin_dlprof.importers.xplane.wire import BYTES, FIXED64, VARINT, Source, decode

_EVENT_TAGS = (1 << 3, 2 << 3, 3 << 3)
"""Id of the metadata, offset, duration."""
_STAT_TAG = np.uint64(4 << 3 | BYTES)
_KEY_TAG = np.uint64(1 << 3)
_DOUBLE, _UNSIGNED, _SIGNED, _TEXT, _REFERENCE, _COMPRESSED = 2, 3, 4, 5, 7, 8
_WIRES = {_DOUBLE: FIXED64, _UNSIGNED: VARINT, _SIGNED: VARINT, _TEXT: BYTES, 6: BYTES, _REFERENCE: VARINT, 8: BYTES}
"""Wire types of the values of stats, by field."""

_KEYS = 1 << 14
"""Keys of stats that take one byte or two."""

_MOST_PS = 1 << 60
"""Two weeks; longer times are damage, and could not be added."""

_MOST_LENGTH = np.int64(7)
"""Longest varint behind a tag in one word."""


class _Stats(msgspec.Struct):
    """Stats of events, one row each; of those with one name the last one of an event comes last."""

    owner: Int64s
    """Row of the event."""
    name: Int64s
    """Number of the wanted name."""
    kind: Int64s
    """Field of the value."""
    value: UInt64s
    """Of texts and bytes their length."""
    at: Int64s
    """Where texts and bytes begin."""


class Events:
    """Some events of a line, as columns of n rows, and their stats.

    Args:
        reader: Reader of the plane.
        data: The bytes that the stats refer to.
        metadata: Keys of ``Plane.metadata``.
        start_ps: Start in picoseconds since the start of the session.
        duration_ps: Duration in picoseconds.
    """

    def __init__(
        self, reader: EventReader, data: bytes, metadata: Int64s, start_ps: Int64s, duration_ps: Int64s, stats: _Stats
    ) -> None:
        self.metadata, self.start_ps, self.duration_ps = metadata, start_ps, duration_ps
        self._reader, self._data, self._stats = reader, data, stats

    def __len__(self) -> int:
        return len(self.metadata)

    def integers(self, name: str, missing: int = -1) -> Int64s:
        """The values of a stat, in lower case, of each event, rounded; texts count as missing."""
        column = np.full(len(self), missing, np.int64)
        for rows, value in self._reader.shared(name, self.metadata):
            column[rows] = _whole(value, missing)
        stats, here = self._stats, self._of(name)
        whole = here[(stats.kind[here] == _UNSIGNED) | (stats.kind[here] == _SIGNED)]
        column[stats.owner[whole]] = stats.value[whole].astype(np.int64)
        real = here[stats.kind[here] == _DOUBLE]
        if len(real):
            values = stats.value[real].view(np.float64)
            fits = np.abs(values) < 1 << 53
            column[stats.owner[real[fits]]] = np.rint(values[fits]).astype(np.int64)
        return column

    def texts(self, name: str) -> Int64s:
        """The ids of a stat's text of each event; 0 where it is missing or a number."""
        column = np.zeros(len(self), np.int64)
        for rows, value in self._reader.shared(name, self.metadata):
            column[rows] = self._reader.strings.intern(value) if isinstance(value, str) else 0
        stats, here = self._stats, self._of(name)
        referred = here[stats.kind[here] == _REFERENCE]
        if len(referred):
            column[stats.owner[referred]] = self._reader.referred(stats.value[referred].astype(np.int64))
        written = here[(stats.kind[here] == _TEXT) | (stats.kind[here] == _COMPRESSED)]
        if len(written):
            column[stats.owner[written]] = self._interned(written)
        return column

    def has(self, name: str) -> Flags:
        """Which events have a stat."""
        has = np.zeros(len(self), np.bool_)
        for rows, _ in self._reader.shared(name, self.metadata):
            has[rows] = True
        has[self._stats.owner[self._of(name)]] = True
        return has

    def _of(self, name: str) -> Int64s:
        return np.flatnonzero(self._stats.name == self._reader.wanted[name])

    def _interned(self, here: Int64s) -> list[int]:
        begin, length, data = self._stats.at[here], self._stats.value[here].astype(np.int64), self._data
        pieces = [data[first:last] for first, last in zip(begin.tolist(), (begin + length).tolist(), strict=True)]
        for place in np.flatnonzero(self._stats.kind[here] == _COMPRESSED).tolist():
            pieces[place] = _inflated(pieces[place])
        return self._reader.written(pieces)


def _whole(value: Value, missing: int) -> int:
    if isinstance(value, float):
        return round(value) if abs(value) < 1 << 53 else missing
    return as_int64(value) if isinstance(value, int) else missing


class EventReader:
    """Reads the events of lines of one plane.

    Args:
        wanted: Names of the stats that may be asked for, in lower case.
    """

    def __init__(self, source: Source, plane: Plane, strings: Strings, wanted: Iterable[str]) -> None:
        self._source, self.strings = source, strings
        self.wanted = {name: number for number, name in enumerate(wanted)}
        columns = {
            key: self.wanted[name.lower()] for key, name in plane.stat_names.items() if name.lower() in self.wanted
        }
        self._any_name = Lookup(columns, -1)
        self._names = self._any_name(np.arange(_KEYS))
        self._ref_texts = Lookup({key: strings.intern(name) for key, name in plane.stat_names.items()}, 0)
        self._known: dict[bytes, int] = {}
        self._shared = {
            key: read_stats(source, each.stats, plane.stat_names) for key, each in plane.metadata.items() if each.stats
        }

    def shared(self, name: str, metadata: Int64s) -> Iterator[tuple[Int64s, Value]]:
        """Rows of the events whose metadata has a stat, and its value; few files have any."""
        for key, stats in self._shared.items():
            if name in stats and len(rows := np.flatnonzero(metadata == key)):
                yield rows, stats[name]

    def referred(self, keys: Int64s) -> Int64s:
        """The texts that values refer to."""
        return self._ref_texts(keys)

    def written(self, pieces: list[bytes]) -> list[int]:
        """The ids of texts as written."""
        for piece in set(pieces) - self._known.keys():
            self._known[piece] = self.strings.intern(piece[:MOST_TEXT_BYTES].decode("utf-8", "replace"))
        return list(map(self._known.__getitem__, pieces))

    def read(self, line: Line, without_stats: Lookup | None = None) -> Iterator[Events]:
        """The events of a line, some tens of thousands at a time.

        Args:
            without_stats: Not 0 for keys of metadata of events whose stats are not wanted.
        """
        for chunk, starts, stops, base in self._source.messages(line.begin, line.end, 4):
            yield self._events(line, chunk, starts, stops, base, without_stats)

    def _events(
        self, line: Line, chunk: bytes, starts: Int64s, stops: Int64s, base: int, without_stats: Lookup | None
    ) -> Events:
        data = np.frombuffer(chunk, np.uint8)
        columns, at, odd = _scalars(data, starts, stops)
        metadata = columns[0]
        odd |= at > stops
        some = (at < stops) & ~odd
        if without_stats is not None:
            some &= without_stats(metadata) == 0
        parts = self._stats(data, at, stops, np.flatnonzero(some), odd)
        if odd.any():
            rows = np.flatnonzero(odd)
            valid = ~odd[parts.owner]
            regular = [column[valid] for column in (parts.owner, parts.name, parts.kind, parts.value, parts.at)]
            unusual = self._unusual(data, starts, stops, base, rows, columns)
            parts = _Stats(*(np.concatenate(pair) for pair in zip(regular, unusual, strict=True)))
        start_ps = line.timestamp_ns * 1000 + np.clip(columns[1], -_MOST_PS, _MOST_PS)
        return Events(self, chunk, metadata, start_ps, np.clip(columns[2], 0, _MOST_PS), parts)

    def _stats(self, data: Octets, at: Int64s, stops: Int64s, rows: Int64s, odd: Flags) -> _Stats:
        """The wanted stats: the first of all events, then the second. Sets ``odd`` where they are written unusually."""
        stats: list[tuple[Int64s, Int64s, Int64s, UInt64s, Int64s]] = []
        here, end = at[rows], stops[rows]
        while len(rows):
            word = words(data, here)
            good = word & LOW == _STAT_TAG
            # Length, key and tag of the value; the first two take one byte or two.
            length, inside, at_key = _one_or_two(word >> BYTE[1], good)
            good &= inside & LOW == _KEY_TAG
            key, inside, at_value = _one_or_two(inside >> BYTE[1], good)
            value_at = here + (at_key + at_value + 3)
            stop = here + (at_key + 1) + length
            good &= (stop <= end) & (value_at < stop)
            if not good.all():
                odd[rows[~good]] = True
            name = self._names[key]
            some = np.flatnonzero(good & (name >= 0))
            if len(some):
                tag = (inside[some] & LOW).astype(np.int64)
                value, place, fits = _values(data, tag, value_at[some], stop[some])
                odd[rows[some[~fits]]] = True
                stats.append((rows[some], name[some], tag >> 3, value, place))
            going_on = np.flatnonzero(good & (stop < end))
            rows, here, end = rows[going_on], stop[going_on], end[going_on]
        if not stats:
            none = np.zeros(0, np.int64)
            return _Stats(none, none, none, none.astype(np.uint64), none)
        return _Stats(*(np.concatenate(column) for column in zip(*stats, strict=True)))

    def _unusual(
        self, data: Octets, starts: Int64s, stops: Int64s, base: int, rows: Int64s, columns: list[Int64s]
    ) -> tuple[Int64s, Int64s, Int64s, UInt64s, Int64s]:
        """Decodes some events in whatever way they are written, and sets their fields in ``columns``."""
        fields = decode(data, starts[rows], stops[rows], self._source, base)
        for number, column in enumerate(columns, start=1):
            column[rows] = 0
            own = fields.number == number
            column[rows[fields.row[own]]] = fields.value[own].astype(np.int64)
        stat = np.flatnonzero((fields.number == 4) & (fields.at > 0))
        owner, at = rows[fields.row[stat]], fields.at[stat]
        inner = decode(data, at, at + fields.value[stat].astype(np.int64), self._source, base)
        count = len(stat)
        key, kind, place = (np.zeros(count, np.int64) for _ in range(3))
        value = np.zeros(count, np.uint64)
        keyed = inner.number == 1
        key[inner.row[keyed]] = inner.value[keyed].astype(np.int64)
        others = inner.row[~keyed]
        kind[others], value[others], place[others] = inner.number[~keyed], inner.value[~keyed], inner.at[~keyed]
        name = self._any_name(key)
        some = np.flatnonzero((name >= 0) & (kind > 0) & (np.isin(kind, (_TEXT, 6, _COMPRESSED)) == (place > 0)))
        return owner[some], name[some], kind[some], value[some], place[some]


def _scalars(data: Octets, starts: Int64s, stops: Int64s) -> tuple[list[Int64s], Int64s, Flags]:
    """Metadata, offset and duration of events, where their stats begin, and which of them are written unusually."""
    at, odd = starts.copy(), np.zeros(len(starts), np.bool_)
    columns = []
    for tag in _EVENT_TAGS:
        word = words(data, at)
        has = (word & LOW == np.uint64(tag)) & (at < stops)
        value, length = short_varints(word >> BYTE[1])
        if len(long := np.flatnonzero(has & (length > _MOST_LENGTH))):  # Nine minutes after the start, for example.
            value[long], length[long] = varints(data, at[long] + 1)
            odd[long] = length[long] > 10
        columns.append(np.where(has, value, 0).astype(np.int64))
        at += np.where(has, length + 1, 0)
    return columns, at, odd


def _one_or_two(word: UInt64s, good: Flags) -> tuple[Int64s, UInt64s, Int64s | int]:
    """The varint of up to two bytes that words begin with, what is behind, its length; clears ``good`` if longer."""
    low = word & LOW
    two = low >= 128
    if not two.any():
        return low.astype(np.int64), word >> BYTE[1], 1
    high = word >> BYTE[1] & LOW
    good &= ~(two & (high >= 128))
    value = np.where(two, low & np.uint64(127) | (high & np.uint64(127)) << np.uint64(7), low).astype(np.int64)
    return value, word >> np.where(two, BYTE[2], BYTE[1]), 1 + two.astype(np.int64)


def _values(data: Octets, tag: Int64s, at: Int64s, stop: Int64s) -> tuple[UInt64s, Int64s, Flags]:
    """Values of stats, where texts begin, and whether the value is all that the stat holds."""
    value, length = varints(data, at)
    wire = tag & 7
    real = wire == FIXED64
    if real.any():
        value[real] = words(data, at[real])
        length[real] = 8
    place = at + length
    end = place + np.where(wire == BYTES, value, 0).astype(np.int64)
    expected = _WIRE_OF[tag >> 3]
    return value, place, (end == stop) & (wire == expected)


_WIRE_OF = np.array([_WIRES.get(kind, -1) for kind in range(32)], np.int64)


def _inflated(octets: bytes) -> bytes:
    """A compressed text, cut like others; empty if it is damaged."""
    try:
        return zlib.decompressobj(47).decompress(octets, MOST_TEXT_BYTES)
    except zlib.error:
        return b""
