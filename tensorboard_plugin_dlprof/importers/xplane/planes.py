"""The planes of an XSpace, and the events of their lines as columns."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s, valid_text
from tensorboard_plugin_dlprof.importers.xplane.wire import BYTES, Source, signed

ABSOLUTE_NS = 10**17
"""Later starts of lines count from 1970, not from the start of the session (1973 and later; sessions are shorter)."""

MOST_NS = 1 << 52
"""Longest time of a session, two months: it must still be a number as picoseconds."""

MOST_TEXT_BYTES = 1 << 16
"""Longer texts are cut."""

_DENSE = 1 << 22
"""Keys below this are looked up in a table. Writers number metadata from 1."""

_MOST = 1 << 16
"""Most planes, and lines or stats of a plane. An empty one takes two bytes in a file, and a hundred here."""
_MOST_KINDS = 1 << 22
"""Most kinds of events or stats of a plane."""

_HEAD = {1, 2, 3}
"""Id, name and start of a line."""

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
        match = _GPU.match(self.name)
        return int(match[1]) if match and len(match[1]) < 6 else -1

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
            if len(space.planes) > _MOST:
                source.damaged(end)
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
    lines: list[tuple[int, int]] = []
    stats: list[tuple[int, int]] = []
    for number, wire, length, stop in source.fields(begin, end):
        if wire != BYTES:
            continue
        if number == 2:
            plane.name = _text(source, length, stop)
        elif number == 3:
            lines.append((stop - length, stop))
        elif number == 4:
            key, first, last = _entry(source, stop - length, stop)
            plane.metadata[key] = Metadata(*_named(source, first, last))
        elif number == 5:
            key, first, last = _entry(source, stop - length, stop)
            plane.stat_names[key] = _named(source, first, last)[0]
        elif number == 6:
            stats.append((stop - length, stop))
        if len(lines) + len(stats) > _MOST or len(plane.metadata) + len(plane.stat_names) > _MOST_KINDS:
            source.damaged(stop)
    plane.stats = read_stats(source, stats, plane.stat_names)
    plane.lines = [_line(source, first, last) for first, last in lines]
    return plane


class Lookup:
    """Values by integer keys, for many keys at once.

    Args:
        found: The values; the keys are any integers.
        missing: The value of all other keys.
    """

    def __init__(self, known: Mapping[int, int], missing: int) -> None:
        keys = np.array(sorted(known), np.int64)
        values = np.array([known[key] for key in keys.tolist()], np.int64)
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
    for number, wire, value, stop in source.few_fields(begin, end):
        if number == 1:
            key = signed(value)
        elif number == 2 and wire == BYTES:
            first, last = stop - value, stop
    return key, first, last


def _named(source: Source, begin: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """Name of an event's or a stat's metadata, and where the stats in it begin and end."""
    name, stats = "", []
    for number, wire, value, stop in source.few_fields(begin, end):
        if wire == BYTES and number == 2:
            name = _text(source, value, stop)
        elif wire == BYTES and number == 5:
            stats.append((stop - value, stop))
    return name, stats


def read_stats(source: Source, places: list[tuple[int, int]], names: dict[int, str]) -> dict[str, Value]:
    """Some stats by name, in lower case; bytes are cut like texts. A later stat of the same name wins."""
    stats: dict[str, Value] = {}
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
            elif number in (6, 8) and wire == BYTES:
                value = source.data(stop - raw, min(stop, stop - raw + MOST_TEXT_BYTES))
            elif number == 7:
                value = names.get(raw, "")
        if value is not None:
            stats[names.get(key, "").lower()] = value
    return stats


def as_int64(value: int) -> int:
    """A number of 64 bits as columns hold it: ids are written with and without sign."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


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
    seen: set[int] = set()
    at, display = begin, ""
    while at < end and not seen:
        for number, wire, value, stop in source.fields(at, end):
            at = stop
            if number == 4 and wire == BYTES:
                break
            if number in _HEAD:
                seen.add(number)
            if number == 1:
                line.id = signed(value)
            elif number == 2 and wire == BYTES:
                line.name = _text(source, value, stop)
            elif number == 3:
                line.timestamp_ns = signed(value)
            elif number == 11 and wire == BYTES:
                display = _text(source, value, stop)
        if not seen:
            at = source.behind(at, end, 4)
    line.name = line.name or display
    return line
