"""Messages of protocol buffers as bytes: their library takes longer to load than a small trace to be read.

https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

Value: TypeAlias = "int | float | str | bytes | Mapping[int, Value] | Sequence[Value] | None"
"""Of a field: a whole number of any kind but ``sint`` and ``fixed``, a ``double``, a text, bytes, a message, several of
these, or ``None``, which is not set."""

_NUMBER, _DOUBLE, _BYTES = 0, 1, 2
"""Wire types: how a value is stored, the lowest three bits of what stands before it."""

_64_BITS: Final = (1 << 64) - 1


def message(fields: Mapping[int, Value]) -> bytes:
    """The message of these fields, by their numbers."""
    return b"".join(_field(number, value) for number, value in fields.items())


def _field(number: int, value: Value) -> bytes:
    if value is None:
        return b""
    if isinstance(value, int):
        return _varint(number << 3 | _NUMBER) + _varint(value & _64_BITS)
    if isinstance(value, float):
        return _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)
    if isinstance(value, Mapping):
        value = message(value)
    elif isinstance(value, str):
        value = value.encode()
    elif not isinstance(value, bytes):
        return b"".join(_field(number, one) for one in value)
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last byte have the highest bit set."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
