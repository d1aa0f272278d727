"""Builds a ``Capture`` from sorted events: exact times, kinds of ranges, threads, devices.

Columns are taken out of their tables one by one and freed, so that a trace is never in memory twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import ColumnStore, release_pages
from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Capture,
    CaptureInfo,
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
from tensorboard_plugin_dlprof.importers.kineto_clock import Clock
from tensorboard_plugin_dlprof.importers.kineto_collectives import collectives
from tensorboard_plugin_dlprof.importers.kineto_frames import is_module, leave_out_empty_frames, long_frames
from tensorboard_plugin_dlprof.importers.kineto_ids import InputIds
from tensorboard_plugin_dlprof.importers.kineto_metadata import base_time_ns, read_devices, read_info, utc_or_unknown
from tensorboard_plugin_dlprof.importers.kineto_parts import Parts
from tensorboard_plugin_dlprof.importers.kineto_rows import CallRows, HostRows, OpRows, SyncRows, WorkRows
from tensorboard_plugin_dlprof.importers.kineto_samples import tensor_samples
from tensorboard_plugin_dlprof.importers.kineto_sorting import EventTables
from tensorboard_plugin_dlprof.importers.kineto_threads import adopted_threads, used_ids
from tensorboard_plugin_dlprof.importers.kineto_times import (
    NO_START,
    Kept,
    Mask,
    Times,
    blocks,
    middle_of,
    usable_start,
)

_STEP = re.compile(r"ProfilerStep#\d+")
_OLD_ANNOTATION = re.compile(r"#|^DistributedDataParallel\.|^(?!.*::).*\s")
"""Annotations that traces of 2020 and 2021 list among the operators: ``Optimizer.step#SGD.step``,
``enumerate(DataLoader)#...``, ``## forward ##``. No operator has a space or ``#`` in its name."""


def build_capture(
    tables: EventTables,
    clock: Clock,
    metadata: Mapping[str, Any],
    path: Path,
    skipped: Counter[str],
    store: ColumnStore,
) -> Capture:
    """The capture of the sorted events. Empties ``tables`` to save memory.

    Args:
        tables: all events by kind.
        clock: converts their times.
        metadata: the members of the trace besides its events.
        path: the file, whose name may contain rank and host.
        skipped: numbers of events left out so far, by reason; added to.
        store: holds long columns.
    """
    t = tables
    middle_us = middle_of([t.old_ops, t.ops, t.annotations, t.frames, t.calls, t.work, t.memory])
    host = [Kept(rows, middle_us, skipped) for rows in (tables.old_ops, tables.ops, tables.annotations, tables.frames)]
    calls = Kept(tables.calls, middle_us, skipped)
    work = Kept(tables.work, middle_us, skipped)
    syncs = Kept(tables.syncs, middle_us, skipped)
    memory_us = np.frombuffer(tables.memory.start_us, np.float64)
    memory_mask = usable_start(memory_us, middle_us)
    skipped[NO_START] += int(np.count_nonzero(~memory_mask))

    times = Times([*host, calls, work, syncs], memory_us[memory_mask], clock)
    parts = Parts(tables)
    threads = _threads(tables, parts.process_numbers)
    correlated = any((np.asarray(rows.correlation) >= 0).any() for rows in (tables.calls, tables.work))
    correlation = "correlation" if correlated else "external_id"

    strings = tables.strings
    links = _forward_links(tables, threads, times, middle_us)
    _adopt_frames(tables, adopted_threads(tables, threads))
    frames = long_frames(host[-1], times)
    leave_out_empty_frames(host[-1], host[:-1], calls, times, strings)
    ranges = _ranges(host, times, strings, tables.inputs, store)
    call_table = _calls(calls, times, correlation, store)
    op_id = work.column("op_id")
    work_table = _work(work, times, strings, correlation, parts, store)
    sync_table = _syncs(syncs, times, correlation, parts, store)
    memory_table = _memory(tables, times, memory_us, memory_mask, work_table, parts)
    samples = tensor_samples(tables.counters, times, middle_us)
    used = distinct_values(np.concatenate([work_table.device, sync_table.device, memory_table.device]))
    devices = read_devices(metadata, (int(number) for number in used if number >= 0))
    recorded = _recorded(ranges, call_table, sync_table, memory_table, strings)
    described, groups = collectives(tables.collectives, work_table, op_id, strings, metadata)
    release_pages()
    return Capture(
        info=_info(metadata, path, threads, times, recorded),
        strings=strings,
        threads=threads,
        devices=devices,
        ranges=ranges,
        calls=call_table,
        work=work_table,
        syncs=sync_table,
        memory=memory_table,
        forward_links=links,
        frames=frames,
        store=store,
        tensor_samples=samples,
        collectives=described,
        process_groups=groups,
        skipped={reason: count for reason, count in skipped.items() if count},
    )


