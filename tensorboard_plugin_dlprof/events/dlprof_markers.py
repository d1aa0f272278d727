"""Ops from DLProf's own NVTX markers, by DLProf's rules to the letter (database layout, section 5).

A *trace* marker gives path and stack, the *op* marker inside it the op, its time and its tensors;
a *config* marker the settings of the model. Nested op markers are pieces of the outer one. Markers
are Python literals that the profiled program wrote: they are parsed, never evaluated, and what is
too large or malformed is counted and left out.
"""

from __future__ import annotations

import json
import re

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.distinct import numbered
from tensorboard_plugin_dlprof.events.drafts import FORWARD, Drafts, OpKey, Owners
from tensorboard_plugin_dlprof.events.formats import Formats, Shape, output_shapes
from tensorboard_plugin_dlprof.events.inputs import NULL, Described, Tensor, largest_data_type, stored, stored_nameless
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.literals import read_literal
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind, valid_text
from tensorboard_plugin_dlprof.profile.tables import ModelConfig

_MAX_MARKER = 1 << 16
_MORE_THAN_A_LENGTH = 1 << 63
_MALFORMED = "DLProf markers that are not readable"

_CONV2D = Formats("N,C,H,W;K,C,R,S", "N,K,P,Q", "SH,SW;PH,PW;DH,DW;G")
_LINEAR = Formats("N,K;M,K", "N,M", "")


class OpMarker(msgspec.Struct, frozen=True):
    """What an op marker says."""

    op_type: str
    names: list[str]
    tensors: list[Tensor]


class TraceMarker(msgspec.Struct, frozen=True):
    """What a trace marker says."""

    path: str
    stack: str


_NO_OP = OpMarker("", [], [])
_NO_TRACE = TraceMarker("", "")


def has_markers(capture: Capture) -> bool:
    """Whether DLProf's rules apply."""
    return bool((capture.ranges.kind == RangeKind.DLPROF_OP).any())


class MarkedOps(msgspec.Struct):
    """The outermost op markers of a capture, in the order of their places."""

    drafts: Drafts
    """One for each; markers with one text inside traces with one text share a key."""
    owners: Owners
    """The instance of each call; -1 for calls in no op."""
    described_by: Int64s
    """For each draft the index of ``described``."""
    described: list[Described]
    """What distinct markers say of their tensors."""
    stack_of: Int64s
    """For each draft the index of ``stacks``."""
    stacks: list[str]
    """Stack traces of distinct traces."""


def find_marked_ops(capture: Capture, nesting: Nesting, links: Links) -> MarkedOps:
    """The instances of DLProf's op markers. Each distinct text is parsed only once, since loops repeat them."""
    kind = capture.ranges.kind[nesting.row]
    is_op = kind == RangeKind.DLPROF_OP
    places = np.flatnonzero(is_op & (nesting.above(nesting.inherit(is_op)) < 0))
    trace_places = nesting.inherit(kind == RangeKind.DLPROF_TRACE)[places].astype(np.int64)
    marker_texts, marker = numbered(_texts(capture, nesting, places))
    trace_texts, trace = numbered(_texts(capture, nesting, trace_places))
    markers = [parse_op(capture.strings[text]) for text in marker_texts.tolist()]
    # No trace around it is as good as an empty one.
    traces = [parse_trace(capture.strings[text]) if text else _NO_TRACE for text in trace_texts.tolist()]
    readable = np.array([found is not None for found in markers], np.bool_)[marker]
    malformed = ~(readable & np.array([found is not None for found in traces], np.bool_)[trace])
    if malformed.any():
        capture.skipped[_MALFORMED] = capture.skipped.get(_MALFORMED, 0) + int(np.count_nonzero(malformed))
    places, marker, trace = places[readable], marker[readable], trace[readable]
    return MarkedOps(
        drafts=_drafts(capture, nesting, places, (markers, marker), (traces, trace)),
        owners=_owners(capture, links, nesting, places),
        described_by=marker,
        described=[describe_marker(found or _NO_OP) for found in markers],
        stack_of=trace,
        stacks=[(found or _NO_TRACE).stack for found in traces],
    )


def _texts(capture: Capture, nesting: Nesting, places: Int64s) -> Int64s:
    """Ids of the texts of ranges; 0 where there is none."""
    return np.where(places >= 0, capture.ranges.name[nesting.row[places]], 0).astype(np.int64)


def _drafts(
    capture: Capture,
    nesting: Nesting,
    places: Int64s,
    markers: tuple[list[OpMarker | None], Int64s],
    traces: tuple[list[TraceMarker | None], Int64s],
) -> Drafts:
    """Drafts of some places, whose markers and traces are given as distinct ones and their indices."""
    rows = nesting.row[places]
    thread = capture.ranges.thread[rows]
    pairs, key = numbered(markers[1] * len(traces[0]) + traces[1])
    nowhere = np.full(len(rows), -1, np.int64)
    return Drafts(
        start_ns=capture.ranges.start_ns[rows],
        end_ns=capture.ranges.end_ns[rows],
        process_id=np.array([item.process_id for item in capture.threads], np.int64)[thread],
        thread_id=np.array([item.thread_id for item in capture.threads], np.int64)[thread],
        key=key,
        place=nowhere,
        described_by=nowhere,
        stack_of=nowhere,
        keys=[
            _key(markers[0][marker] or _NO_OP, traces[0][trace] or _NO_TRACE)
            for marker, trace in (divmod(pair, len(traces[0])) for pair in pairs.tolist())
        ],
    )


