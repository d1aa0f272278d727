"""Pipelines, simulated, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_ranks_of


def imported_pipelines(
    folder: Path,
    stages: int,
    pipelines: int = 1,
    slow: int | None = None,
    cause: str | None = None,
    reduces: bool = True,
    slow_stage: int | None = None,
    groups: bool = False,
) -> Path:
    """The folder with the imported ranks of pipelines, of which a rank or stage may be late by ``compute`` or ``host``.

    Rank = stage + stages x pipeline. In each of four iterations, each stage computes and sends to the next; then the
    ranks of one stage in all pipelines reduce, if they do: those of the third arrive a little late.
    """
    count = stages * pipelines
    free, events = [0.0] * count, [list[dict[str, Any]]() for _ in range(count)]

    def run(rank: int, name: str, stream: int, start: float, end: float, group: dict[str, Any] | None = None) -> None:
        args = {"device": rank, "stream": stream, "correlation": len(events[rank]) + 1, "grid": [132, 1, 1]}
        args |= group or {}
        span = {"ph": "X", "pid": rank, "tid": stream, "ts": round(start), "dur": round(end) - round(start)}
        events[rank].append({**span, "cat": "kernel", "name": name, "args": args})
        free[rank] = round(end)

    def together(ranks: list[int], name: str, stream: int) -> None:
        end = max(free[rank] for rank in ranks) + 100
        kind, members = ("pp", [ranks[0] // stages * stages + each for each in range(stages)])
        pair: dict[str, Any] = {"Src Rank": ranks[0], "Dst Rank": ranks[-1]}
        if stream != 24:
            kind, members, pair = "dp", ranks, {}
        group = {
            "Collective name": "send" if pair else "allreduce",
            "Process Group Name": f"{kind}{members[0]}",
            "Process Group Description": f"mesh_{kind}",
            "Process Group Ranks": str(members),
            "Group size": len(members),
        }
        for rank in ranks:
            run(rank, name, stream, free[rank] + 2, end, group | pair if groups else None)

    for step in range(4):
        begun = list(free)
        for rank in range(count):
            late = 700 if rank == slow or rank % stages == slow_stage else 0
            start = free[rank] + (late if cause == "host" else 0)
            spent = 1_500 + 13 * ((rank + step) % 4) + (late if cause == "compute" else 0)
            run(rank, "gemm_kernel", 7, start, start + spent)
            if (rank + 1) % stages:
                together([rank, rank + 1], "ncclDevKernel_SendRecv", 24)
        for stage in range(stages if reduces and pipelines > 1 else 0):
            for rank in range(stage, count, stages):
                run(rank, "update_kernel", 7, free[rank], free[rank] + 400 + 13 * (rank // stages == 2))
            together(list(range(stage, count, stages)), "ncclDevKernel_AllReduce_Sum", 20)
        for rank in range(count):
            span = {"ph": "X", "pid": 99, "tid": 99, "ts": begun[rank], "dur": free[rank] - begun[rank]}
            events[rank].append({**span, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "args": {}})
    for rank in range(count):
        info = {"backend": "nccl", "rank": rank, "world_size": count}
        path = folder / "host0" / f"rank{rank}.pt.trace.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"schemaVersion": 1, "distributedInfo": info, "traceEvents": events[rank]}))
        target = path.with_name(f"rank{rank}.dlprof_rank.sqlite")
        import_ranks_of(path, target, ImportOptions(), lambda _stage, _fraction: None)
    return folder
