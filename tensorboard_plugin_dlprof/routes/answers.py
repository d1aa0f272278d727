"""A cache of responses. A database does not change, so neither does the response to a request about it."""

from __future__ import annotations

import zlib

import msgspec

from tensorboard_plugin_dlprof.imports.lru_cache import LruCache

MAX_BYTES = 8 << 20
"""Size limit of the cache; the least recently used entries are dropped first."""

MAX_ANSWER_BYTES = MAX_BYTES >> 3
"""Larger responses are not cached."""

_COMPRESSION = 3
"""TensorBoard's gzip level."""

_SAMPLE_BYTES, _PACKED_FRACTION = 4_096, 0.45
"""Of the middle of a body, and to what packed numbers shrink at best; JSON shrinks to less."""

_ENTRY_BYTES = 500
"""Approximate memory of an entry in addition to its content, with its key."""


class Answer(msgspec.Struct, frozen=True):
    """The body of a response as it is sent. ``encoding`` is ``gzip`` or empty."""

    content: bytes
    encoding: str = ""


def compressed(content: bytes) -> Answer:
    """The body, compressed with gzip. Packed numbers hardly repeat: nothing is looked for that does."""
    some = content[len(content) // 2 :][:_SAMPLE_BYTES]
    is_packed = len(some) == _SAMPLE_BYTES and len(zlib.compress(some, 1)) > _PACKED_FRACTION * len(some)
    strategy = zlib.Z_HUFFMAN_ONLY if is_packed else zlib.Z_DEFAULT_STRATEGY
    stream = zlib.compressobj(_COMPRESSION, zlib.DEFLATED, 16 + zlib.MAX_WBITS, strategy=strategy)
    return Answer(stream.compress(content) + stream.flush(), "gzip")


class Answers(LruCache[str, Answer]):
    """A few megabytes of responses by key."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        super().__init__(most_bytes, lambda answer: len(answer.content) + _ENTRY_BYTES)
        self._largest = min(MAX_ANSWER_BYTES, most_bytes)

    def put(self, key: str, value: Answer) -> None:
        """Cache a response, unless it is too large."""
        if len(value.content) <= self._largest:
            super().put(key, value)
