"""Protocol buffers as bytes: Google's library takes longer to load than an import takes to write all its messages.

What is ``None`` is not set. https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct

_VARINT, _DOUBLE, _BYTES = range(3)
"""How a value is written, in the lowest bits of its key."""


def whole(number: int, value: int | None) -> bytes:
    """A field of whole numbers, or of an enumeration. A negative number is written as if it had no sign."""
    return b"" if value is None else _key(number, _VARINT) + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def double(number: int, value: float | None) -> bytes:
    """A field of doubles."""
    return b"" if value is None else _key(number, _DOUBLE) + struct.pack("<d", value)


def text(number: int, value: str | None) -> bytes:
    """A field of texts."""
    return b"" if value is None else message(number, value.encode("utf-8", "replace"))


def message(number: int, *fields: bytes) -> bytes:
    """A field of bytes, or of messages with these fields."""
    value = b"".join(fields)
    return b"".join((_key(number, _BYTES), _varint(len(value)), value))


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
