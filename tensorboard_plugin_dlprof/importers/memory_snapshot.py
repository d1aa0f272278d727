"""PyTorch's memory snapshots as a source: a profile of their own, of memory alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.events.memory_tables import History
from tensorboard_plugin_dlprof.events.tables import (
    Capture,
    CaptureInfo,
    Device,
    DeviceWork,
    ForwardLinks,
    MemoryEvents,
    Ranges,
    Strings,
    Syncs,
    no_calls,
)
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.memory.snapshot import is_snapshot, read_snapshot


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
        histories = read_snapshot(path, options.memory_bytes)
        return memory_capture(self.name, rank_from_name(path, options.rank_expression), histories)


def memory_capture(source_format: str, rank: int, histories: list[History]) -> Capture:
    """A capture of memory alone, whose times count from its first event."""
    starts = [int(history.time_ns[0]) for history in histories if len(history.time_ns)]
    base_ns = min(starts, default=0)
    for history in histories:
        history.time_ns = history.time_ns - base_ns
    ends = [int(history.time_ns[-1]) for history in histories if len(history.time_ns)]
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
        ranges=_no_rows(Ranges),
        calls=no_calls(),
        work=_no_work(),
        syncs=_no_rows(Syncs),
        memory=_no_memory(),
        forward_links=_no_rows(ForwardLinks),
        memory_histories=histories,
    )


def _no_memory() -> MemoryEvents:
    long, short = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return MemoryEvents(long, short, short, long, long, long)


def _no_rows(table: Any) -> Any:
    return table(*(np.zeros(0, np.int64) for _ in table.__struct_fields__))


def _no_work() -> DeviceWork:
    columns: dict[str, Any] = {name: np.zeros(0, np.int64) for name in DeviceWork.__struct_fields__}
    columns |= {name: np.zeros((0, 3), np.int64) for name in ("grid", "block")}
    return DeviceWork(**columns)
