"""Collects events by kind in columns: 4 or 8 bytes a value, texts interned at once."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.kinds import WorkKind
from tensorboard_plugin_dlprof.events.strings import valid_text
from tensorboard_plugin_dlprof.importers.kineto.collectives import list_text, positive_hash
from tensorboard_plugin_dlprof.importers.kineto.counters import device_of, is_tensor_sample
from tensorboard_plugin_dlprof.importers.kineto.events import NO_TEXT, Kind
from tensorboard_plugin_dlprof.importers.kineto.numbers import (
    ThreadKey,
    copy_kind,
    label_of,
    memory_device,
    sync_type,
    thread_key,
    track_number,
    triple,
)
from tensorboard_plugin_dlprof.importers.kineto.times import Columns
from tensorboard_plugin_dlprof.importers.memo import Memo
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

NO_PARTNER = "begin or end events without their counterpart"
NO_TYPE = "events without a category"
NO_SIZE = "memory events without a size"
GPU_TIMES = "GPU times of ops, which PyTorch recorded in place of kernels until 2020"
COUNTER_RANGES = (
    "counters of kernels, which PyTorch recorded in place of their times: give this file as --counters beside a "
    "profile without them"
)
_KNOWN_PHASES = ("X", "B", "E", "M")  # ranges, begin and end of ranges, and metadata

_CPU_TRACK, _GPU_TRACK = "CPU functions", "CUDA functions"
"""Process names in traces of ``torch.autograd.profiler`` of 2020, whose events have no category."""

_FLOW_ENDS = {"s": 0, "f": 1}
"""Phase of an end of an arrow -> which one it is; -1 for a step between, which PyTorch does not write."""

_WORK_KINDS = {Kind.KERNEL: WorkKind.KERNEL, Kind.MEMCPY: WorkKind.MEMCPY, Kind.MEMSET: WorkKind.MEMSET}

NO_INPUTS = b"\0\0"
"""Shapes, types and values of an op's inputs as written, joined by zero bytes, which JSON lacks; here all absent."""


class Column(NamedTuple):
    """A column of a table: what it has of each event."""

    typecode: str
    """As in ``array``."""
    keys: Callable[[list[Any]], list[Any]]
    """What stands in each of some events."""
    read: Callable[[Any], Any] | None = None
    """What that means. Called once for each different key, so these must be few."""
    items: str = ""
    """The list of ``Events`` in which the column has the place of what was read; empty if it has that itself."""


def _text(value: object) -> str:
    return "" if value is None else valid_text(str(value))


def _texts(keys: Callable[[list[Any]], list[Any]]) -> Column:
    return Column("i", keys, _text, "texts")


def _inputs(events: list[Any]) -> list[bytes]:
    args = [e.args for e in events]
    dims = [a.input_dims if a.input_dims_2020 is NO_TEXT else a.input_dims_2020 for a in args]
    return [b"\0".join((d, a.input_type, a.concrete_inputs)) for d, a in zip(dims, args, strict=True)]


def _external_ids(events: list[Any]) -> list[Any]:
    """Numbers of operators, under today's name or that of 2020."""
    return [a.external_id_2020 if a.external_id == -1 else a.external_id for a in [e.args for e in events]]


