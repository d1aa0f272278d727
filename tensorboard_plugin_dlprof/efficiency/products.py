"""Work of matrix products."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

import msgspec

from tensorboard_plugin_dlprof.efficiency.calls import Call, Shape, Tensor
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work, moved, widest_type
from tensorboard_plugin_dlprof.expressions import Expression


def gemm(left: Tensor, right: Tensor, output: Shape, batch: int, m: int, n: int, k: int, *more: Tensor) -> Work:
    """The work of ``batch`` products of m x k by k x n; ``more`` are further tensors that are read, such as a bias."""
    operands = (left, right)
    kind = widest_type(operands)
    size, elements = moved((*operands, *more, Tensor(output, kind)))
    return Work("gemm", 2 * batch * m * n * k, 0, size, elements, kind, *shown(batch, m, n, k))


def shown(batch: int, m: int, n: int, k: int) -> tuple[tuple[Dimension, ...], str, bool]:
    """``dimensions``, ``size`` and ``by_vector`` of ``Work`` for ``batch`` products of m x k by k x n."""
    named = (Dimension("M", m), Dimension("N", n), Dimension("K", k))
    size = ", ".join(f"{each.name} {each.length}" for each in named) + (f", batch {batch}" if batch > 1 else "")
    return named, size, min(m, n, k) == 1


Formula = Callable[[Call], Work | None]


def of_two(first: int, second: int, bias: int | None = None) -> Formula:
    """The formula of ``mm``, ``bmm``, ``matmul`` and so on: operands at two positions, perhaps an addend at a third."""

    def formula(call: Call) -> Work | None:
        left, right = call.tensor(first), call.tensor(second)
        addend = call.tensor(bias) if bias is not None else None
        return None if left is None or right is None else matmul(left, right, addend)

    return formula


def matmul(left: Tensor, right: Tensor, addend: Tensor | None = None) -> Work | None:
    """The work of a product by NumPy's rules: vectors get a dimension of 1, leading dimensions are broadcast.

    Leading dimensions that only the left operand has count as rows, because PyTorch folds them before it multiplies.

    Returns:
        None if the shapes do not match.
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
    k *= packed(left, right)
    count, rows = (prod(batch), m) if len(b) > 2 else (1, prod(batch) * m)
    return gemm(left, right, (*batch, m, n), count, rows, n, k, *more)


def packed(left: Tensor, right: Tensor) -> int:
    """Values of K per element: two for FP4, whose recorded length is half of K; else one."""
    return 2 if left.data_type == right.data_type == _PACKED else 1


_PACKED: Final = "float4_e2m1fn_x2"


def added(call: Call) -> Work | None:
    """``addbmm(addend, batch, batch)``: the products of the batch are added up, as if K were longer."""
    addend, left, right = call.tensor(0), call.tensor(1), call.tensor(2)
    if left is None or right is None or len(left.shape) != 3 or len(right.shape) != 3:
        return None
    (batch, m, k), (other, inner, n) = left.shape, right.shape
    if (batch, k) != (other, inner):
        return None
    return gemm(left, right, (m, n), 1, m, n, batch * k, *([addend] if addend else []))


def of_last(call: Call) -> Work | None:
    """``inner``: sums over the last dimension of both operands."""
    left, right = call.tensor(0), call.tensor(1)
    if left is None or right is None or not left.shape or not right.shape or left.shape[-1] != right.shape[-1]:
        return None
    output = (*left.shape[:-1], *right.shape[:-1])
    return gemm(left, right, output, 1, prod(left.shape[:-1]), prod(right.shape[:-1]), left.shape[-1])


def gradients(data: int, gradient: int, weight: int, forward: Callable[[Tensor, Tensor], Work | None]) -> Formula:
    """The formula of the backward op of a product: operands and gradient at these positions, followed by a mask that
    says which gradients are wanted."""

    def formula(call: Call) -> Work | None:
        left, grad, right = call.tensor(data), call.tensor(gradient), call.tensor(weight)
        mask = call.value(3)
        wanted = [bool(each) for each in mask[:2]] if isinstance(mask, list) and len(mask) >= 2 else [True, True]
        once = forward(left, right) if left is not None and right is not None else None
        if once is None or once.flops is None or left is None or right is None or grad is None or not any(wanted):
            return None
        # Each gradient reads the other operand, and is as large as its own operand.
        size, elements = moved((grad, *(tensor for tensor in (left, right) for _ in range(sum(wanted)))))
        return msgspec.structs.replace(once, flops=once.flops * sum(wanted), min_bytes=size, elements=elements)

    return formula


def linear(call: Call) -> Work | None:
    """``linear(input, weight, bias)``: the weight is N x K; all leading dimensions of the input are rows."""
    data, weight = call.tensor(0), call.tensor(1)
    return None if data is None or weight is None else _linear(data, weight, call.tensor(2))


def _linear(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Work | None:
    if len(weight.shape) != 2 or not data.shape:
        return None
    n, k = weight.shape
    if data.shape[-1] != k:
        return None
    m = prod(data.shape[:-1])
    return gemm(data, weight, (*data.shape[:-1], n), 1, m, n, k, *([bias] if bias else []))


_EQUATION = Expression(r"([A-Za-z]+),([A-Za-z]+)->([A-Za-z]*)\Z")


def einsum(call: Call) -> Work | None:
    """``einsum`` of two operands; None if the equation was not recorded."""
    equation = call.value(0)
    operands = call.tensors()
    if not isinstance(equation, str) or len(operands) != 2:
        return None
    match = _EQUATION.match(equation.replace(" ", ""))
    if not match:
        return None
    lengths: dict[str, int] = {}
    for letters, operand in zip(match.groups()[:2], operands, strict=True):
        if len(letters) != len(operand.shape):
            return None
        for letter, length in zip(letters, operand.shape, strict=True):
            known = lengths.get(letter, 1)
            if length != known and 1 not in (length, known):
                return None
            lengths[letter] = known if length == 1 else length
    left, right, out = (set(text) for text in match.groups())

    def size(letters: set[str]) -> int:
        return prod(lengths[letter] for letter in letters)

    if not out <= left | right:
        return None
    batch, k = left & right & out, (left | right) - out
    m, n = (left & out) - right, (right & out) - left
    output = tuple(lengths[letter] for letter in match[3])
    return gemm(operands[0], operands[1], output, size(batch), size(m), size(n), size(k))


def _broadcast(one: Shape, other: Shape) -> Shape | None:
    if len(one) < len(other):
        one, other = other, one
    padded = (1,) * (len(one) - len(other)) + other
    if any(a != b and 1 not in (a, b) for a, b in zip(one, padded, strict=True)):
        return None
    return tuple(max(a, b) if min(a, b) else 0 for a, b in zip(one, padded, strict=True))


FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(("mm", "bmm", "matmul", "__matmul__", "mv", "_scaled_mm", "_scaled_mm_v2", "_int_mm", "dot",
                     "vdot"), of_two(0, 1)),
    **dict.fromkeys(("addmm", "addmm_", "baddbmm", "baddbmm_", "addmv", "addmv_", "_addmm_activation"),
                    of_two(1, 2, 0)),
    **dict.fromkeys(("linear", "mkldnn_linear"), linear),
    **dict.fromkeys(("linear_backward", "mkldnn_linear_backward"), gradients(0, 1, 2, _linear)),
    "matmul_backward": gradients(1, 0, 2, matmul),
    **dict.fromkeys(("addbmm", "addbmm_"), added),
    "inner": of_last,
    "einsum": einsum,
}  # fmt: skip
