"""Reads a trace with several processes, each of which reads a range of its bytes.

The last range, and what follows the events, is read by this process, the others by forks of it, which leave their
events in temporary files. What the events are does not depend on the number of processes. Whatever is unusual about a
range (damaged events, begin and end events), the trace is read again from its start by one process, since such events
can only be handled in order.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise, repeat
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import IO, Any, NoReturn

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.importers.importer import ReadOptions
from tensorboard_plugin_dlprof.importers.kineto.collect import EventTables
from tensorboard_plugin_dlprof.importers.kineto.events import Event
from tensorboard_plugin_dlprof.importers.kineto.reader import NeedsSequentialRead, TraceReader
from tensorboard_plugin_dlprof.importers.kineto.tables import ITEMS, TABLES, Events
from tensorboard_plugin_dlprof.opening.allowance import start_timer
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream

Read = Callable[[Iterable[list[Event]]], EventTables]
"""Sorts batches of events."""

_Part = tuple[Events, Iterator[npt.NDArray[Any]]]
"""Events without tables, and the columns of these, as ``_columns`` orders them."""


def can_fork() -> bool:
    """Whether this process can be forked safely: a lock held by another thread would stay locked in the fork."""
    return sys.platform == "linux" and threading.active_count() == 1


def read_by_many(
    path: Path, reader: TraceReader, stream: ByteStream, options: ReadOptions, store: ColumnStore, read: Read
) -> Events:
    """The events of a trace, read by up to ``options.workers`` processes; with one, whatever the trace.

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
    bounds = sorted({0, *(chunks * place // options.workers for place in range(1, options.workers))})
    with ExitStack() as ended:
        forks: list[tuple[ForkProcess, IO[bytes]]] = []
        for chunks_of_part in pairwise(bounds):
            file = ended.enter_context(store.temporary_file())
            fork = ForkProcess(target=_read_part, args=(path, reader, options, chunks_of_part, file))
            try:
                fork.start()
            except (OSError, AssertionError) as error:  # none may be started, perhaps because this is a fork itself
                raise NeedsSequentialRead from error
            ended.callback(fork.join)
            ended.callback(fork.kill)
            forks.append((fork, file))
        reader.go_to(bounds[-1], stream)
        tables = read(reader.batches())
        if not forks:
            return tables.finish()
        last = _finished(tables)
        return _joined([*(_part(*each) for each in forks), (last, _columns(last))], store)


def _finished(tables: EventTables) -> Events:
    if tables.has_halves:
        raise NeedsSequentialRead
    return tables.finish()


def _read_part(
    path: Path, reader: TraceReader, options: ReadOptions, chunks: tuple[int, int], file: IO[bytes]
) -> NoReturn:
    """Reads some chunks in a fork, and ends it."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        start_timer()
        reader.skipped = Counter()
        tables = EventTables(ColumnStore(options.memory_bytes, options.folder))
        with ByteStream(path, options.max_expanded_bytes) as stream:
            for events in reader.batches_of(stream, *chunks):
                tables.add(events)
                del events
        part = _finished(tables)
        part.skipped.update(reader.skipped)
        pickle.dump(msgspec.structs.replace(part, tables={}), file)
        for column in _columns(part):
            np.save(file, column)
        file.flush()
        status = 0
    finally:
        os._exit(status)


def _part(fork: ForkProcess, file: IO[bytes]) -> _Part:
    """What a fork has read, once it has ended.

    Raises:
        NeedsSequentialRead: it failed.
    """
    fork.join()
    if fork.exitcode:
        raise NeedsSequentialRead
    file.seek(0)
    events: Events = pickle.load(file)  # trusted: written by our own fork
    return events, (np.load(file) for _ in repeat(None))


def _columns(events: Events) -> Iterator[npt.NDArray[Any]]:
    """The columns of all tables; each is taken out of its table."""
    return (events.tables[table].pop(column) for table, columns in TABLES.items() for column in columns)


def _joined(parts: Sequence[_Part], store: ColumnStore) -> Events:
    """The events of the parts of one trace, in the order of the file. Items are numbered as if one had read them all:
    by first appearance."""
    whole = Events(tables={name: {} for name in TABLES})
    numbers: dict[str, list[npt.NDArray[np.int32]]] = {}
    for items in ITEMS:
        known: dict[Any, int] = {}
        numbers[items] = [
            np.array([known.setdefault(item, len(known)) for item in getattr(part, items)], np.int32)
            for part, _ in parts
        ]
        setattr(whole, items, list(known))
    for table, columns in TABLES.items():
        for name, column in columns.items():
            values = [next(columns_of_part) for _, columns_of_part in parts]
            if column.items:
                values = [number[each] for number, each in zip(numbers[column.items], values, strict=True)]
            target = whole.tables[table][name] = store.empty(sum(map(len, values)), column.typecode)
            np.concatenate(values, out=target)
    for part, _ in parts:
        whole.thread_names |= part.thread_names
        whole.skipped.update(part.skipped)
        whole.categories.update(part.categories)
        whole.other_categories |= part.other_categories
    return whole
