"""ResNet-50 training on an A100, in FP32 (TF32 off) or with automatic mixed precision, as PyTorch runs it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from scripts.samples import kernel_names
from scripts.samples.gpus import A100
from scripts.samples.layers import Tape, accumulate_gradient, elementwise
from scripts.samples.process import Process
from scripts.samples.records import Kernel, Tensor

BATCH: Final = 32
STEPS: Final = 5
_PARAMETERS: Final = 25_557_032
_BLOCKS: Final = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
"""Bottlenecks, width and stride of the four stages."""


@dataclass(slots=True)
class ResNet50:
    """One process that trains ResNet-50."""

    mixed_precision: bool
    process: Process
    tape: Tape = field(init=False)
    _modules: Counter[str] = field(default_factory=Counter)
    """Sizes of the activations kept for the backward pass."""

    def __post_init__(self) -> None:
        self.tape = Tape(self.process)

    @property
    def _type(self) -> str:
        return "c10::Half" if self.mixed_precision else "float"

    @property
    def _precision(self) -> str:
        return "fp16" if self.mixed_precision else "fp32"

    def train(self) -> None:
        """Five profiled steps; the first is slow, as cuDNN and the allocator warm up in it."""
        process = self.process
        process.allocate(3 * 4 * _PARAMETERS)
        for number in range(1, STEPS + 1):
            with process.profiler_step(number):
                self._step(first=number == 1)
            process.spend(120_000)

    def _step(self, *, first: bool) -> None:
        process = self.process
        image = Tensor((BATCH, 3, 224, 224), "float")
        with process.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            process.spend(38_000_000 if first else 1_900_000)
        self._to_device(image)
        with process.annotation("Optimizer.zero_grad#SGD.zero_grad"):
            process.spend(160_000)
        self._modules.clear()
        process.recording_gradients = True
        with process.module("ResNet_0"):
            output = self._forward(image, first=first)
        self._loss(output)
        process.recording_gradients = False
        self.tape.run()
        self._optimizer()
        with (
            process.op("aten::item", [Tensor((), "float")]),
            process.op("aten::_local_scalar_dense", [Tensor((), "float")]),
        ):
            process.copy("DtoH", 4, pinned=False)
            process.synchronise()

    def _to_device(self, image: Tensor) -> None:
        process = self.process
        for tensor in (image, Tensor((BATCH,), "long int")):
            inputs: list[Tensor | str] = [tensor, "6", "0", "0", "", "True", "False", ""]
            with (
                process.op("aten::to", inputs),
                process.op("aten::_to_copy", inputs),
                process.op("aten::copy_", [tensor, tensor, "True"]),
            ):
                self.tape.allocate(tensor.num_bytes)
                process.copy("HtoD", tensor.num_bytes)

    # Layers.

    def _forward(self, image: Tensor, *, first: bool) -> Tensor:
        process = self.process
        x = self._convolution(image, 64, 7, 2, 3)
        if first:
            process.spend(95_000_000)
        x = self._relu(self._batch_norm(x))
        x = self._max_pool(x)
        for stage, (blocks, width, stride) in enumerate(_BLOCKS):
            with process.module(f"Sequential_{stage}"):
                for block in range(blocks):
                    x = self._bottleneck(x, width, stride if block == 0 else 1, downsample=block == 0)
        x = self._average_pool(x)
        return self._linear(x, 1000)

    def _bottleneck(self, x: Tensor, width: int, stride: int, *, downsample: bool) -> Tensor:
        process = self.process
        with process.module(self._module("Bottleneck")):
            y = self._relu(self._batch_norm(self._convolution(x, width, 1, 1, 0)))
            y = self._relu(self._batch_norm(self._convolution(y, width, 3, stride, 1)))
            y = self._batch_norm(self._convolution(y, 4 * width, 1, 1, 0))
            if downsample:
                with process.module(self._module("Sequential", start=len(_BLOCKS))):
                    x = self._batch_norm(self._convolution(x, 4 * width, 1, stride, 0))
            with process.op("aten::add_", [y, x, "1"], node=True) as forward:
                process.launch(elementwise(process, kernel_names.add(self._type), 3, y))
            self.tape.record("AddBackward0", forward, lambda: None)
            return self._relu(y)

    def _convolution(self, x: Tensor, channels: int, size: int, stride: int, padding: int) -> Tensor:
        process = self.process
        weight = Tensor((channels, x.shape[1], size, size), "float")
        extent = (x.shape[2] + 2 * padding - size) // stride + 1
        y = Tensor((x.shape[0], channels, extent, extent), self._type)
        pair = [f"[{stride}, {stride}]", f"[{padding}, {padding}]", "[1, 1]"]
        with process.module(self._module("Conv2d")):
            given = x
            x, cast_weight = self._cast(x), self._cast(weight)
            inputs: list[Tensor | str] = [x, cast_weight, "", *pair]
            full: list[Tensor | str] = [*inputs, "False", "[0, 0]", "1"]
            tail = [*full, "False", "False", "True", "False"]
            cudnn: list[Tensor | str] = [x, cast_weight, pair[1], pair[0], "[1, 1]", "1", "False", "False", "False"]
            with (
                process.op("aten::conv2d", [*inputs, "1"]),
                process.op("aten::convolution", full, node=True) as forward,
                process.op("aten::_convolution", tail),
                process.op("aten::cudnn_convolution", cudnn),
            ):
                self.tape.allocate(y.num_bytes)
                self._convolution_kernels("fprop", x, cast_weight, y)
        self.tape.record(
            "ConvolutionBackward0", forward, lambda: self._convolution_backward(given, x, cast_weight, weight, y, full)
        )
        return y

    def _convolution_backward(
        self, given: Tensor, x: Tensor, cast_weight: Tensor, weight: Tensor, y: Tensor, inputs: list[Tensor | str]
    ) -> None:
        process = self.process
        needs_input_gradient = given.shape[1] != 3  # the images have none
        mask = f"[{needs_input_gradient}, True, False]"
        with process.op("aten::convolution_backward", [y, *inputs[:2], "[0]", *inputs[3:], mask]):
            if needs_input_gradient:
                self._convolution_kernels("dgrad", x, cast_weight, y)
            self._convolution_kernels("wgrad", x, cast_weight, y)
        if self.mixed_precision:
            with (
                process.op("aten::to", [cast_weight]),
                process.op("aten::_to_copy", [cast_weight]),
                process.op("aten::copy_", [weight, cast_weight, "False"]),
            ):
                process.launch(elementwise(process, kernel_names.TO_FLOAT, 2, weight))
        accumulate_gradient(process, weight)

    def _convolution_kernels(self, direction: str, x: Tensor, weight: Tensor, y: Tensor) -> None:
        """cuDNN's kernels for one pass: FP32 on CUDA cores, FP16 on Tensor Cores and around some a change of layout."""
        process = self.process
        channels, _, size, _ = weight.shape
        flops = 2.0 * y.elements * weight.shape[1] * size * size
        num_bytes = x.num_bytes + y.num_bytes + weight.num_bytes
        tile = "128x128" if channels >= 128 else "128x64" if channels == 64 and size != 7 else "64x64"
        indexed = "indexed_" if direction == "wgrad" or size == 7 else ""
        grid = (max(1, y.elements // (128 * 128)), 1, 1)
        if not self.mixed_precision:
            name = kernel_names.convolution_fp32(direction, indexed, tile)
            duration = process.gpu.duration_ns(flops, num_bytes, "fp32", 0.78)
            process.launch(Kernel(name, duration, grid=grid, registers=188, shared_bytes=49_152))
            return
        transposed = size == 3 or weight.shape[1] == 3
        if transposed:
            self._transpose("nchwToNhwcKernel", x if direction != "dgrad" else y)
        depth = "32_stage4" if channels < 512 else "64_stage3"
        name = kernel_names.convolution_fp16(direction, indexed, f"{tile}x{depth}")
        duration = process.gpu.duration_ns(flops, num_bytes, "fp16", 0.52)
        process.launch(Kernel(name, duration, tensor_core=True, grid=grid, registers=230, shared_bytes=81_920))
        if transposed:
            self._transpose("nhwcToNchwKernel", {"fprop": y, "dgrad": x, "wgrad": weight}[direction])

    def _transpose(self, function: str, tensor: Tensor) -> None:
        process = self.process
        name = kernel_names.layout_change(function)
        duration = process.gpu.duration_ns(0, 2 * tensor.num_bytes, "fp16", 1.0)
        process.launch(
            Kernel(name, duration, grid=(max(1, tensor.elements // 8192), 1, 1), registers=40, shared_bytes=8_448)
        )

    def _batch_norm(self, x: Tensor) -> Tensor:
        process = self.process
        scale = Tensor((x.shape[1],), "float")
        inputs: list[Tensor | str] = [x, scale, scale, scale, scale, "True", "0.1", "1e-05"]
        with (
            process.module(self._module("BatchNorm2d")),
            process.op("aten::batch_norm", [*inputs, "True"]),
            process.op("aten::_batch_norm_impl_index", [*inputs, "True"]),
            process.op("aten::cudnn_batch_norm", inputs, node=True) as forward,
        ):
            self.tape.allocate(x.num_bytes)
            process.launch(self._batch_norm_kernel(x, "bn_fw_tr_1C11_singleread", 3))
        self.tape.record("CudnnBatchNormBackward0", forward, lambda: self._batch_norm_backward(x, scale))
        return x

    def _batch_norm_backward(self, x: Tensor, scale: Tensor) -> None:
        process = self.process
        with process.op("aten::cudnn_batch_norm_backward", [x, x, scale, scale, scale, scale, scale, "1e-05", scale]):
            process.launch(self._batch_norm_kernel(x, "bn_bw_1C11_singleread", 4))
        accumulate_gradient(process, scale)
        accumulate_gradient(process, scale)

    def _batch_norm_kernel(self, x: Tensor, function: str, passes: int) -> Kernel:
        value = "__half" if self.mixed_precision else "float"
        arguments = function.removesuffix("_singleread") + f"_args<{value}>"
        name = f"void cudnn::{function}<{value}, 512, true, 1, 2, 0>(cudnn::{arguments})"
        duration = self.process.gpu.duration_ns(8 * x.elements, passes * x.num_bytes, "fp32", 0.6)
        return Kernel(name, duration, grid=(x.shape[1], 1, 1), block=(512, 1, 1), registers=48, shared_bytes=4_096)

    def _relu(self, x: Tensor) -> Tensor:
        process = self.process
        with (
            process.module(self._module("ReLU")),
            process.op("aten::relu_", [x], node=True) as forward,
            process.op("aten::clamp_min_", [x, "0"]),
        ):
            process.launch(elementwise(process, kernel_names.relu(self._type), 2, x))
        self.tape.record("ReluBackward0", forward, lambda: self._relu_backward(x))
        return x

    def _relu_backward(self, x: Tensor) -> None:
        process = self.process
        with process.op("aten::threshold_backward", [x, x, "0"]):
            process.launch(elementwise(process, kernel_names.threshold(self._type), 3, x))

    def _max_pool(self, x: Tensor) -> Tensor:
        process = self.process
        y = Tensor((x.shape[0], x.shape[1], 56, 56), x.dtype)
        inputs: list[Tensor | str] = [x, "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"]
        with (
            process.module(self._module("MaxPool2d")),
            process.op("aten::max_pool2d", inputs),
            process.op("aten::max_pool2d_with_indices", inputs, node=True) as forward,
        ):
            self.tape.allocate(y.num_bytes)
            name = kernel_names.max_pool(self._type)
            process.launch(
                Kernel(name, process.gpu.duration_ns(9 * y.elements, x.num_bytes + 5 * y.num_bytes, "fp32", 0.3))
            )

        def backward() -> None:
            with process.op("aten::max_pool2d_with_indices_backward", [y, *inputs]):
                process.fill(x.num_bytes)
                name = kernel_names.max_pool(self._type, backward=True)
                process.launch(
                    Kernel(
                        name, process.gpu.duration_ns(9 * y.elements, 2 * x.num_bytes + 5 * y.num_bytes, "fp32", 0.3)
                    )
                )

        self.tape.record("MaxPool2DWithIndicesBackward0", forward, backward)
        return y

    def _average_pool(self, x: Tensor) -> Tensor:
        process = self.process
        with (
            process.module(self._module("AdaptiveAvgPool2d")),
            process.op("aten::adaptive_avg_pool2d", [x, "[1, 1]"]),
            process.op("aten::mean", [x, "[-1, -2]", "True", ""], node=True) as forward,
        ):
            name = kernel_names.mean(self._type)
            process.launch(Kernel(name, process.gpu.duration_ns(x.elements, x.num_bytes, "fp32", 0.3)))

        def backward() -> None:
            with process.op("aten::expand", [x, "[]", "False"]):
                pass
            with process.op("aten::div", [x, "49"]):
                process.launch(elementwise(process, kernel_names.multiply(self._type), 2, x))

        self.tape.record("MeanBackward1", forward, backward)
        with process.op("aten::flatten", [x, "1", "-1"]), process.op("aten::view", [x, "[32, 2048]"], node=True):
            pass
        return Tensor((x.shape[0], x.shape[1]), x.dtype)

    def _linear(self, x: Tensor, features: int) -> Tensor:
        process = self.process
        weight = Tensor((features, x.shape[1]), "float")
        y = Tensor((x.shape[0], features), self._type)
        with process.module(self._module("Linear")):
            weight_cast = self._cast(weight)
            bias = Tensor((features,), self._type)
            with process.op("aten::linear", [x, weight_cast, bias]):
                with process.op("aten::t", [weight_cast], node=True):
                    pass
                with process.op("aten::addmm", [bias, x, weight_cast, "1", "1"], node=True) as forward:
                    process.launch(self._gemm(x.shape[0], features, x.shape[1], "tn"))

        def backward() -> None:
            with process.op("aten::mm", [y, weight_cast]):
                process.launch(self._gemm(x.shape[0], x.shape[1], features, "nn"))
            with process.op("aten::mm", [y, x]):
                process.launch(self._gemm(features, x.shape[1], x.shape[0], "nt"))
            accumulate_gradient(process, weight)

        self.tape.record("AddmmBackward0", forward, backward)
        return y

    def _gemm(self, m: int, n: int, k: int, layout: str) -> Kernel:
        name = (
            f"ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_{layout}"
            if self.mixed_precision
            else f"ampere_sgemm_32x128_{layout}"
        )
        size = 2 if self.mixed_precision else 4
        duration = self.process.gpu.duration_ns(2.0 * m * n * k, size * (m * n + n * k + m * k), self._precision, 0.45)
        return Kernel(
            name, duration, tensor_core=self.mixed_precision, grid=(max(1, m * n // 4096), 1, 1), registers=128
        )

    def _loss(self, output: Tensor) -> None:
        process = self.process
        scores = Tensor(output.shape, "float")
        target = Tensor((BATCH,), "long int")
        with process.module(self._module("CrossEntropyLoss")):
            self._cast(output, "float")
            with process.op("aten::cross_entropy_loss", [scores, target, "", "1", "-100", "0."]):
                with (
                    process.op("aten::log_softmax", [scores, "1", ""]),
                    process.op("aten::_log_softmax", [scores, "1", "False"], node=True) as softmax,
                ):
                    process.launch(
                        Kernel(
                            kernel_names.softmax("float"),
                            4_200,
                        )
                    )
                with (
                    process.op("aten::nll_loss_nd", [scores, target]),
                    process.op("aten::nll_loss_forward", [scores, target], node=True) as loss,
                ):
                    process.launch(
                        Kernel(
                            kernel_names.loss("float"),
                            4_900,
                        )
                    )

        def softmax_backward() -> None:
            with process.op("aten::_log_softmax_backward_data", [scores, scores, "1", "6"]):
                process.launch(
                    Kernel(
                        kernel_names.softmax("float", backward=True),
                        4_600,
                    )
                )

        def loss_backward() -> None:
            with process.op("aten::nll_loss_backward", [Tensor((), "float"), scores, target]):
                process.fill(scores.num_bytes)
                process.launch(
                    Kernel(
                        kernel_names.loss("float", backward=True),
                        3_800,
                    )
                )

        self.tape.record("LogSoftmaxBackward0", softmax, softmax_backward)
        self.tape.record("NllLossBackward0", loss, loss_backward)

    def _optimizer(self) -> None:
        process = self.process
        parameters = Tensor((_PARAMETERS,), "float")
        number = Tensor((), "float")
        if self.mixed_precision:
            with process.op("aten::_amp_foreach_non_finite_check_and_unscale_", [number, number]):
                self._foreach(
                    "UnaryOpFunctor<float, 1, 1, 0>, at::native::_amp_foreach_non_finite_check_and_unscale", 1, 2
                )
        with process.annotation("Optimizer.step#SGD.step"):
            # Weight decay, momentum (two ops), update.
            for name, functor, lists, passes in (
                ("aten::_foreach_add_", "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>", 2, 3),
                ("aten::_foreach_mul_", "BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>", 1, 2),
                ("aten::_foreach_add_", "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>", 2, 3),
                ("aten::_foreach_add_", "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>", 2, 3),
            ):
                with process.op(name, [parameters, "1"]):
                    self._foreach(functor, lists, passes)
        if self.mixed_precision:
            with process.op("aten::_amp_update_scale_", [number, number, number, "2.", "0.5", "2000"]):
                process.launch(Kernel(kernel_names.AMP_UPDATE_SCALE, 2_300))

    def _foreach(self, functor: str, lists: int, passes: int) -> None:
        """A foreach op in the three launches that 161 tensors need."""
        process = self.process
        for _ in range(3):
            duration = process.gpu.duration_ns(_PARAMETERS / 3, passes * 4 * _PARAMETERS / 3, "fp32", 0.5)
            process.launch(Kernel(kernel_names.foreach(functor, lists), duration, grid=(320, 1, 1), block=(512, 1, 1)))

    def _cast(self, x: Tensor, dtype: str = "") -> Tensor:
        """What autocast does to an input of the other type."""
        process = self.process
        wanted = dtype or self._type
        if x.dtype == wanted:
            return x
        y = Tensor(x.shape, wanted)
        inputs: list[Tensor | str] = [x, "5" if wanted == "c10::Half" else "6", "False", "False", ""]
        with (
            process.op("aten::to", inputs),
            process.op("aten::_to_copy", inputs, node=True),
            process.op("aten::copy_", [y, x, "False"]),
        ):
            self.tape.allocate(y.num_bytes)
            process.launch(
                elementwise(process, kernel_names.TO_HALF if wanted == "c10::Half" else kernel_names.TO_FLOAT, 2, x)
            )
        return y

    def _module(self, kind: str, start: int = 0) -> str:
        """The next call's module name: PyTorch numbers the modules of a class."""
        number = self._modules[kind] + start
        self._modules[kind] += 1
        return f"{kind}_{number}"


def resnet50(*, mixed_precision: bool) -> Process:
    """A process that has trained ResNet-50 for five steps under the profiler."""
    variant = "amp" if mixed_precision else "fp32"
    process = Process(A100, seed=50 + mixed_precision, trace_name=f"./log/generated-resnet50-{variant}.pt.trace.json")
    ResNet50(mixed_precision, process).train()
    return process
