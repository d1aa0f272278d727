"""PyTorch's exported memory timelines as a source: a profile of their own, of memory alone."""

from __future__ import annotations

from pathlib import Path

from tensorboard_plugin_dlprof.events.tables import Capture
from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions
from tensorboard_plugin_dlprof.importers.memory_snapshot import memory_capture
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.memory.timeline import is_timeline, read_timeline


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
