"""Decodes pieces of a trace, with a class for each category of events that has just the fields that its table needs.

Half of the fields in a trace are not needed, and most fields of one category do not occur in others. A small class for
each category is decoded a quarter faster than one class with all fields. The decoder learns the categories of a trace
as it proceeds: events of categories that are still unknown are decoded as ``Event``, which has every field. So are
events without a category, unless a piece has only such events: traces of 2020 and 2021 have thousands of ``[memory]``
instants in a row.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable
from typing import Annotated, Any, Literal, cast

import msgspec

from tensorboard_plugin_dlprof.importers.kineto_categories import Kind, kind_of_category
from tensorboard_plugin_dlprof.importers.kineto_clock import LEAST_SHORT_US, Clock
from tensorboard_plugin_dlprof.importers.kineto_collectives import described
from tensorboard_plugin_dlprof.importers.kineto_events import (
    DECODE_ERRORS,
    FIELDS,
    Args,
    Event,
    decode_events,
)

_MAX_CATEGORIES = 100
"""A limit for hostile files; real traces have about a dozen categories."""

_PHASE: Any = Literal[tuple("BEXiICbneSTpFstfPNODMVvRcGg()")]
"""The types of events in the format. The decoder does not create a new text for a value that is one of these."""


_Fields = tuple[str, ...]
"""Names of fields of ``Event`` or of ``Args``."""

_TIMED: _Fields = ("ph", "ts")
_SPAN: _Fields = ("ph", "name", "pid", "tid", "ts", "dur")
"""In the order in which Kineto writes them, because the decoder tries the field after the last one first."""

_OP: _Fields = (
    *("input_dims", "input_dims_2020", "input_type", "concrete_inputs"),
    *("call_stack", "sequence", "forward_thread", "group_name", "group_id"),
)
_CALL: _Fields = ("correlation", "external_id", "external_id_2020")
_DEVICE: _Fields = (*_CALL, "device", "stream")
_WORK: _Fields = (
    *(*_DEVICE, "num_bytes", "kind", "grid", "block"),
    *("registers", "shared_memory", "occupancy", "graph_node"),
)
_SYNC: _Fields = (*_DEVICE, "sync_kind", "event_id")
_MEMORY: _Fields = ("memory_bytes", "allocated", "reserved", "device_type", "device_id")

_READ: dict[Kind, tuple[_Fields, _Fields]] = {
    Kind.IGNORED: ((), ()),
    Kind.UNKNOWN: ((*_TIMED, "pid", "tid"), ()),
    Kind.OLD_OP: (_SPAN, _OP),
    Kind.OP: (_SPAN, _OP),
    Kind.ANNOTATION: (_SPAN, _OP),
    Kind.FRAME: (_SPAN, ()),
    Kind.CALL: (_SPAN, _CALL),
    Kind.KERNEL: (_SPAN, _WORK),
    Kind.MEMCPY: (_SPAN, _WORK),
    Kind.MEMSET: (_SPAN, _WORK),
    Kind.SYNC: (_SPAN, _SYNC),
    Kind.FLOW: ((*_TIMED, "pid", "tid", "id"), ()),
    Kind.INSTANT: (_SPAN, _MEMORY),
    Kind.COUNTER: ((*_TIMED, "name", "pid"), ("value",)),
    Kind.COUNTER_RANGE: ((), ()),
}
"""Kind -> the fields to read from an event and from its ``args``; events of other kinds are read whole."""


def kind_of_class(event_class: type) -> Kind | None:
    """The kind of all events of a class; None for ``Event``, which is used for any kind."""
    kind: Kind | None = getattr(event_class, "kind", None)
    return kind


class PieceDecoder:
    """Decodes the pieces of one trace, whose timestamps ``clock`` shortens if a double cannot represent them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # The decoder checks timestamps in a tenth of the time that a check of the decoded events would take.
        self._stamp: Any = Annotated[float, msgspec.Meta(ge=LEAST_SHORT_US, lt=2 * LEAST_SHORT_US)]
        if not clock.shortens:
            self._stamp = float
        self._categories: dict[str, type[msgspec.Struct]] = {}
        self._decoder: msgspec.json.Decoder[Any]
        # At least two, because with only one the decoder would take events without a category for that one.
        self._learn(("cpu_op", "kernel"))

    def decode(self, piece: bytes | bytearray) -> list[Event] | None:
        """All events of ``piece``, the text of a list of events; None if one of them needs the lenient decoder.

        Instead of ``Event``, an event may have a class with only the fields that its kind needs. Descriptions of
        collectives follow.
        """
        text = self._clock.shorten(piece)
        events = _decoded(self._decoder, text)
        if events is None and b'"cat"' not in text:
            events = _decoded(self._uncategorized, text)
        if events is None:
            events = decode_events(text)
            if events is None or not self._clock.trusts([event.ts for event in events]):
                return None
            self._learn({event.cat for event in events})
        events += cast("list[Event]", described(text))
        return events

    def _learn(self, categories: Iterable[str]) -> None:
        new = [category for category in categories if category and category not in self._categories]
        if not new or len(self._categories) + len(new) > _MAX_CATEGORIES:
            return
        for category in new:
            self._categories[category] = _class_of(category, self._stamp)
        any_event = functools.reduce(operator.or_, self._categories.values())
        self._decoder = msgspec.json.Decoder(list[any_event], strict=False)  # type: ignore[valid-type]

    @functools.cached_property
    def _uncategorized(self) -> msgspec.json.Decoder[Any]:
        """The decoder for instants and metadata without a category."""
        names, args = ("name", "pid", "tid", "ts"), _args_class((*_MEMORY, "name"))
        fields = [
            ("ph", Literal["i", "I", "M"], msgspec.field()),
            *_event_fields(names, self._stamp),
            ("cat", Literal[""], msgspec.field(default="")),
            ("args", args, msgspec.field(default=args())),
        ]
        event = msgspec.defstruct(
            "Event", fields, namespace={"kind": Kind.UNNAMED}, frozen=True, gc=False, kw_only=True
        )
        return msgspec.json.Decoder(list[event], strict=False)  # type: ignore[valid-type]


