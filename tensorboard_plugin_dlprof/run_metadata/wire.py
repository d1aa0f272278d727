"""Fields of protocol buffers as bytes: the library takes longer to load than an import takes to finish.

A message is the sequence of its fields in the order of their numbers. A field is a key, which holds its number and how
its value is stored, and the value; one that is not set is not there: https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import struct

_VARINT, _FIXED_64, _WITH_LENGTH = 0, 1, 2
"""How a value is stored."""

_64_BITS = (1 << 64) - 1


def integer(number: int, value: int | None) -> bytes:
    """A field of one of the integer types or of an enumeration; nothing where it is not known."""
    return b"" if value is None else _key(number, _VARINT) + _varint(value & _64_BITS)


def double(number: int, value: float | None) -> bytes:
    """A field of 64 bits of floating point; nothing where it is not known."""
    return b"" if value is None else _key(number, _FIXED_64) + struct.pack("<d", value)


def text(number: int, value: str | None) -> bytes:
    """A field of text; nothing where it is not known or empty."""
    return data(number, value.encode("utf-8", "replace")) if value else b""


def data(number: int, value: bytes) -> bytes:
    """A field of bytes, or of a message, whose value may be empty."""
    return _key(number, _WITH_LENGTH) + _varint(len(value)) + value


def _key(number: int, stored_as: int) -> bytes:
    return _varint(number << 3 | stored_as)


def _varint(value: int) -> bytes:
    """Seven bits in each byte, the lowest first; the eighth says that more follow."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
