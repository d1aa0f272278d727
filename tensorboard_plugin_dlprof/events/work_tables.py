"""Converts calls and device work into the raw tables of a profile, in DLProf's row order.

Every recorded call becomes rows of exactly one table: of its kernels, copies or sets if it has any, else of
synchronisations, else of plain calls. Whole-graph launches have a table of their own, and their call is a plain one.
Work without a call has a row too, with its GPU start in place of the missing API times.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import KernelClass
from tensorboard_plugin_dlprof.classify.kernels import Classifier
from tensorboard_plugin_dlprof.columns.group import distinct_values, is_ascending, numbered, stable_order
from tensorboard_plugin_dlprof.columns.store import release_pages
from tensorboard_plugin_dlprof.events.combining import combine
from tensorboard_plugin_dlprof.events.drafts import Owners
from tensorboard_plugin_dlprof.events.linking import Links
from tensorboard_plugin_dlprof.events.op_tables import OpTables
from tensorboard_plugin_dlprof.events.tables import Capture, Int8s, Int32s, Int64s, Rows, Strings, WorkKind
from tensorboard_plugin_dlprof.profile.tables import Calls, Copies, GraphLaunches, Kernels, Syncs


class Placed(msgspec.Struct):
    """A capture whose calls and device work all have an op and an instance."""

    capture: Capture
    links: Links
    owners: Owners
    tables: OpTables

    def op(self, drafts: Rows) -> Int32s:
        """The op (row of ``Profile.ops``) of each draft."""
        return self.tables.op_of_draft[drafts]

    def instance(self, drafts: Rows) -> Int32s:
        """The number of each draft among the instances of its op, from 0."""
        return self.tables.instance_of_draft[drafts]

    def sorted(self, rows: Int64s, drafts: Rows, name: Int32s, api_start: Int64s, *more: Int64s) -> Int64s:
        """The order that sorts rows by op, name, API start, and ``more`` columns."""
        if not len(rows):
            return rows
        op_and_name = combine(self.op(drafts), name_ranks(self.capture.strings, name))
        if not more and is_ascending(api_start):
            return stable_order(op_and_name)
        # Times are mostly in order, which a separate stable sort exploits.
        return np.lexsort((*more[::-1], api_start, op_and_name))

    def api(self, rows: Int64s) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """API start, API stop, process id and thread id of some device work; see the module on work without a call."""
        capture, keep, call = self.capture, self.capture.store.keep, self.links.work_call[rows]
        launched = call >= 0
        work_start = capture.work.start_ns[rows]
        if not launched.any():
            return work_start, work_start, capture.work.process[rows].astype(np.int64), np.zeros(len(rows), np.int64)
        thread_ids = np.array([thread.thread_id for thread in capture.threads], np.int64)
        return (
            keep(np.where(launched, capture.calls.start_ns[call], work_start)),
            keep(np.where(launched, capture.calls.end_ns[call], work_start)),
            keep(np.where(launched, self.links.call_process[call], capture.work.process[rows])),
            keep(np.where(launched, thread_ids[capture.calls.thread[call]], 0)),
        )


def name_ranks(strings: Strings, name: npt.NDArray[Any]) -> Int64s:
    """Ranks of text ids by the UTF-8 bytes of their texts: equal ids have equal ranks."""
    distinct, inverse = numbered(name)
    order = sorted(range(len(distinct)), key=lambda index: strings[int(distinct[index])].encode())
    rank = np.empty(len(distinct), np.int64)
    rank[order] = np.arange(len(distinct))
    return rank[inverse]


def kernels(placed: Placed, classifier: Classifier, one_long_name: bool) -> tuple[Kernels, dict[int, KernelClass]]:
    """The table of kernel launches, and the class of each long name, by text id.

    Args:
        classifier: Classifies kernels by name.
        one_long_name: Whether to repeat a quirk of DLProf: all kernels of one op and short name get the long name of
            the last launch.
    """
    work = placed.capture.work
    rows = np.flatnonzero(work.kind == WorkKind.KERNEL)
    name = np.where(work.short_name[rows] > 0, work.short_name[rows], work.name[rows])
    drafts = placed.owners.of_work[rows]
    order = placed.sorted(rows, drafts, name, placed.api(rows)[0], work.start_ns[rows])
    rows, name, drafts = rows[order], name[order], drafts[order]
    long_name = np.where(work.name[rows] > 0, work.name[rows], name)
    if one_long_name and len(rows):
        group = combine(placed.op(drafts), name)
        last = np.append(np.flatnonzero(np.diff(group)), len(rows) - 1)
        long_name = long_name[last[np.searchsorted(last, np.arange(len(rows)))]]
    strings = placed.capture.strings
    short_of = np.zeros(len(strings), np.int32)
    short_of[long_name] = name
    classes = {
        text: classifier.classify(strings[text], strings[short])
        for text, short in ((text, int(short_of[text])) for text in distinct_values(long_name).tolist())
    }
    unit = np.zeros(len(strings), np.int8)
    unit[list(classes)] = [each.matrix_unit for each in classes.values()]
    api_start, api_end, process, thread = placed.api(rows)
    call = placed.links.work_call[rows]
    # One after the other, since all of them together are much.
    keep = placed.capture.store.keep

    def column(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return keep(values[rows])

    is_launched = call >= 0
    return Kernels(
        op=keep(placed.op(drafts)),
        instance=keep(placed.instance(drafts)),
        name=keep(name),
        long_name=keep(long_name),
        matrix_unit=unit[long_name],
        api_start_ns=api_start,
        api_end_ns=api_end,
        start_ns=column(work.start_ns),
        end_ns=column(work.end_ns),
        grid=column(work.grid),
        block=column(work.block),
        device=column(work.device),
        process_id=process,
        thread_id=thread,
        stream=column(work.stream),
        registers=column(work.registers),
        static_shared_bytes=column(work.static_shared_bytes),
        dynamic_shared_bytes=column(work.dynamic_shared_bytes),
        occupancy_percent=column(work.occupancy_percent),
        launched=is_launched.astype(np.int8),
        call_name=np.where(is_launched, placed.capture.calls.name[call], 0).astype(np.int32)
        if is_launched.any()
        else None,
    ), classes


def copies(placed: Placed, kind: WorkKind) -> Copies:
    """The table of copies or sets (``kind``)."""
    work = placed.capture.work
    rows = np.flatnonzero(work.kind == kind)
    call = placed.links.work_call[rows]
    name = label = work.name[rows]
    if (call >= 0).any():
        name = np.where(call >= 0, placed.capture.calls.name[call], name)
    drafts = placed.owners.of_work[rows]
    order = placed.sorted(rows, drafts, name, placed.api(rows)[0], work.start_ns[rows])
    rows, name, drafts, label = rows[order], name[order], drafts[order], label[order]
    api_start, api_end, process, thread = placed.api(rows)
    return Copies(
        op=placed.op(drafts),
        instance=placed.instance(drafts),
        name=name.astype(np.int32),
        api_start_ns=api_start,
        api_end_ns=api_end,
        start_ns=work.start_ns[rows],
        end_ns=work.end_ns[rows],
        num_bytes=work.num_bytes[rows],
        copy_kind=work.copy_kind[rows] if kind == WorkKind.MEMCPY else np.full(len(rows), -1, np.int32),
        device=work.device[rows],
        process_id=process,
        thread_id=thread,
        stream=work.stream[rows],
        launched=(placed.links.work_call[rows] >= 0).astype(np.int8),
        pageable=_pageable(placed.capture.strings, label),
    )


def _pageable(strings: Strings, label: Int32s) -> Int8s:
    """Whether the host memory of each copy is pageable (1) or pinned (0), -1 if unknown, by PyTorch's name of the copy:
    ``Memcpy HtoD (Pageable -> Device)``."""
    distinct, inverse = numbered(label)
    texts = [strings[text] for text in distinct.tolist()]
    pageable = [1 if "Pageable" in text else 0 if "Pinned" in text else -1 for text in texts]
    return np.array(pageable, np.int8)[inverse.reshape(-1)] if pageable else np.zeros(0, np.int8)


def syncs_and_calls(placed: Placed) -> tuple[Syncs, Calls]:
    """The tables of synchronising calls, and of calls without kernels, copies, sets and synchronisations."""
    capture, links = placed.capture, placed.links
    record = np.full(len(capture.calls.start_ns), -1, np.int64)
    recorded = np.flatnonzero(links.sync_call >= 0)[::-1]
    record[links.sync_call[recorded]] = recorded
    has_rows = np.zeros(len(record), np.bool_)
    has_rows[links.work_call[(links.work_call >= 0) & (capture.work.kind != WorkKind.GRAPH)]] = True
    syncs = np.flatnonzero((record >= 0) & ~has_rows)
    plain = np.flatnonzero((record < 0) & ~has_rows)
    sync_rows, sync_columns = _call_columns(placed, syncs)
    record = record[sync_rows]
    del has_rows, sync_rows
    _, call_columns = _call_columns(placed, plain)
    return (
        Syncs(
            **sync_columns,
            sync_type=capture.syncs.sync_type[record],
            event_id=capture.syncs.event_id[record],
            device=capture.syncs.device[record],
        ),
        Calls(**call_columns),
    )


def _call_columns(placed: Placed, rows: Int64s) -> tuple[Int64s, dict[str, Any]]:
    """Some calls in row order: their rows, and the columns that ``Syncs`` and ``Calls`` have in common."""
    capture = placed.capture
    drafts = placed.owners.of_call[rows]
    order = placed.sorted(rows, drafts, capture.calls.name[rows], capture.calls.start_ns[rows])
    rows, drafts = rows[order], drafts[order]
    del order
    release_pages()
    thread_ids = np.array([thread.thread_id for thread in capture.threads], np.int64)
    return rows, {
        "op": placed.op(drafts),
        "instance": placed.instance(drafts),
        "name": capture.calls.name[rows],
        "api_start_ns": capture.calls.start_ns[rows],
        "api_end_ns": capture.calls.end_ns[rows],
        "process_id": placed.links.call_process[rows],
        "thread_id": thread_ids[capture.calls.thread[rows]],
    }


def graphs(placed: Placed) -> GraphLaunches:
    """The table of whole-graph launches, by GPU start."""
    work = placed.capture.work
    rows = np.flatnonzero(work.kind == WorkKind.GRAPH)
    rows = rows[np.argsort(work.start_ns[rows], kind="stable")]
    drafts = placed.owners.of_work[rows]
    return GraphLaunches(
        op=placed.op(drafts),
        instance=placed.instance(drafts),
        start_ns=work.start_ns[rows],
        end_ns=work.end_ns[rows],
        device=work.device[rows],
        stream=work.stream[rows],
    )
