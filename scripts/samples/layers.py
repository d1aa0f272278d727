"""Simulates what PyTorch does for a layer: its forward and backward ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scripts.samples import kernel_names
from scripts.samples.process import Process
from scripts.samples.records import Block, Forward, Kernel, Tensor

Backward = Callable[[], None]

_ELEMENTWISE_BLOCK = 128
_VECTOR_WIDTH = 4


@dataclass(slots=True)
class Tape:
    """Autograd's graph: what to run in the backward pass, in reverse order."""

    process: Process
    nodes: list[tuple[str, Forward, Backward]] = field(default_factory=list)
    saved: list[tuple[int, Block]] = field(default_factory=list)
    """What the forward pass keeps, and before which node it was allocated."""

    def allocate(self, num_bytes: int) -> None:
        """Allocates what the node that is recorded next, or an earlier one, needs; its backward pass frees it."""
        self.saved.append((len(self.nodes), self.process.allocate(num_bytes)))

    def record(self, node: str, forward: Forward, backward: Backward) -> None:
        """Remembers ``node`` (``ConvolutionBackward0``) and what it runs."""
        self.nodes.append((node, forward, backward))

    def run(self) -> None:
        """Runs the graph backward on autograd's thread and empties it."""
        process = self.process
        with process.on_autograd_thread():
            while self.nodes:
                node, forward, backward = self.nodes.pop()
                with process.op(f"autograd::engine::evaluate_function: {node}"), process.op(node, forward=forward):
                    backward()
                    while self.saved and self.saved[-1][0] >= len(self.nodes):
                        process.free(self.saved.pop()[1])


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
