"""Reads the device events of an Nsight Systems export: kernels, copies, sets, whole graphs, synchronisations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.events.tables import COPIES, DeviceWork, Int32s, Strings, Syncs, WorkKind
from tensorboard_plugin_dlprof.importers.kernel_names import short_kernel_name
from tensorboard_plugin_dlprof.importers.memo import Memo
from tensorboard_plugin_dlprof.importers.nsight.batches import Batch, mapped, narrow, possible
from tensorboard_plugin_dlprof.importers.nsight.devices import Devices
from tensorboard_plugin_dlprof.importers.nsight.export import Export
from tensorboard_plugin_dlprof.importers.nsight.ids import Names, process_of

_TABLES = (
    (WorkKind.KERNEL, "CUPTI_ACTIVITY_KIND_KERNEL", "kernels"),
    (WorkKind.MEMCPY, "CUPTI_ACTIVITY_KIND_MEMCPY", "memory copies"),
    (WorkKind.MEMSET, "CUPTI_ACTIVITY_KIND_MEMSET", "memory sets"),
    (WorkKind.GRAPH, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA graph launches"),
)

_COPY_NAMES = [*(f"Memcpy {copy}" for copy in COPIES), *(f"Unified memory {copy}" for copy in ("HtoD", "DtoH", "DtoD"))]
"""CUPTI's kinds of copies, from 1."""

_NEEDED = ("start", "end")
_PLACE = (*_NEEDED, "globalPid", "deviceId", "streamId", "correlationId")
_GEOMETRY = ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
_DETAILS = (
    *("registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "bytes", "copyKind", "graphNodeId"),
    *("demangledName", "shortName", "srcKind", "dstKind"),
)
"""Columns of which each table has some; the others read as -1."""

_MEMORY = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed"}
"""CUPTI's kinds of memory."""


def _copy_name(key: int) -> str:
    """``Memcpy HtoD (Pageable -> Device)``, as PyTorch's profiler names copies; without kinds of memory that were not
    recorded. The key has the kind of copy and of both memories, each plus 1."""
    kind = (key >> 32) - 1
    name = _COPY_NAMES[kind - 1] if 0 < kind <= len(_COPY_NAMES) else "Memcpy"
    source, target = _MEMORY.get((key >> 16 & 0xFFFF) - 1), _MEMORY.get((key & 0xFFFF) - 1)
    return f"{name} ({source} -> {target})" if source and target else name


class WorkReader:
    """Reads the tables of device events."""

    def __init__(self, export: Export, strings: Strings, names: Names, devices: Devices, tally: Counter[str]) -> None:
        self._export = export
        self._strings = strings
        self._names = names
        self._devices = devices
        self._tally = tally
        self._short = Memo(lambda name: strings.intern(short_kernel_name(strings[name])))
        """Full name -> short name; making one takes as long as reading hundreds of kernels."""

    def read(self) -> DeviceWork:
        """Kernels, copies, sets and graphs, in this order."""
        work = GrowingTable(self._export.store)
        for kind, base, what in _TABLES:
            self._read_table(work, kind, base, what)
        geometry = work.take("geometry", np.int32).reshape(-1, 6)
        return work.table(
            DeviceWork,
            grid=geometry[:, :3],
            block=geometry[:, 3:],
            occupancy_percent=np.full(len(geometry), -1, np.int32),
        )

    def read_syncs(self) -> Syncs:
        """Synchronisations of streams, events and devices."""
        syncs = GrowingTable(self._export.store)
        base, wanted = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", (*_PLACE, "syncType", "eventId")
        for batch in self._export.batches(base, wanted, needed=_NEEDED, doing="reading synchronisations"):
            rows = self._placed(syncs, batch, "synchronisations")
            syncs.add(sync_type=narrow(rows["syncType"]), event_id=rows["eventId"])
        return syncs.table(Syncs)

    def _read_table(self, work: GrowingTable, kind: WorkKind, base: str, what: str) -> None:
        wanted = (*_PLACE, *_GEOMETRY, *_DETAILS)
        # Exports by tools that imitate Nsight may contain kernel names instead of their ids.
        direct = kind == WorkKind.KERNEL and self._export.value_type(base, "demangledName") == "text"
        text = "demangledName" if direct else ""
        for batch in self._export.batches(base, wanted, needed=_NEEDED, text=text, doing=f"reading {what}"):
            rows = self._placed(work, batch, what)
            name, short_name = self._direct_names(rows.texts) if direct else self._work_names(kind, rows)
            work.add(
                kind=np.full(len(rows), kind, np.int8),
                name=name,
                short_name=short_name,
                geometry=np.stack([narrow(rows[column]) for column in _GEOMETRY], axis=1).reshape(-1),
                registers=narrow(rows["registersPerThread"]),
                static_shared_bytes=rows["staticSharedMemory"],
                dynamic_shared_bytes=rows["dynamicSharedMemory"],
                num_bytes=rows["bytes"],
                copy_kind=narrow(rows["copyKind"]),
                graph_node=rows["graphNodeId"],
            )

    def _placed(self, table: GrowingTable, batch: Batch, what: str) -> Batch:
        """The rows with possible times, whose times and places are added; the others are counted as skipped."""
        usable = possible(batch["start"], batch["end"])
        self._tally[f"{what} with impossible times"] += np.count_nonzero(~usable)
        rows = batch.only(usable)
        process = process_of(rows["globalPid"])
        table.add(start_ns=rows["start"], end_ns=rows["end"], process=narrow(process), stream=rows["streamId"])
        table.add(device=self._devices.ids(process, rows["deviceId"]), correlation=rows["correlationId"])
        return rows

    def _direct_names(self, texts: Sequence[bytes]) -> tuple[Int32s, Int32s]:
        names = np.array([self._strings.intern(text.decode("utf-8", "replace")) for text in texts], np.int32)
        return names, self._short_names(names)

    def _work_names(self, kind: WorkKind, rows: Batch) -> tuple[Int32s, Int32s]:
        if kind == WorkKind.KERNEL:
            long_name, short_name = (self._names.resolve(rows[name]) for name in ("demangledName", "shortName"))
            long_name = np.where(long_name == 0, short_name, long_name)
            nameless = np.flatnonzero(short_name == 0)
            if len(nameless):
                short_name[nameless] = self._short_names(long_name[nameless])
            return long_name, short_name
        if kind == WorkKind.MEMCPY:
            copy_kind, source, target = (
                np.clip(rows[name], -1, 255) + 1 for name in ("copyKind", "srcKind", "dstKind")
            )
            key = copy_kind << 32 | source << 16 | target
            name = mapped(key, Memo(lambda each: self._strings.intern(_copy_name(each))))
        else:
            text = "Memset" if kind == WorkKind.MEMSET else "CUDA graph"
            name = np.full(len(rows), self._strings.intern(text), np.int32)
        return name, name

    def _short_names(self, names: Int32s) -> Int32s:
        """Short name of each full name."""
        return mapped(names, self._short)
