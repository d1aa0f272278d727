"""Resolves the ids in an Nsight Systems export: texts, processes, threads.

A ``globalTid`` packs hardware, machine, process (24 bits) and thread (24 bits) into one number;
``globalPid`` is the same without the thread. Processes of several containers may share a number: as
DLProf did, the low 24 bits are kept.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, Strings, Thread
from tensorboard_plugin_dlprof.importers.nsight.batches import mapped
from tensorboard_plugin_dlprof.importers.nsight.export import Export

ID_BITS = 24
ID_MASK = (1 << ID_BITS) - 1
_IDS_PER_QUERY = 500
_MOST_MATCHING = 10_000
"""A limit for hostile files: each of the dozens of texts that are looked for should have one id."""


def process_of(global_ids: Int64s) -> Int64s:
    """Process id in each ``globalPid`` or ``globalTid``; 0 where it is not recorded (-1)."""
    return np.where(global_ids < 0, 0, (global_ids >> ID_BITS) & ID_MASK)


class Names:
    """Texts of ``StringIds``. Only those that events refer to are read, because the table also has private texts."""

    def __init__(self, export: Export, strings: Strings) -> None:
        self._export = export
        self._strings = strings
        self._known: dict[int, int] = {-1: 0}
        self._table = export.table("StringIds", needed=("id", "value"))

    def resolve(self, ids: Int64s) -> Int32s:
        """Ids of ``Capture.strings`` for ids of the export; an id without a text is 0."""
        self._read([key for key in distinct_values(ids).tolist() if key not in self._known])
        return mapped(ids, self._known)

    def text(self, string_id: int) -> str:
        """The text of one id; empty if there is none."""
        return self._strings[int(self.resolve(np.array([string_id], np.int64))[0])]

    def matching(self, condition: str) -> dict[int, str]:
        """Ids and texts for which an SQL condition on ``value`` holds, which is never taken from a file."""
        if self._table is None:
            return {}
        columns = "CAST(id AS INTEGER), CAST(value AS TEXT)"
        statement = f'SELECT {columns} FROM "{self._table}" WHERE id IS NOT NULL AND {condition} LIMIT {_MOST_MATCHING}'
        return dict(self._export.con.execute(statement).fetchall())

    def _read(self, unknown: list[int]) -> None:
        self._known.update(dict.fromkeys(unknown, 0))
        if self._table is None:
            return
        # The same statement for every batch, so that SQLite prepares it once.
        places = ", ".join("?" * _IDS_PER_QUERY)
        statement = f'SELECT id, CAST(value AS TEXT) FROM "{self._table}" WHERE id IN ({places}) AND value IS NOT NULL'
        for first in range(0, len(unknown), _IDS_PER_QUERY):
            batch = unknown[first : first + _IDS_PER_QUERY]
            batch += [batch[0]] * (_IDS_PER_QUERY - len(batch))
            for key, text in self._export.con.execute(statement, batch).fetchmany(2 * _IDS_PER_QUERY):
                self._known[int(key)] = self._strings.intern(text)


class Threads:
    """Host threads, numbered in the order of first occurrence."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], int] = {}
        self._by_global_id: dict[int, int] = {}

    def rows(self, global_tids: Int64s) -> Int32s:
        """Row of ``Capture.threads`` for each ``globalTid``, none of which may be missing."""
        for key in distinct_values(global_tids).tolist():
            if key not in self._by_global_id:
                pair = ((key >> ID_BITS) & ID_MASK, key & ID_MASK)
                self._by_global_id[key] = self._rows.setdefault(pair, len(self._rows))
        return mapped(global_tids, self._by_global_id)

    def processes(self) -> list[int]:
        """Process of each row."""
        return [process for process, _ in self._rows]

    def table(self, export: Export, nvtx_names: dict[tuple[int, int], str]) -> list[Thread]:
        """All threads that occurred. A name from the program itself (NVTX) takes precedence over the system's.

        Names of other threads on the machine are private and not read.
        """
        names = {**_system_names(export, self._by_global_id), **nvtx_names}
        return [Thread(process, thread, names.get((process, thread), "")) for process, thread in self._rows]


def _system_names(export: Export, wanted_threads: Collection[int]) -> dict[tuple[int, int], str]:
    """(process, thread) -> name in ``ThreadNames``; if there are several, the one with the highest priority."""
    best: dict[int, tuple[int, int]] = {}
    wanted = ("globalTid", "nameId", "priority")
    for batch in export.batches("ThreadNames", wanted, needed=wanted[:2], doing="reading thread names"):
        for thread, name_id, priority in batch.rows():
            if thread in wanted_threads and (thread not in best or priority > best[thread][0]):
                best[thread] = (priority, name_id)
    names = Names(export, Strings())
    return {
        ((thread >> ID_BITS) & ID_MASK, thread & ID_MASK): names.text(name_id) for thread, (_, name_id) in best.items()
    }
