"""Rows of matched operations: one each, and sums over those that are alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.columns.packing import pack
from tensorboard_plugin_dlprof.database.job_rows import CollectiveRows
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.bandwidth import bus_factor, message_bytes, peak_of
from tensorboard_plugin_dlprof.ranks.clocks import Clocks
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.own_delay import Delays
from tensorboard_plugin_dlprof.ranks.parallelism import Group
from tensorboard_plugin_dlprof.ranks.waiting import Times


def late_in(each: Operations, of: Times) -> Int64s:
    """Operations at which one member was clearly later than the others."""
    ordered = np.sort(of.wait_ns, axis=0)
    least = np.maximum(thresholds.LATE_NS, thresholds.LATE_FRACTION * of.transfer_ns)
    return np.flatnonzero(each.used & (ordered[1] > least))


def name_of(kind: int) -> str:
    """``all_reduce`` and so on."""
    return Collective(kind).name.lower()


def collective_rows(
    job: Job,
    groups: Sequence[Group],
    sequences: Sequence[Operations],
    times: Sequence[Times],
    delays: Delays,
    clocks: Clocks,
) -> tuple[CollectiveRows, int]:
    """Rows of matched operations, and how many there are in all."""
    group_of = {place: number for number, group in enumerate(groups, 1) for place in group.sequences}
    first = min(
        (
            int(clocks.aligned(np.array([place]), np.array([[member.first_ns]]))[0, 0])
            for place, member in enumerate(job.members)
        ),
        default=0,
    )
    waits = [of.wait_ns.sum(0) for of in times]
    total = sum(int(np.count_nonzero(each.used)) for each in sequences)
    least = -1
    if total > thresholds.MOST_COLLECTIVES:
        waits_of_used = np.concatenate([wait[each.used] for each, wait in zip(sequences, waits, strict=True)])
        least = int(np.partition(waits_of_used, -thresholds.COLLECTIVES_BY_WAIT)[-thresholds.COLLECTIVES_BY_WAIT])
    causes = {}
    parts = np.maximum(delays.excess_ns, 0)
    share = parts / np.maximum(parts[:, :-1].sum(1, keepdims=True), 1)
    for row, key in enumerate(zip(delays.sequence.tolist(), delays.column.tolist(), strict=True)):
        causes[key] = int(delays.own_delay_ns[row]), _cause(share[row])

    def rows() -> Iterable[tuple[Any, ...]]:
        for place, (each, of) in enumerate(zip(sequences, times, strict=True)):
            used = np.flatnonzero(each.used & (waits[place] >= least))
            if not len(used):
                continue
            ranks = np.array([job.members[member].rank for member in each.members.tolist()], np.int64)
            start = clocks.aligned(each.members, each.start_ns) - first
            size = message_bytes(each)
            iterations = np.stack(
                [
                    job.members[member].tables.communication.iteration[each.rows[row]]
                    for row, member in enumerate(each.members.tolist())
                ]
            )
            for column in used.tolist():
                late = int(of.last[column])
                delay, cause = causes.get((place, column), (0, ""))
                iteration = int(iterations[late, column])
                yield (
                    *(group_of[place], iteration if iteration >= 0 else None, name_of(int(each.kind[column]))),
                    *(int(size[column]) if size[column] >= 0 else None, len(ranks), int(start[:, column].min())),
                    *(int(of.transfer_ns[column]), int(of.wait_ns[:, column].max()), int(waits[place][column])),
                    *(int(ranks[late]), delay, cause),
                    pack([ranks, of.wait_ns[:, column], start[:, column]]),
                )

    return rows(), total


def _cause(share: Any) -> str:
    compute, copy, waiting, held, host, _ = share.tolist()
    if compute >= thresholds.CAUSE_FRACTION:
        return "compute"
    if copy >= thresholds.CAUSE_FRACTION:
        return "copy"
    idle = waiting + held + host
    if idle >= thresholds.CAUSE_FRACTION:
        return "input" if waiting >= thresholds.CAUSE_FRACTION * idle else "host"
    return "mixed"


def stats_of(
    job: Job, groups: Sequence[Group], sequences: Sequence[Operations], times: Sequence[Times]
) -> list[dict[str, Any]]:
    """Sums over operations of one dimension, kind, size and number of ranks."""
    kinds = {place: group.kind for group in groups for place in group.sequences}
    gathered: dict[tuple[str, int, int, int], list[tuple[int, Int64s]]] = {}
    for place, each in enumerate(sequences):
        sizes = message_bytes(each)
        keys = np.stack([each.kind, sizes])
        for kind, message in np.unique(keys[:, each.used], axis=1).T.tolist():
            selected = np.flatnonzero(each.used & (each.kind == kind) & (sizes == message))
            key = kinds.get(place, ""), kind, message, len(each.members)
            gathered.setdefault(key, []).append((place, selected))
    rows = []
    for (group_kind, kind, message, size), parts in gathered.items():
        transfer = np.concatenate([times[place].transfer_ns[selected] for place, selected in parts])
        waits = [times[place].wait_ns[:, selected] for place, selected in parts]
        skew = np.concatenate([wait.max(0) for wait in waits])
        bandwidth = reason = None
        if message < 0:
            reason = "the size of its messages is unknown"
        elif message == 0:
            reason = "its messages are empty"
        else:
            bandwidth = message * bus_factor(kind, size) / (max(float(np.median(transfer)), 1.0) / 1e9)
        peaks = {peak_of(job, sequences[place]) for place, _ in parts}
        peak, why = peaks.pop() if len(peaks) == 1 else (None, "its groups have different links")
        if 0 <= message < thresholds.LATENCY_BOUND_BYTES:
            peak, why = None, "messages below 1 MiB are bound by latency"
        last = np.zeros(len(job.members), np.int64)
        for place, selected in parts:
            late = np.intersect1d(late_in(sequences[place], times[place]), selected)
            last += np.bincount(sequences[place].members[times[place].last[late]], minlength=len(job.members))
        rows.append(
            {
                "group_kind": group_kind,
                "kind": name_of(kind),
                "bytes": message if message >= 0 else None,
                "ranks": size,
                "operations": len(transfer),
                "transfer_ns": int(transfer.sum()),
                "transfer_median_ns": int(np.median(transfer)),
                "transfer_p95_ns": int(np.percentile(transfer, 95)),
                "wait_ns": sum(int(wait.sum()) for wait in waits),
                "skew_p95_ns": int(np.percentile(skew, 95)),
                "bus_bandwidth": bandwidth,
                "peak_bandwidth": peak if bandwidth is not None else None,
                "bandwidth_reason": reason or why,
                "imbalance": _imbalance(job, sequences, parts) if kind == Collective.ALL_TO_ALL else None,
                "last_rank": job.members[int(last.argmax())].rank if last.any() else None,
                "last_fraction": float(last.max() / last.sum()) if last.any() else None,
            }
        )
    return sorted(rows, key=lambda row: -(row["transfer_ns"] + row["wait_ns"]))


def _imbalance(job: Job, sequences: Sequence[Operations], parts: Sequence[tuple[int, Int64s]]) -> float | None:
    """Largest by mean number of elements that members put into an operation; the median of operations."""
    ratios = []
    for place, rows in parts:
        each = sequences[place]
        elements = np.stack(
            [
                job.members[member].tables.communication.in_elements[each.rows[row, rows]]
                for row, member in enumerate(each.members.tolist())
            ]
        )
        known = (elements >= 0).all(0) & (elements.sum(0) > 0)
        ratios.append(elements[:, known].max(0) / elements[:, known].mean(0))
    together = np.concatenate(ratios)
    return float(np.median(together)) if len(together) else None
