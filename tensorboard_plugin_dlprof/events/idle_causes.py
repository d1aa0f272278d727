"""Finds why each GPU was idle, from everything that a capture recorded, and names the causes (``diagnosis.idle``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import Eligibility
from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import release_pages
from tensorboard_plugin_dlprof.diagnosis.calls import (
    LIBRARY_DOMAIN,
    gives_work,
    is_file_or_network,
    is_launch,
    is_loader,
    without_version,
)
from tensorboard_plugin_dlprof.diagnosis.idle import DETAILS, IdlePieces, call_classes, find_idle
from tensorboard_plugin_dlprof.diagnosis.parts import BLOCK_NS, LONG_NS, Part
from tensorboard_plugin_dlprof.diagnosis.recording import HostCalls, HostItems, Recording, Work
from tensorboard_plugin_dlprof.diagnosis.segments import Activity, Cause, Segments, of_devices
from tensorboard_plugin_dlprof.diagnosis.spans import Spans
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.drafts import Drafts, Owners
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.names import EVALUATE, is_backward_node, shown
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.op_tables import OpTables
from tensorboard_plugin_dlprof.events.paths import module_paths
from tensorboard_plugin_dlprof.events.resources import loader_texts
from tensorboard_plugin_dlprof.events.tables import Capture, Int32s, Int64s, RangeKind, Rows
from tensorboard_plugin_dlprof.events.trees import Flags, nearest_of
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate

_NSIGHT = "nsight_systems"

_OP_OF_NVTX = re.compile(r"aten::|\w+Backward\d?\b|autograd::")
"""Ranges of autograd's NVTX that are ops."""

_STEP = re.compile(r"(?P<base>.*\b(?:step|iter|iteration|batch|epoch)s?)[ _#:=\-]*\d+\Z", re.IGNORECASE)
"""Ranges that only number iterations, which say nothing about what the host does in them."""

_PUSHED = (
    RangeKind.OP,
    RangeKind.MODULE,
    RangeKind.ANNOTATION,
    RangeKind.DLPROF_TRACE,
    RangeKind.DLPROF_OP,
    RangeKind.DLPROF_CONFIG,
)


class Host(msgspec.Struct):
    """The tables of a capture that tell what the host did."""

    capture: Capture
    nesting: Nesting
    links: Links
    drafts: Drafts
    owners: Owners
    tables: OpTables


def find_causes(host: Host, iterations: list[IterationCandidate]) -> Activity:
    """The idle time of every GPU with work, with its causes; the times with work are left out."""
    capture = host.capture
    if not len(capture.work.start_ns):
        return Activity([], [])
    recording = recording_of(host, iterations[0])
    activity = _named(host, recording, find_idle(recording))
    activity.launch_calls, activity.launch_calls_without_work = _launch_calls(host, recording)
    return activity


def recording_of(host: Host, candidate: IterationCandidate) -> Recording:
    """The capture as the causes of idle time are found from it."""
    capture = host.capture
    calls, work, ranges = capture.calls, capture.work, capture.ranges
    names, number = numbered(calls.name) if len(calls.name) else (np.zeros(0, np.int64), np.zeros(0, np.int64))
    call_names = [capture.strings[text] for text in names.tolist()]
    loader, ops, code = _host_items(capture, host.nesting)
    is_marked = candidate.source != "whole_capture"
    bounds = (candidate.start_ns[0], candidate.stop_ns[-1]) if is_marked else (work.start_ns.min(), work.end_ns.max())
    begin = min(int(table.start_ns.min()) for table in (ranges, calls, work) if len(table.start_ns))
    process = np.array([thread.process_id for thread in capture.threads], np.int64)
    host_calls = HostCalls(calls.start_ns, calls.end_ns, calls.thread, number.astype(np.int32))
    main = _marking_thread(capture, candidate)
    if main < 0:
        main = _busiest_thread(capture, code, host_calls, call_names)
    return Recording(
        work=Work(work.start_ns, work.end_ns, work.device, work.stream, _launching_call(host, host_calls, call_names)),
        calls=host_calls,
        call_names=call_names,
        loader=loader,
        io=_io(capture),
        ops=ops,
        code=code,
        process_of_thread=process,
        main=main,
        begin_ns=begin,
        end_ns=capture.info.end_ns,
        cuts_ns=tuple(map(int, bounds)),
        one_program=capture.info.source_format != _NSIGHT,
    )


