"""Reads the device events of an Nsight Systems export: kernels, copies, sets, whole graphs, synchronisations."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.events.tables import DeviceWork, Int32s, Int64s, Strings, Syncs, WorkKind
from tensorboard_plugin_dlprof.importers.kernel_names import short_kernel_name
from tensorboard_plugin_dlprof.importers.nsight.columns import Batches, mapped, narrow, possible
from tensorboard_plugin_dlprof.importers.nsight.devices import Devices
from tensorboard_plugin_dlprof.importers.nsight.export import NO_TIME, Column, Export, Tally
from tensorboard_plugin_dlprof.importers.nsight.ids import Names, process_of
from tensorboard_plugin_dlprof.importers.nsight.read_columns import Batch

_TABLES = (
    (WorkKind.KERNEL, "CUPTI_ACTIVITY_KIND_KERNEL", "kernels"),
    (WorkKind.MEMCPY, "CUPTI_ACTIVITY_KIND_MEMCPY", "memory copies"),
    (WorkKind.MEMSET, "CUPTI_ACTIVITY_KIND_MEMSET", "memory sets"),
    (WorkKind.GRAPH, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA graph launches"),
)

_COPY_NAMES = {
    1: "Memcpy HtoD",
    2: "Memcpy DtoH",
    3: "Memcpy HtoA",
    4: "Memcpy AtoH",
    5: "Memcpy AtoA",
    6: "Memcpy AtoD",
    7: "Memcpy DtoA",
    8: "Memcpy DtoD",
    9: "Memcpy HtoH",
    10: "Memcpy PtoP",
    11: "Unified memory HtoD",
    12: "Unified memory DtoH",
    13: "Unified memory DtoD",
}
"""CUPTI's kinds of copies."""

_PLACE = (
    Column("start", NO_TIME),
    Column("end", NO_TIME),
    Column("globalPid"),
    Column("deviceId", 0),
    Column("streamId"),
    Column("correlationId"),
)
"""The first columns of every device event. An export without device numbers has a single device."""

