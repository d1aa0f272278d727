"""Merges the rows that two processes read into the order of the file, with common numbers for texts, threads, ..."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import Strings
from tensorboard_plugin_dlprof.forking import receive_into
from tensorboard_plugin_dlprof.importers.kineto_chunks import Refused
from tensorboard_plugin_dlprof.importers.kineto_helper import HELPERS, OWN, Handover
from tensorboard_plugin_dlprof.importers.kineto_ids import InputIds
from tensorboard_plugin_dlprof.importers.kineto_sorting import EventTables
from tensorboard_plugin_dlprof.importers.kineto_times import blocks

_TEXTS = ("name", "stack", "group", "track", "called", "dtype", "group_name", "group_text", "group_ranks")
_THREADS = ("thread",)
_TRIPLES = ("grid", "block")
_METRICS = ("metric",)
_INPUTS = ("inputs",)

_Runs = list[tuple[int, slice]]
"""The process that read each run of rows (or items), and which of its own rows these are; in the order of the file."""

_Ids = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
"""The merged number of each item of the reading process, and of the helper."""

_Item = TypeVar("_Item", bound=Hashable)


def merge(
    tables: EventTables,
    readers: Sequence[int],
    counts: list[list[int]],
    found: Handover,
    pipe: IO[bytes],
    store: ColumnStore,
) -> None:
    """Adds the helper's results to ``tables``, whose columns must be complete.

    Args:
        tables: the results of the reading process.
        readers: the process that read each part, in the order of the file; the reading process read the rest.
        counts: ``EventTables.counts`` of the reading process at the end of each of its parts.
        found: the helper's results.
        pipe: delivers the helper's columns.
        store: holds long columns.

    Raises:
        Refused: the columns do not arrive.
    """
    runs = _runs([*readers, OWN], ([*counts, tables.counts()], found.counts))
    rows = len(found.columns)
    numberings: list[tuple[Sequence[str], Sequence[Any], Sequence[Any]]] = [
        (_TEXTS, tables.strings.texts(), found.texts),
        (_THREADS, list(tables.threads.rows), found.threads),
        (_TRIPLES, tables.work.triples.triples, found.triples),
        (_METRICS, tables.counters.metrics, found.metrics),
        (_INPUTS, list(tables.inputs), found.inputs),
    ]
    ids: dict[str, _Ids] = {}
    merged: list[list[Any]] = []
    for (names, *items), of_items in zip(numberings, runs[rows:], strict=True):
        numbered, places = _numbered(items, of_items)
        ids |= dict.fromkeys(names, places)
        merged.append(numbered)
    texts, threads, tables.work.triples.triples, tables.counters.metrics, inputs = merged

    try:
        for table, columns, of_rows in zip(tables.columns(), found.columns, runs[:rows], strict=True):
            count = sum(part.stop - part.start for reader, part in of_rows if reader == HELPERS)
            for name, dtype in columns:
                halves = table[name], receive_into(pipe, np.empty(count, dtype))
                if name in ids:
                    for half, of_reader in zip(halves, ids[name], strict=True):
                        _renumber(half, of_reader)
                whole = table[name] = store.empty(sum(map(len, halves)), halves[0].dtype)
                if of_rows:
                    np.concatenate([halves[reader][part] for reader, part in of_rows], out=whole)
    except EOFError as error:
        raise Refused from error

    tables.strings = Strings(texts)
    tables.inputs = InputIds(inputs)
    tables.threads.rows = {thread: row for row, thread in enumerate(threads)}
    tables.thread_names |= dict(found.thread_names)
    tables.skipped.update(found.skipped)
    tables.categories.update(found.categories)


def _runs(readers: Sequence[int], counts: tuple[list[list[int]], list[list[int]]]) -> list[_Runs]:
    """The runs of each table and of each kind of numbered items."""
    waiting = [iter(ends) for ends in counts]
    before = [[0] * len(counts[OWN][0])] * len(counts)
    runs: list[_Runs] = [[] for _ in before[OWN]]
    for reader in readers:
        ends = next(waiting[reader])
        for of_one, begin, end in zip(runs, before[reader], ends, strict=True):
            if begin < end:
                of_one.append((reader, slice(begin, end)))
        before[reader] = ends
    return runs


def _numbered(items: Sequence[Sequence[_Item]], runs: _Runs) -> tuple[list[_Item], _Ids]:
    """All items in the order in which one process would have numbered them, and the new numbers of each process's."""
    places: dict[_Item, int] = {}
    found = np.empty(len(items[OWN]), np.int32), np.empty(len(items[HELPERS]), np.int32)
    for reader, part in runs:
        found[reader][part] = [places.setdefault(item, len(places)) for item in items[reader][part]]
    return list(places), found


def _renumber(column: npt.NDArray[np.int32], ids: npt.NDArray[np.int32]) -> None:
    """Replaces numbers by the merged ones, in place because allocating another column takes longer."""
    for rows in blocks(len(column)):
        column[rows] = ids[column[rows]]
