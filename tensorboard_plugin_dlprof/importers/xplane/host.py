"""Events of host threads: API calls, ranges, Python functions, steps, runs of modules and allocations."""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Calls, Frames, Int64s, MemoryEvents, RangeKind, Strings, Thread
from tensorboard_plugin_dlprof.importers.xplane.events import EventReader, Events
from tensorboard_plugin_dlprof.importers.xplane.lanes import Flags
from tensorboard_plugin_dlprof.importers.xplane.planes import Lookup, Plane
from tensorboard_plugin_dlprof.importers.xplane.wire import Source
from tensorboard_plugin_dlprof.importers.xplane.work import ColumnParts, named

LONG_FRAME_PS = 500_000_000
"""Shorter calls of Python functions are not kept: half a millisecond, as for PyTorch's traces."""

LONG_RANGE_PS = 10_000_000
"""Shorter ranges are not kept: the runtime writes millions, and none of them explains why a GPU waits."""

_CALL = re.compile(r"(?:cuda|hip|hsa|nccl)[A-Z_]|cu[A-Z]|Memcpy|Memset")
_GRAPH_OF_CALL = re.compile(r" \(CudaGraph.*\)\Z")
_FRAME = re.compile(r"\$(?P<file>[^ ]+):(?P<line>\d+) (?P<function>.+)\Z", re.DOTALL)
_RUNTIME = re.compile(
    r"(?!.*[Cc]ompil)(?:.*::|.*PJRT_|PjitFunction\(|(?:ParseArguments|CheckCacheHit|RecordUsage)\b)", re.DOTALL
)
"""Names of ranges of JAX's and XLA's runtime."""
_STEP = re.compile(r"#(?:[^#]*,)?step_num=(\d{1,18})\b")
_GPU_ALLOCATOR = re.compile(r"GPU_(\d{1,5})_bfc")


_NO_STATS = ("$", "ThreadpoolListener::")
"""How names of events begin of which only the time is wanted, if anything."""

_WANTED = frozenset(
    (
        *("correlation_id", "device_id", "allocator_name", "allocation_bytes", "bytes_allocated", "bytes_reserved"),
        *("step_num", "_r", "group_id", "module_name", "_p", "_pt", "_c", "_ct"),
    )
)


class Causes(msgspec.Struct):
    """Events that asked another thread for something, or did what was asked for."""

    start_ns: Int64s
    end_ns: Int64s
    thread: Int64s
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
    thread: Int64s
    name: Int64s
    step: Int64s
    """Number of the step that the range marks; -1 if it marks none."""
    module: Int64s
    """Name (text id) of the module that runs in the range; 0 if it is not the run of a module."""
    frames: Frames
    memory: MemoryEvents
    causes: Causes


def read_host(source: Source, planes: list[Plane], strings: Strings, skipped: Counter[str]) -> Host:
    """All events of the host's threads."""
    reading = _Reading(strings)
    for plane in planes:
        names = Lookup({key: strings.intern(_name(each.name)) for key, each in plane.metadata.items()}, -1)
        frames = Lookup({key: 1 for key, each in plane.metadata.items() if each.name.startswith("$")}, 0)
        without_stats = Lookup({key: 1 for key, each in plane.metadata.items() if each.name.startswith(_NO_STATS)}, 0)
        steps = Lookup({key: step for key, each in plane.metadata.items() if (step := _step_in(each.name)) >= 0}, -1)
        runs = Lookup({key: 1 for key, each in plane.metadata.items() if "ExecuteThunks" in each.name}, 0)
        reader = EventReader(source, plane, strings, _WANTED)
        for line in plane.lines:
            thread = reading.thread(line.id, line.name)
            for events in reader.read(line, without_stats):
                kind = (frames(events.metadata) > 0, runs(events.metadata) > 0, steps(events.metadata))
                reading.add(events, thread, named(names(events.metadata), strings, skipped), *kind)
    return reading.host()


