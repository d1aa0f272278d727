"""Names of the dimensions of an op's tensors, and the output shapes that follow from the input shapes.

The letters for ``conv2d`` and ``linear`` are DLProf's; those for other matrix products are chosen likewise. ``;``
separates tensors, ``,`` separates dimensions.
"""

from __future__ import annotations

import msgspec

from tensorboard_plugin_dlprof.expressions import Expression

Shape = list[int]


class Formats(msgspec.Struct, frozen=True):
    """Dimension letters of inputs, output and parameters; empty for op types without known letters."""

    data: str = ""
    output: str = ""
    parameters: str = ""


_CONVOLUTIONS = {
    1: Formats("N,C,L;K,C,S", "N,K,Q", "SL;PL;DL;G"),
    2: Formats("N,C,H,W;K,C,R,S", "N,K,P,Q", "SH,SW;PH,PW;DH,DW;G"),
    3: Formats("N,C,D,H,W;K,C,T,R,S", "N,K,O,P,Q", "SD,SH,SW;PD,PH,PW;DD,DH,DW;G"),
}
_PRODUCTS = {
    "mm": Formats("M,K;K,N", "M,N"),
    "bmm": Formats("B,M,K;B,K,N", "B,M,N"),
    "addmm": Formats("N;M,K;K,N", "M,N"),
    "baddbmm": Formats("B,M,N;B,M,K;B,K,N", "B,M,N"),
}
_LINEAR = Formats("N,K;M,K", "N,M")
_CONVOLUTION_TYPE = Expression(r"_?(?:cudnn_|miopen_)?conv(?:olution|([123])d)?\Z")


def formats(op_type: str, direction: str, shapes: list[Shape]) -> Formats:
    """The formats of an op whose tensor inputs have these shapes.

    A backward op has none, since its inputs are gradients.
    """
    if direction == "bprop":
        return Formats()
    convolution = _CONVOLUTION_TYPE.match(op_type)
    if convolution:
        dimensions = int(convolution[1]) if convolution[1] else len(shapes[1]) - 2 if len(shapes) > 1 else 0
        return _CONVOLUTIONS.get(dimensions, Formats())
    if op_type == "linear":
        batch = len(shapes[0]) - 2 if shapes else 0
        if batch <= 0:
            return _LINEAR
        letters = ",".join(f"B{index}" if batch > 1 else "B" for index in range(batch))
        return Formats(f"{letters},N,K;M,K", f"{letters},N,M")
    if op_type == "matmul" and [len(shape) for shape in shapes[:2]] == [2, 2]:
        return _PRODUCTS["mm"]
    if op_type == "addmm" and shapes and len(shapes[0]) == 2:
        return Formats("M,N;M,K;K,N", "M,N")
    return _PRODUCTS.get(op_type, Formats())


class Convolution(msgspec.Struct, frozen=True):
    """Parameters of a convolution: one value per spatial dimension, and the number of groups."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]
    groups: int

    def lists(self) -> list[list[int]]:
        """The parameters in the order in which DLProf stores them."""
        return [self.stride, self.padding, self.dilation, [self.groups]]


def output_shapes(
    op_type: str, direction: str, shapes: list[Shape], convolution: Convolution | None
) -> list[Shape] | None:
    """The shapes of the outputs; None if they do not follow from the inputs.

    Args:
        direction: Direction of the op; the outputs of ``bprop`` are not known.
        shapes: Shapes of the tensor inputs.
        convolution: Parameters; None means stride 1 and no padding, as DLProf assumes.
    """
    if direction == "bprop" or len(shapes) < 2:
        return None
    first, second = shapes[0], shapes[1]
    if _CONVOLUTION_TYPE.match(op_type):
        return _convolved(first, second, convolution)
    if op_type == "linear" and len(second) == 2 and first:
        return [[*first[:-1], second[0]]]
    if op_type in ("addmm", "baddbmm") and len(shapes) > 2:
        first, second = shapes[1], shapes[2]
    if op_type in ("mm", "bmm", "addmm", "baddbmm", "matmul") and len(first) == len(second) >= 2:
        return [[*first[:-1], second[-1]]] if first[-1] == second[-2] else None
    return None


def _convolved(data: Shape, weight: Shape, convolution: Convolution | None) -> list[Shape] | None:
    count = len(weight) - 2
    if count < 1 or len(data) != len(weight):
        return None
    if convolution is None:
        convolution = Convolution([1] * count, [0] * count, [1] * count, 1)
    if not len(convolution.stride) == len(convolution.padding) == len(convolution.dilation) == count:
        return None
    spatial = [
        (data[2 + i] + 2 * convolution.padding[i] - convolution.dilation[i] * (weight[2 + i] - 1) - 1)
        // convolution.stride[i]
        + 1
        for i in range(count)
        if convolution.stride[i] > 0
    ]
    return [[data[0], weight[0], *spatial]] if len(spatial) == count and min(spatial) > 0 else None
