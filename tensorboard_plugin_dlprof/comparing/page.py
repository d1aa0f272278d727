"""What the page about a comparison shows besides tables: bars in program order, iterations, modules, one row."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from tensorboard_plugin_dlprof.comparing.as_json import head, is_changed, row_json
from tensorboard_plugin_dlprof.comparing.attribution import Row
from tensorboard_plugin_dlprof.comparing.comparison import Comparison, rounded
from tensorboard_plugin_dlprof.comparing.recording import Op
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.comparing.tables import modules
from tensorboard_plugin_dlprof.errors import NotFound

_MOST_BARS = 2_000
_MOST_DOTS = 400
_MOST_MODULES = 1_000
_MOST_KERNELS = 50


def page(found: Comparison) -> dict[str, Any]:
    """The body of ``./compare``."""
    return {
        **head(found),
        "order": _order(found.rows),
        "iterations": {"a": _dots(found.a), "b": _dots(found.b)},
        "modules": heapq.nlargest(_MOST_MODULES, modules(found.rows), key=lambda one: max(one["a_ns"], one["b_ns"])),
    }


def _order(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows in the order of the program, in columns; neighbours are summed if there are too many."""
    at_once = -(-len(rows) // _MOST_BARS) or 1
    groups = [rows[start : start + at_once] for start in range(0, len(rows), at_once)]
    return {
        "name": [max(group, key=lambda row: abs(row.change_ns)).name for group in groups],
        "kind": [max(group, key=lambda row: abs(row.change_ns)).kind for group in groups],
        "count": [len(group) for group in groups],
        "position": [group[0].position for group in groups],
        "a_ns": [sum(row.a_ns for row in group) for group in groups],
        "b_ns": [sum(row.b_ns for row in group) for group in groups],
    }


def _dots(side: Side) -> dict[str, list[Any]]:
    """The samples of a side, evenly thinned."""
    found: dict[str, list[Any]] = {"recording": [], "iteration": [], "iteration_ns": [], "kernel_ns": []}
    for recording in side.recordings:
        count = len(recording.iteration_values)
        for place in range(0, count, -(-count * len(side.recordings) // _MOST_DOTS) or 1):
            found["recording"].append(recording.name)
            found["iteration"].append(recording.iteration_values[place])
            found["iteration_ns"].append(recording.iteration_time[place] if recording.marked else None)
            found["kernel_ns"].append(recording.kernel_time[place] // recording.devices_in_use)
    return found


def row_detail(found: Comparison, number: int) -> dict[str, Any]:
    """The body of ``./compare_row``: both sides of one row.

    Raises:
        NotFound: there is no such row.
    """
    if not 0 <= number < len(found.rows):
        raise NotFound("The comparison has no such row; choose one from the table.")
    row = found.rows[number]
    return {
        **row_json(row),
        "is_changed": is_changed(found, row),
        "a": _side(row.a, found.a),
        "b": _side(row.b, found.b),
    }


def _side(ops: Sequence[Op], side: Side) -> dict[str, Any]:
    kernels: dict[str, dict[str, Any]] = {}
    for op in ops:
        for kernel in op.kernels:
            one = kernels.setdefault(
                kernel.name,
                {
                    "name": kernel.name,
                    "time_ns": 0,
                    "launches": 0,
                    "tensor_core": kernel.tensor_core,
                    "precision": kernel.precision or None,
                    "family": kernel.family or None,
                },
            )
            one["time_ns"] += kernel.time_ns
            one["launches"] += kernel.launches
    longest = heapq.nlargest(_MOST_KERNELS, kernels.values(), key=lambda one: one["time_ns"])
    return {
        "ops": [{"op_id": op.op_id, "path": op.path, "shapes": op.shapes or None} for op in ops[:_MOST_KERNELS]],
        "total_ops": len(ops),
        "kernels": [
            {**one, "time_ns": rounded(one["time_ns"], side.divisor), "launches": float(one["launches"] / side.divisor)}
            for one in longest
        ],
    }
