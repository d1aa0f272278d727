"""Makes a database of ours what NVIDIA's are: DLProf's tables, without a table of our own."""

from __future__ import annotations

from pathlib import Path

from tensorboard_plugin_dlprof.database.dlprof_export import write_dlprof_file


def drop_extensions(database: Path) -> None:
    """Replaces a database by its export for readers of DLProf's tables."""
    exported = database.with_name("exported.sqlite")
    write_dlprof_file(database, exported)
    exported.replace(database)
