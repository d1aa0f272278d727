"""Events of host threads: API calls, ranges, Python functions, steps, runs of modules and allocations."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Frames,
    Int32s,
    Int64s,
    MemoryEvents,
    RangeKind,
    Strings,
    Thread,
)
from tensorboard_plugin_dlprof.importers.xplane.events import EventReader, Events
from tensorboard_plugin_dlprof.importers.xplane.lanes import Flags
from tensorboard_plugin_dlprof.importers.xplane.planes import Lookup, Plane
from tensorboard_plugin_dlprof.importers.xplane.wire import Source
from tensorboard_plugin_dlprof.importers.xplane.work import named

LONG_FRAME_PS = 500_000_000
"""Shorter calls of Python functions are not kept: half a millisecond, as for PyTorch's traces."""

LONG_RANGE_PS = 10_000_000
"""Shorter ranges are not kept: the runtime writes millions, and none of them explains why a GPU waits."""

_CALL = re.compile(r"(?:cuda|hip|hsa|nccl)[A-Z_]|cu[A-Z]|Memcpy|Memset")
_GRAPH_OF_CALL = re.compile(r" \(CudaGraph.*\)\Z")
_FRAME = re.compile(r"\$(?P<file>[^ ]+):(?P<line>\d+) (?P<function>.+)\Z", re.DOTALL)
_RUNTIME = re.compile(
    r"(?!.*[Cc]ompil)(?:.*::|.*PJRT_|PjitFunction\(|(?:ParseArguments|CheckCacheHit|RecordUsage|"
    r"ComputeSemaphoreAcquire|DevicePut(?:WithSharding)?|"
    r"Handle inputs?|Resolve constant globals|ThenExecuteCallback|Wait for (?:donation|usage) holds|"
    r"cpp_pjit_shard_arg_fallback)\b)",
    re.DOTALL,
)
"""Names of ranges of JAX's and XLA's runtime."""
_OLD_RUN = ":XLA GPU module"
_STEP = re.compile(r"#(?:[^#]*,)?step_num=(\d{1,18})\b")
_GPU_ALLOCATOR = re.compile(r"GPU_(\d{1,5})_bfc")


_NO_STATS = ("$", "ThreadpoolListener::")
"""How names of events begin of which only the time is wanted, if anything."""

_MOST_STEP = (1 << 31) - 1

_WANTED = frozenset(
    (
        *("correlation_id", "device_id", "allocator_name", "allocation_bytes", "bytes_allocated", "bytes_reserved"),
        *("addr", "step_num", "_r", "group_id", "module_name", "_p", "_pt", "_c", "_ct"),
    )
)


class Causes(msgspec.Struct):
    """Events that asked another thread for something, or did what was asked for."""

    start_ns: Int64s
    end_ns: Int64s
    thread: Int32s
    producer: Int64s
    """What the event asked for; 0 for nothing. The same number is ``consumer`` of the event that does it."""
    consumer: Int64s


class Host(msgspec.Struct):
    """What happened on the host."""

    threads: list[Thread]
    calls: Calls
    call_device: Int64s
    """``device_id`` of each call; -1 if it is not told."""
    start_ns: Int64s
    """Of each range; the next columns too."""
    end_ns: Int64s
    thread: Int32s
    name: Int32s
    step: Int32s
    """Number of the step that the range marks; -1 if it marks none."""
    module: Int32s
    """Name (text id) of the module that runs in the range; 0 if it is not the run of a module."""
    shown: Flags
    """Whether the range is a place in the program, not one of the runtime's own."""
    frames: Frames
    memory: MemoryEvents
    causes: Causes


def read_host(source: Source, planes: list[Plane], strings: Strings, skipped: Counter[str], store: ColumnStore) -> Host:
    """All events of the host's threads."""
    reading = _Reading(strings, store)
    for plane in planes:
        names = Lookup({key: strings.intern(_name(each.name)) for key, each in plane.metadata.items()}, -1)
        frames = Lookup({key: 1 for key, each in plane.metadata.items() if each.name.startswith("$")}, 0)
        without_stats = Lookup({key: 1 for key, each in plane.metadata.items() if each.name.startswith(_NO_STATS)}, 0)
        steps = Lookup({key: step for key, each in plane.metadata.items() if (step := _step_in(each.name)) >= 0}, -1)
        of_runtime = Lookup({key: 1 for key, each in plane.metadata.items() if _RUNTIME.match(_name(each.name))}, 0)
        runs = Lookup({key: 1 for key, each in plane.metadata.items() if "ExecuteThunks" in each.name}, 0)
        # What older versions write in place of it.
        modules = {key: each.name.removesuffix(_OLD_RUN) for key, each in plane.metadata.items()}
        old_runs = Lookup(
            {key: strings.intern(name) for key, name in modules.items() if name != plane.metadata[key].name}, 0
        )
        reader = EventReader(source, plane, strings, _WANTED)
        for line in plane.lines:
            thread = reading.begin_line(line.id, line.name)
            for events in reader.read(line, without_stats):
                module = old_runs(events.metadata)
                if (is_run := runs(events.metadata) > 0).any():
                    module = np.where(is_run, events.texts("module_name"), module)
                kind = (frames(events.metadata) > 0, module, steps(events.metadata), of_runtime(events.metadata) > 0)
                reading.add(events, thread, named(names(events.metadata), strings, skipped), *kind)
    return reading.host()


