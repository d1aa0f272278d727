"""A comparison as plain data, for scripts and the pages. Times are ns, shares 0 to 1, unknown values None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from tensorboard_plugin_dlprof.classify.directions import direction_in_words
from tensorboard_plugin_dlprof.comparing.attribution import PART_LABELS, Row
from tensorboard_plugin_dlprof.comparing.comparison import Comparison, Measure, rounded
from tensorboard_plugin_dlprof.comparing.groups import Group
from tensorboard_plugin_dlprof.comparing.limits import Outcome
from tensorboard_plugin_dlprof.comparing.memory import HeldRow
from tensorboard_plugin_dlprof.comparing.names import Likeness
from tensorboard_plugin_dlprof.comparing.noise import Estimate
from tensorboard_plugin_dlprof.comparing.recording import Kernel, Op
from tensorboard_plugin_dlprof.comparing.replacements import KernelUse, Replacement
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.comparing.verdict import verdict_of

SCHEMA_VERSION = 1

_Number = TypeVar("_Number", int, float)


def as_json(comparison: Comparison, outcomes: Sequence[Outcome] = ()) -> dict[str, Any]:
    """Everything: verdict, sides, rows, kernels replaced, what to know first, and the limits."""
    return {
        **head(comparison),
        "groups": [group_json(group) for group in comparison.groups],
        "rows": [row_json(row) for row in comparison.rows],
        "kernels_replaced": [replacement_json(comparison, one) for one in comparison.replacements],
        "rules": [outcome.as_json() for outcome in outcomes],
    }


def head(comparison: Comparison) -> dict[str, Any]:
    """All but the tables."""
    verdict = verdict_of(comparison)
    unit = comparison.matrix_unit[:1].upper() + comparison.matrix_unit[1:]
    main = comparison.main.estimate if comparison.per != "capture" else None
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": verdict.verdict,
        "sentence": verdict.sentence,
        "word": verdict.word,
        "headline": verdict.headline,
        "details": verdict.details,
        "certainty": verdict.certainty,
        "of_medians": verdict.of_medians,
        "per": comparison.per,
        "same_program": comparison.is_same_program,
        "inputs_differ": comparison.has_other_inputs,
        "a": side_json(comparison.a, comparison.a_ns),
        "b": side_json(comparison.b, comparison.b_ns),
        "change_ns": comparison.change_ns,
        "interval": interval(main),
        "ratio": main.ratio if main else None,
        "comparability": comparison.comparability,
        "matrix_unit": comparison.matrix_unit,
        "measures": {name: measure_json(measure) for name, measure in comparison.measures.items()},
        "memory": _held("category", comparison.memory.by_category),
        "memory_by_op": _held("op", comparison.memory.by_op),
        "memory_not_recorded": comparison.memory.not_recorded,
        "parts": [
            {
                "part": part,
                "label": PART_LABELS.get(part, part).format(unit=unit),
                "a_ns": a_ns,
                "b_ns": b_ns,
                "change_ns": b_ns - a_ns,
            }
            for part, a_ns, b_ns in comparison.parts
        ],
        "ops_without_gpu_time": comparison.left_out,
        "tested_rows": sum(row.estimate is not None for row in comparison.rows),
        "changed_rows": sum(is_changed(comparison, row) for row in comparison.rows),
        "tested_groups": sum(group.estimate is not None for group in comparison.groups),
        "changed_groups": sum(is_changed(comparison, group) for group in comparison.groups),
    }


def is_changed(comparison: Comparison, row: Row | Group) -> bool:
    """Whether the change of a row or group is more than noise."""
    return row.estimate is not None and row.estimate.is_change(comparison.floor_of("kernel_time"))


def side_json(side: Side, value_ns: int) -> dict[str, Any]:
    """One side."""
    first = side.first
    return {
        "name": side.name,
        "device": ", ".join(dict.fromkeys(filter(None, first.devices))) or None,
        "devices_in_use": first.devices_in_use,
        "iterations": side.iterations,
        "marked": side.marked,
        "iterations_label": first.iterations_label,
        "first_iteration": first.first_iteration,
        "last_iteration": first.last_iteration,
        "aggregation": first.aggregation,
        "recordings": [recording.name for recording in side.recordings],
        "value_ns": value_ns,
        "iteration_ns": side.iteration_ns,
        "recording_ns": side.recording_ns,
        "started_ns": first.started_ns,
    }


def row_json(row: Row) -> dict[str, Any]:
    """One row of the change."""
    a, b = _both_sums(row.a, row.b)
    return {
        "kind": row.kind,
        "name": row.name,
        "matched_by": row.matched_by or None,
        "a_ns": row.a_ns,
        "b_ns": row.b_ns,
        "change_ns": row.change_ns,
        "work_ns": row.work_ns,
        "speed_ns": row.speed_ns,
        "a_calls": row.a_calls,
        "b_calls": row.b_calls,
        "interval": interval(row.estimate),
        "op_type": (row.b or row.a)[0].op_type if row.a or row.b else None,
        "direction": direction_in_words((row.b or row.a)[0].direction) if row.a or row.b else None,
        "a_op_ids": [op.op_id for op in row.a],
        "b_op_ids": [op.op_id for op in row.b],
        "a_kernel": a["kernel"],
        "b_kernel": b["kernel"],
        "a_tensor_core_fraction": a["tensor_core_fraction"],
        "b_tensor_core_fraction": b["tensor_core_fraction"],
        "a_precision": a["precision"],
        "b_precision": b["precision"],
        "position": row.position,
    }


def group_json(group: Group) -> dict[str, Any]:
    """Rows of the change that are alike, summed."""
    of_a, of_b = group.a, group.b
    a, b = _both_sums(of_a, of_b)
    a_ops, b_ops = group.counts
    return {
        "kind": "ops" if of_a or of_b else group.rows[0].kind,
        "name": group.name,
        "direction": group.direction or None,
        "op_type": (of_b or of_a)[0].op_type if of_a or of_b else None,
        "a_ops": a_ops,
        "b_ops": b_ops,
        "a_ns": group.a_ns,
        "b_ns": group.b_ns,
        "change_ns": group.change_ns,
        "of_change_fraction": group.of_change,
        "work_ns": _known_sum([row.work_ns for row in group.rows]),
        "speed_ns": _known_sum([row.speed_ns for row in group.rows]),
        "a_calls": _known_sum([row.a_calls for row in group.rows]),
        "b_calls": _known_sum([row.b_calls for row in group.rows]),
        "interval": interval(group.estimate),
        "a_kernel": a["kernel"],
        "b_kernel": b["kernel"],
        "a_tensor_core_fraction": a["tensor_core_fraction"],
        "b_tensor_core_fraction": b["tensor_core_fraction"],
        "a_precision": a["precision"],
        "b_precision": b["precision"],
        "positions": [row.position for row in group.rows],
    }


def _known_sum(values: Sequence[_Number | None]) -> _Number | None:
    """The sum; None if one is not known."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(values) else None


