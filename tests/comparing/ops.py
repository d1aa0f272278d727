"""Ops and recordings made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard_plugin_dlprof.comparing.recording import Kernel, Op, Recording


def op(path: str, time_ns: int = 100, calls: int = 1, **more: Any) -> Op:
    """An op with one kernel, whose type is the last part of its path."""
    op_type = path.rpartition("/")[2]
    kernel = more.pop("kernel", f"{op_type}_kernel")
    facts: dict[str, Any] = {
        "op_id": f"{op_type}_{path}",
        "path": path,
        "op_type": op_type,
        "direction": "fprop",
        "shapes": "",
        "associated": True,
        "start_ns": 0,
        "calls": calls,
        "kernel_ns": time_ns,
        "tensor_core_ns": 0,
        "unknown_ns": 0,
        "graph_ns": 0,
        "kernels": [Kernel(kernel, kernel, calls, time_ns, False, "fp32", "gemm")] if time_ns else [],
        "samples": [],
    }
    return Op(**{**facts, **more})


def recording(ops: Sequence[Op], name: str = "run", iterations: Sequence[int] = (), **more: Any) -> Recording:
    """A recording of one GPU; with the lengths of its iterations, these are marked."""
    placed = [one if one.start_ns else _at(one, place) for place, one in enumerate(ops)]
    kernel_ns = sum(one.kernel_ns for one in placed)
    count = max(len(iterations), 1)
    wall_ns = sum(iterations) if iterations else 2 * kernel_ns
    facts: dict[str, Any] = {
        "name": name,
        "fingerprint": "",
        "source_fingerprint": "",
        "format": "pytorch",
        "facts": {},
        "devices": ["GPU"],
        "recorded": None,
        "rank": None,
        "world_size": None,
        "started_ns": None,
        "aggregation": 1,
        "marked": bool(iterations),
        "iterations_label": "",
        "first_iteration": 0,
        "last_iteration": count - 1,
        "iterations": count,
        "devices_in_use": 1,
        "parts": {"tensor_core": 0, "other_kernel": kernel_ns, "memory": 7, "other": wall_ns - kernel_ns - 7},
        "ops": placed,
        "ops_beyond": 0,
        "kernel_launches": sum(one.calls for one in placed),
        "eligible_kernel_ns": None,
        "eligible_tensor_core_ns": None,
        "eligible_unknown_ns": None,
        "gpu_utilization_fraction": kernel_ns / max(wall_ns, 1),
        "memory_peak_bytes": None,
        "samples_per_s": None,
        "tokens_per_s": None,
        "iteration_values": list(range(count)),
        "iteration_time": list(iterations) or [wall_ns],
        "idle_time": [0] * count,
        "gpu_utilization": [0.5] * count,
        "kernel_time": [kernel_ns // count] * count,
        "tensor_core_time": [0] * count,
    }
    return Recording(**{**facts, **more})


def _at(one: Op, place: int) -> Op:
    one.start_ns = place + 1
    return one
