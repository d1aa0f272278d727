"""Reads PyTorch profiler traces into a ``Capture``.

A trace is Chrome's trace-event JSON as Kineto writes it, plain or gzip: an object with
``traceEvents`` and, before or after it, ``deviceProperties``, ``distributedInfo``,
``baseTimeNanoseconds`` and versions; or a bare array of events. Traces from 2020 to today, of NVIDIA's and
AMD's GPUs, are supported. Read are:

* host ranges: ``cpu_op`` (``Operator``), ``user_annotation``, ``python_function``;
* calls: ``cuda_runtime`` (``Runtime``), ``cuda_driver``, hip calls, those of other accelerators;
* device work: ``kernel``, ``gpu_memcpy``, ``gpu_memset``; ``cuda_sync``;
* ``[memory]`` instants and ``fwdbwd`` arrows.

Ignored, and not counted as skipped, are launch arrows (``ac2g``, which repeat the correlation),
``gpu_user_annotation`` (repeats the host's), ``Trace`` and ``Spans``, ``overhead``, and counters except
samples of Tensor Cores (``kineto_counters``). Events that cannot be used are counted in ``Capture.skipped``.

The format: https://github.com/pytorch/kineto, ``libkineto/src/output_json.cpp``, and Google's "Trace
Event Format".

The modules, in the order of the data: ``kineto_text`` splits the text into pieces; ``kineto_pieces`` and
``kineto_events`` decode them; ``kineto_categories``, ``kineto_sorting``, ``kineto_ids`` and ``kineto_rows`` collect
columns; ``kineto_frames`` leaves out empty frames; ``kineto_parts`` separates the ranks of a merged trace; and
``kineto_capture`` builds the tables. With two workers, ``kineto_helper`` decodes and sorts a part of the events in a
second process; ``kineto_sharing`` decides which part, and ``kineto_merging`` joins the results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError
from tensorboard_plugin_dlprof.forking import can_fork
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.kineto_chunks import Refused
from tensorboard_plugin_dlprof.importers.kineto_events import Event
from tensorboard_plugin_dlprof.importers.kineto_sorting import NO_TYPE, EventTables
from tensorboard_plugin_dlprof.importers.kineto_text import TraceText
from tensorboard_plugin_dlprof.opening.byte_stream import ByteStream
from tensorboard_plugin_dlprof.opening.regular_file import shown

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.events.tables import Capture
    from tensorboard_plugin_dlprof.importers.kineto_helper import Helper

_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*([{\[])\s*(\S)")
_EVENTS = b'"traceEvents"'
_SIGNS = re.compile(
    rb'"(?:traceEvents|deviceProperties|distributedInfo|baseTimeNanoseconds|schemaVersion|displayTimeUnit)"\s*:'
)
_EVENT_SIGN = re.compile(rb'"ph"\s*:\s*"')
_SNIFFED_BYTES = 8 << 20
"""A trace may begin with metadata of its own; how far to look for its events."""

_COMPRESSION = 13
"""Typical ratio of a trace's size to its compressed size, at gzip's default level."""

_REPORT_EVERY = 16
"""Pieces between two reports of progress: about 4 MB."""


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
        with ExitStack() as helped:  # when it closes, the helper has long ended, and nobody waits for that
            found = _read_by_two(path, options, progress, helped) if _is_for_two(path, options) else None
            tables, text, store = found or _read_by_one(path, options, progress)
            if tables.is_empty():
                raise BrokenSource(_nothing_found(shown(path), tables, text.skipped + tables.skipped))
            from tensorboard_plugin_dlprof.importers.kineto_capture import build_capture

            return build_capture(tables, text.clock, text.metadata, path, text.skipped + tables.skipped, store)


_Read = tuple[EventTables, TraceText, ColumnStore]


def _read_by_one(path: Path, options: ReadOptions, progress: Progress) -> _Read:
    tables, store = EventTables(), ColumnStore(options.memory_bytes, options.folder)
    with ByteStream(path, options.max_expanded_bytes) as stream:
        text = TraceText(stream, shown(path))
        _fill(tables, text.events(), stream, progress)
    tables.finish()
    tables.complete()
    return tables, text, store


def _is_for_two(path: Path, options: ReadOptions) -> bool:
    """Whether a second process is allowed, and worth starting."""
    if options.workers < 2 or not can_fork():
        return False
    with ByteStream(path) as stream:
        return stream.size_bytes * (_COMPRESSION if stream.is_gzip else 1) >= options.helped_from_bytes


def _read_by_two(path: Path, options: ReadOptions, progress: Progress, helped: ExitStack) -> _Read | None:
    """As ``_read_by_one``, with a second process; None if one process must read the trace alone."""
    from tensorboard_plugin_dlprof.importers.kineto_helper import Helper
    from tensorboard_plugin_dlprof.importers.kineto_sharing import Sharing

    tables, store = EventTables(), ColumnStore(options.memory_bytes, options.folder)
    with ByteStream(path, options.max_expanded_bytes) as stream:
        text = TraceText(stream, shown(path))
        helper = helped.enter_context(Helper(tables, options))
        try:
            _fill(tables, text.events(Sharing(helper)), stream, progress)
            if not helper.has_begun:
                tables.finish()
                tables.complete()
                return tables, text, store
            return tables, text, _joined(tables, store, helper)
        except Refused:
            helped.close()
            return None


def _joined(tables: EventTables, store: ColumnStore, helper: Helper) -> ColumnStore:
    from tensorboard_plugin_dlprof.importers.kineto_merging import merge

    found, pipe = helper.handover()
    tables.complete()
    merge(tables, helper.readers, helper.counts, found, pipe, store)
    tables.finish()
    return store


def _fill(tables: EventTables, lists: Iterator[list[Event]], stream: ByteStream, progress: Progress) -> None:
    """Reads all events. Each list is freed before the next is created, which then reuses memory that is still in the
    processor's cache."""
    stage, number = "Reading events", count()
    for events in lists:
        if next(number) % _REPORT_EVERY == 0:
            progress(stage, stream.fraction)
        tables.add(events)
        del events
    progress(stage, 1.0)


def _holds_events(path: Path) -> bool:
    """Whether ``traceEvents`` comes later than the head."""
    try:
        with ByteStream(path) as stream:
            before, read = b"", 0
            while read < _SNIFFED_BYTES and (chunk := stream.read(1 << 16)):
                if _EVENTS in before + chunk:
                    return True
                before, read = chunk[-len(_EVENTS) :], read + len(chunk)
    except ProfileError:
        pass
    return False


def _nothing_found(name: str, tables: EventTables, skipped: Counter[str]) -> str:
    if not tables.categories and set(skipped) == {NO_TYPE}:
        return _of_another_tool(name, "its events have no category")
    if not tables.categories and skipped:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in skipped.most_common(3))
        return f"{name} holds no event that can be read: {reasons}; record the profile again."
    categories = [category for category, _ in tables.categories.most_common(3)] or sorted(tables.other_categories)[:3]
    if not categories:
        return f"{name} holds no events; let the profiler record at least one step."
    known = ", ".join(category[:40] for category in categories)
    return _of_another_tool(name, f"it has {known} events")


def _of_another_tool(name: str, reason: str) -> str:
    how = "record it with torch.profiler or Nsight Systems"
    return f"{name} is a trace, but not of the PyTorch profiler ({reason}); {how}."
