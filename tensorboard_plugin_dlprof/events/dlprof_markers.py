"""Finds ops by DLProf's own NVTX markers, exactly by DLProf's rules (database layout, section 5).

A *trace* marker has path and stack, the *op* marker inside it the op with its time and tensors; a *config* marker has
settings of the model. Op markers inside another op marker belong to the outer one. Markers are Python literals written
by the profiled program, so they are not trusted: they are parsed but never evaluated, and markers that are too large or
malformed are counted and skipped.
"""

from __future__ import annotations

import ast
import json
import re
import warnings

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.events.drafts import FORWARD, Drafts, OpKey, Owners
from tensorboard_plugin_dlprof.events.formats import Formats, Shape, output_shapes
from tensorboard_plugin_dlprof.events.inputs import NULL, Described, Tensor, largest_data_type, stored, stored_nameless
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.nesting import Nesting
from tensorboard_plugin_dlprof.events.tables import Capture, Int64s, RangeKind, valid_text
from tensorboard_plugin_dlprof.events.trees import inside
from tensorboard_plugin_dlprof.profile.tables import ModelConfig

_MAX_MARKER = 1 << 16
"""Characters of the longest marker that is parsed."""
_MORE_THAN_A_LENGTH = 1 << 63
_MALFORMED = "DLProf markers that are not readable"

_CONV2D = Formats("N,C,H,W;K,C,R,S", "N,K,P,Q", "SH,SW;PH,PW;DH,DW;G")
_LINEAR = Formats("N,K;M,K", "N,M", "")


class OpMarker(msgspec.Struct, frozen=True):
    """The contents of an op marker. ``names`` and ``tensors`` are parallel."""

    op_type: str
    names: list[str]
    tensors: list[Tensor]


class TraceMarker(msgspec.Struct, frozen=True):
    """The contents of a trace marker; the stack has one frame per line."""

    path: str
    stack: str


_NO_OP = OpMarker("", [], [])
_NO_TRACE = TraceMarker("", "")


_FUNCTION = re.compile(r"\{'mod': '(?P<mod>[\w.]+)', 'op': '(?P<op>\w+)'")
"""How most markers of ops begin."""


def has_markers(capture: Capture) -> bool:
    """Whether a capture has op markers, so that DLProf's rules apply."""
    return bool((capture.ranges.kind == RangeKind.DLPROF_OP).any())


class MarkedOps(msgspec.Struct):
    """The ops of the outermost op markers of a capture."""

    drafts: Drafts
    """One per marker, in the order of places; markers of equal text in traces of equal text share a key."""
    owners: Owners
    """The draft of each call and of its device work; -1 outside ops."""
    described_by: Int64s
    """Index of ``described`` for each draft."""
    described: list[Described]
    """The tensors of each distinct op marker."""
    stack_of: Int64s
    """Index of ``stacks`` for each draft."""
    stacks: list[str]
    """The stack trace of each distinct trace marker."""


def find_marked_ops(capture: Capture, nesting: Nesting, links: Links) -> MarkedOps:
    """Find the op instances of DLProf's markers, and the owners of calls and device work.

    Unreadable markers are counted in ``capture.skipped``. Each distinct text is parsed only once: loops repeat markers.
    """
    kind = capture.ranges.kind[nesting.row]
    is_op = kind == RangeKind.DLPROF_OP
    places = np.flatnonzero(is_op & ~inside(is_op, nesting.stop))
    trace_places = nesting.inherit(kind == RangeKind.DLPROF_TRACE)[places].astype(np.int64)
    marker_texts, marker = numbered(_texts(capture, nesting, places))
    trace_texts, trace = numbered(_texts(capture, nesting, trace_places))
    markers = [parse_op(capture.strings[text]) for text in marker_texts.tolist()]
    # An op marker without a trace around it is treated as if inside an empty one.
    traces = [parse_trace(capture.strings[text]) if text else _NO_TRACE for text in trace_texts.tolist()]
    readable = np.array([each is not None for each in markers], np.bool_)[marker]
    malformed = ~(readable & np.array([each is not None for each in traces], np.bool_)[trace])
    if malformed.any():
        capture.skipped[_MALFORMED] = capture.skipped.get(_MALFORMED, 0) + int(np.count_nonzero(malformed))
    places, marker, trace = places[readable], marker[readable], trace[readable]
    return MarkedOps(
        drafts=_drafts(capture, nesting, places, (markers, marker), (traces, trace)),
        owners=_owners(links, nesting, places),
        described_by=marker,
        described=[describe_marker(each or _NO_OP) for each in markers],
        stack_of=trace,
        stacks=[(each or _NO_TRACE).stack for each in traces],
    )


