"""Finds the published peak rates of a device by its name."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from tensorboard_plugin_dlprof.efficiency.peak_table import TABLE
from tensorboard_plugin_dlprof.expressions import Expression

_GB = 1 << 30


class Peaks(msgspec.Struct, frozen=True):
    """Published dense rates of one device. Precisions that are missing are unknown or not supported."""

    product: str
    vector_flops: dict[str, float]
    """Operations per second of plain arithmetic, by precision (``fp32``)."""
    matrix_flops: dict[str, float]
    """Operations per second of matrix units, by precision (``bf16``)."""
    bytes_per_second: float
    source: str
    """Where the numbers are published."""

    def flops_per_second(self, precision: str, matrix_unit: bool) -> float | None:
        """Operations per second for work in a precision; None if unknown."""
        return (self.matrix_flops if matrix_unit else self.vector_flops).get(precision)

    def best_half(self) -> float | None:
        """Operations per second of matrix units in 16 bits, which a model could use; None if unknown."""
        return self.matrix_flops.get("bf16") or self.matrix_flops.get("fp16")


@lru_cache(maxsize=256)
def find_peaks(name: str, memory_bytes: int = 0) -> Peaks | None:
    """The rates of the device with this name; None if it is not in the table.

    Args:
        name: As in the capture: ``NVIDIA H100 80GB HBM3``.
        memory_bytes: Size of its memory; 0 if not recorded, so that the name alone must identify the product.
    """
    shown = " ".join(name.lower().split())
    if "mig " in shown:
        return None  # The rates of a slice of a device are not published.
    for row in TABLE:
        if not Expression(row.pattern).search(shown):
            continue
        if row.memory_gb is not None:
            gigabytes = memory_bytes / _GB if memory_bytes else _named_gigabytes(shown)
            if gigabytes is None or not row.memory_gb[0] <= gigabytes + 1 < row.memory_gb[1] + 1:
                continue
        return Peaks(
            row.name,
            {precision: rate * 1e12 for precision, rate in row.vector.items()},
            {precision: rate * 1e12 for precision, rate in row.matrix.items()},
            row.bandwidth_gb_s * 1e9,
            row.source,
        )
    return None


def _named_gigabytes(name: str) -> float | None:
    size = re.search(r"(\d+)\s?gb\b", name)
    return float(size[1]) if size else None
