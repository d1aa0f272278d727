"""Products of matrices."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Final

from tensorboard_plugin_dlprof.efficiency.calls import Call, Shape, Tensor
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work, moved, widest_type


def gemm(left: Tensor, right: Tensor, output: Shape, batch: int, m: int, n: int, k: int, *more: Tensor) -> Work:
    """``batch`` products of m x k by k x n; ``more`` is what is read besides (bias)."""
    operands = (left, right)
    kind = widest_type(operands)
    size, elements = moved((*operands, *more, Tensor(output, kind)))
    named = (Dimension("M", m), Dimension("N", n), Dimension("K", k))
    shown = ", ".join(f"{each.name} {each.length}" for each in named) + (f", batch {batch}" if batch > 1 else "")
    return Work("gemm", 2 * batch * m * n * k, 0, size, elements, kind, named, shown, min(m, n, k) == 1)


def of_two(first: int, second: int, bias: int | None = None) -> Callable[[Call], Work | None]:
    """``mm``, ``bmm``, ``matmul`` and their like: operands at two positions, an addend at a third."""

    def formula(call: Call) -> Work | None:
        left, right = call.tensor(first), call.tensor(second)
        addend = call.tensor(bias) if bias is not None else None
        return None if left is None or right is None else matmul(left, right, addend)

    return formula


def matmul(left: Tensor, right: Tensor, addend: Tensor | None = None) -> Work | None:
    """NumPy's rules: vectors get a dimension of 1, leading dimensions are broadcast. None where the shapes disagree.

    Leading dimensions that only the left operand has are rows: PyTorch folds them before it multiplies.
    """
    a = left.shape if len(left.shape) > 1 else (1, *left.shape)
    b = right.shape if len(right.shape) > 1 else (*right.shape, 1)
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        return None
    batch = _broadcast(a[:-2], b[:-2])
    if batch is None:
        return None
    m, k, n = a[-2], a[-1], b[-1]
    more = () if addend is None else (addend,)
    if left.data_type == right.data_type == _PACKED:
        k *= 2
    count, rows = (prod(batch), m) if len(b) > 2 else (1, prod(batch) * m)
    return gemm(left, right, (*batch, m, n), count, rows, n, k, *more)


_PACKED: Final = "float4_e2m1fn_x2"
"""Two values a byte, along K, of which the recorded length is half."""


def linear(call: Call) -> Work | None:
    """``linear(input, weight, bias)``: the weight is N x K, all leading dimensions of the input are rows."""
    data, weight = call.tensor(0), call.tensor(1)
    if data is None or weight is None or len(weight.shape) != 2 or not data.shape:
        return None
    n, k = weight.shape
    if data.shape[-1] != k:
        return None
    bias = call.tensor(2)
    m = prod(data.shape[:-1])
    return gemm(data, weight, (*data.shape[:-1], n), 1, m, n, k, *([bias] if bias else []))


_EQUATION = re.compile(r"([A-Za-z]+),([A-Za-z]+)->([A-Za-z]*)\Z")


def einsum(call: Call) -> Work | None:
    """Two operands, where the equation was recorded."""
    equation = call.value(0)
    operands = call.tensors()
    if not isinstance(equation, str) or len(operands) != 2:
        return None
    found = _EQUATION.match(equation.replace(" ", ""))
    if not found:
        return None
    lengths: dict[str, int] = {}
    for letters, operand in zip(found.groups()[:2], operands, strict=True):
        if len(letters) != len(operand.shape):
            return None
        for letter, length in zip(letters, operand.shape, strict=True):
            lengths[letter] = max(length, lengths.get(letter, 1))
    left, right, out = (set(text) for text in found.groups())

    def size(letters: set[str]) -> int:
        return prod(lengths[letter] for letter in letters)

    if not out <= left | right:
        return None
    batch, k = left & right & out, (left | right) - out
    m, n = (left & out) - right, (right & out) - left
    output = tuple(lengths[letter] for letter in found[3])
    return gemm(operands[0], operands[1], output, size(batch), size(m), size(n), size(k))


def _broadcast(one: Shape, other: Shape) -> Shape | None:
    if len(one) < len(other):
        one, other = other, one
    padded = (1,) * (len(one) - len(other)) + other
    if any(a != b and 1 not in (a, b) for a, b in zip(one, padded, strict=True)):
        return None
    return tuple(max(a, b) if min(a, b) else 0 for a, b in zip(one, padded, strict=True))


FORMULAS: dict[str, Callable[[Call], Work | None]] = {
    **dict.fromkeys(("mm", "bmm", "matmul", "__matmul__", "mv", "_scaled_mm", "_int_mm", "dot", "vdot", "inner"),
                    of_two(0, 1)),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_", "_addmm_activation"),
                    of_two(1, 2, 0)),
    "linear": linear,
    "einsum": einsum,
}  # fmt: skip
