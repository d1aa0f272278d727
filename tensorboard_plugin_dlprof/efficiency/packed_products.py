"""Work of products with a packed weight: 4-bit and 8-bit integers, 2:4 sparse matrices.

The recorded shape of the weight is that of its storage; the lengths of the product follow from the other arguments.
"""

from __future__ import annotations

from math import prod
from typing import Final

from tensorboard_plugin_dlprof.efficiency.calls import Call, Tensor
from tensorboard_plugin_dlprof.efficiency.products import Formula, shown
from tensorboard_plugin_dlprof.efficiency.work import Work, moved


def _rows_by(call: Call, data: Tensor, n: int, k: int, done: int = 1) -> Work | None:
    """``data`` (rows x K) times a weight of N x K, of whose values one in ``done`` is stored and multiplied."""
    if not data.shape or data.shape[-1] != k:
        return None
    m = prod(data.shape[:-1])
    output = Tensor((*data.shape[:-1], n), data.data_type)
    size, elements = moved((*call.tensors(), output))
    return Work("gemm", 2 * m * n * k // done, 0, size, elements, data.data_type, *shown(1, m, n, k))


def int4(call: Call) -> Work | None:
    """``(data, packed weight, group size, scales and zeros)``: the last is (groups of K, N, 2)."""
    data, scales = call.tensor(0), call.tensor(3)
    if data is None or scales is None or not data.shape or len(scales.shape) != 3 or scales.shape[2] != 2:
        return None
    weight = call.tensor(1)
    n, k = scales.shape[1], data.shape[-1]
    # Two values per byte: 8 in a 32-bit element on GPUs, 2 in an 8-bit element on CPUs.
    if weight is None or n * k not in (weight.elements * 8, weight.elements * 2):
        return None
    return _rows_by(call, data, n, k)


def int8(call: Call) -> Work | None:
    """``(data, weight, scales)``: the weight is N x K."""
    data, weight = call.tensor(0), call.tensor(1)
    if data is None or weight is None or len(weight.shape) != 2:
        return None
    return _rows_by(call, data, *weight.shape)


def mixed(call: Call) -> Work | None:
    """``(data, weight, scales)``: N scales; the weight is K x N, or K x N / 2 with two values per byte."""
    data, weight, scales = call.tensor(0), call.tensor(1), call.tensor(2)
    if data is None or weight is None or scales is None or not data.shape or len(scales.shape) != 1:
        return None
    n, k = scales.shape[0], data.shape[-1]
    return _rows_by(call, data, n, k) if n * k in (weight.elements, weight.elements * 2) else None


def sparse(position: int, other: int) -> Formula:
    """A 2:4 sparse matrix (rows x K / 2, followed by its indices) times a dense one of K x N."""

    def formula(call: Call) -> Work | None:
        packed, dense = call.tensor(position), call.tensor(other)
        if packed is None or dense is None or len(packed.shape) != 2 or len(dense.shape) != 2:
            return None
        (m, half), (k, n) = packed.shape, dense.shape
        return _by_sparse(call, m, n, k, dense) if 2 * half == k else None

    return formula


def sparse_linear(call: Call) -> Work | None:
    """``(data, weight, indices)``: the weight is N x K / 2."""
    data, weight = call.tensor(0), call.tensor(1)
    if data is None or weight is None or len(weight.shape) != 2:
        return None
    return _rows_by(call, data, weight.shape[0], 2 * weight.shape[1], _SPARSITY)


def cusparselt(call: Call) -> Work | None:
    """``(compressed, dense)``: values and indices are in one tensor of 9/16 of the matrix, or 10/16 for 8-bit types."""
    compressed, dense = call.tensor(0), call.tensor(1)
    if compressed is None or dense is None or len(dense.shape) != 2 or not compressed.data_type:
        return None
    k, n = dense.shape
    parts = 10 if "int8" in compressed.data_type or "float8" in compressed.data_type else 9
    if not k or compressed.elements * 16 % (parts * k):
        return None
    return _by_sparse(call, compressed.elements * 16 // (parts * k), n, k, dense)


def _by_sparse(call: Call, m: int, n: int, k: int, dense: Tensor) -> Work:
    size, elements = moved((*call.tensors(), Tensor((m, n), dense.data_type)))
    return Work("gemm", 2 * m * n * k // _SPARSITY, 0, size, elements, dense.data_type, *shown(1, m, n, k))


_SPARSITY: Final = 2
"""2:4 sparse matrices store one value in two."""

FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(("_weight_int4pack_mm", "_weight_int4pack_mm_for_cpu"), int4),
    "_weight_int8pack_mm": int8,
    "_mixed_dtypes_linear": mixed,
    "_sparse_semi_structured_mm": sparse(0, 2),
    "_sparse_semi_structured_addmm": sparse(1, 3),
    "_sparse_semi_structured_linear": sparse_linear,
    "_cslt_sparse_mm": cusparselt,
}
