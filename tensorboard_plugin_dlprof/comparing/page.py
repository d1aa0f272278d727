"""What the page about a comparison shows besides tables: bars in program order, iterations, modules, one row."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, TypedDict, cast

from tensorboard_plugin_dlprof.comparing.as_json import head, is_changed, row_json
from tensorboard_plugin_dlprof.comparing.attribution import Row
from tensorboard_plugin_dlprof.comparing.comparison import Comparison, rounded
from tensorboard_plugin_dlprof.comparing.main_change import Named, changes_by_kind, named
from tensorboard_plugin_dlprof.comparing.recording import Op
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.comparing.tables import modules, times_of_ops
from tensorboard_plugin_dlprof.diagnosis.calls import is_communication
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries.launch_sizes import LaunchSize

_MOST_BARS = 2_000
_MOST_DOTS = 400
_MOST_MODULES = 1_000
_MOST_OPS = 5_000
_MOST_KERNELS = 50


class RowColumns(TypedDict):
    """Rows in the order of the program, in columns; ``count`` rows are summed in each."""

    name: list[str]
    kind: list[str]
    count: list[int]
    position: list[int]
    a_ns: list[int]
    b_ns: list[int]


class Samples(TypedDict):
    """The samples of a side, in columns."""

    recording: list[str]
    iteration: list[int]
    iteration_ns: list[int | None]
    kernel_ns: list[int]


class BothSamples(TypedDict):
    """The samples of both sides."""

    a: Samples
    b: Samples


class ModuleChange(TypedDict):
    """The times of a module."""

    path: str
    level: int
    a_ns: int
    b_ns: int
    rows: int


class OpChange(TypedDict):
    """The times of an op of B that alone is a row."""

    op_id: str
    a_ns: int
    b_ns: int


class KindChange(TypedDict):
    """The change of an op type, or of CUDA graphs recorded as a whole."""

    name: str
    change_ns: int


class ComparePage(TypedDict):
    """What the page shows of a comparison, besides what ``dlprof compare`` prints."""

    kinds: list[KindChange]
    """Largest first."""
    communication_ns: int
    """Change of the time of kernels of communication, each in full, whatever runs beside them."""
    named: Named | None
    """The rows of ``compare_groups`` that add up to what the headline names; None where it names nothing of them."""
    order: RowColumns
    iterations: BothSamples
    modules: list[ModuleChange]
    ops: list[OpChange]


class ComparedOp(TypedDict):
    """An op of a row."""

    op_id: str
    path: str
    shapes: str | None


class ComparedKernel(TypedDict):
    """A kernel of a row."""

    name: str
    time_ns: int
    launches: float
    tensor_core: bool | None
    precision: str | None
    family: str | None
    sizes: list[LaunchSize]
    """With which grids and blocks it is launched; empty where that is not recorded."""


class RowSide(TypedDict):
    """A side of a row."""

    ops: list[ComparedOp]
    total_ops: int
    kernels: list[ComparedKernel]


class RowDetail(TypedDict):
    """What the page shows of a row, besides what ``dlprof compare`` prints."""

    is_changed: bool
    a: RowSide
    b: RowSide


def page(comparison: Comparison) -> dict[str, Any]:
    """The body of ``./compare``."""
    largest = heapq.nlargest(_MOST_MODULES, modules(comparison.rows), key=lambda one: max(one["a_ns"], one["b_ns"]))
    ops = heapq.nlargest(_MOST_OPS, times_of_ops(comparison.rows).items(), key=lambda one: max(one[1]))
    kinds = sorted(changes_by_kind(comparison, but=("overlap", "part")), key=lambda one: abs(one[1]), reverse=True)
    shown: ComparePage = {
        "kinds": [{"name": name.strip("`"), "change_ns": change_ns} for name, change_ns in kinds],
        "communication_ns": _communication_ns(comparison.b) - _communication_ns(comparison.a),
        "named": named(comparison),
        "order": _order(comparison.rows),
        "iterations": {"a": _dots(comparison.a), "b": _dots(comparison.b)},
        "modules": cast("list[ModuleChange]", largest),
        "ops": [{"op_id": op, "a_ns": a_ns, "b_ns": b_ns} for op, (a_ns, b_ns) in ops],
    }
    return {**head(comparison), **shown}


def _communication_ns(side: Side) -> int:
    kernels = (kernel for op in side.ops for kernel in op.kernels)
    return rounded(sum(one.time_ns for one in kernels if is_communication(one.short_name)), side.divisor)


def _order(rows: Sequence[Row]) -> RowColumns:
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


def _dots(side: Side) -> Samples:
    """The samples of a side, evenly thinned."""
    result: Samples = {"recording": [], "iteration": [], "iteration_ns": [], "kernel_ns": []}
    for recording in side.recordings:
        count = len(recording.iteration_values)
        for place in range(0, count, -(-count * len(side.recordings) // _MOST_DOTS) or 1):
            result["recording"].append(recording.name)
            result["iteration"].append(recording.iteration_values[place])
            result["iteration_ns"].append(recording.iteration_time[place] if recording.marked else None)
            result["kernel_ns"].append(recording.kernel_time[place] // recording.devices_in_use)
    return result


def row_detail(comparison: Comparison, number: int) -> dict[str, Any]:
    """The body of ``./compare_row``: both sides of one row.

    Raises:
        NotFound: there is no such row.
    """
    if not 0 <= number < len(comparison.rows):
        raise NotFound("The comparison has no such row; choose one from the table.")
    row = comparison.rows[number]
    detail: RowDetail = {
        "is_changed": is_changed(comparison, row),
        "a": _side(row.a, comparison.a),
        "b": _side(row.b, comparison.b),
    }
    return {**row_json(row), **detail}


def _side(ops: Sequence[Op], side: Side) -> RowSide:
    kernels: dict[str, ComparedKernel] = {}
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
                    "sizes": [],
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
