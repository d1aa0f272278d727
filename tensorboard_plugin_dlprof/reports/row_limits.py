"""What limits the time of a row of ops or kernels, as the pages split it (``frontend/src/model/row_limits.ts``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard_plugin_dlprof.queries.kinds_of_work import NO_KERNELS

LIMITS = {
    "tensor_core": "On {unit}s",
    "kept_off": "Not on {unit}s, but could be",
    "by_memory": "Limited by memory",
    "neither": "Other",
    "unknown_kernel": "Use of {unit}s not known",
    "communication": "Communication",
    "memory": "Copies",
    "cpu": "On the CPU",
}
"""Class of time -> what it is called, in the order of the legend."""

COLOURS = {**{limit: limit for limit in LIMITS}, "kept_off": "cpu", "neither": "outside"}
"""Class of time -> class of its colour."""

LEAST_PIECE = 0.01
"""Less is not seen, but its colour would stand in the legend."""


def limits_of_row(row: Mapping[str, Any], where: str, has_units: bool = True) -> list[tuple[str, float]]:
    """The shares of the time of a row on the ``GPU`` or ``CPU``: what is on matrix units, what could be, and the rest
    by what bounds most of the row."""
    if where != "GPU":
        return [("cpu", 1.0)]
    if not has_units:  # Nothing could be on what the GPU does not have.
        row = {**row, "tensor_core_fraction": 0, "kept_off_ns": 0}
    work, time, kernels_ns = _work(row), row["gpu_time_ns"], row.get("kernel_time_ns")
    kernels = float(work != "memory") if kernels_ns is None or not time else min(kernels_ns / time, 1.0)
    fraction = row.get("tensor_core_fraction")
    on_units = kernels * (float(row.get("using_tensor_cores") is True) if fraction is None else fraction)
    rest = kernels - on_units
    pieces = [("tensor_core", on_units), (work, rest), ("memory", 1 - kernels)]
    if work == "other_kernel":
        kept_off = min((row.get("kept_off_ns") or 0) / (time or 1), rest)
        other = "by_memory" if row.get("bound") == "memory" else "neither"
        pieces[1:2] = [("kept_off", kept_off), (other, rest - kept_off)]
    return [(limit, share) for limit, share in pieces if share > 0]


def _work(row: Mapping[str, Any]) -> str:
    if row.get("family") in _OF_FAMILY:
        return _OF_FAMILY[row["family"]]
    if row.get("tensor_core_fraction") is not None:
        return "other_kernel"
    if "using_tensor_cores" in row:
        return "unknown_kernel" if row["using_tensor_cores"] is None else "other_kernel"
    # Of ops that could not use matrix units no share is told either.
    return "unknown_kernel" if "tensor_core_fraction" in row and row.get("eligible_ops") != 0 else "other_kernel"


_OF_FAMILY = {"collective": "communication", NO_KERNELS: "memory"}
"""Family -> class of what is no computation."""
