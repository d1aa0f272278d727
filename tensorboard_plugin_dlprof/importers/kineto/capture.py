"""Builds a ``Capture`` from the events of a trace: exact times, kinds of ranges, threads, devices.

Columns are taken out of their tables one by one and freed, so that a trace is never in memory twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import column_types
from tensorboard_plugin_dlprof.columns.group import distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import ColumnStore, release_pages
from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Capture,
    DeviceWork,
    ForwardLinks,
    Int8s,
    Int32s,
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
from tensorboard_plugin_dlprof.importers.kineto.collectives import collectives
from tensorboard_plugin_dlprof.importers.kineto.counters import tensor_samples
from tensorboard_plugin_dlprof.importers.kineto.frames import (
    adopt_frames,
    is_module,
    leave_out_empty_frames,
    long_frames,
)
from tensorboard_plugin_dlprof.importers.kineto.metadata import read_devices, read_info
from tensorboard_plugin_dlprof.importers.kineto.ranks import device_numbers, launching_processes, process_numbers
from tensorboard_plugin_dlprof.importers.kineto.tables import TIMED, Events
from tensorboard_plugin_dlprof.importers.kineto.times import (
    Columns,
    Mask,
    count_from,
    leave_out,
    leave_out_unusable,
    middle_of,
    usable_start,
)

_Table = TypeVar("_Table", bound=msgspec.Struct)

_STEP = re.compile(r"ProfilerStep#\d+")
_OLD_ANNOTATION = re.compile(r"#|^DistributedDataParallel\.|^(?!.*::).*\s")
"""Annotations that traces of 2020 and 2021 list among the operators: ``Optimizer.step#SGD.step``,
``enumerate(DataLoader)#...``, ``## forward ##``. No operator has a space or ``#`` in its name."""

_FEW_CALLS = 100
"""Calls whose numbers tell too little."""

_SHARE_OF_NUMBERS = 0.02
"""CUPTI numbers all calls, and PyTorch records 3 to 30 % of them, of AMD's all; a sampled trace had 0.4 %."""

_HOST = ("old_ops", "ops", "annotations", "frames")
"""Tables of host ranges, in the order in which they become one."""


def build_capture(
    events: Events, metadata: Mapping[str, Any], path: Path, rank: int, skipped: Counter[str], store: ColumnStore
) -> Capture:
    """The capture of the events. Empties their tables to save memory.

    Args:
        metadata: the members of the trace besides its events.
        path: the file, whose name may contain the host.
        rank: the one in the file's name; -1 if there is none.
        skipped: numbers of events left out so far, by reason; added to.
    """
    tables, strings = events.tables, Strings(events.texts)
    base_ns, end_ns = _count_from_first(tables, skipped)
    *ranges, frames = host = [tables[name] for name in _HOST]
    calls, work, syncs = (tables[name] for name in ("calls", "work", "syncs"))
    memory = _allocator_events(tables["memory"])
    numbers = process_numbers(events)
    threads = _threads(events, numbers)
    devices, processes = device_numbers(events), launching_processes(events, numbers)
    if not any((table["correlation"] >= 0).any() for table in (calls, work)):
        for table in (calls, work, syncs):
            table["correlation"] = table["external_id"]
    adopt_frames(frames, ranges, calls, threads)
    long_calls = long_frames(frames)
    leave_out_empty_frames(frames, ranges, calls, events.texts)
    for table in (work, syncs):
        table["process"], table["device"] = processes[table["gpu"]], devices[table["gpu"]]
    memory["device"] = _memory_device(devices[memory["gpu"]], work["device"])
    used = distinct_values(np.concatenate([table["device"] for table in (work, syncs, memory)]))
    range_table = _ranges(host, strings, store)
    call_table = _table(Calls, calls)
    work_table = _work(work, strings, events.triples)
    sync_table = _table(Syncs, syncs)
    more = {"address": memory["address"], "asked_bytes": memory.get("asked_bytes")}
    memory_table = _table(MemoryEvents, memory, time_ns=memory["start_ns"], **more)
    thinned = _thinned(call_table, threads)
    recorded = _recorded(range_table, call_table, sync_table, memory_table, strings)
    described, groups = collectives(tables["collectives"], work_table, work["external_id"], strings.texts(), metadata)
    release_pages()
    return Capture(
        info=read_info(metadata, path, rank, numbers.values(), base_ns, end_ns, recorded, thinned),
        strings=strings,
        threads=threads,
        devices=read_devices(metadata, (int(number) for number in used if number >= 0)),
        ranges=range_table,
        calls=call_table,
        work=work_table,
        syncs=sync_table,
        memory=memory_table,
        forward_links=_forward_links(tables["flows"], threads),
        frames=long_calls,
        store=store,
        tensor_samples=tensor_samples(tables["counters"], events.texts),
        collectives=described,
        process_groups=groups,
        skipped={reason: count for reason, count in skipped.items() if count},
    )


def _count_from_first(tables: Mapping[str, Columns], skipped: Counter[str]) -> tuple[int, int]:
    """Leaves out events without usable times, and makes the others count from the first.

    Returns:
        The first start on the trace's clock (ns), 0 without events; and the last end since then.
    """
    timed = [tables[name] for name in (*TIMED, "memory")]
    middle_ns = middle_of(table["start_ns"] for table in timed)
    for table in timed:
        leave_out_unusable(table, middle_ns, skipped)
    first_ns = min((int(table["start_ns"].min()) for table in timed if len(table["start_ns"])), default=0)
    for name in ("flows", "counters"):  # the profiler goes on sampling after the program has ended
        leave_out(tables[name], usable_start(tables[name]["start_ns"], middle_ns))
        tables[name]["start_ns"] -= first_ns
    return first_ns, max(count_from(table, first_ns) for table in timed)


