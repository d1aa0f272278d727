"""What an op has to do: floating-point operations and bytes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tensorboard_plugin_dlprof.efficiency.calls import Tensor, item_bytes


class Dimension(msgspec.Struct, frozen=True):
    """A length that decides whether matrix units can be used."""

    name: str
    """As a user calls it: ``K (input features)``."""
    length: int


class Work(msgspec.Struct, frozen=True):
    """The work of one recorded op."""

    family: str
    """``gemm``, ``convolution``, ``attention``, ``normalisation``, ``softmax``, ``elementwise``, ``reduction``,
    ``copy``, ``optimizer``, ``embedding``."""
    flops: int | None
    """A multiplication and an addition are two. Of products as ``FlopCounterMode`` counts them (attention without
    regard to a causal mask); of other families an approximation, which counts a special function as one. None where
    the op multiplies, but a length of it was not recorded or is a number on the GPU (``undecided``)."""
    skipped_flops: int = 0
    """The part of ``flops`` that fused attention with a causal mask or a window does not do."""
    min_bytes: int | None = None
    """Every input read once, every output written once. None where a data type is not known."""
    elements: int | None = 0
    """The elements behind ``min_bytes``. None where the shapes do not tell."""
    data_type: str = ""
    """Type of the operands; empty where not recorded."""
    dimensions: tuple[Dimension, ...] = ()
    """Of products alone."""
    size: str = ""
    """A product's lengths in the words of a user: ``M 64, N 1000, K 2048``; empty of other ops."""
    by_vector: bool = False
    """A matrix by a vector, or a convolution channel by channel: nothing that a matrix unit holds is used twice."""


def undecided(
    family: str, dimensions: tuple[Dimension, ...] = (), data_type: str = "", size: str = "", by_vector: bool = False
) -> Work:
    """A product whose shapes leave its work open, with the lengths that they do tell."""
    return Work(family, None, 0, None, None, data_type, dimensions, size, by_vector)


def lengths(shape: Iterable[int]) -> str:
    """``28 x 28``."""
    return " x ".join(map(str, shape))


def moved(tensors: Iterable[Tensor]) -> tuple[int | None, int]:
    """Bytes and elements of tensors that are each moved once; bytes are None where a type is unknown."""
    total, elements, known = 0.0, 0, True
    for tensor in tensors:
        size = item_bytes(tensor.data_type)
        elements += tensor.elements
        known = known and size is not None
        total += tensor.elements * (size or 0.0)
    return (round(total) if known else None), elements


def widest_type(tensors: Iterable[Tensor]) -> str:
    """Type of the tensor with the most elements; empty where none has one."""
    best = max((tensor for tensor in tensors if tensor.data_type), key=lambda t: t.elements, default=None)
    return best.data_type if best else ""
