"""Rows of the ranks and groups of a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.database.rank_rows import ranks_text
from tensorboard_plugin_dlprof.queries.job import DIVIDED
from tensorboard_plugin_dlprof.ranks.clocks import Clocks
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.operation_rows import late_in
from tensorboard_plugin_dlprof.ranks.own_delay import Delays
from tensorboard_plugin_dlprof.ranks.parallelism import Group
from tensorboard_plugin_dlprof.ranks.waiting import Exposed, Times


def rank_rows(
    job: Job,
    clocks: Clocks,
    exposed: Sequence[Exposed],
    sequences: Sequence[Operations],
    times: Sequence[Times],
    delays: Delays,
    coordinates: dict[int, tuple[int, ...]],
    has_waits: bool,
) -> list[dict[str, Any]]:
    """Rows of ``job_ranks``; ``has_waits`` says whether any operation could be matched."""
    count = len(job.members)
    own = np.zeros(count, np.int64)
    np.add.at(own, delays.member, delays.own_delay_ns)
    last = np.zeros(count, np.int64)
    for each, of in zip(sequences, times, strict=True):
        late = late_in(each, of)
        last += np.bincount(each.members[of.last[late]], minlength=count)
    rows = []
    for place, (member, parts) in enumerate(zip(job.members, exposed, strict=True)):
        tables = member.tables
        whole = {name: getattr(tables.whole, name).tolist() for name in tables.whole.__struct_fields__}
        row: dict[str, Any] = {
            "rank": member.rank,
            "database": member.database.path,
            "name": member.name,
            "process_index": member.process_index,
            "host": member.host,
            "device_id": tables.device if tables.device >= 0 else None,
            "gpu_name": tables.gpu_name,
            "coordinates": ",".join(map(str, coordinates.get(member.rank, ()))),
            "island": int(clocks.island[place]),
            "clock_offset_ns": int(clocks.offset_ns[place]),
            "clock_drift": float(clocks.drift[place]),
            "kernels": tables.kernels,
            "last": int(last[place]),
            "own_delay_ns": int(own[place]) if has_waits else None,
        }
        names = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        known = bool(whole["start_ns"])
        row |= {name: whole[name][0] if known else None for name in (*names, *(f"{part}_ns" for part in DIVIDED))}
        row["window_ns"] = whole["stop_ns"][0] - whole["start_ns"][0] if known else None
        row["overlapped_ns"] = whole["communication_ns"][0] - whole["exposed_communication_ns"][0] if known else None
        row["exposed_transfer_ns"] = int(parts.transfer_ns[0]) if known and has_waits else None
        row["exposed_wait_ns"] = int(parts.wait_ns[0]) if known and has_waits else None
        row["exposed_unmatched_ns"] = int(parts.unmatched_ns[0]) if known and has_waits else None
        rows.append(row)
    return rows


def group_rows(
    groups: Sequence[Group], sequences: Sequence[Operations], times: Sequence[Times], slow: set[int]
) -> list[tuple[Any, ...]]:
    """Rows of ``job_groups``; ``slow`` has the places of sequences whose transfers take much longer than usual."""
    rows = []
    for number, group in enumerate(groups, 1):
        transfer = wait = 0
        for place in group.sequences:
            used = sequences[place].used
            transfer += int(times[place].transfer_ns[used].sum())
            wait += int(times[place].wait_ns[:, used].sum())
        rows.append(
            (
                *(number, group.name, group.description, group.kind, int(group.inferred), ranks_text(group.ranks)),
                *(group.size if group.size >= 0 else None, int(group.believed), group.reason, group.matched),
                *(transfer, wait, group.spread_ns, int(not slow.isdisjoint(group.sequences))),
            )
        )
    return rows
