"""GPU models, with a roofline estimate of kernel durations."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Final

MAX_WARPS: Final = 64
MAX_BLOCKS: Final = 32
REGISTERS: Final = 65_536
"""Registers of a multiprocessor, in each GPU below."""

RESERVED_BYTES: Final = 1 << 10
"""Shared memory that CUDA reserves in each block."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU model. Rates are NVIDIA's published dense peaks."""

    name: str
    capability: tuple[int, int]
    sm_count: int
    memory_bytes: int
    shared_bytes: int
    """Shared memory of a multiprocessor, in bytes."""
    bytes_per_second: float
    flops_per_second: dict[str, float] = field(hash=False)

    def duration_ns(self, flops: float, num_bytes: float, precision: str, efficiency: float) -> int:
        """Duration of a kernel that does ``flops`` operations in ``precision`` and moves ``num_bytes``.

        Args:
            flops: Floating-point operations; 0 for a kernel that only moves data.
            num_bytes: Bytes read and written.
            precision: A key of ``flops_per_second``.
            efficiency: Share of the peak FLOP rate that is reached, 0 to 1. Of the memory rate, 0.8 is always reached.

        Returns:
            Nanoseconds: the longer of computing and moving, plus a start-up of 1.6 microseconds.
        """
        computing = flops / (self.flops_per_second[precision] * efficiency)
        moving = num_bytes / (self.bytes_per_second * 0.8)
        return 1_600 + round(max(computing, moving) * 1e9)

    def occupancy_percent(self, blocks: int, threads: int, registers: int, shared_bytes: int) -> int:
        """Achievable occupancy of a launch, estimated as in Kineto from the blocks per multiprocessor that fit.

        Never more than the theoretical occupancy, because it is rounded down, while Kineto rounds to nearest.

        Args:
            blocks: Blocks in the grid.
            threads: Threads per block.
            registers: Registers per thread.
            shared_bytes: Shared memory per block.
        """
        warps = ceil(threads / 32)
        fit = min(MAX_BLOCKS, MAX_WARPS // warps, REGISTERS // (32 * ceil(registers / 8) * 8) // 4 * 4 // warps)
        if shared_bytes:
            fit = min(fit, self.shared_bytes // (shared_bytes + RESERVED_BYTES))
        return int(100 * min(blocks / self.sm_count, fit) * warps / MAX_WARPS)


A100: Final = Gpu(
    name="NVIDIA A100-SXM4-40GB",
    capability=(8, 0),
    sm_count=108,
    memory_bytes=42_505_273_344,
    shared_bytes=164 << 10,
    bytes_per_second=1.555e12,
    flops_per_second={"fp32": 19.5e12, "tf32": 156e12, "fp16": 312e12, "bf16": 312e12},
)

H100: Final = Gpu(
    name="NVIDIA H100 80GB HBM3",
    capability=(9, 0),
    sm_count=132,
    memory_bytes=85_024_112_640,
    shared_bytes=228 << 10,
    bytes_per_second=3.35e12,
    flops_per_second={"fp32": 67e12, "tf32": 494e12, "fp16": 989e12, "bf16": 989e12},
)
