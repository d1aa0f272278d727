"""Writes a window of the timeline, or all of it, as trace events (JSON), which Perfetto and chrome://tracing open.

Each piece of GPU work is one slice on a thread that stands for its stream, with an ``ac2g`` arrow from its call; work
that overlaps on a stream gets further threads, since viewers drop slices that cross. Categories and arguments are
those of PyTorch's profiler. Times are microseconds since the start of the capture with all nanoseconds,
``baseTimeNanoseconds`` is that start on the clock of the source.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush, merge
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.diagnosis.parts import BUSY, Part
from tensorboard_plugin_dlprof.diagnosis.stored import MOST_SEGMENTS, read_activity
from tensorboard_plugin_dlprof.diagnosis.windows import typical_range
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, UnfitDatabase
from tensorboard_plugin_dlprof.queries.extension import info
from tensorboard_plugin_dlprof.queries.item_facts import Facts
from tensorboard_plugin_dlprof.queries.scope import iteration_windows
from tensorboard_plugin_dlprof.queries.tracks import (
    Int64s,
    Items,
    Names,
    TrackRow,
    damaged,
    items_by_part,
    items_in,
    items_numbered,
    joined,
    recorded_tracks,
)
from tensorboard_plugin_dlprof.timeline.tables import CALL, COPY, OP, RANGE, SET, STREAM

MOST_SLICES = 500_000
"""Most slices that a browser is given: about 60 MB."""

_CHUNK_LETTERS = 1 << 18
_LANE = 1_000_000
"""Added to the thread of a stream for work that overlaps other work."""
_ITERATIONS_THREAD = 999_999_999
_IDLE_THREAD = 999_999_998
_DEVICES = 1_000_000_000
"""Added to the numbers of devices where a process has the same number."""
_THREADS = 2_000_000_000
"""Added to ids of tracks for threads whose numbers viewers do not know."""
_OUTER_FIRST = {RANGE: 0, OP: 1, CALL: 2}
"""Kinds of host tracks: of slices that begin and end together, which is around which."""


class Window(NamedTuple):
    """From ``start_ns`` to before ``stop_ns``, since the start of the capture."""

    start_ns: int
    stop_ns: int


def iteration_window(con: sqlite3.Connection, first: int, last: int | None = None) -> Window:
    """The window of an iteration, or from the first to the last, of the best way to divide the capture.

    Raises:
        NotFound: there is no such iteration.
    """
    windows = {number: Window(start, stop) for number, start, stop in iteration_windows(con)}
    last = first if last is None else last
    for iteration in (first, last):
        if iteration not in windows:
            raise NotFound(f"There is no iteration {iteration} in this profile.")
    return Window(windows[first].start_ns, windows[last].stop_ns)


def typical_window(con: sqlite3.Connection) -> Window | None:
    """The window of the typical iterations of the best way to divide the capture; None if all are typical."""
    windows = list(iteration_windows(con))
    typical = typical_range([number for number, _, _ in windows], [stop - start for _, start, stop in windows])
    return None if typical is None else iteration_window(con, typical.iter_start, typical.iter_stop)


def trace_chunks(con: sqlite3.Connection, window: Window | None = None, most: int | None = None) -> Iterator[bytes]:
    """The file in pieces.

    Args:
        window: what to write: all slices that overlap it, and the calls and ops that launched its work; by default all.
        most: most slices of the tracks.

    Raises:
        NotFound: the database has no tracks.
        BadRequest: there are more slices.
        UnfitDatabase: the database is damaged; perhaps only after some pieces.
    """
    try:
        yield from _Trace(con, window, most).chunks()
    except (LookupError, TypeError, ValueError) as error:
        raise UnfitDatabase(damaged(con)) from error


class _Trace:
    def __init__(self, con: sqlite3.Connection, window: Window | None, most: int | None) -> None:
        self._con = con
        self._tracks = recorded_tracks(con)
        whole = Window(-(1 << 62), 1 << 62)
        self._window = window or whole
        self._is_cut = window is not None
        self._names, self._facts = Names(con), Facts(con)
        self._texts: dict[str, str] = {}
        self._calls = [track for track in self._tracks if track.kind == CALL]
        processes = {track.process for track in self._tracks}
        devices = {track.device for track in self._tracks if track.device >= 0}
        self._shift = _DEVICES if processes & devices else 0
        self._tids = {
            (track.process, track.thread): track.thread if 0 <= track.thread < _THREADS else _THREADS + track.id
            for track in reversed(self._tracks)
            if track.device < 0
        }
        """The number of each host thread in the file: viewers know no negative ones, and 31 bits."""
        self._outside: list[Int64s] = []
        """Numbers of calls outside of the window that launched work in it."""
        self._most = most
        begin_ns, end_ns = window or (None, None)
        self._activity = read_activity(con, begin_ns, end_ns, most or MOST_SEGMENTS)
        self._slices = 0

    def chunks(self) -> Iterator[bytes]:
        base = info(self._con).get("base_time_ns", "0")
        waiting = [
            f'{{"schemaVersion": 1, "baseTimeNanoseconds": {int(base)}, "displayTimeUnit": "ns", "traceEvents": [\n'
        ]
        letters, separator = 0, ""
        for event in self._events():
            waiting.append(separator + event)
            letters, separator = letters + len(event), ",\n"
            if letters > _CHUNK_LETTERS:
                yield "".join(waiting).encode()
                waiting, letters = [], 0
        waiting.append("\n]}\n")
        yield "".join(waiting).encode()

    def _events(self) -> Iterator[str]:
        yield from self._metadata()
        yield from self._iterations_of()
        for track in self._tracks:
            if track.kind == STREAM:
                yield from self._stream(track)
        for device in sorted({track.device for track in self._tracks if track.kind == STREAM}):
            yield from self._queue(device)
            yield from self._idle(device)
        outside = np.sort(np.concatenate([np.zeros(0, np.int64), *self._outside]))
        of_thread: dict[tuple[int, int], list[TrackRow]] = {}
        for track in sorted(self._tracks, key=lambda track: _OUTER_FIRST.get(track.kind, 0)):
            if track.kind in _OUTER_FIRST:
                of_thread.setdefault((track.process, track.thread), []).append(track)
        for tracks in of_thread.values():
            yield from self._thread(tracks, outside)

    def _thread(self, tracks: list[TrackRow], outside: Int64s) -> Iterator[str]:
        """The calls, ops and ranges of a host thread. Of those that begin at the same time the outer one comes first:
        viewers drop what would begin inside of a shorter slice."""
        earlier = [items_numbered(self._con, track, outside) for track in tracks if track.kind == CALL]
        begun = joined(earlier).start
        lines = []
        for track in tracks:
            if track.kind == CALL:
                parts: Iterable[Items] = chain(earlier, items_by_part(self._con, track, *self._window))
            else:
                parts = self._around(track, begun)
            lines.append(self._host(track, parts))
        for _, _, event in merge(*lines, key=itemgetter(0, 1)):
            yield event

    def _around(self, track: TrackRow, calls: Int64s) -> Iterator[Items]:
        """The items of a host track: those in the window, and those around calls outside of it."""
        if len(calls):
            before = items_in(self._con, track, int(calls.min()), int(calls.max()) + 1)
            calls = np.sort(calls)
            holds = np.searchsorted(calls, before.start) < np.searchsorted(calls, before.stop)
            inside = (before.start < self._window.stop_ns) & (before.stop > self._window.start_ns)
            yield some_rows(before, holds & ~inside)
        yield from items_by_part(self._con, track, *self._window)

    def _metadata(self) -> Iterator[str]:
        for process in sorted({track.process for track in self._tracks if track.process >= 0}):
            yield self._meta("process_name", process, 0, {"name": f"Process {process}"})
            yield self._meta("process_sort_index", process, 0, {"sort_index": process % 1_000_000})
        for process, thread in sorted({(track.process, track.thread) for track in self._tracks if track.device < 0}):
            on = self._tids[process, thread]
            yield self._meta("thread_name", process, on, {"name": f"thread {thread}"})
        gpus = dict(self._con.execute("SELECT device_id, gpu_name FROM read_only_gpu_infos").fetchmany(1_000))
        for device in sorted({track.device for track in self._tracks if track.device >= 0}):
            name = f"GPU {device}" + (f" ({gpus[device]})" if gpus.get(device) else "")
            yield self._meta("process_name", device + self._shift, 0, {"name": name})
            yield self._meta("process_sort_index", device + self._shift, 0, {"sort_index": 5_000_000 + device})
        for track in self._tracks:
            if track.kind == STREAM:
                yield self._meta("thread_name", track.device + self._shift, max(track.stream, 0), {"name": track.name})

    def _meta(self, name: str, process: int, thread: int, args: dict[str, Any]) -> str:
        return json.dumps({"ph": "M", "name": name, "pid": process, "tid": thread, "ts": 0, "args": args})

    def _iterations_of(self) -> Iterator[str]:
        shown_steps = [
            row
            for row in iteration_windows(self._con)
            if row[1] < self._window.stop_ns and row[2] > self._window.start_ns
        ]
        process = min((track.process for track in self._tracks if track.process >= 0), default=0)
        if shown_steps:
            yield self._meta("thread_name", process, _ITERATIONS_THREAD, {"name": "iterations"})
        for number, start, stop in shown_steps:
            link = f"#dlprof&p.dlprof.view=timeline&p.dlprof.timeline.from={start}&p.dlprof.timeline.to={stop}"
            args = f'{{"iteration": {number}, "dlprof": "{link}"}}'
            yield _slice(f'"iteration {number}"', "iteration", process, _ITERATIONS_THREAD, start, stop - start, args)

    def _text(self, text: str) -> str:
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = json.dumps(text)
        return known

    def _count(self, items: int) -> None:
        self._slices += items
        if self._most is not None and self._slices > self._most:
            raise BadRequest(f"This window holds more than {self._most:,} slices; zoom in.")

    def _host(self, track: TrackRow, parts: Iterable[Items]) -> Iterator[tuple[int, int, str]]:
        """Start, negative end, and event of each item; outer ones first."""
        category, unnamed = {
            CALL: ("cuda_runtime", "launch"),
            OP: ("cpu_op", "op"),
            RANGE: ("user_annotation", "range"),
        }[track.kind]
        on = self._tids[track.process, track.thread]
        for part in parts:
            self._count(len(part.number))
            items = some_rows(part, np.lexsort((-part.stop, part.start)))
            names = self._names.of(track, items.work_class, items.ref)
            for number, start, stop, name in zip(
                items.number.tolist(), items.start.tolist(), items.stop.tolist(), names, strict=True
            ):
                if track.kind == OP:
                    shown, args = name.rpartition("/")[2] or name, f'{{"op": {self._text(name)}}}'
                else:
                    shown, args = name or unnamed, f'{{"correlation": {number + 1}}}' if track.kind == CALL else "{}"
                text = self._text(shown)
                yield start, -stop, _slice(text, category, track.process, on, start, stop - start, args)

    def _stream(self, track: TrackRow) -> Iterator[str]:
        process, thread = track.device + self._shift, max(track.stream, 0)
        lanes = _Lanes()
        for items in items_by_part(self._con, track, *self._window):
            self._count(len(items.number))
            calls = self._launched_by(items)
            names = self._names.of(track, items.work_class, items.ref)
            facts = self._facts.of(track, items.work_class, items.ref)
            for start, stop, kind, call, name, fact in zip(
                *(column.tolist() for column in (items.start, items.stop, items.work_class, items.call)),
                names,
                facts,
                strict=True,
            ):
                lane = lanes.place(start, stop)
                on = thread + lane * _LANE
                if lane and lanes.is_new:
                    yield self._meta("thread_name", process, on, {"name": f"{track.name} (overlapping {lane})"})
                args = {"device": track.device, "stream": track.stream, **fact}
                if call >= 0:
                    args["correlation"] = call + 1
                category = {COPY: "gpu_memcpy", SET: "gpu_memset"}.get(kind, "kernel")
                shown = self._text(args.pop("long_name", name))
                yield _slice(shown, category, process, on, start, stop - start, json.dumps(args))
                if call in calls:
                    from_process, from_thread, began = calls[call]
                    yield _flow("s", call + 1, from_process, from_thread, began)
                    yield _flow("f", call + 1, process, on, start)

    def _launched_by(self, items: Items) -> dict[int, tuple[int, int, int]]:
        """Process, thread and start of the calls of some work."""
        wanted = np.sort(items.call[items.call >= 0])
        places = {}
        for track in self._calls:
            calls = items_numbered(self._con, track, wanted)
            for number, start in zip(calls.number.tolist(), calls.start.tolist(), strict=True):
                places[number] = (track.process, self._tids[track.process, track.thread], start)
            if self._is_cut:
                away = (calls.start >= self._window.stop_ns) | (calls.stop <= self._window.start_ns)
                self._outside.append(np.array(sorted(set(calls.number[away].tolist())), np.int64))
        return places

    def _idle(self, device: int) -> Iterator[str]:
        """Why the device was idle, on a thread of its own."""
        process = device + self._shift
        segments = [one for one in self._activity.devices if one.device == device]
        if not segments:
            return
        yield self._meta("thread_name", process, _IDLE_THREAD, {"name": "idle, why"})
        start, stop = segments[0].start_ns, segments[0].stop_ns
        inside = np.flatnonzero((start < self._window.stop_ns) & (stop > self._window.start_ns))
        for begin, end, number in zip(
            start[inside].tolist(), stop[inside].tolist(), segments[0].cause[inside].tolist(), strict=True
        ):
            cause = self._activity.causes[number]
            if cause.part not in BUSY:
                known = {"detail": cause.detail, "call": cause.call, "path": cause.path, "thread": cause.thread}
                args = json.dumps({key: text for key, text in known.items() if text})
                name = self._text(Part(cause.part).label)
                yield _slice(name, "idle", process, _IDLE_THREAD, begin, end - begin, args)

    def _queue(self, device: int) -> Iterator[str]:
        """The number of launches whose call has begun and whose work has not."""
        first: dict[int, int] = {}
        for track in self._tracks:
            if track.kind == STREAM and track.device == device:
                for items in items_by_part(self._con, track, *self._window):
                    for call, start in zip(items.call.tolist(), items.start.tolist(), strict=True):
                        if call >= 0 and start < first.get(call, start + 1):
                            first[call] = start
        if not first:
            return
        numbers = np.array(sorted(first), np.int64)
        begun = joined([items_numbered(self._con, track, numbers) for track in self._calls])
        ends = np.array([first[number] for number in begun.number.tolist()], np.int64)
        waits = ends > begun.start
        moments = np.concatenate([begun.start[waits], ends[waits]])
        change = np.repeat([1, -1], int(np.count_nonzero(waits)))
        order = np.argsort(moments, kind="stable")
        moments, length = moments[order], np.cumsum(change[order])
        last = np.append(moments[1:] != moments[:-1], True)[: len(moments)]
        for moment, launches in zip(moments[last].tolist(), length[last].tolist(), strict=True):
            yield (
                f'{{"ph": "C", "name": "Queue length", "pid": {device + self._shift}, "tid": 0, "ts": {_us(moment)}, '
                f'"args": {{"launches": {launches}}}}}'
            )


class _Lanes:
    """Distributes the work of a stream to threads on which nothing overlaps."""

    def __init__(self) -> None:
        self._free: list[tuple[int, int]] = []
        """Ends and numbers of the lanes."""
        self._idle: list[int] = []
        self._count = 0
        self.is_new = False

    def place(self, start: int, stop: int) -> int:
        """The lane of the next item by start; 0 is the first."""
        while self._free and self._free[0][0] <= start:
            heappush(self._idle, heappop(self._free)[1])
        self.is_new = not self._idle
        lane = heappop(self._idle) if self._idle else self._count
        self._count = max(self._count, lane + 1)
        heappush(self._free, (stop, lane))
        return lane


def _us(time_ns: int) -> str:
    whole, rest = divmod(abs(time_ns), 1_000)
    return f"{'-' if time_ns < 0 else ''}{whole}.{rest:03d}"


def _slice(name: str, category: str, process: int, thread: int, start: int, duration: int, args: str) -> str:
    return (
        f'{{"ph": "X", "cat": "{category}", "name": {name}, "pid": {process}, "tid": {thread}, "ts": {_us(start)}, '
        f'"dur": {_us(duration)}, "args": {args}}}'
    )


def _flow(phase: str, number: int, process: int, thread: int, time_ns: int) -> str:
    end = ', "bp": "e"' if phase == "f" else ""
    return (
        f'{{"ph": "{phase}", "id": {number}, "cat": "ac2g", "name": "ac2g", "pid": {process}, "tid": {thread}, '
        f'"ts": {_us(time_ns)}{end}}}'
    )