_GEOMETRY = tuple(Column(name, 0) for name in ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"))

_DETAILS = tuple(
    Column(name)
    for name in (
        "registersPerThread",
        "staticSharedMemory",
        "dynamicSharedMemory",
        "bytes",
        "copyKind",
        "graphNodeId",
        "demangledName",
        "shortName",
        "srcKind",
        "dstKind",
    )
)
"""Columns of which each table has some; the others read as -1."""


_MEMORY = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed"}
"""CUPTI's kinds of memory."""


def _copy_name(key: int) -> str:
    """``Memcpy HtoD (Pageable -> Device)``, as PyTorch's profiler names copies; without kinds of memory that were not
    recorded. The key has the kind of copy and of both memories, each plus 1."""
    name = _COPY_NAMES.get((key >> 32) - 1, "Memcpy")
    source, target = _MEMORY.get((key >> 16 & 0xFFFF) - 1), _MEMORY.get((key & 0xFFFF) - 1)
    return f"{name} ({source} -> {target})" if source and target else name


class WorkReader:
    """Reads the tables of device events."""

    def __init__(self, export: Export, strings: Strings, names: Names, devices: Devices, tally: Tally) -> None:
        self._export = export
        self._strings = strings
        self._names = names
        self._devices = devices
        self._tally = tally
        self._short: dict[int, int] = {}
        """Full name -> short name."""

    def read(self) -> DeviceWork:
        """Kernels, copies, sets and graphs, in this order."""
        batches = Batches(self._export.store)
        for kind, base, what in _TABLES:
            table = self._export.table(base, needed=("start", "end"))
            if table is not None:
                self._read_table(batches, kind, table, what)
        geometry = batches.take("geometry", np.int32).reshape(-1, 6)
        return batches.table(
            DeviceWork,
            grid=geometry[:, :3],
            block=geometry[:, 3:],
            occupancy_percent=np.full(len(geometry), -1, np.int32),
        )

    def read_syncs(self) -> Syncs:
        """Synchronisations of streams, events and devices."""
        batches = Batches(self._export.store)
        table = self._export.table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", needed=("start", "end"))
        if table is not None:
            wanted = [*_PLACE, Column("syncType"), Column("eventId")]
            for batch in self._export.batches(table, wanted, doing="reading synchronisations"):
                rows = self._usable(batch, "synchronisations")
                start, end, global_pid, device, stream, correlation, kind, event = [v[rows] for v in batch.integers]
                process = process_of(global_pid)
                batches.add(start_ns=start, end_ns=end, process=narrow(process))
                batches.add(device=self._devices.ids(process, device), stream=stream, correlation=correlation)
                batches.add(sync_type=narrow(kind), event_id=event)
        return batches.table(Syncs)

    def _read_table(self, batches: Batches, kind: WorkKind, table: str, what: str) -> None:
        wanted = [*_PLACE, *_GEOMETRY, *_DETAILS]
        # Exports by tools that imitate Nsight may contain kernel names instead of their ids.
        direct = kind == WorkKind.KERNEL and self._export.value_type(table, "demangledName") == "text"
        text = "demangledName" if direct else None
        for batch in self._export.batches(table, wanted, text=text, doing=f"reading {what}"):
            rows = self._usable(batch, what)
            start, end, global_pid, device, stream, correlation = [column[rows] for column in batch.integers[:6]]
            geometry = np.stack([narrow(column[rows]) for column in batch.integers[6:12]], axis=1)
            details = [column[rows] for column in batch.integers[12:]]
            registers, static, dynamic, num_bytes, copy_kind, node, long_id, short_id, source, target = details
            process = process_of(global_pid)
            name, short_name = self._work_names(kind, (copy_kind, source, target), long_id, short_id)
            if direct:
                texts = np.array(
                    [self._strings.intern(text.decode("utf-8", "replace")) for text in batch.texts], np.int32
                )[rows]
                name, short_name = texts, self._short_names(texts)
            batches.add(kind=np.full(len(start), kind, np.int8), start_ns=start, end_ns=end, process=narrow(process))
            batches.add(device=self._devices.ids(process, device), stream=stream, correlation=correlation)
            batches.add(name=name, short_name=short_name, geometry=geometry.reshape(-1), registers=narrow(registers))
            batches.add(static_shared_bytes=static, dynamic_shared_bytes=dynamic, num_bytes=num_bytes)
            batches.add(copy_kind=narrow(copy_kind), graph_node=node)

    def _usable(self, batch: Batch, what: str) -> Int64s:
        """Indexes of the rows with possible times; the others are counted as skipped."""
        usable = possible(batch.integers[0], batch.integers[1])
        self._tally.add(f"{what} with impossible times", batch.rows - np.count_nonzero(usable))
        return np.flatnonzero(usable)

    def _work_names(
        self, kind: WorkKind, copied: tuple[Int64s, Int64s, Int64s], long_id: Int64s, short_id: Int64s
    ) -> tuple[Int32s, Int32s]:
        if kind == WorkKind.KERNEL:
            long_name, short_name = self._names.resolve(long_id), self._names.resolve(short_id)
            long_name = np.where(long_name == 0, short_name, long_name)
            nameless = np.flatnonzero(short_name == 0)
            if len(nameless):
                short_name[nameless] = self._short_names(long_name[nameless])
            return long_name, short_name
        if kind == WorkKind.MEMCPY:
            copy_kind, source, target = (np.clip(column, -1, 255) + 1 for column in copied)
            key = copy_kind << 32 | source << 16 | target
            table = {each: self._strings.intern(_copy_name(each)) for each in distinct_values(key).tolist()}
            name = mapped(key, table)
        else:
            text = "Memset" if kind == WorkKind.MEMSET else "CUDA graph"
            name = np.full(len(long_id), self._strings.intern(text), np.int32)
        return name, name

    def _short_names(self, names: Int32s) -> Int32s:
        """Short name of each full name. Cached, because making one takes as long as reading hundreds of kernels."""
        wide = names.astype(np.int64)
        for key in distinct_values(wide).tolist():
            if key not in self._short:
                self._short[key] = self._strings.intern(short_kernel_name(self._strings[key]))
        return mapped(wide, self._short)
