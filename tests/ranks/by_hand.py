"""Members and operations of a job made by hand, for tests of one module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective, CommunicationRows, Parts, RankTables
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Fingerprint, Job, Member

NONE = np.zeros(0, np.int64)


def member(rank: int, host: str = "", **columns: Int64s) -> Member:
    """A rank with communication kernels of these columns; the others are 0.

    ``overlap_start_ns`` and ``overlap_stop_ns`` are compute during communication.
    """
    overlap = {name: columns.pop(name, NONE) for name in ("overlap_start_ns", "overlap_stop_ns")}
    count = max(map(len, columns.values()), default=0)
    described = {name: columns.get(name, np.zeros(count, np.int64)) for name in CommunicationRows.__struct_fields__}
    nothing = Parts(*(NONE for _ in Parts.__struct_fields__))
    tables = RankTables(
        process_id=rank,
        rank=rank,
        world_size=rank + 1,
        host_name=host,
        device=0,
        gpu_name="",
        kernels=count,
        graphs=0,
        fused=0,
        whole=nothing,
        iterations=NONE,
        parts=nothing,
        groups=[],
        communication=CommunicationRows(**described),
        **overlap,
    )
    return Member(rank, Fingerprint(f"{rank}.sqlite", 0, 0), f"{rank}", 0, host, 0, tables, is_amd=False)


def job_of(members: list[Member]) -> Job:
    """The job of these members."""
    return Job(Path("job"), "job", members, len(members), True, [])


def operations(members: list[int], start_ns: Any, end_ns: Any, **facts: Any) -> Operations:
    """All-reduces of these members; times are of shape (members, operations)."""
    start, end = np.array(start_ns, np.int64), np.array(end_ns, np.int64)
    count = start.shape[1]
    same = np.full(count, 1_000, np.int64)
    described: dict[str, Any] = {
        "key": ("1", tuple(members), len(members)),
        "description": "",
        "pair": False,
        "grouped": True,
        "stream": "",
        "members": np.array(members, np.int64),
        "rows": np.tile(np.arange(count), (len(members), 1)),
        "start_ns": start,
        "end_ns": end,
        "number": np.arange(count),
        "kind": np.full(count, int(Collective.ALL_REDUCE), np.int64),
        "in_bytes": same,
        "out_bytes": same,
        "elements": same,
        "split": np.zeros(count, np.int64),
        "used": np.ones(count, np.bool_),
    }
    return Operations(**described | facts)
