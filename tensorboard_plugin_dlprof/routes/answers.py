"""A cache of responses. A database does not change, so neither does the response to a request about it."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict

import msgspec

MAX_BYTES = 8 << 20
"""Size limit of the cache; the least recently used entries are dropped first."""

MAX_ANSWER_BYTES = MAX_BYTES >> 3
"""Larger responses are not cached."""

_COMPRESSION = 3
"""TensorBoard's gzip level."""

_SAMPLE_BYTES, _PACKED_FRACTION = 4_096, 0.45
"""Of the middle of a body, and to what packed numbers shrink at best; JSON shrinks to less."""

_ENTRY_BYTES = 500
"""Approximate memory of an entry in addition to its content."""


class Answer(msgspec.Struct, frozen=True):
    """The body of a response as it is sent. ``encoding`` is ``gzip`` or empty."""

    content: bytes
    encoding: str = ""


def compressed(content: bytes) -> Answer:
    """The body, compressed with gzip. Packed numbers hardly repeat: looking for what does costs twice the time."""
    some = content[len(content) // 2 :][:_SAMPLE_BYTES]
    is_packed = len(some) == _SAMPLE_BYTES and len(zlib.compress(some, 1)) > _PACKED_FRACTION * len(some)
    strategy = zlib.Z_HUFFMAN_ONLY if is_packed else zlib.Z_DEFAULT_STRATEGY
    stream = zlib.compressobj(_COMPRESSION, zlib.DEFLATED, 16 + zlib.MAX_WBITS, strategy=strategy)
    return Answer(stream.compress(content) + stream.flush(), "gzip")


class Answers:
    """A few megabytes of responses by key; may be used from several threads."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> Answer | None:
        """The response of this key; None if it is not cached."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, key: str, answer: Answer) -> None:
        """Cache a response, unless it is too large."""
        if len(answer.content) > min(MAX_ANSWER_BYTES, self._most_bytes):
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self._bytes += _size(key, answer) - (0 if before is None else _size(key, before))
            self._kept[key] = answer
            while self._bytes > self._most_bytes:
                oldest, dropped = self._kept.popitem(last=False)
                self._bytes -= _size(oldest, dropped)


def _size(key: str, answer: Answer) -> int:
    return len(answer.content) + len(key) + _ENTRY_BYTES