class _Reading:
    """The tables so far."""

    def __init__(self, strings: Strings, store: ColumnStore) -> None:
        self._strings = strings
        self._calls, self._ranges, self._frames, self._memory, self._causes = (GrowingTable(store) for _ in range(5))
        self._threads: list[Thread] = []
        self._rows: dict[int, int] = {}
        self._furthest = self._furthest_run = -1

    def begin_line(self, number: int, name: str) -> int:
        """The row of a line's thread. Ids that are hashes are replaced by numbers that no operating system assigns."""
        self._furthest = self._furthest_run = -1
        if number not in self._rows:
            self._rows[number] = len(self._threads)
            shown = number if 0 < number < 1 << 31 else -2 - len(self._threads)
            self._threads.append(Thread(0, shown, name))
        return self._rows[number]

    def add(
        self,
        events: Events,
        thread: int,
        name: Int64s,
        is_frame: Flags,
        module: Int64s,
        step: Int64s,
        of_runtime: Flags,
    ) -> None:
        """Sort some events of one thread into the tables."""
        every = {
            "start_ns": events.start_ps // 1000,
            "end_ns": (events.start_ps + events.duration_ps) // 1000,
            "name": name.astype(np.int32),
            "thread": np.full(len(events), thread, np.int32),
        }
        self._frames.add_some(is_frame & (events.duration_ps >= LONG_FRAME_PS), **every)
        correlation = events.integers("correlation_id")
        is_call = correlation > 0
        if is_call.any():
            self._calls.add_some(is_call, correlation=correlation, device=events.integers("device_id"), **every)
        is_memory = events.has("allocator_name") & events.has("bytes_allocated")
        if is_memory.any():
            # The allocators of the host, which allocate more often, are left out.
            device = self._devices(events.texts("allocator_name"))
            sizes = {text: events.integers(text) for text in ("allocation_bytes", "bytes_allocated", "bytes_reserved")}
            own = {name: every[name] for name in ("start_ns", "name", "thread")}
            is_memory_of_gpu = is_memory & (device >= 0)
            self._memory.add_some(is_memory_of_gpu, device=device, address=events.integers("addr"), **sizes, **own)
        step = np.where(events.has("step_num"), events.integers("step_num"), step)
        root = events.integers("_r") == 1
        if root.any():
            step = np.where((step < 0) & root, events.integers("group_id"), step)
        producer, consumer = _asked(events, "_p", "_pt"), _asked(events, "_c", "_ct")
        asks = (producer != 0) | (consumer != 0)
        if asks.any():
            times = {name: every[name] for name in ("start_ns", "end_ns", "thread")}
            self._causes.add_some(asks, producer=producer, consumer=consumer, **times)
        long = (events.duration_ps >= LONG_RANGE_PS) | (step >= 0) | (module > 0)
        short = {"step": np.minimum(step, _MOST_STEP).astype(np.int32), "module": module.astype(np.int32)}
        rows = np.flatnonzero(long & ~is_frame & ~is_call & ~is_memory)
        rows = rows[np.lexsort((-every["end_ns"][rows], every["start_ns"][rows]))]
        self._add_ranges(of_runtime[rows], {key: column[rows] for key, column in (short | every).items()})

    def _add_ranges(self, of_runtime: Flags, line: dict[str, npt.NDArray[Any]]) -> None:
        """Keep what is a place in the program, and the runs of modules.

        What the runtime does inside of another range of the thread is no place, nor is all that is inside of the run of
        a module: JAX's ``PjitFunction(step)`` has half a dozen such ranges inside each other. Only ranges that the file
        has before, or near, are known to be around one: threads are written by start, and have millions of ranges.
        """
        is_step, is_run = line["step"] >= 0, line["module"] > 0
        in_any, self._furthest = _inside(line["end_ns"], ~is_step, self._furthest)
        in_run, self._furthest_run = _inside(line["end_ns"], is_run & ~is_step, self._furthest_run)
        inner = ~is_step & ((in_any & of_runtime) | in_run)
        self._ranges.add_some(~inner | is_run, shown=(~inner).view(np.int8), **line)

    def host(self) -> Host:
        """The finished tables."""
        calls, ranges, frame = self._calls, self._ranges, self._frames.take("name", np.int32)
        kind = np.full(len(frame), RangeKind.FRAME, np.int8)
        return Host(
            threads=self._threads,
            call_device=calls.take("device", np.int64),
            calls=calls.table(Calls, name=self._call_names(calls.take("name", np.int32))),
            start_ns=ranges.take("start_ns", np.int64),
            end_ns=ranges.take("end_ns", np.int64),
            thread=ranges.take("thread", np.int32),
            name=ranges.take("name", np.int32),
            step=ranges.take("step", np.int32),
            module=ranges.take("module", np.int32),
            shown=ranges.take("shown", np.int8).astype(np.bool_),
            frames=self._frames.table(Frames, name=frame, kind=kind),
            memory=self._memory_events(),
            causes=self._causes.table(Causes),
        )

    def _call_names(self, name: Int32s) -> Int32s:
        """Names of calls. Old collectors write the kernel's name there, which is the name of no call."""
        distinct, inverse = numbered(name)
        texts = [_GRAPH_OF_CALL.sub("", self._strings[text]) for text in distinct.tolist()]
        shown = [self._strings.intern(text if _CALL.match(text) else "kernel launch") for text in texts]
        return np.array(shown, np.int32)[inverse]

    def _devices(self, allocator: Int64s) -> Int32s:
        """The GPU of each allocator (text id); -1 for those of the host."""
        distinct, number = numbered(allocator)
        matches = [_GPU_ALLOCATOR.match(self._strings[text]) for text in distinct.tolist()]
        return np.array([int(match[1]) if match else -1 for match in matches], np.int32)[number]

    def _memory_events(self) -> MemoryEvents:
        """Allocations on GPUs, by time."""
        read = self._memory
        time, freed = read.take("start_ns", np.int64), self._strings.intern("MemoryDeallocation")
        rows = np.argsort(time, kind="stable")
        sign = np.where(read.take("name", np.int32)[rows] == freed, -1, 1)
        reserved = read.take("bytes_reserved", np.int64)[rows]
        return MemoryEvents(
            time_ns=time[rows],
            thread=read.take("thread", np.int32)[rows],
            device=read.take("device", np.int32)[rows],
            num_bytes=sign * read.take("allocation_bytes", np.int64)[rows],
            allocated_bytes=read.take("bytes_allocated", np.int64)[rows],
            # XLA's allocator reserves all at once and writes 0 here.
            reserved_bytes=np.where(reserved > 0, reserved, -1),
            address=read.take("address", np.int64)[rows],
        )


