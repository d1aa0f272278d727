"""Computes what is known about a sample because it was generated that way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scripts.samples.jax_training import Training
from scripts.samples.nsight import Export
from scripts.samples.process import Process
from scripts.samples.records import DeviceRecord


def union_ns(intervals: Iterable[tuple[int, int]]) -> int:
    """Length of the union of half-open intervals."""
    total = 0
    covered_until: int | None = None
    for start, end in sorted(intervals):
        if covered_until is None or start > covered_until:
            total += end - start
            covered_until = end
        elif end > covered_until:
            total += end - covered_until
            covered_until = end
    return total


def _work(records: list[DeviceRecord]) -> dict[str, Any]:
    kernels = [record for record in records if record.kind in ("kernel", "collective")]

    def time_ns(records: Iterable[DeviceRecord]) -> int:
        return sum(record.end_ns - record.start_ns for record in records)

    return {
        "kernels": len(kernels),
        "kernel_time_ns": time_ns(kernels),
        "kernel_union_ns": union_ns((record.start_ns, record.end_ns) for record in kernels),
        "work_union_ns": union_ns((record.start_ns, record.end_ns) for record in records),
        "tensor_core_kernels": sum(record.tensor_core for record in kernels),
        "tensor_core_time_ns": time_ns(record for record in kernels if record.tensor_core),
        "collective_kernels": sum(record.kind == "collective" for record in kernels),
        "collective_time_ns": time_ns(record for record in kernels if record.kind == "collective"),
        "copies": sum(record.kind == "memcpy" for record in records),
        "copied_bytes": sum(record.num_bytes for record in records if record.kind == "memcpy"),
        "sets": sum(record.kind == "memset" for record in records),
    }


def of_process(process: Process) -> dict[str, Any]:
    """The answers for one trace."""
    return _work(process.device) | {
        "gpu": process.gpu.name,
        "rank": process.rank if process.world_size > 1 else -1,
        "iterations": [
            {
                "value": number,
                "duration_ns": end - start,
                "kernels_launched": sum(
                    record.kind in ("kernel", "collective") and record.step == number for record in process.device
                ),
            }
            for number, start, end in process.steps
        ],
    }


def of_training(training: Training) -> dict[str, Any]:
    """The answers for the XPlane profile."""
    return _work(training.device) | {
        "gpu": "NVIDIA H100 80GB HBM3",
        "rank": -1,
        "iterations": [
            {
                "value": number,
                "duration_ns": end - start,
                "kernels_launched": sum(
                    record.kind == "kernel" and record.step == number for record in training.device
                ),
            }
            for number, start, end in training.steps
        ],
    }


def of_export(export: Export) -> dict[str, Any]:
    """The answers for the Nsight Systems export, whose CUDA graph has a duration but no recorded kernels."""
    return _work(export.device) | {
        "gpu": "NVIDIA A100-SXM4-40GB",
        "rank": -1,
        "graph_launches": len(export.graphs),
        "graph_time_ns": sum(end - start for start, end in export.graphs),
        "iterations": [
            {
                "value": number,
                "duration_ns": end - start,
                "kernels_launched": sum(record.kind == "kernel" and record.step == number for record in export.device),
            }
            for number, start, end in export.iterations
        ],
    }
