"""Divides the reading of a trace between two processes.

Of a plain trace, both read chunks of the file. A process that has finished its share gets another; shares become
smaller towards the end, so that both finish at about the same time. A compressed trace is expanded and split by the
reading process, which offers each piece, in shared memory; the helper takes pieces whenever it is idle.
"""

from __future__ import annotations

import mmap
from collections import Counter, deque
from collections.abc import Iterator

from tensorboard_plugin_dlprof.importers.kineto_chunks import Refused
from tensorboard_plugin_dlprof.importers.kineto_clock import Clock
from tensorboard_plugin_dlprof.importers.kineto_events import Event
from tensorboard_plugin_dlprof.importers.kineto_helper import OWN, Helper
from tensorboard_plugin_dlprof.importers.kineto_pieces import PieceDecoder
from tensorboard_plugin_dlprof.importers.kineto_text import TraceText

_MOST_WAITING = 2
"""Unfinished shares or pieces of the helper, so that the next one is there when it has finished one."""

_LEFT_OVER_SHARE = 12
"""Ratio of the chunks that are left to those of the next share."""

_LEFT_TO_HELPER = 6
"""Chunks at the end that the helper reads, while the reading process reads the rest of the file."""

_SLOTS = 3

_SLOT_BYTES = 1 << 19
"""The longest piece that is offered. Pieces are usually half as long, unless an event is very long; the unused rest of
a slot takes no memory."""


class Sharing:
    """Shares a trace with a helper: ``kineto_text.Helping``."""

    def __init__(self, helper: Helper) -> None:
        self._helper = helper
        self._offering: _Offering | None = None

    def shares(self, text: TraceText) -> Iterator[list[Event]]:
        """Reads the start of a plain trace, and then its chunks together with the helper.

        Yields:
            The events that the reading process has read.

        Raises:
            Refused: the trace must be read by one process alone.
        """
        helper = self._helper
        shares = _shares(text.chunks.count)
        own: tuple[int, int] | None = next(shares)  # events that begin before the chunks end in the first share
        helper.readers.append(OWN)
        helper.begin(text.chunks.events, text.skipped)
        _provide(helper, shares)
        yield from text.events_ahead()
        while own is not None:
            for events in text.chunks.events(*own):
                yield events
                del events
                _provide(helper, shares)
            helper.ends_own()
            own = _next_own(helper, shares, text.chunks.count - _LEFT_TO_HELPER)

    def takes(self, piece: bytes, clock: Clock) -> bool:
        """Offers a piece of a compressed trace, the text of a list of events.

        Raises:
            Refused: an earlier piece must be read by one process alone.
        """
        if self._offering is None:
            self._offering = _Offering(self._helper, clock)
        return self._offering.takes(piece)


def _shares(chunks: int) -> Iterator[tuple[int, int]]:
    """The first chunk of each share, and the one after its last."""
    begin = 0
    while begin < chunks:
        stop = begin + max(1, (chunks - begin) // _LEFT_OVER_SHARE)
        yield begin, stop
        begin = stop


def _next_own(helper: Helper, shares: Iterator[tuple[int, int]], stop: int) -> tuple[int, int] | None:
    """The next share of the reading process; the helper gets all from the chunk ``stop`` on."""
    for share in shares:
        if share[0] < stop:
            helper.readers.append(OWN)
            return share
        helper.give(*share)
    return None


def _provide(helper: Helper, shares: Iterator[tuple[int, int]]) -> None:
    """Gives the helper its next shares."""
    helper.hear()
    while helper.waiting < _MOST_WAITING and (share := next(shares, None)):
        helper.give(*share)


class _Offering:
    """Offers pieces to the helper, through shared memory."""

    def __init__(self, helper: Helper, clock: Clock) -> None:
        self._helper = helper
        self._slots = mmap.mmap(-1, _SLOTS * _SLOT_BYTES)
        self._free = list(range(_SLOTS))
        """Free slots, the last used one at the end, because its memory is still in the processor's cache."""
        self._given: deque[int] = deque()
        """Slots of the pieces that the helper has not finished."""
        self._pieces = PieceDecoder(clock)
        helper.begin(self._read, Counter())

    def takes(self, piece: bytes) -> bool:
        """Offers a piece; returns whether the helper reads it."""
        helper = self._helper
        if len(piece) > _SLOT_BYTES:
            return False
        self._hear()
        if helper.waiting >= _MOST_WAITING:
            return False
        slot = self._free.pop()
        begin = slot * _SLOT_BYTES
        self._slots[begin : begin + len(piece)] = piece
        self._given.append(slot)
        helper.readers.append(OWN)
        helper.ends_own()
        helper.give(begin, len(piece))
        return True

    def _hear(self) -> None:
        for _ in range(self._helper.hear()):
            self._free.append(self._given.popleft())

    def _read(self, begin: int, length: int) -> Iterator[list[Event]]:
        """Decodes a piece; runs in the helper."""
        events = self._pieces.decode(self._slots[begin : begin + length])
        if events is None:
            raise Refused
        yield events
