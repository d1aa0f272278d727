"""What the rates need of each kernel: family, precision and occupancy, by name and launch configuration."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import codes
from tensorboard_plugin_dlprof.classify.classes import KernelClass
from tensorboard_plugin_dlprof.classify.kernels import classify
from tensorboard_plugin_dlprof.efficiency.occupancy import occupancy, tail_fraction, waves
from tensorboard_plugin_dlprof.efficiency.tables import Floats, KernelFacts
from tensorboard_plugin_dlprof.efficiency.work import PRODUCTS
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile


def kernel_facts(profile: Profile) -> KernelFacts:
    """The facts of all kernels."""
    kernels = profile.kernels
    names, position = np.unique(kernels.long_name, return_inverse=True)
    classes = [_class_of(profile, int(name)) for name in names.tolist()]
    precisions, families = _numbered([c.precision for c in classes]), _numbered([c.family for c in classes])
    libraries = _numbered([c.library for c in classes])
    precision, family = _of_names(precisions[1], position), _of_names(families[1], position)
    product = np.array([c.family in PRODUCTS for c in classes], np.bool_)
    launch = _launches(profile)
    return KernelFacts(
        duration=kernels.gpu_stop - kernels.gpu_start,
        product=product[position.reshape(-1)] if len(names) else np.zeros(0, np.bool_),
        precision=precision,
        precisions=precisions[0],
        family=family,
        families=families[0],
        library=_of_names(libraries[1], position),
        libraries=libraries[0],
        occupancy=launch[0],
        achieved=_achieved(profile),
        waves=launch[1],
        tail=launch[2],
        limiter=launch[3],
        limiters=_LIMITERS,
    )


_LIMITERS = ["", "warps", "blocks", "registers", "shared_memory"]


def _class_of(profile: Profile, name: int) -> KernelClass:
    """Databases of NVIDIA's hold no classes, but the names that tell them."""
    return profile.kernel_classes.get(name) or classify(profile.strings[name])


def _numbered(texts: list[str]) -> tuple[list[str], Int64s]:
    ids: dict[str, int] = {"": 0}
    numbers = [ids.setdefault(text, len(ids)) for text in texts]
    return list(ids), np.array(numbers, np.int64)


def _of_names(numbers: Int64s, position: Int64s) -> Int64s:
    return numbers[position.reshape(-1)] if len(numbers) else np.zeros(0, np.int64)


def _achieved(profile: Profile) -> Floats:
    """As counters measured it, else as the profiler estimated it."""
    percent, counters = profile.kernels.occupancy_percent, profile.counters
    achieved = np.where(percent >= 0, np.minimum(percent, 100) / 100, np.nan)
    measured = ~np.isnan(counters.achieved_occupancy)
    achieved[counters.kernel[measured]] = counters.achieved_occupancy[measured]
    return achieved


def _launches(profile: Profile) -> tuple[Floats, Floats, Floats, Int64s]:
    """Occupancy, waves, tail and limiter: computed once for each distinct launch configuration."""
    kernels = profile.kernels
    count = len(kernels.op)
    nothing = np.full(count, np.nan)
    devices = {device.device_id: device for device in profile.devices}
    if not count or not any(_capability(device.name, device.capability_major) for device in devices.values()):
        return nothing, nothing.copy(), nothing.copy(), np.zeros(count, np.int64)
    threads = kernels.block.astype(np.int64).prod(axis=1)
    blocks = kernels.grid.astype(np.int64).prod(axis=1)
    number, first = codes(
        kernels.device, threads, blocks, kernels.registers, kernels.static_shared_bytes, kernels.dynamic_shared_bytes
    )
    answers = np.full((len(first), 3), np.nan)
    limiter = np.zeros(len(first), np.int64)
    for row, kernel in enumerate(first.tolist()):
        device = devices.get(int(kernels.device[kernel]))
        if device is None or not _capability(device.name, device.capability_major):
            continue
        found = occupancy(
            (device.capability_major, device.capability_minor),
            int(threads[kernel]),
            int(kernels.registers[kernel]),
            int(kernels.static_shared_bytes[kernel]),
            int(kernels.dynamic_shared_bytes[kernel]),
        )
        if found is None:
            continue
        answers[row, 0] = found.fraction
        limiter[row] = _LIMITERS.index(found.limiter)
        full = waves(int(blocks[kernel]), found.blocks_per_sm, device.sm_count)
        if full is not None:
            answers[row, 1:] = full, tail_fraction(full)
    columns = answers[number]
    return columns[:, 0], columns[:, 1], columns[:, 2], limiter[number]


def _capability(name: str, major: int) -> bool:
    """Whether the capability is one of NVIDIA's: AMD's devices report the number of their architecture."""
    return major > 0 and not any(word in name for word in ("AMD", "Instinct", "Radeon"))
