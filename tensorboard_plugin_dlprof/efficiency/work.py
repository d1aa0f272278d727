"""The work of an op: floating-point operations and bytes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tensorboard_plugin_dlprof.classify.dtypes import ITEM_BYTES
from tensorboard_plugin_dlprof.efficiency.calls import Tensor


class Dimension(msgspec.Struct, frozen=True):
    """A length that decides whether matrix units can be used."""

    name: str
    """In the user's terms: ``K (input features)``."""
    length: int


class Work(msgspec.Struct, frozen=True):
    """The work of one recorded op."""

    family: str
    """``gemm``, ``convolution``, ``attention``, ``normalisation``, ``softmax``, ``elementwise``, ``reduction``,
    ``copy``, ``optimizer``, ``embedding``."""
    flops: int | None
    """Floating-point operations; a multiplication and an addition are two. For products, as ``FlopCounterMode`` counts
    them (attention ignores a causal mask); for other families an approximation, in which a special function counts as
    one. None if the op multiplies but one of its lengths was not recorded, or is a value on the GPU (``undecided``)."""
    skipped_flops: int = 0
    """The part of ``flops`` that fused attention with a causal mask or a window does not do."""
    min_bytes: int | None = None
    """Every input read once, every output written once. None if a data type is not known."""
    elements: int | None = 0
    """The elements behind ``min_bytes``. None if shapes are missing."""
    data_type: str = ""
    """Type of the operands; empty where not recorded."""
    dimensions: tuple[Dimension, ...] = ()
    """The lengths of a product; empty for other ops."""
    size: str = ""
    """The lengths of a product for display: ``M 64, N 1000, K 2048``; empty for other ops."""
    by_vector: bool = False
    """Whether it is a matrix by a vector, or a depthwise convolution, in which matrix units cannot reuse operands."""


def undecided(
    family: str, dimensions: tuple[Dimension, ...] = (), data_type: str = "", size: str = "", by_vector: bool = False
) -> Work:
    """A product whose shapes do not determine its work, with the lengths that are known."""
    return Work(family, None, 0, None, None, data_type, dimensions, size, by_vector)


def lengths(shape: Iterable[int]) -> str:
    """``28 x 28``."""
    return " x ".join(map(str, shape))


def moved(tensors: Iterable[Tensor]) -> tuple[int | None, int]:
    """Bytes and elements of tensors, each moved once; bytes are None if a type is unknown."""
    total, elements, known = 0.0, 0, True
    for tensor in tensors:
        size = ITEM_BYTES.get(tensor.data_type)
        elements += tensor.elements
        known = known and size is not None
        total += tensor.elements * (size or 0.0)
    return (round(total) if known else None), elements


def widest_type(tensors: Iterable[Tensor]) -> str:
    """Data type of the tensor with the most elements among those with a known type; empty if there is none."""
    best = max((tensor for tensor in tensors if tensor.data_type), key=lambda t: t.elements, default=None)
    return best.data_type if best else ""