_START = {"start_us": Column("d", lambda events: [e.ts for e in events])}
_SPAN = {
    **_START,
    "duration_us": Column("d", lambda events: [e.dur for e in events]),
    "name": _texts(lambda events: [e.name for e in events]),
}
_THREAD = {"thread": Column("i", lambda events: [(e.pid, e.tid) for e in events], thread_key, "threads")}
_LINKS = {
    "correlation": Column("q", lambda events: [e.args.correlation for e in events]),
    "external_id": Column("q", _external_ids),
}
_OPS = {
    **_SPAN,
    **_THREAD,
    "inputs": Column("i", _inputs, bytes, "inputs"),
    "stack": _texts(lambda events: [e.args.call_stack for e in events]),
    "group": _texts(lambda events: [e.args.group_name or e.args.group_id for e in events]),
    "sequence": Column("q", lambda events: [e.args.sequence for e in events]),
    "forward_thread": Column("q", lambda events: [e.args.forward_thread for e in events]),
}
_ON_DEVICE = {
    **_SPAN,
    **_LINKS,
    "track": Column("i", lambda events: [e.pid for e in events], lambda pid: pid if label_of(pid) else "", "texts"),
    "device": Column("i", lambda events: [(e.args.device, e.pid) for e in events], track_number),
    "stream": Column("q", lambda events: [(e.args.stream, e.tid) for e in events], track_number),
}
COLUMNS: dict[str, dict[str, Column]] = {
    "old_ops": _OPS,
    "ops": _OPS,
    "annotations": _OPS,
    "frames": {**_SPAN, **_THREAD},
    "calls": {**_SPAN, **_THREAD, **_LINKS},
    "work": {
        **_ON_DEVICE,
        "kind": Column("b", lambda events: [_WORK_KINDS[e.kind] for e in events]),
        "grid": Column("i", lambda events: [bytes(e.args.grid) for e in events], triple, "triples"),
        "block": Column("i", lambda events: [bytes(e.args.block) for e in events], triple, "triples"),
        "registers": Column("i", lambda events: [e.args.registers for e in events]),
        "shared_bytes": Column("q", lambda events: [e.args.shared_memory for e in events]),
        "occupancy": Column("i", lambda events: [e.args.occupancy for e in events]),
        "num_bytes": Column("q", lambda events: [e.args.num_bytes for e in events]),
        "copy_kind": Column("i", lambda events: [(e.kind, e.name, e.args.kind) for e in events], copy_kind),
        "graph_node": Column("q", lambda events: [e.args.graph_node for e in events]),
    },
    "syncs": {
        **_ON_DEVICE,
        "sync_type": Column("i", lambda events: [e.args.sync_kind or e.name for e in events], sync_type),
        "event_id": Column("q", lambda events: [e.args.event_id for e in events]),
    },
    "memory": {
        **_START,
        **_THREAD,
        "device": Column("i", lambda events: [(e.args.device_type, e.args.device_id) for e in events], memory_device),
        "num_bytes": Column("q", lambda events: [whole_number(e.args.memory_bytes, 0) for e in events]),
        "allocated": Column("q", lambda events: [e.args.allocated for e in events]),
        "reserved": Column("q", lambda events: [e.args.reserved for e in events]),
        "address": Column("q", lambda events: [e.args.address for e in events]),
    },
    "flows": {
        **_START,
        **_THREAD,
        "name": _texts(lambda events: [e.id if isinstance(e.id, str) else "" for e in events]),
        "number": Column("q", lambda events: [e.id for e in events]),
        "end": Column("b", lambda events: [_FLOW_ENDS.get(e.ph, -1) for e in events]),
    },
    "collectives": {
        "correlation": Column("q", lambda events: [e.correlation for e in events]),
        "external_id": Column("q", lambda events: [e.external_id for e in events]),
        "called": _texts(lambda events: [e.call for e in events]),
        "dtype": _texts(lambda events: [e.dtype for e in events]),
        "group_name": _texts(lambda events: [e.group_name or e.group_id for e in events]),
        "group_text": _texts(lambda events: [e.group_text for e in events]),
        "group_ranks": _texts(lambda events: [list_text(e.group_ranks) for e in events]),
        "group_size": Column("q", lambda events: [e.group_size for e in events]),
        "in_elements": Column("q", lambda events: [e.in_elements for e in events]),
        "out_elements": Column("q", lambda events: [e.out_elements for e in events]),
        "split": Column("b", lambda events: [len(list_text(e.in_split)) > 2 for e in events]),
        "sequence": Column("q", lambda events: [e.sequence for e in events]),
        "comms_id": Column("q", lambda events: [positive_hash(e.comms_id) for e in events]),
        "source": Column("q", lambda events: [e.source for e in events]),
        "destination": Column("q", lambda events: [e.destination for e in events]),
    },
    "counters": {
        **_START,
        "device": Column("i", lambda events: [device_of(e) for e in events]),
        "metric": Column("i", lambda events: [e.name for e in events], str, "metrics"),
        "value": Column("d", lambda events: [float(e.args.value) for e in events]),
    },
}
"""Table -> its columns. Times are microseconds of the trace's clock. Of work and syncs, ``track`` is the process of the
track if that is a text with a label, else empty; ``number`` of a flow is -1 if it has a name instead."""

_TIMED = {
    Kind.OLD_OP: "old_ops",
    Kind.OP: "ops",
    Kind.ANNOTATION: "annotations",
    Kind.FRAME: "frames",
    Kind.CALL: "calls",
    **dict.fromkeys(_WORK_KINDS, "work"),
    Kind.SYNC: "syncs",
}
"""Kinds whose events have a duration -> their table."""


