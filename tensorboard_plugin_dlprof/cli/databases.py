"""Provides a database for the source or database that the user named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.cli.iterations import parsed
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say
from tensorboard_plugin_dlprof.cli.usage import WrongUsage
from tensorboard_plugin_dlprof.database.naming import database_name
from tensorboard_plugin_dlprof.errors import OutputNotWritable
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder


@contextmanager
def database_of(profile: Path) -> Iterator[Path]:
    """The profile itself if it is a database of ours, else a current database beside it, else a temporary import."""
    from tensorboard_plugin_dlprof.classify.load_rules import load_rules
    from tensorboard_plugin_dlprof.database.connection import is_foreign
    from tensorboard_plugin_dlprof.database.up_to_date import database_at_hand
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source, in_our_schema

    database = database_at_hand(profile)
    if database is not None and not is_foreign(database):
        yield database
    elif database is not None:
        with temporary_folder() as folder:
            with ProgressBar(profile.name) as progress:
                ours = in_our_schema(database, folder / database.name, progress)
            yield ours
    else:
        with temporary_folder() as folder:
            options = ImportOptions(kernel_rules=load_rules(""))
            try:
                with ProgressBar(profile.name) as progress:
                    result = import_source(profile, Path(folder, database_name(profile.name)), options, progress)
            except OutputNotWritable as error:
                raise OutputNotWritable(f"{error} TMPDIR names the folder of temporary files.") from None
            for warning in result.warnings:
                say(f"warning: {profile}: {warning}")
            yield result.database


@contextmanager
def aggregation_of(profile: Path, iterations: str, aggregation: int | None = None) -> Iterator[tuple[Path, int | None]]:
    """A database of a profile, and which of its aggregations is over some iterations.

    Where it has none over them, a temporary copy gets one.

    Args:
        profile: A source or a database.
        iterations: ``typical``, ``all``, or numbers such as ``2-5``; empty for those of ``aggregation``.
        aggregation: The one to use otherwise; None for the first.

    Raises:
        WrongUsage: The iterations are not understood, or are given in both ways.
        BadRequest: There are none of these numbers.
    """
    from tensorboard_plugin_dlprof.pipeline import Selection, aggregate_database

    if not iterations:
        with database_of(profile) as database:
            yield database, aggregation
        return
    if aggregation is not None:
        raise WrongUsage("--iterations and --aggregation both say which iterations; give one.")
    words = parsed(iterations)
    start, stop = (None, None) if isinstance(words, str) else words
    selection = Selection(iter_start=start, iter_stop=stop, typical=words == "typical")
    with database_of(profile) as database, temporary_folder() as folder:
        with ProgressBar(profile.name) as progress:
            result = aggregate_database(database, folder / database.name, selection, progress)
        yield (folder / database.name if result.is_new else database), result.aggregation
