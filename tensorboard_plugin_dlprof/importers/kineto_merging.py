"""Puts the rows that two processes read in the order of the file, with one numbering of texts, threads and sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import zip_longest
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Strings
from tensorboard_plugin_dlprof.forking import receive_into
from tensorboard_plugin_dlprof.importers.kineto_helper import Handover, Refused
from tensorboard_plugin_dlprof.importers.kineto_sorting import EventTables
from tensorboard_plugin_dlprof.importers.kineto_times import blocks
from tensorboard_plugin_dlprof.spilling import Spill

_TEXTS = ("name", "shapes", "dtypes", "parameters", "stack", "group")
_THREADS = ("thread",)
_TRIPLES = ("grid", "block")
_METRICS = ("metric",)

_Cuts = Sequence[tuple[int, int]]
"""First row and row behind the last of each turn."""

_Ids = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
"""The merged number of each item of the reading process, and of the helper."""

_Item = TypeVar("_Item", bound=Hashable)


def merge(tables: EventTables, counts: list[list[int]], found: Handover, pipe: IO[bytes], spill: Spill) -> None:
    """Adds what the helper found to ``tables``, whose columns must be complete.

    Before each piece that the helper took, and after the last, there is a turn of the reading process, most often
    with several pieces, sometimes with none.

    Args:
        tables: what the reading process found.
        counts: what it had when it gave each piece away.
        found: what the helper found.
        pipe: what its columns come through.
        spill: where long columns lie.

    Raises:
        Refused: the columns do not come.
    """
    own_turns = _turns([*counts, tables.counts()])
    helper_turns = _turns(found.counts)
    numberings: list[tuple[Sequence[str], Sequence[Any], Sequence[Any]]] = [
        (_TEXTS, tables.strings.texts(), found.texts),
        (_THREADS, list(tables.threads.rows), found.threads),
        (_TRIPLES, tables.work.triples.triples, found.triples),
        (_METRICS, tables.counters.metrics, found.metrics),
    ]
    ids: dict[str, _Ids] = {}
    merged: list[list[Any]] = []
    rows = len(found.columns)
    for (names, own_items, helper_items), own, helpers in zip(
        numberings, own_turns[rows:], helper_turns[rows:], strict=True
    ):
        items, places = _numbered(own_items, own, helper_items, helpers)
        ids |= dict.fromkeys(names, places)
        merged.append(items)
    texts, threads, tables.work.triples.triples, tables.counters.metrics = merged

    try:
        for table, columns, own, helpers in zip(
            tables.columns(), found.columns, own_turns[:rows], helper_turns[:rows], strict=True
        ):
            in_order = _in_order(own, helpers)
            for name, dtype in columns:
                halves = table[name], receive_into(pipe, np.empty(helpers[-1][1], dtype))
                if name in ids:
                    halves = _renumbered(halves[0], ids[name][0]), _renumbered(halves[1], ids[name][1])
                whole = table[name] = spill.empty(sum(map(len, halves)), halves[0].dtype)
                if in_order:
                    np.concatenate([halves[reader][rows] for reader, rows in in_order], out=whole)
    except EOFError as error:
        raise Refused from error

    tables.strings = Strings(texts)
    tables.threads.rows = {thread: row for row, thread in enumerate(threads)}
    tables.thread_names |= dict(found.thread_names)
    tables.skipped.update(found.skipped)
    tables.categories.update(found.categories)


def _turns(counts: list[list[int]]) -> list[_Cuts]:
    """The cuts of each table and of each numbering."""
    starts = [[0] * len(counts[0]), *counts[:-1]]
    return [
        list(zip(begin, end, strict=True))
        for begin, end in zip(zip(*starts, strict=True), zip(*counts, strict=True), strict=True)
    ]


def _numbered(
    own: Sequence[_Item], own_turns: _Cuts, helpers: Sequence[_Item], helper_turns: _Cuts
) -> tuple[list[_Item], _Ids]:
    """All items in the order in which one process would have met them, and where those of each process went."""
    places: dict[_Item, int] = {}
    first, second = np.empty(len(own), np.int32), np.empty(len(helpers), np.int32)
    for turn, (begin, end) in enumerate(own_turns):
        first[begin:end] = [places.setdefault(item, len(places)) for item in own[begin:end]]
        if turn < len(helper_turns):
            begin, end = helper_turns[turn]
            second[begin:end] = [places.setdefault(item, len(places)) for item in helpers[begin:end]]
    return list(places), (first, second)


def _renumbered(column: npt.NDArray[np.int32], ids: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    found = np.empty(len(column), np.int32)
    for rows in blocks(len(column)):
        found[rows] = ids[column[rows]]
    return found


def _in_order(own: _Cuts, helpers: _Cuts) -> list[tuple[int, slice]]:
    """Who read each run of rows (0: the reading process, 1: the helper), and which of its rows they are."""
    turns = zip_longest(own, helpers, fillvalue=(0, 0))
    return [(reader, slice(begin, end)) for turn in turns for reader, (begin, end) in enumerate(turn) if begin < end]
