"""Reads what an Nsight Systems export tells of memory: allocations of the driver (``--cuda-memory-usage=true``).

PyTorch's caching allocator takes segments from the driver, so that one of these events is not a tensor.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.columns.growing_table import GrowingTable
from tensorboard_plugin_dlprof.events.tables import Calls, Int32s, Int64s, MemoryEvents
from tensorboard_plugin_dlprof.importers.nsight.batches import possible
from tensorboard_plugin_dlprof.importers.nsight.devices import Devices
from tensorboard_plugin_dlprof.importers.nsight.export import Export
from tensorboard_plugin_dlprof.importers.nsight.ids import process_of

_TABLE = "CUDA_GPU_MEMORY_USAGE_EVENTS"
_ALLOCATION, _DEALLOCATION = 0, 1
_ON_DEVICE = (2, 3, 5)
"""Kinds of memory that is on the GPU: device, array, device static. Host and managed memory are elsewhere."""

_MOST_BYTES = 1 << 50


def read_memory(export: Export, devices: Devices, calls: Calls, tally: Counter[str]) -> MemoryEvents:
    """The allocations and frees of GPU memory; none if they were not recorded, or an older export lacks a column."""
    events = GrowingTable(export.store)
    needed = ("start", "deviceId", "address", "bytes", "memoryOperationType")
    wanted = (*needed, "globalPid", "memKind", "correlationId")
    for batch in export.batches(_TABLE, wanted, doing="reading memory events") if export.has(_TABLE, *needed) else ():
        on_device, num_bytes = are_among(batch["memKind"], _ON_DEVICE), batch["bytes"]
        allocates = batch["memoryOperationType"] == _ALLOCATION
        usable = possible(batch["start"], batch["start"]) & (num_bytes >= 0) & (num_bytes < _MOST_BYTES)
        usable &= (batch["deviceId"] >= 0) & (allocates | (batch["memoryOperationType"] == _DEALLOCATION))
        tally["memory events with impossible values"] += np.count_nonzero(on_device & ~usable)
        rows = batch.only(on_device & usable)
        events.add(
            time_ns=rows["start"],
            device=devices.ids(process_of(rows["globalPid"]), rows["deviceId"]),
            address=rows["address"],
            num_bytes=np.where(rows["memoryOperationType"] == _ALLOCATION, rows["bytes"], -rows["bytes"]),
            correlation=rows["correlationId"],
        )
    thread = _thread_of(events.take("correlation", np.int64), calls)
    nothing = np.full(len(thread), -1, np.int64)
    return events.table(
        MemoryEvents,
        thread=thread,
        allocated_bytes=nothing,
        reserved_bytes=nothing,
        address=events.take("address", np.int64),
        of_driver=True,
    )


def _thread_of(correlation: Int64s, calls: Calls) -> Int32s:
    """The thread of the call that allocated or freed; the first one if that was not recorded."""
    order = np.argsort(calls.correlation, kind="stable")
    known = calls.correlation[order]
    place = np.minimum(np.searchsorted(known, correlation), max(len(known) - 1, 0))
    if not len(known):
        return np.zeros(len(correlation), np.int32)
    return np.where(known[place] == correlation, calls.thread[order[place]], 0).astype(np.int32)
