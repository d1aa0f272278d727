"""Collects decoded events by kind in compact columns.

Every kind has a table of growing arrays. A column takes 4 or 8 bytes an event, texts are interned at
once, so that a trace of 1 GB becomes about 200 MB of columns.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat

import msgspec

from tensorboard_plugin_dlprof.events.tables import Strings, WorkKind
from tensorboard_plugin_dlprof.importers.kineto_events import NO_TEXT, Event, valid_text, whole_number


class TextIds(dict[object, int]):
    """Text, or its UTF-8 bytes -> id in ``Strings``. A hit costs one dictionary look-up."""

    def __init__(self, strings: Strings) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, text: object) -> int:
        if isinstance(text, bytes):
            plain = text.decode("utf-8", "replace")
        else:
            plain = "" if text is None else valid_text(str(text))
        found = self[text] = self._strings.intern(plain)
        return found

    def of(self, values: Sequence[object]) -> list[int]:
        """The ids of some texts, most often all absent."""
        if values.count("") == len(values):
            return [0] * len(values)
        return list(map(self.__getitem__, values))

    def of_raw(self, values: Sequence[msgspec.Raw]) -> list[int]:
        """The ids of some pieces of JSON."""
        return [0 if text is NO_TEXT else self[bytes(text)] for text in values]


class ThreadIds(dict[tuple[int | str, int | str], int]):
    """(pid, tid) as written -> row of ``processes`` and ``threads``. Numbers written as text are numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[tuple[int, int | str], int] = {}
        """(process, thread number or name) -> row."""

    def __missing__(self, key: tuple[int | str, int | str]) -> int:
        row = self[key] = self.rows.setdefault(thread_key(*key), len(self.rows))
        return row

    def of(self, events: Sequence[Event]) -> list[int]:
        """The rows of the threads of some events, most often of one."""
        pids = [event.pid for event in events]
        tids = [event.tid for event in events]
        if events and pids.count(pids[0]) == len(pids) and tids.count(tids[0]) == len(tids):
            return [self[pids[0], tids[0]]] * len(events)
        return list(map(self.__getitem__, zip(pids, tids, strict=True)))


def thread_key(pid: int | str, tid: int | str) -> tuple[int, int | str]:
    """A thread's numbers, whether written as numbers or as text; a thread may have a name in place of a number."""
    number = whole_number(tid, -1)
    return whole_number(pid, -1), tid if number == -1 and isinstance(tid, str) else number


_LAST_NUMBER = re.compile(r"(\d+)\D*$")


def track_number(value: object, fallback: object) -> int:
    """The number of a device or stream: given outright, else in a track's name (``stream 7``); -1 where unknown."""
    if type(value) is int and value >= 0:
        return value
    for candidate in (value, fallback):
        number = whole_number(candidate)
        if number >= 0:
            return number
        if isinstance(candidate, str) and (found := _LAST_NUMBER.search(candidate)):
            return whole_number(found[1])
    return -1


def extend_tracks(column: array[int], values: list[object], fallbacks: Sequence[object]) -> None:
    """Appends numbers of devices or streams."""
    if {type(value) for value in values} == {int} and min(values) >= 0:  # type: ignore[type-var, operator]
        extend_whole(column, values)
    else:
        extend_whole(column, list(map(track_number, values, fallbacks)))


def extend_whole(column: array[int], values: list[object], missing: int = -1) -> None:
    """Appends whole numbers; what is none, or does not fit the column, is ``missing``."""
    try:
        column.fromlist(values)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        limit = 1 << (8 * column.itemsize - 1)
        numbers = (whole_number(value, missing) for value in values)
        column.extend(number if -limit <= number < limit else missing for number in numbers)


class TripleIds(dict[bytes, int]):
    """``[4, 2, 1]`` as written -> row of ``triples``. Kernels are launched with few different grids."""

    def __init__(self) -> None:
        super().__init__()
        self.triples: list[tuple[int, int, int]] = []

    def __missing__(self, text: bytes) -> int:
        row = self[text] = len(self.triples)
        self.triples.append(_triple(text))
        return row


def _triple(text: bytes) -> tuple[int, int, int]:
    """Three numbers; zeros where the text is something else."""
    parts = text.strip(b"[] \t\r\n").split(b",")
    if len(parts) != 3:
        return (0, 0, 0)
    x, y, z = (whole_number(part, 0) for part in parts)
    return (x, y, z) if all(0 <= part < 1 << 31 for part in (x, y, z)) else (0, 0, 0)


