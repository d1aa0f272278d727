"""Finds why each GPU was idle, from everything that a capture recorded, and names the causes (``diagnosis.idle``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import release_pages
from tensorboard_plugin_dlprof.diagnosis.calls import (
    without_version,
)
from tensorboard_plugin_dlprof.diagnosis.idle import DETAILS, IdlePieces, call_classes, find_idle
from tensorboard_plugin_dlprof.diagnosis.parts import BLOCK_NS, LONG_NS, Part
from tensorboard_plugin_dlprof.diagnosis.recording import Recording
from tensorboard_plugin_dlprof.diagnosis.segments import Activity, Cause, Segments, of_devices
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.dlprof_markers import plain_name
from tensorboard_plugin_dlprof.events.idle_recording import NSIGHT, Host, launch_calls, recording_of, step_names
from tensorboard_plugin_dlprof.events.names import EVALUATE, is_backward_node, shown
from tensorboard_plugin_dlprof.events.paths import module_paths
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind, Rows
from tensorboard_plugin_dlprof.events.trees import Flags, nearest_of
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate


def find_causes(host: Host, iterations: list[IterationCandidate]) -> Activity:
    """The idle time of every GPU with work, with its causes; the times with work are left out."""
    capture = host.capture
    if not len(capture.work.start_ns):
        return Activity([], [])
    recording = recording_of(host, iterations[0])
    activity = _named(host, recording, find_idle(recording))
    activity.launch_calls, activity.launch_calls_without_work = launch_calls(host, recording)
    return activity


_NOTHING, _OF_OP, _OF_TEXT = range(3)


class _Place(msgspec.Struct):
    """Where the host was, for n pieces: what ``number`` is, and the row of an op or the id of a text."""

    what: Int64s
    number: Int64s
    is_frame: Flags


class _Namer:
    def __init__(self, host: Host, recording: Recording) -> None:
        self._host = host
        self.classes = {text: pair for text, *pair in _classes(host, recording)}
        capture, nesting = host.capture, host.nesting
        self._associated = np.array(
            [op.eligibility != Eligibility.UNASSOCIATED for op in host.tables.ops] or [False], np.bool_
        )
        kind = capture.ranges.kind[nesting.row]
        self._named = are_among(kind, (RangeKind.ANNOTATION, RangeKind.MODULE, RangeKind.OP))
        if capture.info.source_format == NSIGHT:  # Other formats have a kind of their own for marks of iterations.
            names = capture.ranges.name[nesting.row]
            words = {text: capture.strings[text] for text in distinct_values(names).tolist()}
            self._named &= ~are_among(names, step_names(words))
        self._draft_of_place = capture.store.empty(len(nesting.row), np.int32)
        self._draft_of_place[:] = -1
        drafts = np.flatnonzero(host.drafts.place >= 0)
        self._draft_of_place[host.drafts.place[drafts]] = drafts
        self._place_of_range: Int32s | None = None
        self._modules: tuple[Int32s, list[str]] | None = None

    def of_calls(self, calls: Int64s) -> _Place:
        """The op around each call, else the range around it; nothing for -1."""
        host = self._host
        place = _nowhere(len(calls))
        known = np.flatnonzero(calls >= 0)
        rows = calls[known]
        op = host.tables.op_of_draft[host.owners.of_call[rows]].astype(np.int64)
        in_op = self._associated[op] if len(op) else np.zeros(0, np.bool_)
        place.what[known[in_op]], place.number[known[in_op]] = _OF_OP, op[in_op]
        outside, rows = known[~in_op], rows[~in_op]
        around = nearest_of(host.links.call_place[rows], self._named, host.nesting.parent)
        inside = np.zeros(len(calls), np.bool_)
        inside[outside[around >= 0]] = True
        _fill(place, inside, self._of_places(around[around >= 0]))
        return place

    def of_items(self, items: Int64s) -> _Place:
        """The op that each range is, or the path of the module, else its name; the name of each Python function."""
        host = self._host
        ranges, frames = host.capture.ranges, host.capture.frames
        place = _nowhere(len(items))
        place.is_frame[:] = items >= len(ranges.start_ns)
        place.what[place.is_frame] = _OF_TEXT
        place.number[place.is_frame] = frames.name[items[place.is_frame] - len(ranges.start_ns)]
        if self._place_of_range is None:
            self._place_of_range = host.capture.store.empty(len(ranges.start_ns), np.int32)
            self._place_of_range[host.nesting.row] = np.arange(len(host.nesting.row), dtype=np.int32)
        _fill(place, ~place.is_frame, self._of_places(self._place_of_range[items[~place.is_frame]]))
        return place

    def _of_places(self, places: Rows) -> _Place:
        """The op that the range at each place is, or the path of the module, else the name."""
        host, nesting = self._host, self._host.nesting
        rows = nesting.row[places]
        name = host.capture.ranges.name[rows]
        is_frame = np.zeros(len(places), np.bool_)
        place = _Place(np.full(len(places), _OF_TEXT), name.astype(np.int64), is_frame)
        module = np.flatnonzero(host.capture.ranges.kind[rows] == RangeKind.MODULE)
        if len(module):
            place.number[module] = self._path_of_module(places[module])
        draft = self._draft_of_place[places]
        outside = np.flatnonzero(draft < 0)
        draft[outside] = self._node_in(places[outside], name[outside])
        in_op = draft >= 0
        op = host.tables.op_of_draft[draft[in_op]].astype(np.int64)
        place.what[in_op], place.number[in_op] = _OF_OP, op
        return place

    def _node_in(self, places: Rows, name: Int32s) -> Int32s:
        """The instance of the autograd node that each range evaluates, of which it is the first range inside; -1 for
        other ranges."""
        nesting, strings = self._host.nesting, self._host.capture.strings
        distinct, number = numbered(name)
        texts = [strings[text] for text in distinct.tolist()]
        nodes = [
            strings.intern(text.removeprefix(EVALUATE)) if text.startswith(EVALUATE) and is_backward_node(text) else -1
            for text in texts
        ]
        node = np.array(nodes, np.int64)[number]
        inside = np.minimum(places + 1, len(nesting.row) - 1)
        is_inside = (inside < nesting.stop[places]) & (self._host.capture.ranges.name[nesting.row[inside]] == node)
        return np.where(is_inside, self._draft_of_place[inside], -1)

    def _path_of_module(self, places: Rows) -> Int64s:
        """The id of the path of the module at each place."""
        capture, nesting = self._host.capture, self._host.nesting
        if self._modules is None:
            self._modules = module_paths(capture, nesting, capture.ranges.kind[nesting.row] == RangeKind.MODULE)
        of_place, texts = self._modules
        distinct, number = numbered(of_place[places])
        return np.array([capture.strings.intern(texts[path]) for path in distinct.tolist()], np.int64)[number]


def _nowhere(count: int) -> _Place:
    return _Place(np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.bool_))


_BY_ITEM = (Part.DATA_LOADER, Part.LAUNCHING, Part.HOST_OP, Part.HOST_CODE)


def _named(host: Host, recording: Recording, idle: Iterable[IdlePieces]) -> Activity:
    """The idle time of every GPU, with equal causes only once."""
    namer, causes = _Namer(host, recording), dict[Cause, int]()
    release_pages()

    def segments() -> Iterator[Segments]:
        for pieces in idle:
            for portion in pieces.portions():
                yield _of_block(host, recording, namer, causes, portion)
            release_pages()

    devices = of_devices(segments())
    return Activity(list(causes), devices)


def _of_block(
    host: Host, recording: Recording, namer: _Namer, causes: dict[Cause, int], pieces: IdlePieces
) -> Segments:
    part, item = pieces.part, pieces.item
    count = len(part)
    place, call = _nowhere(count), np.zeros(count, np.int64)
    detail, long = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    detail[:] = pieces.detail
    known = pieces.of_call & (item >= 0)
    rows = item[known]
    _fill(place, known, namer.of_calls(rows))
    call[known] = host.capture.calls.name[rows]
    duration = recording.calls.stop_ns[rows] - recording.calls.start_ns[rows]
    long[known] = duration >= LONG_NS
    blocked = (part == Part.BLOCKED)[known]
    detail[np.flatnonzero(known)[blocked]] = duration[blocked] >= BLOCK_NS
    by_item = are_among(part, _BY_ITEM) & ~pieces.of_call & (item >= 0)
    _fill(place, by_item, namer.of_items(item[by_item]))
    io = part == Part.IO
    call[io] = host.capture.os_calls.name[item[io]]
    long &= part == Part.BLOCKED
    thread = pieces.thread.astype(np.int64)
    key = combine(part, detail, call, place.what, place.number, place.is_frame, thread, long) if count else call
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int32)
    for index, row in enumerate(first.tolist()):
        cause = _cause(
            host,
            recording,
            namer.classes,
            (int(part[row]), int(detail[row]), int(call[row]), bool(long[row]), int(thread[row])),
            (int(place.what[row]), int(place.number[row]), bool(place.is_frame[row])),
        )
        number[index] = causes.setdefault(cause, len(causes))
    return Segments(pieces.device, pieces.start_ns, pieces.stop_ns, number[inverse.reshape(-1)])


def _fill(place: _Place, selected: Flags, values: _Place) -> None:
    place.what[selected], place.number[selected] = values.what, values.number
    place.is_frame[selected] = values.is_frame


def _classes(host: Host, recording: Recording) -> Iterable[tuple[int, str, str]]:
    """Id of the name of each call, its class however short it is, and if it is long."""
    texts = distinct_values(host.capture.calls.name).tolist()
    return zip(texts, *call_classes(recording), strict=True)


def _cause(
    host: Host,
    recording: Recording,
    classes: dict[int, list[str]],
    about: tuple[int, int, int, bool, int],
    where: tuple[int, int, bool],
) -> Cause:
    part, detail, call, long, thread = about
    what, number, is_frame = where
    strings, ops = host.capture.strings, host.tables.ops
    if part == Part.BLOCKED:
        always, if_long = classes[call]
        word = if_long if detail else always
    else:
        word = DETAILS[detail] if detail >= 0 else ""
    path = ops[number].name if what == _OF_OP else shown(plain_name(strings[number])) if what == _OF_TEXT else ""
    return Cause(
        part=part,
        detail=word,
        call=without_version(strings[call]),
        path=path,
        kind="" if what == _NOTHING else "op" if what == _OF_OP else "frame" if is_frame else "range",
        op_id=ops[number].op_id if what == _OF_OP else "",
        thread=_thread_name(host.capture, thread, recording.main),
        long=long,
    )


def _thread_name(capture: Capture, thread: int, main: int) -> str:
    if thread < 0:
        return ""
    result = capture.threads[thread]
    return "main" if thread == main else result.name or f"thread {result.thread_id}"
