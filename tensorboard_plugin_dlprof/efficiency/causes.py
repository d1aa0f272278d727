"""Determines why an eligible op does not use matrix units."""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.classify.classes import MatrixUnit
from tensorboard_plugin_dlprof.efficiency import thresholds
from tensorboard_plugin_dlprof.efficiency.tables import Cause, Misaligned
from tensorboard_plugin_dlprof.efficiency.work import Work

PRECISION_OF_TYPE = {
    "float64": "fp64", "float32": "fp32", "tf32": "tf32", "float16": "fp16", "bfloat16": "bf16",
    "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "float8_e4m3fnuz": "fp8", "float8_e5m2fnuz": "fp8", "int8": "int8",
    "uint8": "int8", "float4_e2m1fn_x2": "fp4",
}  # fmt: skip


class Facts(msgspec.Struct, frozen=True):
    """What is known about an eligible op that launched kernels."""

    precision: str
    """Precision of its kernels, else of its data type; empty if both are unknown."""
    matrix_unit: MatrixUnit
    tf32_device: bool | None
    """Whether the device can compute FP32 as TF32; None if the device is unknown."""
    work: Work | None
    """Its largest product."""
    mean_kernel_ns: float
    multiplies: bool
    """Whether it launched a product, itself or in a sub-op."""
    transposes: bool
    """Whether it launched kernels that change the layout."""
    native: bool = False
    """Whether the device's matrix units support ``precision`` itself: FP64 since A100, FP32 and FP64 on AMD's."""
    has_units: bool = True
    """False only if the device is known to have no matrix units."""
    tf32_families: frozenset[str] = frozenset()
    """Families of the kernels of its process that run TF32, which therefore is not off."""
    family: str = ""


_RANK = {"M": 2, "N": 1, "output channels": 1, "output channels per group": 1, "rows of weights": 1}
"""Of lengths that do not fit, those that units load along come first (K, input channels, head sizes), then those of the
result's rows; M comes last, as it only leaves part of a tile empty."""


def misaligned(work: Work | None, precision: str) -> Misaligned | None:
    """The length to pad; None if all fit. FP32 is judged as the 16-bit type that it should become."""
    if work is None or work.by_vector:
        return None
    multiple = thresholds.ALIGNMENT.get("fp16" if precision in ("fp32", "") else precision, 8)
    # A length of 1 makes a matrix a vector, for which padding does not help.
    wrong = [each for each in work.dimensions if each.length % multiple and each.length > 1]
    if not wrong:
        return None
    worst = min(wrong, key=lambda each: (_RANK.get(each.name, 0), each.length / (-each.length % multiple)))
    shape = ", ".join(f"{each.name} {_padded(each.length, multiple)}" for each in work.dimensions)
    return Misaligned(worst.name, worst.length, _padded(worst.length, multiple), shape)


def _padded(length: int, multiple: int) -> int:
    return length + -length % multiple if length > 1 else length


def cause(facts: Facts) -> Cause:
    """The first cause that applies, in the order in which causes would have to be fixed."""
    if not facts.multiplies:
        return Cause.NONE
    if facts.matrix_unit == MatrixUnit.YES:
        return Cause.LAYOUT if facts.transposes else Cause.NONE
    if facts.matrix_unit == MatrixUnit.UNKNOWN:
        return Cause.NO_NAME
    if not facts.has_units:
        return Cause.NO_UNIT
    if _is_small(facts):
        return Cause.TOO_SMALL
    if facts.precision == "fp64" and not facts.native:
        return Cause.FP64
    if facts.precision == "fp32" and not facts.native:
        if not facts.tf32_device:
            return Cause.FP32_TYPE if facts.tf32_device is False else Cause.NO_DEVICE
        if not facts.tf32_families:
            return Cause.TF32_OFF
        if facts.family not in facts.tf32_families:
            return Cause.UNKNOWN  # Frameworks have a switch for products and one for convolutions.
    if not facts.precision:
        return Cause.UNKNOWN
    if facts.work is None:
        return Cause.NO_SHAPES
    if misaligned(facts.work, facts.precision) is not None:
        return Cause.DIMENSION
    if facts.transposes:
        return Cause.LAYOUT
    # If its operations are unknown, the product may also have been too small.
    return Cause.NO_SHAPES if facts.work.flops is None else Cause.LIBRARY_CHOICE


def _is_small(facts: Facts) -> bool:
    work = facts.work
    if work is not None and work.dimensions:
        if work.flops is not None and work.flops < thresholds.SMALL_PRODUCT_FLOPS:
            return True
        if work.by_vector:
            return True
    return facts.mean_kernel_ns < thresholds.SMALL_KERNEL_NS