class SpanRows:
    """What all timed tables share: start and duration in microseconds of the clock, and the name."""

    def __init__(self, texts: TextIds) -> None:
        self._texts = texts
        self.start_us = array("d")
        self.duration_us = array("d")
        self.name = array("i")

    def add(self, events: Sequence[Event]) -> None:
        """Appends complete events."""
        self.start_us.fromlist([event.ts for event in events])
        self.duration_us.fromlist([event.dur for event in events])
        self.name.fromlist(self._texts.of([event.name for event in events]))


class HostRows(SpanRows):
    """Ranges on host threads."""

    def __init__(self, texts: TextIds, threads: ThreadIds) -> None:
        super().__init__(texts)
        self._threads = threads
        self.thread = array("i")

    def add(self, events: Sequence[Event]) -> None:
        """Appends complete events."""
        super().add(events)
        self.thread.fromlist(self._threads.of(events))


class OpRows(HostRows):
    """Operators and annotations: everything that ``Ranges`` can hold."""

    def __init__(self, texts: TextIds, threads: ThreadIds) -> None:
        super().__init__(texts, threads)
        self.shapes = array("i")
        self.dtypes = array("i")
        self.parameters = array("i")
        self.stack = array("i")
        self.group = array("i")
        self.sequence = array("q")
        self.forward_thread = array("q")

    def add(self, events: Sequence[Event]) -> None:
        """Appends complete events."""
        super().add(events)
        texts = self._texts
        args = [event.args for event in events]
        shapes = [a.input_dims if a.input_dims_2020 is NO_TEXT else a.input_dims_2020 for a in args]
        self.shapes.fromlist(texts.of_raw(shapes))
        self.dtypes.fromlist(texts.of_raw([a.input_type for a in args]))
        self.parameters.fromlist(texts.of_raw([a.concrete_inputs for a in args]))
        self.stack.fromlist(texts.of([a.call_stack for a in args]))
        self.group.fromlist(texts.of([a.group_name or a.group_id for a in args]))
        extend_whole(self.sequence, [a.sequence for a in args])
        extend_whole(self.forward_thread, [a.forward_thread for a in args])


class CallRows(HostRows):
    """Calls of the CUDA or HIP runtime or driver."""

    def __init__(self, texts: TextIds, threads: ThreadIds) -> None:
        super().__init__(texts, threads)
        self.correlation = array("q")
        self.external_id = array("q")

    def add(self, events: Sequence[Event]) -> None:
        """Appends complete events."""
        super().add(events)
        extend_correlations(self.correlation, self.external_id, events)


def extend_correlations(correlation: array[int], external_id: array[int], events: Sequence[Event]) -> None:
    """Appends correlation ids, and operator ids (under today's name or that of 2020) in case there are none."""
    args = [event.args for event in events]
    correlations: list[object] = [a.correlation for a in args]
    extend_whole(correlation, correlations)
    if -1 in correlations:
        extend_whole(external_id, [a.external_id if a.external_id != -1 else a.external_id_2020 for a in args])
    else:
        external_id.extend(repeat(-1, len(args)))


class DeviceRows(SpanRows):
    """What device work and synchronisations share."""

    def __init__(self, texts: TextIds) -> None:
        super().__init__(texts)
        self.device = array("i")
        self.stream = array("q")
        self.correlation = array("q")
        self.external_id = array("q")

    def add(self, events: Sequence[Event]) -> None:
        """Appends complete events."""
        super().add(events)
        extend_tracks(self.device, [event.args.device for event in events], [event.pid for event in events])
        extend_tracks(self.stream, [event.args.stream for event in events], [event.tid for event in events])
        extend_correlations(self.correlation, self.external_id, events)


_COPY_DIRECTION = re.compile(r"\b(Host|Device|Array|Peer|[HDAP])[Tt]o(Host|Device|Array|Peer|[HDAP])\b")

_COPY_KINDS = {
    "HH": 9, "HD": 1, "HA": 3,
    "DH": 2, "DD": 8, "DA": 7,
    "AH": 4, "AD": 6, "AA": 5,
    "PP": 10,
}  # fmt: skip
"""CUPTI's ``CUpti_ActivityMemcpyKind``."""


