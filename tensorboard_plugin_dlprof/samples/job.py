"""A small job of several ranks: a simulated training step, sharded over all GPUs, in which one rank costs time.

Every rank runs the same layers. Before each, parameters are gathered; in the tensor-parallel group, activations are
reduced; after the backward pass, gradients are reduced and scattered among all ranks of one place. A collective ends
for all its members when the last has arrived, after the transfer; nothing else ties the ranks together.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_BASE_TIME_NS: Final = 1_767_225_600_000_000_000
_COMPUTE_STREAM, _TENSOR_STREAM, _DATA_STREAM = 7, 13, 17
_LAUNCH_NS = 5_000
_TENSOR_NS, _GATHER_NS, _SCATTER_NS = 60_000, 180_000, 220_000
"""Transfers: 4 MiB in a tensor-parallel group, 16 MiB of parameters, 32 MiB of gradients."""

_FORWARD: Final = (
    ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_cublas", 310_000),
    (
        "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>>",
        190_000,
    ),
)
_BACKWARD: Final = (
    ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64_warpgroupsize1x1x1_cublas", 450_000),
    ("void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128>>", 330_000),
)
_OPTIMIZER: Final = (
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>",
    260_000,
)
_NCCL: Final = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_allgather_base": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_reduce_scatter_base": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
}


@dataclass(frozen=True)
class Plan:
    """What job to simulate."""

    tensor: int = 2
    """Ranks of a tensor-parallel group."""
    data: int = 4
    """Ranks that hold the same place of the model."""
    iterations: int = 4
    layers: int = 2
    straggler: int | None = 5
    cause: str = "compute"
    """``compute``, ``host``, ``input``, ``link``, or ``mixed``: ``host`` and ``compute``, each with the delay."""
    delay_ns: int = 1_200_000
    """What the straggler costs in each iteration."""
    ranks_a_host: int = 4
    clock_ns: int = 0
    """By how much the clock of each host is ahead of that of the host before."""
    seed: int = 1
    groups: bool = True
    """Whether the traces tell process groups, as PyTorch does since 2.3."""
    noise: float = 0.02
    """By how much longer kernels may take, by chance."""
    whole_host: bool = False
    """Whether all ranks of its host are as late as the straggler."""

    @property
    def late(self) -> Sequence[int]:
        """The ranks that cost time."""
        if self.straggler is None:
            return ()
        first = self.straggler // self.ranks_a_host * self.ranks_a_host
        return range(first, first + self.ranks_a_host) if self.whole_host else (self.straggler,)

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self.tensor * self.data


@dataclass
class _Rank:
    number: int
    host_ns: int = 0
    compute_ns: int = 0
    """When its compute stream is free."""
    streams: dict[int, int] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    sequence: dict[str, int] = field(default_factory=dict)
    calls: int = 1_000


def job(plan: Plan) -> Iterator[tuple[str, bytes]]:
    """The trace of each rank: name of the file below the job's folder, and its compressed content."""
    noise = random.Random(plan.seed)
    ranks = [_Rank(number, host_ns=200_000 + noise.randrange(50_000)) for number in range(plan.world_size)]
    for step in range(plan.iterations):
        _iteration(plan, ranks, noise, step)
    for rank in ranks:
        host = rank.number // plan.ranks_a_host
        name = f"host{host}/generated-job-rank{rank.number}.pt.trace.json.gz"
        yield name, _packed(plan, rank, host * plan.clock_ns)


def write_job(plan: Plan, folder: Path) -> list[Path]:
    """Write the traces below a folder; returns their paths."""
    paths = []
    for name, content in job(plan):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        paths.append(path)
    return paths


def _iteration(plan: Plan, ranks: list[_Rank], noise: random.Random, step: int) -> None:
    begun = [rank.host_ns for rank in ranks]
    for rank in ranks:
        rank.host_ns += 30_000 + noise.randrange(2_000)
        if rank.number in plan.late and plan.cause in ("host", "input", "mixed"):
            if plan.cause == "input":
                loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
                rank.events.append(_span("user_annotation", loader, rank, rank.host_ns, plan.delay_ns))
            rank.host_ns += plan.delay_ns
    slower = plan.delay_ns // (len(_FORWARD + _BACKWARD) * plan.layers)
    for pass_, kernels in (("forward", _FORWARD), ("backward", _BACKWARD)):
        for _ in range(plan.layers):
            if pass_ == "forward":
                _collectives(plan, ranks, "data", "_allgather_base", 8 << 20, _GATHER_NS, noise)
            for rank in ranks:
                is_slow = rank.number in plan.late and plan.cause in ("compute", "mixed")
                for name, duration in kernels:
                    jitter = noise.randrange(round(duration * plan.noise))
                    _kernel(rank, name, duration + jitter + (slower if is_slow else 0), noise)
            _collectives(plan, ranks, "tensor", "allreduce", 2 << 20, _TENSOR_NS, noise)
            if pass_ == "backward":
                _collectives(plan, ranks, "data", "_reduce_scatter_base", 16 << 20, _SCATTER_NS, noise)
    for rank in ranks:
        rank.compute_ns = max([rank.compute_ns, *rank.streams.values()])
        _kernel(rank, *_OPTIMIZER, noise)
        rank.host_ns = max(rank.host_ns, rank.compute_ns)
        span = rank.host_ns - begun[rank.number]
        rank.events.append(_span("user_annotation", f"ProfilerStep#{step + 3}", rank, begun[rank.number], span))


