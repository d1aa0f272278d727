"""Every page, report and interface says the same of one quantity: unknown where it is, and never more than all."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import performance
from tests.agreement.answers import disagreements
from tests.database.manifest import facts
from tests.queries.profiles import GOLDEN, database_of, ignore

Event = dict[str, Any]
Trace = dict[str, Any]

ON_TENSOR_CORES = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn"
UNTOLD = "triton_tem_fused_mm_0"
PLAIN = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"


@pytest.mark.parametrize("name", [*GOLDEN, *(sorted(facts()) or ["shared data"])])
def test_recorded_profiles(name: str, tmp_path: Path) -> None:
    """Those of the shared data, NVIDIA's own databases among them."""
    with closing(open_database(database_of(name, tmp_path))) as connection:
        assert disagreements(connection) == []


def _event(category: str, name: str, start: float, length: float, thread: int, **arguments: Any) -> Event:
    return {
        "ph": "X", "cat": category, "name": name, "ts": start, "dur": length, "pid": 1, "tid": thread,
        "args": arguments,
    }  # fmt: skip


def whole_trace() -> Trace:
    """Three steps on two GPUs: products that use Tensor Cores, do not, and of which no rule tells; a copy, a set, two
    streams that overlap, a kernel that runs on into the next step."""
    events: list[Event] = []
    number = 0
    for step in range(3):
        start = 1_000 + 1_000 * step
        events.append(_event("user_annotation", f"ProfilerStep#{step}", start, 1_000, 1))
        events.append(_event("python_function", "nn.Module: Net_0", start + 5, 950, 1, **{"Python id": 1 + 2 * step}))
        for place, (kind, kernel, device) in enumerate(
            [
                ("mm", ON_TENSOR_CORES, 0), ("bmm", UNTOLD, 1), ("add", PLAIN, 0), ("addmm", PLAIN, 1),
                ("copy_", "Memcpy HtoD (Pageable -> Device)", 0), ("zero_", "Memset (Device)", 1),
            ]
        ):  # fmt: skip
            number += 1
            begin = start + 10 + 150 * place
            shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"]}
            events.append(_event("cpu_op", f"aten::{kind}", begin, 120, 1, **shapes))
            events.append(_event("cuda_runtime", "cudaLaunchKernel", begin + 5, 10, 1, correlation=number))
            category = {"copy_": "gpu_memcpy", "zero_": "gpu_memset"}.get(kind, "kernel")
            length = 400 if place < 2 else 40
            events.append(
                _event(
                    category,
                    kernel,
                    begin + 20,
                    length,
                    7 + place,
                    correlation=number,
                    device=device,
                    stream=7 + place,
                    bytes=64,
                    grid=[8, 1, 1],
                    block=[128, 1, 1],
                )
            )
    gpus = [
        {"id": number, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}
        for number in range(2)
    ]
    return {"schemaVersion": 1, "deviceProperties": gpus, "traceEvents": events}


def _only(keep: Callable[[Event], object]) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        trace["traceEvents"] = [event for event in trace["traceEvents"] if keep(event)]

    return change


def _each(change_event: Callable[[Event], object]) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        for event in trace["traceEvents"]:
            change_event(event)

    return change


ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def _rename(kernel: str) -> Callable[[Trace], None]:
    return _each(lambda event: event["cat"] == "kernel" and event.update(name=kernel))


def _negative(event: Event) -> None:
    if event["ts"] % 3 == 0:
        event["dur"] = -event["dur"]


VARIANTS: dict[str, Callable[[Trace], object]] = {
    "as it is": lambda _trace: None,
    "no device properties": lambda trace: trace.pop("deviceProperties"),
    "no shapes": _each(lambda event: [event["args"].pop(key, None) for key in ("Input Dims", "Input type")]),
    "no launches": _only(lambda event: event["cat"] != "cuda_runtime"),
    "no correlations": _each(lambda event: event["args"].pop("correlation", None)),
    "no arguments": _each(lambda event: event.pop("args")),
    "no ops": _only(lambda event: event["cat"] != "cpu_op"),
    "no steps": _only(lambda event: event["cat"] != "user_annotation"),
    "no GPU work": _only(lambda event: event["cat"] not in ON_GPU),
    "no kernels": _only(lambda event: event["cat"] != "kernel"),
    "GPU work alone": _only(lambda event: event["cat"] in ON_GPU),
    "copies alone": _only(lambda event: event["cat"] == "gpu_memcpy"),
    "a kernel alone": lambda trace: trace.update(
        traceEvents=[event for event in trace["traceEvents"] if event["cat"] == "kernel"][:1]
    ),
    "an op alone": lambda trace: trace.update(
        traceEvents=[event for event in trace["traceEvents"] if event["cat"] == "cpu_op"][:1]
    ),
    "no durations": _each(lambda event: event.update(dur=0)),
    "GPU work without durations": _each(lambda event: event["cat"] in ON_GPU and event.update(dur=0)),
    "negative durations": _each(_negative),
    "kernels that no rule tells": _rename(UNTOLD),
    "kernels without names": _rename(""),
    "kernels on Tensor Cores": _rename(ON_TENSOR_CORES),
    "all at once": _each(lambda event: event.update(ts=1_000)),
    "endless kernels": _each(lambda event: event["cat"] == "kernel" and event.update(dur=10_000)),
    "a GPU that is not described": _each(lambda event: event["cat"] == "kernel" and event["args"].update(device=5)),
    "no GPU in one of three steps": _only(lambda event: event["cat"] not in ON_GPU or event["ts"] > 2_000),
    "events out of order": lambda trace: trace["traceEvents"].reverse(),
    "each event twice": lambda trace: trace["traceEvents"].extend(list(trace["traceEvents"])),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_damaged_and_partial_traces(name: str, tmp_path: Path) -> None:
    """What is missing is unknown everywhere, or 0 everywhere; over all iterations, and over the first alone."""
    trace = whole_trace()
    VARIANTS[name](trace)
    source, database = tmp_path / "trace.json", tmp_path / "dldb.sqlite"
    source.write_text(json.dumps(trace))
    import_source(source, database, ImportOptions(), ignore)
    with closing(open_database(database)) as connection:
        assert disagreements(connection) == []
        first = performance(connection, find_scope(connection))["iter_start"]
    import_source(source, tmp_path / "first.sqlite", ImportOptions(iter_start=first, iter_stop=first), ignore)
    with closing(open_database(tmp_path / "first.sqlite")) as connection:
        assert disagreements(connection) == []
