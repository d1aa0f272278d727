"""Builds a ``Capture`` from the events of a trace: exact times, kinds of ranges, threads, devices.

Columns are taken out of their tables one by one and freed, so that a trace is never in memory twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import ColumnStore, release_pages
from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Capture,
    DeviceWork,
    ForwardLinks,
    Int8s,
    Int64s,
    MemoryEvents,
    RangeKind,
    Ranges,
    Strings,
    Syncs,
    Thread,
    WorkKind,
)
from tensorboard_plugin_dlprof.importers.kernel_names import short_kernel_name
from tensorboard_plugin_dlprof.importers.kineto.clock import Clock
from tensorboard_plugin_dlprof.importers.kineto.collectives import collectives
from tensorboard_plugin_dlprof.importers.kineto.counters import tensor_samples
from tensorboard_plugin_dlprof.importers.kineto.frames import (
    adopt_frames,
    is_module,
    leave_out_empty_frames,
    long_frames,
)
from tensorboard_plugin_dlprof.importers.kineto.metadata import read_devices, read_info
from tensorboard_plugin_dlprof.importers.kineto.ranks import Parts
from tensorboard_plugin_dlprof.importers.kineto.tables import Events
from tensorboard_plugin_dlprof.importers.kineto.times import (
    Columns,
    Mask,
    Times,
    blocks,
    leave_out_unusable,
    middle_of,
    usable_start,
)

_STEP = re.compile(r"ProfilerStep#\d+")
_OLD_ANNOTATION = re.compile(r"#|^DistributedDataParallel\.|^(?!.*::).*\s")
"""Annotations that traces of 2020 and 2021 list among the operators: ``Optimizer.step#SGD.step``,
``enumerate(DataLoader)#...``, ``## forward ##``. No operator has a space or ``#`` in its name."""

_HOST = ("old_ops", "ops", "annotations", "frames")
"""Tables of host ranges, in the order in which they become one."""


def build_capture(
    events: Events,
    clock: Clock,
    metadata: Mapping[str, Any],
    path: Path,
    rank: int,
    skipped: Counter[str],
    store: ColumnStore,
) -> Capture:
    """The capture of the events. Empties their tables to save memory.

    Args:
        events: all events by kind.
        clock: converts their times.
        metadata: the members of the trace besides its events.
        path: the file, whose name may contain the host.
        rank: the one in the file's name; -1 if there is none.
        skipped: numbers of events left out so far, by reason; added to.
        store: makes the columns.
    """
    tables, strings = events.tables, Strings(events.texts)
    *ranges, frames = host = [tables[name] for name in _HOST]
    calls, work, syncs, memory = (tables[name] for name in ("calls", "work", "syncs", "memory"))
    middle_us = middle_of(table["start_us"] for table in (*host, calls, work, memory))
    timed = (*host, calls, work, syncs, memory)
    for table in timed:
        leave_out_unusable(table, middle_us, skipped)
    times = Times((table["start_us"] for table in timed), clock)
    parts = Parts(events)
    threads = _threads(events, parts.process_numbers)
    correlated = any((table["correlation"] >= 0).any() for table in (calls, work))
    correlation = "correlation" if correlated else "external_id"

    links = _forward_links(tables["flows"], threads, times, middle_us)
    adopt_frames(frames, ranges, calls, threads)
    long_calls = long_frames(frames, times)
    leave_out_empty_frames(frames, ranges, calls, times, events.texts)
    range_table = _ranges(host, times, strings, events.inputs, store)
    call_table = Calls(*times.spans(calls, store), *(calls.pop(name) for name in ("thread", "name", correlation)))
    work_table = _work(work, times, strings, correlation, events.triples, parts, store)
    sync_table = _syncs(syncs, times, correlation, parts, store)
    memory_table = _memory(memory, times, work_table, parts)
    samples = tensor_samples(tables["counters"], events.metrics, times, middle_us)
    used = distinct_values(np.concatenate([work_table.device, sync_table.device, memory_table.device]))
    devices = read_devices(metadata, (int(number) for number in used if number >= 0))
    recorded = _recorded(range_table, call_table, sync_table, memory_table, strings)
    described, groups = collectives(tables["collectives"], work_table, work["external_id"], strings, metadata)
    release_pages()
    return Capture(
        info=read_info(metadata, path, rank, {thread.process_id for thread in threads}, times, recorded),
        strings=strings,
        threads=threads,
        devices=devices,
        ranges=range_table,
        calls=call_table,
        work=work_table,
        syncs=sync_table,
        memory=memory_table,
        forward_links=links,
        frames=long_calls,
        store=store,
        tensor_samples=samples,
        collectives=described,
        process_groups=groups,
        skipped={reason: count for reason, count in skipped.items() if count},
    )