_MUCH = 0.5
"""Of the time of the longest kernel: what a kernel must have to be one that a row is about."""


def _both_sums(a: Sequence[Op], b: Sequence[Op]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of B the kernel with the most time is named, or one with much that is named more like A's."""
    of_a, of_b = _longest_first(a), _longest_first(b)
    longest = of_b[:1]
    if of_a and of_b:
        likeness = Likeness(*([kernel.name for kernel in side] for side in (of_a, of_b)))
        much = [kernel for kernel in of_b if kernel.time_ns >= _MUCH * of_b[0].time_ns]
        longest = [max(much, key=lambda kernel: likeness(of_a[0].name, kernel.name))]
    return _sums(a, of_a[:1]), _sums(b, longest)


def _longest_first(ops: Sequence[Op]) -> list[Kernel]:
    return sorted((kernel for op in ops for kernel in op.kernels), key=lambda kernel: -kernel.time_ns)


def _sums(ops: Sequence[Op], kernels: Sequence[Kernel]) -> dict[str, Any]:
    """Of these ops; the first of the kernels is named."""
    first = kernels[0] if kernels else None
    kernel_ns, tensor_core_ns = sum(op.kernel_ns for op in ops), sum(op.tensor_core_ns for op in ops)
    unknown = any(op.unknown_ns for op in ops)
    return {
        "kernel": first.name if first else None,
        "precision": first.precision or None if first else None,
        "tensor_core_fraction": tensor_core_ns / kernel_ns if kernel_ns and not unknown else None,
    }


def replacement_json(comparison: Comparison, one: Replacement) -> dict[str, Any]:
    """Kernels of A and those of B in their place."""
    a, b = _use(one.a, comparison.a), _use(one.b, comparison.b)
    return {
        "a": one.a.names,
        "b": one.b.names,
        "rows": one.ops,
        "change_ns": b["time_ns"] - a["time_ns"],
        **{f"{side}_{key}": value for side, use in (("a", a), ("b", b)) for key, value in use.items()},
    }


def _use(use: KernelUse, side: Side) -> dict[str, Any]:
    return {
        "time_ns": rounded(use.time_ns, side.divisor),
        "launches": float(use.launches / side.divisor),
        "tensor_core_fraction": use.tensor_core_ns / use.time_ns if use.time_ns and not use.unknown_ns else None,
        "precision": use.precision or None,
        "family": use.family or None,
    }


def _held(key: str, rows: Sequence[HeldRow]) -> list[dict[str, Any]]:
    """Rows of memory; ``key`` says what their names are."""
    return [
        {key: row.name, "a_bytes": row.a_bytes, "b_bytes": row.b_bytes, "change_bytes": row.change_bytes}
        for row in rows
    ]


def measure_json(measure: Measure) -> dict[str, Any]:
    """One number of both sides."""
    result = measure.estimate
    return {
        "a": measure.a,
        "b": measure.b,
        "a_median": measure.a_median,
        "b_median": measure.b_median,
        "is_least": measure.is_least,
        "ratio": result.ratio if result else None,
        "interval": interval(result),
        "a_samples": result.a_samples if result else 0,
        "b_samples": result.b_samples if result else 0,
        "input_size_ratio": measure.input_size_ratio,
    }


def interval(estimate: Estimate | None) -> list[float] | None:
    """The 95 % bounds of the ratio of B to A."""
    return None if estimate is None or estimate.low is None or estimate.high is None else [estimate.low, estimate.high]
