"""Reads a trace with several processes, each of which reads a range of its bytes.

The last range, and what follows the events, is read by this process, the others by forks of it, which leave their
events in temporary files. What the events are does not depend on the number of processes. Whatever is unusual about a
range (damaged events, begin and end events), the trace is read again from its start by one process, since such events
can only be handled in order.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from tensorboard_plugin_dlprof.allowance import start_timer
from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto.joining import joined
from tensorboard_plugin_dlprof.importers.kineto.reader import NeedsSequentialRead, TraceReader
from tensorboard_plugin_dlprof.importers.kineto.tables import Events, EventTables
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream

_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 8

Read = Callable[[Iterable[list[Any]]], EventTables]
"""Sorts batches of events."""


def can_fork() -> bool:
    """Whether this process can be forked safely: a lock held by another thread would stay locked in the fork."""
    return sys.platform == "linux" and threading.active_count() == 1


def read_by_many(
    path: Path, reader: TraceReader, stream: ByteStream, options: ReadOptions, store: ColumnStore, read: Read
) -> Events:
    """The events of a trace, read by up to ``options.workers`` processes.

    Args:
        path: the trace.
        reader: a reader that has begun.
        stream: what it reads.
        options: limits.
        store: makes the columns.
        read: sorts the batches that this process reads.

    Raises:
        NeedsSequentialRead: the trace must be read by one process, from its start.
    """
    chunks = reader.chunks()
    bounds = sorted({chunks * place // options.workers for place in range(options.workers)})
    with ExitStack() as ended:
        forks = [
            ended.enter_context(_Fork(partial(_read_part, path, reader, options, chunks_of_part), store))
            for chunks_of_part in pairwise(bounds)
        ]
        reader.go_to(bounds[-1], stream)
        tables = read(reader.batches())
        if tables.has_halves:
            raise NeedsSequentialRead
        return joined([*(fork.events() for fork in forks), tables.finish()], store)


def _read_part(path: Path, reader: TraceReader, options: ReadOptions, chunks: tuple[int, int], file: IO[bytes]) -> None:
    reader.skipped = Counter()
    tables = EventTables(ColumnStore(options.memory_bytes, options.folder))
    with ByteStream(path, options.max_expanded_bytes) as stream:
        for events in reader.batches_of(stream, *chunks):
            tables.add(events)
            del events
    if tables.has_halves:
        raise NeedsSequentialRead
    part = tables.finish()
    part.skipped.update(reader.skipped)
    _dump(part, file)


class _Fork:
    """A fork of this process, which leaves events in a file. Use it as a context manager, which ends the fork."""

    def __init__(self, work: Callable[[IO[bytes]], None], store: ColumnStore) -> None:
        self._file = store.temporary_file()
        try:
            self._process = os.fork()
        except OSError as error:
            self._file.close()
            raise NeedsSequentialRead from error
        if not self._process:
            status = 1
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                start_timer()
                work(self._file)
                status = 0
            finally:
                os._exit(status)

    def events(self) -> Events:
        """Waits for the fork, and returns its events, whose columns are mapped from the file.

        Raises:
            NeedsSequentialRead: it failed.
        """
        process, self._process = self._process, 0
        _, status = os.waitpid(process, 0)
        if status:
            raise NeedsSequentialRead
        return _load(self._file)

    def __enter__(self) -> _Fork:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self._process:
            with suppress(OSError):
                os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)


def _dump(events: Events, file: IO[bytes]) -> None:
    """Writes events: pickled, and their columns behind that."""
    columns: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(events, protocol=5, buffer_callback=columns.append)
    file.write(_LENGTH.pack(len(pickled)) + pickled)
    for column in columns:
        raw = column.raw()
        file.write(bytes(-file.tell() % _ALIGNMENT))
        file.write(_LENGTH.pack(len(raw)))
        file.write(raw)
    file.flush()


def _load(file: IO[bytes]) -> Events:
    """Reads what ``_dump`` wrote."""
    mapped = memoryview(mmap.mmap(file.fileno(), 0))
    columns: list[memoryview] = []

    def taken(position: int) -> tuple[memoryview, int]:
        (length,) = _LENGTH.unpack_from(mapped, position)
        begin = position + _LENGTH.size
        return mapped[begin : begin + length], begin + length

    pickled, position = taken(0)
    while position < len(mapped):
        column, position = taken(position + -position % _ALIGNMENT)
        columns.append(column)
    events: Events = pickle.loads(pickled, buffers=columns)  # trusted: written by our own fork
    return events
