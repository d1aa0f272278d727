"""Splits the text of a trace into what is before, in and after the list of events.

The file is read in chunks of 256 kB. A batch of events ends at the last occurrence in a chunk of the text that
separates the first two events; so where batches begin depends on the file alone, and a reader of a part of it finds the
same ones. If that is the wrong place, the batch cannot be decoded, and the ends of its events are found by their
brackets, which is slower. In the same way, the end of the list, broken events, and the end of a truncated file are
handled.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, cast

from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.importers.kineto.clock import Clock
from tensorboard_plugin_dlprof.importers.kineto.collectives import described
from tensorboard_plugin_dlprof.importers.kineto.events import EventDecoder
from tensorboard_plugin_dlprof.importers.kineto.lenient import decode_one, mended_members
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream

CHUNK_BYTES = 1 << 18

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
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)
_GAP = re.compile(rb"[\s,]*")
_SCALAR = re.compile(rb'[^\s,\[\]{}"]+')
_BETWEEN_OBJECTS = re.compile(rb"\}\s*,\s*\{")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_CHUNKS_LOOKED_BACK = 4
"""Consecutive chunks that may lack the end of an event before the search for where a part begins gives up."""


class NeedsSequentialRead(Exception):
    """A part of the text can only be read by one process, in order."""


class TraceReader:
    """Reads the events of one trace in order; ``metadata`` is complete when they have been read.

    Args:
        stream: the trace.
        name: how messages refer to it.
    """

    def __init__(self, stream: ByteStream, name: str) -> None:
        self._stream = stream
        self._name = name
        self._buffer = b""
        self._ahead = io.BytesIO()
        self._slow_from_bytes = SAMPLE_BYTES
        self._ended = False
        self._bare_array = False
        self._is_part = False
        self._separator = b""
        self._first_chunk_bytes = 0
        self._decoder: EventDecoder
        self.metadata: dict[str, Any] = {}
        """The members of the trace besides ``traceEvents``."""
        self.skipped: Counter[str] = Counter()
        """Reason -> number of entries of the event list that were left out."""
        self.clock = Clock(b"")

    def begin(self) -> None:
        """Reads up to the events, and determines the format of events and timestamps.

        Raises:
            BrokenSource: there is no list of events, or it cannot be read.
            UnsafeFile: the file expands beyond its limit.
        """
        self._read_head()
        while len(self._buffer) < SAMPLE_BYTES and self._fill():
            pass
        self.clock = Clock(self._buffer)
        self._decoder = EventDecoder(self.clock)
        self._separator = _separator(self._buffer, self.clock)
        self._ahead, self._buffer = io.BytesIO(self._buffer), b""
        self._first_chunk_bytes = self._stream.position_bytes

    def batches(self) -> Iterator[list[Any]]:
        """The rest of the events, in lists of hundreds, as ``EventDecoder`` returns them. Reads the metadata behind.

        Raises:
            BrokenSource: the list of events cannot be read.
            UnsafeFile: the file expands beyond its limit.
        """
        yield from self._in_turn(self._ahead.read)
        yield from self._in_turn(self._stream.read)
        if not self._ended:
            yield self._slowly(at_end_of_file=True)
        self._read_tail()

    def chunks(self) -> int:
        """How many chunks after the sample may be read by several processes."""
        return max(0, self._stream.expanded_bytes - TAIL_BYTES - self._first_chunk_bytes) // CHUNK_BYTES

    def batches_of(self, stream: ByteStream, first: int, stop: int) -> Iterator[list[Any]]:
        """The events that begin in the chunks ``first`` to before ``stop``; with the first chunk, those before it too.

        Args:
            stream: the same trace, opened anew.
            first: a chunk after the sample.
            stop: another one.

        Raises:
            NeedsSequentialRead: the trace must be read in order, from its start.
        """
        self._is_part = True
        self.go_to(first, stream)
        yield from self._in_turn(self._ahead.read)
        yield from self._in_turn(self._stream.read, stop - first)
        if self._ended:
            raise NeedsSequentialRead

    def go_to(self, chunk: int, stream: ByteStream) -> None:
        """Goes on at a chunk, in a stream of the same trace that has not been read beyond it.

        Raises:
            NeedsSequentialRead: it is not known where its first event begins.
        """
        self._stream = stream
        if not chunk:
            stream.skip_to(self._first_chunk_bytes)
            return
        self._ahead = io.BytesIO()
        back = min(_CHUNKS_LOOKED_BACK, chunk)
        stream.skip_to(self._first_chunk_bytes + (chunk - back) * CHUNK_BYTES)
        texts = [stream.read(CHUNK_BYTES) for _ in range(back)]
        for begin in reversed(range(back)):
            text = b"".join(texts[begin:])
            cut = text.rfind(self._separator)
            if cut >= 0 and len(texts[-1]) == CHUNK_BYTES:
                self._buffer = _after_gap(text, cut + 1)
                return
        raise NeedsSequentialRead

    def _in_turn(self, read: Callable[[int], bytes], chunks: int | None = None) -> Iterator[list[Any]]:
        for _ in count() if chunks is None else range(chunks):
            chunk = b"" if self._ended else read(CHUNK_BYTES)
            if chunks is not None and len(chunk) < CHUNK_BYTES:
                raise NeedsSequentialRead
            if not chunk:
                return
            cut = chunk.rfind(self._separator) if self._separator else -1
            if cut >= 0:
                # join() copies once; formatting would copy twice, and move the text as it grows.
                batch = b"".join((b"[", self._buffer, memoryview(chunk)[: cut + 1], b"]"))
                events = self._decoded(batch)
                if events is not None:
                    self._buffer = _after_gap(chunk, cut + 1)
                    yield events
                    del events, batch, chunk  # so that the next ones reuse their memory
                    continue
            self._buffer += chunk
            yield from self._whole_events()

    def _decoded(self, text: bytes) -> list[Any] | None:
        """The events in the text of a list, then what they say about collectives; None if it cannot be decoded."""
        events = self._decoder.decode(text)
        return None if events is None else events + described(text)

    def _fill(self, size: int = CHUNK_BYTES) -> bool:
        chunk = self._ahead.read(size) or self._stream.read(size)
        self._buffer += chunk
        return bool(chunk)

    def _double(self) -> bool:
        """Doubles the buffer, so that the time to read a long text stays linear."""
        return self._fill(max(CHUNK_BYTES, len(self._buffer)))

    def _whole_events(self) -> Iterator[list[Any]]:
        cut = self._buffer.rfind(self._separator) if self._separator else -1
        if cut >= 0:
            piece = self._buffer[: cut + 1]
            events = self._decoded(b"[%b]" % piece)
            if events is None:
                events = self._halved(piece)
            if events is not None:
                self._buffer = _after_gap(self._buffer, cut + 1)
                yield events
                return
        elif len(self._buffer) < self._slow_from_bytes:
            return  # no event has ended yet, or none in the same way as the first one
        yield self._slowly()
        # Otherwise one large event would be searched again and again.
        self._slow_from_bytes = max(SAMPLE_BYTES, 2 * len(self._buffer))

    def _halved(self, piece: bytes) -> list[Any] | None:
        """The events of a piece that cannot be decoded, found by halving it until the bad ones are alone.

        None if a separator turns out to be inside an event.
        """
        broken = 0
        events: list[Any] = []
        parts = [piece]
        while parts:
            part = parts.pop()
            decoded = self._decoded(b"[%b]" % part)
            if decoded is not None:
                events += decoded
                continue
            half = len(part) // 2
            cut = part.find(self._separator, half)
            cut = cut if cut >= 0 else part.rfind(self._separator, 0, half + len(self._separator))
            if cut >= 0:
                parts += (_after_gap(part, cut + 1), part[: cut + 1])
                continue
            if not part.startswith(b"{") or _end_of_value(part, 0) != len(part):
                return None
            event = decode_one(part, self.clock)
            if event is None:
                broken += 1
            else:
                events.append(event)
                events += described(part)
        if broken:
            self.skipped[BROKEN_EVENT] += broken
        return events

    def _slowly(self, at_end_of_file: bool = False) -> list[Any]:
        """The complete events in the buffer, found by their brackets and decoded one by one."""
        if self._is_part:
            raise NeedsSequentialRead
        events: list[Any] = []
        text, position = self._buffer, 0
        while True:
            position = _end_of(_GAP, text, position)
            if position == len(text):
                break
            if text[position : position + 1] == b"]":
                self._ended = True
                position += 1
                break
            end = self._end_of_entry(text, position, at_end_of_file)
            if end < 0:
                break
            self._keep(text[position:end], events)
            position = end
        self._buffer = text[position:]
        if not self._ended:
            if at_end_of_file:
                self.skipped[CUT_SHORT] += 1
            elif len(self._buffer) > MAX_EVENT_BYTES:
                raise BrokenSource(
                    f"{self._name} holds one event larger than {MAX_EVENT_BYTES >> 20} MB, which no profiler writes; "
                    "the file is damaged: record it again."
                )
        return events

    def _keep(self, entry: bytes, events: list[Any]) -> None:
        if not entry.startswith(b"{"):
            self.skipped[NO_OBJECT] += 1
            return
        event = decode_one(entry, self.clock)
        if event is None:
            self.skipped[BROKEN_EVENT] += 1
        else:
            events.append(event)

    def _end_of_entry(self, text: bytes, start: int, at_end_of_file: bool) -> int:
        """The end of the entry that starts at ``start``; -1 if it is not in ``text``.

        If a quotation mark is missing in an event, all that follows would be inside a string. Then the separator shows
        where the next event starts.
        """
        if text[start] in b'{["':
            end = _end_of_value(text, start)
            if self._separator:
                separated = text.find(self._separator, start, end if end > 0 else len(text))
                if separated >= 0 and (end < 0 or decode_one(text[start:end], self.clock) is None):
                    return separated + 1
            return end
        end = _end_of(_SCALAR, text, start)
        if end == start:
            return start + 1  # a bracket that closes nothing
        return end if end < len(text) or at_end_of_file else -1

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
        searched = 0
        while True:
            key = _EVENTS_KEY.search(self._buffer, searched)
            if key and key.end() < len(self._buffer):
                break
            if len(self._buffer) > MAX_METADATA_BYTES:
                raise self._no_events(f"has no traceEvents in its first {MAX_METADATA_BYTES >> 20} MB")
            searched = key.start() if key else max(0, len(self._buffer) - len(b'"traceEvents" :'))
            if not self._double():
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
        while self._double():
            if _EVENTS_KEY.search(self._buffer):
                break
            if len(self._buffer) > MAX_METADATA_BYTES:
                return
        if _EVENTS_KEY.search(self._buffer):
            raise BrokenSource(
                f"{self._name} holds traceEvents more than once, so it is unclear which are meant; record it again."
            )
        self.metadata |= self._members(b'{"traceEvents":[]' + self._buffer, "after")

    def _members(self, text: bytes, where: str) -> dict[str, Any]:
        """The members of a JSON object; of a broken one, those that can be read."""
        decoded = text.decode("utf-8", "replace")
        try:
            members = json.loads(decoded, strict=False)
        except (ValueError, RecursionError):
            members, all_read = mended_members(decoded)
            if not all_read:
                self.skipped[f"metadata {where} the events that is broken JSON"] += 1
        members.pop("traceEvents", None)
        return cast("dict[str, Any]", members)

    def _no_events(self, what: str) -> BrokenSource:
        return BrokenSource(f"{self._name} {what}, so it is not a PyTorch profiler trace; name a *.pt.trace.json file.")


def _end_of(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _end_of_value(text: bytes, start: int) -> int:
    """The end of the object, list or string at ``start``; -1 if it does not end."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        first = text[token.start() : token.end()] if token.end() - token.start() == 1 else b""
        if first in (b"{", b"["):
            depth += 1
        elif first in (b"}", b"]"):
            depth -= 1
        elif first == b'"':
            return -1
        if depth <= 0:
            return token.end()
    return -1


