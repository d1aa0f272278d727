"""Reads a SQLite export of Nsight Systems (``nsys export --type sqlite``) into a capture."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import distinct_values
from tensorboard_plugin_dlprof.columns.store import ColumnStore
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Capture,
    DeviceWork,
    ForwardLinks,
    MemoryEvents,
    RangeKind,
    Ranges,
    Strings,
    Syncs,
    WorkKind,
)
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.nsight.calls import read_calls, read_os_calls
from tensorboard_plugin_dlprof.importers.nsight.devices import Devices
from tensorboard_plugin_dlprof.importers.nsight.export import NO_TIME, Export
from tensorboard_plugin_dlprof.importers.nsight.ids import Names, Threads
from tensorboard_plugin_dlprof.importers.nsight.info import read_info, reported, session_ns
from tensorboard_plugin_dlprof.importers.nsight.memory import read_memory
from tensorboard_plugin_dlprof.importers.nsight.nccl import read_nccl
from tensorboard_plugin_dlprof.importers.nsight.ranges import RangeReader
from tensorboard_plugin_dlprof.importers.nsight.samples import read_tensor_samples
from tensorboard_plugin_dlprof.importers.nsight.work import WorkReader
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.sqlite_file import open_untrusted, reading, real_tables
from tensorboard_plugin_dlprof.opening.sqlite_header import MAGIC

_STRINGS = "StringIds"
_MARKS = ("META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_", "CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS", "OSRT_API")
"""Prefixes of tables that, together with ``StringIds``, identify an Nsight Systems export."""

_LONGEST_SESSION_NS = 1 << 58
"""Nine years. Later times count from 1970 (``nsys export --ts-normalize``), not from the start of the session."""


class NsightSystemsImporter:
    """Nsight Systems SQLite exports, of schema 2.9 on."""

    name = "nsight_systems"
    title = "Nsight Systems SQLite export"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the file is such an export, even if it is truncated or damaged after its head."""
        if not head.startswith(MAGIC):
            return False
        try:
            with closing(open_untrusted(path)) as con, reading(shown(path)):
                tables = real_tables(con)
        except (ProfileError, OSError):
            return _STRINGS.encode() in head and any(mark.encode() in head for mark in _MARKS)
        return _STRINGS in tables and any(table.startswith(_MARKS) for table in tables)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Capture:
        """The events of the export.

        Raises:
            BrokenSource: it cannot be read as an SQLite file, or a table in it is damaged.
            UnsafeFile: it is not a regular file.
        """
        with closing(open_untrusted(path)) as con, reading(shown(path)):
            store = ColumnStore(options.memory_bytes, options.folder)
            return _read(Export(con, progress, store), rank_from_name(path, options.rank_expression))


def _read(export: Export, rank_in_name: int) -> Capture:
    strings, threads, tally = Strings(), Threads(), Counter[str]()
    names, devices = Names(export, strings), Devices(export)
    info = read_info(export, rank_in_name)
    range_reader = RangeReader(export, strings, names, threads, tally)
    ranges = range_reader.read()
    calls = read_calls(export, names, threads, tally)
    os_calls = read_os_calls(export, names, threads, tally)
    work_reader = WorkReader(export, strings, names, devices, tally)
    work, syncs = work_reader.read(), work_reader.read_syncs()
    nccl = read_nccl(export, strings, threads, calls, work)
    samples = read_tensor_samples(export)
    memory = read_memory(export, devices, calls, tally)
    info.base_time_ns = _rebase(info.utc_start_ns, ranges, calls, os_calls, work, syncs)
    samples.time_ns -= info.base_time_ns
    memory.time_ns = memory.time_ns - info.base_time_ns
    info.end_ns = _close_open_ranges(ranges, _last(ranges, calls, os_calls, work, syncs), session_ns(export))
    if not len(work.kind):
        launched = any("Launch" in strings[name] for name in distinct_values(calls.name).tolist())
        info.reported = reported(export, launched=launched)
    info.recorded = _recorded(export, ranges, work, memory)
    return Capture(
        info=info,
        strings=strings,
        threads=threads.table(export, range_reader.thread_names),
        devices=devices.table(np.append(work.device, memory.device).astype(np.int32)),
        ranges=ranges,
        calls=calls,
        work=work,
        syncs=syncs,
        memory=memory,
        forward_links=empty(ForwardLinks),
        os_calls=os_calls,
        tensor_samples=samples,
        store=export.store,
        collectives=nccl.collectives,
        process_groups=nccl.groups,
        process_ranks=nccl.process_ranks,
        skipped={reason: count for reason, count in tally.items() if count},
    )


def _rebase(utc_start_ns: int, *tables: Ranges | Calls | DeviceWork | Syncs) -> int:
    """Make normalised times, which count from 1970, count from the start of the session; returns the difference."""
    first = min((int(table.start_ns.min()) for table in tables if len(table.start_ns)), default=0)
    if first < _LONGEST_SESSION_NS:
        return 0
    base_ns = utc_start_ns if 0 < utc_start_ns <= first else first
    for table in tables:
        table.start_ns = table.start_ns - base_ns
        table.end_ns = np.where(table.end_ns == NO_TIME, NO_TIME, table.end_ns - base_ns)
    return base_ns


def _last(*tables: Ranges | Calls | DeviceWork | Syncs) -> int:
    """End of the last event; a range without an end counts with its start."""
    return max(
        (int(max(table.end_ns.max(), table.start_ns.max())) for table in tables if len(table.start_ns)), default=0
    )


def _close_open_ranges(ranges: Ranges, last_ns: int, session_ns: int) -> int:
    """End ranges that were open when the session ended, as Nsight Systems does. Returns the capture's end."""
    still_open = ranges.end_ns == NO_TIME
    if not still_open.any():
        return last_ns
    end_ns = max(last_ns, session_ns)
    if not ranges.end_ns.flags.writeable:
        ranges.end_ns = ranges.end_ns.copy()
    ranges.end_ns[still_open] = end_ns
    return end_ns


def _recorded(export: Export, ranges: Ranges, work: DeviceWork, memory: MemoryEvents) -> frozenset[str]:
    kinds = set(distinct_values(ranges.kind).tolist())
    recorded = {
        "ops": bool(kinds & {RangeKind.OP, RangeKind.DLPROF_OP}),
        "shapes": bool(ranges.shapes.any()) or RangeKind.DLPROF_OP in kinds,
        "stacks": RangeKind.DLPROF_TRACE in kinds,
        "modules": RangeKind.MODULE in kinds,
        "steps": RangeKind.ITERATION in kinds,
        "nvtx": bool(len(ranges.start_ns)),
        "io": export.has("OSRT_API"),
        "syncs": export.has("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
        "memory": len(memory.time_ns) > 0,
        "graphs": bool((work.kind == WorkKind.GRAPH).any()),
    }
    return frozenset(name for name, is_recorded in recorded.items() if is_recorded)
