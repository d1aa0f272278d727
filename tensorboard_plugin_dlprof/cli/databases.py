"""Provides a database for the source or database that the user named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder


@contextmanager
def database_of(profile: Path) -> Iterator[Path]:
    """The profile itself if it is a database, else a current database beside it, else a temporary import."""
    from tensorboard_plugin_dlprof.classify.chosen_rules import chosen_rules
    from tensorboard_plugin_dlprof.database.currency import database_at_hand
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source

    database = database_at_hand(profile)
    if database is not None:
        yield database
    else:
        with temporary_folder() as folder:
            options = ImportOptions(kernel_rules=chosen_rules(""))
            progress = ProgressBar(profile.name)
            try:
                result = import_source(profile, Path(folder, database_name(profile.name)), options, progress)
            except OutputNotWritable as error:
                raise OutputNotWritable(f"{error} TMPDIR names the folder of temporary files.") from None
            finally:
                progress.clear()
            for warning in result.warnings:
                say(f"warning: {profile}: {warning}")
            yield result.database