def _separator(text: bytes, clock: Clock) -> bytes:
    """The text between two events, including their brackets: ``},\\n  {``. Empty if there are fewer than two events.

    It is taken from the first two events; if one of these is broken, it is the most frequent text of this kind.
    """
    ends: list[int] = []
    position = 0
    for _ in range(2):
        start = _end_of(_GAP, text, position)
        position = _end_of_value(text, start) if text[start : start + 1] == b"{" else -1
        if position < 0 or decode_one(text[start:position], clock) is None:
            return _most_common_gap(text)
        ends += (start, position)
    return text[ends[1] - 1 : ends[2] + 1]


def _most_common_gap(text: bytes) -> bytes:
    gaps = Counter(_BETWEEN_OBJECTS.findall(text[:CHUNK_BYTES]))
    return gaps.most_common(1)[0][0] if gaps else b""


def _what_json_is(text: bytes) -> str:
    try:
        value = json.loads(text.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return "is not JSON or is cut short before its first event"
    if isinstance(value, dict):
        return "is JSON without traceEvents"
    return f"is JSON that holds {'a text' if isinstance(value, str) else 'a single value'}"


def _after_gap(text: bytes, end: int) -> bytes:
    """What follows an event that ends at ``end``, from the next event on."""
    return text[end:].lstrip(b" \t\r\n").removeprefix(b",").lstrip(b" \t\r\n")
