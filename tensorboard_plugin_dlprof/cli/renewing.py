"""Replaces a database of an older version of this package by a new import that repeats the user's settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tensorboard_plugin_dlprof.errors import OutputExists, ProfileError
from tensorboard_plugin_dlprof.importers.importer import Progress

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.database.user_settings import UserSettings
    from tensorboard_plugin_dlprof.pipeline import ImportOptions, Selection


def settings_to_keep(database: Path) -> UserSettings:
    """The settings to repeat.

    Raises:
        OutputExists: the import had kernel rules or counters, which are not in the database and must be given again.
        UnfitDatabase: the database cannot be read.
    """
    from tensorboard_plugin_dlprof.database.user_settings import read_user_settings

    settings = read_user_settings(database)
    for option, was_given in (("--kernel-rules", settings.has_user_rules), ("--counters", settings.has_counters)):
        if was_given:
            raise OutputExists(
                f"{database} was made by an older version, with {option}; "
                f"give --force and {option} FILE to make it again, or --force alone to do without."
            )
    return settings


def renew(
    source: Path, database: Path, settings: UserSettings, options: ImportOptions, progress: Progress
) -> list[str]:
    """Replace the database; returns warnings about what was skipped, is missing or can no longer be chosen.

    Raises:
        ProfileError: with the sentence to show; the database is then unchanged.
    """
    from tensorboard_plugin_dlprof.pipeline import Selection, aggregate_database, import_source

    first, *others = settings.aggregations or [Selection()]
    options = msgspec.structs.replace(
        options,
        key_op=first.key_op,
        iter_start=first.iter_start,
        iter_stop=first.iter_stop,
        profile_name=settings.profile_name,
        original_command=settings.original_command,
        samples_per_iteration=options.samples_per_iteration or settings.samples_per_iteration,
        tokens_per_iteration=options.tokens_per_iteration or settings.tokens_per_iteration,
        lenient=True,
    )
    warnings = import_source(source, database, options, progress).warnings
    for choice in others:
        try:
            aggregate_database(
                database,
                database,
                choice,
                progress,
            )
        except ProfileError as error:
            warnings.append(f"the aggregation of {_named(choice)} was not made again: {error}")
    return warnings


def _named(choice: Selection) -> str:
    by = choice.key_op or choice.candidate
    which = "all iterations" if choice.iter_start is None else f"iterations {choice.iter_start} to {choice.iter_stop}"
    return f"{which} by {by}" if by else which
