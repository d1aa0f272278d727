"""A second process that decodes pieces of a trace and sorts their events: both halves of reading at once.

The reading process cuts the text and offers each piece; the helper takes it when it has nothing to do. At the end
it hands its columns over, and ``kineto_merging`` puts the rows of both in the order of the file, so that a trace
makes the same tables however many processes read it. What the helper does not understand at once, it refuses; then
the trace is read anew by one process, which knows how to deal with damaged events. Only then is time lost.

Pieces lie in memory that both processes see. What goes through the pipes: to the helper the place and the length of
each piece; from it one byte for each, then ``Handover`` behind its length, then the columns, one after the other.
"""

from __future__ import annotations

import mmap
import select
import struct
from collections import deque
from importlib import import_module
from types import TracebackType
from typing import IO

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.forking import Fork, receive_into, receive_text, send, send_text
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto_clock import Clock
from tensorboard_plugin_dlprof.importers.kineto_pieces import PieceDecoder
from tensorboard_plugin_dlprof.importers.kineto_sorting import EventTables
from tensorboard_plugin_dlprof.spilling import Spill

_TAKEN, _REFUSED = b"+", b"-"

_RELIEVED_EVERY = 16
"""Pieces."""

_MOST_WAITING = 2
"""Pieces that the helper has and is not done with: while it decodes one, the next is there."""

_PROVIDED_FROM, _SLOTS = 16, 24
"""Pieces after which the helper gets as many as it has room for, some 15 ms of work, as long as the reading process has
modules to load meanwhile."""

_SLOT_BYTES = 1 << 19
"""The longest piece that is offered; others are half as long, unless one event is very long. What no piece was
written to takes no memory."""

_PLACE = struct.Struct("<QQ")
"""Where a piece begins, and its length."""


class Refused(Exception):
    """The helper met what one process alone must read, or died."""


class Handover(msgspec.Struct, frozen=True):
    """What the helper found, but for the columns."""

    counts: list[list[int]]
    """After each piece: ``EventTables.counts``."""
    columns: list[list[tuple[str, str]]]
    """Of each table: name and type of its columns."""
    texts: list[str]
    threads: list[tuple[int, int | str]]
    triples: list[tuple[int, int, int]]
    metrics: list[str]
    thread_names: list[tuple[tuple[int, int | str], str]]
    skipped: dict[str, int]
    categories: dict[str, int]


class Helper:
    """The helper, seen from the reading process. It starts with the first piece. Use it as a context manager.

    Args:
        tables: what the reading process fills meanwhile.
        options: what the helper may use, and what the reading process loads when the helper has begun.
    """

    def __init__(self, tables: EventTables, options: ReadOptions) -> None:
        self._tables = tables
        self._spill = Spill(options.memory_bytes, options.folder)
        self._to_load = deque(options.modules)
        self._fork: Fork | None = None
        self._slots = mmap.mmap(-1, _SLOTS * _SLOT_BYTES)
        self._free = list(range(_SLOTS))
        """Slots, those that were used last behind: their memory is still in the processor's cache."""
        self._waiting: deque[int] = deque()
        """Slots of the pieces that the helper is not done with."""
        self.counts: list[list[int]] = []
        """What the reading process had when it gave a piece away: ``EventTables.counts``, for each piece."""

    def takes(self, piece: bytes, clock: Clock) -> bool:
        """Offers a piece, the text of a list of events.

        Raises:
            Refused: an earlier piece must be read by one process alone.
        """
        try:
            if len(piece) > _SLOT_BYTES:
                return False
            if self._fork is None:
                self._fork = Fork(lambda pipe, out: _help(pipe, out, self._slots, clock, self._spill))
            fork = self._fork
            self._hear_what_came(fork)
            if self._to_load and not self._free:
                import_module(self._to_load.popleft())
                self._hear_what_came(fork)
            provided = self._to_load and len(self.counts) >= _PROVIDED_FROM
            if len(self._waiting) >= (_SLOTS if provided else _MOST_WAITING):
                return False
            slot = self._free.pop()
            self._waiting.append(slot)
            begin = slot * _SLOT_BYTES
            self._slots[begin : begin + len(piece)] = piece
            send(fork.to, _PLACE.pack(begin, len(piece)))
        except OSError as error:
            raise Refused from error
        self.counts.append(self._tables.counts())
        return True

    def handover(self) -> tuple[Handover, IO[bytes]]:
        """Waits for the last piece. What the helper found, and the pipe that its columns come through.

        Raises:
            Refused: a piece must be read by one process alone.
        """
        fork = self._fork
        if fork is None or self._tables.has_halves:
            raise Refused
        while self._waiting:
            self._hear(fork)
        fork.to.close()
        self._slots.close()
        try:
            return msgspec.msgpack.decode(receive_text(fork.from_), type=Handover), fork.from_
        except (EOFError, OSError) as error:
            raise Refused from error

    def _hear_what_came(self, fork: Fork) -> None:
        while self._waiting and select.select([fork.from_], [], [], 0)[0]:
            self._hear(fork)

    def _hear(self, fork: Fork) -> None:
        if fork.from_.read(1) != _TAKEN:
            raise Refused
        self._free.append(self._waiting.popleft())

    def __enter__(self) -> Helper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fork is not None:
            self._fork.__exit__(kind, error, trace)
        self._slots.close()


def _help(pipe: IO[bytes], out: IO[bytes], slots: mmap.mmap, clock: Clock, spill: Spill) -> None:
    """What the helper does: decodes what comes, then hands over what it found."""
    pieces, tables = PieceDecoder(clock), EventTables()
    counts: list[list[int]] = []
    while True:
        try:
            begin, length = _PLACE.unpack(receive_into(pipe, bytearray(_PLACE.size)))
        except EOFError:
            break
        piece = slots[begin : begin + length]
        if len(counts) % _RELIEVED_EVERY == 0:
            spill.relieve(tables.columns())
        events = pieces.decode(piece)
        if events is not None:
            tables.add(events)
        if events is None or tables.has_halves:
            send(out, _REFUSED)
            return
        counts.append(tables.counts())
        send(out, _TAKEN)
    spill.complete(tables.columns())
    _hand_over(tables, counts, out)


def _hand_over(tables: EventTables, counts: list[list[int]], out: IO[bytes]) -> None:
    columns = [
        [(name, column) for name, column in table.items() if isinstance(column, np.ndarray)]
        for table in tables.columns()
    ]
    found = Handover(
        counts=counts,
        columns=[[(name, column.dtype.str) for name, column in table] for table in columns],
        texts=tables.strings.texts(),
        threads=list(tables.threads.rows),
        triples=tables.work.triples.triples,
        metrics=tables.counters.metrics,
        thread_names=list(tables.thread_names.items()),
        skipped=dict(tables.skipped),
        categories=dict(tables.categories),
    )
    send_text(out, msgspec.msgpack.encode(found))
    for table in columns:
        for _, column in table:
            send(out, column)
