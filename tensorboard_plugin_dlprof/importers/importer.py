"""The protocol of an importer: one folder per source format, and nothing else knows a format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.events.tables import Capture

Progress = Callable[[str, float], None]
"""Called with the current stage and the fraction of the whole task that is done, 0 to 1; may raise to cancel."""

DEFAULT_MEMORY_BYTES = 2 << 30


class ReadOptions(msgspec.Struct, frozen=True):
    """Limits of one read."""

    max_expanded_bytes: int = 32 << 30
    """A compressed source may not grow beyond this."""
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    """Memory for the import; longer columns are kept in temporary files."""
    folder: Path | None = None
    """Folder for temporary files; ``None`` for the system's."""
    workers: int = 1
    """Processes that may read a large source. More than one changes nothing in the result."""
    rank_expression: str = ""
    """Regular expression whose first group is the rank in the path of a source that does not tell its rank."""
    parallel_from_bytes: int = 64 << 20
    """Expanded size from which several processes read: for smaller sources, joining their parts takes too long."""


class Importer(Protocol):
    """Reads one source format."""

    name: str
    """Short name such as ``pytorch``, which is stored in the database and shown."""
    title: str
    """Name for messages, such as ``PyTorch profiler trace``."""

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the file has this format. ``head`` is its first 64 kB, decompressed. Never raises."""

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Capture:
        """The events of the file.

        Args:
            path: the file, which ``sniff`` has recognised.
            progress: called with what is done, from 0 to 1; may raise to cancel.

        Raises:
            BrokenSource: the file has this format but cannot be read.
            UnsafeFile: it is not a regular file, or exceeds a limit.
        """
