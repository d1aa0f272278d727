"""Work of ops that move data rather than multiply matrices: elementwise, normalisation, softmax, reduction, copies.

Their minimum bytes are what matters; their FLOPs are approximations (documented per entry) for placing them on a
roofline, and do not count in the MFU.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from tensorboard_plugin_dlprof.efficiency.calls import Call, Shape, Tensor
from tensorboard_plugin_dlprof.efficiency.work import Work, moved, widest_type
from tensorboard_plugin_dlprof.expressions import Expression

_UNARY: dict[str, int] = {
    # Operations per element; a special function (exp, tanh, erf) counts as one.
    **dict.fromkeys(("neg", "abs", "relu", "sqrt", "rsqrt", "exp", "exp2", "log", "log2", "log1p", "sin", "cos", "tanh",
                     "erf", "reciprocal", "sign", "floor", "ceil", "round", "threshold", "clamp_min", "clamp_max",
                     "logical_not", "bitwise_not", "isnan", "isinf", "pow", "dropout", "native_dropout", "bernoulli",
                     "expm1", "trunc", "frac", "square"), 1),
    **dict.fromkeys(("clamp", "leaky_relu", "hardtanh", "relu6", "isfinite", "nan_to_num"), 2),
    **dict.fromkeys(("sigmoid", "hardsigmoid", "elu", "selu", "softplus", "log_sigmoid", "logsigmoid"), 3),
    **dict.fromkeys(("silu", "hardswish", "mish"), 4),
    "gelu": 8,
}  # fmt: skip

_BINARY: dict[str, int] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "rsub", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge",
                     "where", "fmod", "remainder", "logical_and", "logical_or", "logical_xor", "bitwise_and",
                     "bitwise_or", "bitwise_xor", "atan2", "masked_fill", "true_divide", "floor_divide"), 1),
    **dict.fromkeys(("addcmul", "addcdiv", "lerp"), 3),
    **dict.fromkeys(("threshold_backward", "relu_backward", "hardtanh_backward", "native_dropout_backward",
                     "masked_scale"), 1),
    **dict.fromkeys(("sigmoid_backward", "tanh_backward", "leaky_relu_backward", "elu_backward"), 3),
    **dict.fromkeys(("silu_backward", "hardswish_backward"), 6),
    "gelu_backward": 12,
}  # fmt: skip

_NORMS: dict[str, int] = {
    # Forward: mean and variance (3), normalise (2), scale and shift (2). Backward: two sums and the combination.
    **dict.fromkeys(("batch_norm", "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "layer_norm",
                     "native_layer_norm", "group_norm", "native_group_norm", "instance_norm", "_groupnorm_run",
                     "_batch_norm_with_update", "_native_batch_norm_legit"), 7),
    **dict.fromkeys(("rms_norm", "_fused_rms_norm"), 5),
}  # fmt: skip

_NORM_GRADIENTS = {
    **dict.fromkeys(("native_batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward",
                     "native_layer_norm_backward", "native_group_norm_backward", "batch_norm_backward",
                     "_fused_rms_norm_backward"), 11),
}  # fmt: skip

_SOFTMAX = {"_softmax": 5, "softmax": 5, "_log_softmax": 5, "log_softmax": 5, "_masked_softmax": 5}
_SOFTMAX_GRADIENTS = {"_softmax_backward_data": 4, "_log_softmax_backward_data": 4}

_REDUCTIONS = frozenset(
    ("sum", "mean", "max", "min", "amax", "amin", "norm", "linalg_vector_norm", "var", "std", "var_mean", "prod", "any",
     "all", "argmax", "argmin", "logsumexp", "cumsum", "nansum", "_foreach_norm", "topk", "sort")
)  # fmt: skip

_WRITES = frozenset(("fill_", "zero_", "fill", "zeros", "ones", "full", "normal_", "uniform_", "random_", "bernoulli_",
                     "arange"))  # fmt: skip
_COPIES = frozenset(("copy_", "clone", "contiguous", "_to_copy", "to", "_copy_from", "copy"))
_FOREACH = Expression(
    r"_foreach_(add|sub|mul|div|addcmul|addcdiv|sqrt|neg|lerp|copy|zero|maximum|reciprocal|pow|abs)_?\Z",
    words=("_foreach_",),
)
_POOL = Expression(r"(?:max|avg)_pool[123]d|adaptive_(?:max|avg)_pool[123]d|mkldnn_max_pool2d", words=("_pool",))


def _one_pass(family: str, per_element: int) -> Callable[[Call], Work | None]:
    """Reads the first tensor and parameters (scale, statistics), writes a tensor like the first; or of the gradient,
    reads it and what forward saved."""

    def formula(call: Call) -> Work | None:
        tensors = call.tensors()
        if not tensors:
            return None
        first = tensors[0]
        size, elements = moved((*tensors, first))
        return Work(family, per_element * first.elements, 0, size, elements, first.data_type)

    return formula


def _elementwise(per_element: int) -> Callable[[Call], Work | None]:
    """Reads every tensor once, writes the broadcast shape once."""

    def formula(call: Call) -> Work | None:
        tensors = call.tensors()
        if not tensors:
            return None
        output = _broadcast([tensor.shape for tensor in tensors])
        if output is None:
            return None
        kind = widest_type(tensors)
        written = Tensor(output, kind)
        size, elements = moved((*tensors, written))
        return Work("elementwise", per_element * written.elements, 0, size, elements, kind)

    return formula


def _cell(per_element: int, written: int) -> Callable[[Call], Work | None]:
    """The part of a recurrent cell after its products: reads gates, state and biases, writes ``written`` states."""

    def formula(call: Call) -> Work | None:
        state = call.tensor(2)
        if state is None:
            return None
        size, elements = moved((*call.tensors(), *[state] * written))
        return Work("elementwise", per_element * state.elements, 0, size, elements, state.data_type)

    return formula


def _reduction(call: Call) -> Work | None:
    """Reads the input; the output of a reduction is small in comparison."""
    tensors = call.tensors()
    if not tensors:
        return None
    size, elements = moved(tensors[:1])
    return Work("reduction", tensors[0].elements, 0, size, elements, tensors[0].data_type)


def _write(call: Call) -> Work | None:
    tensors = call.tensors()
    if not tensors:
        return None
    size, elements = moved(tensors[:1])
    return Work("elementwise", 0, 0, size, elements, tensors[0].data_type)


def _copy(call: Call) -> Work | None:
    """``copy_(to, from)`` reads one and writes the other; the others write what they read."""
    tensors = call.tensors()
    if not tensors:
        return None
    size, elements = moved(tensors[:2] if call.name == "copy_" and len(tensors) > 1 else (tensors[0], tensors[0]))
    return Work("copy", 0, 0, size, elements, tensors[0].data_type)


def _concatenation(call: Call) -> Work | None:
    tensors = call.tensors()
    size, elements = moved((*tensors, *tensors))
    return Work("copy", 0, 0, size, elements, widest_type(tensors)) if tensors else None


def _embedding(call: Call) -> Work | None:
    """Reads and writes as many rows as there are indices."""
    table, indices = call.tensor(0), call.tensor(1)
    if table is None or indices is None or len(table.shape) != 2:
        return None
    rows = Tensor((*indices.shape, table.shape[1]), table.data_type)
    size, elements = moved((indices, rows, rows))
    return Work("embedding", 0, 0, size, elements, table.data_type)


def _selection(call: Call) -> Work | None:
    """``index_select(table, dimension, indices)`` of whole rows: reads and writes each of them."""
    table, indices = call.tensor(0), call.tensor(2)
    if table is None or indices is None or len(table.shape) != 2 or len(indices.shape) != 1:
        return None
    rows = Tensor((*indices.shape, table.shape[1]), table.data_type)
    size, elements = moved((indices, rows, rows))
    return Work("embedding", 0, 0, size, elements, table.data_type)


def _foreach(call: Call) -> Work | None:
    """Ops on lists of tensors: reads all, writes the first list."""
    lists = [argument for argument in call.arguments if argument]
    if not lists:
        return None
    size, elements = moved((*(tensor for each in lists for tensor in each), *lists[0]))
    return Work("optimizer", sum(tensor.elements for tensor in lists[0]), 0, size, elements, widest_type(lists[0]))


def _pool(call: Call) -> Work | None:
    """Reads the input. The output is smaller, and its shape is not recorded; that of the gradient is."""
    tensors = call.tensors()
    size, elements = moved(tensors)
    return Work("reduction", tensors[0].elements, 0, size, elements, widest_type(tensors)) if tensors else None


def _broadcast(shapes: list[Shape]) -> Shape | None:
    rank = max(map(len, shapes))
    output = [1] * rank
    for shape in shapes:
        for axis, length in enumerate(shape, start=rank - len(shape)):
            if length not in (1, output[axis]) and output[axis] != 1:
                return None
            if length != 1:
                output[axis] = length
    return tuple(output)


_EXACT: dict[str, Callable[[Call], Work | None]] = {
    **{name: _elementwise(count) for name, count in {**_UNARY, **_BINARY}.items()},
    **{name: _one_pass("normalisation", count) for name, count in _NORMS.items()},
    **{name: _one_pass("normalisation", count) for name, count in _NORM_GRADIENTS.items()},
    **{name: _one_pass("softmax", count) for name, count in _SOFTMAX.items()},
    **{name: _one_pass("softmax", count) for name, count in _SOFTMAX_GRADIENTS.items()},
    **dict.fromkeys(_REDUCTIONS, _reduction),
    **dict.fromkeys(_WRITES, _write),
    **dict.fromkeys(_COPIES, _copy),
    # Gates and biases added up, a function for each gate, the new state; gates are kept for backward.
    "_thnn_fused_lstm_cell": _cell(27, 6),
    "_thnn_fused_gru_cell": _cell(20, 6),
    "cat": _concatenation,
    "stack": _concatenation,
    "embedding": _embedding,
    "index_select": _selection,
}


def with_bandwidth_formula(names: Collection[str]) -> set[str]:
    """The names for which ``bandwidth_formula`` may return a formula."""
    exact = {name for name in names if name in _EXACT or name.removesuffix("_") in _EXACT}
    return exact.union(_FOREACH.possible(names), _POOL.possible(names))


def bandwidth_formula(name: str) -> Callable[[Call], Work | None] | None:
    """The formula of an op with this bare name, None if there is none; an in-place op has that of its counterpart."""
    formula = _EXACT.get(name) or _EXACT.get(name.removesuffix("_"))
    if formula is not None:
        return formula
    if _FOREACH.match(name):
        return _foreach
    return _pool if _POOL.match(name) else None
