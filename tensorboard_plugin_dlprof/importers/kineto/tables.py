"""Collects events by kind in columns: 4 or 8 bytes a value, texts interned at once."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.columns.store import ColumnStore, GrowingColumn
from tensorboard_plugin_dlprof.events.kinds import WorkKind
from tensorboard_plugin_dlprof.events.strings import Strings, valid_text
from tensorboard_plugin_dlprof.importers.kineto.collectives import list_text, positive_hash
from tensorboard_plugin_dlprof.importers.kineto.counters import device_of, is_tensor_sample
from tensorboard_plugin_dlprof.importers.kineto.events import NO_TEXT, Kind, kind_of_category
from tensorboard_plugin_dlprof.importers.kineto.ids import (
    NO_INPUTS,
    Memo,
    ThreadKey,
    copy_kind,
    label_of,
    memory_device,
    numbered_in,
    sync_type,
    thread_key,
    track_number,
    triple,
)
from tensorboard_plugin_dlprof.importers.kineto.times import Columns
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

NO_PARTNER = "begin or end events without their counterpart"
NO_TYPE = "events without a category"
NO_SIZE = "memory events without a size"
GPU_TIMES = "GPU times of ops, which PyTorch recorded in place of kernels until 2020"
COUNTER_RANGES = (
    "counters of kernels, which PyTorch recorded in place of their times: give this file as --counters beside a "
    "profile without them"
)
_KNOWN_PHASES = ("X", "B", "E", "M")
"""Ranges, begin and end of ranges, and metadata."""

_CPU_TRACK, _GPU_TRACK = "CPU functions", "CUDA functions"
"""Process names in traces of ``torch.autograd.profiler`` of 2020, whose events have no category."""

_FLOW_ENDS = {"s": 0, "f": 1}
"""Phase of an end of an arrow -> which one it is; -1 for a step between, which PyTorch does not write."""

_SPAN = {"start_us": "d", "duration_us": "d", "name": "i"}
_HOST = _SPAN | {"thread": "i"}
_OP = _HOST | {"inputs": "i", "stack": "i", "group": "i", "sequence": "q", "forward_thread": "q"}
_DEVICE = _SPAN | {"track": "i", "device": "i", "stream": "q", "correlation": "q", "external_id": "q"}
COLUMNS: dict[str, dict[str, str]] = {
    "old_ops": _OP,
    "ops": _OP,
    "annotations": _OP,
    "frames": _HOST,
    "calls": _HOST | {"correlation": "q", "external_id": "q"},
    "work": _DEVICE
    | {"kind": "b", "grid": "i", "block": "i", "registers": "i", "shared_bytes": "q", "occupancy": "i"}
    | {"num_bytes": "q", "copy_kind": "i", "graph_node": "q", "op_id": "q"},
    "syncs": _DEVICE | {"sync_type": "i", "event_id": "q"},
    "memory": {
        **{"start_us": "d", "thread": "i", "device": "i"},
        **dict.fromkeys(("num_bytes", "allocated", "reserved", "address"), "q"),
    },
    "flows": {"start_us": "d", "thread": "i", "name": "i", "number": "q", "end": "b"},
    "collectives": {
        **dict.fromkeys(("correlation", "external_id", "stream", "group_size", "in_elements", "out_elements"), "q"),
        **dict.fromkeys(("sequence", "comms_id", "source", "destination"), "q"),
        **dict.fromkeys(("called", "dtype", "group_name", "group_text", "group_ranks"), "i"),
        "split": "b",
    },
    "counters": {"start_us": "d", "device": "i", "metric": "i", "value": "d"},
}
"""Table -> its columns and their types as in ``array``. Times are microseconds of the trace's clock. Of work and syncs,
``track`` is the process of the track if that is a text with a label, else empty; ``number`` of a flow is -1 if it has a
name instead. ``op_id`` is the op that launched the work. ``name``, ``stack``, ``group``, ``track`` and others are
numbers of texts, ``thread``, ``inputs``, ``metric``,
``grid`` and ``block`` those of other items of ``Events``."""

_RANGES = {Kind.OLD_OP: "old_ops", Kind.OP: "ops", Kind.ANNOTATION: "annotations", Kind.FRAME: "frames"}
_WORK = {Kind.KERNEL: WorkKind.KERNEL, Kind.MEMCPY: WorkKind.MEMCPY, Kind.MEMSET: WorkKind.MEMSET}
_TIMED = {*_RANGES, *_WORK, Kind.CALL, Kind.SYNC}
"""Kinds whose events have a duration."""


class Events(msgspec.Struct):
    """All events of a trace, or of a part of it."""

    tables: dict[str, Columns]
    """Table -> name -> column; columns are taken out as they are converted."""
    texts: list[str]
    threads: list[ThreadKey]
    inputs: list[bytes]
    """As ``NO_INPUTS``, which is the first."""
    triples: list[tuple[int, int, int]]
    """Grids and blocks."""
    metrics: list[str]
    """Names of counters."""
    thread_names: dict[ThreadKey, str]
    """The name that the trace's metadata gives a thread."""
    skipped: Counter[str]
    """Events that were left out, by reason."""
    categories: Counter[str]
    """Categories that we do not know -> events with a duration."""
    other_categories: set[str]
    """Those of events of other types: spans of asynchronous work, samples."""

    def is_empty(self) -> bool:
        """Whether no table of ranges, calls, work or memory has a row."""
        return not any(len(self.tables[name]["start_us"]) for name in list(COLUMNS)[:-3])


