"""What each of two processes reads of a trace.

Of a plain trace both read chunks of the file; who is done with some gets more, in shares that grow smaller towards the
end, so that both end at about the same time. Of a compressed one the reading process, which expands it, cuts the text
and offers each piece; the helper takes it when it has nothing to do. These pieces lie in memory that both see.
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
"""Shares or pieces that the helper has and is not done with: while it reads one, the next is there."""

_LEFT_OVER_SHARE = 12
"""Chunks that are left, over those of the next share."""

_LEFT_TO_HELPER = 6
"""Chunks at the end, while the reading process reads what follows them."""

_PROVIDED_FROM, _SLOTS = 16, 24
"""Pieces after which the helper gets as many as it has room for, some 15 ms of work, as long as the reading process has
modules to load meanwhile."""

_SLOT_BYTES = 1 << 19
"""The longest piece that is offered; others are half as long, unless one event is very long. What no piece was
written to takes no memory."""


class Sharing:
    """Shares a trace with a helper: ``kineto_text.Helping``."""

    def __init__(self, helper: Helper) -> None:
        self._helper = helper
        self._offering: _Offering | None = None

    def shares(self, text: TraceText) -> Iterator[list[Event]]:
        """Reads what lies ahead of the chunks of a plain trace, and then these with the helper.

        Yields:
            The events that the reading process finds.

        Raises:
            Refused: the trace must be read by one process alone.
        """
        helper = self._helper
        shares = _shares(text.chunks.count)
        own: tuple[int, int] | None = next(shares)  # what begins ahead of the chunks ends here
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
    """The first chunk of each share, and the one behind its last."""
    begin = 0
    while begin < chunks:
        stop = begin + max(1, (chunks - begin) // _LEFT_OVER_SHARE)
        yield begin, stop
        begin = stop


def _next_own(helper: Helper, shares: Iterator[tuple[int, int]], stop: int) -> tuple[int, int] | None:
    """The next share of the reading process; the helper gets those from the chunk ``stop`` on."""
    for share in shares:
        if share[0] < stop:
            helper.readers.append(OWN)
            return share
        helper.give(*share)
    return None


def _provide(helper: Helper, shares: Iterator[tuple[int, int]]) -> None:
    """Gives the helper its next shares, and loads a module while it has enough of them."""
    helper.hear()
    while helper.waiting < _MOST_WAITING and (share := next(shares, None)):
        helper.give(*share)
    helper.load_module()


class _Offering:
    """Pieces that are offered, in memory that both processes see."""

    def __init__(self, helper: Helper, clock: Clock) -> None:
        self._helper = helper
        self._slots = mmap.mmap(-1, _SLOTS * _SLOT_BYTES)
        self._free = list(range(_SLOTS))
        """Slots, those that were used last behind: their memory is still in the processor's cache."""
        self._given: deque[int] = deque()
        """Slots of the pieces that the helper is not done with."""
        self._pieces = PieceDecoder(clock)
        helper.begin(self._read, Counter())

    def takes(self, piece: bytes) -> bool:
        """Whether the helper reads it."""
        helper = self._helper
        if len(piece) > _SLOT_BYTES:
            return False
        self._hear()
        if helper.has_modules_to_load and not self._free:
            helper.load_module()
            self._hear()
        provided = helper.has_modules_to_load and len(helper.counts) >= _PROVIDED_FROM
        if helper.waiting >= (_SLOTS if provided else _MOST_WAITING):
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
        """In the helper."""
        events = self._pieces.decode(self._slots[begin : begin + length])
        if events is None:
            raise Refused
        yield events
