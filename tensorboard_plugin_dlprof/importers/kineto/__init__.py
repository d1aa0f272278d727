"""Reads PyTorch profiler traces into a ``Capture``.

A trace is Chrome's trace-event JSON as Kineto writes it, plain or gzip: an object with
``traceEvents`` and, before or after it, ``deviceProperties``, ``distributedInfo``,
``baseTimeNanoseconds`` and versions; or a bare array of events. Of traces from 2020 to today are read:

* host ranges: ``cpu_op`` (``Operator``), ``user_annotation``, ``python_function``;
* calls: ``cuda_runtime`` (``Runtime``), ``cuda_driver``, hip calls, those of other accelerators;
* device work: ``kernel``, ``gpu_memcpy``, ``gpu_memset``; ``cuda_sync``;
* ``[memory]`` and ``[OutOfMemory]`` instants, and ``fwdbwd`` arrows.

Ignored, and not counted as skipped, are launch arrows (``ac2g``, which repeat the correlation),
``gpu_user_annotation`` (repeats the host's), ``Trace``, ``overhead``, and counters except samples of Tensor Cores.
Events that cannot be used are counted in ``Capture.skipped``.

The format: https://github.com/pytorch/kineto, ``libkineto/src/output_json.cpp``, and Google's "Trace Event Format".

The modules, in the order of the data: ``reader`` splits the text into batches and decodes them into ``events``, with
``workers`` in several processes; ``lenient`` reads what the decoder refuses; ``collect`` sorts events into ``tables``;
``times`` makes them count from the first event; ``frames`` leaves out empty frames; ``ranks`` separates the ranks of a
merged trace; and ``capture`` builds the tables.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError
from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.kineto.capture import build_capture
from tensorboard_plugin_dlprof.importers.kineto.collect import NO_TYPE
from tensorboard_plugin_dlprof.importers.kineto.reader import NeedsSequentialRead, TraceReader
from tensorboard_plugin_dlprof.importers.kineto.tables import Events
from tensorboard_plugin_dlprof.importers.kineto.workers import can_fork, read_events
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream, read_head
from tensorboard_plugin_dlprof.opening.regular_file import shown

_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*([{\[])\s*(\S)")
_EVENTS = b'"traceEvents"'
_SIGNS = re.compile(
    rb'"(?:traceEvents|deviceProperties|distributedInfo|baseTimeNanoseconds|schemaVersion|displayTimeUnit)"\s*:'
)
_EVENT_SIGN = re.compile(rb'"ph"\s*:\s*"')
_SNIFFED_BYTES = 8 << 20
"""A trace may begin with metadata of its own; how far to look for its events."""

_OTHER_DEVICES = {"mtia_ccp_events": "MTIA", "mtia_insight": "MTIA", "hpu_op": "Gaudi"}
"""Categories of work on devices that are no GPUs. It is not read."""

_NAMED_CATEGORIES = 20
"""The most frequent unknown categories, which are reported by name; the others are reported together."""


class KinetoImporter:
    """Reads traces of the PyTorch profiler."""

    name = "pytorch"
    title = "PyTorch profiler trace"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the file is JSON with trace events. Never raises."""
        start = _START.match(head)
        if not start:
            return False
        if start[1] == b"[":
            return start[2] in b"{]" and (bool(_EVENT_SIGN.search(head)) or start[2] == b"]")
        if start[2] not in b'"}':
            return False
        return bool(_SIGNS.search(head)) or _holds_events(path)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Capture:
        """The events of the trace.

        Raises:
            BrokenSource: not a trace, a damaged one, or one without any event of a profiler.
            UnsafeFile: not a regular file, or one that expands beyond ``options.max_expanded_bytes``.
        """
        store = ColumnStore(options.memory_bytes, options.folder)
        events, reader = _read(path, options, store, progress)
        skipped = reader.skipped + events.skipped + _of_unknown_categories(events.categories)
        if events.is_empty():
            raise BrokenSource(_without_events(shown(path), events, skipped))
        rank = rank_from_name(path, options.rank_expression)
        return build_capture(events, reader.metadata, path, rank, skipped, store)


def _read(path: Path, options: ReadOptions, store: ColumnStore, progress: Progress) -> tuple[Events, TraceReader]:
    with suppress(NeedsSequentialRead), ByteStream(path, options.max_expanded_bytes) as stream:
        reader = TraceReader(stream, shown(path))
        if stream.expanded_bytes < options.parallel_from_bytes or not can_fork():
            options = msgspec.structs.replace(options, workers=1)
        return read_events(path, reader, options, store, progress), reader
    return _read(path, msgspec.structs.replace(options, workers=1), store, progress)


def _of_unknown_categories(categories: Counter[str]) -> Counter[str]:
    """Events of categories that we do not know, by reason."""
    skipped: Counter[str] = Counter()
    categories = +categories
    named = categories.most_common(_NAMED_CATEGORIES)
    for category, count in named:
        device = _OTHER_DEVICES.get(category.lower())
        unknown = f"events of the unknown category {category[:60]!r}"
        skipped[f"work of {device}, which is not a GPU" if device else unknown] += count
    if others := len(categories) - len(named):
        count = categories.total() - sum(count for _, count in named)
        skipped[f"events of {others:,} other unknown categories"] += count
    return skipped


def _holds_events(path: Path) -> bool:
    """Whether ``traceEvents`` comes later than the head."""
    with suppress(ProfileError):
        return _EVENTS in read_head(path, _SNIFFED_BYTES)
    return False


def _without_events(name: str, events: Events, skipped: Counter[str]) -> str:
    """Why a trace holds nothing that can be shown, and what to do."""
    categories = [category[:40] for category, _ in events.categories.most_common(3)]
    if not +events.categories and set(skipped) == {NO_TYPE}:
        what = "its events have no category"
    elif not +events.categories and skipped:
        counted = skipped.most_common(3)
        reasons = ", ".join(reason if count == 1 else f"{reason} ({count:,})" for reason, count in counted)
        return f"{name} holds no event that can be read. Left out: {reasons}. Record the profile again."
    elif categories:
        what = f"it has {', '.join(categories)} events"
    else:
        return f"{name} holds no events; let the profiler record at least one step."
    how = "record it with torch.profiler or Nsight Systems"
    return f"{name} is a trace, but not of the PyTorch profiler ({what}); {how}."