def _host_items(capture: Capture, nesting: Nesting) -> tuple[HostItems, HostItems, HostItems]:
    """Ranges of the data loader, outermost ops, and users' ranges with Python functions."""
    ranges, strings = capture.ranges, capture.strings
    pushed = np.flatnonzero(are_among(ranges.kind, _PUSHED)).astype(np.int32)
    texts = distinct_values(ranges.name).tolist()
    words = {text: strings[text] for text in texts}
    is_op = ranges.kind[pushed] == RangeKind.OP
    if capture.info.source_format == _NSIGHT:
        library = [
            text for text in distinct_values(ranges.domain[pushed]).tolist() if LIBRARY_DOMAIN.match(strings[text])
        ]
        own = ~are_among(ranges.domain[pushed], library)
        own &= ~are_among(ranges.name[pushed], [text for text, word in words.items() if word.startswith("nccl")])
        steps = _step_names(words)
        own &= ~are_among(ranges.name[pushed], steps)
        pushed = pushed[own]
        is_op = are_among(ranges.name[pushed], [text for text, word in words.items() if _OP_OF_NVTX.match(word)])
        of_code = ~is_op
    else:
        of_code = are_among(ranges.kind[pushed], (RangeKind.ANNOTATION, RangeKind.MODULE))
    of_loader = are_among(ranges.name[pushed], [text for text, word in words.items() if is_loader(word)])
    if capture.info.source_format == "xplane":
        of_loader |= are_among(ranges.name[pushed], loader_texts(capture).tolist())
    of_loader &= is_op | of_code
    release_pages()
    loader, code = (_items(capture, pushed[selected]) for selected in (of_loader, of_code))
    ops = _items(capture, _outermost(capture, nesting, pushed[is_op]))
    return loader, ops, _with_frames(capture, code)


def _outermost(capture: Capture, nesting: Nesting, ops: Rows) -> Rows:
    """The rows of ops in no other op of their thread: of ten million ops, a few millions."""
    end = capture.ranges.end_ns
    is_op = np.zeros(len(end), np.bool_)
    is_op[ops] = True
    around = nesting.above(nesting.inherit(is_op[nesting.row]))
    inner = np.flatnonzero((around >= 0) & is_op[nesting.row])
    # Ranges that cross were made to nest, which takes no time from the second one here.
    is_inside = end[nesting.row[inner]] <= end[nesting.row[around[inner]]]
    is_op[nesting.row[inner[is_inside]]] = False
    return np.flatnonzero(is_op)


def _items(capture: Capture, rows: Rows) -> HostItems:
    ranges, keep = capture.ranges, capture.store.keep
    spans = Spans(keep(ranges.start_ns[rows]), keep(ranges.end_ns[rows]), keep(rows))
    release_pages()
    return HostItems(spans, keep(ranges.thread[rows]))


def _with_frames(capture: Capture, code: HostItems) -> HostItems:
    """Users' ranges, modules and Python functions. Numbers of functions follow those of ranges."""
    frames, after = capture.frames, len(capture.ranges.start_ns)
    modules = distinct_values(capture.ranges.name[capture.ranges.kind == RangeKind.MODULE])
    rows = np.flatnonzero(~are_among(frames.name, modules.tolist()))  # Modules are ranges, too.
    if not len(rows):
        return code
    columns = zip(code.spans, (frames.start_ns[rows], frames.end_ns[rows], after + rows), strict=True)
    thread = np.concatenate((code.thread, frames.thread[rows]))
    return HostItems(Spans(*(np.concatenate(both) for both in columns)), thread)


def _step_names(words: dict[int, str]) -> list[int]:
    """Names that number iterations, if any of them is numbered more than once."""
    result = {text: match["base"] for text, word in words.items() if (match := _STEP.match(word))}
    bases = list(result.values())
    return list(result) if len(set(bases)) < len(bases) else []


def _io(capture: Capture) -> HostItems:
    calls = capture.os_calls
    texts = distinct_values(calls.name).tolist()
    rows = np.flatnonzero(are_among(calls.name, [text for text in texts if is_file_or_network(capture.strings[text])]))
    return HostItems(Spans(calls.start_ns[rows], calls.end_ns[rows], rows), calls.thread[rows])


