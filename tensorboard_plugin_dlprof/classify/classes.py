"""The answers of the classifiers: small types that the rest of the package shares."""

from __future__ import annotations

from enum import IntEnum

import msgspec


class MatrixUnit(IntEnum):
    """Whether a kernel uses Tensor Cores (NVIDIA) or matrix cores (AMD)."""

    NO = 0
    YES = 1
    UNKNOWN = 2


class Eligibility(IntEnum):
    """DLProf's ``tc_support_status`` of an op. 1 was never seen in a genuine database."""

    ELIGIBLE = 0
    UNASSOCIATED = 2
    NOT_ELIGIBLE = 3


class KernelClass(msgspec.Struct, frozen=True):
    """What a kernel's name tells. Empty texts: the name does not say."""

    matrix_unit: MatrixUnit
    family: str
    """``gemm``, ``convolution``, ``attention``, ``normalisation``, ``softmax``, ``elementwise``, ``reduction``,
    ``optimizer``, ``copy``, ``embedding``, ``sort``, ``random``, ``collective``, ``memory``, ``graph``, ``other``."""
    library: str
    """``cublas``, ``cudnn``, ``cutlass``, ``flash_attention``, ``triton``, ``nccl``, ``tensile``, ``pytorch``, ..."""
    precision: str
    """Math precision: ``fp64``, ``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8``, ``fp4``, ``int8``, ``mixed``."""
    rule: str
    """Name of the rule that decided, for the user who doubts it."""
    accumulator: str = ""
    """Type in which the products are added up: ``fp16``, ``fp32``, ``fp64``, ``int32``."""
    architecture: str = ""
    """Generation that the kernel was written for: ``sm_90``, ``gfx942``."""
