"""Finds the work of a recorded op, by the op's bare name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tensorboard_plugin_dlprof.efficiency import (
    attention,
    convolutions,
    grouped_products,
    packed_products,
    products,
    recurrent,
)
from tensorboard_plugin_dlprof.efficiency.bandwidth_ops import bandwidth_formula, with_bandwidth_formula
from tensorboard_plugin_dlprof.efficiency.calls import Call
from tensorboard_plugin_dlprof.efficiency.convolutions import Outputs
from tensorboard_plugin_dlprof.efficiency.work import Work

PRODUCT_FORMULAS: Final = {
    **products.FORMULAS, **grouped_products.FORMULAS, **packed_products.FORMULAS, **recurrent.FORMULAS,
}  # fmt: skip
"""Products of matrices, by bare name."""


def product_family(name: str) -> str:
    """The family of an op that multiplies matrices, by its bare name; empty for all others."""
    if name in PRODUCT_FORMULAS:
        return "gemm"
    if name in convolutions.FORMULAS:
        return "convolution"
    return "attention" if name in attention.FORMULAS else ""


def telling(names: Collection[str]) -> set[str]:
    """The bare names whose ops have a formula, or shapes that help with another op (``convolutions.learn``)."""
    known = {name for name in names if product_family(name) or convolutions.teaches(name)}
    return known | {name for name in with_bandwidth_formula(names) if bandwidth_formula(name) is not None}


def work_of(call: Call, learnt: Outputs | None = None) -> Work | None:
    """FLOPs and minimum bytes of an op; None if there is no formula, or the recorded shapes are not enough.

    Args:
        learnt: Shapes of convolutions' outputs, which ``convolutions.learn`` gathered from backward ops.
    """
    if call.name in PRODUCT_FORMULAS:
        return PRODUCT_FORMULAS[call.name](call)
    if call.name in convolutions.FORMULAS:
        return convolutions.FORMULAS[call.name](call, {} if learnt is None else learnt)
    if call.name in attention.FORMULAS:
        return attention.FORMULAS[call.name](call)
    formula = bandwidth_formula(call.name)
    return None if formula is None else formula(call)
