"""Collects events in tables of columns: 4 or 8 bytes a value, texts numbered at once.

``TABLES`` declares each column once: what it is read from, what that means and how it is stored. The structs that
``args`` are decoded into are made of it, and parts that several processes read are joined by it (``workers``).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.strings import valid_text
from tensorboard_plugin_dlprof.importers.kineto.collectives import list_text, positive_hash
from tensorboard_plugin_dlprof.importers.kineto.counters import device_of, is_tensor_sample
from tensorboard_plugin_dlprof.importers.kineto.events import (
    COUNTER_RANGE,
    DECODE_ERRORS,
    IGNORED,
    NO_TABLES,
    UNKNOWN,
    UNNAMED,
    Event,
    table_of,
)
from tensorboard_plugin_dlprof.importers.kineto.lenient import decode_args
from tensorboard_plugin_dlprof.importers.kineto.numbers import (
    ThreadKey,
    copy_kind,
    label_of,
    memory_device,
    sync_type,
    thread_key,
    track_number,
    triple,
    work_kind,
)
from tensorboard_plugin_dlprof.importers.kineto.times import NO_TIME, Columns, nanoseconds
from tensorboard_plugin_dlprof.importers.memo import Memo
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number
from tensorboard_plugin_dlprof.units import NS_PER_US

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

_TIMES = ("ts", "dur")
_HALVES = ("B", "E")
_INSTANTS = ("i", "I")

_COLLECTIVE = "Collective name"
"""The key that tells ``args`` that describe a collective from others."""

_MAY_DESCRIBE = ("ops", "work")
"""Tables of events that may describe a collective, beside what they are."""

_Scalar = int | float | str | bool | None
"""A value of ``args``. Numbers are sometimes written as text (``"bytes": "616"`` on AMD), or null."""

_JSON = {
    *("Input Dims", "Input type", "Concrete Inputs", "grid", "block", "Process Group Ranks", "In split size"),
}
"""Keys of ``args`` whose values stay JSON text."""

_OLD_KEYS = {
    b'"Input dims"': b'"Input Dims"',
    b'"external id"': b'"External id"',
    b'"Process Group ID"': b'"Process Group Name"',
}
"""Keys of ``args`` in other versions of PyTorch -> those of today, which replace them."""


class Column(NamedTuple):
    """A column of a table."""

    typecode: str
    """As in ``array``."""
    sources: tuple[str, ...]
    """The fields of the event, or keys of its ``args``, that it is read from."""
    read: Callable[[Any], Any] | None = None
    """What they mean, of the value of a single source or the tuple of several; mostly called once for each different
    one. None: an integer that is stored as it is, -1 if it is absent or does not fit."""
    items: str = ""
    """The list of ``Events`` in which the column has the place of what was read; empty if it has that itself."""


def _text(value: object) -> str:
    return "" if value is None else valid_text(str(value))


def _json_text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _integer(key: str, typecode: str = "q") -> Column:
    return Column(typecode, (key,))


def _texts(key: str, read: Callable[[Any], str] = _text) -> Column:
    return Column("i", (key,), _json_text if key in _JSON and read is _text else read, "texts")


_START = {"start_ns": _integer("ts")}
_SPAN = {**_START, "duration_ns": _integer("dur"), "name": _texts("name")}
_THREAD = {"thread": Column("i", ("pid", "tid"), thread_key, "threads")}
_LINKS = {"correlation": _integer("correlation"), "external_id": _integer("External id")}
_OPS = {
    **_SPAN,
    **_THREAD,
    "shapes": _texts("Input Dims"),
    "dtypes": _texts("Input type"),
    "parameters": _texts("Concrete Inputs"),
    "stack": _texts("Call stack"),
    "group": _texts("Process Group Name"),
    "sequence": _integer("Sequence number"),
    "forward_thread": _integer("Fwd thread id"),
}
_ON_DEVICE = {
    **_SPAN,
    **_LINKS,
    "track": _texts("pid", lambda pid: pid if label_of(pid) else ""),
    "device": Column("i", ("device", "pid"), track_number),
    "stream": Column("q", ("stream", "tid"), track_number),
}
TABLES: Final[dict[str, dict[str, Column]]] = {
    "old_ops": _OPS,
    "ops": _OPS,
    "annotations": _OPS,
    "frames": {**_SPAN, **_THREAD},
    "calls": {**_SPAN, **_THREAD, **_LINKS},
    "work": {
        **_ON_DEVICE,
        "kind": Column("b", ("cat",), work_kind),
        "grid": Column("i", ("grid",), triple, "triples"),
        "block": Column("i", ("block",), triple, "triples"),
        "registers": _integer("registers per thread", "i"),
        "dynamic_shared_bytes": _integer("shared memory"),
        "occupancy_percent": _integer("est. achieved occupancy %", "i"),
        "num_bytes": _integer("bytes"),
        "copy_kind": Column("i", ("cat", "name", "kind"), copy_kind),
        "graph_node": _integer("graph node id"),
    },
    "syncs": {
        **_ON_DEVICE,
        "sync_type": Column("i", ("cuda_sync_kind", "name"), sync_type),
        "event_id": _integer("wait_on_cuda_event_id"),
    },
    "memory": {
        **_START,
        **_THREAD,
        "device": Column("i", ("Device Type", "Device Id"), memory_device),
        "num_bytes": Column("q", ("Bytes",), lambda size: whole_number(size, 0)),
        "allocated_bytes": _integer("Total Allocated"),
        "reserved_bytes": _integer("Total Reserved"),
        "address": _integer("Addr"),
    },
    "flows": {
        **_START,
        **_THREAD,
        "name": _texts("id", lambda number: number if isinstance(number, str) else ""),
        "number": _integer("id"),
        "end": Column("b", ("ph",), lambda phase: _FLOW_ENDS.get(phase, -1)),
    },
    "collectives": {
        **_LINKS,
        "call": _texts("Collective name"),
        "dtype": _texts("dtype"),
        "group_name": _texts("Process Group Name"),
        "group_text": _texts("Process Group Description"),
        "group_ranks": _texts("Process Group Ranks", list_text),
        "group_size": _integer("Group size"),
        "in_elements": _integer("In msg nelems"),
        "out_elements": _integer("Out msg nelems"),
        "split": Column("b", ("In split size",), lambda sizes: len(list_text(sizes)) > len("[]")),
        "sequence": _integer("Seq"),
        "comms_id": Column("q", ("Comms Id",), positive_hash),
        "source": _integer("Src Rank", "i"),
        "destination": _integer("Dst Rank", "i"),
    },
    "counters": {
        **_START,
        "device": Column("i", ("pid",), device_of),
        "metric": _texts("name"),
        "value": _integer("", "d"),
    },
}
"""Table -> its columns. Times are nanoseconds of the trace's clock. Of work and syncs, ``track`` is the process of the
track if that is a text with a label, else empty; ``number`` of a flow is -1 if it has a name instead."""

_WANTED: Final[dict[str, Callable[[Event, Any], bool]]] = {
    "memory": lambda event, args: args.Bytes is not None,
    "counters": lambda event, args: is_tensor_sample(event, args.value),  # others are ignored, not counted as skipped
}
"""Table -> whether it takes an event."""

TIMED: Final = ("old_ops", "ops", "annotations", "frames", "calls", "work", "syncs")
"""Tables of events with a duration."""


class _Named(msgspec.Struct):
    """``args`` of metadata: the name of a thread."""

    name: _Scalar = ""


class Events(msgspec.Struct):
    """All events of a trace, or of a part of it."""

    tables: dict[str, Columns] = {}
    """Table -> name -> column; columns are taken out as they are converted."""
    texts: list[str] = []
    threads: list[ThreadKey] = []
    triples: list[tuple[int, int, int]] = []
    """Grids and blocks."""
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
        return not any(len(self.tables[name]["start_ns"]) for name in (*TIMED, "memory"))


class Places(dict[Any, int]):
    """Items -> their place in the order of first appearance."""

    def of(self, item: Any) -> int:
        """The place of an item, which is added if it is new."""
        return self.setdefault(item, len(self))


class _GrowingTable:
    """The columns of one table while it is read."""

    def __init__(self, name: str, store: ColumnStore, memo: Callable[[Column], Memo | None]) -> None:
        columns = TABLES[name]
        self._columns = {
            name: (column, list(map(_getter, column.sources)), memo(column), store.growing(column.typecode))
            for name, column in columns.items()
        }
        self._kind = _struct_of(columns.values(), (_COLLECTIVE,) if name in _MAY_DESCRIBE else ())
        self._decode = msgspec.json.Decoder(list[self._kind], strict=False).decode  # type: ignore[name-defined]

    def args_of(self, events: Sequence[Event]) -> list[Any]:
        """The ``args`` of events; an empty list if the table needs none."""
        if not self._kind.__struct_fields__:
            return []
        texts = [event.args for event in events]
        try:
            return self._decode(_with_keys_of_today(b"[" + b",".join(texts) + b"]"))
        except DECODE_ERRORS:
            return [decode_args(_with_keys_of_today(bytes(text)), self._kind) for text in texts]

    def extend(self, events: Sequence[Event], args: Sequence[Any]) -> None:
        """Appends events. What should be an integer and is not, or does not fit, becomes -1."""
        for column, getters, memo, growing in self._columns.values():
            values, *others = [values_of(events, args) for values_of in getters]
            if column.sources[0] in _TIMES:
                growing.append(nanoseconds(values))
                continue
            if memo is not None:
                values = list(map(memo.__getitem__, zip(values, *others, strict=True) if others else values))
            try:
                growing.extend(values)
            except (TypeError, OverflowError):
                limit = 1 << {"b": 7, "i": 31}.get(column.typecode, 63)
                numbers = map(whole_number, values)
                growing.extend([number if -limit <= number < limit else -1 for number in numbers])

    def whole(self) -> Columns:
        """The complete columns."""
        return {name: growing.whole() for name, (*_, growing) in self._columns.items()}


def _struct_of(columns: Iterable[Column], more: Iterable[str]) -> type[msgspec.Struct]:
    """The fields of ``args`` that columns need, and more. Integers that are absent are -1, other values None."""
    fields: dict[str, Any] = {key: (_attribute(key), _Scalar, msgspec.field(name=key, default=None)) for key in more}
    for column in columns:
        for key in column.sources:
            absent = -1 if column.read is None else None
            kind, default = (msgspec.Raw, msgspec.Raw()) if key in _JSON else (_Scalar, absent)
            if key not in Event.__struct_fields__:
                fields[key] = (_attribute(key), kind, msgspec.field(name=key, default=default))
    return msgspec.defstruct("Args", fields.values(), frozen=True, gc=False)


def _attribute(key: str) -> str:
    return re.sub(r"\W", "_", key) or "value"


def _getter(source: str) -> Callable[[Sequence[Event], Sequence[Any]], list[Any]]:
    """What finds a field in events, or in their ``args``."""
    if source in Event.__struct_fields__:
        return lambda events, args: list(map(attrgetter(source), events))
    field = attrgetter(_attribute(source))
    if source in _JSON:
        return lambda events, args: list(map(bytes, map(field, args)))
    return lambda events, args: list(map(field, args))


def _with_keys_of_today(text: bytes) -> bytes:
    for old, today in _OLD_KEYS.items():
        text = text.replace(old, today)
    return text


class EventTables:
    """Sorts the events of a trace into tables. Feed it with ``add``, then call ``finish``."""

    def __init__(self, store: ColumnStore) -> None:
        self._items = {"texts": Places({"": 0}), "threads": Places(), "triples": Places()}
        self._memos: dict[tuple[str, Any], Memo] = {}
        self._tables = {name: _GrowingTable(name, store, self._of_column) for name in TABLES}
        self._table_of = Memo(table_of)
        self._events = Events()
        self._halves: list[Event] = []
        """Begin and end events in the order of the trace; they wait until all are known."""

    def _of_column(self, column: Column) -> Memo | None:
        """What is known of the values of a column; columns that read the same share it."""
        if column.read is None:
            return None
        read, items = column.read, self._items.get(column.items)
        function = read if items is None else lambda value: items.of(read(value))
        return self._memos.setdefault((column.items, read), Memo(function))

    @property
    def has_halves(self) -> bool:
        """Whether there are begin or end events, which cannot be joined before all events are read."""
        return bool(self._halves)

    def add(self, events: Sequence[Event]) -> None:
        """Sorts events into their tables, in which they keep their order."""
        if not {event.ph for event in events}.isdisjoint(_HALVES):
            self._halves += [event for event in events if event.ph in _HALVES]
            events = [event for event in events if event.ph not in _HALVES]
        groups: dict[str, list[Event]] = {name: [] for name in (*TABLES, *NO_TABLES)}
        table_of = self._table_of
        for event in events:
            groups[table_of[event.cat]].append(event)
        for name, group in groups.items():
            if group:
                self._add(name, group)

    def finish(self) -> Events:
        """Joins begin and end events, and completes the columns."""
        self.add(list(self._joined_halves()))
        self._events.tables = {name: table.whole() for name, table in self._tables.items()}
        for name, places in self._items.items():
            setattr(self._events, name, list(places))
        return self._events

    def _add(self, name: str, events: Sequence[Event]) -> None:
        """Adds events to a table, or counts those that none has."""
        if name == UNNAMED:
            self._add_unnamed(events)
        elif name == UNKNOWN:
            self._events.categories.update(event.cat for event in events if event.ph == "X")
            self._events.other_categories.update(event.cat for event in events if event.ph not in _KNOWN_PHASES)
        elif name == COUNTER_RANGE:
            self._events.skipped[COUNTER_RANGES] += len(events)
        elif name in TIMED:
            self._extend(name, [event for event in events if event.ph == "X"])
        elif name == "memory":
            self._extend(name, [event for event in events if event.name == "[memory]"])
        elif name in self._tables:
            self._extend(name, events)

    def _extend(self, name: str, events: Sequence[Event]) -> None:
        args = self._tables[name].args_of(events)
        if wanted := _WANTED.get(name):
            are_wanted = list(map(wanted, events, args))
            if name == "memory":
                self._events.skipped[NO_SIZE] += are_wanted.count(False)
            events, args = list(compress(events, are_wanted)), list(compress(args, are_wanted))
        self._tables[name].extend(events, args)
        if name in _MAY_DESCRIBE:
            describe = (each.Collective_name is not None for each in args)
            self._extend("collectives", list(compress(events, describe)))

    def _add_unnamed(self, events: Sequence[Event]) -> None:
        memory, ops = [], []
        for event in events:
            if event.name == "[memory]" and event.ph in _INSTANTS:
                memory.append(event)
            elif event.ph == "X" and event.pid == _CPU_TRACK:
                ops.append(event)
            elif event.ph == "X" and event.pid == _GPU_TRACK:
                self._events.skipped[GPU_TIMES] += 1
            elif event.ph == "M":
                if event.name == "thread_name" and isinstance(name := decode_args(event.args, _Named).name, str):
                    self._events.thread_names[thread_key((event.pid, event.tid))] = name
            elif event.ph not in (*_INSTANTS, "C"):
                self._events.skipped[NO_TYPE] += 1
        self._extend("old_ops", ops)
        self._extend("memory", memory)

    def _joined_halves(self) -> Iterator[Event]:
        """A complete event for each begin and its end, and for begins without an end of categories that are not read,
        which are counted as complete ones are."""
        begun: defaultdict[ThreadKey, list[tuple[int, Event]]] = defaultdict(list)
        for time_ns, thread, event in self._halves_by_time():
            if event.ph == "B":
                begun[thread].append((time_ns, event))
            elif begun[thread]:
                begin_ns, begin = begun[thread].pop()
                duration_us = math.nan if event.ts != event.ts else (time_ns - begin_ns) / NS_PER_US
                yield msgspec.structs.replace(begin, ph="X", dur=duration_us)
            elif self._table_of[event.cat] not in (UNKNOWN, IGNORED):
                self._events.skipped[NO_PARTNER] += 1
        for _, begin in chain.from_iterable(begun.values()):
            if self._table_of[begin.cat] in TIMED:
                self._events.skipped[NO_PARTNER] += 1
            else:
                yield msgspec.structs.replace(begin, ph="X")

    def _halves_by_time(self) -> list[tuple[int, ThreadKey, Event]]:
        """Begin and end events with their times (ns) and threads, by time; equal times keep the order of the trace.

        An event without a time gets that of the one before on its thread, so that the others find their counterparts.
        """
        latest: dict[ThreadKey, int] = {}
        timed = []
        for event, time_ns in zip(
            self._halves, nanoseconds([event.ts for event in self._halves]).tolist(), strict=True
        ):
            thread = thread_key((event.pid, event.tid))
            if time_ns != NO_TIME:
                latest[thread] = time_ns
            timed.append((latest.get(thread, NO_TIME), thread, event))
        return sorted(timed, key=itemgetter(0))
