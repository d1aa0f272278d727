"""Finds why each GPU was idle, gap by gap.

A gap is a maximal time without work on the GPU. From the earliest return of a call for any work after the gap on, work
was waiting, so the host is not to blame. Before that, the thread of that call is asked what it was in, then the main
thread, then the others that launch. Everything is sorting and searching.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values, is_ascending, rows_by_value
from tensorboard_plugin_dlprof.diagnosis.calls import blocking_class, class_if_long, is_launch
from tensorboard_plugin_dlprof.diagnosis.parts import BLOCK_NS, DELIVERY_NS, LONG_NS, NEAR_NS, SHORT_NS, Part
from tensorboard_plugin_dlprof.diagnosis.recording import Int32s, Int64s, Recording
from tensorboard_plugin_dlprof.diagnosis.spans import (
    Spans,
    covered,
    innermost,
    joined,
    meeting,
    no_spans,
    outermost,
    split,
)

_NEVER = np.iinfo(np.int64).max
_ASKED = 8
"""How many of the other threads that launch are asked, most launches first."""

_BLOCK = 1 << 17
_MOST_BLOCKS = 64
"""Gaps are explained in blocks, because intermediate results take several times their memory: one for so many gaps and
items of the host, which divide a gap into pieces, but not in too many, because each takes its time."""

_PIECES = 1 << 16

TURNAROUND, DEPENDENCY, GRAPH, UNEXPLAINED, DELIVERY = range(5)
DETAILS = ("turnaround", "dependency", "graph", "unexplained", "delivery")
"""Why launched work waits; the last one, only of launching, is the way of a launch to an idle GPU."""

_STATES = (Part.DATA_LOADER, Part.BLOCKED, Part.IO)
"""What answers in gaps of any length, in this order."""


class IdlePieces(msgspec.Struct):
    """Idle time of one GPU, one row per piece: disjoint, ascending."""

    device: int
    start_ns: Int64s
    stop_ns: Int64s
    part: Int32s
    """``Part``."""
    item: Int64s
    """By part: row of ``HostCalls`` if blocked; number of the item of the loader, of io, ops or code; the call whose
    work was awaited if queued or unrecorded. -1 if nothing is known, and for short waits of queued work."""
    detail: Int32s
    """Number of ``DETAILS`` if queued, and for the way of a launch to the GPU; -1 elsewhere."""
    thread: Int32s
    """The thread that answered, -1 if none."""
    of_call: npt.NDArray[np.bool_]
    """Whether ``item`` is a row of ``HostCalls``."""

    def portions(self) -> Iterator[IdlePieces]:
        """The same pieces, some tens of thousands at a time: a GPU that mostly waits has millions in a few gaps."""
        for begin in range(0, max(len(self.part), 1), _PIECES):
            some = slice(begin, begin + _PIECES)
            yield IdlePieces(
                device=self.device,
                start_ns=self.start_ns[some],
                stop_ns=self.stop_ns[some],
                part=self.part[some],
                item=self.item[some],
                detail=self.detail[some],
                thread=self.thread[some],
                of_call=self.of_call[some],
            )


def find_idle(recording: Recording) -> Iterator[IdlePieces]:
    """The idle time of every GPU with work, by device id; that of one GPU in several blocks, by time."""
    finder = _Finder(recording)
    for device in distinct_values(recording.work.device).tolist():
        yield from finder.of_device(device)


def call_classes(recording: Recording) -> tuple[list[str], list[str]]:
    """The class of each name of a call: however short the call is, and if it takes ``BLOCK_NS`` or longer."""
    always = [blocking_class(name) for name in recording.call_names]
    return always, [
        call_class or class_if_long(name) for call_class, name in zip(always, recording.call_names, strict=True)
    ]


class _Threads:
    """What each thread was in, by state."""

    def __init__(self, recording: Recording) -> None:
        calls = recording.calls
        always, _ = call_classes(recording)
        of_class = np.array([bool(call_class) for call_class in always] or [False], np.bool_)
        of_calls = Spans(calls.start_ns, calls.stop_ns, np.arange(len(calls.start_ns), dtype=np.int32))
        of_states = {"loader": recording.loader, "io": recording.io, "ops": recording.ops, "code": recording.code}
        self._items = {name: items.spans for name, items in of_states.items()}
        self._items["blocking"] = self._items["calls"] = of_calls
        self._rows = {name: _by_thread(items.spans.start, items.thread) for name, items in of_states.items()}
        self._rows["blocking"], self._rows["calls"] = {}, {}
        for thread, rows in _by_thread(calls.start_ns, calls.thread).items():
            blocks = of_class[calls.name[rows]] | (calls.stop_ns[rows] - calls.start_ns[rows] >= BLOCK_NS)
            self._rows["blocking"][thread], self._rows["calls"][thread] = rows[blocks], rows[~blocks]
        self._longest = {name: int((all_.stop - all_.start).max(initial=0)) for name, all_ in self._items.items()}
        self._longest["calls"] = BLOCK_NS
        self.items = len(calls.start_ns) + sum(len(each.spans.start) for each in of_states.values())
        self._made: dict[tuple[str, int], Spans] = {}
        self._shields: dict[int, Spans] = {}

    def _all(self, state: str, thread: int) -> Spans:
        """All items of a state on a thread, by start, which may overlap."""
        rows = self._rows[state].get(thread)
        return no_spans() if rows is None else self._items[state].some(rows)

    def own(self, state: str, thread: int) -> Spans:
        """The items of a state that answer in gaps of any length, disjoint."""
        key = state, thread
        if key not in self._made:
            items = self._all(state, thread)
            self._made[key] = outermost(items) if state == "loader" else innermost(items)
        return self._made[key]

    def near(self, state: str, thread: int, gaps: Spans) -> Spans:
        """What answers in some gaps only: the outermost ops, else what is innermost, disjoint."""
        rows = self._rows[state].get(thread)
        if rows is None:
            return no_spans()
        start = self._items[state].start.__getitem__
        first = bisect_left(rows, int(gaps.start.min()) - self._longest[state], key=start)
        last = bisect_left(rows, int(gaps.stop.max()), key=start)
        if first == last:
            return no_spans()
        items = self._items[state].some(rows[first:last])
        if len(items.start) > len(gaps.start):  # else leaving some out costs more than it saves
            items = items.some(meeting(items, covered(gaps)))
        return outermost(items) if state == "ops" else innermost(items)

    def shield(self, thread: int) -> Spans:
        """The time in which a thread was in an op, a short call, a range or a function, so that no other is asked."""
        if thread not in self._shields:
            # One state after the other: all of them together are half of what a program recorded.
            covering = [covered(self._all(state, thread)) for state in ("ops", "calls", "code")]
            self._shields[thread] = covered(joined(covering))
        return self._shields[thread]


def _by_thread(start: Int64s, thread: Int32s) -> dict[int, Int32s]:
    """The rows of each thread, by start; there may be ten million."""
    result = {}
    for number, rows in rows_by_value(thread):
        own = start[rows]
        result[number] = (rows if is_ascending(own) else rows[np.argsort(own, kind="stable")]).astype(np.int32)
    return result


class _Explained(msgspec.Struct):
    """Pieces of gaps; ``spans.row`` is the number of the gap."""

    spans: Spans
    part: int
    item: Int64s
    thread: int
    of_call: bool = False
    detail: Int64s | int = -1

    def some(self, rows: npt.NDArray[np.bool_], part: int) -> _Explained:
        """The chosen pieces, as of another part."""
        return _Explained(self.spans.some(rows), part, self.item[rows], self.thread, self.of_call, self.detail)


class _Finder:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._threads = _Threads(recording)

    @cached_property
    def _launching_threads(self) -> list[int]:
        """Threads by number of launches, most first; then by their first launch."""
        calls, names = self._recording.calls, self._recording.call_names
        launches = np.array([is_launch(name) for name in names], np.bool_)
        rows = np.flatnonzero(launches[calls.name]) if len(calls.name) else np.zeros(0, np.int64)
        thread = calls.thread[rows]
        threads = [(-len(own), int(calls.start_ns[rows[own]].min()), number) for number, own in rows_by_value(thread)]
        return [number for _, _, number in sorted(threads)]

    @cached_property
    def _is_graph_launch(self) -> npt.NDArray[np.bool_]:
        return np.array(["Graph" in name for name in self._recording.call_names], np.bool_)

    def of_device(self, device: int) -> Iterator[IdlePieces]:
        gaps = _Gaps(self._recording, device, self._is_graph_launch)
        blocks = min(1 + (gaps.count + self._threads.items) // _BLOCK, _MOST_BLOCKS)
        size = max(1, -(-gaps.count // blocks))
        for begin in range(0, max(gaps.count, 1), size):
            block = np.arange(begin, min(begin + size, gaps.count))
            unknown, asked = gaps.host(block)
            pieces = [
                gaps.queued(block),
                _Explained(unknown, Part.LAUNCH_UNKNOWN, np.full(len(unknown.start), -1), -1),
                *self._asked(gaps, asked),
                gaps.delivery(block),
            ]
            yield _pieces(device, pieces, gaps)

    def _asked(self, gaps: _Gaps, asked: Spans) -> Iterator[_Explained]:
        """The host's part of some gaps."""
        thread = gaps.thread[asked.row]
        thread = np.where(thread < 0, self._recording.main, thread)
        for number, rows in rows_by_value(thread):
            mine = asked.some(rows)
            order = self._order(number)
            answers = list(self._answers(mine, order))
            yield from answers
            taken = joined([answer.spans for answer in answers])
            taken = taken.some(np.argsort(taken.start, kind="stable"))
            _, _, rest = split(mine, taken)
            place = np.searchsorted(mine.row, rest.row)
            is_long = np.bincount(place, weights=rest.stop - rest.start, minlength=len(rows)) >= LONG_NS
            for each in self._rest(rest, order, number):
                long = is_long[np.searchsorted(mine.row, each.spans.row)]
                yield each.some(~long, Part.LAUNCHING)
                if each.part == Part.UNRECORDED:
                    each.item, each.of_call = gaps.awaited[each.spans.row], True
                yield each.some(long, each.part)

    def _order(self, thread: int) -> list[int]:
        """Whom to ask: the responsible thread, the main thread, those that launch most."""
        process, main = self._recording.process_of_thread, self._recording.main
        order = [thread] if thread >= 0 else []
        same = [
            number for number in self._launching_threads[:_ASKED] if thread < 0 or process[number] == process[thread]
        ]
        if main >= 0 and (thread < 0 or self._recording.one_program or process[main] == process[thread]):
            same.insert(0, main)
        return list(dict.fromkeys(order + same))

    def _answers(self, left: Spans, order: list[int]) -> Iterator[_Explained]:
        """Pieces in which a thread loads data, is blocked, or reads and writes."""
        for place, thread in enumerate(order):
            for state, part in zip(("loader", "blocking", "io"), _STATES, strict=True):
                inside, item, left = split(left, self._threads.own(state, thread))
                if len(item):
                    yield _Explained(inside, part, item, thread, state == "blocking")
            later = [
                self._threads.own(state, other)
                for other in order[place + 1 :]
                for state in ("loader", "blocking", "io")
            ]
            open_for_others = np.zeros(len(left.start), np.bool_)
            for items in later:
                if len(items.start):
                    open_for_others |= meeting(left, items)
            left = left.some(open_for_others)
            if not len(left.start):
                return
            _, _, left = split(left, self._threads.shield(thread))

    def _rest(self, left: Spans, order: list[int], responsible: int) -> Iterator[_Explained]:
        """What the host was in besides the answers already given: an op, a short call, a range or a function."""
        for thread in order:
            for state, part in (("ops", Part.HOST_OP), ("calls", Part.HOST_OP), ("code", Part.HOST_CODE)):
                if not len(left.start):
                    return
                inside, item, left = split(left, self._threads.near(state, thread, left))
                if len(item):
                    yield _Explained(inside, part, item, thread, state == "calls")
        yield _Explained(left, Part.UNRECORDED, np.full(len(left.start), -1), responsible)


