"""Splits the text of a trace into what is before, in and after the list of events.

The file is read in chunks of 2 MB. A batch of events ends at the last occurrence in a chunk of the text that
separates the first two events; so where batches begin depends on the file alone, and a reader of a part of it finds the
same ones. A batch that cannot be decoded, because that is the wrong place, an event is broken, or the list ends in it,
is read event by event: each ends with its brackets, or, if these do not match, where the next one seems to begin.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.importers.kineto.events import DECODE_ERRORS, Event
from tensorboard_plugin_dlprof.importers.kineto.lenient import decode_event, decode_members
from tensorboard_plugin_dlprof.importers.kineto.times import event_type
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream

CHUNK_BYTES = 2 << 20

TAIL_BYTES = 1 << 20
"""The end of a file, which one process reads in order, because metadata there may look like events."""

SAMPLE_BYTES = 1 << 20
"""Text from which the format of events and timestamps is determined."""

MAX_EVENT_BYTES = 8 << 20
MAX_METADATA_BYTES = 32 << 20
"""Longest text accepted before or after the events; in real traces it is a few kB."""

CUT_SHORT = "the end of the event list, where the file is cut short"
BROKEN_EVENT = "events that are broken JSON"
NO_OBJECT = "entries of the event list that are not events"

_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*')
_BARE = re.compile(rb'[^\s,{}\[\]"]+')
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)
_GAP = b" \t\n\r\f\v,"
_NO_GAP = re.compile(rb"[^\s,]")
_BETWEEN_OBJECTS = re.compile(rb"\}\s*,\s*\{")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class NeedsSequentialRead(Exception):
    """A part of the text can only be read by one process, in order."""


class TraceReader:
    """Reads the events of one trace in order; ``metadata`` is complete when they have been read.

    Begins with reading up to the events, and determining the format of events and timestamps.

    Raises:
        BrokenSource: there is no list of events, or it cannot be read.
        UnsafeFile: the file expands beyond its limit.
    """

    def __init__(self, stream: ByteStream, name: str) -> None:
        self.stream = stream
        """Another process puts its own here, of the same trace."""
        self._name = name
        self._buffer = b""
        self._long_bytes = SAMPLE_BYTES
        self._ended = False
        self._bare_array = False
        self._is_part = False
        self.metadata: dict[str, Any] = {}
        """The members of the trace besides ``traceEvents``."""
        self.skipped: Counter[str] = Counter()
        """Reason -> number of entries of the event list that were left out."""
        self._read_head()
        while len(self._buffer) < SAMPLE_BYTES and self._fill():
            pass
        self._event_type = event_type(self._buffer)
        self._decode = msgspec.json.Decoder(list[self._event_type], strict=False).decode  # type: ignore[name-defined]
        self._separator = _separator(self._buffer)
        self._first_chunk_bytes = stream.position_bytes

    def chunks(self) -> int:
        """How many chunks after the sample may be read by several processes."""
        return max(0, self.stream.expanded_bytes - TAIL_BYTES - self._first_chunk_bytes) // CHUNK_BYTES

    def batches(self, first: int = 0, stop: int | None = None) -> Iterator[list[Event]]:
        """Events in lists of hundreds: those that begin in the chunks ``first`` to before ``stop`` after the sample.

        With the first chunk come those in the sample too; without ``stop`` all others, and the metadata behind is read.

        Raises:
            BrokenSource: the list of events cannot be read.
            UnsafeFile: the file expands beyond its limit.
            NeedsSequentialRead: these are not all events, and the trace must be read in order, from its start.
        """
        self._is_part = stop is not None
        if first:
            self._go_to(first)
        read, self._buffer = self._buffer, b""
        chunks = islice(iter(partial(self.stream.read, CHUNK_BYTES), b""), None if stop is None else stop - first)
        yield from self._batches(chain((read,), chunks))
        if stop is None:
            if not self._ended:
                yield self._one_by_one(at_end_of_file=True)
            self._read_tail()

    def _go_to(self, chunk: int) -> None:
        """Goes on with the first event that begins in a chunk, which has not been read.

        Raises:
            NeedsSequentialRead: no event ends in the chunk before it.
        """
        self.stream.skip_to(self._first_chunk_bytes + (chunk - 1) * CHUNK_BYTES)
        before = self.stream.read(CHUNK_BYTES)
        end = self._last_end(before)
        if not end or len(before) < CHUNK_BYTES:
            raise NeedsSequentialRead
        self._buffer = before[end:].lstrip(_GAP)

    def _last_end(self, text: bytes) -> int:
        """Where the last event that seems to end in ``text`` does; 0 if none does."""
        return text.rfind(self._separator) + 1 if self._separator else 0

    def _batches(self, chunks: Iterable[bytes]) -> Iterator[list[Event]]:
        for chunk in chunks:
            end = self._last_end(chunk)
            if not end and len(self._buffer) + len(chunk) < self._long_bytes:
                self._buffer += chunk
                continue
            # join() copies once; formatting would copy twice, and move the text as it grows.
            batch = b"".join((b"[", self._buffer, memoryview(chunk)[:end], b"]"))
            try:
                events = self._decode(batch)
                self._buffer = chunk[end:].lstrip(_GAP)
            except DECODE_ERRORS:
                self._buffer = batch[1:-1]
                events = self._one_by_one()
                self._buffer += chunk[end:]
            yield events
            del events, batch, chunk  # so that the next ones reuse their memory
            if self._ended:
                return

    def _fill(self, size: int = CHUNK_BYTES) -> bool:
        """Reads more text; whether there is any."""
        chunk = self.stream.read(size)
        self._buffer += chunk
        return bool(chunk)

    def _one_by_one(self, at_end_of_file: bool = False) -> list[Event]:
        """The complete events in the buffer, decoded one by one. What remains in it is the begin of another one.

        Raises:
            NeedsSequentialRead: this is a part of the trace, and where its events end depends on what is before it.
        """
        events: list[Event] = []
        text, position, separated = self._buffer, 0, 0
        while first := _NO_GAP.search(text, position):
            position = first.start()
            if first[0] == b"]":
                self._ended = True
                break
            if 0 <= separated <= position:
                separated = text.find(self._separator, position) if self._separator else -1
            end, event = self._entry(text, position, separated + 1, at_end_of_file)
            if end < 0:
                break
            if event is not None:
                events.append(event)
            else:
                self.skipped[BROKEN_EVENT if first[0] == b"{" else NO_OBJECT] += 1
            position = end
        self._buffer = text[position + 1 :] if self._ended else text[position:].lstrip(_GAP)
        # Otherwise one long event would be searched again and again.
        self._long_bytes = max(SAMPLE_BYTES, 2 * len(self._buffer))
        if self._is_part and (self._ended or self._buffer):
            raise NeedsSequentialRead
        if not self._ended:
            if at_end_of_file:
                self.skipped[CUT_SHORT] += 1
            elif len(self._buffer) > MAX_EVENT_BYTES:
                raise BrokenSource(
                    f"{self._name} holds one event larger than {MAX_EVENT_BYTES >> 20} MB, which no profiler writes; "
                    "the file is damaged: record it again."
                )
        return events

    def _entry(self, text: bytes, start: int, separated: int, at_end_of_file: bool) -> tuple[int, Event | None]:
        """The end of the entry that starts at ``start``, -1 if it is not in ``text``; and the event, if it is one.

        An event ends before the next separator, ``separated``, if it can be decoded until there; else with its
        brackets. If a quotation mark is missing in it, all that follows would be inside a string; then the next event
        starts where it seems to.
        """
        if separated and (event := decode_event(text[start:separated], self._event_type)):
            return separated, event
        end = _end_of_value(text, start)
        if end < 0 and not at_end_of_file and len(text) - start < CHUNK_BYTES:
            return -1, None  # perhaps only its begin has been read
        event = decode_event(text[start:end], self._event_type) if end > 0 else None
        if event or not 0 < separated < (end if end > 0 else len(text)):
            return end, event
        if self._is_part:
            raise NeedsSequentialRead
        return separated, None

    def _read_head(self) -> None:
        """Reads up to the first event."""
        self._fill()
        self._buffer = self._buffer.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if not self._buffer:
            raise BrokenSource(f"{self._name} is empty; record the profile again.")
        if self._buffer.startswith(b"["):
            self._bare_array = True
            self._buffer = self._buffer[1:]
            return
        while not (key := _EVENTS_KEY.search(self._buffer)) or key.end() == len(self._buffer):
            if len(self._buffer) > MAX_METADATA_BYTES:
                raise self._no_events(f"has no traceEvents in its first {MAX_METADATA_BYTES >> 20} MB")
            if not self._fill(SAMPLE_BYTES):
                raise self._no_events(_what_json_is(self._buffer))
        head, self._buffer = self._buffer[: key.start()], self._buffer[key.end() :]
        self.metadata = self._members(head + b'"traceEvents":[]}', "before")
        if self.skipped and not self.metadata:
            raise BrokenSource(f"{self._name} is broken JSON before its events; record the profile again.")
        if not self._buffer.startswith(b"["):
            raise self._no_events("has traceEvents that are not a list")
        self._buffer = self._buffer[1:]

    def _read_tail(self) -> None:
        """Reads what follows the list of events."""
        if not self._ended or self._bare_array:
            return
        self._fill(MAX_METADATA_BYTES)
        if _EVENTS_KEY.search(self._buffer):
            raise BrokenSource(
                f"{self._name} holds traceEvents more than once, so it is unclear which are meant; record it again."
            )
        if len(self._buffer) >= MAX_METADATA_BYTES:
            return
        self.metadata |= self._members(b'{"traceEvents":[]' + self._buffer, "after")

    def _members(self, text: bytes, where: str) -> dict[str, Any]:
        """The members of a JSON object; of a broken one, those that can be read."""
        members, are_all = decode_members(text)
        if not are_all:
            self.skipped[f"metadata {where} the events that is broken JSON"] += 1
        members.pop("traceEvents", None)
        return members

    def _no_events(self, what: str) -> BrokenSource:
        return BrokenSource(f"{self._name} {what}, so it is not a PyTorch profiler trace; name a *.pt.trace.json file.")


def _end_of_value(text: bytes, start: int) -> int:
    """The end of the first value from ``start`` on; -1 if it does not end."""
    if bare := _BARE.match(text, start):
        return bare.end() if bare.end() < len(text) else -1  # the rest of a number may follow
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] == b'"':
            return -1
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        if depth <= 0:
            return token.end()
    return -1


def _separator(text: bytes) -> bytes:
    """The text between two events, including their brackets: ``},\n  {``. Empty if there are fewer than two events.

    It is taken from the end of the first event; if that is broken, it is the most frequent text of this kind.
    """
    end = _end_of_value(text, 0)
    if first := _BETWEEN_OBJECTS.match(text, max(0, end - 1)):
        return first[0]
    gaps = Counter(_BETWEEN_OBJECTS.findall(text[:CHUNK_BYTES]))
    return gaps.most_common(1)[0][0] if gaps else b""


def _what_json_is(text: bytes) -> str:
    try:
        json.loads(text.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return "is not JSON or is cut short before its first event"
    return "is JSON without traceEvents"
