"""Decides from samples of Tensor Core activity which kernels use Tensor Cores.

A sample covers the time since the previous one on the same GPU. It counts for a kernel that ran alone during all of
that time. Launches of the same full name run the same instructions, so their samples are evaluated together.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.classify.classes import KernelClass, MatrixUnit
from tensorboard_plugin_dlprof.columns.group import numbered, rows_by_value
from tensorboard_plugin_dlprof.events.tables import Capture, DeviceWork, Int64s, TensorSamples, WorkKind
from tensorboard_plugin_dlprof.profile.tables import Kernels

RULE: Final = "counter Tensor Active"

USED_PERCENT: Final = 1.0
"""A kernel uses Tensor Cores if the mean of its samples is at least this. Less may be noise of whole percents."""

UNUSED_SAMPLES: Final = 3
"""At least this many samples, all zero, prove that a kernel does not use them."""

_GAP: Final = 4
"""A sample that comes more than this many median intervals after the previous one follows a gap and is ignored."""


def use_samples(capture: Capture, kernels: Kernels, classes: dict[int, KernelClass]) -> None:
    """Override the classes of kernels (by text id of the long name), and their use of matrix units, if samples prove
    it."""
    units = {name: unit for name, unit in proven(capture.tensor_samples, capture.work).items() if name in classes}
    for name, unit in units.items():
        classes[name] = msgspec.structs.replace(classes[name], matrix_unit=unit, rule=RULE)
    kernels.override_units(units)


def proven(samples: TensorSamples, work: DeviceWork) -> dict[int, MatrixUnit]:
    """``YES`` or ``NO`` by text id of a kernel's long name, for the kernels whose samples prove either."""
    names, values = _attributed(samples, work)
    if not len(names):
        return {}
    results, number = numbered(names)
    count = np.bincount(number)
    mean, active = np.bincount(number, values) / count, np.bincount(number, values != 0)
    result: dict[int, MatrixUnit] = {}
    for row, name in enumerate(results.tolist()):
        if mean[row] >= USED_PERCENT:
            result[name] = MatrixUnit.YES
        elif count[row] >= UNUSED_SAMPLES and not active[row]:
            result[name] = MatrixUnit.NO
    return result


def _attributed(samples: TensorSamples, work: DeviceWork) -> tuple[Int64s, Int64s]:
    """The samples that count for a kernel: text ids of its long name, and values in percent."""
    names = [np.zeros(0, np.int64)]
    values = [np.zeros(0, np.int64)]
    work_of = _work_by_device(work) if len(samples.device) else {}
    for device, of_device in rows_by_value(samples.device):
        time, value = samples.time_ns[of_device], samples.active_percent[of_device]
        if len(time) < 2 or device not in work_of:
            continue
        start, end = time[:-1], time[1:]
        usual = end - start <= _GAP * np.median(end - start)
        kernel = _alone(work, work_of[device], start, end)
        counts = usual & (kernel >= 0) & (work.name[kernel] > 0)
        names.append(work.name[kernel[counts]].astype(np.int64))
        values.append(value[1:][counts])
    return np.concatenate(names), np.concatenate(values)


def _work_by_device(work: DeviceWork) -> dict[int, Int64s]:
    """For each device, the rows of kernels and of graphs that were recorded as a whole, by start."""
    rows = np.flatnonzero((work.kind == WorkKind.KERNEL) | (work.kind == WorkKind.GRAPH))
    rows = rows[np.argsort(work.start_ns[rows], kind="stable")]
    return {device: rows[of_device] for device, of_device in rows_by_value(work.device[rows])}


def _alone(work: DeviceWork, rows: Int64s, start: Int64s, end: Int64s) -> Int64s:
    """Row of the kernel that ran alone on a device during all of each interval; -1 if none did.

    A graph that was recorded as a whole hides its kernels, so no kernel runs alone during it.

    Args:
        rows: The rows of one device, from ``_work_by_device``; at least one.
    """
    starts, ends = work.start_ns[rows], work.end_ns[rows]
    latest = np.maximum.accumulate(ends)
    place = np.searchsorted(starts, start, side="right") - 1
    at = np.maximum(place, 0)
    covered = (place >= 0) & (ends[at] >= end)
    none_before = (at == 0) | (latest[np.maximum(at - 1, 0)] <= start)
    following = np.append(starts, np.iinfo(np.int64).max)[at + 1]
    is_kernel = work.kind[rows[at]] == WorkKind.KERNEL
    return np.where(covered & none_before & (following >= end) & is_kernel, rows[at], -1)
