"""The categories of events, and the fields of each that we use, as structs that msgspec decodes.

An event of a known category is decoded into a struct with only the fields that its table needs; everything else is
skipped at 2 GB/s. The decoder learns the categories of a trace as it meets them: until then, and without a category, an
event is decoded as ``Event``, which has every field.

Names of categories have changed: ``Operator``, ``Kernel``, ``Runtime``, ``Memcpy``, ``Memset`` and ``async`` (2020,
2021) are ``cpu_op``, ``kernel``, ``cuda_runtime``, ``gpu_memcpy``, ``gpu_memset`` and ``ac2g`` today. A category may be
a list with commas.
"""

from __future__ import annotations

import enum
import functools
import math
import operator
from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from tensorboard_plugin_dlprof.importers.kineto.clock import Clock

Scalar: TypeAlias = int | float | str | bool | None
"""A value of ``args``. Numbers are sometimes written as text (``"bytes": "616"`` on AMD), or null."""

NO_TEXT = msgspec.Raw()
"""Stands for an absent list; always this same object."""

_MOST_CATEGORIES = 100
"""A limit for hostile files; real traces have about a dozen categories."""

DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
"""What decoding may raise on untrusted bytes."""


class Kind(enum.IntEnum):
    """What an event is, by its category. Of a batch, kinds are put into tables in this order."""

    IGNORED = 0  # known but not needed: metadata, launch arrows, the profiler's events about itself
    UNKNOWN = 1
    OLD_OP = 2  # an operator or annotation of 2020 or 2021, when traces did not distinguish them
    OP = 3
    ANNOTATION = 4
    FRAME = 5
    CALL = 6
    KERNEL = 7
    MEMCPY = 8
    MEMSET = 9
    SYNC = 10
    FLOW = 11
    INSTANT = 12
    UNNAMED = 13  # no category: metadata, and the ``[memory]`` instants of 2021
    COUNTER = 14  # a sample of a hardware counter
    COUNTER_RANGE = 15  # hardware counters of a kernel, recorded in place of its times
    COLLECTIVE = 16  # arguments that describe a collective, beside the event that has them (``collectives``)


_KINDS = {
    "": Kind.UNNAMED,
    "operator": Kind.OLD_OP,
    "cpu_op": Kind.OP,
    "user_annotation": Kind.ANNOTATION,
    "python_function": Kind.FRAME,
    "runtime": Kind.CALL,
    "driver": Kind.CALL,
    "kernel": Kind.KERNEL,
    "concurrent_kernel": Kind.KERNEL,
    "memcpy": Kind.MEMCPY,
    "memset": Kind.MEMSET,
    "fwdbwd": Kind.FLOW,
    "forward_backward": Kind.FLOW,
    "cpu_instant_event": Kind.INSTANT,
    "hardware_counters": Kind.COUNTER,
    "cuda_profiler_range": Kind.COUNTER_RANGE,
    **dict.fromkeys(("async", "ac2g", "async_cpu_to_gpu", "async_gpu", "trace", "overhead"), Kind.IGNORED),
    **dict.fromkeys(("cuda_event", "external_correlation", "collective_comm"), Kind.IGNORED),
}

_SUFFIXES = {
    "_runtime": Kind.CALL,
    "_driver": Kind.CALL,
    "_memcpy": Kind.MEMCPY,
    "_memset": Kind.MEMSET,
    "_sync": Kind.SYNC,
    "_user_annotation": Kind.IGNORED,  # repeats each on the device's track, from its first to its last kernel
}
"""Endings of the categories of all devices: ``cuda_runtime``, ``privateuse1_driver``, ``mlu_memcpy``, ``xpu_sync``."""


@functools.lru_cache(maxsize=1_000)
def kind_of_category(category: str) -> Kind:
    """The kind of the first known category in a comma-separated list, ignoring case."""
    for name in map(str.strip, category.lower().split(",")):
        if name in _KINDS:
            return _KINDS[name]
        for suffix, kind in _SUFFIXES.items():
            if name.endswith(suffix):
                return kind
    return Kind.UNKNOWN


class _Struct(msgspec.Struct, frozen=True, gc=False):
    """One entry of ``traceEvents``, or its ``args``. -1, NaN and empty values stand for absent."""


class _OpArgs(_Struct, frozen=True, gc=False):
    input_dims: msgspec.Raw = msgspec.field(name="Input Dims", default=NO_TEXT)
    input_dims_2020: msgspec.Raw = msgspec.field(name="Input dims", default=NO_TEXT)
    input_type: msgspec.Raw = msgspec.field(name="Input type", default=NO_TEXT)
    concrete_inputs: msgspec.Raw = msgspec.field(name="Concrete Inputs", default=NO_TEXT)
    call_stack: Scalar = msgspec.field(name="Call stack", default="")
    sequence: Scalar = msgspec.field(name="Sequence number", default=-1)
    forward_thread: Scalar = msgspec.field(name="Fwd thread id", default=-1)
    group_name: Scalar = msgspec.field(name="Process Group Name", default="")
    group_id: Scalar = msgspec.field(name="Process Group ID", default="")


class _CallArgs(_Struct, frozen=True, gc=False):
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


