"""Small XPlane profiles made for tests."""

from __future__ import annotations

from pathlib import Path

from scripts.samples.xplane_file import (
    Plane,
    space,
)
from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import ReadOptions

KERNEL = "regs:32 static_shared:1024 dynamic_shared:0 grid:8,4,2 block:128,1,1 occ_pct:56.25"


H100 = {"compute_cap_major": 9, "compute_cap_minor": 0, "core_count": 132, "memory_size": 80 << 30}


def capture_of(tmp_path: Path, *planes: Plane, name: str = "host.xplane.pb") -> Capture:
    """The capture of a file with some planes."""
    path = tmp_path / name
    path.write_bytes(space(planes, ["host"]))
    return find_importer(path).read(path, ReadOptions(), lambda what, fraction: None)


def gpu(index: int = 0) -> Plane:
    """An H100."""
    return Plane(f"/device:GPU:{index}", {**H100, "device_vendor": "Nvidia"})


def two_gpus() -> tuple[Plane, Plane, Plane]:
    """Two GPUs that number their work alike, launched by a thread each, in overlapping runs of one module."""
    host = Plane("/host:CPU")
    devices = gpu(0), gpu(1)
    for index, device in enumerate(devices):
        stream, thread = device.line(1, "Stream #1"), host.line(100 + index, f"worker {index}")
        for run in range(3):
            begin = 1_000_000 * run + 1_000 * index + 1_000
            host.event(thread, "GpuExecutable::ExecuteThunks", begin, 900_000, module_name="jit_step")
            for kernel in range(2):
                number_ = 10 * run + kernel + 1
                launch = begin + 10_000 * (kernel + 1)
                host.event(thread, "cuLaunchKernel", launch, 2_000, correlation_id=number_, device_id=index)
                described = {"hlo_op": f"fusion.{kernel}", "hlo_module": "jit_step", "program_id": 4}
                device.event(stream, f"fusion_{kernel}", launch + 5_000, 4_000, correlation_id=number_, **described)
    return (host, *devices)