class _Reading:
    """The tables so far."""

    def __init__(self, strings: Strings) -> None:
        self._strings = strings
        self._calls, self._ranges, self._frames, self._memory, self._causes = (ColumnParts() for _ in range(5))
        self._threads: list[Thread] = []
        self._rows: dict[int, int] = {}

    def thread(self, number: int, name: str) -> int:
        """The row of a thread. Ids that are hashes are replaced by numbers that no operating system assigns."""
        if number not in self._rows:
            self._rows[number] = len(self._threads)
            shown = number if 0 < number < 1 << 31 else -2 - len(self._threads)
            self._threads.append(Thread(0, shown, name))
        return self._rows[number]

    def add(self, events: Events, thread: int, name: Int64s, is_frame: Flags, is_run: Flags, step: Int64s) -> None:
        """Sort some events of one thread into the tables."""
        every = {
            "start": events.start_ps // 1000,
            "end": (events.start_ps + events.duration_ps) // 1000,
            "name": name,
            "thread": np.full(len(events), thread, np.int64),
        }
        self._frames.add(is_frame & (events.duration_ps >= LONG_FRAME_PS), **every)
        correlation = events.integers("correlation_id")
        is_call = correlation > 0
        if is_call.any():
            self._calls.add(is_call, correlation=correlation, device=events.integers("device_id"), **every)
        is_memory = events.has("allocator_name") & events.has("bytes_allocated")
        if is_memory.any():
            sizes = {text: events.integers(text) for text in ("allocation_bytes", "bytes_allocated", "bytes_reserved")}
            self._memory.add(is_memory, allocator=events.texts("allocator_name"), **sizes, **every)
        step = np.where(events.has("step_num"), events.integers("step_num"), step)
        root = events.integers("_r") == 1
        if root.any():
            step = np.where((step < 0) & root, events.integers("group_id"), step)
        module = np.where(is_run, events.texts("module_name"), 0)
        producer, consumer = _asked(events, "_p", "_pt"), _asked(events, "_c", "_ct")
        asks = (producer != 0) | (consumer != 0)
        if asks.any():
            self._causes.add(asks, producer=producer, consumer=consumer, **every)
        long = (events.duration_ps >= LONG_RANGE_PS) | (step >= 0) | (module > 0)
        self._ranges.add(long & ~is_frame & ~is_call & ~is_memory, step=step, module=module, **every)

    def host(self) -> Host:
        """The finished tables."""
        calls, ranges, frames = self._calls.joined, self._ranges.joined, self._frames.joined
        return Host(
            threads=self._threads,
            calls=Calls(
                start_ns=calls("start"),
                end_ns=calls("end"),
                thread=calls("thread").astype(np.int32),
                name=self._call_names(calls("name")).astype(np.int32),
                correlation=calls("correlation"),
            ),
            call_device=calls("device"),
            start_ns=ranges("start"),
            end_ns=ranges("end"),
            thread=ranges("thread"),
            name=ranges("name"),
            step=ranges("step"),
            module=ranges("module"),
            frames=Frames(
                start_ns=frames("start"),
                end_ns=frames("end"),
                thread=frames("thread").astype(np.int32),
                kind=np.full(len(frames("name")), RangeKind.FRAME, np.int8),
                name=frames("name").astype(np.int32),
            ),
            memory=self._memory_events(),
            causes=Causes(*map(self._causes.joined, ("start", "end", "thread", "producer", "consumer"))),
        )

    def _call_names(self, name: Int64s) -> Int64s:
        """Names of calls. Old collectors write the kernel's name there, which is the name of no call."""
        distinct, inverse = np.unique(name, return_inverse=True)
        texts = [_GRAPH_OF_CALL.sub("", self._strings[text]) for text in distinct.tolist()]
        shown = [self._strings.intern(text if _CALL.match(text) else "kernel launch") for text in texts]
        return np.array(shown, np.int64)[inverse.reshape(-1)] if shown else name

    def _memory_events(self) -> MemoryEvents:
        """Allocations on GPUs, by time. The allocators of the host are left out."""
        read, strings = self._memory.joined, self._strings
        found = {text: _GPU_ALLOCATOR.match(strings[text]) for text in np.unique(read("allocator")).tolist()}
        devices = {text: int(match[1]) if match else -1 for text, match in found.items()}
        device = np.array([devices[text] for text in read("allocator").tolist()], np.int32)
        rows = np.flatnonzero(device >= 0)
        rows = rows[np.argsort(read("start")[rows], kind="stable")]
        sign = np.where(read("name")[rows] == strings.intern("MemoryDeallocation"), -1, 1)
        reserved = read("bytes_reserved")[rows]
        return MemoryEvents(
            time_ns=read("start")[rows],
            thread=read("thread")[rows].astype(np.int32),
            device=device[rows],
            num_bytes=sign * read("allocation_bytes")[rows],
            allocated_bytes=read("bytes_allocated")[rows],
            # XLA's allocator reserves all at once and writes 0 here.
            reserved_bytes=np.where(reserved > 0, reserved, -1),
        )


def range_kinds(host: Host, strings: Strings) -> npt.NDArray[np.int8]:
    """Kinds of ranges: steps, what the program is in, and what the runtime does inside of another range.

    The last are no places in the program: JAX's ``PjitFunction(step)`` has half a dozen such ranges inside each other.
    """
    kind = np.full(len(host.start_ns), RangeKind.ANNOTATION, np.int8)
    kind[host.step >= 0] = RangeKind.ITERATION
    texts, place = np.unique(host.name, return_inverse=True)
    of_runtime = np.array([_RUNTIME.match(strings[text]) is not None for text in texts.tolist()], np.bool_)
    inner = (host.step < 0) & of_runtime[place.reshape(-1)] if len(texts) else kind > 0
    order = np.lexsort((-host.end_ns, host.start_ns, host.thread))
    order = order[host.step[order] < 0]
    # Threads one after the other on one axis, so that the furthest end so far is that of the same thread.
    span = int(host.end_ns.max(initial=0)) + 1
    if span * (int(host.thread.max(initial=0)) + 1) < 1 << 62:
        shift = host.thread[order] * span
        furthest = np.maximum.accumulate(np.maximum(host.end_ns[order], 0) + shift)
        inside = np.append(False, furthest[:-1] >= host.end_ns[order][1:] + shift[1:])
        rows = order[inside & inner[order]]
        kind[rows] = RangeKind.SPAN
    return kind


def _asked(events: Events, number: str, kind: str) -> Int64s:
    """What events ask for or do: a number that is unique in its kind, mixed with the kind; 0 for nothing."""
    column = events.integers(number, 0)
    mixed: Int64s = column * 31 + events.integers(kind, 0)
    return np.where(column != 0, np.where(mixed == 0, 1, mixed), 0)


def _step_in(name: str) -> int:
    """The step's number in a name that was not taken apart: ``train#step_num=3,_r=1#``; -1 if there is none."""
    found = _STEP.search(name)
    return int(found[1]) if found else -1


def _name(name: str) -> str:
    """A name as shown: Python functions as PyTorch writes them, annotations without their arguments."""
    if not name.startswith("$"):
        return name.partition("#")[0] or name
    found = _FRAME.match(name)
    if found:
        return f"{found['file']}({found['line']}): {found['function']}"
    return f"<built-in function {name[1:].rpartition(' ')[2]}>"
