"""Splits the text of a trace into what is before, in and after the list of events.

The events are split into pieces of about 256 kB. Smaller pieces would be decoded a little faster, because they
stay in the processor's nearest cache, but sorting many pieces into columns takes longer; larger pieces are
slower in both. A piece ends at the last occurrence of the text that separates the first two events. If that
is the wrong place, the piece cannot be decoded, and the ends of its events are found by their brackets, which is
slower. In the same way, the end of the list, broken events, and the end of a truncated file are handled.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol, cast

from tensorboard_plugin_dlprof.errors import BrokenSource
from tensorboard_plugin_dlprof.importers.kineto_chunks import PIECE_BYTES, TAIL_BYTES, Chunks, Refused, after_gap
from tensorboard_plugin_dlprof.importers.kineto_clock import Clock
from tensorboard_plugin_dlprof.importers.kineto_collectives import described
from tensorboard_plugin_dlprof.importers.kineto_events import Event, decode_one
from tensorboard_plugin_dlprof.importers.kineto_pieces import PieceDecoder
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream

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


class Helping(Protocol):
    """Lets another process read a part of the events."""

    def shares(self, text: TraceText) -> Iterator[list[Event]]:
        """Reads ``text.events_ahead()``, then shares ``text.chunks``; yields the events that this process has read."""

    def takes(self, piece: bytes, clock: Clock) -> bool:
        """Offers a piece of a compressed file, the text of a list of events; returns whether it is taken."""


class TraceText:
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
        self._separator = b""
        self._pieces: PieceDecoder
        self.chunks: Chunks
        """The part that several processes can read; known once the start of the events has been read."""
        self.metadata: dict[str, Any] = {}
        """The members of the trace besides ``traceEvents``."""
        self.skipped: Counter[str] = Counter()
        """Reason -> number of entries of the event list that were left out."""
        self.clock = Clock(b"")

    def events(self, helping: Helping | None = None) -> Iterator[list[Event]]:
        """The events, in lists of hundreds.

        Args:
            helping: lets another process read a part of the events, which are then left out here.

        Raises:
            BrokenSource: there is no list of events, or it cannot be read.
            UnsafeFile: the file expands beyond its limit.
            Refused: the file must be read again, by one process alone.
        """
        self._read_head()
        self._look_ahead()
        if helping is not None and self.chunks.count:
            yield from helping.shares(self)
            self._buffer, helping = self.chunks.leave(), None
        yield from self._in_turn(self._read, helping)
        if not self._ended:
            yield self._slowly(at_end_of_file=True)
        self._read_tail()

    def events_ahead(self) -> Iterator[list[Event]]:
        """The events that begin before ``chunks``.

        Raises:
            Refused: the list of events ends there.
        """
        yield from self._in_turn(self._ahead.read)
        if self._ended:
            raise Refused
        self.chunks.before_first = self._buffer

    def _in_turn(self, read: Callable[[int], bytes], helping: Helping | None = None) -> Iterator[list[Event]]:
        while not self._ended and (chunk := read(PIECE_BYTES)):
            cut = chunk.rfind(self._separator) if self._separator else -1
            if cut >= 0:
                # join() copies once; formatting would copy twice, and move the text as it grows.
                piece = b"".join((b"[", self._buffer, memoryview(chunk)[: cut + 1], b"]"))
                if helping and self._stream.remaining_bytes > TAIL_BYTES and helping.takes(piece, self.clock):
                    self._buffer = after_gap(chunk, cut + 1)
                    continue
                events = self._pieces.decode(piece)
                if events is not None:
                    self._buffer = after_gap(chunk, cut + 1)
                    yield events
                    del events, piece, chunk  # so that the next ones reuse their memory
                    continue
            self._buffer += chunk
            yield from self._whole_events()

    def _decoded(self, piece: bytes | bytearray) -> list[Event] | None:
        events = self._pieces.decode(piece)
        return self._halved(bytes(piece[1:-1])) if events is None else events

    def _look_ahead(self) -> None:
        """Determines the format of events and timestamps, then puts the text back, to be read in pieces."""
        while len(self._buffer) < SAMPLE_BYTES and self._fill():
            pass
        self.clock = Clock(self._buffer)
        self._pieces = PieceDecoder(self.clock)
        self._separator = _separator(self._buffer, self.clock)
        self._ahead, self._buffer = io.BytesIO(self._buffer), b""
        self.chunks = Chunks(self._stream, self._separator, self._decoded)

    def _read(self, size: int) -> bytes:
        return self._ahead.read(size) or self._stream.read(size)

    def _fill(self, size: int = PIECE_BYTES) -> bool:
        chunk = self._read(size)
        self._buffer += chunk
        return bool(chunk)

    def _double(self) -> bool:
        """Doubles the buffer, so that the time to read a long text stays linear."""
        return self._fill(max(PIECE_BYTES, len(self._buffer)))

    def _whole_events(self) -> Iterator[list[Event]]:
        cut = self._buffer.rfind(self._separator) if self._separator else -1
        if cut >= 0:
            piece = self._buffer[: cut + 1]
            events = self._pieces.decode(b"[%b]" % piece)
            if events is None:
                events = self._halved(piece)
            if events is not None:
                self._buffer = after_gap(self._buffer, cut + 1)
                yield events
                return
        elif len(self._buffer) < self._slow_from_bytes:
            return  # no event has ended yet, or none in the same way as the first one
        yield self._slowly()
        # Otherwise one large event would be searched again and again.
        self._slow_from_bytes = max(SAMPLE_BYTES, 2 * len(self._buffer))

    def _halved(self, piece: bytes) -> list[Event] | None:
        """The events of a piece that cannot be decoded, found by halving it until the bad ones are alone.

        None if a separator turns out to be inside an event.
        """
        broken = 0
        events: list[Event] = []
        parts = [piece]
        while parts:
            part = parts.pop()
            decoded = self._pieces.decode(b"[%b]" % part)
            if decoded is not None:
                events += decoded
                continue
            half = len(part) // 2
            cut = part.find(self._separator, half)
            cut = cut if cut >= 0 else part.rfind(self._separator, 0, half + len(self._separator))
            if cut >= 0:
                parts += (after_gap(part, cut + 1), part[: cut + 1])
                continue
            if not part.startswith(b"{") or _end_of_value(part, 0) != len(part):
                return None
            event = decode_one(part, self.clock)
            if event is None:
                broken += 1
            else:
                events.append(event)
        if broken:
            self.skipped[BROKEN_EVENT] += broken
        return events

    def _slowly(self, at_end_of_file: bool = False) -> list[Event]:
        """The complete events in the buffer, found by their brackets and decoded one by one."""
        events: list[Event] = []
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

    def _keep(self, entry: bytes, events: list[Event]) -> None:
        if not entry.startswith(b"{"):
            self.skipped[NO_OBJECT] += 1
            return
        event = decode_one(entry, self.clock)
        if event is None:
            self.skipped[BROKEN_EVENT] += 1
        else:
            events.append(event)
            events += cast("list[Event]", described(entry))

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
            found = _EVENTS_KEY.search(self._buffer, searched)
            if found and found.end() < len(self._buffer):
                break
            if len(self._buffer) > MAX_METADATA_BYTES:
                raise self._no_events(f"has no traceEvents in its first {MAX_METADATA_BYTES >> 20} MB")
            searched = found.start() if found else max(0, len(self._buffer) - len(b'"traceEvents" :'))
            if not self._double():
                raise self._no_events(_what_json_is(self._buffer))
        head, self._buffer = self._buffer[: found.start()], self._buffer[found.end() :]
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
            # Few traces need it.
            from tensorboard_plugin_dlprof.importers.kineto_unescaped import mended_members

            members, all_read = mended_members(decoded)
            if not all_read:
                self.skipped[f"metadata {where} the events that is broken JSON"] += 1
        members.pop("traceEvents", None)
        return cast("dict[str, Any]", members)

    def _no_events(self, what: str) -> BrokenSource:
        return BrokenSource(f"{self._name} {what}, so it is not a PyTorch profiler trace; name a *.pt.trace.json file.")


def _end_of(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


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
    gaps = Counter(_BETWEEN_OBJECTS.findall(text[:PIECE_BYTES]))
    return gaps.most_common(1)[0][0] if gaps else b""


def _what_json_is(text: bytes) -> str:
    try:
        found = json.loads(text.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return "is not JSON or is cut short before its first event"
    if isinstance(found, dict):
        return "is JSON without traceEvents"
    return f"is JSON that holds {'a text' if isinstance(found, str) else 'a single value'}"
