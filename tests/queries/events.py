"""Events of small PyTorch traces, and names of kernels that do, do not, and may use Tensor Cores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tests.queries.profiles import ignore

ON_TENSOR_CORES = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn"
UNTOLD = "triton_tem_fused_mm_0"
PLAIN = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"

HALVES = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
"""Inputs of a product that Tensor Cores could do."""


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


def database_of_events(folder: Path, events: list[dict[str, Any]], gpus: int = 1) -> Path:
    """The database of a trace with these events, recorded on so many A100."""
    devices = [
        {"id": number, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
        for number in range(gpus)
    ]
    source = folder / "trace.json"
    source.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}))
    import_source(source, folder / "dldb.sqlite", ImportOptions(), ignore)
    return folder / "dldb.sqlite"