class _Gaps:
    """The gaps of one GPU."""

    def __init__(self, recording: Recording, device: int, is_graph_launch: npt.NDArray[np.bool_]) -> None:
        work, calls = recording.work, recording.calls
        rows = np.flatnonzero(work.device == device)
        rows = rows[np.argsort(work.start_ns[rows], kind="stable")].astype(np.int32)
        starts, stops, call = work.start_ns[rows], work.stop_ns[rows], work.call[rows]
        self.start, self.stop = _between(starts, stops, recording)
        self.count = len(self.start)
        # Columns of all work are many at once here: indices take 32 bits, and what is needed once lives in a function.
        first = np.searchsorted(starts, self.stop, side="left").astype(np.int32)
        after = np.searchsorted(starts, self.stop, side="right").astype(np.int32)
        del starts
        self.ends = after > first
        """Whether work begins at the end of the gap."""
        self._other_stream = self._changes_stream(work.stream[rows], stops, first)
        del rows, stops
        self._after_other_device = _ends_near(work.stop_ns[work.device != device], self.stop)
        has_call = call >= 0
        self.ended_by_call = _any_of(has_call, first, after)
        graphs = np.zeros(len(call), np.bool_)
        graphs[has_call] = is_graph_launch[calls.name[call[has_call]]]
        self._by_graph = _any_of(graphs, first, after)
        del graphs, after
        self.returned, self.awaited = _awaited(call, calls.stop_ns, first)
        """When the call whose work was awaited returned, and its row, -1 if none is recorded."""
        last = call[has_call][-1] if has_call.any() else -1
        del call, has_call, first
        self.late = (self.returned > self.start) & (self.returned < _NEVER)
        queue_from = np.clip(self.returned, self.start, self.stop)
        self.queue_from = np.where(self.late, np.minimum(queue_from + DELIVERY_NS, self.stop), queue_from)
        awaited = np.where(self.awaited >= 0, self.awaited, last)
        self.thread = np.where(awaited >= 0, calls.thread[awaited], np.int32(-1)) if len(calls.thread) else awaited

    def _changes_stream(self, stream: Int64s, stops: Int64s, first: Int32s) -> npt.NDArray[np.bool_]:
        """Whether the work after each gap is on another stream than the work before it."""
        if not len(stream):
            return np.zeros(self.count, np.bool_)
        by_stop = np.argsort(stops, kind="stable")
        before = np.minimum(np.searchsorted(stops[by_stop], self.start, side="left"), len(stops) - 1)
        is_end = stops[by_stop[before]] == self.start
        differs = stream[by_stop[before]] != stream[np.minimum(first, len(stream) - 1)]
        changes: npt.NDArray[np.bool_] = self.ends & is_end & differs
        return changes

    def queued(self, block: Int64s) -> _Explained:
        """The time in which work was waiting, by reason."""
        waits = block[self.queue_from[block] < self.stop[block]]
        spans = Spans(self.queue_from[waits], self.stop[waits], waits)
        short = spans.stop - spans.start < SHORT_NS
        detail = np.select(
            [
                short & self._other_stream[waits] & ~self.late[waits],
                short,
                self._after_other_device[waits],
                self._by_graph[waits],
            ],
            [DEPENDENCY, TURNAROUND, DEPENDENCY, GRAPH],
            UNEXPLAINED,
        )
        is_explained = (detail == GRAPH) | (detail == UNEXPLAINED)
        return _Explained(spans, Part.QUEUED, np.where(is_explained, self.awaited[waits], -1), -1, True, detail)

    def host(self, block: Int64s) -> tuple[Spans, Spans]:
        """The time before: of gaps that end with work of unknown calls, and that for which the host is asked."""
        block = block[self.queue_from[block] > self.start[block]]
        unknown = self.ends[block] & ~self.ended_by_call[block] & (self.returned[block] >= self.stop[block])
        rows = block[unknown]
        nobody = Spans(self.start[rows], self.queue_from[rows], rows)
        rows = block[~unknown]
        end = np.minimum(self.queue_from[rows], np.where(self.late[rows], self.returned[rows], _NEVER))
        asked = Spans(self.start[rows], end, rows)
        return nobody, asked.some(asked.stop > asked.start)

    def delivery(self, block: Int64s) -> _Explained:
        """The time from the return of the call to when work usually starts."""
        rows = block[self.late[block] & (self.returned[block] < self.queue_from[block])]
        spans = Spans(self.returned[rows], self.queue_from[rows], rows)
        return _Explained(spans, Part.LAUNCHING, np.full(len(rows), -1), -2, detail=DELIVERY)


