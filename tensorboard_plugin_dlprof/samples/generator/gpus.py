"""GPUs, and how long they take: a roofline estimate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU model. Rates are NVIDIA's published dense peaks."""

    name: str
    capability: tuple[int, int]
    sm_count: int
    memory_bytes: int
    bytes_per_second: float
    flops_per_second: dict[str, float] = field(hash=False)

    def duration_ns(self, flops: float, num_bytes: float, precision: str, efficiency: float) -> int:
        """Time of a kernel that does ``flops`` operations at ``precision`` and moves ``num_bytes``.

        Args:
            flops: Floating-point operations; 0 for a kernel that only moves data.
            num_bytes: Bytes read and written.
            precision: A key of ``flops_per_second``.
            efficiency: Share of the peak rate that is reached, from 0 to 1; 0.8 of the memory rate is always reached.

        Returns:
            Nanoseconds: the slower of the two, and a start-up of 1.6 microseconds.
        """
        computing = flops / (self.flops_per_second[precision] * efficiency)
        moving = num_bytes / (self.bytes_per_second * 0.8)
        return 1_600 + round(max(computing, moving) * 1e9)


A100: Final = Gpu(
    name="NVIDIA A100-SXM4-40GB",
    capability=(8, 0),
    sm_count=108,
    memory_bytes=42_505_273_344,
    bytes_per_second=1.555e12,
    flops_per_second={"fp32": 19.5e12, "tf32": 156e12, "fp16": 312e12, "bf16": 312e12},
)

H100: Final = Gpu(
    name="NVIDIA H100 80GB HBM3",
    capability=(9, 0),
    sm_count=132,
    memory_bytes=85_024_112_640,
    bytes_per_second=3.35e12,
    flops_per_second={"fp32": 67e12, "tf32": 494e12, "fp16": 989e12, "bf16": 989e12},
)
