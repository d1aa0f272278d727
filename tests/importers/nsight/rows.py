"""Rows of exports."""

from __future__ import annotations

from collections.abc import Mapping

from tensorboard_plugin_dlprof.events.tables import Capture, RangeKind
from tests.importers.nsight.exports import Table, process, strings, thread

KERNEL_COLUMNS = "start end deviceId streamId correlationId globalPid demangledName shortName"


NVTX_COLUMNS = "start end eventType text globalTid textId domainId endGlobalTid"


GPU_COLUMNS = "id name computeMajor computeMinor smCount totalMemory cuDevice"
RUNTIME_COLUMNS = "start end globalTid correlationId nameId"


NAMES = strings("cudaLaunchKernel_v7000", "void ns::gemm<float>(float*)", "gemm", "aten::mm, seq = 3", "OS thread")


def kernel(start: object, end: object, device: object = 0, pid: int = 7, correlation: object = 1) -> list[object]:
    """A row of the kernel table."""
    return [start, end, device, 13, correlation, process(pid), 1, 2]


def marker(start: object, end: object, text: str | None, kind: int = 59, **other: object) -> list[object]:
    """A row of NVTX_EVENTS."""
    values = {"thread": thread(7, 8), "text_id": None, "domain": 0, "end_thread": None} | other
    return [start, end, kind, text, values["thread"], values["text_id"], values["domain"], values["end_thread"]]


def kernels(*rows: list[object]) -> Mapping[str, Table]:
    """An export with kernels only."""
    return {"StringIds": NAMES, "CUPTI_ACTIVITY_KIND_KERNEL": (KERNEL_COLUMNS, rows)}


def ranges(*rows: list[object]) -> Mapping[str, Table]:
    """An export with ranges only."""
    return {"StringIds": NAMES, "NVTX_EVENTS": (NVTX_COLUMNS, rows)}


def range_rows(capture: Capture) -> list[tuple[str, str, str, int, int]]:
    """Kind, domain, name, start and end of each range."""
    result = capture.ranges
    return [
        (RangeKind(kind).name, capture.strings[domain], capture.strings[name], start, end)
        for kind, domain, name, start, end in zip(
            result.kind.tolist(),
            result.domain.tolist(),
            result.name.tolist(),
            result.start_ns.tolist(),
            result.end_ns.tolist(),
            strict=True,
        )
    ]
