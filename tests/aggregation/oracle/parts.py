"""The seven parts of the wall time, for each GPU and on the average of those in use."""

from __future__ import annotations

from typing import Any

from tensorboard_plugin_dlprof.profile.tables import Profile
from tests.aggregation.oracle.rows import UNKNOWN, YES, RawRows
from tests.aggregation.oracle.time_line import CPU, IO, LOADER, MEMORY, OTHER_KERNEL, TENSOR_CORE, walk


def parts_of(raw: RawRows, profile: Profile, windows: list[tuple[int, int, int]]) -> dict[str, Any]:
    """By walking through time: between two neighbouring boundaries the first active kind has it all."""
    if profile.dlprof_markers:
        cpu = [(instance["cpu_start"], instance["cpu_stop"]) for instance in raw.instances]
    else:
        cpu = [
            (instance["cpu_start"], instance["cpu_stop"])
            for instance in raw.instances
            if not instance["op"]["unassociated"]
        ]
        cpu += raw.calls
    loader = list(zip(profile.data_loader.start_ns.tolist(), profile.data_loader.stop_ns.tolist(), strict=True))
    io = list(zip(profile.io.start_ns.tolist(), profile.io.stop_ns.tolist(), strict=True))
    devices = [device.device_id for device in profile.devices]
    used = {work["device"] for work in raw.kernels + raw.memory + raw.graphs}
    by_device, unknown = {}, {}
    everywhere: list[int | None] = [*devices]
    for device in everywhere or [None]:
        spans = {
            TENSOR_CORE: [k["gpu"] for k in raw.kernels if k["device"] == device and k["unit"] == YES],
            OTHER_KERNEL: [k["gpu"] for k in raw.kernels if k["device"] == device and k["unit"] != YES]
            + [graph["gpu"] for graph in raw.graphs if graph["device"] == device],
            MEMORY: [work["gpu"] for work in raw.memory if work["device"] == device],
            LOADER: loader,
            IO: io,
            CPU: cpu,
        }
        by_device[device] = [walk(spans, start, stop) for _, start, stop in windows]
        # What may be on Tensor Cores, without what is known to be.
        may_be = {
            TENSOR_CORE: spans[TENSOR_CORE],
            OTHER_KERNEL: [k["gpu"] for k in raw.kernels if k["device"] == device and k["unit"] == UNKNOWN]
            + [graph["gpu"] for graph in raw.graphs if graph["device"] == device],
        }
        unknown[device] = [walk(may_be, start, stop)[OTHER_KERNEL] for _, start, stop in windows]
    in_use = [device for device in devices if device in used] or list(by_device)[:1]
    mean = []
    for window, (_, start, stop) in enumerate(windows):
        parts = [sum(by_device[device][window][part] for device in in_use) // len(in_use) for part in range(6)]
        mean.append([*parts, stop - start - sum(parts)])
    totals = [[sum(column) for column in zip(*by_device[device], strict=True)] for device in devices]
    return {
        "mean": mean,
        "devices": totals,
        "unknown": [sum(unknown[device][window] for device in in_use) // len(in_use) for window in range(len(windows))],
        "unknown of devices": [sum(unknown[device]) for device in devices],
    }
