"""Training of a small transformer with JAX on one GPU, as ``jax.profiler.trace`` records it.

The projections are in bfloat16, but the last layer multiplies in float32, which Tensor Cores do not without
``jax.default_matmul_precision``; and the host makes each batch while the GPU waits.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, prod
from pathlib import Path
from typing import Final

from scripts.samples.gpus import H100
from scripts.samples.records import DeviceRecord, Kernel
from scripts.samples.xplane_file import Line, Module, Plane, message, shape, space

STEPS: Final = 4
_LAYERS: Final = 3
_TOKENS: Final = 8 * 1024
_WIDTH: Final = 1024
_CLASSES: Final = 4096
_PROGRAM: Final = 17
_MODULE: Final = "jit_train_step"
_STREAM: Final = 14
_SOURCE: Final = "model.py"

_FORWARD, _BACKWARD = "jit(train_step)/jvp(Transformer)/", "jit(train_step)/transpose(jvp(Transformer))/"
_BYTES: Final = {"bf16": 2, "f32": 4}


@dataclass(frozen=True, slots=True)
class _Op:
    """One HLO op of the module, and its kernel."""

    name: str
    kernel: Kernel


@dataclass(slots=True)
class Training:
    """A recorded session: the planes of its file, and what is known of it because it was generated."""

    device: list[DeviceRecord] = field(default_factory=list)
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    _module: Module = field(default_factory=lambda: Module(_MODULE, _PROGRAM))
    _ops: list[_Op] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _planes: list[Plane] = field(default_factory=list)
    _random: random.Random = field(default_factory=lambda: random.Random(29))

    def run(self) -> None:
        """Compile the module and train for a few steps."""
        for layer in range(_LAYERS):
            self._layer(layer)
        self._loss()
        for layer in reversed(range(_LAYERS)):
            self._gradients_of(layer)
        for layer in range(_LAYERS):
            for place in ("attention", "mlp"):
                path = f"jit(train_step)/adam/layer_{layer}/{place}/add"
                self._fusion("add", path, (4 if place == "attention" else 8, _WIDTH, _WIDTH), "f32", 7, 91)
        self._train()

    def write(self, path: Path) -> None:
        """Writes the profile; its content is the same every time."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(space(self._planes, ["jax-host"]))

    def _layer(self, layer: int) -> None:
        scope = f"{_FORWARD}layer_{layer}/"
        self._fusion("reduce", f"{scope}norm/reduce_sum", (_TOKENS, _WIDTH), "bf16", 2, 31)
        for name in ("query", "key", "value"):
            self._gemm(_TOKENS, _WIDTH, _WIDTH, f"{scope}attention/{name}/dot_general", 40)
        self._attention(f"{scope}attention/dot_product_attention", "fmhaSoftmax", "fprop", 1.0)
        self._gemm(_TOKENS, _WIDTH, _WIDTH, f"{scope}attention/out/dot_general", 47)
        self._fusion("add", f"{scope}add", (_TOKENS, _WIDTH), "bf16", 3, 49)
        self._gemm(_TOKENS, 4 * _WIDTH, _WIDTH, f"{scope}mlp/up/dot_general", 52)
        self._fusion("tanh", f"{scope}mlp/gelu/tanh", (_TOKENS, 4 * _WIDTH), "bf16", 2, 53)
        self._gemm(_TOKENS, _WIDTH, 4 * _WIDTH, f"{scope}mlp/down/dot_general", 54)

    def _loss(self) -> None:
        scope = f"{_FORWARD}head/"
        self._fusion("convert", f"{scope}convert_element_type", (_TOKENS, _WIDTH), "f32", 2, 60)
        self._gemm(_TOKENS, _CLASSES, _WIDTH, f"{scope}dot_general", 61, "f32")
        self._fusion("reduce", "jit(train_step)/jvp(loss)/reduce_sum", (_TOKENS, _CLASSES), "f32", 1, 70)
        self._fusion("subtract", "jit(train_step)/transpose(jvp(loss))/sub", (_TOKENS, _CLASSES), "f32", 2, 70)
        for m, n, k in ((_TOKENS, _WIDTH, _CLASSES), (_WIDTH, _CLASSES, _TOKENS)):
            self._gemm(m, n, k, f"{_BACKWARD}head/dot_general", 61, "f32")

    def _gradients_of(self, layer: int) -> None:
        scope = f"{_BACKWARD}layer_{layer}/"
        again = f"{scope}checkpoint/rematted_computation/mlp/"
        self._fusion("tanh", f"{again}gelu/tanh", (_TOKENS, 4 * _WIDTH), "bf16", 2, 53)
        for name, n, k in (("down", 4, 1), ("up", 1, 4)):
            self._gemm(_TOKENS, n * _WIDTH, k * _WIDTH, f"{scope}mlp/{name}/dot_general", 54)
            self._gemm(n * _WIDTH, k * _WIDTH, _TOKENS, f"{scope}mlp/{name}/dot_general", 54)
        self._fusion("multiply", f"{scope}mlp/gelu/mul", (_TOKENS, 4 * _WIDTH), "bf16", 3, 53)
        self._attention(f"{scope}attention/dot_product_attention", "fmhaSoftmaxBackward", "bprop", 2.5)
        for name in ("out", "value", "key", "query"):
            self._gemm(_TOKENS, _WIDTH, _WIDTH, f"{scope}attention/{name}/dot_general", 40)
            self._gemm(_WIDTH, _WIDTH, _TOKENS, f"{scope}attention/{name}/dot_general", 40)
        self._fusion("reduce", f"{scope}norm/reduce_sum", (_TOKENS, _WIDTH), "bf16", 3, 31)

    def _gemm(self, m: int, n: int, k: int, path: str, line: int, kind: str = "bf16") -> None:
        operands = [self._parameter((m, k), kind), self._parameter((k, n), kind)]
        dimensions = {"lhs_contracting_dimensions": ["1"], "rhs_contracting_dimensions": ["0"]}
        config = json.dumps({"gemm_backend_config": {"dot_dimension_numbers": dimensions}})
        target = b"__cublas$lt$matmul" if kind == "bf16" else b"__cublas$gemm"
        more = message(28, target) + message(43, config.encode())
        moved = _BYTES[kind] * (m * k + k * n + m * n)
        if kind == "bf16":
            duration = H100.duration_ns(2.0 * m * n * k, moved, "bf16", 0.62)
            name = "nvjet_tst_192x192_64x4_2x1_v_bz_TNT"
            kernel = Kernel(name, duration, tensor_core=True, grid=(132, 1, 1), block=(384, 1, 1), registers=168,
                            shared_bytes=212_992)  # fmt: skip
        else:
            duration = H100.duration_ns(2.0 * m * n * k, moved, "fp32", 0.7)
            kernel = Kernel("ampere_sgemm_128x128_tn", duration, grid=(ceil(n / 128), ceil(m / 128), 1), registers=122,
                            shared_bytes=32_768)  # fmt: skip
        self._add("custom-call", "cublas-gemm", (m, n), kind, operands, path, line, kernel, more)

    def _attention(self, path: str, target: str, direction: str, share: float) -> None:
        operands = [self._parameter((_TOKENS, _WIDTH), "bf16") for _ in range(3)]
        flops = share * 4.0 * _TOKENS * 1024 * _WIDTH
        name = f"cudnn_generated_fort_native_sdpa_sm90_flash_{direction}_wgmma_bf16_knob_7_128x128x64_4x1x1_kernel0_0"
        duration = H100.duration_ns(flops, 8.0 * _TOKENS * _WIDTH, "bf16", 0.45)
        kernel = Kernel(name, duration, tensor_core=True, grid=(8, 16, 8), block=(384, 1, 1), registers=168,
                        shared_bytes=180_224)  # fmt: skip
        more = message(28, f"__cudnn${target}".encode())
        self._add("custom-call", "cudnn-fmha", (_TOKENS, _WIDTH), "bf16", operands, path, 44, kernel, more)

    def _fusion(self, what: str, path: str, lengths: Sequence[int], kind: str, tensors: int, line: int) -> None:
        operands = [self._parameter(lengths, kind) for _ in range(max(tensors - 1, 1))]
        duration = H100.duration_ns(0, tensors * _BYTES[kind] * prod(lengths), "fp32", 1.0)
        blocks = min(ceil(prod(lengths) / 1024), 65_535)
        stem = "input_reduce_fusion" if what == "reduce" else f"loop_{what}_fusion"
        kernel = Kernel(stem, duration, grid=(blocks, 1, 1), block=(256, 1, 1), registers=32)
        self._add("fusion", stem, lengths, kind, operands, path, line, kernel, message(11, b"kLoop"))

    def _parameter(self, lengths: Sequence[int], kind: str) -> int:
        return self._module.instruction(self._numbered("param"), "parameter", shape(kind, lengths))

    def _numbered(self, stem: str) -> str:
        count = self._counts[stem] = self._counts.get(stem, -1) + 1
        return f"{stem}.{count}" if count else stem

    def _add(
        self,
        opcode: str,
        stem: str,
        lengths: Sequence[int],
        kind: str,
        operands: Sequence[int],
        path: str,
        line: int,
        kernel: Kernel,
        more: bytes,
    ) -> None:
        name = self._numbered(stem)
        self._module.instruction(name, opcode, shape(kind, lengths), operands, path, (_SOURCE, line), more)
        if opcode == "fusion":
            kernel = Kernel(name.replace(".", "_"), kernel.duration_ns, False, kernel.grid, kernel.block, 32)
        self._ops.append(_Op(name, kernel))

    def _train(self) -> None:
        major, minor = H100.capability
        gpu = Plane("/device:GPU:0", {
            "device_vendor": "Nvidia", "gpu_device_name": H100.name, "core_count": H100.sm_count,
            "compute_cap_major": major, "compute_cap_minor": minor, "memory_size": H100.memory_bytes,
        })  # fmt: skip
        host, metadata = Plane("/host:CPU"), Plane("/host:metadata")
        metadata.share(f"{_MODULE}({_PROGRAM})", **{"Hlo Proto": self._module.encoded()})
        session = Plane("Task Environment", {"profile_start_time": 1_790_000_000_000_000_000})
        self._planes = [gpu, host, metadata, session]
        lines = (host.line(4100, "python"), host.line(4171, "XlaLauncher/4171"))
        streams = (gpu.line(_STREAM, f"Stream #{_STREAM}(Kernel)"), gpu.line(15, "Stream #15(MemcpyH2D)"))
        now, starts = 200_000, []
        for step in range(STEPS):
            starts.append(now)
            now = self._step(step, now, host, gpu, lines, streams)
        ends = [*starts[1:], now - 8_000]
        self.steps = [(step, start, end) for step, (start, end) in enumerate(zip(starts, ends, strict=True))]

    def _step(
        self, step: int, now: int, host: Plane, gpu: Plane, lines: tuple[Line, Line], streams: tuple[Line, Line]
    ) -> int:
        """One step from a time on, and the time at its end."""
        python, launcher = lines
        begin = now
        loading = 2_400_000 + self._random.randrange(300_000)
        host.event(python, "data_loading", now + 2_000, loading)
        now += loading + 20_000
        num_bytes = _TOKENS * _WIDTH * 2
        correlation = step * 1_000 + 1
        host.event(python, "cuMemcpyHtoDAsync_v2", now, 14_000, correlation_id=correlation)
        details = f"kind_src:pageable kind_dst:device size:{num_bytes} dest:0 async:1"
        copied = num_bytes * 1_000_000_000 // 25_000_000_000
        gpu.event(streams[1], "MemcpyH2D", now + 9_000, copied, correlation_id=correlation, memcpy_details=details)
        copy_end = now + 9_000 + copied
        self.device.append(DeviceRecord("memcpy", "MemcpyH2D", 15, now + 9_000, copy_end, step, num_bytes=num_bytes))
        now += 30_000
        host.event(python, "PjitFunction(train_step)", now, 45_000, _p=step + 7, _pt=9)
        now += 30_000
        first, free = now, max(copy_end, now)
        for op in self._ops:
            now += 2_600 + self._random.randrange(900)
            correlation += 1
            kernel = op.kernel
            host.event(launcher, "cuLaunchKernelEx", now, 1_900, correlation_id=correlation)
            start = max(free, now + 2_500) + 900
            free = start + round(kernel.duration_ns * self._random.uniform(0.98, 1.03))
            percent = H100.occupancy_percent(10_000, prod(kernel.block), kernel.registers, kernel.shared_bytes)
            gpu.event(
                streams[0], kernel.name, start, free - start, correlation_id=correlation, hlo_op=op.name,
                hlo_module=_MODULE, program_id=_PROGRAM, theoretical_occupancy_pct=float(percent),
                kernel_details=f"regs:{kernel.registers} static_shared:0 dynamic_shared:{kernel.shared_bytes} "
                f"grid:{','.join(map(str, kernel.grid))} block:{','.join(map(str, kernel.block))} occ_pct:{percent}",
            )  # fmt: skip
            record = DeviceRecord("kernel", kernel.name, _STREAM, start, free, step, kernel.tensor_core)
            self.device.append(record)
        host.event(launcher, "GpuExecutable::ExecuteThunks", first, now + 3_000 - first, module_name=_MODULE,
                   _c=step + 7, _ct=9)  # fmt: skip
        end = free + 12_000
        host.event(python, "block_until_ready", now + 6_000, end - now - 6_000)
        host.event(python, "train", begin, end - begin, step_num=step, _r=1)
        return end + 8_000


def jax_training() -> Training:
    """The sample, run."""
    training = Training()
    training.run()
    return training
