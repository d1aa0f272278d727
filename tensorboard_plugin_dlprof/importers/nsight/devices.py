"""Reads the GPUs of an Nsight Systems export, and maps the device numbers of a process to them."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import Device, Int32s, Int64s
from tensorboard_plugin_dlprof.importers.memo import Memo
from tensorboard_plugin_dlprof.importers.nsight.batches import mapped
from tensorboard_plugin_dlprof.importers.nsight.export import Export

_MOST_DEVICES = 1 << 16

_GPU_COLUMNS = ("id", "name", "computeMajor", "computeMinor", "smCount", "totalMemory", "cuDevice")
_CUPTI_COLUMNS = (
    "deviceId",
    "name",
    "computeCapabilityMajor",
    "computeCapabilityMinor",
    "numMultiprocessors",
    "globalMemorySize",
)
"""The same columns in ``TARGET_INFO_CUDA_GPU``, which has CUPTI's names."""


class Devices:
    """The GPUs that can run CUDA, and the mapping from CUDA ordinals to them.

    ``deviceId`` of device work is a CUDA ordinal of its process, which ``CUDA_VISIBLE_DEVICES`` renumbers.
    ``TARGET_INFO_CUDA_DEVICE`` maps (process, ordinal) to a GPU; without it, the ordinal is the GPU's id. Older exports
    have one ordinal for all processes, which ``TARGET_INFO_GPU.cuDevice`` tells of each GPU. Until early 2021, ordinals
    and CUDA's properties of the GPUs were in a separate table, ``TARGET_INFO_CUDA_GPU``.
    """

    def __init__(self, export: Export) -> None:
        self._gpus: dict[int, Device] = {}
        self._has_ordinals = False
        self._by_process: dict[tuple[int, int], int] = {}
        self._known = Memo(lambda pair: self._id(*divmod(pair, 2 * _MOST_DEVICES)))
        """Process and ordinal as one number -> GPU id."""
        for row in export.rows("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")):
            gpu, ordinal, process = (_number(row[name], -1) for name in ("gpuId", "cudaId", "pid"))
            if 0 <= gpu < _MOST_DEVICES and ordinal >= 0:
                self._by_process[process, ordinal] = gpu
        for row in export.rows("TARGET_INFO_GPU", _GPU_COLUMNS):
            self._add_gpu(row)
        for row in () if self._has_ordinals else export.rows("TARGET_INFO_CUDA_GPU", _CUPTI_COLUMNS):
            self._add_cuda_gpu(row)

    def ids(self, process: Int64s, ordinal: Int64s) -> Int32s:
        """GPU id for each (process, CUDA ordinal); -1 for an impossible ordinal."""
        possible = np.where((ordinal >= 0) & (ordinal < _MOST_DEVICES), ordinal, _MOST_DEVICES)
        pairs = process * (2 * _MOST_DEVICES) + possible
        return mapped(pairs, self._known)

    def table(self, used: Int32s) -> list[Device]:
        """The GPUs ordered by id, with a nameless one for each that work refers to but the export does not list."""
        missing = {
            int(device): Device(int(device)) for device in distinct_values(used) if int(device) not in self._gpus
        }
        return [
            msgspec.structs.replace(device, cuda_ordinal=self._ordinal(number))
            for number, device in sorted({**self._gpus, **missing}.items())
        ]

    def _ordinal(self, gpu: int) -> int:
        """The ordinal of a GPU in the processes whose work was asked for; -1 if the export maps none, or several."""
        if not (self._by_process or self._has_ordinals):
            return -1
        found = {pair % (2 * _MOST_DEVICES) for pair, known in self._known.items() if known == gpu}
        return int(found.pop()) if len(found) == 1 else -1

    def _id(self, process: int, ordinal: int) -> int:
        if ordinal == _MOST_DEVICES:
            return -1
        return self._by_process.get((process, ordinal), ordinal)

    def _add_gpu(self, row: dict[str, object]) -> None:
        """Adds a GPU, unless it is a display adapter of another vendor, which is listed with a capability of 0.0."""
        device_id, ordinal, major = (_number(row[name], -1) for name in ("id", "cuDevice", "computeMajor"))
        if major != 0 and ordinal >= 0:
            self._has_ordinals = True
            device_id = device_id if self._by_process else ordinal
        if not 0 <= device_id < _MOST_DEVICES or major == 0 or device_id in self._gpus:
            return
        self._gpus[device_id] = _device(device_id, *(row[column] for column in _GPU_COLUMNS[1:-1]))

    def _add_cuda_gpu(self, row: dict[str, object]) -> None:
        """Adds a GPU by its ordinal, as in work; replaces one with that number and an unknown capability."""
        gpu = _device(*(row[column] for column in _CUPTI_COLUMNS))
        known = self._gpus.get(gpu.device_id)
        if 0 <= gpu.device_id < _MOST_DEVICES and (known is None or not known.capability_major):
            self._gpus[gpu.device_id] = gpu


def _device(number: object, name: object, major: object, minor: object, sm_count: object, memory: object) -> Device:
    return Device(
        device_id=_number(number, -1),
        name=name if isinstance(name, str) else "",
        capability_major=max(0, _number(major, 0)),
        capability_minor=max(0, _number(minor, 0)),
        sm_count=max(0, _number(sm_count, 0)),
        memory_bytes=max(0, _number(memory, 0)),
    )


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