def _any_of(flags: npt.NDArray[np.bool_], first: Int32s, after: Int32s) -> npt.NDArray[np.bool_]:
    """Whether any of the rows from each ``first`` to before ``after`` is flagged."""
    before = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=before[1:])
    return before[after] > before[first]


def _awaited(call: npt.NDArray[np.integer], call_stop_ns: Int64s, first: Int32s) -> tuple[Int64s, Int32s]:
    """Of all work from each row ``first`` on, the call that returned first (the last of several): when, and its row."""
    returned = np.full(len(call) + 1, _NEVER)
    has_call = call >= 0
    returned[:-1][has_call] = call_stop_ns[call[has_call]]
    best = np.minimum.accumulate(returned[::-1])
    is_new = np.append(True, best[1:] < best[:-1])
    del best
    place = np.where(is_new, np.arange(len(is_new), dtype=np.int32), np.int32(0))
    waiting = (len(call) - np.maximum.accumulate(place))[::-1][first]
    when = returned[waiting]
    return when, np.where(when < _NEVER, np.append(call, -1)[waiting], -1).astype(np.int32)


def _between(starts: Int64s, stops: Int64s, recording: Recording) -> tuple[Int64s, Int64s]:
    """The gaps between work, from the beginning of the capture to its end, cut where that is asked."""
    real = stops > starts
    begins, reach = starts[real], np.maximum.accumulate(stops[real]) if real.any() else stops[real]
    start = np.append(recording.begin_ns, reach)
    stop = np.append(begins, max(recording.end_ns, int(reach[-1]) if len(reach) else 0))
    for cut in recording.cuts_ns:
        inside = np.flatnonzero((start < cut) & (cut < stop))
        start = np.insert(start, inside + 1, cut)
        stop = np.insert(stop, inside, cut)
    is_gap = start < stop
    return start[is_gap], stop[is_gap]


