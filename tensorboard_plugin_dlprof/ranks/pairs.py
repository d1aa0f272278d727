"""The communication matrix: what ranks send each other, where it is known who sends to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.waiting import Times


def pair_rows(
    job: Job, sequences: Sequence[Operations], times: Sequence[Times], slow: set[int]
) -> list[dict[str, Any]]:
    """Rows of ``job_pairs``; ``slow`` has the places of sequences whose transfers take much longer than usual."""
    gathered: dict[tuple[int, int, bool], list[tuple[Int64s, Int64s, Int64s, bool]]] = defaultdict(list)
    for number, (each, of) in enumerate(zip(sequences, times, strict=True)):
        if len(each.members) != 2 or not each.believed:
            continue
        first, second = (job.members[place] for place in each.members.tolist())
        table, rows = first.tables.communication, each.rows[0]
        ends = np.stack([table.source[rows], table.destination[rows]])
        sends = each.kind == Collective.SEND_RECV
        for source, destination in ((first.rank, second.rank), (second.rank, first.rank)):
            wanted = sends & (ends[0] == source) & (ends[1] == destination)
            if wanted.any():
                row = each.in_bytes[wanted], of.transfer_ns[wanted], each.used[wanted], number in slow
                gathered[source, destination, True].append(row)
        wanted = sends & (ends < 0).any(0)
        if wanted.any():
            row = each.in_bytes[wanted], of.transfer_ns[wanted], each.used[wanted], number in slow
            gathered[first.rank, second.rank, False].append(row)
    result = []
    for (source, destination, directed), parts in sorted(gathered.items()):
        size, transfer, used = (np.concatenate([part[column] for part in parts]) for column in range(3))
        rated = used & (size > 0)
        rates = size[rated] / np.maximum(transfer[rated], 1) * 1e9
        result.append(
            {
                "source": source,
                "destination": destination,
                "directed": int(directed),
                "operations": len(size),
                "bytes": int(size.sum()) if (size >= 0).all() else None,
                "transfer_ns": int(transfer[used].sum()) if used.any() else None,
                "bandwidth": float(np.median(rates)) if len(rates) else None,
                "slow": int(any(part[3] for part in parts)),
            }
        )
    return result