class Table:
    """The columns of one kind of events."""

    def __init__(self, store: ColumnStore, typecodes: dict[str, str]) -> None:
        self._columns: dict[str, GrowingColumn] = {name: store.growing(code) for name, code in typecodes.items()}
        self._limits = {
            name: 1 << (7 if code == "b" else 31 if code == "i" else 63) for name, code in typecodes.items()
        }

    def extend(self, **values: list[Any]) -> None:
        """Appends a list of values to each column. What is no integer, or does not fit, becomes -1."""
        for name, column in values.items():
            try:
                self._columns[name].extend(column)
            except (TypeError, OverflowError):
                limit = self._limits[name]
                numbers = map(whole_number, column)
                self._columns[name].extend([number if -limit <= number < limit else -1 for number in numbers])

    def whole(self) -> Columns:
        """The complete columns."""
        return {name: column.whole() for name, column in self._columns.items()}


class EventTables:
    """Sorts the events of a trace into tables. Feed it with ``add``, then call ``finish``."""

    def __init__(self, store: ColumnStore) -> None:
        self._tables = {name: Table(store, typecodes) for name, typecodes in COLUMNS.items()}
        self._strings = Strings()
        self._threads: dict[ThreadKey, int] = {}
        self._inputs: dict[bytes, int] = {NO_INPUTS: 0}
        self._triples: dict[tuple[int, int, int], int] = {}
        self._metrics: dict[str, int] = {}
        number_thread = numbered_in(self._threads)
        number_triple = numbered_in(self._triples)
        self._text_ids = Memo(lambda text: self._strings.intern("" if text is None else valid_text(str(text))))
        self._thread_ids = Memo(lambda pid_and_tid: number_thread(thread_key(*pid_and_tid)))
        self._input_ids = Memo(numbered_in(self._inputs))
        self._triple_ids = Memo(lambda text: number_triple(triple(text)))
        self._metric_ids = Memo(numbered_in(self._metrics))
        self._memory_devices = Memo(memory_device)
        self._kinds = Memo(kind_of_category)
        self._thread_names: dict[ThreadKey, str] = {}
        self._skipped: Counter[str] = Counter()
        self._categories: Counter[str] = Counter()
        self._other_categories: set[str] = set()
        self._halves: list[tuple[Kind, Any]] = []
        """Begin and end events in the order of the trace; rare, so they wait until all are known."""
        self._others: dict[Kind, Callable[[list[Any]], None]] = {
            Kind.IGNORED: lambda events: None,
            Kind.FLOW: self._add_flows,
            Kind.INSTANT: lambda events: self._add_memory([event for event in events if event.name == "[memory]"]),
            Kind.UNNAMED: self._add_unnamed,
            Kind.COUNTER: self._add_counters,
            Kind.COUNTER_RANGE: lambda events: self._skipped.update({COUNTER_RANGES: len(events)}),
            Kind.UNKNOWN: self._add_unknown,
            Kind.COLLECTIVE: self._add_collectives,
        }

    @property
    def has_halves(self) -> bool:
        """Whether there are begin or end events, which cannot be joined before all events are read."""
        return bool(self._halves)

    def add(self, events: Sequence[Any]) -> None:
        """Sorts events, as ``EventDecoder`` returns them, into their tables."""
        first_half = len(self._halves)
        for kind, group in self._by_kind(events):
            if kind in _TIMED:
                self._add_timed(kind, group)
            else:
                self._others[kind](group)
        if len(self._halves) > first_half:
            place = {id(event): number for number, event in enumerate(events)}
            self._halves[first_half:] = sorted(self._halves[first_half:], key=lambda half: place[id(half[1])])

    def finish(self) -> Events:
        """Joins begin and end events, and completes the columns."""
        joined: defaultdict[tuple[Kind, type], list[Any]] = defaultdict(list)
        for kind, event in self._joined_halves():
            joined[kind, type(event)].append(event)
        for (kind, _), events in joined.items():
            self._add_timed(kind, events)
        return Events(
            tables={name: table.whole() for name, table in self._tables.items()},
            texts=self._strings.texts(),
            threads=list(self._threads),
            inputs=list(self._inputs),
            triples=list(self._triples),
            metrics=list(self._metrics),
            thread_names=self._thread_names,
            skipped=self._skipped,
            categories=self._categories,
            other_categories=self._other_categories,
        )

    def _by_kind(self, events: Sequence[Any]) -> Iterator[tuple[Kind, list[Any]]]:
        """Events of one class and one kind, in the order of kinds, so that one of a range of bytes sorts as another."""
        by_class: defaultdict[type, list[Any]] = defaultdict(list)
        for event in events:
            by_class[type(event)].append(event)
        groups: list[tuple[Kind, list[Any]]] = []
        for event_class, group in by_class.items():
            kind = getattr(event_class, "kind", None)
            if kind is not None:
                groups.append((kind, group))
                continue
            by_kind: defaultdict[Kind, list[Any]] = defaultdict(list)
            for event in group:
                by_kind[self._kinds[event.cat]].append(event)
            groups += by_kind.items()
        return iter(sorted(groups, key=lambda group: group[0]))

    def _add_timed(self, kind: Kind, events: list[Any]) -> None:
        if [event.ph for event in events].count("X") < len(events):
            self._halves.extend((kind, event) for event in events if event.ph in ("B", "E"))
            events = [event for event in events if event.ph == "X"]
        if not events:
            return
        if kind in _WORK:
            self._add_work(_WORK[kind], events)
        elif kind is Kind.SYNC:
            self._add_syncs(events)
        elif kind is Kind.CALL:
            self._tables["calls"].extend(**self._host(events), **_correlations(events))
        elif kind is Kind.FRAME:
            self._tables["frames"].extend(**self._host(events))
        else:
            self._add_ops(self._tables[_RANGES[kind]], events)

    def _span(self, events: list[Any]) -> dict[str, list[Any]]:
        return {
            "start_us": [event.ts for event in events],
            "duration_us": [event.dur for event in events],
            "name": self._text_ids.of([event.name for event in events]),
        }

    def _host(self, events: list[Any]) -> dict[str, list[Any]]:
        return {**self._span(events), "thread": self._thread_ids.of([(event.pid, event.tid) for event in events])}

    def _add_ops(self, table: Table, events: list[Any]) -> None:
        args = [event.args for event in events]
        inputs = [
            b"\0".join((each.input_dims, each.input_type, each.concrete_inputs))
            if each.input_dims_2020 is NO_TEXT
            else b"\0".join((each.input_dims_2020, each.input_type, each.concrete_inputs))
            for each in args
        ]
        table.extend(
            **self._host(events),
            inputs=self._input_ids.of(inputs),
            stack=self._text_ids.of([each.call_stack for each in args]),
            group=self._text_ids.of([each.group_name or each.group_id for each in args]),
            sequence=[each.sequence for each in args],
            forward_thread=[each.forward_thread for each in args],
        )

    def _device(self, events: list[Any]) -> dict[str, list[Any]]:
        return {
            **self._span(events),
            **_correlations(events),
            "track": self._text_ids.of([event.pid if label_of(event.pid) else "" for event in events]),
            "device": [track_number(event.args.device, event.pid) for event in events],
            "stream": [track_number(event.args.stream, event.tid) for event in events],
        }

    def _add_work(self, kind: WorkKind, events: list[Any]) -> None:
        args = [event.args for event in events]
        copies = [-1] * len(events)
        if kind is WorkKind.MEMCPY:
            copies = [copy_kind(event.name, event.args.kind) for event in events]
        self._tables["work"].extend(
            **self._device(events),
            kind=[int(kind)] * len(events),
            grid=self._triple_ids.of([bytes(each.grid) for each in args]),
            block=self._triple_ids.of([bytes(each.block) for each in args]),
            registers=[each.registers for each in args],
            shared_bytes=[each.shared_memory for each in args],
            occupancy=[each.occupancy for each in args],
            num_bytes=[each.num_bytes for each in args],
            copy_kind=copies,
            graph_node=[each.graph_node for each in args],
            op_id=[each.external_id for each in args],
        )

    def _add_syncs(self, events: list[Any]) -> None:
        self._tables["syncs"].extend(
            **self._device(events),
            sync_type=[sync_type(event.args.sync_kind or event.name) for event in events],
            event_id=[event.args.event_id for event in events],
        )

    def _add_memory(self, events: list[Any]) -> None:
        sized = [event for event in events if event.args.memory_bytes is not None]
        if len(sized) < len(events):
            self._skipped[NO_SIZE] += len(events) - len(sized)
        args = [event.args for event in sized]
        self._tables["memory"].extend(
            start_us=[event.ts for event in sized],
            thread=self._thread_ids.of([(event.pid, event.tid) for event in sized]),
            device=self._memory_devices.of([(each.device_type, each.device_id) for each in args]),
            num_bytes=[whole_number(each.memory_bytes, 0) for each in args],
            allocated=[each.allocated for each in args],
            reserved=[each.reserved for each in args],
            address=[each.address for each in args],
        )

    def _add_flows(self, events: list[Any]) -> None:
        self._tables["flows"].extend(
            start_us=[event.ts for event in events],
            thread=self._thread_ids.of([(event.pid, event.tid) for event in events]),
            name=self._text_ids.of([event.id if isinstance(event.id, str) else "" for event in events]),
            number=[event.id for event in events],
            end=[_FLOW_ENDS.get(event.ph, -1) for event in events],
        )

    def _add_counters(self, events: list[Any]) -> None:
        """Those of other metrics are ignored, and not counted as skipped."""
        samples = [event for event in events if is_tensor_sample(event)]
        self._tables["counters"].extend(
            start_us=[event.ts for event in samples],
            device=[device_of(event) for event in samples],
            metric=self._metric_ids.of([event.name for event in samples]),
            value=[float(event.args.value) for event in samples],
        )

    def _add_collectives(self, events: list[Any]) -> None:
        names = ("correlation", "external_id", "stream", "group_size", "in_elements", "out_elements")
        self._tables["collectives"].extend(
            **{
                name: [whole_number(getattr(event, name)) for event in events]
                for name in (*names, "sequence", "source", "destination")
            },
            comms_id=[positive_hash(event.comms_id) for event in events],
            split=[len(list_text(event.in_split)) > 2 for event in events],
            called=self._text_ids.of([event.call for event in events]),
            dtype=self._text_ids.of([event.dtype for event in events]),
            group_name=self._text_ids.of(
                [event.group_id if event.group_name == "" else event.group_name for event in events]
            ),
            group_text=self._text_ids.of([event.group_text for event in events]),
            group_ranks=self._text_ids.of([list_text(event.group_ranks) for event in events]),
        )

    def _add_unknown(self, events: list[Any]) -> None:
        self._categories.update(event.cat for event in events if event.ph in ("X", "B"))
        self._other_categories.update(event.cat for event in events if event.ph not in _KNOWN_PHASES)
        self._halves.extend((Kind.UNKNOWN, event) for event in events if event.ph in ("B", "E"))

    def _add_unnamed(self, events: list[Any]) -> None:
        memory, ops = [], []
        for event in events:
            if event.name == "[memory]" and event.ph in ("i", "I"):
                memory.append(event)
            elif event.ph == "X" and event.pid == _CPU_TRACK:
                ops.append(event)
            elif event.ph == "X" and event.pid == _GPU_TRACK:
                self._skipped[GPU_TIMES] += 1
            elif event.ph == "M":
                if event.name == "thread_name" and isinstance(event.args.name, str):
                    self._thread_names[thread_key(event.pid, event.tid)] = event.args.name
            elif event.ph in ("B", "E"):  # an end need not repeat the category
                self._halves.append((Kind.UNNAMED, event))
            elif event.ph not in ("i", "I", "C"):
                self._skipped[NO_TYPE] += 1
        self._add_timed(Kind.OLD_OP, ops)
        self._add_memory(memory)

    def _joined_halves(self) -> Iterator[tuple[Kind, Any]]:
        stacks: dict[int, list[tuple[Kind, Any]]] = {}
        for thread, kind, event in self._halves_by_time():
            stack = stacks.setdefault(thread, [])
            if event.ph == "B":
                stack.append((kind, event))
            elif stack:
                begun, begin = stack.pop()
                if begun in _TIMED:
                    yield begun, msgspec.structs.replace(begin, ph="X", dur=event.ts - begin.ts)
                elif begun is not Kind.UNKNOWN:  # counted by its category
                    self._skipped[NO_TYPE] += 1
            elif kind is not Kind.UNKNOWN:
                self._skipped[NO_PARTNER] += 1
        self._skipped.update(
            NO_PARTNER if kind in _TIMED else NO_TYPE
            for stack in stacks.values()
            for kind, _ in stack
            if kind is not Kind.UNKNOWN
        )

    def _halves_by_time(self) -> Iterator[tuple[int, Kind, Any]]:
        """Begin and end events with their threads, ordered by time; equal times keep the order of the trace.

        An event without a time gets that of the one before on its thread, so that the others find their counterparts.
        """
        times: list[float] = []
        threads: list[int] = []
        latest: dict[int, float] = {}
        for _, event in self._halves:
            threads.append(self._thread_ids[event.pid, event.tid])
            if not math.isnan(event.ts):
                latest[threads[-1]] = event.ts
            times.append(latest.get(threads[-1], -math.inf))
        for place in sorted(range(len(times)), key=times.__getitem__):
            yield threads[place], *self._halves[place]


def _correlations(events: list[Any]) -> dict[str, list[Any]]:
    """Correlation ids, and operator ids (under today's name or that of 2020), which serve if there are none."""
    correlations = [event.args.correlation for event in events]
    operators = [-1] * len(events)
    if -1 in correlations:
        operators = [
            event.args.external_id_2020 if event.args.external_id == -1 else event.args.external_id for event in events
        ]
    return {"correlation": correlations, "external_id": operators}