def _decoded(decoder: msgspec.json.Decoder[Any], text: bytes | bytearray) -> list[Event] | None:
    try:
        return cast("list[Event]", decoder.decode(text))
    except DECODE_ERRORS:
        return None


def _class_of(category: str, stamp: Any) -> type[msgspec.Struct]:
    """The class for the events of a category, tagged by it; ``stamp`` is the type of timestamps."""
    kind = kind_of_category(category)
    known: dict[str, Any] = {"cat": category, "kind": kind}
    if kind not in _READ:
        fields = _event_fields(("ts",), stamp)
        return msgspec.defstruct(
            "Event", fields, bases=(Event,), namespace=known, tag_field="cat", tag=category, frozen=True, gc=False
        )
    names, args = _READ[kind]
    fields = _event_fields(names, stamp)
    if args:
        args_class = _args_class(args)
        fields.append(("args", args_class, msgspec.field(default=args_class())))
    if "ts" not in names:
        known["ts"] = math.nan
    return msgspec.defstruct("Event", fields, namespace=known, tag_field="cat", tag=category, frozen=True, gc=False)


def _event_fields(names: _Fields, stamp: Any) -> list[tuple[str, Any, Any]]:
    types = {"ph": _PHASE, "ts": stamp}
    return [(name, types.get(name, kind), field) for name, kind, field in _chosen(Event, names)]


@functools.cache
def _args_class(names: _Fields) -> type[msgspec.Struct]:
    return msgspec.defstruct("Args", _chosen(Args, names), frozen=True, gc=False)


def _chosen(of: type[msgspec.Struct], names: _Fields) -> list[tuple[str, Any, Any]]:
    """Name, type and default of some fields of a class, for ``defstruct``."""
    fields = {field.name: field for field in FIELDS[of]}
    return [
        (name, fields[name].type, msgspec.field(name=fields[name].encode_name, default=fields[name].default))
        for name in names
    ]
