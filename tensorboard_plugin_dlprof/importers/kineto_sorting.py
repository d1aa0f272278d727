"""Sorts the events of a trace into tables by their category."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.kinds import WorkKind
from tensorboard_plugin_dlprof.events.strings import Strings
from tensorboard_plugin_dlprof.importers.kineto_categories import OTHER_DEVICES, Kind, kind_of_category
from tensorboard_plugin_dlprof.importers.kineto_collectives import CollectiveRows, Described
from tensorboard_plugin_dlprof.importers.kineto_counters import CounterRows
from tensorboard_plugin_dlprof.importers.kineto_events import Event
from tensorboard_plugin_dlprof.importers.kineto_ids import InputIds, TextIds, ThreadIds, thread_key
from tensorboard_plugin_dlprof.importers.kineto_pieces import kind_of_class
from tensorboard_plugin_dlprof.importers.kineto_rows import (
    CallRows,
    Columns,
    FlowRows,
    HostRows,
    MemoryRows,
    OpRows,
    SpanRows,
    SyncRows,
    WorkRows,
    columns_of,
)

NO_PARTNER = "begin or end events without their counterpart"
NO_TYPE = "events without a category"
GPU_TIMES = "GPU times of ops, which PyTorch recorded in place of kernels until 2020"
COUNTER_RANGES = (
    "counters of kernels, which PyTorch recorded in place of their times: give this file as --counters beside a "
    "profile without them"
)
_KNOWN_TYPES = ("X", "B", "E", "M")
"""Ranges, begin and end of ranges, and metadata."""

_NAMED_CATEGORIES = 20
"""The most frequent unknown categories, which are reported by name; the others are reported together."""

_CPU_TRACK, _GPU_TRACK = "CPU functions", "CUDA functions"
"""Process names in traces of ``torch.autograd.profiler`` of that time, whose events have no category."""


class _KindsOfCategories(dict[str, Kind]):
    def __missing__(self, category: str) -> Kind:
        kind = self[category] = kind_of_category(category)
        return kind


class _KindsOfClasses(dict[type, "Kind | None"]):
    def __missing__(self, event_class: type) -> Kind | None:
        kind = self[event_class] = kind_of_class(event_class)
        return kind


class EventTables:
    """All events of a trace by kind. Feed it with ``add``, then call ``finish``."""

    def __init__(self) -> None:
        self.strings = Strings()
        self.texts = TextIds(self.strings)
        self.threads = ThreadIds()
        self.inputs = InputIds()
        self.old_ops = OpRows(self.texts, self.threads, self.inputs)
        self.ops = OpRows(self.texts, self.threads, self.inputs)
        self.annotations = OpRows(self.texts, self.threads, self.inputs)
        self.frames = HostRows(self.texts, self.threads)
        self.calls = CallRows(self.texts, self.threads)
        self.work = WorkRows(self.texts)
        self.syncs = SyncRows(self.texts)
        self.memory = MemoryRows(self.threads)
        self.flows = FlowRows(self.texts, self.threads)
        self.counters = CounterRows()
        self.collectives = CollectiveRows(self.texts)
        self.thread_names: dict[tuple[int | str, int | str], str] = {}
        """``thread_key`` -> the name that the trace's metadata gives the thread."""
        self.skipped: Counter[str] = Counter()
        self.categories: Counter[str] = Counter()
        """Categories that we do not know -> events with a duration."""
        self.other_categories: set[str] = set()
        """Those of events of other types: spans of asynchronous work, samples."""
        self._kinds = _KindsOfCategories()
        self._kinds_of_classes = _KindsOfClasses()
        self._halves: list[tuple[Kind, Event]] = []
        """Begin and end events in the order of the trace; rare, so they wait until all are known."""
        self._add_complete: dict[Kind, Callable[[Columns, Columns], None]] = {
            Kind.OLD_OP: self.old_ops.add,
            Kind.OP: self.ops.add,
            Kind.ANNOTATION: self.annotations.add,
            Kind.FRAME: self.frames.add,
            Kind.CALL: self.calls.add,
            Kind.KERNEL: partial(self.work.add_work, WorkKind.KERNEL),
            Kind.MEMCPY: partial(self.work.add_work, WorkKind.MEMCPY),
            Kind.MEMSET: partial(self.work.add_work, WorkKind.MEMSET),
            Kind.SYNC: self.syncs.add,
        }

    def add(self, events: list[Event]) -> None:
        """Sorts hundreds of events into their tables."""
        first_half = len(self._halves)
        for kind, group in sorted(self._by_kind(events), key=_kind):
            if kind in self._add_complete:
                self._add_ranges(kind, group)
            elif kind is Kind.FLOW:
                self.flows.add(columns_of(group))
            elif kind is Kind.INSTANT:
                self._add_instants([event for event in group if event.name == "[memory]"])
            elif kind is Kind.UNNAMED:
                self._add_unnamed(group)
            elif kind is Kind.COLLECTIVE:
                self.collectives.add(cast("list[Described]", group))
            elif kind is Kind.COUNTER:
                self.counters.add(group)
            elif kind is Kind.COUNTER_RANGE:
                self.skipped[COUNTER_RANGES] += len(group)
            elif kind is Kind.UNKNOWN:
                self.categories.update(event.cat for event in group if event.ph in ("X", "B"))
                self.other_categories.update(event.cat for event in group if event.ph not in _KNOWN_TYPES)
                self._halves.extend((kind, event) for event in group if event.ph in ("B", "E"))
        if len(self._halves) > first_half:
            place = {id(event): number for number, event in enumerate(events)}
            self._halves[first_half:] = sorted(self._halves[first_half:], key=lambda half: place[id(half[1])])

    def _by_kind(self, events: list[Event]) -> Iterator[tuple[Kind, list[Event]]]:
        """Events of one class and one kind."""
        by_class: defaultdict[type, list[Event]] = defaultdict(list)
        for event in events:
            by_class[type(event)].append(event)
        for event_class, group in by_class.items():
            kind = self._kinds_of_classes[event_class]
            if kind is not None:
                yield kind, group
                continue
            by_kind: defaultdict[Kind, list[Event]] = defaultdict(list)
            for event in group:
                by_kind[self._kinds[event.cat]].append(event)
            yield from by_kind.items()

    def _add_ranges(self, kind: Kind, events: list[Event]) -> None:
        columns = columns_of(events)
        if not all_complete(columns):
            self._halves.extend((kind, event) for event in events if event.ph in ("B", "E"))
            events = [event for event in events if event.ph == "X"]
            if not events:
                return
            columns = columns_of(events)
        self._add_complete[kind](columns, columns_of(columns["args"]) if "args" in columns else {})

    def finish(self) -> None:
        """Joins begin and end events, and counts the events that belong to no table."""
        joined: defaultdict[tuple[Kind, type], list[Event]] = defaultdict(list)
        for kind, event in self._joined_halves():
            joined[kind, type(event)].append(event)
        for (kind, _), events in joined.items():
            self._add_ranges(kind, events)
        told = self.categories.most_common(_NAMED_CATEGORIES)
        for category, count in told:
            device = OTHER_DEVICES.get(category.lower())
            reason = (
                f"work of {device}, which is not a GPU"
                if device
                else f"events of the unknown category {category[:60]!r}"
            )
            self.skipped[reason] += count
        if others := len(self.categories) - len(told):
            count = self.categories.total() - sum(count for _, count in told)
            self.skipped[f"events of {others:,} other unknown categories"] += count

    def is_empty(self) -> bool:
        """Whether no table has a row."""
        return not any(len(table.start_us) for table in self._tables())

    @property
    def has_halves(self) -> bool:
        """Whether there are begin or end events, which cannot be joined before all events are read."""
        return bool(self._halves)

    def columns(self) -> list[dict[str, Any]]:
        """Name -> column of each table. These are the tables' own dictionaries: an assignment replaces a column."""
        return [vars(table) for table in (*self._tables(), self.flows, self.counters, self.collectives)]

    def complete(self) -> None:
        """Turns the columns into arrays of NumPy."""
        for table in self.columns():
            for name, column in table.items():
                if isinstance(column, array):
                    table[name] = np.asarray(column)

    def counts(self) -> list[int]:
        """Rows of each table of ``columns``, then numbers of texts, threads, grids and blocks, metrics, op inputs."""
        rows = [table.count for table in (*self._tables(), self.flows, self.counters, self.collectives)]
        return [
            *rows,
            len(self.strings),
            len(self.threads.rows),
            len(self.work.triples.triples),
            len(self.counters.metrics),
            len(self.inputs),
        ]

    def _tables(self) -> Sequence[SpanRows | MemoryRows]:
        hosts = (self.old_ops, self.ops, self.annotations, self.frames, self.calls)
        return (*hosts, self.work, self.syncs, self.memory)

    def _joined_halves(self) -> Iterator[tuple[Kind, Event]]:
        stacks: dict[int, list[tuple[Kind, Event]]] = {}
        for thread, kind, event in self._halves_by_time():
            stack = stacks.setdefault(thread, [])
            if event.ph == "B":
                stack.append((kind, event))
            elif stack:
                begun, begin = stack.pop()
                if begun in self._add_complete:
                    yield begun, msgspec.structs.replace(begin, ph="X", dur=event.ts - begin.ts)
                elif begun is not Kind.UNKNOWN:  # counted by its category
                    self.skipped[NO_TYPE] += 1
            elif kind is not Kind.UNKNOWN:
                self.skipped[NO_PARTNER] += 1
        self.skipped.update(
            NO_PARTNER if kind in self._add_complete else NO_TYPE
            for stack in stacks.values()
            for kind, _ in stack
            if kind is not Kind.UNKNOWN
        )

    def _halves_by_time(self) -> Iterator[tuple[int, Kind, Event]]:
        """Begin and end events with their threads, ordered by time; equal times keep the order of the trace.

        An event without a time gets that of the one before on its thread, so that the others find their counterparts.
        """
        times: list[float] = []
        threads: list[int] = []
        latest: dict[int, float] = {}
        for _, event in self._halves:
            threads.append(self.threads[event.pid, event.tid])
            if not math.isnan(event.ts):
                latest[threads[-1]] = event.ts
            times.append(latest.get(threads[-1], -math.inf))
        for place in sorted(range(len(times)), key=times.__getitem__):
            yield threads[place], *self._halves[place]

    def _add_instants(self, events: list[Event]) -> None:
        if events:
            columns = columns_of(events)
            self.memory.add(columns, columns_of(columns["args"]), self.skipped)

    def _add_unnamed(self, events: list[Event]) -> None:
        memory, ops = [], []
        for event in events:
            if event.name == "[memory]" and event.ph in ("i", "I"):
                memory.append(event)
            elif event.ph == "X" and event.pid == _CPU_TRACK:
                ops.append(event)
            elif event.ph == "X" and event.pid == _GPU_TRACK:
                self.skipped[GPU_TIMES] += 1
            elif event.ph == "M":
                if event.name == "thread_name" and isinstance(event.args.name, str):
                    self.thread_names[thread_key(event.pid, event.tid)] = event.args.name
            elif event.ph in ("B", "E"):  # an end need not repeat the category
                self._halves.append((Kind.UNNAMED, event))
            elif event.ph not in ("i", "I", "C"):
                self.skipped[NO_TYPE] += 1
        if ops:
            self._add_ranges(Kind.OLD_OP, ops)
        self._add_instants(memory)


def _kind(group: tuple[Kind, list[Event]]) -> Kind:
    return group[0]


def all_complete(events: Columns) -> bool:
    """Whether these are complete events only (``ph: X``), the one type that a profiler writes for ranges."""
    return events["ph"].count("X") == len(events["ph"])
