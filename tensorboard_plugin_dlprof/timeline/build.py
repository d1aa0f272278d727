"""Makes the tracks of a profile: first the calls of each host thread, then its ops and ranges, then streams and
devices.

Of calls that launch nothing and synchronise nothing, only those of 10 microseconds or more are kept: programs ask for
the current device millions of times, and nobody can see it. Kernels of one graph launch share their call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import Eligibility, MatrixUnit
from tensorboard_plugin_dlprof.columns.group import are_among, begins_new, distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import spilled
from tensorboard_plugin_dlprof.events.tables import Int8s, Int32s, Int64s
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.profile.tables import Copies, GraphLaunches, Kernels, Profile
from tensorboard_plugin_dlprof.timeline.tables import (
    ALLOCATION_CALL,
    CALL,
    COMMUNICATION,
    COPY,
    COPY_CALL,
    DEVICE,
    GRAPH,
    LAUNCH_CALL,
    OP,
    OTHER_CALL,
    OTHER_KERNEL,
    QUEUE,
    RANGE,
    SET,
    STREAM,
    SYNC_CALL,
    TENSOR_CORE,
    UNKNOWN_KERNEL,
    Track,
)

SHORTEST_OTHER_CALL_NS = 10_000
"""Shorter calls that neither launch nor synchronise are left out."""

_SYNC = Expression(r"(?:cuda|hip|cu)(?:Stream|Device|Event|Ctx)Synchronize")
_ALLOCATION = Expression(
    r"(?:cuda|hip|cu)(?!\w*Async)(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister|Mem(?:Alloc|Free|Create|Release|Map|"
    r"Unmap|SetAccess|AddressReserve|AddressFree))"
)
_COPY = Expression(r"(?:cuda|hip|cu)Mem(?:cpy|set)")
_LAUNCH = Expression(r"(?:cuda|hip|cu)\w*Launch")

_UNIT_CLASS = {MatrixUnit.YES: TENSOR_CORE, MatrixUnit.NO: OTHER_KERNEL, MatrixUnit.UNKNOWN: UNKNOWN_KERNEL}


def call_class(name: str) -> int:
    """The class of an API call by its name (``CALL_CLASSES``)."""
    for pattern, name_of_class in (
        (_LAUNCH, LAUNCH_CALL),
        (_COPY, COPY_CALL),
        (_SYNC, SYNC_CALL),
        (_ALLOCATION, ALLOCATION_CALL),
    ):
        if pattern.match(name):
            return name_of_class
    return OTHER_CALL


def build_tracks(profile: Profile) -> Iterator[Track]:
    """The tracks of a profile, one at a time, calls first."""
    calls = _Calls(profile)
    yield from calls.tracks()
    yield from _op_tracks(profile)
    yield from _range_tracks(profile)
    yield from _work_tracks(profile, calls)
    yield from _device_tracks(profile)


class _Calls:
    """The calls of all threads, ordered by thread, start and stop."""

    def __init__(self, profile: Profile) -> None:
        tables: list[tuple[Kernels | Copies, Int64s]] = [
            (table, np.flatnonzero(table.launched)) for table in (profile.kernels, profile.memcpys, profile.memsets)
        ]
        other = _shown_calls(profile)

        def column(name: str) -> npt.NDArray[Any]:
            parts = [getattr(table, name)[rows] for table, rows in tables]
            return spilled(np.concatenate((getattr(profile.syncs, name), *parts, getattr(profile.calls, name)[other])))

        start, stop = column("api_start_ns"), column("api_end_ns")
        names = [profile.syncs.name, _launch_names(profile)[tables[0][1]]]
        names += [table.name[rows] for table, rows in tables[1:]] + [profile.calls.name[other]]
        name = spilled(np.concatenate(names))
        del names
        self.threads, number = _numbered_pairs(column("process_id"), column("thread_id"))
        order = np.lexsort((stop, start, number))
        # Kernels of one graph launch have the same call.
        is_new = begins_new(order, start, stop, number)
        of_row = np.empty(len(order), np.int32)
        of_row[order] = np.cumsum(is_new, dtype=np.int32) - 1
        ends = np.cumsum([len(profile.syncs.op), *(len(rows) for _, rows in tables)])
        self._of_work = []
        for (table, rows), begin, end in zip(tables, ends, ends[1:], strict=False):
            call = np.full(len(table.launched), -1, np.int32)
            call[rows] = of_row[begin:end]
            self._of_work.append(spilled(call))
        del of_row
        first = order[is_new]
        del order, is_new
        self.thread: Int32s = spilled(number[first])
        self.start: Int64s = spilled(start[first])
        self.stop: Int64s = spilled(stop[first])
        self.name: Int32s = spilled(name[first])
        classes = np.zeros(len(profile.strings), np.int8)
        for text in distinct_values(self.name).tolist():
            classes[text] = call_class(profile.strings[text]) if text else LAUNCH_CALL
        self.work_class: Int8s = classes[self.name]

    def of(self, table: int) -> Int32s:
        """The call of each row of kernels (0), copies (1) or sets (2); -1 where it is not recorded."""
        return self._of_work[table]

    def tracks(self) -> Iterator[Track]:
        bounds = np.searchsorted(self.thread, np.arange(len(self.threads) + 1)).tolist()
        for (process, thread), begin, end in zip(self.threads, bounds, bounds[1:], strict=False):
            some = slice(begin, end)
            yield Track(
                CALL,
                self.start[some],
                self.stop[some],
                process=process,
                thread=thread,
                work_class=self.work_class[some],
                ref=self.name[some].astype(np.int64),
            )


def _launch_names(profile: Profile) -> Int32s:
    """The text id of the call that launched each kernel; 0 where its name is not known."""
    names = profile.kernels.call_name
    return np.zeros(len(profile.kernels.op), np.int32) if names is None else names


def _shown_calls(profile: Profile) -> Int64s:
    """Rows of ``Profile.calls`` that get an item."""
    calls, strings = profile.calls, profile.strings
    named = [
        text for text in distinct_values(calls.name).tolist() if call_class(strings[text]) in (LAUNCH_CALL, SYNC_CALL)
    ]
    return np.flatnonzero(
        (calls.api_end_ns - calls.api_start_ns >= SHORTEST_OTHER_CALL_NS) | are_among(calls.name, named)
    )


def _numbered_pairs(process: Int64s, thread: Int64s) -> tuple[list[tuple[int, int]], Int32s]:
    """The distinct pairs in ascending order, and the number of each row's pair."""
    processes, number = numbered(process)
    threads, of_thread = numbered(thread)
    number *= max(len(threads), 1)
    number += of_thread
    del of_thread
    keys, number = numbered(number)
    pairs = [(int(processes[key // len(threads)]), int(threads[key % len(threads)])) for key in keys.tolist()]
    return pairs, number.astype(np.int32)


def _op_tracks(profile: Profile) -> Iterator[Track]:
    instances = profile.instances
    named = np.array([op.eligibility != Eligibility.UNASSOCIATED for op in profile.ops], np.bool_)
    if not len(named):
        return
    rows = np.flatnonzero(named[instances.op] & (instances.end_ns > instances.start_ns))
    threads, number = _numbered_pairs(instances.process_id[rows], instances.thread_id[rows])
    for index, (process, thread) in enumerate(threads):
        some = rows[number == index]
        order = some[np.lexsort((-instances.end_ns[some], instances.start_ns[some]))]
        yield Track(
            OP,
            instances.start_ns[order],
            instances.end_ns[order],
            process=process,
            thread=thread,
            ref=instances.op[order].astype(np.int64),
        )


def _range_tracks(profile: Profile) -> Iterator[Track]:
    ranges = profile.host_ranges
    threads, number = _numbered_pairs(ranges.process_id, ranges.thread_id)
    for index, (process, thread) in enumerate(threads):
        for level in range(int(ranges.level.max()) + 1):
            some = np.flatnonzero((number == index) & (ranges.level == level))
            if not len(some):
                continue
            some = some[np.argsort(ranges.start_ns[some], kind="stable")]
            yield Track(
                RANGE,
                ranges.start_ns[some],
                ranges.stop_ns[some],
                process=process,
                thread=thread,
                level=level,
                ref=ranges.name[some].astype(np.int64),
            )


class _Work:
    """All GPU work of one device, unordered."""

    def __init__(self, profile: Profile, calls: _Calls, device: int) -> None:
        kernels = profile.kernels
        collectives = [text for text, kind in profile.kernel_classes.items() if kind.family == "collective"]
        of_unit = np.array([_UNIT_CLASS[MatrixUnit(unit)] for unit in range(len(MatrixUnit))], np.int8)
        tables: list[Kernels | Copies | GraphLaunches] = [kernels, profile.memcpys, profile.memsets, profile.graphs]
        rows = [np.flatnonzero(table.device == device) for table in tables]

        def column(name: str) -> npt.NDArray[Any]:
            return spilled(np.concatenate([getattr(table, name)[own] for table, own in zip(tables, rows, strict=True)]))

        self.start, self.stop, self.stream = column("start_ns"), column("end_ns"), column("stream")
        of_kernels = of_unit[kernels.matrix_unit[rows[0]]]
        of_kernels[are_among(kernels.long_name[rows[0]], collectives)] = COMMUNICATION
        of_others = [np.full(len(own), kind, np.int8) for own, kind in zip(rows[1:], (COPY, SET, GRAPH), strict=True)]
        self.work_class: Int8s = np.concatenate((of_kernels, *of_others))
        self.ref: Int64s = spilled(np.concatenate(rows))
        called = [calls.of(number)[own] for number, own in enumerate(rows[:3])]
        self.call: Int32s = spilled(np.concatenate((*called, np.full(len(rows[3]), -1, np.int32))))


def _work_tracks(profile: Profile, calls: _Calls) -> Iterator[Track]:
    for device in _devices(profile):
        work = _Work(profile, calls, device)
        for stream in distinct_values(work.stream).tolist():
            some = np.flatnonzero(work.stream == stream)
            some = some[np.lexsort((work.stop[some], work.start[some]))]
            yield Track(
                STREAM,
                work.start[some],
                work.stop[some],
                device=device,
                stream=stream,
                work_class=work.work_class[some],
                ref=work.ref[some],
                call=work.call[some],
            )
        yield _queue_track(work, calls, device)


def _devices(profile: Profile) -> list[int]:
    tables: list[Kernels | Copies | GraphLaunches] = [profile.kernels, profile.memcpys, profile.memsets, profile.graphs]
    return sorted({int(device) for table in tables for device in distinct_values(table.device)})


def _device_tracks(profile: Profile) -> Iterator[Track]:
    """What each device did at every moment, and why it was idle."""
    part = np.array([cause.part for cause in profile.activity.causes], np.int8)
    for segments in profile.activity.devices:
        yield Track(
            DEVICE, segments.start_ns, segments.stop_ns, device=segments.device, work_class=part[segments.cause]
        )


def _queue_track(work: _Work, calls: _Calls, device: int) -> Track:
    """The time that each launch waits: from the begin of its call to the begin of its first work. As many launches wait
    at an instant as items cover it."""
    rows = np.flatnonzero(work.call >= 0)
    order = np.lexsort((work.start[rows], work.call[rows]))
    call, begins = work.call[rows][order], work.start[rows][order]
    first = np.ones(len(call), np.bool_)
    first[1:] = call[1:] != call[:-1]
    start, stop = calls.start[call[first]], begins[first]
    waits = np.flatnonzero(stop > start)
    waits = waits[np.argsort(start[waits], kind="stable")]
    return Track(QUEUE, start[waits], stop[waits], device=device)
