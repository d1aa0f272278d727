"""Tells TensorBoard about a finished database: writes the event file beside it."""

from __future__ import annotations

from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import opened_database
from tensorboard_plugin_dlprof.naming import event_file_name, source_stem
from tensorboard_plugin_dlprof.run_metadata.describe import describe, iteration_scalars
from tensorboard_plugin_dlprof.run_metadata.event_file import find_event_files, write_event_file


def announce(database: Path, scalars: bool = False, alone: bool = True) -> Path:
    """Writes the event file of ``database`` into its folder.

    Args:
        database: a finished database.
        scalars: whether to write numbers per iteration as well.
        alone: whether the run has no other profile. Else the tags of the scalars end in the name of this one, because
            iterations of several ranks in one line would be nobody's.

    Raises:
        ProfileError: the database cannot be read or the folder not written to.
    """
    folder = database.parent
    own = event_file_name(database.name)
    alone = alone and all(file.name == own for file in find_event_files(folder))
    with opened_database(database) as connection:
        metadata = describe(connection, database.name)
        suffix = "" if alone else f"/{source_stem(metadata.source_name or database.name)}"
        series = iteration_scalars(connection, suffix) if scalars else []
    return write_event_file(folder, metadata, series)