def _info(
    metadata: Mapping[str, Any], path: Path, threads: Sequence[Thread], times: Times, recorded: frozenset[str]
) -> CaptureInfo:
    info = read_info(metadata, path, {thread.process_id for thread in threads})
    info.base_offset_ns = base_time_ns(metadata)
    info.base_time_ns = times.base_ns + info.base_offset_ns
    info.utc_start_ns = utc_or_unknown(info.base_time_ns)
    info.end_ns = times.end_ns
    info.recorded = recorded
    return info


def _threads(tables: EventTables, process_numbers: Mapping[int | str, int]) -> list[Thread]:
    threads: list[Thread] = []
    for key in tables.threads.rows:
        process, thread = process_numbers[key[0]], key[1]
        name = tables.thread_names.get(key, "")
        if isinstance(thread, str):  # a named thread gets a number that no operating system assigns
            threads.append(Thread(process, -2 - len(threads), name or thread))
        else:
            threads.append(Thread(process, thread, name))
    return threads


def _adopt_frames(tables: EventTables, adopted: Mapping[int, int]) -> None:
    thread = np.asarray(tables.frames.thread)
    for orphan, host in adopted.items():
        thread[thread == orphan] = host


def _ranges(
    parts: Sequence[Kept[HostRows]], times: Times, strings: Strings, inputs: InputIds, store: ColumnStore
) -> Ranges:
    total = sum(part.count for part in parts)
    start, end = store.empty(total, np.int64), store.empty(total, np.int64)
    offsets = np.cumsum([0, *(part.count for part in parts)])
    for part, low, high in zip(parts, offsets[:-1], offsets[1:], strict=True):
        start[low:high], end[low:high] = times.spans(part, store)

    def joined(name: str, dtype: npt.DTypeLike, missing: int = 0) -> npt.NDArray[Any]:
        # Pages of zeros that are never written take no memory, and many ranges may be Python frames.
        column = store.zeros(total, dtype)
        if missing:
            column[:] = missing
        for part, low, high in zip(parts, offsets[:-1], offsets[1:], strict=True):
            if hasattr(part.rows, name):
                column[low:high] = part.column(name)
        release_pages()
        return column

    def of_inputs(texts: Sequence[str]) -> npt.NDArray[np.int32]:
        column = store.zeros(total, np.int32)
        ids = np.array(strings.intern_all(texts), np.int32)
        for part, low, high in zip(parts, offsets[:-1], offsets[1:], strict=True):
            if isinstance(part.rows, OpRows) and ids.any():
                numbers, found = part.peek("inputs"), column[low:high]
                for rows in blocks(part.count):
                    found[rows] = ids[numbers[rows]]
        release_pages()
        return column

    names = joined("name", np.int32)
    shapes, dtypes, parameters = map(of_inputs, inputs.columns())
    return Ranges(
        start_ns=start,
        end_ns=end,
        thread=joined("thread", np.int32),
        kind=_range_kinds(names, offsets, strings),
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


def _range_kinds(names: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64], strings: Strings) -> Int8s:
    """The kind of each range; ``offsets`` are the bounds of old operators, operators, annotations and frames."""
    kinds = np.empty(len(names), np.int8)
    rules: list[Callable[[str], RangeKind]] = [_kind_of_old_op, _kind_of_op, _kind_of_annotation, _kind_of_frame]
    texts = strings.texts()
    for rule, low, high in zip(rules, offsets[:-1], offsets[1:], strict=True):
        by_name = np.zeros(len(texts), np.int8)
        for name in used_ids(names[low:high]):
            by_name[name] = rule(texts[name])
        kinds[low:high] = by_name[names[low:high]]
    return kinds


def _kind_of_old_op(name: str) -> RangeKind:
    return RangeKind.ANNOTATION if not _STEP.fullmatch(name) and _OLD_ANNOTATION.search(name) else _kind_of_op(name)


def _kind_of_op(name: str) -> RangeKind:
    return RangeKind.ITERATION if _STEP.fullmatch(name) else RangeKind.OP


def _kind_of_annotation(name: str) -> RangeKind:
    return RangeKind.ITERATION if _STEP.fullmatch(name) else RangeKind.ANNOTATION


def _kind_of_frame(name: str) -> RangeKind:
    return RangeKind.MODULE if is_module(name) else RangeKind.FRAME


def _calls(kept: Kept[CallRows], times: Times, correlation: str, store: ColumnStore) -> Calls:
    start, end = times.spans(kept, store)
    return Calls(start, end, kept.column("thread"), kept.column("name"), kept.column(correlation))


