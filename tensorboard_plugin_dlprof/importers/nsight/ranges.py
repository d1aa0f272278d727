"""Reads the NVTX ranges of an Nsight Systems export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s, RangeKind, Ranges, Strings
from tensorboard_plugin_dlprof.importers.memo import Memo
from tensorboard_plugin_dlprof.importers.nsight.batches import Batch, mapped, possible
from tensorboard_plugin_dlprof.importers.nsight.export import NO_TIME, Export
from tensorboard_plugin_dlprof.importers.nsight.ids import ID_BITS, ID_MASK, Names, Threads
from tensorboard_plugin_dlprof.importers.nsight.markers import cut, read_cut_name, read_cut_sizes, read_marker

_TABLE = "NVTX_EVENTS"
_PUSH_POP, _START_END = (59, 70), (60, 71)
"""``eventType`` of ranges; 70 and 71 were imported from a text file of NVTX."""
_DOMAIN_CREATE, _THREAD_NAME = 75, 39

_MOST_CACHED = 1 << 16
_MOST_CACHED_BYTES = 1 << 24
"""Limits of the cache of texts, since all texts may differ, or be long."""

_Text: TypeAlias = bytes | int
"""Text of a range: the one in its row, or the id (in ``Capture.strings``) of one that the program registered."""

_Reading: TypeAlias = tuple[int, int, int, int]


class RangeReader:
    """Reads ``NVTX_EVENTS`` into ``Ranges``."""

    def __init__(self, export: Export, strings: Strings, names: Names, threads: Threads, tally: Counter[str]) -> None:
        self._export = export
        self._strings = strings
        self._names = names
        self._threads = threads
        self._tally = tally
        self._domains: dict[int, int] | None = None
        """Process and domain -> text id of its name. Read where a range is in a domain: it takes another scan."""
        self._texts = _Texts(strings)
        self._wandering: set[tuple[int, int]] | None = None
        """Start and thread of start/end ranges that end on another thread. Read where a framework has ops as such."""
        self.thread_names: dict[tuple[int, int], str] = {}
        """Names that the program gave its threads through NVTX."""

    def read(self) -> Ranges:
        """All push/pop and start/end ranges. The end of a range that was open when the session ended is ``NO_TIME``."""
        ranges = GrowingTable(self._export.store)
        needed = ("start", "eventType", "globalTid")
        wanted = (*needed, "end", "domainId", "textId")
        where = f"eventType IN ({', '.join(map(str, (*_PUSH_POP, *_START_END, _THREAD_NAME)))})"
        doing = "reading NVTX ranges"
        for batch in self._export.batches(_TABLE, wanted, needed=needed, text="text", doing=doing, where=where):
            is_name = batch["eventType"] == _THREAD_NAME
            if is_name.any():
                self._add_names(batch.only(is_name))
            if not is_name.all():
                self._add(ranges, batch.only(~is_name))
        start = ranges.take("start_ns", np.int64)
        # NVTX has no types, parameters, stacks and groups. A view of one zero takes no memory.
        absent = np.broadcast_to(np.zeros(1, np.int32), start.shape)
        return ranges.table(
            Ranges,
            start_ns=start,
            **dict.fromkeys(("dtypes", "parameters", "stack", "group"), absent),
            forward_thread=np.broadcast_to(np.full(1, -1, np.int64), start.shape),
        )

    def _add_names(self, batch: Batch) -> None:
        """Stores the names of threads."""
        for _, _, global_tid, _, _, text_id, direct in batch.rows():
            thread = global_tid >> ID_BITS & ID_MASK, global_tid & ID_MASK
            self.thread_names[thread] = self._text(direct, text_id)

    def _read_domains(self) -> dict[int, int]:
        """Text ids of the names of domains, which may come after the ranges in them."""
        domains = {0: 0}
        wanted, where = ("globalTid", "domainId", "textId"), f"eventType = {_DOMAIN_CREATE}"
        for batch in self._export.batches(_TABLE, wanted, text="text", doing="reading NVTX domains", where=where):
            for global_tid, domain, text_id, direct in batch.rows():
                if domain > 0:
                    key = (global_tid >> ID_BITS << ID_BITS) + min(domain, ID_MASK)
                    domains[key] = self._strings.intern(self._text(direct, text_id))
        return domains

    def _text(self, direct: bytes, text_id: int) -> str:
        return direct.decode("utf-8", "replace") if direct else self._names.text(text_id)

    def _add(self, ranges: GrowingTable, batch: Batch) -> None:
        start, end, global_tid = batch["start"], batch["end"], batch["globalTid"]
        usable, on_thread = possible(start, np.where(end == NO_TIME, start, end)), global_tid >= 0
        self._tally["NVTX ranges with impossible times"] += np.count_nonzero(~usable)
        self._tally["NVTX ranges without a thread"] += np.count_nonzero(usable & ~on_thread)
        domains = self._domain_names(global_tid, batch["domainId"])
        readings = self._texts.read(domains.tolist(), self._texts_of(batch))
        kind, name, shapes, sequence = (
            np.fromiter(column, np.int64, len(batch)) for column in zip(*readings, strict=True)
        )
        self._free_spans(kind, batch)
        rows = usable & on_thread
        ranges.add(
            start_ns=start[rows],
            end_ns=end[rows],
            thread=self._threads.rows(global_tid[rows]),
            domain=domains[rows],
            kind=kind[rows].astype(np.int8),
            name=name[rows].astype(np.int32),
            shapes=shapes[rows].astype(np.int32),
            sequence=sequence[rows],
        )

    def _free_spans(self, kind: Int64s, batch: Batch) -> None:
        """Makes start/end ranges ``SPAN``, except ops that a framework (TensorFlow) runs on one thread."""
        free = np.isin(batch["eventType"], _START_END)
        ops = np.flatnonzero(free & (kind == RangeKind.OP))
        if len(ops):
            if self._wandering is None:
                self._wandering = self._read_wandering()
            keys = zip(batch["start"][ops].tolist(), batch["globalTid"][ops].tolist(), strict=True)
            free[ops] = [key in self._wandering for key in keys]
        kind[free] = RangeKind.SPAN

    def _read_wandering(self) -> set[tuple[int, int]]:
        wanted, where = ("start", "globalTid", "endGlobalTid"), f"eventType IN ({', '.join(map(str, _START_END))})"
        batches = self._export.batches(_TABLE, wanted, doing="reading NVTX ranges across threads", where=where)
        return {
            (start, begun_on) for batch in batches for start, begun_on, ended_on in batch.rows() if begun_on != ended_on
        }

    def _domain_names(self, global_tid: Int64s, domain_id: Int64s) -> Int32s:
        """Text id of each domain's name; 0 for the default domain.

        A domain that was registered before the capture began has no name, and is called by its number.
        """
        if not (domain_id > 0).any():
            return np.zeros(len(domain_id), np.int32)
        if self._domains is None:
            self._domains = self._read_domains()
        keys = np.where(domain_id > 0, (global_tid >> ID_BITS << ID_BITS) + np.clip(domain_id, 0, ID_MASK), 0)
        for key in distinct_values(keys).tolist():
            if key not in self._domains:
                self._domains[key] = self._strings.intern(f"domain {key & ID_MASK}")
        return mapped(keys, self._domains)

    def _texts_of(self, batch: Batch) -> Sequence[_Text]:
        text_ids = batch["textId"]
        if not (text_ids >= 0).any():
            return batch.texts
        names = self._names.resolve(text_ids).tolist()
        return [direct or name for direct, name in zip(batch.texts, names, strict=True)]


class _Texts:
    """What texts say: kind, name and shapes (both as ids of ``strings``), sequence number."""

    def __init__(self, strings: Strings) -> None:
        self._strings = strings
        self._whole = Memo(self._read_whole)
        self._names = Memo(self._read_name)
        self._sizes = Memo(lambda sizes: strings.intern(read_cut_sizes(sizes)))
        self._num_bytes = 0
        """Of the texts that are remembered whole."""

    def read(self, domains: list[int], texts: Sequence[_Text]) -> list[_Reading]:
        """What each text of a batch says, in its domain."""
        if (
            self._num_bytes >= _MOST_CACHED_BYTES
            or max(map(len, (self._whole, self._names, self._sizes))) >= _MOST_CACHED
        ):
            self._num_bytes = 0
            for memo in (self._whole, self._names, self._sizes):
                memo.clear()
        return [self._read(domain, text) for domain, text in zip(domains, texts, strict=True)]

    def _read(self, domain: int, text: _Text) -> _Reading:
        parts = cut(text) if not domain and isinstance(text, bytes) else None
        if parts is None:
            return self._whole[domain, text]  # type: ignore[no-any-return]
        name, sizes, sequence = parts
        shapes = self._sizes[sizes]
        kind, name_id = self._names[name, sequence >= 0 or shapes > 0]
        return kind, name_id, shapes, sequence

    def _read_whole(self, domain_and_text: tuple[int, _Text]) -> _Reading:
        domain, text = domain_and_text
        read = self._strings[text] if isinstance(text, int) else text.decode("utf-8", "replace")
        self._num_bytes += len(read)
        marker = read_marker(read, self._strings[domain])
        return int(marker.kind), self._strings.intern(marker.name), self._strings.intern(marker.shapes), marker.sequence

    def _read_name(self, name_and_tensors: tuple[bytes, bool]) -> tuple[int, int]:
        marker = read_cut_name(*name_and_tensors)
        return int(marker.kind), self._strings.intern(marker.name)
