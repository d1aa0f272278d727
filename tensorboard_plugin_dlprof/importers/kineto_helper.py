"""A second process that decodes a part of a trace and sorts its events, in parallel to the first.

``kineto_sharing`` says who reads what. At the end the helper hands its columns over, and ``kineto_merging`` puts the
rows of both in the order of the file, so that a trace gives the same tables however many processes read it. If the
helper meets anything unusual, it refuses; then one process reads the trace from the start, since only it can deal with
damaged events. Time is lost only in that case.

The pipes carry: to the helper, two numbers for each place that it is to read; from it, one byte for each place, then
the length of the ``Handover`` and itself, then the columns one after the other.
"""

from __future__ import annotations

import select
import struct
from collections import Counter, deque
from collections.abc import Callable, Iterator
from importlib import import_module
from types import TracebackType
from typing import IO

import msgspec

from tensorboard_plugin_dlprof.forking import Fork, receive_into, receive_text, send, send_text
from tensorboard_plugin_dlprof.growing import Growing, columns_of
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto_chunks import Refused
from tensorboard_plugin_dlprof.importers.kineto_events import Event
from tensorboard_plugin_dlprof.importers.kineto_sorting import EventTables

_TAKEN, _REFUSED = b"+", b"-"

_RELIEVED_EVERY = 16
"""Pieces."""

_PLACE = struct.Struct("<QQ")

OWN, HELPERS = 0, 1
"""Who reads: the reading process, or the helper."""

Read = Callable[[int, int], Iterator[list[Event]]]
"""The events of a place, which two numbers tell. Raises ``Refused`` where one process alone must read them."""


class Handover(msgspec.Struct, frozen=True):
    """What the helper found, except the columns."""

    counts: list[list[int]]
    """After each place: ``EventTables.counts``."""
    columns: list[list[tuple[str, str]]]
    """Of each table: name and type of its columns."""
    texts: list[str]
    threads: list[tuple[int | str, int | str]]
    triples: list[tuple[int, int, int]]
    metrics: list[str]
    inputs: list[bytes]
    thread_names: list[tuple[tuple[int | str, int | str], str]]
    skipped: dict[str, int]
    """Of the tables, and of the text."""
    categories: dict[str, int]


class Helper:
    """The helper, seen from the reading process. Use it as a context manager.

    Args:
        tables: what the reading process fills meanwhile.
        options: what the helper may use, and what the reading process loads when the helper has begun.
    """

    def __init__(self, tables: EventTables, options: ReadOptions) -> None:
        self._tables = tables
        self._growing = Growing(options.memory_bytes, options.folder)
        self._to_load = deque(options.modules)
        self._fork: Fork | None = None
        self.waiting = 0
        """Places that it was given and has not finished."""
        self.readers: list[int] = []
        """Who reads each part of the file, in its order; the reading process reads what is behind them."""
        self.counts: list[list[int]] = []
        """What the reading process had at the end of each part of its own: ``EventTables.counts``."""

    @property
    def has_begun(self) -> bool:
        """Whether the process was started."""
        return self._fork is not None

    @property
    def has_modules_to_load(self) -> bool:
        """Whether the reading process should have the helper do much, and load modules meanwhile."""
        return bool(self._to_load)

    def begin(self, read: Read, skipped: Counter[str]) -> None:
        """Starts the process.

        Args:
            read: reads a place, in the helper.
            skipped: what ``read`` leaves out.

        Raises:
            Refused: the system makes no process.
        """
        try:
            self._fork = Fork(lambda pipe, out: _help(pipe, out, read, skipped, self._growing))
        except OSError as error:
            raise Refused from error

    def give(self, first: int, second: int) -> None:
        """Makes it read a place.

        Raises:
            Refused: it died.
        """
        self.readers.append(HELPERS)
        self.waiting += 1
        try:
            send(self._running.to, _PLACE.pack(first, second))
        except OSError as error:
            raise Refused from error

    def ends_own(self) -> None:
        """Says that the reading process is done with a part of its own."""
        self.counts.append(self._tables.counts())

    def load_module(self) -> None:
        """Loads one of the modules."""
        if self._to_load:
            import_module(self._to_load.popleft())

    def hear(self) -> int:
        """How many places it has finished since the last call.

        Raises:
            Refused: what it read, or what was read here, must be read by one process alone.
        """
        if self._tables.has_halves:
            raise Refused
        before, fork = self.waiting, self._running
        while self.waiting and select.select([fork.from_], [], [], 0)[0]:
            self._hear(fork)
        return before - self.waiting

    def handover(self) -> tuple[Handover, IO[bytes]]:
        """Waits for the last place. What the helper found, and the pipe that its columns come through.

        Raises:
            Refused: a place must be read by one process alone.
        """
        fork = self._running
        if self._tables.has_halves:
            raise Refused
        while self.waiting:
            self._hear(fork)
        fork.to.close()
        try:
            return msgspec.msgpack.decode(receive_text(fork.from_), type=Handover), fork.from_
        except (EOFError, OSError) as error:
            raise Refused from error

    @property
    def _running(self) -> Fork:
        if self._fork is None:
            raise Refused
        return self._fork

    def _hear(self, fork: Fork) -> None:
        if fork.from_.read(1) != _TAKEN:
            raise Refused
        self.waiting -= 1

    def __enter__(self) -> Helper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fork is not None:
            self._fork.__exit__(kind, error, trace)


def _help(pipe: IO[bytes], out: IO[bytes], read: Read, skipped: Counter[str], growing: Growing) -> None:
    """What the helper does: reads what it is told to, then hands over what it found."""
    tables, pieces = EventTables(), 0
    counts: list[list[int]] = []
    skipped.clear()
    while True:
        try:
            place = _PLACE.unpack(receive_into(pipe, bytearray(_PLACE.size)))
        except EOFError:
            break
        try:
            for events in read(*place):
                if pieces % _RELIEVED_EVERY == 0:
                    growing.relieve(tables.columns())
                tables.add(events)
                del events
                pieces += 1
                if tables.has_halves:
                    raise Refused
        except Refused:
            send(out, _REFUSED)
            return
        counts.append(tables.counts())
        send(out, _TAKEN)
    _hand_over(tables, counts, skipped, growing, out)


def _hand_over(
    tables: EventTables, counts: list[list[int]], skipped: Counter[str], growing: Growing, out: IO[bytes]
) -> None:
    """Columns that lie in memory go as they are: NumPy, which this process does not have, would have to be loaded."""
    columns: list[list[tuple[str, str]]] = [
        [(name, column.typecode) for _, name, column in columns_of([table])] for table in tables.columns()
    ]
    if growing.has_begun:
        from tensorboard_plugin_dlprof.spilling import Spill

        Spill.of(growing).complete(tables.columns())
    found = Handover(
        counts=counts,
        columns=columns,
        texts=tables.strings.texts(),
        threads=list(tables.threads.rows),
        triples=tables.work.triples.triples,
        metrics=tables.counters.metrics,
        inputs=list(tables.inputs),
        thread_names=list(tables.thread_names.items()),
        skipped=tables.skipped + skipped,
        categories=dict(tables.categories),
    )
    send_text(out, msgspec.msgpack.encode(found))
    for table, told in zip(tables.columns(), columns, strict=True):
        for name, _ in told:
            send(out, table[name])