class _MemoryArgs(_Struct, frozen=True, gc=False):
    memory_bytes: Scalar = msgspec.field(name="Bytes", default=None)
    allocated: Scalar = msgspec.field(name="Total Allocated", default=-1)
    reserved: Scalar = msgspec.field(name="Total Reserved", default=-1)
    address: Scalar = msgspec.field(name="Addr", default=-1)
    device_type: Scalar = msgspec.field(name="Device Type", default=-1)
    device_id: Scalar = msgspec.field(name="Device Id", default=-1)


class _CounterArgs(_Struct, frozen=True, gc=False):
    value: Scalar = msgspec.field(name="", default=None)


class _NameArgs(_Struct, frozen=True, gc=False):
    """``args`` of metadata: the name of a thread."""

    name: Scalar = ""


_ARGS = (_OpArgs, _WorkArgs, _SyncArgs, _MemoryArgs, _CounterArgs, _NameArgs)
ARG_FIELDS = {field.encode_name: field for struct in _ARGS for field in msgspec.structs.fields(struct)}
"""All fields of ``args``, by their name in the trace."""

Args = msgspec.defstruct(
    "Args",
    [(each.name, each.type, msgspec.field(name=key, default=each.default)) for key, each in ARG_FIELDS.items()],
    bases=(_Struct,),
)
"""``args`` of any event."""


class _Ignored(_Struct, frozen=True, gc=False):
    """An event of which nothing is needed."""

    ts = math.nan


class _Unknown(_Struct, frozen=True, gc=False):
    """An event of a category that we do not know."""

    ph: str = ""
    ts: float = math.nan
    pid: int | str = -1
    tid: int | str = -1


class _Span(_Struct, frozen=True, gc=False):
    """An event with a duration. ``ts`` and ``dur`` are microseconds. Fields are in Kineto's order, because the decoder
    tries the one after the last first."""

    ph: str = ""
    name: str = ""
    pid: int | str = -1
    tid: int | str = -1
    ts: float = math.nan
    dur: float = math.nan


class _Op(_Span, frozen=True, gc=False):
    args: _OpArgs = _OpArgs()


class _Call(_Span, frozen=True, gc=False):
    args: _CallArgs = _CallArgs()


class _Work(_Span, frozen=True, gc=False):
    args: _WorkArgs = _WorkArgs()


class _Sync(_Span, frozen=True, gc=False):
    args: _SyncArgs = _SyncArgs()


class _Instant(_Span, frozen=True, gc=False):
    """An instant, such as ``[memory]``."""

    args: _MemoryArgs = _MemoryArgs()


class _Flow(_Unknown, frozen=True, gc=False):
    """An end of an arrow."""

    id: int | str = -1


class _Sample(_Struct, frozen=True, gc=False):
    """A sample of a hardware counter."""

    ph: str = ""
    name: str = ""
    pid: int | str = -1
    ts: float = math.nan
    args: _CounterArgs = _CounterArgs()


class Event(_Span, frozen=True, gc=False):
    """An event of any category."""

    cat: str = ""
    id: int | str = -1
    args: Args = Args()  # type: ignore[valid-type]

    @property
    def kind(self) -> Kind:
        """What the event is; the structs of single categories have this as an attribute of the class."""
        return kind_of_category(self.cat)


_STRUCTS: dict[Kind, type[_Struct]] = {
    **dict.fromkeys((Kind.IGNORED, Kind.COUNTER_RANGE), _Ignored),
    Kind.UNKNOWN: _Unknown,
    **dict.fromkeys((Kind.OLD_OP, Kind.OP, Kind.ANNOTATION), _Op),
    Kind.FRAME: _Span,
    Kind.CALL: _Call,
    **dict.fromkeys((Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET), _Work),
    Kind.SYNC: _Sync,
    Kind.FLOW: _Flow,
    Kind.INSTANT: _Instant,
    Kind.COUNTER: _Sample,
}

_decode_events = msgspec.json.Decoder(list[Event], strict=False).decode


class EventDecoder:
    """Decodes the events of one trace.

    Args:
        clock: shortens timestamps that a double cannot represent.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._structs: dict[str, type[msgspec.Struct]] = {}
        self._decode: Any = None
        # At least two, because with only one the decoder would take events without a category for that one.
        self._learn(("cpu_op", "kernel"))

    def decode(self, text: bytes) -> list[Any] | None:
        """The events in the text of a list: of ``Event``, or of the struct of their category, whose attributes ``cat``
        and ``kind`` are those of the class. None if one of them needs the lenient decoder."""
        text = self._clock.shorten(text)
        try:
            events = self._decode(text)
        except DECODE_ERRORS:
            try:
                events = _decode_events(text)
            except DECODE_ERRORS:
                return None
            self._learn({event.cat for event in events})
        return events if self._clock.trusts(events) else None

    def _learn(self, categories: Iterable[str]) -> None:
        new = [category for category in categories if category and category not in self._structs]
        if new and len(self._structs) + len(new) <= _MOST_CATEGORIES:
            self._structs |= {category: _struct_of(category) for category in new}
            any_event = functools.reduce(operator.or_, self._structs.values())
            self._decode = msgspec.json.Decoder(list[any_event], strict=False).decode  # type: ignore[valid-type]


def _struct_of(category: str) -> type[msgspec.Struct]:
    """The struct of the events of a category, which is its tag."""
    kind = kind_of_category(category)
    known = {"cat": category, "kind": kind}
    return msgspec.defstruct(
        "Event", [], bases=(_STRUCTS[kind],), namespace=known, tag_field="cat", tag=category, frozen=True, gc=False
    )