def _inside(end: Int64s, outer: Flags, furthest: int) -> tuple[Flags, int]:
    """Which intervals, by start, lie within one of the outer ones before them, and the last end of all outer ones.

    Args:
        outer: Which of them may be around others.
        furthest: Last end of outer ones before all of them.
    """
    ends = np.maximum.accumulate(np.append(furthest, np.where(outer, end, -1)))
    return ends[:-1] >= end, int(ends[-1])


def _asked(events: Events, number: str, kind: str) -> Int64s:
    """What events ask for or do: a number that is unique in its kind, mixed with the kind; 0 for nothing."""
    column = events.integers(number, 0)
    mixed: Int64s = column * 31 + events.integers(kind, 0)
    return np.where(column != 0, np.where(mixed == 0, 1, mixed), 0)


def _step_in(name: str) -> int:
    """The step's number in a name that was not taken apart: ``train#step_num=3,_r=1#``; -1 if there is none."""
    match = _STEP.search(name)
    return int(match[1]) if match else -1


def _name(name: str) -> str:
    """A name as shown: Python functions as PyTorch writes them, annotations without their arguments."""
    if not name.startswith("$"):
        return name.partition("#")[0].removeprefix("NVTX:") or name
    match = _FRAME.match(name)
    if match:
        return f"{match['file']}({match['line']}): {match['function']}"
    return f"<built-in function {name[1:].rpartition(' ')[2]}>"