class Events(msgspec.Struct):
    """All events of a trace, or of a part of it."""

    tables: dict[str, Columns] = {}
    """Table -> name -> column; columns are taken out as they are converted."""
    texts: list[str] = []
    threads: list[ThreadKey] = []
    inputs: list[bytes] = []
    """As ``NO_INPUTS``, which is the first."""
    triples: list[tuple[int, int, int]] = []
    """Grids and blocks."""
    metrics: list[str] = []
    """Names of counters."""
    thread_names: dict[ThreadKey, str] = {}
    """The name that the trace's metadata gives a thread."""
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    """Events that were left out, by reason."""
    categories: Counter[str] = msgspec.field(default_factory=Counter)
    """Categories that we do not know -> events with a duration."""
    other_categories: set[str] = set()
    """Those of events of other types: spans of asynchronous work, samples."""

    def is_empty(self) -> bool:
        """Whether no table of ranges, calls, work or memory has a row."""
        return not any(len(self.tables[name]["start_us"]) for name in (*_TIMED.values(), "memory"))


class Places(dict[Any, int]):
    """Items -> their place in the order of first appearance."""

    def of(self, item: Any) -> int:
        """The place of an item, which is added if it is new."""
        return self.setdefault(item, len(self))


class _GrowingTable:
    """The columns of one table while it is read."""

    def __init__(self, columns: dict[str, Column], store: ColumnStore, memo: Callable[[Column], Any]) -> None:
        self._columns = [(each, store.growing(each.typecode), memo(each)) for each in columns.values()]
        self._names = list(columns)

    def extend(self, events: list[Any]) -> None:
        """Appends events. What should be an integer and is not, or does not fit, becomes -1."""
        for column, growing, memo in self._columns:
            values = column.keys(events)
            if memo is not None:
                values = list(map(memo.__getitem__, values))
            try:
                growing.extend(values)
            except (TypeError, OverflowError):
                limit = 1 << {"b": 7, "i": 31}.get(column.typecode, 63)
                numbers = map(whole_number, values)
                growing.extend([number if -limit <= number < limit else -1 for number in numbers])

    def whole(self) -> Columns:
        """The complete columns."""
        return {name: growing.whole() for name, (_, growing, _) in zip(self._names, self._columns, strict=True)}


