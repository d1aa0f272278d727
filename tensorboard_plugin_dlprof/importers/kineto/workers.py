"""Reads a trace with any number of processes, each of which reads a range of its bytes.

The first range is read by this process, the others by forks of it, which leave their events in temporary files. What
the events are does not depend on the number of processes. If a range holds something that can only be handled in order
(begin and end events, an event whose end is unclear), the trace is read again from its start by one process.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from itertools import repeat
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.kineto.collect import EventTables
from tensorboard_plugin_dlprof.importers.kineto.reader import NeedsSequentialRead, TraceReader
from tensorboard_plugin_dlprof.importers.kineto.tables import TABLES, Events
from tensorboard_plugin_dlprof.opening.allowance import start_timer
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream

_Chunks = tuple[int, int | None]
"""The first chunk, and the one to stop before; None to read to the end of the trace."""

_WHOLE = (0, None)

_REPORT_EVERY = 2
"""Batches between two reports of progress: about 4 MB."""


def can_fork() -> bool:
    """Whether this process can be forked safely: a lock held by another thread would stay locked in the fork."""
    return sys.platform == "linux" and threading.active_count() == 1


def read_events(
    path: Path, reader: TraceReader, options: ReadOptions, store: ColumnStore, progress: Progress
) -> Events:
    """The events of a trace, read by up to ``options.workers`` processes; with one, whatever the trace.

    Args:
        reader: its reader, which gets what other processes read besides events.

    Raises:
        NeedsSequentialRead: the trace must be read by one process, from its start.
    """
    chunks, workers = reader.chunks(), options.workers
    bounds = sorted({chunks * part // workers for part in range(workers)})
    ours, *others = zip(bounds, [*bounds[1:], None], strict=True)
    with ExitStack() as ended:
        forks: list[tuple[ForkProcess, IO[bytes]]] = []
        for part in others:
            file = ended.enter_context(store.temporary_file())
            fork = ForkProcess(target=_read_part, args=(path, reader, options, part, file))
            try:
                fork.start()
            except (OSError, AssertionError) as error:  # none may be started, perhaps because this is a fork itself
                raise NeedsSequentialRead from error
            ended.callback(fork.join)
            ended.callback(fork.kill)
            forks.append((fork, file))
        tables = _collect(
            reader, ours, store, lambda done: progress("Reading events", min(1.0, done * (1 + len(forks))))
        )
        for fork, file in forks:
            fork.join()
            if fork.exitcode:
                raise NeedsSequentialRead
            file.seek(0)
            events, metadata, skipped = pickle.load(file)  # trusted: written by our own fork
            tables.append(events, map(np.load, repeat(file)))
            reader.metadata |= metadata
            reader.skipped += skipped
    return tables.finish()


def _collect(reader: TraceReader, part: _Chunks, store: ColumnStore, report: Callable[[float], None]) -> EventTables:
    """Sorts the events of a part. Each batch is freed before the next is created, which then reuses memory that is
    still in the processor's cache."""
    tables = EventTables(store)
    for number, events in enumerate(reader.batches(*part)):
        if number % _REPORT_EVERY == 0:
            report(reader.stream.fraction)
        tables.add(events)
        del events
    if tables.has_halves and part != _WHOLE:
        raise NeedsSequentialRead
    return tables


def _read_part(path: Path, reader: TraceReader, options: ReadOptions, part: _Chunks, file: IO[bytes]) -> NoReturn:
    """Reads a part in a fork, and ends it."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        start_timer()
        reader.skipped.clear()
        with ByteStream(path, options.max_expanded_bytes) as reader.stream:
            store = ColumnStore(options.memory_bytes, options.folder)
            events = _collect(reader, part, store, lambda _done: None).finish()
        columns = [events.tables[table].pop(column) for table, columns in TABLES.items() for column in columns]
        pickle.dump((events, reader.metadata, reader.skipped), file)
        for column in columns:
            np.save(file, column)
        file.flush()
        status = 0
    finally:
        os._exit(status)