def _threads(events: Events, process_numbers: Mapping[int | str, int]) -> list[Thread]:
    threads: list[Thread] = []
    for process, thread in events.threads:
        name = events.thread_names.get((process, thread), "")
        if isinstance(thread, str):  # a named thread gets a number that no operating system assigns
            threads.append(Thread(process_numbers[process], -2 - len(threads), name or thread))
        else:
            threads.append(Thread(process_numbers[process], thread, name))
    return threads


def _ranges(
    tables: Sequence[Columns], times: Times, strings: Strings, inputs: Sequence[bytes], store: ColumnStore
) -> Ranges:
    """The ranges of the tables, one table after the other."""
    bounds = np.cumsum([0, *(len(table["start_us"]) for table in tables)]).tolist()
    slices = [slice(*ends) for ends in pairwise(bounds)]
    total = bounds[-1]
    start, end = store.empty(total, np.int64), store.empty(total, np.int64)
    for table, rows in zip(tables, slices, strict=True):
        start[rows], end[rows] = times.spans(table, store)

    def joined(name: str, dtype: npt.DTypeLike, missing: int = 0) -> npt.NDArray[Any]:
        # Pages of zeros that are never written take no memory, and many ranges may be Python frames.
        column = store.zeros(total, dtype)
        if missing:
            column[:] = missing
        for table, rows in zip(tables, slices, strict=True):
            if name in table:
                column[rows] = table.pop(name)
        release_pages()
        return column

    number = joined("inputs", np.int32)

    def of_inputs(texts: Sequence[str]) -> npt.NDArray[np.int32]:
        column = store.zeros(total, np.int32)
        ids = np.array(strings.intern_all(texts), np.int32)
        if ids.any():
            for rows in blocks(total):
                column[rows] = ids[number[rows]]
        return column

    names = joined("name", np.int32)
    shapes, dtypes, parameters = map(
        of_inputs, zip(*(texts.decode("utf-8", "replace").split("\0") for texts in inputs), strict=True)
    )
    return Ranges(
        start_ns=start,
        end_ns=end,
        thread=joined("thread", np.int32),
        kind=_range_kinds(names, slices, strings.texts()),
        name=names,
        domain=store.zeros(total, np.int32),
        shapes=shapes,
        dtypes=dtypes,
        parameters=parameters,
        stack=joined("stack", np.int32),
        group=joined("group", np.int32),
        sequence=joined("sequence", np.int64, -1),
        forward_thread=joined("forward_thread", np.int64, -1),
    )


def _range_kinds(names: npt.NDArray[np.int32], slices: Sequence[slice], texts: Sequence[str]) -> Int8s:
    """The kind of each range; ``slices`` are the rows of each of ``_HOST``."""
    kinds = np.empty(len(names), np.int8)
    for table, rows in zip(_HOST, slices, strict=True):
        by_name = np.zeros(len(texts), np.int8)
        for name in distinct_values(names[rows]).tolist():
            by_name[name] = _range_kind(table, texts[name])
        kinds[rows] = by_name[names[rows]]
    return kinds


def _range_kind(table: str, name: str) -> RangeKind:
    if table == "frames":
        return RangeKind.MODULE if is_module(name) else RangeKind.FRAME
    if _STEP.fullmatch(name):
        return RangeKind.ITERATION
    is_annotation = table == "annotations" or (table == "old_ops" and _OLD_ANNOTATION.search(name))
    return RangeKind.ANNOTATION if is_annotation else RangeKind.OP