def _groups(plan: Plan, kind: str) -> list[list[int]]:
    if kind == "tensor":
        return [list(range(first, first + plan.tensor)) for first in range(0, plan.world_size, plan.tensor)]
    return [list(range(place, plan.world_size, plan.tensor)) for place in range(plan.tensor)]


def _kernel(rank: _Rank, name: str, duration: int, noise: random.Random) -> None:
    rank.host_ns += _LAUNCH_NS + noise.randrange(500)
    start = max(rank.compute_ns, rank.host_ns + 3_000)
    rank.compute_ns = start + duration
    _launched(
        rank, name, "cudaLaunchKernel", start, duration, _COMPUTE_STREAM, {"grid": [132, 1, 1], "block": [384, 1, 1]}
    )


def _collectives(
    plan: Plan, ranks: list[_Rank], kind: str, name: str, elements: int, transfer: int, noise: random.Random
) -> None:
    """One operation in each group of a kind. Tensor-parallel ones are in the way of compute, and so are gathers."""
    stream = _TENSOR_STREAM if kind == "tensor" else _DATA_STREAM
    for number, members in enumerate(_groups(plan, kind)):
        if len(members) == 1:
            continue
        longer = plan.delay_ns // (4 * plan.layers) if plan.cause == "link" and plan.straggler in members else 0
        starts = {}
        for place in members:
            rank = ranks[place]
            rank.host_ns += _LAUNCH_NS + noise.randrange(500)
            starts[place] = max(rank.streams.get(stream, 0), rank.host_ns + 3_000, rank.compute_ns)
        end = max(starts.values()) + transfer + longer
        for place in members:
            rank = ranks[place]
            rank.streams[stream] = end
            if name != "_reduce_scatter_base":
                rank.compute_ns = end
            key = f"{kind}{number}"
            rank.sequence[key] = rank.sequence.get(key, 0) + 1
            count = len(members)
            out = elements * count if "gather" in name else elements // count if "scatter" in name else elements
            args: dict[str, Any] = {}
            if plan.groups:
                args = {
                    "Collective name": name,
                    "In msg nelems": elements,
                    "Out msg nelems": out,
                    "Group size": count,
                    "dtype": "BFloat16",
                    "Process Group Name": str(number + 1 + 100 * (kind == "data")),
                    "Process Group Description": "mesh_tp" if kind == "tensor" else "mesh_dp",
                    "Process Group Ranks": str(members),
                    "Seq": rank.sequence[key],
                }
            args |= {"grid": [24, 1, 1], "block": [544, 1, 1]}
            _launched(rank, _NCCL[name], "cudaLaunchKernelExC", starts[place], end - starts[place], stream, args)


def _launched(rank: _Rank, name: str, call: str, start: int, duration: int, stream: int, args: dict[str, Any]) -> None:
    """A piece of GPU work, the call that launched it, and the op around the call."""
    rank.calls += 1
    op = "record_param_comms" if name.startswith("nccl") else "aten::mm" if "gemm" in name else "aten::fused"
    number = {"External id": rank.calls}
    rank.events.append(_span("cpu_op", op, rank, rank.host_ns - 4_000, 4_500, number))
    rank.events.append(_span("cuda_runtime", call, rank, rank.host_ns - 2_500, 2_000, {"correlation": rank.calls}))
    args = {"device": 0, "stream": stream, "correlation": rank.calls, **number, **args}
    event = _span("kernel", name, rank, start, duration, args)
    rank.events.append(event | {"pid": 0, "tid": stream})


def _span(
    category: str, name: str, rank: _Rank, start: int, duration: int, args: dict[str, Any] | None = None
) -> dict[str, Any]:
    process = 4_000 + rank.number
    span = {"ph": "X", "cat": category, "name": name, "pid": process, "tid": process, "ts": start, "dur": duration}
    return span | {"args": args or {}}


def _packed(plan: Plan, rank: _Rank, clock_ns: int) -> bytes:
    mine = [
        (f"{number + 1 + 100 * (kind == 'data')}", "mesh_tp" if kind == "tensor" else "mesh_dp", members)
        for kind in ("tensor", "data")
        for number, members in enumerate(_groups(plan, kind))
        if rank.number in members
    ]
    world = list(range(plan.world_size))
    info: dict[str, Any] = {"backend": "nccl", "rank": rank.number, "world_size": plan.world_size}
    if plan.groups:
        info["pg_config"] = [
            {"pg_name": name, "pg_desc": text, "backend_config": "cuda:nccl", "pg_size": len(members), "ranks": members}
            for name, text, members in [("0", "default_pg", world), *mine]
        ]
    gpu = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "numSms": 132}
    trace = {
        "schemaVersion": 1,
        "deviceProperties": [gpu],
        "distributedInfo": info,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": _BASE_TIME_NS,
        "generated": "generated by tensorboard_plugin_dlprof, not recorded",
        "traceEvents": [
            event | {"ts": (event["ts"] + clock_ns) / 1_000, "dur": event["dur"] / 1_000}
            for event in sorted(rank.events, key=lambda event: int(event["ts"]))
        ],
    }
    return gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), 9, mtime=0)