def _ends_near(stops: Int64s, time: Int64s) -> npt.NDArray[np.bool_]:
    """Whether other work ended shortly before each time."""
    stops = np.sort(stops)
    is_near: npt.NDArray[np.bool_] = np.searchsorted(stops, time, side="right") > np.searchsorted(
        stops, time - NEAR_NS, side="left"
    )
    return is_near


def _pieces(device: int, pieces: list[_Explained], gaps: _Gaps) -> IdlePieces:
    spans = joined([each.spans for each in pieces])
    sizes = [len(each.spans.start) for each in pieces]
    thread = np.repeat(np.array([each.thread for each in pieces], np.int32), sizes)
    if (delivered := thread == -2).any():
        thread[delivered] = gaps.thread[spans.row[delivered]]
    order = np.argsort(spans.start, kind="stable")
    return IdlePieces(
        device=device,
        start_ns=spans.start[order],
        stop_ns=spans.stop[order],
        part=np.repeat(np.array([each.part for each in pieces], np.int32), sizes)[order],
        item=np.concatenate([each.item for each in pieces])[order].astype(np.int64),
        detail=np.concatenate([np.broadcast_to(each.detail, size) for each, size in zip(pieces, sizes, strict=True)])[
            order
        ].astype(np.int32),
        thread=thread[order],
        of_call=np.repeat(np.array([each.of_call for each in pieces], np.bool_), sizes)[order],
    )
