"""Writes XPlane files: protocol buffers' wire format, and the messages of XLA's profiler and of HLO that a profile has.

Field numbers are those of ``xplane.proto`` and ``hlo.proto``. Times are picoseconds in a file, nanoseconds here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Value = int | float | str | bytes


class Written(str):
    """A text that is written with each event, as by old collectors; others are written once and referred to."""

    __slots__ = ()


def varint(value: int) -> bytes:
    """An integer; a negative one takes ten bytes."""
    value &= (1 << 64) - 1
    octets = bytearray()
    while value > 127:
        octets.append(value & 127 | 128)
        value >>= 7
    return bytes((*octets, value))


def number(field_number: int, value: int) -> bytes:
    """A field of an integer; nothing if it is 0."""
    return varint(field_number << 3) + varint(value) if value else b""


def message(field_number: int, *content: bytes) -> bytes:
    """A field of bytes, text or a message."""
    whole = b"".join(content)
    return varint(field_number << 3 | 2) + varint(len(whole)) + whole


def text(field_number: int, value: str) -> bytes:
    """A field of text; nothing if it is empty."""
    return message(field_number, value.encode()) if value else b""


@dataclass(slots=True)
class Line:
    """One line: a stream or a thread."""

    id: int
    name: str
    start_ns: int = 0
    events: list[bytes] = field(default_factory=list)

    def encoded(self) -> bytes:
        """The ``XLine``."""
        head = number(1, self.id) + text(2, self.name) + number(3, self.start_ns)
        return head + b"".join(message(4, each) for each in self.events)


@dataclass(slots=True)
class Plane:
    """One plane, and the names that its events and stats refer to."""

    name: str
    stats: dict[str, Value] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    _events: dict[str, int] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)
    _shared: dict[str, dict[str, Value]] = field(default_factory=dict)

    def line(self, number: int, name: str, start_ns: int = 0) -> Line:
        """A new line."""
        self.lines.append(Line(number, name, start_ns))
        return self.lines[-1]

    def event(self, line: Line, name: str, start_ns: int, duration_ns: int, /, **stats: Value) -> None:
        """A new event of a line."""
        key = self._events.setdefault(name, len(self._events) + 1)
        offset = varint(2 << 3) + varint((start_ns - line.start_ns) * 1000)
        encoded = b"".join(message(4, self._stat(*each)) for each in stats.items())
        line.events.append(number(1, key) + offset + number(3, duration_ns * 1000) + encoded)

    def share(self, name: str, /, **stats: Value) -> None:
        """Give all events of a name some stats; an event that is not on a line is metadata only."""
        self._events.setdefault(name, len(self._events) + 1)
        self._shared[name] = stats

    def encoded(self) -> bytes:
        """The ``XPlane``, lines first, as XLA writes it."""
        events = [
            message(4, number(1, key), message(2, number(1, key), text(2, name), *self._stats(5, name)))
            for name, key in self._events.items()
        ]
        own = [message(6, self._stat(*each)) for each in self.stats.items()]
        names = [
            message(5, number(1, key), message(2, number(1, key), text(2, name))) for name, key in self._names.items()
        ]
        lines = [message(3, each.encoded()) for each in self.lines]
        return b"".join((text(2, self.name), *lines, *events, *names, *own))

    def _stats(self, field_number: int, name: str) -> list[bytes]:
        return [message(field_number, self._stat(*each)) for each in self._shared.get(name, {}).items()]

    def _key(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names) + 1)

    def _stat(self, name: str, value: Value) -> bytes:
        head = number(1, self._key(name))
        if isinstance(value, Written):
            return head + message(5, value.encode())
        if isinstance(value, str):
            return head + number(7, self._key(value))
        if isinstance(value, bytes):
            return head + message(6, value)
        if isinstance(value, float):
            return head + varint(2 << 3 | 1) + struct.pack("<d", value)
        return head + varint((4 if value < 0 else 3) << 3) + varint(value)


def space(planes: Iterable[Plane], hosts: Sequence[str] = (), errors: Sequence[str] = ()) -> bytes:
    """A whole file."""
    encoded = [message(1, plane.encoded()) for plane in planes]
    return b"".join((*encoded, *(text(2, each) for each in errors), *(text(4, each) for each in hosts)))


TYPES = {"f32": 11, "bf16": 16, "f16": 10, "s32": 3}
"""XLA's numbers of types."""


def shape(kind: str, lengths: Sequence[int]) -> bytes:
    """The ``ShapeProto`` of an array."""
    return number(2, TYPES[kind]) + message(3, *(varint(each) for each in lengths))


@dataclass(slots=True)
class Module:
    """A compiled module with one computation, and others that its fusions call."""

    name: str
    program: int
    _instructions: list[bytes] = field(default_factory=list)
    _computations: list[bytes] = field(default_factory=list)
    _count: int = 0

    def instruction(
        self,
        name: str,
        opcode: str,
        result: bytes,
        operands: Sequence[int] = (),
        op_name: str = "",
        source: tuple[str, int] = ("", 0),
        more: bytes = b"",
        inside: Sequence[bytes] = (),
    ) -> int:
        """Add an instruction, and return its id; ``inside`` are the instructions of a computation that it calls."""
        called = b""
        if inside:
            key = len(self._computations) + 2
            body = b"".join(message(2, each) for each in inside)
            self._computations.append(text(1, f"fused.{key}") + body + number(5, key) + number(6, 1_000_000))
            called = message(38, varint(key))
        self._count += 1
        self._instructions.append(
            plain_instruction(name, opcode, result, self._count, operands, op_name, source) + called + more
        )
        return self._count

    def encoded(self, schedule: bytes = b"") -> bytes:
        """The ``HloProto``, perhaps with a ``HloScheduleProto``."""
        entry = text(1, "main") + b"".join(message(2, each) for each in self._instructions) + number(5, 1)
        computations = [message(3, each) for each in (*self._computations, entry + number(6, self._count))]
        schedules = [message(7, schedule)] if schedule else []
        return message(1, text(1, self.name), *computations, number(5, self.program), number(6, 1), *schedules)


def plain_instruction(
    name: str,
    opcode: str,
    result: bytes,
    key: int,
    operands: Sequence[int] = (),
    op_name: str = "",
    source: tuple[str, int] = ("", 0),
) -> bytes:
    """The ``HloInstructionProto`` of one instruction."""
    metadata = text(2, op_name) + text(3, source[0]) + number(4, source[1])
    return b"".join(
        (
            *(text(1, name), text(2, opcode), message(3, result)),
            *([message(7, metadata)] if metadata else []),
            *(number(35, key), message(36, *(varint(each) for each in operands)) if operands else b""),
        )
    )