def _table(kind: type[_Table], columns: Columns, **given: Any) -> _Table:
    """A table of columns that are ``given``, and of others under the names of its fields."""
    return kind(**given, **{name: columns[name] for name in column_types(kind) if name not in given})


def _threads(events: Events, process_numbers: Mapping[int | str, int]) -> list[Thread]:
    threads: list[Thread] = []
    for process, thread in events.threads:
        name = events.thread_names.get((process, thread), "")
        if isinstance(thread, str):  # a named thread gets a number that no operating system assigns
            threads.append(Thread(process_numbers[process], -2 - len(threads), name or thread))
        else:
            threads.append(Thread(process_numbers[process], thread, name))
    return threads


def _ranges(tables: Sequence[Columns], strings: Strings, store: ColumnStore) -> Ranges:
    """The ranges of the tables, one table after the other, which are emptied."""
    bounds = np.cumsum([0, *(len(table["start_ns"]) for table in tables)]).tolist()
    slices = [slice(*ends) for ends in pairwise(bounds)]
    columns: Columns = {}
    for name, dtype in column_types(Ranges).items():
        # Pages of zeros that are never written take no memory, and many ranges may be Python frames.
        column = columns[name] = store.zeros(bounds[-1], dtype)
        if name in ("sequence", "forward_thread"):
            column[:] = -1
        for table, rows in zip(tables, slices, strict=True):
            if name in table:
                column[rows] = table.pop(name)
        release_pages()
    columns["kind"] = _range_kinds(columns["name"], slices, strings.texts())
    return Ranges(**columns)


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


def _work(work: Columns, strings: Strings, triples: Sequence[tuple[int, int, int]]) -> DeviceWork:
    dimensions = np.array(triples, np.int32).reshape(-1, 3)
    kernels, name = work["kind"] == WorkKind.KERNEL, work["name"]
    short_of = np.arange(len(strings), dtype=np.int32)
    for number in distinct_values(name[kernels]).tolist():
        short_of[number] = strings.intern(short_kernel_name(strings[number]))
    return _table(
        DeviceWork,
        work,
        short_name=np.where(kernels, short_of[name], name),
        grid=dimensions[work.pop("grid")],
        block=dimensions[work.pop("block")],
        # Kineto writes the sum of static and dynamic memory. The static part of PyTorch's kernels is small and fixed.
        static_shared_bytes=np.full(len(name), -1, np.int64),
    )


def _allocator_events(memory: Columns) -> Columns:
    """The allocator's events, and its failures after those of the same time: they change nothing, and their bytes are
    what was asked for."""
    failed = memory.pop("failed")
    if not failed.any():
        return memory
    order = np.argsort(failed, kind="stable")
    asked = np.where(failed, memory["num_bytes"], 0)
    memory["num_bytes"] = memory["num_bytes"] - asked
    return {name: column[order] for name, column in {**memory, "asked_bytes": asked}.items()}


def _memory_device(device: Int32s, of_work: Int32s) -> Int32s:
    """The numbers of the devices of memory events: the allocator counts visible devices from 0, but AMD's kernels name
    agents. If there is one of each, they match."""
    allocating, working = distinct_values(device[device >= 0]), distinct_values(of_work)
    if len(allocating) == len(working) == 1:
        return np.where(device >= 0, working[0], device).astype(np.int32)
    return device


def _forward_links(flows: Columns, threads: Sequence[Thread]) -> ForwardLinks:
    thread, start_ns = flows["thread"], flows["start_ns"]
    # Arrows with a name get negative numbers. Ends with the same number or name belong to the same arrow.
    arrow = np.where((flows["name"] > 0) & (flows["number"] < 0), -1 - flows["name"].astype(np.int64), flows["number"])
    owners, owner = numbered(np.array([owner.process_id for owner in threads], np.int64)[thread])
    if len(owners) > 1:  # numbers are unique within a process only
        arrow = numbered(arrow)[1] * len(owners) + owner
    starts, finishes = (_last_of_each(arrow, flows["end"] == end) for end in (0, 1))
    _, first, second = np.intersect1d(arrow[starts], arrow[finishes], assume_unique=True, return_indices=True)
    forward, backward = starts[first], finishes[second]
    order = np.lexsort((start_ns[backward], thread[backward], start_ns[forward], thread[forward]))
    forward, backward = forward[order], backward[order]
    return ForwardLinks(
        forward_thread=thread[forward],
        forward_ns=start_ns[forward],
        backward_thread=thread[backward],
        backward_ns=start_ns[backward],
    )


def _last_of_each(arrow: Int64s, mask: Mask) -> Int64s:
    """The last row of each arrow, among those of the mask."""
    rows = np.flatnonzero(mask)[::-1]
    return rows[np.unique(arrow[rows], return_index=True)[1]]


def _thinned(calls: Calls, threads: list[Thread]) -> int:
    """``CaptureInfo.thinned``, by the share of the drivers' numbers of calls that are there, process by process."""
    rows = np.flatnonzero(calls.correlation > 0)
    if not len(rows):
        return -1
    number, process = calls.correlation[rows], numbered(np.array([each.process_id for each in threads]))[1]
    process = process[calls.thread[rows]]
    count = np.bincount(process)
    first, last = np.full(len(count), number.max()), np.zeros(len(count), np.int64)
    np.minimum.at(first, process, number)
    np.maximum.at(last, process, number)
    enough = count >= _FEW_CALLS
    share = count[enough] / (last[enough].astype(np.float64) - first[enough] + 1)  # Damaged numbers may be of any size.
    return int(share.min() < _SHARE_OF_NUMBERS) if len(share) else -1


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
