"""One training process under PyTorch's profiler, simulated: host threads, GPU streams, and the trace's events."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from scripts.samples.gpus import Gpu
from scripts.samples.records import (
    Block,
    DeviceRecord,
    Forward,
    Kernel,
    PendingCollective,
    Tensor,
)

COMPUTE_STREAM: Final = 7
NCCL_STREAM: Final = 20


@dataclass(slots=True)
class Process:
    """One process: its clocks, and the events written so far.

    Times are nanoseconds since the start of the capture. ``now`` is the clock of the current host thread.
    """

    gpu: Gpu
    seed: int
    trace_name: str
    rank: int = 0
    world_size: int = 1
    pid: int = 4242
    autograd_tid: int = 4391
    now: int = 2_000_000
    thread: int = 0
    step: int = 0
    recording_gradients: bool = False
    """Whether autograd records, so that ops have sequence numbers."""
    events: list[dict[str, Any]] = field(default_factory=list)
    device: list[DeviceRecord] = field(default_factory=list)
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    """Number, start and end of each ``ProfilerStep``."""
    pending: list[PendingCollective] = field(default_factory=list)
    stream_free: dict[int, int] = field(default_factory=dict)
    allocated_bytes: int = 0
    reserved_bytes: int = 0
    _correlation: int = 0
    _external: int = 0
    _sequence: int = 0
    _python: int = 0
    _flow: int = 0
    _address: int = 0x7F30_0000_0000
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self.thread = self.pid

    # Host.

    def spend(self, nanoseconds: float) -> None:
        """Advances the clock of the current thread by about that time."""
        self.now += round(nanoseconds * (0.9 + 0.2 * self._random.random()))

    @contextmanager
    def on_autograd_thread(self) -> Iterator[None]:
        """Runs a block on autograd's thread while the main thread waits for it."""
        self.thread = self.autograd_tid
        self.spend(15_000)
        yield
        self.spend(10_000)
        self.thread = self.pid

    @contextmanager
    def op(
        self, name: str, inputs: list[Tensor | str] | None = None, *, forward: Forward | None = None, node: bool = False
    ) -> Iterator[Forward]:
        """A ``cpu_op``.

        Args:
            name: ``aten::conv2d``.
            inputs: Tensors, and texts for scalars (``"[1, 1]"``), in the order of the arguments.
            forward: For a backward node, the forward op whose gradient it computes.
            node: Autograd records a backward node for this op, so that the next op gets the next sequence number.

        Yields:
            What a backward node needs to name this op as its forward op.
        """
        self._external += 1
        args: dict[str, Any] = {"External id": self._external, "Ev Idx": self._external}
        if inputs is not None:
            tensors = [item if isinstance(item, Tensor) else None for item in inputs]
            args["Input Dims"] = [list(tensor.shape) if tensor else [] for tensor in tensors]
            args["Input type"] = [tensor.dtype if tensor else "Scalar" for tensor in tensors]
            args["Concrete Inputs"] = ["" if isinstance(item, Tensor) else item for item in inputs]
        start = self.now
        mine = Forward(self._sequence, start)
        if forward is not None:
            args |= {"Sequence number": forward.sequence, "Fwd thread id": 1}
            self._forward_backward(forward, start)
        elif self.thread == self.pid and self.recording_gradients:
            args |= {"Sequence number": self._sequence, "Fwd thread id": 0}
        event = self._complete("cpu_op", name, start, args)
        self.spend(1_500)
        yield mine
        self.spend(1_000)
        self._sequence += node
        self._end(event)

    @contextmanager
    def annotation(self, name: str) -> Iterator[None]:
        """A ``user_annotation``."""
        self._external += 1
        event = self._complete(
            "user_annotation", name, self.now, {"External id": self._external, "Ev Idx": self._external}
        )
        self.spend(800)
        yield
        self._end(event)

    @contextmanager
    def module(self, name: str) -> Iterator[None]:
        """A call of an ``nn.Module``, recorded by ``with_modules``: ``Conv2d_3``."""
        self._python += 1
        number = self._python
        args = {"Python id": number, "Python module id": int(name.rsplit("_", 1)[1]), "Ev Idx": number}
        event = self._complete("python_function", f"nn.Module: {name}", self.now, args)
        self.spend(1_200)
        yield
        self.spend(700)
        self._end(event)

    @contextmanager
    def profiler_step(self, number: int) -> Iterator[None]:
        """``ProfilerStep#N``."""
        start = self.begin_step(number)
        yield
        self.end_step(number, start)

    def begin_step(self, number: int) -> int:
        """Starts step ``number``; returns its start."""
        self.step = number
        self.spend(40_000)
        return self.now

    def end_step(self, number: int, start: int) -> None:
        """Ends the step that ``begin_step`` started."""
        self._external += 1
        args = {"External id": self._external, "Ev Idx": self._external}
        self._complete("user_annotation", f"ProfilerStep#{number}", start, args, self.now)
        self.steps.append((number, start, self.now))

    # Device.

    def launch(self, kernel: Kernel, stream: int = COMPUTE_STREAM) -> None:
        """Launches a kernel. The host continues at once; the device runs the kernel when its stream is free."""
        correlation, ready = self._call("cudaLaunchKernel", 3_600, 211)
        start = max(self.stream_free.get(stream, 0), ready)
        end = start + round(kernel.duration_ns * (0.97 + 0.06 * self._random.random()))
        blocks, threads = prod(kernel.grid), prod(kernel.block)
        args = {
            "External id": self._external,
            "queued": 0,
            "device": self.rank,
            "context": 1,
            "stream": stream,
            "correlation": correlation,
            "registers per thread": kernel.registers,
            "shared memory": kernel.shared_bytes,
            "blocks per SM": round(blocks / self.gpu.sm_count, 6),
            "warps per SM": round(blocks * threads / 32 / self.gpu.sm_count, 6),
            "grid": list(kernel.grid),
            "block": list(kernel.block),
            "est. achieved occupancy %": self.gpu.occupancy_percent(
                blocks, threads, kernel.registers, kernel.shared_bytes
            ),
        }
        self.work("kernel", kernel.name, stream, start, end, args, tensor_core=kernel.tensor_core)

    def copy(self, kind: str, num_bytes: int, *, pinned: bool = True) -> None:
        """Copies between host and device, ``kind`` ``HtoD`` or ``DtoH``."""
        correlation, ready = self._call("cudaMemcpyAsync", 5_200, 41)
        start = max(self.stream_free.get(COMPUTE_STREAM, 0), ready)
        end = start + 1_200 + round(num_bytes / (25e9 if pinned else 9e9) * 1e9)
        memory = "Pinned" if pinned else "Pageable"
        name = f"Memcpy HtoD ({memory} -> Device)" if kind == "HtoD" else f"Memcpy DtoH (Device -> {memory})"
        args = self._memory_args(correlation, num_bytes)
        args["memory bandwidth (GB/s)"] = round(num_bytes / (end - start), 6)
        self.work("memcpy", name, COMPUTE_STREAM, start, end, args, num_bytes=num_bytes)

    def fill(self, num_bytes: int) -> None:
        """Sets device memory to zero."""
        correlation, ready = self._call("cudaMemsetAsync", 3_000, 51)
        start = max(self.stream_free.get(COMPUTE_STREAM, 0), ready)
        end = start + 1_000 + round(num_bytes / 1.2e12 * 1e9)
        args = self._memory_args(correlation, num_bytes)
        self.work("memset", "Memset (Device)", COMPUTE_STREAM, start, end, args, num_bytes=num_bytes)

    def _memory_args(self, correlation: int, num_bytes: int) -> dict[str, object]:
        return {
            "External id": self._external,
            "device": self.rank,
            "context": 1,
            "stream": COMPUTE_STREAM,
            "correlation": correlation,
            "bytes": num_bytes,
        }

    def synchronise(self, streams: tuple[int, ...] = (COMPUTE_STREAM,)) -> None:
        """Waits on the host until the streams are empty."""
        self._correlation += 1
        start = self.now
        self.now = max(start + 2_000, *(self.stream_free.get(stream, 0) + 3_500 for stream in streams))
        self._complete(
            "cuda_runtime", "cudaStreamSynchronize", start, {"cbid": 131, "correlation": self._correlation}, self.now
        )

    def collective(self, name: str, duration_ns: int, num_bytes: int) -> None:
        """Launches a collective on the communication stream; ``finish_collectives`` sets its time."""
        correlation, ready = self._call("cudaLaunchKernelExC", 6_000, 430)
        # The communication stream waits for the gradients: an event on the compute stream.
        ready = max(ready, self.stream_free.get(COMPUTE_STREAM, 0) + 2_000)
        self.pending.append(PendingCollective(ready, duration_ns, correlation, name, num_bytes, self.step))

    def wait_for_communication(self) -> None:
        """Makes the compute stream wait for the communication stream."""
        ready = max(self.stream_free.get(NCCL_STREAM, 0) + 1_500, self.stream_free.get(COMPUTE_STREAM, 0))
        self.stream_free[COMPUTE_STREAM] = ready

    def allocate(self, num_bytes: int) -> Block:
        """Allocates device memory, to be passed to ``free``."""
        block = Block(self._address, (num_bytes + 511) // 512 * 512)
        self._address += block.num_bytes
        self._memory(block.address, block.num_bytes)
        return block

    def free(self, block: Block) -> None:
        """Frees what ``allocate`` returned."""
        self._memory(block.address, -block.num_bytes)

    # Events.

    def _complete(self, category: str, name: str, start: int, args: dict[str, Any], end: int = 0) -> dict[str, Any]:
        event = {
            "ph": "X",
            "cat": category,
            "name": name,
            "pid": self.pid,
            "tid": self.thread,
            "ts": start,
            "dur": end - start,
            "args": args,
        }
        self.events.append(event)
        return event

    def _end(self, event: dict[str, Any]) -> None:
        event["dur"] = self.now - event["ts"]

    def _call(self, name: str, duration_ns: int, callback_id: int) -> tuple[int, int]:
        """A runtime call; returns its correlation and when the device may start."""
        self._correlation += 1
        start = self.now
        self.spend(duration_ns)
        args = {"External id": self._external, "cbid": callback_id, "correlation": self._correlation}
        self._complete("cuda_runtime", name, start, args, self.now)
        self._flow_point("s", "ac2g", self._correlation, self.thread, start)
        self.spend(400)
        return self._correlation, start + 4_800

    def work(
        self,
        kind: str,
        name: str,
        stream: int,
        start: int,
        end: int,
        args: dict[str, Any],
        *,
        step: int | None = None,
        tensor_core: bool = False,
        num_bytes: int = 0,
    ) -> None:
        """Adds a piece of device work to the trace, with the arrow from its call."""
        self.stream_free[stream] = end + 700
        category = {"kernel": "kernel", "collective": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}[kind]
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": self.rank,
                "tid": stream,
                "ts": start,
                "dur": end - start,
                "args": args,
            }
        )
        self.events.append(
            {
                "ph": "f",
                "id": args["correlation"],
                "pid": self.rank,
                "tid": stream,
                "ts": start,
                "cat": "ac2g",
                "name": "ac2g",
                "bp": "e",
            }
        )
        record = DeviceRecord(
            kind, name, stream, start, end, self.step if step is None else step, tensor_core, num_bytes
        )
        self.device.append(record)

    def _flow_point(self, phase: str, category: str, number: int, thread: int, time_ns: int) -> None:
        point = {
            "ph": phase,
            "id": number,
            "pid": self.pid,
            "tid": thread,
            "ts": time_ns,
            "cat": category,
            "name": category,
        }
        self.events.append(point | {"bp": "e"} if phase == "f" else point)

    def _forward_backward(self, forward: Forward, backward_ns: int) -> None:
        self._flow += 1
        self._flow_point("s", "fwdbwd", self._flow, self.pid, forward.start_ns)
        self._flow_point("f", "fwdbwd", self._flow, self.thread, backward_ns)

    def _memory(self, address: int, num_bytes: int) -> None:
        self.allocated_bytes += num_bytes
        while self.reserved_bytes < self.allocated_bytes:
            self.reserved_bytes += 64 << 20
        args = {
            "Ev Idx": self._external,
            "Device Type": 1,
            "Device Id": self.rank,
            "Addr": address,
            "Bytes": num_bytes,
            "Total Allocated": self.allocated_bytes,
            "Total Reserved": self.reserved_bytes,
        }
        self.events.append(
            {
                "ph": "i",
                "cat": "cpu_instant_event",
                "s": "t",
                "name": "[memory]",
                "pid": self.pid,
                "tid": self.thread,
                "ts": self.now,
                "args": args,
            }
        )


