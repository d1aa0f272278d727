"""Simulates what PyTorch does for a layer: its forward and backward ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scripts.samples import kernel_names
from scripts.samples.process import Process
from scripts.samples.records import Forward, Kernel, Tensor

Backward = Callable[[], None]

_ELEMENTWISE_BLOCK = 128
_VECTOR_WIDTH = 4


@dataclass(slots=True)
class Tape:
    """Autograd's graph: what to run in the backward pass, in reverse order."""

    process: Process
    nodes: list[tuple[str, Forward, Backward]] = field(default_factory=list)

    def record(self, node: str, forward: Forward, backward: Backward) -> None:
        """Remembers ``node`` (``ConvolutionBackward0``) and what it runs."""
        self.nodes.append((node, forward, backward))

    def run(self) -> None:
        """Runs the graph backward on autograd's thread and empties it."""
        process = self.process
        with process.on_autograd_thread():
            for node, forward, backward in reversed(self.nodes):
                with process.op(f"autograd::engine::evaluate_function: {node}"), process.op(node, forward=forward):
                    backward()
        self.nodes.clear()


def elementwise(process: Process, functor: str, tensors: int, like: Tensor) -> Kernel:
    """A vectorised elementwise kernel of PyTorch that reads and writes ``tensors`` tensors like ``like``."""
    name = kernel_names.elementwise(functor, tensors, _VECTOR_WIDTH)
    precision = "fp32" if like.dtype == "float" else "fp16"
    duration = process.gpu.duration_ns(like.elements, tensors * like.num_bytes, precision, 0.5)
    blocks = max(1, like.elements // (_ELEMENTWISE_BLOCK * _VECTOR_WIDTH))
    return Kernel(name, duration, grid=(blocks, 1, 1), block=(_ELEMENTWISE_BLOCK, 1, 1), registers=32)


def accumulate_gradient(process: Process, parameter: Tensor) -> None:
    """Autograd stores the gradient of a parameter, which takes no kernel after ``zero_grad(set_to_none=True)``."""
    name = "torch::autograd::AccumulateGrad"
    with (
        process.op(f"autograd::engine::evaluate_function: {name}"),
        process.op(name, [parameter]),
        process.op("aten::detach", [parameter]),
    ):
        pass
