"""Decodes pieces of a trace, each category of event with the fields that its table reads.

Half of the fields in a trace are of no use to us, and most fields that one category has are absent from
all others. A class for each category, with few fields, is decoded a quarter faster than one class with
all of them. The decoder meets the categories of a trace as it goes: what it does not know yet, and what
has no category, is decoded as ``Event``, which has every field.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable
from typing import Any, ClassVar, cast

import msgspec

from tensorboard_plugin_dlprof.importers.kineto_categories import Kind, kind_of_category
from tensorboard_plugin_dlprof.importers.kineto_clock import Clock
from tensorboard_plugin_dlprof.importers.kineto_events import (
    DECODE_ERRORS,
    NO_TEXT,
    Event,
    Scalar,
    decode_events,
)

_MAX_CATEGORIES = 100
"""Traces have a dozen."""


class _Ignored(msgspec.Struct, frozen=True, gc=False):
    """What every class has. ``cat`` and ``kind`` are those of the class."""

    cat: ClassVar[str] = ""
    kind: ClassVar[Kind] = Kind.IGNORED
    ts: ClassVar[float] = math.nan


class _Unknown(_Ignored, frozen=True, gc=False):
    ph: str = ""


class _Timed(_Ignored, frozen=True, gc=False):
    ph: str = ""
    ts: float = math.nan  # type: ignore[misc]


class _Span(_Timed, frozen=True, gc=False):
    name: str = ""
    pid: int | str = -1
    tid: int | str = -1
    dur: float = math.nan


class _OpArgs(msgspec.Struct, frozen=True, gc=False):
    input_dims: msgspec.Raw = msgspec.field(name="Input Dims", default=NO_TEXT)
    input_dims_2020: msgspec.Raw = msgspec.field(name="Input dims", default=NO_TEXT)
    input_type: msgspec.Raw = msgspec.field(name="Input type", default=NO_TEXT)
    concrete_inputs: msgspec.Raw = msgspec.field(name="Concrete Inputs", default=NO_TEXT)
    call_stack: Scalar = msgspec.field(name="Call stack", default="")
    sequence: Scalar = msgspec.field(name="Sequence number", default=-1)
    forward_thread: Scalar = msgspec.field(name="Fwd thread id", default=-1)
    group_name: Scalar = msgspec.field(name="Process Group Name", default="")
    group_id: Scalar = msgspec.field(name="Process Group ID", default="")


class _CallArgs(msgspec.Struct, frozen=True, gc=False):
    correlation: Scalar = -1
    external_id: Scalar = msgspec.field(name="External id", default=-1)
    external_id_2020: Scalar = msgspec.field(name="external id", default=-1)


class _DeviceArgs(_CallArgs, frozen=True, gc=False):
    device: Scalar = -1
    stream: Scalar = -1


class _WorkArgs(_DeviceArgs, frozen=True, gc=False):
    num_bytes: Scalar = msgspec.field(name="bytes", default=-1)
    kind: Scalar = ""
    grid: msgspec.Raw = NO_TEXT
    block: msgspec.Raw = NO_TEXT
    registers: Scalar = msgspec.field(name="registers per thread", default=-1)
    shared_memory: Scalar = msgspec.field(name="shared memory", default=-1)
    occupancy: Scalar = msgspec.field(name="est. achieved occupancy %", default=-1)
    graph_node: Scalar = msgspec.field(name="graph node id", default=-1)


class _SyncArgs(_DeviceArgs, frozen=True, gc=False):
    sync_kind: Scalar = msgspec.field(name="cuda_sync_kind", default="")
    event_id: Scalar = msgspec.field(name="wait_on_cuda_event_id", default=-1)


class _MemoryArgs(msgspec.Struct, frozen=True, gc=False):
    memory_bytes: Scalar = msgspec.field(name="Bytes", default=None)
    allocated: Scalar = msgspec.field(name="Total Allocated", default=-1)
    reserved: Scalar = msgspec.field(name="Total Reserved", default=-1)
    device_type: Scalar = msgspec.field(name="Device Type", default=-1)
    device_id: Scalar = msgspec.field(name="Device Id", default=-1)


class _Op(_Span, frozen=True, gc=False):
    args: _OpArgs = _OpArgs()


class _Call(_Span, frozen=True, gc=False):
    args: _CallArgs = _CallArgs()


class _Work(_Span, frozen=True, gc=False):
    args: _WorkArgs = _WorkArgs()


class _Sync(_Span, frozen=True, gc=False):
    args: _SyncArgs = _SyncArgs()


class _Instant(_Span, frozen=True, gc=False):
    args: _MemoryArgs = _MemoryArgs()


class _CounterArgs(msgspec.Struct, frozen=True, gc=False):
    value: Scalar = msgspec.field(name="", default=None)


class _Counter(_Timed, frozen=True, gc=False):
    name: str = ""
    pid: int | str = -1
    args: _CounterArgs = _CounterArgs()


class _Flow(_Timed, frozen=True, gc=False):
    pid: int | str = -1
    tid: int | str = -1
    id: int | str = -1


_CLASSES: dict[Kind, type[msgspec.Struct]] = {
    Kind.IGNORED: _Ignored,
    Kind.UNKNOWN: _Unknown,
    Kind.OLD_OP: _Op,
    Kind.OP: _Op,
    Kind.ANNOTATION: _Op,
    Kind.FRAME: _Span,
    Kind.CALL: _Call,
    Kind.KERNEL: _Work,
    Kind.MEMCPY: _Work,
    Kind.MEMSET: _Work,
    Kind.SYNC: _Sync,
    Kind.FLOW: _Flow,
    Kind.INSTANT: _Instant,
    Kind.COUNTER: _Counter,
    Kind.COUNTER_RANGE: _Ignored,
}


def kind_of_class(event_class: type) -> Kind | None:
    """The kind of all events of a class; None for ``Event``, which may be of any."""
    kind: Kind | None = getattr(event_class, "kind", None)
    return kind


class PieceDecoder:
    """Decodes the pieces of one trace."""

    def __init__(self) -> None:
        self._categories: dict[str, type[msgspec.Struct]] = {}
        self._decoder: msgspec.json.Decoder[Any]
        # Two to begin with: were there only one, events without a category would be taken for it.
        self._learn(("cpu_op", "kernel"))

    def decode(self, piece: bytes, clock: Clock) -> list[Event] | None:
        """All events of ``piece``, which is the text of a list of them; None where one needs care.

        An event may be of another class than ``Event``, without the fields that its kind has no use for.
        """
        text = clock.shorten(piece)
        events = self._decode_known(text)
        if events is None:
            events = decode_events(text)
            if events is None:
                return None
            self._learn({event.cat for event in events})
        if clock.shortens and not clock.trusts([event.ts for event in events]):
            return None
        return events

    def _decode_known(self, text: bytes) -> list[Event] | None:
        try:
            return cast("list[Event]", self._decoder.decode(text))
        except DECODE_ERRORS:
            return None

    def _learn(self, categories: Iterable[str]) -> None:
        new = [category for category in categories if category and category not in self._categories]
        if not new or len(self._categories) + len(new) > _MAX_CATEGORIES:
            return
        for category in new:
            self._categories[category] = _class_of(category)
        any_event = functools.reduce(operator.or_, self._categories.values())
        self._decoder = msgspec.json.Decoder(list[any_event])  # type: ignore[valid-type]


def _class_of(category: str) -> type[msgspec.Struct]:
    kind = kind_of_category(category)
    return msgspec.defstruct(
        "Event",
        [],
        bases=(_CLASSES.get(kind, Event),),
        namespace={"cat": category, "kind": kind},
        tag_field="cat",
        tag=category,
        frozen=True,
        gc=False,
    )
