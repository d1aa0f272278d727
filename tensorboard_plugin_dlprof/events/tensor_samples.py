"""What samples of the Tensor Cores prove of kernels.

A sample stands for the time since the one before it on its GPU. It counts for a kernel that ran during all of that time
with no other beside it. Instructions belong to the code, so samples of all launches of a full name are taken together.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.classify.classes import KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.distinct import distinct_values
from tensorboard_plugin_dlprof.events.tables import Capture, DeviceWork, Int64s, TensorSamples, WorkKind
from tensorboard_plugin_dlprof.profile.tables import Kernels

RULE: Final = "counter Tensor Active"

USED_PERCENT: Final = 1.0
"""Mean of the samples from which on a kernel uses Tensor Cores. Samples are whole percents, so less may be an edge."""

UNUSED_SAMPLES: Final = 3
"""Zeros that prove that it does not."""

_GAP: Final = 4
"""A sample that comes later than so many usual intervals after the one before it stands for a gap."""


def use_samples(capture: Capture, kernels: Kernels, classes: dict[int, KernelClass]) -> None:
    """Overrides the classes of kernels, and their use of matrix units, where the samples of a capture prove it."""
    for name, unit in proven(capture.tensor_samples, capture.work).items():
        if name in classes:
            classes[name] = msgspec.structs.replace(classes[name], matrix_unit=unit, rule=RULE)
            kernels.matrix_unit[kernels.long_name == name] = unit


def proven(samples: TensorSamples, work: DeviceWork) -> dict[int, MatrixUnit]:
    """Text id of a kernel's long name -> what its samples prove."""
    names, values = _attributed(samples, work)
    result: dict[int, MatrixUnit] = {}
    for name in distinct_values(names[names > 0]).tolist():
        of_name = values[names == name]
        if of_name.mean() >= USED_PERCENT:
            result[name] = MatrixUnit.YES
        elif len(of_name) >= UNUSED_SAMPLES and not of_name.any():
            result[name] = MatrixUnit.NO
    return result


def _attributed(samples: TensorSamples, work: DeviceWork) -> tuple[Int64s, Int64s]:
    """Long name that each sample counts for (0: none), and the samples' values."""
    names = [np.zeros(0, np.int64)]
    values = [np.zeros(0, np.int64)]
    for device in distinct_values(samples.device).tolist():
        of_device = samples.device == device
        time, value = samples.time_ns[of_device], samples.active_percent[of_device]
        if len(time) < 2:
            continue
        start, end = time[:-1], time[1:]
        usual = end - start <= _GAP * np.median(end - start)
        kernel = _alone(work, device, start, end)
        names.append(np.where(usual & (kernel >= 0), work.name[kernel].astype(np.int64), 0))
        values.append(value[1:])
    return np.concatenate(names), np.concatenate(values)


def _alone(work: DeviceWork, device: int, start: Int64s, end: Int64s) -> npt.NDArray[np.int64]:
    """Row of the kernel that ran alone on the device through all of each interval; -1 where none did.

    A graph that was recorded as a whole hides its kernels, so it stands beside every kernel.
    """
    busy = (work.device == device) & np.isin(work.kind, (WorkKind.KERNEL, WorkKind.GRAPH))
    rows = np.flatnonzero(busy)
    if not len(rows):
        return np.full(len(start), -1, np.int64)
    rows = rows[np.argsort(work.start_ns[rows], kind="stable")]
    starts, ends = work.start_ns[rows], work.end_ns[rows]
    latest = np.maximum.accumulate(ends)
    place = np.searchsorted(starts, start, side="right") - 1
    at = np.maximum(place, 0)
    covered = (place >= 0) & (ends[at] >= end)
    none_before = (at == 0) | (latest[np.maximum(at - 1, 0)] <= start)
    following = np.append(starts, np.iinfo(np.int64).max)[at + 1]
    is_kernel = work.kind[rows[at]] == WorkKind.KERNEL
    return np.where(covered & none_before & (following >= end) & is_kernel, rows[at], -1)
