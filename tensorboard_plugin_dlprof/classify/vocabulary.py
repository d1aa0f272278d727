"""The allowed values of kernel classes."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = (
    "gemm", "convolution", "attention", "normalisation", "softmax", "elementwise", "reduction", "optimizer", "copy",
    "embedding", "sort", "random", "collective", "memory", "graph", "other",
)  # fmt: skip

PRODUCT_FAMILIES: Final = ("gemm", "convolution", "attention")
"""Families that matrix units can compute: only their FLOPs count for MFU, as in PyTorch's ``FlopCounterMode``."""

LAYOUT_CHANGES: Final = (
    "nchwtonhwc", "nhwctonchw", "nchw_to_nhwc", "nhwc_to_nchw", "batched_transpose", "subtensor_op",
)  # fmt: skip
"""Parts of names, in lower case, of kernels that change the layout around a convolution (cuDNN, MIOpen)."""

PRECISIONS: Final = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "int4", "mixed")

RANGE_TYPE: Final = "range"
"""Type of ops that are ranges of the program itself: NVTX, ``record_function``, annotations. Their paths name them."""
