"""Draws captures from a few lines of text, so that a test of overlap shows the overlap.

One event per line: *where*, *what*, *from-to* in nanoseconds, *name*, and after `` ; `` options::

    main      op      0-100   aten::linear ; shapes=[[8,4],[2,4]] ; dtypes=["float","float"]
    main      call   10-15    cudaLaunchKernel ; corr=1
    gpu0      kernel 30-60    void gemm<float>(float*) ; corr=1 ; short=gemm
    autograd  op    200-300   AddmmBackward0 ; seq=3 ; fwd=1
    main      arrow  10-210   autograd

Where a host event happens is a thread; ``rank1/main`` is the thread of that name in another
process. Device work happens on ``gpu0``, ``gpu1``, ... (``gpu0/7``: stream 7). Threads have the ids
1, 2, ... in the order of their first line, processes 100, 101, ...
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Capture,
    CaptureInfo,
    Device,
    DeviceWork,
    ForwardLinks,
    Frames,
    MemoryEvents,
    RangeKind,
    Ranges,
    Strings,
    Syncs,
    Thread,
    WorkKind,
)

RANGES = {
    "op": RangeKind.OP,
    "module": RangeKind.MODULE,
    "annotation": RangeKind.ANNOTATION,
    "iteration": RangeKind.ITERATION,
    "frame": RangeKind.FRAME,
    "span": RangeKind.SPAN,
    "trace": RangeKind.DLPROF_TRACE,
    "marker": RangeKind.DLPROF_OP,
    "config": RangeKind.DLPROF_CONFIG,
}
WORK = {"kernel": WorkKind.KERNEL, "memcpy": WorkKind.MEMCPY, "memset": WorkKind.MEMSET, "graph": WorkKind.GRAPH}

_LINE = re.compile(r"(?P<where>\S+)\s+(?P<what>\S+)\s+(?P<start>-?\d+)-(?P<end>-?\d+)\s*(?P<name>.*)")
FIRST_PROCESS = 100


@dataclass
class _Drawing:
    strings: Strings = field(default_factory=Strings)
    threads: dict[str, int] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, line: str) -> None:
        head, *extras = line.split(" ; ")
        result = _LINE.fullmatch(head.strip())
        assert result is not None, f"cannot draw {line!r}"
        options = dict(extra.strip().split("=", 1) for extra in extras)
        what, where = result["what"], result["where"]
        event = {"start": int(result["start"]), "end": int(result["end"]), "name": result["name"].strip(), **options}
        if what in RANGES:
            table, event["kind"], event["thread"] = "ranges", RANGES[what], self.thread(where)
        elif what in WORK:
            table, event["kind"] = "work", WORK[what]
            device, _, stream = where.removeprefix("gpu").partition("/")
            event.update(device=int(device), stream=int(stream or 7))
            event["process"] = self.process(options["process"]) if "process" in options else 0
        elif what == "arrow":
            table, event["thread"], event["to"] = "arrows", self.thread(where), self.thread(event["name"])
        else:
            table, event["thread"] = {"call": "calls", "sync": "syncs", "os": "os"}[what], self.thread(where)
        self.rows.setdefault(table, []).append(event)

    def thread(self, where: str) -> int:
        return self.threads.setdefault(where, len(self.threads))

    def process(self, name: str) -> int:
        return self.processes.setdefault(name, FIRST_PROCESS + len(self.processes))

    def numbers(self, table: str, key: str, default: int = 0, dtype: type = np.int64) -> Any:
        return np.array([int(event.get(key, default)) for event in self.rows.get(table, [])], dtype)

    def texts(self, table: str, key: str) -> Any:
        return np.array([self.strings.intern(event.get(key, "")) for event in self.rows.get(table, [])], np.int32)

    def triples(self, table: str, key: str) -> Any:
        rows = [[int(part) for part in event.get(key, "0,0,0").split(",")] for event in self.rows.get(table, [])]
        return np.array(rows, np.int32).reshape(-1, 3)


def draw(text: str, *, end: int | None = None) -> Capture:
    """The capture of the lines of ``text``; it ends with the last event unless ``end`` says otherwise."""
    drawing = _Drawing()
    for line in text.strip().splitlines():
        if line.strip():
            drawing.add(line)
    threads = [
        Thread(drawing.process(where.rpartition("/")[0]), index + 1, where) for where, index in drawing.threads.items()
    ]
    last = max((event["end"] for rows in drawing.rows.values() for event in rows), default=0)
    devices = sorted({event["device"] for event in drawing.rows.get("work", [])})
    return Capture(
        info=CaptureInfo("drawn", end_ns=last if end is None else end),
        strings=drawing.strings,
        threads=threads,
        devices=[Device(device) for device in devices],
        ranges=_ranges(drawing),
        calls=_calls(drawing, "calls"),
        work=_work(drawing),
        syncs=_syncs(drawing, threads),
        memory=MemoryEvents(*[np.zeros(0, kind) for kind in (np.int64, np.int32, np.int32, *[np.int64] * 3)]),
        forward_links=ForwardLinks(
            forward_thread=drawing.numbers("arrows", "thread", dtype=np.int32),
            forward_ns=drawing.numbers("arrows", "start"),
            backward_thread=drawing.numbers("arrows", "to", dtype=np.int32),
            backward_ns=drawing.numbers("arrows", "end"),
        ),
        os_calls=_calls(drawing, "os"),
        frames=_frames(drawing),
    )


def _ranges(drawing: _Drawing) -> Ranges:
    return Ranges(
        start_ns=drawing.numbers("ranges", "start"),
        end_ns=drawing.numbers("ranges", "end"),
        thread=drawing.numbers("ranges", "thread", dtype=np.int32),
        kind=drawing.numbers("ranges", "kind", dtype=np.int8),
        name=drawing.texts("ranges", "name"),
        domain=drawing.texts("ranges", "domain"),
        shapes=drawing.texts("ranges", "shapes"),
        dtypes=drawing.texts("ranges", "dtypes"),
        parameters=drawing.texts("ranges", "parameters"),
        stack=drawing.texts("ranges", "stack"),
        group=drawing.texts("ranges", "group"),
        sequence=drawing.numbers("ranges", "seq", -1),
        forward_thread=drawing.numbers("ranges", "fwd", -1),
    )


def _frames(drawing: _Drawing) -> Frames:
    """Frames and modules, all taken for long ones."""
    events = drawing.rows.get("ranges", [])
    frames = [event for event in events if event["kind"] in (RangeKind.FRAME, RangeKind.MODULE)]
    return Frames(
        start_ns=np.array([event["start"] for event in frames], np.int64),
        end_ns=np.array([event["end"] for event in frames], np.int64),
        thread=np.array([event["thread"] for event in frames], np.int32),
        kind=np.full(len(frames), RangeKind.FRAME, np.int8),
        name=np.array([drawing.strings.intern(event["name"]) for event in frames], np.int32),
    )


def _calls(drawing: _Drawing, table: str) -> Calls:
    return Calls(
        start_ns=drawing.numbers(table, "start"),
        end_ns=drawing.numbers(table, "end"),
        thread=drawing.numbers(table, "thread", dtype=np.int32),
        name=drawing.texts(table, "name"),
        correlation=drawing.numbers(table, "corr", -1),
    )


def _work(drawing: _Drawing) -> DeviceWork:
    short = [event.get("short", event["name"] if event["kind"] == WorkKind.KERNEL else "") for event in
             drawing.rows.get("work", [])]  # fmt: skip
    return DeviceWork(
        kind=drawing.numbers("work", "kind", dtype=np.int8),
        start_ns=drawing.numbers("work", "start"),
        end_ns=drawing.numbers("work", "end"),
        process=drawing.numbers("work", "process", dtype=np.int32),
        device=drawing.numbers("work", "device", dtype=np.int32),
        stream=drawing.numbers("work", "stream"),
        correlation=drawing.numbers("work", "corr", -1),
        name=drawing.texts("work", "name"),
        short_name=np.array([drawing.strings.intern(text) for text in short], np.int32),
        grid=drawing.triples("work", "grid"),
        block=drawing.triples("work", "block"),
        registers=drawing.numbers("work", "registers", -1, np.int32),
        static_shared_bytes=drawing.numbers("work", "static", -1),
        dynamic_shared_bytes=drawing.numbers("work", "dynamic", -1),
        occupancy_percent=drawing.numbers("work", "occupancy", -1, np.int32),
        num_bytes=drawing.numbers("work", "bytes", -1),
        copy_kind=drawing.numbers("work", "copy", -1, np.int32),
        graph_node=drawing.numbers("work", "node", -1),
    )


def _syncs(drawing: _Drawing, threads: list[Thread]) -> Syncs:
    several = len({thread.process_id for thread in threads}) > 1
    process = [threads[event["thread"]].process_id if several else 0 for event in drawing.rows.get("syncs", [])]
    return Syncs(
        start_ns=drawing.numbers("syncs", "start"),
        end_ns=drawing.numbers("syncs", "end"),
        process=np.array(process, np.int32),
        device=drawing.numbers("syncs", "device", dtype=np.int32),
        stream=drawing.numbers("syncs", "stream", -1),
        correlation=drawing.numbers("syncs", "corr", -1),
        sync_type=drawing.numbers("syncs", "type", -1, np.int32),
        event_id=drawing.numbers("syncs", "event", -1),
    )
