"""Reads what NCCL itself says in an Nsight Systems export: the payloads of its NVTX ranges (``jsonText``).

A range such as ``ncclAllReduce`` names its communicator by a number that all ranks share, and its message size;
ranges of the initialisation (``ncclCommInitRank...``) name the rank of the process. A kernel belongs to the range that
encloses its launch. ``ncclGroupEnd`` launches the kernels of the ranges since ``ncclGroupStart``, in their order.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Collectives,
    DeviceWork,
    Int64s,
    ProcessGroup,
    Strings,
    WorkKind,
)
from tensorboard_plugin_dlprof.importers.nsight.export import Export
from tensorboard_plugin_dlprof.importers.nsight.ids import Names, Threads, process_of
from tensorboard_plugin_dlprof.importers.whole_numbers import whole_number

_PUSH_POP = 59

_LARGEST = ("ncclAllGather", "ncclReduceScatter")
"""Functions whose message size is that of one rank; the whole message is that many times the number of ranks."""


class Nccl(NamedTuple):
    """What NCCL says."""

    collectives: Collectives
    groups: list[ProcessGroup]
    process_ranks: dict[int, tuple[int, int]]
    """Process id -> its rank and the number of ranks, of its largest communicator."""


class _Range(NamedTuple):
    start: int
    end: int
    name: str
    communicator: int
    """-1 for ranges without a message."""
    num_bytes: int
    peer: int


def read_nccl(export: Export, strings: Strings, threads: Threads, calls: Calls, work: DeviceWork) -> Nccl:
    """What NCCL says of the kernels in ``work``; nothing if the export has no payloads."""
    by_thread, members, process_ranks = _read(export, threads)
    if not any(each.communicator >= 0 for ranges in by_thread.values() for each in ranges):
        return Nccl(empty(Collectives), [], process_ranks)
    of_call = _range_of_call(by_thread, calls)
    rows, ranges = _joined(of_call, calls, work, threads)
    groups, numbers = _groups(ranges, members, process_ranks)
    size = np.array([groups[numbers[each.communicator]].size for each in ranges], np.int64)
    message = np.array([each.num_bytes for each in ranges], np.int64)
    known = (size > 0) & (message >= 0)
    whole = np.where(known, message * np.maximum(size, 1), -1)
    gathers, scatters = (np.array([each.name.startswith(name) for each in ranges], np.bool_) for name in _LARGEST)
    rank = np.array([process_ranks.get(int(process), (-1, -1))[0] for process in work.process[rows]], np.int64)
    peer = np.array([each.peer for each in ranges], np.int64)
    sends = np.array([each.name == "ncclSend" for each in ranges], np.bool_)
    paired = (peer >= 0) & (rank >= 0)
    count = len(rows)
    return Nccl(
        Collectives(
            work=rows,
            call=np.array([strings.intern(each.name) for each in ranges], np.int32),
            process_group=np.array([numbers[each.communicator] for each in ranges], np.int32),
            sequence=np.full(count, -1, np.int64),
            comms_id=np.full(count, -1, np.int64),
            in_elements=np.where(scatters, whole, message),
            out_elements=np.where(gathers, whole, message),
            element_bytes=np.ones(count, np.int32),
            split=np.zeros(count, np.int8),
            source=np.where(paired, np.where(sends, rank, peer), -1).astype(np.int32),
            destination=np.where(paired, np.where(sends, peer, rank), -1).astype(np.int32),
        ),
        groups,
        process_ranks,
    )


def _read(
    export: Export, threads: Threads
) -> tuple[dict[int, list[_Range]], dict[int, dict[int, tuple[int, int]]], dict[int, tuple[int, int]]]:
    """NCCL's ranges by thread, the processes of each communicator with rank and size, and the rank of each process."""
    by_thread: dict[int, list[_Range]] = defaultdict(list)
    members: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    ranks: dict[int, tuple[int, int]] = {}
    if not (export.has("NVTX_EVENTS", "jsonText") or export.has("NVTX_EVENTS", "jsonTextId")):
        return by_thread, members, ranks
    payloads = Names(export, Strings())
    texts = payloads.matching("value >= 'nccl' AND value < 'nccm'")
    wanted = ("start", "end", "globalTid", "textId", "jsonTextId")
    where = f"eventType = {_PUSH_POP} AND (textId IN ({', '.join(map(str, texts)) or 'NULL'})"
    where += " OR text >= 'nccl' AND text < 'nccm')" if export.has("NVTX_EVENTS", "text") else ")"
    doing = "reading NCCL's ranges"
    for batch in export.batches("NVTX_EVENTS", wanted, text="jsonText", doing=doing, where=where):
        rows = batch.only(batch["globalTid"] >= 0)
        thread_rows, processes = threads.rows(rows["globalTid"]), process_of(rows["globalTid"])
        for row, thread, pid in zip(rows.rows(), thread_rows.tolist(), processes.tolist(), strict=True):
            start, end, _, text_id, json_id, direct = row
            facts = _facts(direct.decode("utf-8", "replace") or payloads.text(json_id))
            communicator = whole_number(facts.get("NCCL communicator ID")) % (1 << 63) if facts else -1
            rank, size = whole_number(facts.get("Rank")), whole_number(facts.get("No. of ranks"))
            if communicator >= 0 and 0 <= rank < size:
                members[communicator][pid] = rank, size
                ranks[pid] = max(ranks.get(pid, (-1, -1)), (rank, size), key=lambda each: (each[1], each[0]))
            message = whole_number(facts.get("Message size [bytes]"))
            name = texts.get(text_id, "")
            peer = whole_number(facts.get("Peer rank"))
            has_message = "Message size [bytes]" in facts and "NCCL communicator ID" in facts
            by_thread[thread].append(_Range(start, end, name, communicator if has_message else -1, message, peer))
    return by_thread, members, ranks