@lru_cache(maxsize=1_000)
def copy_kind(name: str, kind: object) -> int:
    """CUPTI's number of a copy called ``Memcpy HtoD (Pageable -> Device)``, or of AMD's kind ``HtoD``; -1 unknown."""
    for text in (name, kind):
        if isinstance(text, str) and (found := _COPY_DIRECTION.search(text)):
            return _COPY_KINDS.get(found[1][0] + found[2][0], -1)
    return -1


class WorkRows(DeviceRows):
    """Kernels, copies and sets."""

    def __init__(self, texts: TextIds) -> None:
        super().__init__(texts)
        self.kind = array("b")
        self.triples = TripleIds()
        self.grid = array("i")
        """Row of ``triples.triples``, like ``block``."""
        self.block = array("i")
        self.registers = array("i")
        self.shared_bytes = array("q")
        self.num_bytes = array("q")
        self.copy_kind = array("i")
        self.graph_node = array("q")

    def add_work(self, kind: WorkKind, events: Sequence[Event]) -> None:
        """Appends complete events of one kind of work."""
        self.add(events)
        args = [event.args for event in events]
        self.kind.extend(repeat(kind, len(events)))
        triples = self.triples
        self.grid.fromlist([triples[bytes(a.grid)] for a in args])
        self.block.fromlist([triples[bytes(a.block)] for a in args])
        extend_whole(self.registers, [a.registers for a in args])
        extend_whole(self.shared_bytes, [a.shared_memory for a in args])
        extend_whole(self.num_bytes, [a.num_bytes for a in args])
        extend_whole(self.graph_node, [a.graph_node for a in args])
        if kind is WorkKind.MEMCPY:
            self.copy_kind.fromlist([copy_kind(event.name, event.args.kind) for event in events])
        else:
            self.copy_kind.extend(repeat(-1, len(events)))


class SyncRows(DeviceRows):
    """``cuda_sync`` events."""

    def __init__(self, texts: TextIds) -> None:
        super().__init__(texts)
        self.sync_type = array("i")
        self.event_id = array("q")

    def add(self, events: Sequence[Event]) -> None:
        """Appends complete events."""
        super().add(events)
        self.sync_type.fromlist([sync_type(event.args.sync_kind or event.name) for event in events])
        extend_whole(self.event_id, [event.args.event_id for event in events])


_SYNC_TYPES = {"event sync": 1, "stream wait event": 2, "stream sync": 3, "context sync": 4}
"""CUPTI's ``CUpti_ActivitySynchronizationType``, by the names that Kineto gives them."""


def sync_type(kind: object) -> int:
    """CUPTI's number of a synchronisation; 0 (unknown) for another name."""
    return _SYNC_TYPES.get(str(kind).lower(), 0)


class MemoryRows:
    """``[memory]`` instants of the framework's allocators."""

    def __init__(self, threads: ThreadIds) -> None:
        self._threads = threads
        self.start_us = array("d")
        self.thread = array("i")
        self.device = array("i")
        self.num_bytes = array("q")
        self.allocated_bytes = array("q")
        self.reserved_bytes = array("q")

    def add(self, events: Sequence[Event], skipped: Counter[str]) -> None:
        """Appends instants; one without a size is skipped."""
        sized = [event for event in events if event.args.memory_bytes is not None]
        if len(sized) < len(events):
            skipped["memory events without a size"] += len(events) - len(sized)
        args = [event.args for event in sized]
        self.start_us.fromlist([event.ts for event in sized])
        self.thread.fromlist(self._threads.of(sized))
        # Device Type 0 is the CPU, whose Device Id is -1; 1 is CUDA and HIP alike.
        extend_whole(self.device, [whole_number(a.device_id) if whole_number(a.device_type) > 0 else -1 for a in args])
        extend_whole(self.num_bytes, [a.memory_bytes for a in args], missing=0)
        extend_whole(self.allocated_bytes, [a.allocated for a in args])
        extend_whole(self.reserved_bytes, [a.reserved for a in args])


class FlowRows:
    """The two ends of ``fwdbwd`` arrows."""

    def __init__(self, threads: ThreadIds) -> None:
        self._threads = threads
        self.ends: dict[str, dict[int | str, tuple[int, float]]] = {"s": {}, "f": {}}
        """Start and finish -> flow id -> thread and time in microseconds of the clock."""

    def add(self, events: Sequence[Event]) -> None:
        """Appends flow events; steps between start and finish do not exist in PyTorch's."""
        for event in events:
            ends = self.ends.get(event.ph)
            if ends is not None and math.isfinite(event.ts):
                ends[event.id] = (self._threads[event.pid, event.tid], event.ts)