def finish_collectives(ranks: list[Process]) -> None:
    """Sets the times of the pending collectives. Each ends at the same time on all ranks, after the last has arrived.

    Args:
        ranks: All ranks; the n-th pending collectives of all ranks belong together.
    """
    for members in zip(*(rank.pending for rank in ranks), strict=True):
        starts = [
            max(rank.stream_free.get(NCCL_STREAM, 0), member.ready_ns)
            for rank, member in zip(ranks, members, strict=True)
        ]
        end = max(starts) + members[0].duration_ns
        for rank, member, start in zip(ranks, members, starts, strict=True):
            args = {
                "device": rank.rank,
                "context": 1,
                "stream": NCCL_STREAM,
                "correlation": member.correlation,
                "registers per thread": 96,
                "shared memory": 99_664,
                "grid": [24, 1, 1],
                "block": [544, 1, 1],
                "Collective name": "allreduce",
                "In msg nelems": member.num_bytes // 2,
                "Out msg nelems": member.num_bytes // 2,
                "Group size": len(ranks),
                "dtype": "BFloat16",
                "Process Group Name": "0",
                "Process Group Description": "default_pg",
                "Process Group Ranks": str(list(range(len(ranks)))),
            }
            rank.work(
                "collective", member.name, NCCL_STREAM, start, end, args, step=member.step, num_bytes=member.num_bytes
            )
    for rank in ranks:
        rank.pending.clear()