def _work(
    work: Columns,
    times: Times,
    strings: Strings,
    correlation: str,
    triples: Sequence[tuple[int, int, int]],
    parts: Parts,
    store: ColumnStore,
) -> DeviceWork:
    dimensions = np.array(triples, np.int32).reshape(-1, 3)
    start, end = times.spans(work, store)
    kind, name = work["kind"], work["name"]
    kernels = kind == WorkKind.KERNEL
    short_of = np.arange(len(strings), dtype=np.int32)
    for number in distinct_values(name[kernels]).tolist():
        short_of[number] = strings.intern(short_kernel_name(strings[number]))
    process, device = parts.of_work(work["track"], work["device"])
    return DeviceWork(
        kind=kind,
        start_ns=start,
        end_ns=end,
        process=process,
        device=device,
        stream=work["stream"],
        correlation=work[correlation],
        name=name,
        short_name=np.where(kernels, short_of[name], name),
        grid=dimensions[work.pop("grid")],
        block=dimensions[work.pop("block")],
        registers=work["registers"],
        # Kineto writes the sum of static and dynamic memory. The static part of PyTorch's kernels is small and fixed.
        static_shared_bytes=np.full(len(kind), -1, np.int64),
        dynamic_shared_bytes=work["shared_bytes"],
        occupancy_percent=work["occupancy"],
        num_bytes=work["num_bytes"],
        copy_kind=work["copy_kind"],
        graph_node=work["graph_node"],
    )


def _syncs(syncs: Columns, times: Times, correlation: str, parts: Parts, store: ColumnStore) -> Syncs:
    start, end = times.spans(syncs, store)
    process, device = parts.of_work(syncs["track"], syncs["device"])
    return Syncs(
        start_ns=start,
        end_ns=end,
        process=process,
        device=device,
        stream=syncs["stream"],
        correlation=syncs[correlation],
        sync_type=syncs["sync_type"],
        event_id=syncs["event_id"],
    )


def _memory(memory: Columns, times: Times, work: DeviceWork, parts: Parts) -> MemoryEvents:
    device = parts.of_memory(memory["thread"], memory["device"])
    # The allocator counts visible devices from 0, but AMD's kernels name agents. If there is one of each, they match.
    allocating, working = distinct_values(device[device >= 0]), distinct_values(work.device)
    if len(allocating) == len(working) == 1:
        device = np.where(device >= 0, working[0], device)
    return MemoryEvents(
        time_ns=times.points(memory["start_us"]),
        thread=memory["thread"],
        device=device.astype(np.int32, copy=False),
        num_bytes=memory["num_bytes"],
        allocated_bytes=memory["allocated"],
        reserved_bytes=memory["reserved"],
        address=memory["address"],
    )


def _forward_links(flows: Columns, threads: Sequence[Thread], times: Times, middle_us: float) -> ForwardLinks:
    thread, start_us = flows["thread"], flows["start_us"]
    # Arrows with a name get negative numbers. Ends with the same number or name belong to the same arrow.
    arrow = np.where((flows["name"] > 0) & (flows["number"] < 0), -1 - flows["name"].astype(np.int64), flows["number"])
    owners, owner = numbered(np.array([owner.process_id for owner in threads], np.int64)[thread])
    if len(owners) > 1:  # numbers are unique within a process only
        arrow = numbered(arrow)[1] * len(owners) + owner
    usable = usable_start(start_us, middle_us)
    starts, finishes = (_last_of_each(arrow, usable & (flows["end"] == end)) for end in (0, 1))
    _, first, second = np.intersect1d(arrow[starts], arrow[finishes], assume_unique=True, return_indices=True)
    forward, backward = starts[first], finishes[second]
    order = np.lexsort((start_us[backward], thread[backward], start_us[forward], thread[forward]))
    forward, backward = forward[order], backward[order]
    return ForwardLinks(
        forward_thread=thread[forward],
        forward_ns=times.points(start_us[forward]),
        backward_thread=thread[backward],
        backward_ns=times.points(start_us[backward]),
    )


def _last_of_each(arrow: Int64s, mask: Mask) -> Int64s:
    """The last row of each arrow, among those of the mask."""
    rows = np.flatnonzero(mask)[::-1]
    return rows[np.unique(arrow[rows], return_index=True)[1]]


def _recorded(ranges: Ranges, calls: Calls, syncs: Syncs, memory: MemoryEvents, strings: Strings) -> frozenset[str]:
    kinds = set(distinct_values(ranges.kind).tolist())
    texts = strings.texts()
    present = {
        "ops": RangeKind.OP in kinds,
        "shapes": any(any(map(str.isdigit, texts[text])) for text in distinct_values(ranges.shapes)),
        "stacks": RangeKind.FRAME in kinds or bool(ranges.stack.any()),
        "modules": RangeKind.MODULE in kinds,
        "memory": len(memory.time_ns) > 0,
        "steps": RangeKind.ITERATION in kinds,
        "syncs": len(syncs.start_ns) > 0,
        "graphs": any("GraphLaunch" in texts[name] for name in distinct_values(calls.name)),
    }
    return frozenset(name for name, is_present in present.items() if is_present)
