"""Sorts decoded events into tables: 4 or 8 bytes a value, texts numbered at once."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import astuple

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import Int32s
from tensorboard_plugin_dlprof.importers.kineto.counters import is_tensor_sample
from tensorboard_plugin_dlprof.importers.kineto.events import BY_NAME, DECODE_ERRORS, IGNORED, UNKNOWN, Event, table_of
from tensorboard_plugin_dlprof.importers.kineto.lenient import decode_args
from tensorboard_plugin_dlprof.importers.kineto.numbers import ThreadKey, thread_key
from tensorboard_plugin_dlprof.importers.kineto.tables import ITEMS, JSON, OUT_OF_MEMORY, TABLES, TIMED, Column, Events
from tensorboard_plugin_dlprof.importers.kineto.times import NO_TIME, Columns, nanoseconds
from tensorboard_plugin_dlprof.importers.memo import Memo
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number
from tensorboard_plugin_dlprof.units import NS_PER_US

NO_PARTNER = "begin or end events without their counterpart"
NO_TYPE = "events without a category"
NO_SIZE = "memory events without a size"
GPU_TIMES = "GPU times of ops, which PyTorch recorded in place of kernels until 2020"

_OLD_TRACKS: Final[dict[int | str, str]] = {"CPU functions": "old_ops", "CUDA functions": GPU_TIMES}
"""Process names in traces of ``torch.autograd.profiler`` of 2020, whose events have no category."""

_TIMES = ("ts", "dur")
_HALVES = ("B", "E")
_HALF = "half"
_THREAD_NAME = "thread_name"

_COLLECTIVE = "Collective name"
"""The key that tells ``args`` that describe a collective from others."""

_MAY_DESCRIBE = ("ops", "work")
"""Tables of events that may describe a collective, beside what they are."""

_Scalar = int | float | str | bool | None
"""A value of ``args``. Numbers are sometimes written as text (``"bytes": "616"`` on AMD), or null."""

_OLD_KEYS = {"Input dims": "Input Dims", "external id": "External id", "Process Group ID": "Process Group Name"}
"""Keys of ``args`` in other versions of PyTorch -> those of today, which replace them."""

_WANTED: Final[dict[str, Callable[[Event, Any], bool]]] = {
    "memory": lambda event, args: args.Bytes is not None,
    "counters": lambda event, args: is_tensor_sample(event, args.value),  # others are ignored, not counted as skipped
}
"""Table -> whether it takes an event."""


class _Named(msgspec.Struct):
    """``args`` of metadata: the name of a thread."""

    name: _Scalar = ""


class _GrowingTable:
    """The columns of one table while it is read."""

    def __init__(self, name: str, store: ColumnStore, memo: Callable[[Column], Memo | None]) -> None:
        columns = TABLES[name]
        self._columns = {
            name: (column, list(map(_attribute, column.sources)), memo(column), store.growing(column.typecode))
            for name, column in columns.items()
        }
        self._kind = _struct_of(columns.values(), (_COLLECTIVE,) if name in _MAY_DESCRIBE else ())
        self._decode = msgspec.json.Decoder(self._kind, strict=False).decode_lines
        wanted = {field.encode_name for field in msgspec.structs.fields(self._kind)}
        self._old_keys = [(f'"{old}"'.encode(), f'"{key}"'.encode()) for old, key in _OLD_KEYS.items() if key in wanted]

    def args_of(self, events: Sequence[Event]) -> list[Any]:
        """The ``args`` of events; an empty list if the table needs none."""
        if not self._kind.__struct_fields__:
            return []
        texts = [event.args for event in events]
        try:
            return self._decode(self._with_keys_of_today(b"\n".join(texts)))
        except DECODE_ERRORS:
            return [decode_args(self._with_keys_of_today(bytes(text)), self._kind) for text in texts]

    def _with_keys_of_today(self, text: bytes) -> bytes:
        for old, today in self._old_keys:
            text = text.replace(old, today)
        return text

    def extend(self, events: Sequence[Event], args: Sequence[Any]) -> None:
        """Appends events. What should be an integer and is not, or does not fit, becomes -1."""
        if not events:
            return
        fields = _by_field(events) | _by_field(args)
        for column, sources, memo, growing in self._columns.values():
            first, *others = (fields[source] for source in sources)
            if column.sources[0] in _TIMES:
                growing.append(nanoseconds(first))
                continue
            if memo is None:
                values = list(first)
            else:
                values = list(map(memo.__getitem__, zip(first, *others, strict=True) if others else first))
            try:
                growing.extend(values)
            except (TypeError, OverflowError):
                limit = 1 << {"b": 7, "i": 31}.get(column.typecode, 63)
                numbers = map(whole_number, values)
                growing.extend([number if -limit <= number < limit else -1 for number in numbers])

    def append(self, columns: Iterator[npt.NDArray[Any]], numbers: Mapping[str, Int32s]) -> None:
        """Appends whole columns. Where they hold places in a list of items, ``numbers`` has those here."""
        for (column, *_, growing), values in zip(self._columns.values(), columns, strict=False):
            growing.append(numbers[column.items][values] if column.items else values)

    def whole(self) -> Columns:
        """The complete columns."""
        return {name: growing.whole() for name, (*_, growing) in self._columns.items()}


def _struct_of(columns: Iterable[Column], more: Iterable[str]) -> type[msgspec.Struct]:
    """The fields of ``args`` that columns need, and more. Integers that are absent are -1, other values None."""
    fields: dict[str, Any] = {key: (_attribute(key), _Scalar, msgspec.field(name=key, default=None)) for key in more}
    for column in columns:
        for key in column.sources:
            absent = -1 if column.read is None else None
            kind, default = (msgspec.Raw, msgspec.Raw()) if key in JSON else (_Scalar, absent)
            if key not in Event.__struct_fields__:
                fields[key] = (_attribute(key), kind, msgspec.field(name=key, default=default))
    return msgspec.defstruct("Args", fields.values(), frozen=True, gc=False)


def _attribute(key: str) -> str:
    return re.sub(r"\W", "_", key) or "value"


_JSON_FIELDS = frozenset(map(_attribute, JSON))


def _by_field(structs: Sequence[msgspec.Struct]) -> dict[str, Sequence[Any]]:
    """The values of each field of structs of one type; of those that stay JSON text, which has no NUL, the bytes."""
    names = structs[0].__struct_fields__ if structs else ()
    columns = zip(names, zip(*map(astuple, structs), strict=True), strict=True)
    return {name: b"\0".join(values).split(b"\0") if name in _JSON_FIELDS else values for name, values in columns}


def _group_of(category_and_phase: tuple[str, str]) -> str:
    """Where events belong: ``_HALF``, or as ``table_of``."""
    category, phase = category_and_phase
    if phase in _HALVES:
        return _HALF
    table = table_of(category)
    is_wrong = phase == "M" if table == UNKNOWN else phase != "X" and table in TIMED
    return IGNORED if is_wrong else table


def _table_by_name(event: Event) -> str:
    """The table of an event whose category does not tell; or ``_THREAD_NAME``, ``IGNORED``, or why it is left out."""
    if event.name in ("[memory]", OUT_OF_MEMORY) and (event.cat or event.ph in ("i", "I")):
        return "memory"
    if event.cat or event.ph in ("i", "I", "C"):
        return IGNORED
    if event.ph == "M":
        return _THREAD_NAME if event.name == "thread_name" else IGNORED
    return _OLD_TRACKS.get(event.pid, NO_TYPE) if event.ph == "X" else NO_TYPE


class EventTables:
    """Sorts the events of a trace into tables. Feed it with ``add``, then call ``finish``."""

    def __init__(self, store: ColumnStore) -> None:
        self._items: dict[str, dict[Any, int]] = {name: {} for name in ITEMS}
        """Items -> their place in the order of first appearance."""
        self._items["texts"][""] = 0
        self._memos: dict[tuple[str, Any], Memo] = {}
        self._tables = {name: _GrowingTable(name, store, self._of_column) for name in TABLES}
        batch: dict[str, list[Event]] = {name: [] for name in TABLES}
        self._batch = batch
        """The events of a batch by where they belong (``_group_of``)."""
        # Referring to itself, this would keep all columns in memory until garbage is collected.
        self._list_of = Memo(lambda category_and_phase: batch.setdefault(_group_of(category_and_phase), []))
        self._events = Events()
        self._halves: list[Event] = []
        """Begin and end events in the order of the trace; they wait until all are known."""

    def _of_column(self, column: Column) -> Memo | None:
        """What is known of the values of a column; columns that read the same share it."""
        if column.read is None:
            return None
        read, items = column.read, self._items.get(column.items)
        function = read if items is None else lambda value: items.setdefault(read(value), len(items))
        return self._memos.setdefault((column.items, read), Memo(function))

    @property
    def has_halves(self) -> bool:
        """Whether there are begin or end events, which cannot be joined before all events are read."""
        return bool(self._halves)

    def add(self, events: Sequence[Event]) -> None:
        """Sorts events into their tables, in which they keep their order."""
        for event in events:
            self._list_of[event.cat, event.ph].append(event)
        for name, group in self._batch.items():
            if group:
                self._add(name, group)
                group.clear()

    def append(self, part: Events, columns: Iterator[npt.NDArray[Any]]) -> None:
        """Adds the events of the next part of the trace, which has no begin and end events.

        Args:
            part: what is told besides the columns; its items are numbered here as they first appear.
            columns: those of ``TABLES``.
        """
        numbers = {
            name: np.array([places.setdefault(item, len(places)) for item in getattr(part, name)], np.int32)
            for name, places in self._items.items()
        }
        for table in self._tables.values():
            table.append(columns, numbers)
        events = self._events
        events.thread_names |= part.thread_names
        events.skipped.update(part.skipped)
        events.categories.update(part.categories)

    def finish(self) -> Events:
        """Joins begin and end events, and completes the columns."""
        self.add(list(self._joined_halves()))
        self._events.tables = {name: table.whole() for name, table in self._tables.items()}
        for name, places in self._items.items():
            setattr(self._events, name, list(places))
        return self._events

    def _add(self, name: str, events: Sequence[Event]) -> None:
        """Adds events to a table, or counts those that none has."""
        if name in TABLES:
            self._extend(name, events)
        elif name == BY_NAME:
            groups: defaultdict[str, list[Event]] = defaultdict(list)
            for event in events:
                groups[_table_by_name(event)].append(event)
            for table, group in groups.items():
                self._add(table, group)
        elif name == _HALF:
            self._halves += events
        elif name == _THREAD_NAME:
            for event in events:
                if isinstance(text := decode_args(event.args, _Named).name, str):
                    self._events.thread_names[thread_key((event.pid, event.tid))] = text
        elif name == UNKNOWN:
            for event in events:
                self._events.categories[event.cat] += event.ph == "X"
        elif name != IGNORED:
            self._events.skipped[name] += len(events)

    def _extend(self, name: str, events: Sequence[Event]) -> None:
        args = self._tables[name].args_of(events)
        if wanted := _WANTED.get(name):
            are_wanted = list(map(wanted, events, args))
            if name == "memory":
                self._events.skipped[NO_SIZE] += are_wanted.count(False)
            events, args = list(compress(events, are_wanted)), list(compress(args, are_wanted))
        self._tables[name].extend(events, args)
        if name in _MAY_DESCRIBE:
            describing = [event for event, each in zip(events, args, strict=True) if each.Collective_name is not None]
            self._extend("collectives", describing)

    def _joined_halves(self) -> Iterator[Event]:
        """A complete event for each begin and its end, and for begins without an end of categories that are not read,
        which are counted as complete ones are. Those of a thread are in the order of time, as the format demands."""
        begun: defaultdict[ThreadKey, list[tuple[int, Event]]] = defaultdict(list)
        times_ns = nanoseconds([event.ts for event in self._halves]).tolist()
        for event, time_ns in zip(self._halves, times_ns, strict=True):
            open_ranges = begun[thread_key((event.pid, event.tid))]
            if event.ph == "B":
                open_ranges.append((time_ns, event))
            elif open_ranges:
                begin_ns, begin = open_ranges.pop()
                duration_us = math.nan if time_ns == NO_TIME else (time_ns - begin_ns) / NS_PER_US
                yield msgspec.structs.replace(begin, ph="X", dur=duration_us)
            elif _group_of((event.cat, "X")) not in (UNKNOWN, IGNORED):
                self._events.skipped[NO_PARTNER] += 1
        for _, begin in chain.from_iterable(begun.values()):
            if _group_of((begin.cat, "X")) in TIMED:
                self._events.skipped[NO_PARTNER] += 1
            else:
                yield msgspec.structs.replace(begin, ph="X")
