"""Announces a finished database to TensorBoard by an event file in its folder."""

from __future__ import annotations

from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import opened_database
from tensorboard_plugin_dlprof.database.naming import event_file_name, source_stem
from tensorboard_plugin_dlprof.run_metadata.describe import describe, iteration_scalars
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files, write_event_file


def announce(database: Path, scalars: bool = False, alone: bool = True) -> Path:
    """Write the event file of ``database`` into its folder, and return its path.

    Args:
        database: A finished database.
        scalars: Whether to write values per iteration as well.
        alone: Whether the run has no other profile. Otherwise the tags of the scalars end in the name of this one, so
            that the iterations of several ranks are not mixed in one line.

    Raises:
        ProfileError: The database cannot be read, or the folder cannot be written to.
    """
    folder = database.parent
    own = event_file_name(database.name)
    alone = alone and all(file.name == own for file in find_event_files(folder))
    with opened_database(database) as connection:
        metadata = describe(connection, database.name)
        suffix = "" if alone else f"/{source_stem(metadata.source_name or database.name)}"
        series = iteration_scalars(connection, suffix) if scalars else []
    return write_event_file(folder, metadata, series)