def _texts(capture: Capture, nesting: Nesting, places: Int64s) -> Int64s:
    """Text ids of the ranges at some places; 0 for place -1."""
    return np.where(places >= 0, capture.ranges.name[nesting.row[places]], 0).astype(np.int64)


def _drafts(
    capture: Capture,
    nesting: Nesting,
    places: Int64s,
    markers: tuple[list[OpMarker | None], Int64s],
    traces: tuple[list[TraceMarker | None], Int64s],
) -> Drafts:
    """Drafts of op markers at some places.

    Args:
        places: n places.
        markers: The distinct op markers, and the index of each place's marker (n).
        traces: The distinct trace markers, and the index of each place's trace (n).
    """
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


def _owners(links: Links, nesting: Nesting, places: Int64s) -> Owners:
    own = np.zeros(len(nesting.row), np.bool_)
    own[places] = True
    row_of_place = np.full(len(own) + 1, -1, np.int32)
    row_of_place[places] = np.arange(len(places))
    owner = np.append(nesting.inherit(own), -1)
    of_call = row_of_place[owner[links.call_place]]
    of_work = np.full(len(links.work_call), -1, np.int32)
    launched = links.work_call >= 0
    of_work[launched] = of_call[links.work_call[launched]]
    return Owners(of_call, of_work)


def parse_op(text: str) -> OpMarker | None:
    """Parse an op marker: ``{'mod': 'Tensor', 'op': 'add', 'args': [...]}``; None if the text is anything else."""
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
    """Parse a trace marker: ``{'traceMarker': [...], 'funcStack': '/<module>/linear'}``; None if the text is anything
    else."""
    literal = _literal(text)
    if not isinstance(literal, dict) or not isinstance(literal.get("funcStack"), str):
        return None
    path = re.sub(r"\((\d+)\)", r"[\1]", valid_text(literal["funcStack"]).replace("<", "").replace(">", ""))
    frames = literal.get("traceMarker")
    return TraceMarker(path, "\n".join(map(_text, frames)) if isinstance(frames, list | tuple) else "")


def plain_name(text: str) -> str:
    """What a marker of DLProf is around: a function, or a stack of them; any other text as it is."""
    if function := _FUNCTION.match(text):
        return f"{function['mod']}.{function['op']}"
    trace = parse_trace(text) if text.startswith("{") else None
    return text if trace is None else trace.path


def _text(value: object) -> str:
    """A text without lone surrogates. Empty for other values: Python refuses to convert very long numbers to text."""
    return valid_text(value) if isinstance(value, str) else ""


def _is_length(value: object) -> bool:
    return isinstance(value, int) and abs(value) < _MORE_THAN_A_LENGTH


def _literal(text: str) -> object:
    return read_literal(text) if len(text) <= _MAX_MARKER else None


def describe_marker(marker: OpMarker) -> Described:
    """Data type, shapes and formats that DLProf stores for an op marker."""
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
    """The model settings in config markers; later markers override earlier ones. Unreadable ones are counted in
    ``capture.skipped``."""
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


_JSON = msgspec.json.Decoder()

_TUPLE = re.compile(r"\((?:\s*[^\s,()\[\]{}][^,()\[\]{}]*,[^()\[\]{}]*)?\)")
"""A tuple without inner brackets, whose commas would not be its own. Parentheses around a single value without a comma
do not match, as they make no tuple."""

_NAMES_OF_JSON = re.compile(r"true|false|null")


def read_literal(text: str) -> object:
    """The value of a Python literal, with tuples as tuples or lists; ``None`` if the text is not a literal.

    Python's own parser is slow, and a program may write a different literal for each of its ops. Most differ from JSON
    only in quotes, tuples and ``None``. These are converted to JSON, which is parsed much faster.
    """
    as_json = _as_json(text)
    if as_json:
        try:
            return _JSON.decode(as_json)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _as_json(text: str) -> str:
    """JSON of the same value, or invalid JSON if only Python's own parser can read the text.

    Empty for literals with escapes, with both kinds of quotes, or with parentheses that may not be tuples.
    """
    quote = '"' if "'" not in text else "'"
    if "\\" in text or (quote == "'" and '"' in text) or not text.isprintable():
        return ""
    # Strings are at odd indices. If the last quote is not closed, the result is invalid JSON too.
    parts = text.split(quote)
    outside = '""'.join(parts[::2])
    if not len(_TUPLE.findall(outside)) == outside.count("(") == outside.count(")") or _NAMES_OF_JSON.search(outside):
        return ""
    parts[::2] = map(_structure_as_json, parts[::2])
    return '"'.join(parts)


def _structure_as_json(structure: str) -> str:
    if "(" in structure or ")" in structure:
        structure = structure.replace(",)", "]").replace("(", "[").replace(")", "]")
    if "e" in structure:
        structure = structure.replace("None", "null").replace("True", "true").replace("False", "false")
    return structure
