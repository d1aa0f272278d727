"""A small GPT trained in BF16 on two H100s with DistributedDataParallel, as PyTorch runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from scripts.samples import kernel_names
from scripts.samples.gpus import H100
from scripts.samples.layers import Tape, accumulate_gradient, elementwise
from scripts.samples.process import NCCL_STREAM, Process, finish_collectives
from scripts.samples.records import Kernel, Tensor

STEPS: Final = 4
_BATCH: Final = 8
_SEQUENCE: Final = 1024
_WIDTH: Final = 1024
_HEADS: Final = 16
_LAYERS: Final = 8
_VOCABULARY: Final = 32_000
_BF16: Final = "c10::BFloat16"
_BUCKET_LAYERS: Final = 2
_STRAGGLER_NS: Final = 2_600_000
"""What rank 1 waits longer than rank 0 for its batches: a finding to be made."""

_ALL_REDUCE: Final = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@dataclass(slots=True)
class Rank:
    """One rank of the job."""

    process: Process
    tape: Tape = field(init=False)
    _modules: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.tape = Tape(self.process)

    def load(self, *, first: bool) -> None:
        """Fetches a batch and copies it to the device."""
        process = self.process
        with process.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            process.spend((21_000_000 if first else 700_000) + _STRAGGLER_NS * process.rank)
        tokens = Tensor((_BATCH, _SEQUENCE), "long int")
        inputs: list[Tensor | str] = [tokens, "4", "0", "0", "", "True", "False", ""]
        with (
            process.op("aten::to", inputs),
            process.op("aten::_to_copy", inputs),
            process.op("aten::copy_", [tokens, tokens, "True"]),
        ):
            self.tape.allocate(tokens.num_bytes)
            process.copy("HtoD", tokens.num_bytes)

    def forward(self) -> None:
        """The model and its loss."""
        process = self.process
        self._modules.clear()
        process.recording_gradients = True
        with (
            process.module("DistributedDataParallel_0"),
            process.annotation("DistributedDataParallel.forward"),
            process.module("GPT_0"),
        ):
            x = self._embedding()
            for number in range(_LAYERS):
                x = self._block(x, number)
            x = self._layer_norm(x)
            scores = self._linear(x, _VOCABULARY, bias=False)
        self._loss(scores)
        process.recording_gradients = False

    def backward(self) -> None:
        """Runs backward; its hooks launch the collectives that ``finish_collectives`` ends."""
        self.tape.run()

    def optimise(self) -> None:
        """AdamW, after the gradients of all ranks have been averaged."""
        process = self.process
        process.wait_for_communication()
        parameters = Tensor((_LAYERS * 12 * _WIDTH * _WIDTH + _VOCABULARY * _WIDTH,), _BF16)
        with (
            process.annotation("Optimizer.step#AdamW.step"),
            process.op("aten::_fused_adamw_", [parameters, parameters, parameters, parameters]),
        ):
            for _ in range(4):
                duration = process.gpu.duration_ns(0, 7 * parameters.num_bytes / 4, "fp32", 1.0)
                process.launch(
                    Kernel(
                        kernel_names.FUSED_ADAMW,
                        duration,
                        grid=(320, 1, 1),
                        block=(512, 1, 1),
                    )
                )
        with process.annotation("Optimizer.zero_grad#AdamW.zero_grad"):
            process.spend(90_000)
        process.synchronise((7, NCCL_STREAM))

    # Layers.

    def _embedding(self) -> Tensor:
        process = self.process
        tokens = Tensor((_BATCH, _SEQUENCE), "long int")
        weight = Tensor((_VOCABULARY, _WIDTH), _BF16)
        x = Tensor((_BATCH, _SEQUENCE, _WIDTH), _BF16)
        with (
            process.module(self._module("Embedding")),
            process.op("aten::embedding", [weight, tokens, "-1", "False", "False"], node=True) as forward,
        ):
            self.tape.allocate(x.num_bytes)
            duration = process.gpu.duration_ns(0, 2 * x.num_bytes, "fp32", 1.0)
            process.launch(
                Kernel(
                    kernel_names.GATHER,
                    duration,
                )
            )

        def backward() -> None:
            with process.op("aten::embedding_dense_backward", [x, tokens, str(_VOCABULARY), "-1", "False"]):
                process.fill(weight.num_bytes)
                duration = process.gpu.duration_ns(0, 6 * x.num_bytes, "fp32", 1.0)
                process.launch(
                    Kernel(
                        kernel_names.EMBEDDING_GRADIENT,
                        duration,
                    )
                )
            accumulate_gradient(process, weight)
            self._all_reduce(weight.num_bytes)

        self.tape.record("EmbeddingBackward0", forward, backward)
        return x

    def _block(self, x: Tensor, number: int) -> Tensor:
        process = self.process
        with process.module(self._module("Block")):
            if number % _BUCKET_LAYERS == 0:
                self._bucket()
            with process.module(self._module("Attention")):
                y = self._attention(self._linear(self._layer_norm(x), 3 * _WIDTH))
                y = self._linear(y, _WIDTH)
            x = self._add(x, y)
            with process.module(self._module("MLP")):
                y = self._linear(self._layer_norm(x), 4 * _WIDTH)
                y = self._linear(self._gelu(y), _WIDTH)
            return self._add(x, y)

    def _bucket(self) -> None:
        """A point at which, going backward, the gradients of the layers after it are complete."""
        process = self.process
        with process.op(
            "aten::view", [Tensor((_BATCH, _SEQUENCE, _WIDTH), _BF16), f"[{_BATCH}, {_SEQUENCE}, {_WIDTH}]"], node=True
        ) as forward:
            pass
        num_bytes = 2 * _BUCKET_LAYERS * 12 * _WIDTH * _WIDTH
        self.tape.record("ViewBackward0", forward, lambda: self._all_reduce(num_bytes))

    def _all_reduce(self, num_bytes: int) -> None:
        process = self.process
        bucket = Tensor((num_bytes // 2,), _BF16)
        with (
            process.op("c10d::allreduce_", [bucket, "", "", "", "False", "-1"]),
            process.op("record_param_comms", [bucket, "1", "('0', 'default_pg')"]),
        ):
            with process.annotation("nccl:all_reduce"):
                process.spend(12_000)
            process.collective(_ALL_REDUCE, 9_000 + round(num_bytes / 230e9 * 1e9), num_bytes)

    def _linear(self, x: Tensor, features: int, *, bias: bool = True) -> Tensor:
        process = self.process
        rows, width = x.elements // x.shape[-1], x.shape[-1]
        weight = Tensor((features, width), _BF16)
        y = Tensor((*x.shape[:-1], features), _BF16)
        with (
            process.module(self._module("Linear")),
            process.op("aten::linear", [x, weight, Tensor((features,), _BF16)] if bias else [x, weight, ""]),
        ):
            with process.op("aten::t", [weight], node=True):
                pass
            inputs: list[Tensor | str] = [Tensor((features,), _BF16)] if bias else []
            with process.op(
                "aten::addmm" if bias else "aten::mm",
                [*inputs, Tensor((rows, width), _BF16), Tensor((width, features), _BF16)],
                node=True,
            ) as forward:
                self.tape.allocate(y.num_bytes)
                process.launch(
                    self._gemm(rows, features, width, "256x128_64x4_1x2_h_bz_coopA" + ("_bias_TNN" if bias else "_TNN"))
                )

        def backward() -> None:
            grad = Tensor((rows, features), _BF16)
            with process.op("aten::mm", [grad, weight]):
                process.launch(self._gemm(rows, width, features, "128x256_64x4_2x1_v_bz_coopB_NNN"))
            with process.op("aten::mm", [Tensor((features, rows), _BF16), Tensor((rows, width), _BF16)]):
                process.launch(self._gemm(features, width, rows, "192x192_64x4_1x2_h_bz_coopA_NTN"))
            accumulate_gradient(process, weight)
            if bias:
                with process.op("aten::sum", [grad, "[0]", "True", ""]):
                    name = kernel_names.column_sum(_BF16)
                    process.launch(Kernel(name, process.gpu.duration_ns(0, grad.num_bytes, "fp32", 1.0)))
                accumulate_gradient(process, Tensor((features,), _BF16))

        self.tape.record("AddmmBackward0" if bias else "MmBackward0", forward, backward)
        return y

    def _gemm(self, m: int, n: int, k: int, suffix: str) -> Kernel:
        duration = self.process.gpu.duration_ns(2.0 * m * n * k, 2 * (m * n + n * k + m * k), "bf16", 0.68)
        return Kernel(
            f"nvjet_tst_{suffix}",
            duration,
            tensor_core=True,
            grid=(132, 1, 1),
            block=(384, 1, 1),
            registers=168,
            shared_bytes=212_992,
        )

    def _attention(self, qkv: Tensor) -> Tensor:
        process = self.process
        head = Tensor((_BATCH, _HEADS, _SEQUENCE, _WIDTH // _HEADS), _BF16)
        y = Tensor((_BATCH, _SEQUENCE, _WIDTH), _BF16)
        with process.op("aten::split", [qkv, str(_WIDTH), "2"], node=True):
            pass
        flops = 4.0 * _BATCH * _HEADS * _SEQUENCE * _SEQUENCE * head.shape[3] / 2
        inputs: list[Tensor | str] = [head, head, head, "", "0.", "True", "", "False"]
        with (
            process.op("aten::scaled_dot_product_attention", inputs),
            process.op("aten::_scaled_dot_product_flash_attention", inputs[:3], node=True) as forward,
            process.op("aten::_flash_attention_forward", inputs[:3]),
        ):
            self.tape.allocate(y.num_bytes)
            name = kernel_names.flash_attention("flash_fwd_kernel")
            process.launch(
                Kernel(
                    name,
                    process.gpu.duration_ns(flops, 4 * head.num_bytes, "bf16", 0.42),
                    tensor_core=True,
                    block=(128, 1, 1),
                    registers=255,
                    shared_bytes=49_152,
                )
            )

        def backward() -> None:
            with (
                process.op("aten::_scaled_dot_product_flash_attention_backward", [head, head, head]),
                process.op("aten::_flash_attention_backward", [head, head, head]),
            ):
                for function, share, tensor_core in (
                    ("flash_bwd_dot_do_o_kernel", 0.0, False),
                    ("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 2.5, True),
                    ("flash_bwd_convert_dq_kernel", 0.0, False),
                ):
                    duration = process.gpu.duration_ns(flops * share, 2 * head.num_bytes, "bf16", 0.38)
                    process.launch(
                        Kernel(
                            kernel_names.flash_attention(function, backward=True),
                            duration,
                            tensor_core=tensor_core,
                            registers=255,
                        )
                    )

        self.tape.record("ScaledDotProductFlashAttentionBackward0", forward, backward)
        return y

    def _layer_norm(self, x: Tensor) -> Tensor:
        process = self.process
        scale = Tensor((_WIDTH,), _BF16)
        inputs: list[Tensor | str] = [x, f"[{_WIDTH}]", scale, scale, "1e-05"]
        with (
            process.module(self._module("LayerNorm")),
            process.op("aten::layer_norm", [*inputs, "True"]),
            process.op("aten::native_layer_norm", inputs, node=True) as forward,
        ):
            self.tape.allocate(x.num_bytes)
            name = kernel_names.LAYER_NORM
            process.launch(Kernel(name, process.gpu.duration_ns(0, 2 * x.num_bytes, "fp32", 1.0)))

        def backward() -> None:
            with process.op("aten::native_layer_norm_backward", [x, *inputs]):
                for name, passes in (
                    (
                        kernel_names.LAYER_NORM_INPUT_GRADIENT,
                        3,
                    ),
                    (
                        kernel_names.LAYER_NORM_SCALE_GRADIENT,
                        2,
                    ),
                ):
                    process.launch(Kernel(name, process.gpu.duration_ns(0, passes * x.num_bytes, "fp32", 1.0)))

        self.tape.record("NativeLayerNormBackward0", forward, backward)
        return x

    def _gelu(self, x: Tensor) -> Tensor:
        process = self.process
        with process.module(self._module("GELU")), process.op("aten::gelu", [x, "none"], node=True) as forward:
            self.tape.allocate(x.num_bytes)
            process.launch(elementwise(process, kernel_names.gelu(), 2, x))
        self.tape.record(
            "GeluBackward0",
            forward,
            self._pointwise_backward("aten::gelu_backward", kernel_names.gelu(backward=True), 3, x),
        )
        return x

    def _add(self, x: Tensor, y: Tensor) -> Tensor:
        process = self.process
        with process.op("aten::add", [x, y, "1"], node=True) as forward:
            self.tape.allocate(x.num_bytes)
            process.launch(elementwise(process, kernel_names.add(_BF16), 3, x))
        self.tape.record("AddBackward0", forward, lambda: None)
        return x

    def _pointwise_backward(self, op: str, functor: str, tensors: int, x: Tensor) -> Callable[[], None]:
        def backward() -> None:
            with self.process.op(op, [x, x]):
                self.process.launch(elementwise(self.process, functor, tensors, x))

        return backward

    def _loss(self, scores: Tensor) -> None:
        process = self.process
        flat = Tensor((_BATCH * _SEQUENCE, _VOCABULARY), _BF16)
        target = Tensor((_BATCH * _SEQUENCE,), "long int")
        with process.op("aten::cross_entropy_loss", [flat, target, "", "1", "-100", "0."]):
            with (
                process.op("aten::log_softmax", [flat, "1", ""]),
                process.op("aten::_log_softmax", [flat, "1", "False"], node=True) as softmax,
            ):
                self.tape.allocate(scores.num_bytes)
                name = kernel_names.softmax(_BF16)
                process.launch(Kernel(name, process.gpu.duration_ns(0, 2 * flat.num_bytes, "fp32", 1.0)))
            with (
                process.op("aten::nll_loss_nd", [flat, target]),
                process.op("aten::nll_loss_forward", [flat, target], node=True) as loss,
            ):
                process.launch(
                    Kernel(
                        kernel_names.loss(_BF16),
                        14_000,
                    )
                )

        def softmax_backward() -> None:
            with process.op("aten::_log_softmax_backward_data", [flat, flat, "1", "15"]):
                name = kernel_names.softmax(_BF16, backward=True)
                process.launch(Kernel(name, process.gpu.duration_ns(0, 3 * flat.num_bytes, "fp32", 1.0)))

        def loss_backward() -> None:
            with process.op("aten::nll_loss_backward", [Tensor((), _BF16), flat, target]):
                process.fill(flat.num_bytes)
                process.launch(
                    Kernel(
                        kernel_names.loss(_BF16, backward=True),
                        11_000,
                    )
                )

        self.tape.record("LogSoftmaxBackward0", softmax, softmax_backward)
        self.tape.record("NllLossBackward0", loss, loss_backward)

    def _module(self, kind: str) -> str:
        number = self._modules[kind]
        self._modules[kind] += 1
        return f"{kind}_{number}"


def transformer() -> list[Process]:
    """The two ranks of a job that has trained for four steps under the profiler."""
    ranks = [
        Rank(
            Process(
                H100,
                seed=70 + rank,
                trace_name=f"./log/generated-transformer-rank{rank}.pt.trace.json",
                rank=rank,
                world_size=2,
                pid=5100 + rank,
                autograd_tid=5300 + rank,
            )
        )
        for rank in range(2)
    ]
    for number in range(1, STEPS + 1):
        starts = []
        for rank in ranks:
            starts.append(rank.process.begin_step(number))
            rank.load(first=number == 1)
            rank.forward()
            rank.backward()
        finish_collectives([rank.process for rank in ranks])
        for rank, start in zip(ranks, starts, strict=True):
            rank.optimise()
            rank.process.end_step(number, start)
    return [rank.process for rank in ranks]
