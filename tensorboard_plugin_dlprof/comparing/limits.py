"""Limits on what changed, for CI: is a limit broken, kept, or can that not be decided?

A limit on a change is broken only if the change is more than noise (its interval excludes no change) and larger than
the limit. Numbers without noise, such as the number of kernels, are compared as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.comparing.comparison import Comparison, Measure, compare
from tensorboard_plugin_dlprof.comparing.noise import estimate
from tensorboard_plugin_dlprof.comparing.recording import Op, Recording
from tensorboard_plugin_dlprof.comparing.side import Side
from tensorboard_plugin_dlprof.comparing.words import duration, share, signed_share
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.units import size

MEASURES = (
    *("iteration_time", "kernel_time", "idle_time", "gpu_utilization", "tensor_core_share", "memory_peak", "kernels"),
    *("samples_per_s", "tokens_per_s", "op:", "op_type:"),
)
"""What can be limited; ``op:`` and ``op_type:`` with a path or a type behind them: the kernel time of these ops."""

_SHARES = frozenset({"gpu_utilization", "tensor_core_share"})

_KINDS = {"memory_peak": "bytes", "kernels": "number", "samples_per_s": "number", "tokens_per_s": "number"}
"""Kinds of limits on the value of a measure; of shares ``fraction`` or ``number``, of the others ``ns``."""

_EXACT = frozenset({"memory_peak", "kernels"})
"""Measures without noise."""


class Outcome(msgspec.Struct):
    """What became of a limit."""

    rule: str
    """As the user wrote it."""
    broken: bool | None
    """None if it cannot be decided."""
    said: str
    """The values, or why it cannot be decided."""

    def as_json(self) -> dict[str, Any]:
        """For the JSON format."""
        return {"rule": self.rule, "broken": self.broken, "said": self.said}


def check_limit(measure: str, operator: str, kind: str) -> None:
    """Raise ``BadRequest`` for a limit in a unit that its measure does not have."""
    own = ("fraction", "number") if measure in _SHARES else (_KINDS.get(measure, "ns"),)
    if kind != "fraction" and kind not in own:
        unit = {"ns": "a time", "bytes": "a size", "number": "a number", "fraction": "a share"}[own[0]]
        raise BadRequest(f"{measure} is {unit}; write its limit as one, or a change in percent: {measure}>+3%.")
    if operator == "<" and kind == "fraction" and measure not in _SHARES:
        raise BadRequest(f"A change of {measure} in percent is limited by > or >-: {measure}>-3%.")


def check_value_limit(measure: str, operator: str, kind: str) -> None:
    """Raise ``BadRequest`` for a limit that one profile alone cannot break: one on a change, or of another unit."""
    check_limit(measure, operator, kind)
    if operator not in ("<", ">") or (kind == "fraction" and measure not in _SHARES):
        raise BadRequest(f"A limit on the change of {measure} is one of two profiles; dlprof compare takes it.")


def judge_value(recording: Recording, rule: str, measure: str, operator: str, limit: float) -> Outcome:
    """Whether a limit on a value of one profile is broken; arguments as for ``judge``."""
    one = _measure(compare([recording], [recording]), measure)
    if one is None or one.b is None:
        return Outcome(rule, None, f"{measure} is unknown")
    return _of_value(rule, one, operator, limit)


def judge(comparison: Comparison, rule: str, measure: str, operator: str, limit: float, kind: str) -> Outcome:
    """Whether a limit is broken.

    Args:
        comparison: the comparison.
        rule: the limit as the user wrote it.
        measure: one of ``MEASURES``.
        operator: ``>+`` grows by more than the limit, ``>-`` falls by more than it, ``>`` is above it, ``<`` below it.
            A limit in percent on what is no share is one on its change: ``>`` is then ``>+``.
        limit: as a fraction, in ns, bytes or as a number.
        kind: ``fraction``, ``ns``, ``bytes`` or ``number``.
    """
    check_limit(measure, operator, kind)
    one = _measure(comparison, measure)
    if one is None or one.b is None:
        return Outcome(rule, None, f"{measure} is unknown")
    if operator == ">" and kind == "fraction" and measure not in _SHARES:
        operator = ">+"
    if operator in (">", "<"):
        return _of_value(rule, one, operator, limit)
    return _of_change(comparison, rule, one, 1 if operator == ">+" else -1, limit, kind)


def _of_value(rule: str, one: Measure, operator: str, limit: float) -> Outcome:
    value = one.b or 0.0
    broken = value > limit if operator == ">" else value < limit
    shown = _shown(one, value)
    if one.is_least and broken == (operator == "<"):
        return Outcome(rule, None, f"it is at least {shown}")
    return Outcome(rule, broken, f"it is {shown}")


def _of_change(comparison: Comparison, rule: str, one: Measure, sign: int, limit: float, kind: str) -> Outcome:
    if comparison.is_same:
        return Outcome(rule, False, "A and B are the same recording")
    if one.a is None or one.b is None:
        return Outcome(rule, None, f"{one.name} of A is unknown")
    reported = f"{_shown(one, one.a)} -> {_shown(one, one.b)}"
    if one.is_least:
        return Outcome(rule, None, f"{reported}, both at least")
    if one.name in _EXACT:
        change = one.b - one.a
        if kind == "fraction":
            if not one.a:
                return Outcome(rule, None, reported)
            change /= one.a
        return Outcome(rule, sign * change > limit, reported)
    if one.estimate is None or one.estimate.low is None or one.estimate.high is None:
        return Outcome(rule, None, f"{reported}; too few samples to tell a change from noise")
    ratio = one.estimate.ratio
    change = ratio - 1 if kind == "fraction" else (ratio - 1) * one.a
    sure = one.estimate.low > 1 if sign > 0 else one.estimate.high < 1
    bounds = f"{signed_share(one.estimate.low - 1)} to {signed_share(one.estimate.high - 1)}"
    return Outcome(rule, sure and sign * change > limit, f"{reported}: {signed_share(ratio - 1)} ({bounds})")


def _shown(one: Measure, value: float) -> str:
    if one.name in _SHARES:
        return share(value)
    if one.name == "memory_peak":
        return size(value)
    return f"{value:,.4g}" if one.name in _KINDS else duration(value)


def _measure(comparison: Comparison, name: str) -> Measure | None:
    kind, _, text = name.partition(":")
    if kind == "op":
        return _of_ops(comparison, name, lambda op: op.path == text)
    if kind == "op_type":
        return _of_ops(comparison, name, lambda op: op.op_type == text)
    return comparison.measures.get(name)


def _of_ops(comparison: Comparison, name: str, selected: Callable[[Op], bool]) -> Measure | None:
    """The kernel time of some ops; unknown where they are on one side only."""
    sides = [[op for op in side.ops if selected(op)] for side in (comparison.a, comparison.b)]
    if not all(sides):
        return None
    values = [
        float(sum(op.kernel_ns for op in ops) / side.divisor)
        for ops, side in zip(sides, (comparison.a, comparison.b), strict=True)
    ]
    samples = [_samples(side, selected) for side in (comparison.a, comparison.b)]
    return Measure(name, values[0], values[1], estimate=estimate(*samples))


def _samples(side: Side, selected: Callable[[Op], bool]) -> Sequence[float]:
    if len(side.recordings) == 1:
        columns = [op.samples for op in side.ops if selected(op) and op.samples]
        devices = side.first.devices_in_use
        return [sum(column) / devices for column in zip(*columns, strict=False)]
    return [
        float(Fraction(sum(op.kernel_ns for op in one.ops if selected(op))) / (unit * one.devices_in_use))
        for one, unit in zip(side.recordings, side.units, strict=True)
    ]
