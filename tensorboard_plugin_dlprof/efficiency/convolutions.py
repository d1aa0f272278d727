"""Work of convolutions: forward, transposed, and both gradients."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import msgspec

from tensorboard_plugin_dlprof.efficiency.calls import Call, Shape, Tensor
from tensorboard_plugin_dlprof.efficiency.work import Dimension, Work, lengths, moved, undecided, widest_type


class Positions(msgspec.Struct, frozen=True):
    """Positions of the parameters among the arguments of a forward convolution; -1 if there is none."""

    stride: int
    padding: int
    dilation: int
    transposed: int = -1
    output_padding: int = -1
    always_transposed: bool = False


_POSITIONS = {
    "conv1d": Positions(3, 4, 5),
    "conv2d": Positions(3, 4, 5),
    "conv3d": Positions(3, 4, 5),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), Positions(3, 4, 7, -1, 5, True)),
    **dict.fromkeys(("convolution", "_convolution", "convolution_overrideable"), Positions(3, 4, 5, 6, 7)),
    "cudnn_convolution": Positions(3, 2, 4),
    "miopen_convolution": Positions(4, 3, 5),
    "miopen_depthwise_convolution": Positions(4, 3, 5),
    "cudnn_convolution_relu": Positions(3, 4, 5),
    "miopen_convolution_relu": Positions(3, 4, 5),
    "cudnn_convolution_add_relu": Positions(5, 6, 7),
    "miopen_convolution_add_relu": Positions(5, 6, 7),
    "cudnn_convolution_transpose": Positions(4, 2, 5, -1, 3, True),
    "miopen_convolution_transpose": Positions(5, 3, 6, -1, 4, True),
    "_conv_depthwise2d": Positions(4, 5, 6),
    "conv_depthwise3d": Positions(4, 5, 6),
    "mkldnn_convolution": Positions(4, 3, 5),
    "_nnpack_spatial_convolution": Positions(4, 3, -1),
    "slow_conv_dilated2d": Positions(4, 5, 6),
    "slow_conv_dilated3d": Positions(4, 5, 6),
    "slow_conv3d_forward": Positions(4, 5, -1),
    "_slow_conv2d_forward": Positions(4, 5, -1),
    "thnn_conv2d": Positions(4, 5, -1),
    "slow_conv_transpose2d": Positions(4, 5, 7, -1, 6, True),
    "slow_conv_transpose3d": Positions(4, 5, 7, -1, 6, True),
}
"""By bare name, from PyTorch's operator schemas (``native_functions.yaml``)."""


def conv_work(data: Tensor, weight: Tensor, output: Shape, transposed: bool) -> Work | None:
    """The work of a convolution whose output shape is known. Biases do not count, as in ``FlopCounterMode``.

    The whole filter is applied at each point of the output (of the input, if transposed). The filter has the input
    channels divided by the groups, so the number of groups need not be known.
    """
    if not len(data.shape) == len(weight.shape) == len(output) >= 3:
        return None
    points = data.shape[2:] if transposed else output[2:]
    kind = widest_type((data, weight))
    size, elements = moved((data, weight, Tensor(output, kind)))
    return Work(
        "convolution", 2 * data.shape[0] * prod(points) * prod(weight.shape), 0, size, elements, kind,
        _dimensions(data.shape, weight.shape, output, transposed), _size(data.shape, weight.shape, output, transposed),
        _is_depthwise(data.shape, weight.shape, output, transposed),
    )  # fmt: skip