def _work(
    kept: Kept[WorkRows], times: Times, strings: Strings, correlation: str, parts: Parts, store: ColumnStore
) -> DeviceWork:
    triples = np.array(kept.rows.triples.triples, np.int32).reshape(-1, 3)
    start, end = times.spans(kept, store)
    kind, name = kept.column("kind"), kept.column("name")
    kernels = kind == WorkKind.KERNEL
    short_of = np.arange(len(strings), dtype=np.int32)
    for identifier in used_ids(name[kernels]):
        short_of[identifier] = strings.intern(short_kernel_name(strings[identifier]))
    short = np.where(kernels, short_of[name], name)
    track, device = kept.column("track"), np.maximum(kept.column("device"), 0)  # a trace without numbers has one device
    return DeviceWork(
        kind=kind,
        start_ns=start,
        end_ns=end,
        process=parts.processes(track, device),
        device=parts.devices_of_work(track, device),
        stream=kept.column("stream"),
        correlation=kept.column(correlation),
        name=name,
        short_name=short,
        grid=triples[kept.column("grid")],
        block=triples[kept.column("block")],
        registers=kept.column("registers"),
        # Kineto writes the sum of static and dynamic memory. The static part of PyTorch's kernels is small and fixed.
        static_shared_bytes=np.full(kept.count, -1, np.int64),
        dynamic_shared_bytes=kept.column("shared_bytes"),
        occupancy_percent=kept.column("occupancy"),
        num_bytes=kept.column("num_bytes"),
        copy_kind=kept.column("copy_kind"),
        graph_node=kept.column("graph_node"),
    )


def _syncs(kept: Kept[SyncRows], times: Times, correlation: str, parts: Parts, store: ColumnStore) -> Syncs:
    start, end = times.spans(kept, store)
    track, device = kept.column("track"), np.maximum(kept.column("device"), 0)  # as for work
    return Syncs(
        start_ns=start,
        end_ns=end,
        process=parts.processes(track, device),
        device=parts.devices_of_work(track, device),
        stream=kept.column("stream"),
        correlation=kept.column(correlation),
        sync_type=kept.column("sync_type"),
        event_id=kept.column("event_id"),
    )


def _memory(
    tables: EventTables, times: Times, time_us: npt.NDArray[np.float64], mask: Mask, work: DeviceWork, parts: Parts
) -> MemoryEvents:
    rows = tables.memory
    thread = np.frombuffer(rows.thread, np.int32)[mask]
    device = parts.devices_of_memory(thread, np.frombuffer(rows.device, np.int32)[mask])
    # The allocator counts visible devices from 0, but AMD's kernels name agents. If there is one of each, they match.
    allocating, working = distinct_values(device[device >= 0]), distinct_values(work.device)
    if len(allocating) == len(working) == 1:
        device = np.where(device >= 0, working[0], device)
    return MemoryEvents(
        time_ns=times.points(time_us[mask]),
        thread=thread,
        device=device.astype(np.int32, copy=False),
        num_bytes=np.frombuffer(rows.num_bytes, np.int64)[mask],
        allocated_bytes=np.frombuffer(rows.allocated_bytes, np.int64)[mask],
        reserved_bytes=np.frombuffer(rows.reserved_bytes, np.int64)[mask],
    )


def _forward_links(tables: EventTables, threads: Sequence[Thread], times: Times, middle_us: float) -> ForwardLinks:
    rows = tables.flows
    thread, start_us = np.asarray(rows.thread), np.asarray(rows.start_us)
    # Arrows with a name get negative numbers. Ends with the same number or name belong to the same arrow.
    name = np.asarray(rows.name, np.int64)
    arrow = np.where((name > 0) & (np.asarray(rows.number) < 0), -1 - name, np.asarray(rows.number))
    owners, owner = numbered(np.array([owner.process_id for owner in threads], np.int64)[thread])
    if len(owners) > 1:  # numbers are unique within a process only
        arrow = numbered(arrow)[1].astype(np.int64) * len(owners) + owner
    usable = usable_start(start_us, middle_us)
    starts, finishes = (_last_of_each(arrow, usable & (np.asarray(rows.end) == end)) for end in (0, 1))
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


def _last_of_each(arrow: Int64s, chosen: Mask) -> Int64s:
    """The last of the chosen rows of each arrow."""
    rows = np.flatnonzero(chosen)[::-1]
    return rows[np.unique(arrow[rows], return_index=True)[1]]


def _recorded(ranges: Ranges, calls: Calls, syncs: Syncs, memory: MemoryEvents, strings: Strings) -> frozenset[str]:
    kinds = set(used_ids(ranges.kind))
    texts = strings.texts()
    found = {
        "ops": RangeKind.OP in kinds,
        "shapes": any(any(map(str.isdigit, texts[text])) for text in used_ids(ranges.shapes)),
        "stacks": RangeKind.FRAME in kinds or bool(ranges.stack.any()),
        "modules": RangeKind.MODULE in kinds,
        "memory": len(memory.time_ns) > 0,
        "steps": RangeKind.ITERATION in kinds,
        "syncs": len(syncs.start_ns) > 0,
        "graphs": any("GraphLaunch" in texts[name] for name in used_ids(calls.name)),
    }
    return frozenset(name for name, present in found.items() if present)