def _facts(payload: str) -> dict[str, Any]:
    try:
        facts = json.loads(payload) if payload else {}
    except (ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _range_of_call(by_thread: dict[int, list[_Range]], calls: Calls) -> dict[int, _Range]:
    """The range with a message that each call belongs to, by row of ``calls``."""
    of_call: dict[int, _Range] = {}
    for thread, ranges in by_thread.items():
        ranges.sort()
        messages = [each for each in ranges if each.communicator >= 0]
        starts = [each.start for each in messages]
        groups = sorted((each.start, each.end) for each in ranges if each.name.startswith("ncclGroupEnd"))
        group_starts = [start for start, _ in groups]
        taken = 0
        """How many of the messages have had their kernels."""
        rows = np.flatnonzero(calls.thread == thread)
        rows = rows[np.argsort(calls.start_ns[rows], kind="stable")]
        for row, at in zip(rows.tolist(), calls.start_ns[rows].tolist(), strict=True):
            place = bisect_right(starts, at) - 1
            if place >= 0 and at <= messages[place].end:
                of_call[row] = messages[place]
                taken = place + 1
                continue
            group = bisect_right(group_starts, at) - 1
            if group >= 0 and at <= groups[group][1] and taken <= place:
                of_call[row] = messages[taken]
    return of_call


def _joined(
    of_call: dict[int, _Range], calls: Calls, work: DeviceWork, threads: Threads
) -> tuple[Int64s, list[_Range]]:
    """The kernels that these calls launched, and the range of each."""
    process_of_thread = np.array(threads.processes(), np.int64)
    rows = np.array(list(of_call), np.int64)
    keys = process_of_thread[calls.thread[rows]] << 40 ^ calls.correlation[rows]
    by_key = dict(zip(keys.tolist(), of_call.values(), strict=True))
    kernels = np.flatnonzero(work.kind == WorkKind.KERNEL)
    kernels = kernels[np.isin(work.process[kernels].astype(np.int64) << 40 ^ work.correlation[kernels], keys)]
    kernel_keys = (work.process[kernels].astype(np.int64) << 40 ^ work.correlation[kernels]).tolist()
    return kernels, [by_key[key] for key in kernel_keys]


def _groups(
    ranges: list[_Range], members: dict[int, dict[int, tuple[int, int]]], process_ranks: dict[int, tuple[int, int]]
) -> tuple[list[ProcessGroup], dict[int, int]]:
    """The communicators in use, and the place of each."""
    groups: list[ProcessGroup] = []
    numbers: dict[int, int] = {}
    for communicator in dict.fromkeys(each.communicator for each in ranges):
        of_process = members.get(communicator, {})
        size = max((size for _, size in of_process.values()), default=-1)
        ranks = sorted({process_ranks[pid][0] for pid in of_process})
        numbers[communicator] = len(groups)
        groups.append(ProcessGroup(f"{communicator:#x}", "", tuple(ranks) if len(ranks) == size else (), size))
    return groups, numbers
