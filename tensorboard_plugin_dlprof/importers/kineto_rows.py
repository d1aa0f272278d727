"""Collects decoded events by kind in compact columns.

Every kind has a table of growing arrays; ``count`` is the number of its rows, some of which may already be in
files. A column takes 4 or 8 bytes per event, and texts are interned at once, so that a trace of 1 GB
becomes about 200 MB of columns.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import msgspec
from msgspec.structs import astuple

from tensorboard_plugin_dlprof.events.kinds import WorkKind
from tensorboard_plugin_dlprof.importers.kineto_events import NO_TEXT, whole_number
from tensorboard_plugin_dlprof.importers.kineto_ids import (
    FLOW_ENDS,
    InputIds,
    MemoryDevices,
    TextIds,
    ThreadIds,
    TripleIds,
    bytes_of,
    copy_kind,
    label_of,
    sync_type,
    track_number,
)

Columns = dict[str, list[Any]]
"""Field of a class of events, or of their ``args`` -> its values."""


def columns_of(structs: Sequence[msgspec.Struct]) -> Columns:
    """The fields of structs of one class, as lists of values.

    All rows are concatenated, and every n-th value belongs to the same field. That takes a third of the time of reading
    field by field, and four fifths of the time of ``zip``.
    """
    fields = structs[0].__struct_fields__
    cells: list[Any] = []
    deque(map(cells.extend, map(astuple, structs)), maxlen=0)
    return {field: cells[position :: len(fields)] for position, field in enumerate(fields)}


def extend_tracks(column: array[int], values: Sequence[object], fallbacks: Sequence[object]) -> None:
    """Appends numbers of devices or streams, of which there are few."""
    if all(type(value) is int and value >= 0 for value in set(values)):
        extend_whole(column, values)
    else:
        extend_whole(column, list(map(track_number, values, fallbacks)))


def are_all(kind: type, values: Sequence[object]) -> bool:
    """Whether all values are exactly of type ``kind``; there must be at least one."""
    return set(map(type, values)) == {kind}


class _Packers(dict[tuple[str, int], Callable[..., bytes]]):
    """Type code and number of values -> function that packs them; ``struct`` itself caches too few."""

    def __missing__(self, key: tuple[str, int]) -> Callable[..., bytes]:
        typecode, count = key
        packer = self[key] = struct.Struct(f"{count}{typecode}").pack
        return packer


_PACKERS = _Packers()


def extend(column: array[Any], values: Sequence[Any]) -> None:
    """Appends numbers, twice as fast as the methods of ``array``, or five times as fast if all are equal.

    Raises:
        struct.error: a value does not fit the column, or is not a number.
    """
    if values and values[0] == values[-1] and values.count(values[0]) == len(values):
        column.frombytes(_PACKERS[column.typecode, 1](values[0]) * len(values))
    else:
        column.frombytes(_PACKERS[column.typecode, len(values)](*values))


def extend_whole(column: array[int], values: Sequence[object], missing: int = -1) -> None:
    """Appends integers; values that are not integers, or do not fit the column, become ``missing``."""
    try:
        extend(column, values)
    except struct.error:
        limit = 1 << (8 * column.itemsize - 1)
        numbers = (whole_number(value, missing) for value in values)
        column.extend(number if -limit <= number < limit else missing for number in numbers)


class SpanRows:
    """The columns of all timed tables: start and duration in microseconds of the clock, and the name."""

    def __init__(self, texts: TextIds) -> None:
        self._texts = texts
        self.count = 0
        self.start_us = array("d")
        self.duration_us = array("d")
        self.name = array("i")

    def add(self, events: Columns, args: Columns) -> None:
        """Appends complete events."""
        self.count += len(events["ts"])
        extend(self.start_us, events["ts"])
        extend(self.duration_us, events["dur"])
        extend(self.name, self._texts.of(events["name"]))


class HostRows(SpanRows):
    """Ranges on host threads."""

    def __init__(self, texts: TextIds, threads: ThreadIds) -> None:
        super().__init__(texts)
        self._threads = threads
        self.thread = array("i")

    def add(self, events: Columns, args: Columns) -> None:
        """Appends complete events."""
        super().add(events, args)
        extend(self.thread, self._threads.of(events["pid"], events["tid"]))


class OpRows(HostRows):
    """Operators and annotations, with all columns of ``Ranges``."""

    def __init__(self, texts: TextIds, threads: ThreadIds, input_ids: InputIds) -> None:
        super().__init__(texts, threads)
        self._input_ids = input_ids
        self.inputs = array("i")
        self.stack = array("i")
        self.group = array("i")
        self.sequence = array("q")
        self.forward_thread = array("q")

    def add(self, events: Columns, args: Columns) -> None:
        """Appends complete events."""
        super().add(events, args)
        texts = self._texts
        shapes = _either(args["input_dims_2020"], args["input_dims"], NO_TEXT)
        extend(self.inputs, self._input_ids.of(shapes, args["input_type"], args["concrete_inputs"]))
        extend(self.stack, texts.of(args["call_stack"]))
        names, numbers = args["group_name"], args["group_id"]
        if names.count("") < len(names):
            numbers = [name or number for name, number in zip(names, numbers, strict=True)]
        extend(self.group, texts.of(numbers))
        extend_whole(self.sequence, args["sequence"])
        extend_whole(self.forward_thread, args["forward_thread"])


def _either(values: Sequence[Any], fallbacks: Sequence[Any], absent: object) -> Sequence[Any]:
    """``values``, with absent ones replaced by their fallbacks."""
    if values.count(absent) == len(values):
        return fallbacks
    return [fallback if value == absent else value for value, fallback in zip(values, fallbacks, strict=True)]


class CallRows(HostRows):
    """Calls of the CUDA or HIP runtime or driver."""

    def __init__(self, texts: TextIds, threads: ThreadIds) -> None:
        super().__init__(texts, threads)
        self.correlation = array("q")
        self.external_id = array("q")

    def add(self, events: Columns, args: Columns) -> None:
        """Appends complete events."""
        super().add(events, args)
        extend_correlations(self.correlation, self.external_id, args)


def extend_correlations(correlation: array[int], external_id: array[int], args: Columns) -> None:
    """Appends correlation ids and operator ids (under today's name or that of 2020), which serve if there are none."""
    extend_whole(correlation, args["correlation"])
    if -1 in args["correlation"]:
        extend_whole(external_id, _either(args["external_id"], args["external_id_2020"], -1))
    else:
        extend(external_id, [-1] * len(args["correlation"]))


class DeviceRows(SpanRows):
    """The columns that device work and synchronisations have in common."""

    def __init__(self, texts: TextIds) -> None:
        super().__init__(texts)
        self.track = array("i")
        """The process of the track if that is a text with a label, else empty."""
        self.device = array("i")
        self.stream = array("q")
        self.correlation = array("q")
        self.external_id = array("q")

    def add(self, events: Columns, args: Columns) -> None:
        """Appends complete events."""
        super().add(events, args)
        labelled = [] if are_all(int, events["pid"]) else [pid if label_of(pid) else "" for pid in events["pid"]]
        extend(self.track, self._texts.of(labelled) or [0] * len(events["pid"]))
        extend_tracks(self.device, args["device"], events["pid"])
        extend_tracks(self.stream, args["stream"], events["tid"])
        extend_correlations(self.correlation, self.external_id, args)


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
        self.occupancy = array("i")
        self.num_bytes = array("q")
        self.copy_kind = array("i")
        self.graph_node = array("q")
        self.op_id = array("q")
        """``External id``: the op that launched the work."""

    def add_work(self, kind: WorkKind, events: Columns, args: Columns) -> None:
        """Appends complete events of one kind of work."""
        self.add(events, args)
        count = len(events["ts"])
        extend(self.kind, [kind] * count)
        triples = self.triples
        extend(self.grid, list(map(triples.__getitem__, bytes_of(args["grid"]))))
        extend(self.block, list(map(triples.__getitem__, bytes_of(args["block"]))))
        extend_whole(self.registers, args["registers"])
        extend_whole(self.shared_bytes, args["shared_memory"])
        extend_whole(self.occupancy, args["occupancy"])
        extend_whole(self.num_bytes, args["num_bytes"])
        extend_whole(self.graph_node, args["graph_node"])
        extend_whole(self.op_id, args["external_id"])
        if kind is WorkKind.MEMCPY:
            extend(self.copy_kind, list(map(copy_kind, events["name"], args["kind"])))
        else:
            extend(self.copy_kind, [-1] * count)


class SyncRows(DeviceRows):
    """``cuda_sync`` events."""

    def __init__(self, texts: TextIds) -> None:
        super().__init__(texts)
        self.sync_type = array("i")
        self.event_id = array("q")

    def add(self, events: Columns, args: Columns) -> None:
        """Appends complete events."""
        super().add(events, args)
        names = zip(args["sync_kind"], events["name"], strict=True)
        extend(self.sync_type, [sync_type(kind or name) for kind, name in names])
        extend_whole(self.event_id, args["event_id"])


class MemoryRows:
    """``[memory]`` instants of the framework's allocators."""

    def __init__(self, threads: ThreadIds) -> None:
        self._threads = threads
        self._devices = MemoryDevices()
        self.count = 0
        self.start_us = array("d")
        self.thread = array("i")
        self.device = array("i")
        self.num_bytes = array("q")
        self.allocated_bytes = array("q")
        self.reserved_bytes = array("q")

    def add(self, events: Columns, args: Columns, skipped: Counter[str]) -> None:
        """Appends instants; one without a size is skipped."""
        if missing := args["memory_bytes"].count(None):
            skipped["memory events without a size"] += missing
            sized = [size is not None for size in args["memory_bytes"]]
            events, args = _chosen(events, sized), _chosen(args, sized)
        self.count += len(events["ts"])
        extend(self.start_us, events["ts"])
        extend(self.thread, self._threads.of(events["pid"], events["tid"]))
        types_and_ids = zip(args["device_type"], args["device_id"], strict=True)
        extend_whole(self.device, list(map(self._devices.__getitem__, types_and_ids)))
        extend_whole(self.num_bytes, args["memory_bytes"], missing=0)
        extend_whole(self.allocated_bytes, args["allocated"])
        extend_whole(self.reserved_bytes, args["reserved"])


def _chosen(columns: Columns, chosen: Sequence[bool]) -> Columns:
    return {name: list(compress(values, chosen)) for name, values in columns.items()}


class FlowRows:
    """The two ends of ``fwdbwd`` arrows."""

    def __init__(self, texts: TextIds, threads: ThreadIds) -> None:
        self._texts = texts
        self._threads = threads
        self.count = 0
        self.end = array("b")
        """0 for the start of an arrow, 1 for its end, -1 for a step between, which PyTorch does not write."""
        self.number = array("q")
        """Number of the arrow; -1 if it has a name instead."""
        self.name = array("i")
        self.thread = array("i")
        self.start_us = array("d")

    def add(self, events: Columns) -> None:
        """Appends flow events."""
        self.count += len(events["ts"])
        numbers = events["id"]
        extend(self.end, list(map(FLOW_ENDS.__getitem__, events["ph"])))
        extend_whole(self.number, numbers)
        if are_all(int, numbers):
            extend(self.name, [0] * len(numbers))
        else:
            extend(self.name, self._texts.of([text if isinstance(text, str) else "" for text in numbers]))
        extend(self.thread, self._threads.of(events["pid"], events["tid"]))
        extend(self.start_us, events["ts"])
