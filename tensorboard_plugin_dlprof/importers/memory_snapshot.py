"""PyTorch's memory snapshots, and its exported memory timelines, as sources: a profile of memory alone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.events.memory_tables import History
from tensorboard_plugin_dlprof.events.tables import (
    Calls,
    Capture,
    CaptureInfo,
    Device,
    DeviceWork,
    ForwardLinks,
    MemoryEvents,
    Ranges,
    Strings,
    Syncs,
)
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.memory.snapshot import is_snapshot, read_snapshot
from tensorboard_plugin_dlprof.memory.timeline import is_timeline, read_timeline


class MemorySnapshotImporter:
    """Pickles of ``torch.cuda.memory._dump_snapshot``."""

    name = "pytorch_memory_snapshot"
    title = "PyTorch memory snapshot"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the file begins like one."""
        return is_snapshot(head)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Capture:
        """The memory of each GPU in it.

        Raises:
            BrokenSource: It is damaged.
            UnsafeFile: It is refused.
        """
        progress("Reading the snapshot", 0.0)
        histories = read_snapshot(path, options.memory_bytes, options.folder)
        return memory_capture(self.name, rank_from_name(path, options.rank_expression), histories)


def memory_capture(source_format: str, rank: int, histories: list[History]) -> Capture:
    """A capture of memory alone, whose times count from its first event."""
    starts = [int(history.time_ns[0]) for history in histories if len(history.time_ns)]
    base_ns = min(starts, default=0)
    for history in histories:
        history.time_ns = history.time_ns - base_ns
    ends = [int(history.time_ns[-1]) for history in histories if len(history.time_ns)]
    sizes = np.zeros((0, 3), np.int32)
    return Capture(
        info=CaptureInfo(
            source_format=source_format,
            base_time_ns=base_ns,
            end_ns=max(ends, default=0),
            utc_start_ns=base_ns if base_ns > 0 else -1,
            framework="PyTorch",
            rank=rank,
            recorded=frozenset({"memory"}),
        ),
        strings=Strings(),
        threads=[],
        devices=[Device(history.device) for history in histories],
        ranges=empty(Ranges),
        calls=empty(Calls),
        work=msgspec.structs.replace(empty(DeviceWork), grid=sizes, block=sizes),
        syncs=empty(Syncs),
        memory=empty(MemoryEvents),
        forward_links=empty(ForwardLinks),
        memory_histories=histories,
    )


class MemoryTimelineImporter:
    """JSON of ``profiler.export_memory_timeline("NAME.raw.json.gz")``."""

    name = "pytorch_memory_timeline"
    title = "PyTorch memory timeline"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the file begins like one."""
        return is_timeline(head)

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Capture:
        """The memory of its GPU.

        Raises:
            BrokenSource: It is damaged.
            UnsafeFile: It is too large.
        """
        history = read_timeline(
            path,
            options.max_expanded_bytes,
            options.memory_bytes,
            lambda fraction: progress("Reading the memory timeline", fraction),
        )
        return memory_capture(self.name, rank_from_name(path, options.rank_expression), [history])