def _marking_thread(capture: Capture, candidate: IterationCandidate) -> int:
    """The thread that marks the iterations; -1 if none does."""
    ranges = capture.ranges
    if candidate.source in ("step_annotation", "profiler_step", "numbered_range"):
        rows = np.flatnonzero(ranges.start_ns == candidate.start_ns[0])
        kinds = (RangeKind.ITERATION, RangeKind.ANNOTATION, RangeKind.SPAN)
    elif candidate.source == "optimizer_step":
        rows = np.flatnonzero(ranges.end_ns == candidate.stop_ns[0])
        kinds = (RangeKind.ANNOTATION, RangeKind.OP, RangeKind.SPAN)
    else:
        return -1
    rows = rows[are_among(ranges.kind[rows], kinds)]
    return int(ranges.thread[rows[0]]) if len(rows) else -1


def _busiest_thread(capture: Capture, code: HostItems, calls: HostCalls, call_names: list[str]) -> int:
    """The thread with most time in ranges, else with most launches; -1 if there is neither."""
    of_ranges = code.spans.row < len(capture.ranges.start_ns)
    thread = code.thread[of_ranges]
    if len(thread):
        spent = np.bincount(thread, weights=(code.spans.stop - code.spans.start)[of_ranges])
        return int(spent.argmax())
    launches = np.array([is_launch(name) for name in call_names], np.bool_)
    thread = calls.thread[launches[calls.name]] if len(calls.name) else calls.thread
    return int(np.bincount(thread).argmax()) if len(thread) else -1


def _launching_call(host: Host, calls: HostCalls, call_names: list[str]) -> Int64s:
    """The call that launched each piece of device work: of several with its correlation, the last that launches, copies
    or sets. That is the one in the driver inside one of the runtime."""
    result = host.links.work_call
    correlation = host.capture.calls.correlation
    rows = np.flatnonzero(correlation > 0)
    key = combine(host.links.call_process[rows], correlation[rows]) if len(rows) else rows
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    if not same.any():
        return result
    tied = order[np.append(same, False) | np.insert(same, 0, False)]
    rows, key = rows[tied], key[tied]
    gives = np.array([gives_work(name) for name in call_names], np.bool_)[calls.name[rows]]
    first_stop = calls.stop_ns[rows]
    order = np.lexsort((first_stop, calls.start_ns[rows], gives, key))
    rows, key = rows[order], key[order]
    last = rows[np.append(np.flatnonzero(key[1:] != key[:-1]), len(rows) - 1)]
    instead = np.arange(len(correlation))
    instead[rows] = np.repeat(last, np.diff(np.append(np.flatnonzero(np.append(True, key[1:] != key[:-1])), len(key))))
    return np.where(result >= 0, instead[result], -1)


def _launch_calls(host: Host, recording: Recording) -> tuple[int, int]:
    """How many calls launch kernels or graphs, and of how many no work is recorded. Calls of one
    correlation count as one."""
    calls = host.capture.calls
    launches = np.array([is_launch(name) for name in recording.call_names], np.bool_)
    if not len(calls.name):
        return 0, 0
    rows = np.flatnonzero(launches[recording.calls.name] & (calls.correlation > 0))
    if not len(rows):
        return 0, 0
    result = host.links.work_call
    linked = np.zeros(len(calls.name), np.bool_)
    linked[result[result >= 0]] = True
    distinct, key = numbered(combine(host.links.call_process[rows], calls.correlation[rows]))
    has_work = np.zeros(len(distinct), np.bool_)
    has_work[key[linked[rows]]] = True
    return len(distinct), len(distinct) - int(np.count_nonzero(has_work))


# ---- names -----------------------------------------------------------------------------------------------------------

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
        if capture.info.source_format == _NSIGHT:  # Other formats have a kind of their own for marks of iterations.
            names = capture.ranges.name[nesting.row]
            words = {text: capture.strings[text] for text in distinct_values(names).tolist()}
            self._named &= ~are_among(names, _step_names(words))
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
    path = ops[number].name if what == _OF_OP else shown(strings[number]) if what == _OF_TEXT else ""
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
