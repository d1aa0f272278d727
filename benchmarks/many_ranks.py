"""Measures the job step of many ranks, and what a server answers about them.

``python -m benchmarks.many_ranks --ranks 1024 --iterations 100`` prints one JSON object. What imports store of each
rank is simulated: tensor-parallel groups of 8, data-parallel groups of the ranks in the same place of 4 stages.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import percentile
from benchmarks.server import serving_folder
from tensorboard_plugin_dlprof.aggregation.intervals import covered, intersect, subtract, union, union_of
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.rank_rows import write_ranks
from tensorboard_plugin_dlprof.database.sql_files import run
from tensorboard_plugin_dlprof.events.tables import Int64s, ProcessGroup
from tensorboard_plugin_dlprof.metadata import EXTENSION_VERSION, RANK_SUFFIX
from tensorboard_plugin_dlprof.profile.rank_tables import Collective, CommunicationRows, Parts, RankTables
from tensorboard_plugin_dlprof.queries.job import MEASURES

TENSOR, STAGES = 8, 4
TENSOR_CALLS, DATA_CALLS = 14, 4
"""Collectives of a rank in each of its groups in an iteration: 0.2 million in 1,024 ranks and 100 iterations."""

COMPUTE_NS, TENSOR_NS, DATA_NS = 400_000, 60_000, 500_000
QUESTIONS = 40


def write_rank_files(folder: Path, ranks: int, iterations: int) -> None:
    """Write what imports would store of each rank, and an empty trace beside it; rank 5 is slow."""
    random = np.random.default_rng(1)
    rank = np.arange(ranks)
    tensor, data = rank // TENSOR, rank % (TENSOR * STAGES)
    now = np.full(ranks, 1_000_000, np.int64)
    start, end, steps = [], [], []
    for _ in range(iterations):
        steps.append(now.copy())
        for call in range(TENSOR_CALLS + DATA_CALLS):
            spent = COMPUTE_NS + random.integers(-8_000, 8_000, ranks)
            spent[5 % ranks] += 100_000
            start.append(now + spent)
            group, transfer = (tensor, TENSOR_NS) if call < TENSOR_CALLS else (data, DATA_NS)
            last = np.zeros(int(group.max()) + 1, np.int64)
            np.maximum.at(last, group, start[-1])
            now = last[group] + transfer
            end.append(now)
    steps.append(now)
    starts, ends, bounds = np.stack(start, 1), np.stack(end, 1), np.stack(steps, 1)
    for number in range(ranks):
        name = folder / f"host{number // 8}" / f"rank{number}"
        name.parent.mkdir(parents=True, exist_ok=True)
        name.with_name(f"{name.name}.pt.trace.json").write_text('{"traceEvents": []}')
        tables = _rank(number, ranks, starts[number], ends[number], bounds[number])
        with published(name.with_name(name.name + RANK_SUFFIX), 100_000) as con:
            run(con, "info", "ranks")
            facts = {"extension_version": EXTENSION_VERSION, "source_name": f"rank{number}.pt.trace.json"}
            con.executemany("INSERT INTO ext_info (key, value) VALUES (?, ?)", list(facts.items()))
            write_ranks(con, [tables])


def _rank(rank: int, ranks: int, start: Int64s, end: Int64s, bounds: Int64s) -> RankTables:
    count, calls = len(start), TENSOR_CALLS + DATA_CALLS
    iteration = np.arange(count) // calls
    group = (np.arange(count) % calls >= TENSOR_CALLS).astype(np.int64)
    # Each computes until it communicates, and a tenth of the time during communication.
    before = np.concatenate([bounds[:1], end[:-1]])
    during = union(start, start + (end - start) // 10)
    compute = union_of([(before, start), (during.start, during.stop)])
    communication = union(start, end)
    overlap, exposed = intersect(compute, communication), subtract(communication, compute)

    def total(intervals: Any, begin: Int64s, stop: Int64s) -> Int64s:
        nanoseconds: Int64s = covered(intervals, begin, stop)
        return nanoseconds

    def parts(begin: Int64s, stop: Int64s) -> Parts:
        busy, waits = total(compute, begin, stop), total(exposed, begin, stop)
        shared, none = total(communication, begin, stop), np.zeros(len(begin), np.int64)
        idle = stop - begin - busy - waits
        others = {name: none for name in Parts.__struct_fields__ if name.endswith("_ns")}
        known = {"compute_ns": busy, "compute_tensor_ns": busy, "exposed_communication_ns": waits, "idle_ns": idle}
        spans = {"start_ns": begin, "stop_ns": stop, "communication_ns": shared, "unrecorded_ns": idle}
        return Parts(**{**others, **known, **spans})

    first, zero = np.full(count, bounds[0]), np.zeros(count, np.int64)
    elements = np.where(group == 0, 2_097_152, 16_777_216)
    tensor_ranks = tuple(range(rank // TENSOR * TENSOR, rank // TENSOR * TENSOR + TENSOR))
    data_ranks = tuple(range(rank % (TENSOR * STAGES), ranks, TENSOR * STAGES))
    return RankTables(
        process_id=rank,
        rank=rank,
        world_size=ranks,
        host_name=f"host{rank // 8}",
        device=rank % 8,
        gpu_name="NVIDIA H100 80GB HBM3",
        kernels=4 * count,
        graphs=0,
        fused=0,
        whole=parts(bounds[:1], bounds[-1:]),
        iterations=np.arange(len(bounds) - 1),
        parts=parts(bounds[:-1], bounds[1:]),
        groups=[
            ProcessGroup(str(rank // TENSOR), "mesh_tp", tensor_ranks, TENSOR),
            ProcessGroup(str(1_000 + rank % (TENSOR * STAGES)), "mesh_dp", data_ranks, len(data_ranks)),
        ],
        communication=CommunicationRows(
            start_ns=start,
            end_ns=end,
            iteration=iteration,
            kind=zero + int(Collective.ALL_REDUCE),
            group=group,
            sequence=np.where(group == 0, np.cumsum(group == 0), np.cumsum(group)),
            comms_id=zero - 1,
            in_elements=elements,
            out_elements=elements,
            element_bytes=zero + 2,
            split=zero,
            source=zero - 1,
            destination=zero - 1,
            stream=20 + group,
            compute_ns_before=total(compute, first, start),
            exposed_communication_ns_before=total(exposed, first, start),
            exposed_copy_ns_before=zero,
            input_ns_before=zero,
            held_ns_before=zero,
            kernels_before=3 * np.arange(count),
            kernel_ns_before=total(compute, first, start),
            work_before=np.arange(count) * 77 & 0xFFFF_FFFF,
        ),
        overlap_start_ns=overlap.start,
        overlap_stop_ns=overlap.stop,
    )


_JOB_STEP = """
import json, resource, sys, time
from pathlib import Path
from tensorboard_plugin_dlprof.ranks.job_step import make_jobs
begin = time.process_time()
made, unusable = make_jobs(Path(sys.argv[1]), force=True)
assert not unusable
print(json.dumps({"cpu_s": time.process_time() - begin, "database_bytes": made[0].database.stat().st_size,
    "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "sentence": made[0].sentence}))
"""


def measure(folder: Path, ranks: int, iterations: int) -> dict[str, Any]:
    """The job step in a process of its own; then milliseconds of each kind of question, which is not asked twice.

    ``cpu_ms`` is the mean time of the processor, on which other programs have no influence.
    """
    if not (folder / "job").exists():
        write_rank_files(folder / "job", ranks, iterations)
    ended = subprocess.run(
        [sys.executable, "-c", _JOB_STEP, str(folder / "job")], capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = {"ranks": ranks, "iterations": iterations, "job_step": json.loads(ended.stdout)}
    with serving_folder(folder, folder.parent / f"{folder.name}-cache") as server:
        profile = server.profile("rank5.pt.trace.json")

        def asked(route: str, **query: object) -> list[str]:
            """Addresses that differ, so that no answer is one that the server keeps."""
            return [server.path(route, profile=profile, again=number, **query) for number in range(QUESTIONS)]

        questions = {
            "profiles": asked("profiles"),
            "job": asked("job"),
            "job_rank": asked("job_rank"),
            "job_cells": [each for measure in MEASURES for each in asked("job_cells", measure=measure)[:5]],
            "job_collectives": [each for of in range(QUESTIONS) for each in asked("job_collectives", iteration=of)[:1]],
            "job_collective": [each for of in range(QUESTIONS) for each in asked("job_collective", id=of + 1)[:1]],
        }
        result["answers"] = {}
        for name, addresses in questions.items():
            times, size, used = [], 0, server.cpu_s()
            for address in addresses:
                begin = time.perf_counter()
                size = len(server.get(address, compressed=True))
                times.append((time.perf_counter() - begin) * 1e3)
            result["answers"][name] = {
                "p50_ms": percentile(times, 0.5),
                "p95_ms": percentile(times, 0.95),
                "cpu_ms": (server.cpu_s() - used) * 1e3 / len(addresses),
                "bytes": size,
            }
    return result


def main() -> int:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=1_024)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="folder for the job, which is kept and used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(options.keep or Path(folder), options.ranks, options.iterations), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
