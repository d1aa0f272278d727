"""From what the user named, a source or a database, to a database to read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say
from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.naming import database_name


@contextmanager
def database_of(profile: Path) -> Iterator[Path]:
    """The profile itself where it is a database, the one beside it where that is current, else a temporary one."""
    from tensorboard_plugin_dlprof.classify.chosen_rules import chosen_rules
    from tensorboard_plugin_dlprof.database.currency import database_at_hand
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source

    database = database_at_hand(profile)
    if database is not None:
        yield database
    else:
        with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:
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
