"""What a capture recorded, as the causes of idle time are found from it (``diagnosis.recording``)."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among, distinct_values, numbered
from tensorboard_plugin_dlprof.columns.store import release_pages
from tensorboard_plugin_dlprof.diagnosis.calls import (
    LIBRARY_DOMAIN,
    gives_work,
    is_launch,
    is_loader,
)
from tensorboard_plugin_dlprof.diagnosis.captures import capture_spans
from tensorboard_plugin_dlprof.diagnosis.recording import HostCalls, HostItems, Recording, Work
from tensorboard_plugin_dlprof.diagnosis.spans import Spans
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.drafts import Drafts, Owners
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.op_tables import OpTables
from tensorboard_plugin_dlprof.events.resources import loader_texts
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind, Rows
from tensorboard_plugin_dlprof.events.trees import Flags
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate

NSIGHT = "nsight_systems"

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
        one_program=capture.info.source_format != NSIGHT,
    )


def _host_items(capture: Capture, nesting: Nesting) -> tuple[HostItems, HostItems, HostItems]:
    """Ranges of the data loader, outermost ops, and users' ranges with Python functions."""
    ranges, strings = capture.ranges, capture.strings
    pushed = np.flatnonzero(are_among(ranges.kind, _PUSHED)).astype(np.int32)
    texts = distinct_values(ranges.name).tolist()
    words = {text: strings[text] for text in texts}
    is_op = ranges.kind[pushed] == RangeKind.OP
    if capture.info.source_format == NSIGHT:
        library = [
            text for text in distinct_values(ranges.domain[pushed]).tolist() if LIBRARY_DOMAIN.match(strings[text])
        ]
        own = ~are_among(ranges.domain[pushed], library)
        own &= ~are_among(ranges.name[pushed], [text for text, word in words.items() if word.startswith("nccl")])
        steps = step_names(words)
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


def step_names(words: dict[int, str]) -> list[int]:
    """Names that number iterations, if any of them is numbered more than once."""
    result = {text: match["base"] for text, word in words.items() if (match := _STEP.match(word))}
    bases = list(result.values())
    return list(result) if len(set(bases)) < len(bases) else []


def _io(capture: Capture) -> HostItems:
    calls = capture.os_calls  # the importer reads those alone that transfer data
    return HostItems(Spans(calls.start_ns, calls.end_ns, np.arange(len(calls.name))), calls.thread)


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


def launch_calls(host: Host, recording: Recording) -> tuple[int, int]:
    """How many calls launch kernels or graphs, and of how many no work is recorded. Calls of one
    correlation count as one. What is launched into a graph, while it is captured, does not run."""
    calls = host.capture.calls
    launches = np.array([is_launch(name) for name in recording.call_names], np.bool_)
    if not len(calls.name):
        return 0, 0
    rows = np.flatnonzero(launches[recording.calls.name] & (calls.correlation > 0))
    rows = rows[~_into_graphs(host.capture, rows)]
    if not len(rows):
        return 0, 0
    result = host.links.work_call
    linked = np.zeros(len(calls.name), np.bool_)
    linked[result[result >= 0]] = True
    distinct, key = numbered(combine(host.links.call_process[rows], calls.correlation[rows]))
    has_work = np.zeros(len(distinct), np.bool_)
    has_work[key[linked[rows]]] = True
    return len(distinct), len(distinct) - int(np.count_nonzero(has_work))


def _into_graphs(capture: Capture, rows: Rows) -> Flags:
    """Which of these calls begin while a graph is captured on their thread."""
    calls = capture.calls
    texts = {text: capture.strings[text] for text in distinct_values(calls.name).tolist()}
    spans = np.array(capture_spans(texts, calls.name, calls.start_ns, calls.end_ns, calls.thread), np.int64)
    result = np.zeros(len(rows), np.bool_)
    for thread in distinct_values(spans[:, 0]).tolist() if len(spans) else ():
        _, begin, end = spans[spans[:, 0] == thread].T
        start = calls.start_ns[rows]
        last = np.searchsorted(begin, start, "right") - 1
        result |= (calls.thread[rows] == thread) & (last >= 0) & (start < end[last])
    return result