def _key(marker: OpMarker, trace: TraceMarker) -> OpKey:
    return OpKey(trace.path or f"/{marker.op_type}", marker.op_type, FORWARD)


def _owners(capture: Capture, links: Links, nesting: Nesting, places: Int64s) -> Owners:
    own = np.zeros(len(nesting.row), np.bool_)
    own[places] = True
    row_of_place = np.full(len(own) + 1, -1, np.int32)
    row_of_place[places] = np.arange(len(places))
    owner = np.append(nesting.inherit(own), -1)
    of_call = row_of_place[owner[links.call_place]]
    of_work = np.full(len(links.work_call), -1, np.int64)
    launched = links.work_call >= 0
    of_work[launched] = of_call[links.work_call[launched]]
    return Owners(of_call, of_work)


def parse_op(text: str) -> OpMarker | None:
    """``{'mod': 'Tensor', 'op': 'add', 'args': [...]}``; None where it is not that."""
    literal = _literal(text)
    if not isinstance(literal, dict) or not isinstance(literal.get("op"), str) or not literal["op"]:
        return None
    arguments = literal.get("args")
    names: list[str] = []
    tensors: list[Tensor] = []
    for argument in arguments if isinstance(arguments, list | tuple) else []:
        if isinstance(argument, dict) and argument.get("type") == "tensor":
            shape = argument.get("shape")
            sizes: Shape = list(filter(_is_length, shape)) if isinstance(shape, list | tuple) else []
            names.append(_text(argument.get("name")))
            tensors.append(Tensor(sizes, _text(argument.get("dtype"))))
    return OpMarker(valid_text(literal["op"]), names, tensors)


def parse_trace(text: str) -> TraceMarker | None:
    """``{'traceMarker': [...], 'funcStack': '/<module>/linear'}``; None where it is not that."""
    literal = _literal(text)
    if not isinstance(literal, dict) or not isinstance(literal.get("funcStack"), str):
        return None
    path = re.sub(r"\((\d+)\)", r"[\1]", valid_text(literal["funcStack"]).replace("<", "").replace(">", ""))
    frames = literal.get("traceMarker")
    return TraceMarker(path, "\n".join(map(_text, frames)) if isinstance(frames, list | tuple) else "")


def _text(value: object) -> str:
    """A text in storable form; empty for other values: a number may have more digits than Python will print."""
    return valid_text(value) if isinstance(value, str) else ""


def _is_length(value: object) -> bool:
    return isinstance(value, int) and abs(value) < _MORE_THAN_A_LENGTH


def _literal(text: str) -> object:
    return read_literal(text) if len(text) <= _MAX_MARKER else None


def describe_marker(marker: OpMarker) -> Described:
    """DLProf's values of an op."""
    sizes = [tensor.shape for tensor in marker.tensors]
    formats = {"conv2d": _CONV2D, "linear": _LINEAR}.get(marker.op_type, Formats())
    # The markers give neither stride nor padding; DLProf takes 1 and 0.
    outputs = output_shapes(marker.op_type, FORWARD, sizes, None) if formats.output else None
    return Described(
        data_type=largest_data_type(marker.tensors),
        formats=formats,
        input_names=stored(marker.names) if any(marker.names) else stored_nameless(len(marker.names)),
        input_shapes=stored(sizes) if sizes else NULL,
        output_names=stored_nameless(len(outputs or ())),
        output_shapes=stored(outputs) if outputs else NULL,
        parameters=NULL,
    )


def model_config(capture: Capture) -> ModelConfig:
    """The settings in the config markers; later markers override earlier ones."""
    config = ModelConfig()
    known = set(ModelConfig.__struct_fields__)
    rows = np.flatnonzero(capture.ranges.kind == RangeKind.DLPROF_CONFIG)
    for row in rows[np.argsort(capture.ranges.start_ns[rows], kind="stable")].tolist():
        text = capture.strings[int(capture.ranges.name[row])]
        try:
            settings = json.loads(text).get("model_config") if len(text) <= _MAX_MARKER else None
        except (ValueError, AttributeError, RecursionError):
            settings = None
        if not isinstance(settings, dict):
            capture.skipped[_MALFORMED] = capture.skipped.get(_MALFORMED, 0) + 1
            continue
        for name, value in settings.items():
            if name in known and isinstance(value, bool | int) and abs(value) < 1 << 31:
                setattr(config, name, int(value))
    return config
