"""Events of small PyTorch traces, and names of kernels that do, do not, and may use Tensor Cores."""

from __future__ import annotations

from typing import Any

ON_TENSOR_CORES = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn"
UNTOLD = "triton_tem_fused_mm_0"
PLAIN = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"


def event(category: str, name: str, start: float, length: float, thread: int, **arguments: Any) -> dict[str, Any]:
    """A complete event; times in microseconds."""
    return {
        "ph": "X", "cat": category, "name": name, "ts": start, "dur": length, "pid": 1, "tid": thread,
        "args": arguments,
    }  # fmt: skip


def work(number: int, category: str, name: str, start: float, length: float, device: int) -> list[dict[str, Any]]:
    """A piece of GPU work, and the call that launched it 5 us before."""
    call = "cudaLaunchKernel" if category == "kernel" else "cudaMemcpyAsync"
    return [
        event("cuda_runtime", call, start - 5, 2, 1, correlation=number),
        event(category, name, start, length, 7, correlation=number, device=device, stream=7, bytes=64),
    ]