class EventTables:
    """Sorts the events of a trace into tables. Feed it with ``add``, then call ``finish``."""

    def __init__(self, store: ColumnStore) -> None:
        self._items: dict[str, Places] = {
            "texts": Places({"": 0}),
            "threads": Places(),
            "inputs": Places({NO_INPUTS: 0}),
            "triples": Places(),
            "metrics": Places(),
        }
        self._memos: dict[tuple[str, Any], Memo] = {}
        self._tables = {name: _GrowingTable(columns, store, self._of_column) for name, columns in COLUMNS.items()}
        self._events = Events()
        self._halves: list[tuple[Kind, Any]] = []
        """Begin and end events in the order of the trace; they wait until all are known."""

    def _of_column(self, column: Column) -> Memo | None:
        """What is known of the keys of a column; columns that read the same share it."""
        if column.read is None:
            return None
        read, items = column.read, self._items.get(column.items)
        function = read if items is None else lambda key: items.of(read(key))
        return self._memos.setdefault((column.items, read), Memo(function))

    @property
    def has_halves(self) -> bool:
        """Whether there are begin or end events, which cannot be joined before all events are read."""
        return bool(self._halves)

    def add(self, events: Sequence[Any]) -> None:
        """Sorts events, as ``EventDecoder`` returns them, into their tables."""
        by_kind: defaultdict[Kind, list[Any]] = defaultdict(list)
        for event in events:
            by_kind[event.kind].append(event)
        first_half = len(self._halves)
        for kind in sorted(by_kind):
            if kind in _TIMED:
                self._add_timed(kind, by_kind[kind])
            else:
                self._add_other(kind, by_kind[kind])
        if len(self._halves) > first_half:
            place = {id(event): number for number, event in enumerate(events)}
            self._halves[first_half:] = sorted(self._halves[first_half:], key=lambda half: place[id(half[1])])

    def finish(self) -> Events:
        """Joins begin and end events, and completes the columns."""
        joined: defaultdict[Kind, list[Any]] = defaultdict(list)
        for kind, event in self._joined_halves():
            joined[kind].append(event)
        for kind, events in joined.items():
            self._add_timed(kind, events)
        self._events.tables = {name: table.whole() for name, table in self._tables.items()}
        for name, places in self._items.items():
            setattr(self._events, name, list(places))
        return self._events

    def _add_timed(self, kind: Kind, events: list[Any]) -> None:
        if [event.ph for event in events].count("X") < len(events):
            self._halves.extend((kind, event) for event in events if event.ph in ("B", "E"))
            events = [event for event in events if event.ph == "X"]
        if events:
            self._tables[_TIMED[kind]].extend(events)

    def _add_other(self, kind: Kind, events: list[Any]) -> None:
        if kind is Kind.FLOW:
            self._tables["flows"].extend(events)
        elif kind is Kind.INSTANT:
            self._add_memory([event for event in events if event.name == "[memory]"])
        elif kind is Kind.COUNTER:  # those of other metrics are ignored, and not counted as skipped
            self._tables["counters"].extend([event for event in events if is_tensor_sample(event)])
        elif kind is Kind.COLLECTIVE:
            self._tables["collectives"].extend(events)
        elif kind is Kind.COUNTER_RANGE:
            self._events.skipped[COUNTER_RANGES] += len(events)
        elif kind is Kind.UNKNOWN:
            self._events.categories.update(event.cat for event in events if event.ph in ("X", "B"))
            self._events.other_categories.update(event.cat for event in events if event.ph not in _KNOWN_PHASES)
            self._halves.extend((kind, event) for event in events if event.ph in ("B", "E"))
        elif kind is Kind.UNNAMED:
            self._add_unnamed(events)

    def _add_memory(self, events: list[Any]) -> None:
        sized = [event for event in events if event.args.memory_bytes is not None]
        if unsized := len(events) - len(sized):
            self._events.skipped[NO_SIZE] += unsized
        self._tables["memory"].extend(sized)

    def _add_unnamed(self, events: list[Any]) -> None:
        memory, ops = [], []
        for event in events:
            if event.name == "[memory]" and event.ph in ("i", "I"):
                memory.append(event)
            elif event.ph == "X" and event.pid == _CPU_TRACK:
                ops.append(event)
            elif event.ph == "X" and event.pid == _GPU_TRACK:
                self._events.skipped[GPU_TIMES] += 1
            elif event.ph == "M":
                if event.name == "thread_name" and isinstance(event.args.name, str):
                    self._events.thread_names[thread_key((event.pid, event.tid))] = event.args.name
            elif event.ph in ("B", "E"):  # an end need not repeat the category
                self._halves.append((Kind.UNNAMED, event))
            elif event.ph not in ("i", "I", "C"):
                self._events.skipped[NO_TYPE] += 1
        self._add_timed(Kind.OLD_OP, ops)
        self._add_memory(memory)

    def _joined_halves(self) -> Iterator[tuple[Kind, Any]]:
        begun: defaultdict[ThreadKey, list[tuple[Kind, Any]]] = defaultdict(list)
        for thread, kind, event in self._halves_by_time():
            if event.ph == "B":
                begun[thread].append((kind, event))
            elif begun[thread]:
                of_begin, begin = begun[thread].pop()
                if of_begin in _TIMED:
                    yield of_begin, msgspec.structs.replace(begin, ph="X", dur=event.ts - begin.ts)
                elif of_begin is not Kind.UNKNOWN:  # counted by its category
                    self._events.skipped[NO_TYPE] += 1
            elif kind is not Kind.UNKNOWN:
                self._events.skipped[NO_PARTNER] += 1
        for kind, _ in chain.from_iterable(begun.values()):
            if kind is not Kind.UNKNOWN:
                self._events.skipped[NO_PARTNER if kind in _TIMED else NO_TYPE] += 1

    def _halves_by_time(self) -> Iterator[tuple[ThreadKey, Kind, Any]]:
        """Begin and end events with their threads, ordered by time; equal times keep the order of the trace.

        An event without a time gets that of the one before on its thread, so that the others find their counterparts.
        """
        latest: dict[ThreadKey, float] = {}
        timed = []
        for kind, event in self._halves:
            thread = thread_key((event.pid, event.tid))
            if not math.isnan(event.ts):
                latest[thread] = event.ts
            timed.append((latest.get(thread, -math.inf), (thread, kind, event)))
        return (half for _, half in sorted(timed, key=itemgetter(0)))
