"""The allowed values of kernel classes."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = (
    "gemm", "convolution", "attention", "normalisation", "softmax", "elementwise", "reduction", "optimizer", "copy",
    "embedding", "sort", "random", "collective", "memory", "graph", "other",
)  # fmt: skip

PRODUCT_FAMILIES: Final = ("gemm", "convolution", "attention")
"""Families that matrix units can compute: only their FLOPs count for MFU, as in PyTorch's ``FlopCounterMode``."""

PRECISIONS: Final = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "int4", "mixed")

RANGE_TYPE: Final = "range"
"""Type of ops that are ranges of the program itself: NVTX, ``record_function``, annotations. Their paths name them."""
