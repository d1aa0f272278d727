"""Determines the family, precision and occupancy of each kernel, from its name and launch configuration."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.aggregation.grouping import alike
from tensorboard_plugin_dlprof.classify.classes import KernelClass
from tensorboard_plugin_dlprof.classify.kernels import classify
from tensorboard_plugin_dlprof.classify.vocabulary import PRODUCT_FAMILIES
from tensorboard_plugin_dlprof.columns.group import numbered
from tensorboard_plugin_dlprof.efficiency.occupancy import occupancy, tail_fraction, waves
from tensorboard_plugin_dlprof.efficiency.tables import Floats, Int16s, KernelFacts
from tensorboard_plugin_dlprof.events.tables import Int32s, Int64s
from tensorboard_plugin_dlprof.profile.tables import Profile

_Values = TypeVar("_Values", bound=npt.NDArray[Any])


def kernel_facts(profile: Profile) -> KernelFacts:
    """The facts of all kernels of a profile."""
    kernels = profile.kernels
    names, position = numbered(kernels.long_name)
    classes = [_class_of(profile, int(name)) for name in names.tolist()]
    precisions, families = _numbered([c.precision for c in classes]), _numbered([c.family for c in classes])
    libraries, arithmetics = _numbered([c.library for c in classes]), _numbered([_arithmetic(c) for c in classes])
    product = np.array([c.family in PRODUCT_FAMILIES for c in classes], np.bool_)
    precision, family, library = (each(texts[1], position) for texts in (precisions, families, libraries))
    launch = _launches(profile)
    return KernelFacts(
        duration=kernels.end_ns - kernels.start_ns,
        product=each(product, position),
        precision=precision,
        precisions=precisions[0],
        arithmetic=each(arithmetics[1], position),
        arithmetics=arithmetics[0],
        family=family,
        families=families[0],
        library=library,
        libraries=libraries[0],
        occupancy=launch[0],
        achieved=_achieved(profile),
        waves=launch[1],
        tail=launch[2],
        limiter=launch[3],
        limiters=_LIMITERS,
    )


_LIMITERS = ["", "warps", "blocks", "registers", "shared_memory"]


def _arithmetic(kind: KernelClass) -> str:
    """The type in which a kernel computes without matrix units.

    Plain units have a rate of their own for 16-bit types only if the sums have 16 bits, too. Frameworks and libraries
    request FP32 sums, for which 16-bit tensors are converted first (PyTorch's ``opmath_t``, cuBLAS's ``fp16_sgemm``).
    The exceptions are known by name: ``hgemm``.
    """
    is_half = kind.precision in ("fp16", "bf16")
    return "fp32" if is_half and kind.accumulator != kind.precision else kind.precision


def _class_of(profile: Profile, name: int) -> KernelClass:
    """The class of a kernel name; classified here for NVIDIA's databases, which store no classes."""
    return profile.kernel_classes.get(name) or classify(profile.strings[name])


def _numbered(texts: list[str]) -> tuple[list[str], Int16s]:
    ids: dict[str, int] = {"": 0}
    numbers = [ids.setdefault(text, len(ids)) for text in texts]
    return list(ids), np.array(numbers, np.int16)


def each(values: _Values, number: Int64s) -> _Values:
    """``values[number]``; a view of one value, without memory of its own, if all rows have the same one."""
    if len(values) == 1 or (len(values) and (values == values[0]).all()):
        return cast(_Values, np.broadcast_to(values[0], len(number)))
    return cast(_Values, values[number])


def _achieved(profile: Profile) -> Floats:
    """Achieved occupancy of each kernel: measured by counters, else estimated by the profiler; NaN unknown.

    Kineto estimates 0 where it cannot tell, and where it is below 1 %: which of both is unknown.
    """
    counters = profile.counters
    percent, number = numbered(profile.kernels.occupancy_percent)
    achieved = each(np.where(percent > 0, np.minimum(percent, 100) / 100, np.nan), number)
    measured = ~np.isnan(counters.achieved_occupancy)
    if measured.any():
        achieved = achieved.copy()
        achieved[counters.kernel[measured]] = counters.achieved_occupancy[measured]
    return achieved


def _launches(profile: Profile) -> tuple[Floats, Floats, Floats, Int16s]:
    """Occupancy, waves, tail and limiter: computed once for each distinct launch configuration."""
    kernels = profile.kernels
    count = len(kernels.op)
    devices = {device.device_id: device for device in profile.devices}
    if not count or not any(_capability(device.name, device.capability_major) for device in devices.values()):
        nothing = np.broadcast_to(np.nan, count)
        return nothing, nothing, nothing, np.broadcast_to(np.int16(0), count)
    threads, blocks = _product(kernels.block), _product(kernels.grid)
    number, first = alike(
        kernels.device, threads, blocks, kernels.registers, kernels.static_shared_bytes, kernels.dynamic_shared_bytes
    )
    answers = np.full((len(first), 3), np.nan)
    limiter = np.zeros(len(first), np.int16)
    for row, kernel in enumerate(first.tolist()):
        device = devices.get(int(kernels.device[kernel]))
        if device is None or not _capability(device.name, device.capability_major):
            continue
        reached = occupancy(
            (device.capability_major, device.capability_minor),
            int(threads[kernel]),
            int(kernels.registers[kernel]),
            int(kernels.static_shared_bytes[kernel]),
            int(kernels.dynamic_shared_bytes[kernel]),
        )
        if reached is None:
            continue
        answers[row, 0] = reached.fraction
        limiter[row] = _LIMITERS.index(reached.limiter)
        full = waves(int(blocks[kernel]), reached.blocks_per_sm, device.sm_count)
        if full is not None:
            answers[row, 1:] = full, tail_fraction(full)
    del threads, blocks
    return (
        each(answers[:, 0], number),
        each(answers[:, 1], number),
        each(answers[:, 2], number),
        each(limiter, number),
    )


def _product(triples: Int32s) -> Int64s:
    """The product of the three numbers in each row."""
    x, y, z = (triples[:, axis] for axis in range(3))
    product: Int64s = x.astype(np.int64)
    product *= y
    product *= z
    return product


def _capability(name: str, major: int) -> bool:
    """Whether the capability is NVIDIA's; AMD's devices report the number of their architecture instead."""
    return major > 0 and not any(word in name for word in ("AMD", "Instinct", "Radeon"))
