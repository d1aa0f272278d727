"""Reads what an Nsight Systems export tells of memory: allocations of the driver (``--cuda-memory-usage=true``).

PyTorch's caching allocator takes segments from the driver, so that one of these events is not a tensor.
"""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.events.tables import Calls, Int32s, Int64s, MemoryEvents
from tensorboard_plugin_dlprof.importers.nsight.columns import Batches, possible
from tensorboard_plugin_dlprof.importers.nsight.devices import Devices
from tensorboard_plugin_dlprof.importers.nsight.export import NO_TIME, Column, Export, Tally
from tensorboard_plugin_dlprof.importers.nsight.ids import ID_BITS, ID_MASK

_TABLE = "CUDA_GPU_MEMORY_USAGE_EVENTS"
_ALLOCATION, _DEALLOCATION = 0, 1
_ON_DEVICE = (2, 3, 5)
"""Kinds of memory that is on the GPU: device, array, device static. Host and managed memory are elsewhere."""

_DEVICE = 2
_MOST_BYTES = 1 << 50


def read_memory(export: Export, devices: Devices, calls: Calls, tally: Tally) -> MemoryEvents:
    """The allocations and frees of GPU memory; none if they were not recorded, or an older export lacks a column."""
    batches = Batches(export.store)
    table = export.table(_TABLE)
    needed = ("start", "deviceId", "address", "bytes", "memoryOperationType")
    if table is not None and all(export.has_column(table, column) for column in needed):
        wanted = [Column("start", NO_TIME), Column("globalPid", 0), Column("deviceId"), Column("address")]
        wanted += [Column("bytes"), Column("memKind", _DEVICE), Column("memoryOperationType"), Column("correlationId")]
        for batch in export.batches(table, wanted, doing="reading memory events"):
            start, global_pid, device, address, num_bytes, kind, operation, correlation = batch.integers
            on_device = are_among(kind, _ON_DEVICE)
            usable = possible(start, start) & (num_bytes >= 0) & (num_bytes < _MOST_BYTES) & (device >= 0)
            usable &= (operation == _ALLOCATION) | (operation == _DEALLOCATION)
            tally.add("memory events with impossible values", np.count_nonzero(on_device & ~usable))
            rows = on_device & usable
            process = (global_pid[rows] >> ID_BITS) & ID_MASK
            batches.add(
                time_ns=start[rows],
                device=devices.ids(process, device[rows]),
                address=address[rows],
                num_bytes=np.where(operation[rows] == _ALLOCATION, num_bytes[rows], -num_bytes[rows]),
                correlation=correlation[rows],
            )
    thread = _thread_of(batches.take("correlation", np.int64), calls)
    nothing = np.full(len(thread), -1, np.int64)
    return batches.table(
        MemoryEvents,
        thread=thread,
        allocated_bytes=nothing,
        reserved_bytes=nothing,
        address=batches.take("address", np.int64),
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