def output_shape(
    data: Shape, weight: Shape, stride: Shape, padding: Shape, dilation: Shape, output_padding: Shape, transposed: bool,
    groups: int,
) -> Shape | None:  # fmt: skip
    """The shape of the output, or None if the parameters do not fit the shapes.

    A parameter with a single number applies to all dimensions.
    """
    count = len(weight) - 2
    spread = [value * count if len(value) == 1 else value for value in (stride, padding, dilation, output_padding)]
    if any(len(value) != count for value in spread) or len(data) != count + 2 or min(spread[0], default=0) < 1:
        return None
    lengths = []
    for size, kernel, step, pad, dilate, more in zip(data[2:], weight[2:], *spread, strict=True):
        if transposed:
            lengths.append((size - 1) * step - 2 * pad + dilate * (kernel - 1) + more + 1)
        else:
            lengths.append((size + 2 * pad - dilate * (kernel - 1) - 1) // step + 1)
    channels = weight[1] * groups if transposed else weight[0]
    return (data[0], channels, *lengths) if min(lengths) > 0 else None


Outputs = dict[tuple[Shape, Shape], Shape | None]
"""Shapes of input and weight -> shape of the output, None if the profile has several. Learnt from backward ops."""


def forward(call: Call, learnt: Outputs) -> Work | None:
    """The work of a forward convolution, whose output follows from its parameters, else from a gradient of the same
    shapes."""
    positions = _POSITIONS[call.name]
    data, weight = call.tensor(0), call.tensor(1)
    if data is None or weight is None or len(weight.shape) < 3:
        return None
    data = _with_batch(data, weight)
    transposed = positions.always_transposed or call.value(positions.transposed) is True
    output = None
    if call.values:
        output = _recorded_output(call, data.shape, weight.shape, positions, transposed)
    if output is None and not transposed:
        output = learnt.get((data.shape, weight.shape))
    if output is not None:
        return conv_work(data, weight, output, transposed)
    may_be_either = positions.transposed >= 0 and type(call.value(positions.transposed)) is not bool
    return None if may_be_either and data.shape[1:2] == weight.shape[:1] else channels(data, weight, transposed)


def channels(data: Tensor, weight: Tensor, transposed: bool) -> Work | None:
    """The work if the parameters, and so the size of the output, are unknown: undecided, but with the channels.

    For a transposed convolution, only the output channels per group are known, because the number of groups is a
    parameter, too.
    """
    if len(data.shape) != len(weight.shape) or not weight.shape[0] or not weight.shape[1]:
        return None
    kind, of_group = widest_type((data, weight)), weight.shape[1]
    if transposed:
        if data.shape[1] != weight.shape[0]:
            return None
        text = (
            f"{data.shape[1]} channels, {lengths(weight.shape[2:])}, {lengths(data.shape[2:])}, batch {data.shape[0]}"
        )
        return undecided("convolution", (Dimension("output channels per group", of_group),), kind, text)
    groups = data.shape[1] // of_group
    if not groups or groups * of_group != data.shape[1] or weight.shape[0] % groups:
        return None
    output = (data.shape[0], weight.shape[0])
    return undecided(
        "convolution", _dimensions(data.shape, weight.shape, output, False), kind,
        _size(data.shape, weight.shape, output, False), _is_depthwise(data.shape, weight.shape, output, False),
    )  # fmt: skip


def backward(call: Call, learnt: Outputs) -> Work | None:
    """``convolution_backward(grad, input, weight, bias sizes, ..., transposed, ..., output mask)``."""
    grad, data, weight = (call.tensor(position) for position in range(3))
    mask = call.value(_MASKS[call.name])
    wanted = mask[:2] if isinstance(mask, list) and len(mask) >= 2 else [True, True]
    return _gradients(grad, data, weight, call.value(_TRANSPOSED[call.name]) is True, bool(wanted[0]), bool(wanted[1]))


_MASKS = {"convolution_backward": 10, "convolution_backward_overrideable": 9, "_slow_conv2d_backward": 6}
"""Positions of the flags of backward ops that say which gradients are wanted."""

_TRANSPOSED = {"convolution_backward": 7, "convolution_backward_overrideable": 6, "_slow_conv2d_backward": -1}


def backward_half(call: Call, learnt: Outputs) -> Work | None:
    """One of the two gradients in PyTorch before 1.11, which record ``(input, grad, weight)``."""
    data, grad, weight = (call.tensor(position) for position in range(3))
    of_weight = call.name.endswith("_weight")
    return _gradients(grad, data, weight, "transpose" in call.name, not of_weight, of_weight)


def teaches(name: str) -> bool:
    """Whether ``learn`` uses ops with this bare name."""
    return name in _MASKS or name in HALVES or name == "cudnn_convolution_backward"


def learn(call: Call, learnt: Outputs) -> None:
    """Store the shape of an output, which is that of the gradient with respect to it."""
    if call.name in _MASKS:
        grad, data, weight = (call.tensor(position) for position in range(3))
    elif call.name in HALVES or call.name == "cudnn_convolution_backward":
        data, grad, weight = (call.tensor(position) for position in range(3))
    else:
        return
    if grad and data and weight:
        key = (data.shape, weight.shape)
        learnt[key] = grad.shape if learnt.get(key, grad.shape) == grad.shape else None


def _gradients(
    grad: Tensor | None, data: Tensor | None, weight: Tensor | None, transposed: bool, of_input: bool, of_weight: bool
) -> Work | None:
    """The work of the wanted gradients, each of which takes as many operations as the forward op."""
    if grad is None or data is None or weight is None:
        return None
    once = conv_work(data, weight, grad.shape, transposed)
    if once is None or once.flops is None or not (of_input or of_weight):
        return None
    tensors = [grad]
    if of_input:
        tensors += [weight, data]
    if of_weight:
        tensors += [data, weight]
    size, elements = moved(tensors)
    kind = widest_type((grad, weight))
    flops = once.flops * (of_input + of_weight)
    return Work("convolution", flops, 0, size, elements, kind, once.dimensions, once.size, once.by_vector)


def _size(data: Shape, weight: Shape, output: Shape, transposed: bool) -> str:
    """``64 -> 128 channels, 3 x 3, 56 x 56 -> 28 x 28, batch 32``; without the output's size if that is unknown."""
    groups = _group_count(data, weight, output, transposed)
    reached = f" -> {lengths(output[2:])}" if len(output) > 2 else ""
    return (
        f"{data[1]} -> {output[1]} channels, {lengths(weight[2:])}, {lengths(data[2:])}{reached}, batch {data[0]}"
        + (f", {groups} groups" if groups > 1 else "")
    )


def _dimensions(data: Shape, weight: Shape, output: Shape, transposed: bool) -> tuple[Dimension, ...]:
    """The lengths of the matrix product that computes each group."""
    groups = _group_count(data, weight, output, transposed)
    of_group = " per group" if groups > 1 else ""
    return (
        Dimension(f"input channels{of_group}", data[1] // groups),
        Dimension(f"output channels{of_group}", output[1] // groups),
    )


def _is_depthwise(data: Shape, weight: Shape, output: Shape, transposed: bool) -> bool:
    groups = _group_count(data, weight, output, transposed)
    return groups > 1 and min(data[1], output[1]) // groups <= 1


def _group_count(data: Shape, weight: Shape, output: Shape, transposed: bool) -> int:
    """The number of groups, which follows because the filter has the channels of one group."""
    return max((output[1] if transposed else data[1]) // weight[1], 1) if weight[1] else 1


def _with_batch(data: Tensor, weight: Tensor) -> Tensor:
    """The input as a batch of one, if it has no batch dimension."""
    if len(data.shape) == len(weight.shape) - 1:
        return Tensor((1, *data.shape), data.data_type)
    return data


def _recorded_output(call: Call, data: Shape, weight: Shape, positions: Positions, transposed: bool) -> Shape | None:
    stride, padding = call.integers(positions.stride), call.integers(positions.padding)
    dilation = call.integers(positions.dilation) if positions.dilation >= 0 else (1,)
    more = call.integers(positions.output_padding) if positions.output_padding >= 0 else (0,)
    if stride is None or padding is None or dilation is None:
        return None
    groups = data[1] // weight[1] if not transposed and weight[1] else _groups(call)
    if groups is None:
        return None
    return output_shape(data, weight, stride, padding, dilation, more or (0,), transposed, groups)


_GROUPS = {"convolution": 8, "_convolution": 8, "cudnn_convolution_transpose": 6, "miopen_convolution_transpose": 7,
           "conv_transpose1d": 6, "conv_transpose2d": 6, "conv_transpose3d": 6}  # fmt: skip


def _groups(call: Call) -> int | None:
    position = _GROUPS.get(call.name)
    value = call.value(position) if position is not None else 1
    return value if isinstance(value, int) else None


HALVES = tuple(
    f"{library}_convolution{transpose}_backward_{half}"
    for library in ("cudnn", "miopen")
    for transpose in ("", "_transpose")
    for half in ("input", "weight")
)


def compiled(call: Call, learnt: Outputs) -> Work | None:
    """A convolution in a compiled program, or a gradient of one: input, kernel and output are known."""
    data, weight, output = call.tensor(0), call.tensor(1), call.tensor(2)
    return conv_work(data, weight, output.shape, False) if data and weight and output else None


FORMULAS: dict[str, Callable[[Call, Outputs], Work | None]] = {
    "xla_convolution": compiled,
    **dict.fromkeys(_POSITIONS, forward),
    **dict.fromkeys(HALVES, backward_half),
    **dict.fromkeys(_MASKS, backward),
}
