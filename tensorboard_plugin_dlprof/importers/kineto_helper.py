"""A second process (the helper) that decodes a part of a trace and sorts its events, in parallel to the first.

``kineto_sharing`` decides which process reads what. At the end, the helper hands its columns over, and
``kineto_merging`` puts the rows of both processes in the order of the file, so that the tables do not depend on the
number of processes. If the helper meets anything unusual, it refuses. Then one process reads the trace from the start,
since damaged events can only be handled in order; time is lost only in that case.

Protocol of the pipes: to the helper, two numbers for each place to read; from it, one byte for each finished place,
then the length of the ``Handover``, the ``Handover``, and the columns one after the other.
"""

from __future__ import annotations

import select
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO

import msgspec

from tensorboard_plugin_dlprof.forking import Fork, receive_into, receive_text, send, send_text
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto_chunks import Refused
from tensorboard_plugin_dlprof.importers.kineto_events import Event
from tensorboard_plugin_dlprof.importers.kineto_sorting import EventTables

_TAKEN, _REFUSED = b"+", b"-"

_PLACE = struct.Struct("<QQ")

OWN, HELPERS = 0, 1
"""Which process reads a part: the reading process itself, or the helper."""

Read = Callable[[int, int], Iterator[list[Event]]]
"""Returns the events of a place in the trace, which is given by two numbers: chunks, or the position of a piece in
shared memory. Raises ``Refused`` if one process must read the trace alone."""


class Handover(msgspec.Struct, frozen=True):
    """The helper's results, except the columns."""

    counts: list[list[int]]
    """``EventTables.counts`` after each place."""
    columns: list[list[tuple[str, str]]]
    """Name and type of the columns of each table."""
    texts: list[str]
    threads: list[tuple[int | str, int | str]]
    triples: list[tuple[int, int, int]]
    metrics: list[str]
    inputs: list[bytes]
    thread_names: list[tuple[tuple[int | str, int | str], str]]
    skipped: dict[str, int]
    """Numbers of skipped events by reason."""
    categories: dict[str, int]


class Helper:
    """The reading process's handle on the helper; a context manager.

    Args:
        tables: the tables that the reading process fills meanwhile.
        options: limits for the helper, and the modules to load while the helper reads.
    """

    def __init__(self, tables: EventTables, options: ReadOptions) -> None:
        self._tables = tables
        self._fork: Fork | None = None
        self.waiting = 0
        """Number of places that the helper was given and has not finished."""
        self.readers: list[int] = []
        """Which process reads each part, in the order of the file; the reading process reads the rest of the file."""
        self.counts: list[list[int]] = []
        """``EventTables.counts`` of the reading process at the end of each of its own parts."""

    @property
    def has_begun(self) -> bool:
        """Whether the helper was started."""
        return self._fork is not None

    def begin(self, read: Read, skipped: Counter[str]) -> None:
        """Starts the helper.

        Args:
            read: reads a place; called in the helper.
            skipped: counts the events that ``read`` leaves out.

        Raises:
            Refused: the system cannot start another process.
        """
        try:
            self._fork = Fork(lambda pipe, out: _help(pipe, out, read, skipped))
        except OSError as error:
            raise Refused from error

    def give(self, first: int, second: int) -> None:
        """Tells the helper to read a place.

        Raises:
            Refused: the helper died.
        """
        self.readers.append(HELPERS)
        self.waiting += 1
        try:
            send(self._running.to, _PLACE.pack(first, second))
        except OSError as error:
            raise Refused from error

    def ends_own(self) -> None:
        """Records that the reading process has finished one of its own parts."""
        self.counts.append(self._tables.counts())

    def hear(self) -> int:
        """The number of places that the helper has finished since the last call.

        Raises:
            Refused: the trace must be read by one process alone.
        """
        if self._tables.has_halves:
            raise Refused
        before, fork = self.waiting, self._running
        while self.waiting and select.select([fork.from_], [], [], 0)[0]:
            self._hear(fork)
        return before - self.waiting

    def handover(self) -> tuple[Handover, IO[bytes]]:
        """Waits until the helper has finished.

        Returns:
            Its results, and the pipe through which its columns come.

        Raises:
            Refused: the trace must be read by one process alone.
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


def _help(pipe: IO[bytes], out: IO[bytes], read: Read, skipped: Counter[str]) -> None:
    """The main function of the helper: reads the places that it is given, then hands over the results."""
    tables = EventTables()
    counts: list[list[int]] = []
    skipped.clear()
    while True:
        try:
            place = _PLACE.unpack(receive_into(pipe, bytearray(_PLACE.size)))
        except EOFError:
            break
        try:
            for events in read(*place):
                tables.add(events)
                del events
                if tables.has_halves:
                    raise Refused
        except Refused:
            send(out, _REFUSED)
            return
        counts.append(tables.counts())
        send(out, _TAKEN)
    _hand_over(tables, counts, skipped, out)


def _hand_over(tables: EventTables, counts: list[list[int]], skipped: Counter[str], out: IO[bytes]) -> None:
    """Sends the results."""
    columns: list[list[tuple[str, str]]] = [
        [(name, column.typecode) for name, column in table.items() if isinstance(column, array)]
        for table in tables.columns()
    ]
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
