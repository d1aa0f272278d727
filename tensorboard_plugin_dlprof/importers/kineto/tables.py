"""The tables into which the events of a trace are sorted.

``TABLES`` declares each column once: what it is read from, what that means and how it is stored. The structs that
``args`` are decoded into are made of it (``collect``), and parts that several processes read are joined by it
(``workers``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from tensorboard_plugin_dlprof.events.strings import valid_text
from tensorboard_plugin_dlprof.importers.kineto.collectives import list_text, positive_hash
from tensorboard_plugin_dlprof.importers.kineto.counters import device_of
from tensorboard_plugin_dlprof.importers.kineto.numbers import (
    GpuKey,
    ThreadKey,
    copy_kind,
    gpu_key,
    memory_key,
    sync_type,
    thread_key,
    track_number,
    triple,
    work_kind,
)
from tensorboard_plugin_dlprof.importers.kineto.times import Columns
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

OUT_OF_MEMORY: Final = "[OutOfMemory]"

_FLOW_ENDS = {"s": 0, "f": 1}
"""Phase of an end of an arrow -> which one it is; -1 for a step between, which PyTorch does not write."""

JSON = {
    *("Input Dims", "Input type", "Concrete Inputs", "grid", "block", "Process Group Ranks", "In split size"),
}
"""Keys of ``args`` whose values stay JSON text."""


class Column(NamedTuple):
    """A column of a table."""

    typecode: str
    """As in ``array``."""
    sources: tuple[str, ...]
    """The fields of the event, or keys of its ``args``, that it is read from."""
    read: Callable[[Any], Any] | None = None
    """What they mean, of the value of a single source or the tuple of several; mostly called once for each different
    one. None: an integer that is stored as it is, -1 if it is absent or does not fit."""
    items: str = ""
    """The list of ``Events`` in which the column has the place of what was read; empty if it has that itself."""


def _text(value: object) -> str:
    return "" if value is None else valid_text(str(value))


def _json_text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _integer(key: str, typecode: str = "q") -> Column:
    return Column(typecode, (key,))


def _texts(key: str, read: Callable[[Any], str] = _text) -> Column:
    return Column("i", (key,), _json_text if key in JSON and read is _text else read, "texts")


_START = {"start_ns": _integer("ts")}
_SPAN = {**_START, "duration_ns": _integer("dur"), "name": _texts("name")}
_THREAD = {"thread": Column("i", ("pid", "tid"), thread_key, "threads")}
_LINKS = {"correlation": _integer("correlation"), "external_id": _integer("External id")}
_OPS = {
    **_SPAN,
    **_THREAD,
    "shapes": _texts("Input Dims"),
    "dtypes": _texts("Input type"),
    "parameters": _texts("Concrete Inputs"),
    "stack": _texts("Call stack"),
    "group": _texts("Process Group Name"),
    "sequence": _integer("Sequence number"),
    "forward_thread": _integer("Fwd thread id"),
}
_ON_DEVICE = {
    **_SPAN,
    **_LINKS,
    "gpu": Column("i", ("pid", "device"), gpu_key, "gpus"),
    "stream": Column("q", ("stream", "tid"), track_number),
}
TABLES: Final[dict[str, dict[str, Column]]] = {
    "old_ops": _OPS,
    "ops": _OPS,
    "annotations": _OPS,
    "frames": {**_SPAN, **_THREAD},
    "calls": {**_SPAN, **_THREAD, **_LINKS},
    "work": {
        **_ON_DEVICE,
        "kind": Column("b", ("cat",), work_kind),
        "grid": Column("i", ("grid",), triple, "triples"),
        "block": Column("i", ("block",), triple, "triples"),
        "registers": _integer("registers per thread", "i"),
        "dynamic_shared_bytes": _integer("shared memory"),
        "occupancy_percent": _integer("est. achieved occupancy %", "i"),
        "num_bytes": _integer("bytes"),
        "copy_kind": Column("i", ("cat", "name", "kind"), copy_kind),
        "graph_node": _integer("graph node id"),
    },
    "syncs": {
        **_ON_DEVICE,
        "sync_type": Column("i", ("cuda_sync_kind", "name"), sync_type),
        "event_id": _integer("wait_on_cuda_event_id"),
    },
    "memory": {
        **_START,
        **_THREAD,
        "gpu": Column("i", ("pid", "Device Type", "Device Id"), memory_key, "gpus"),
        "num_bytes": Column("q", ("Bytes",), lambda size: whole_number(size, 0)),
        "allocated_bytes": _integer("Total Allocated"),
        "reserved_bytes": _integer("Total Reserved"),
        "address": _integer("Addr"),
        "failed": Column("b", ("name",), lambda name: name == OUT_OF_MEMORY),
    },
    "flows": {
        **_START,
        **_THREAD,
        "name": _texts("id", lambda number: number if isinstance(number, str) else ""),
        "number": _integer("id"),
        "end": Column("b", ("ph",), lambda phase: _FLOW_ENDS.get(phase, -1)),
    },
    "collectives": {
        **_LINKS,
        "call": _texts("Collective name"),
        "dtype": _texts("dtype"),
        "group_name": _texts("Process Group Name"),
        "group_text": _texts("Process Group Description"),
        "group_ranks": _texts("Process Group Ranks", list_text),
        "group_size": _integer("Group size"),
        "in_elements": _integer("In msg nelems"),
        "out_elements": _integer("Out msg nelems"),
        "split": Column("b", ("In split size",), lambda sizes: len(list_text(sizes)) > len("[]")),
        "sequence": _integer("Seq"),
        "comms_id": Column("q", ("Comms Id",), positive_hash),
        "source": _integer("Src Rank", "i"),
        "destination": _integer("Dst Rank", "i"),
    },
    "counters": {
        **_START,
        "device": Column("i", ("pid",), device_of),
        "metric": _texts("name"),
        "value": _integer("", "d"),
    },
}
"""Table -> its columns. Times are nanoseconds of the trace's clock; ``number`` of a flow is -1 if it has a name."""

ITEMS: Final = ("texts", "threads", "gpus", "triples")
"""The lists of ``Events`` in which columns have places. The first text is the empty one."""

TIMED: Final = ("old_ops", "ops", "annotations", "frames", "calls", "work", "syncs")
"""Tables of events with a duration."""


class Events(msgspec.Struct):
    """All events of a trace, or of a part of it."""

    tables: dict[str, Columns] = {}
    """Table -> name -> column; columns are taken out as they are converted."""
    texts: list[str] = []
    threads: list[ThreadKey] = []
    gpus: list[GpuKey] = []
    triples: list[tuple[int, int, int]] = []
    """Grids and blocks."""
    thread_names: dict[ThreadKey, str] = {}
    """The name that the trace's metadata gives a thread."""
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    """Events that were left out, by reason."""
    categories: Counter[str] = msgspec.field(default_factory=Counter)
    """Categories that we do not know -> events with a duration: 0 of spans of asynchronous work, and of samples."""

    def is_empty(self) -> bool:
        """Whether no table of ranges, calls, work or memory has a row."""
        return not any(len(self.tables[name]["start_ns"]) for name in (*TIMED, "memory"))
