"""Imports sources one after the other, with a line for each on stdout and errors on stderr."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensorboard_plugin_dlprof.cli import exit_codes
from tensorboard_plugin_dlprof.cli.iterations import aggregated
from tensorboard_plugin_dlprof.cli.messages import ProgressBar, say, say_bug, tell
from tensorboard_plugin_dlprof.database.naming import database_of
from tensorboard_plugin_dlprof.errors import BadRequest, OutputExists, ProfileError, reason_of
from tensorboard_plugin_dlprof.opening.outputs import make_folder

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.classify.rules.rule import Rule
    from tensorboard_plugin_dlprof.database.user_settings import UserSettings
    from tensorboard_plugin_dlprof.pipeline import ImportOptions


def options_of(arguments: argparse.Namespace, rules: tuple[Rule, ...]) -> ImportOptions:
    """The options of an import that a user gave."""
    from tensorboard_plugin_dlprof.opening.masking import mask_arguments
    from tensorboard_plugin_dlprof.pipeline import ImportOptions

    typical, start, stop = aggregated(arguments, typical=True)
    return ImportOptions(
        key_op=arguments.key_op,
        iter_start=start,
        iter_stop=stop,
        typical=typical,
        profile_name=arguments.profile_name,
        original_command=mask_arguments(["dlprof", *sys.argv[1:]]),
        kernel_rules=rules,
    )


def exit_code(done: int, wanted: int, failed: bool) -> int:
    """The exit code if so many of the sources now have a database; ``failed`` if others were not even found."""
    if done == wanted and not failed:
        return exit_codes.SUCCESS
    return exit_codes.SOME_FAILED if done else exit_codes.FAILURE


class Job:
    """One source and the database to make from it."""

    def __init__(self, source: Path, database: Path, force: bool) -> None:
        self.source, self.database, self.force = source, database, force

    def prepare(self) -> None:
        """What comes before the import."""

    def finish(self) -> None:
        """What comes after an import that succeeded."""


def place_of_database(source: Path, output: Path | None) -> Path:
    """Where the database of a source goes: into the folder of its run."""
    neighbour = database_of(source)
    return neighbour if output is None else output / neighbour.name


def import_all(jobs: Sequence[Job], options: ImportOptions, scalars: bool, warns: bool = True) -> int:
    """Import every source and print the results; returns how many sources now have a database.

    Args:
        scalars: whether to write numbers per iteration too.
        warns: whether to tell contradictions between the profiles.
    """
    profiles_of_run = Counter(job.database.parent.resolve() for job in jobs)
    owners: dict[Path, Path] = {}
    made: list[Path] = []
    for job in jobs:
        owner = owners.setdefault(job.database, job.source)
        if owner != job.source:
            say(
                f"error: {job.source}: {owner} has a database of the same name; import this one into another "
                "folder with -o DIR."
            )
            continue
        alone = profiles_of_run[job.database.parent.resolve()] == 1
        try:
            job.prepare()
            _import(job, options, scalars, alone)
            job.finish()
            made.append(job.database)
        except BadRequest as error:  # it is about an option, which may fit the others
            say(f"error: {job.source}: {error}")
        except ProfileError as error:
            say(f"error: {error}")
        except MemoryError:
            say(f"error: {job.source}: there is not enough memory for this profile; record fewer iterations.")
        except OSError as error:
            say(f"error: {job.source}: it cannot be imported: {reason_of(error)}.")
        except Exception as error:  # noqa: BLE001  the other sources must not pay for a bug of ours
            say_bug(str(job.source), error)
    if len(made) > 1 and warns:
        from tensorboard_plugin_dlprof.cli.ranks import warnings_of

        for warning in warnings_of(made):
            say(f"warning: {warning}")
    return len(made)


def _import(job: Job, options: ImportOptions, scalars: bool, alone: bool) -> None:
    from tensorboard_plugin_dlprof.pipeline import import_source

    older = None
    if job.database.exists() and not job.force:
        older = _settings_to_repeat(job, options)
        if older is None:
            _announce(job.database, scalars, alone)
            tell(f"{job.source} -> {job.database} (up to date; --force imports it again)")
            return
    make_folder(job.database.parent)
    with ProgressBar(job.source.name) as progress:
        if older is None:
            warnings = import_source(job.source, job.database, options, progress).warnings
        else:
            from tensorboard_plugin_dlprof.cli.renewing import renew

            warnings = renew(job.source, job.database, older, options, progress)
    for warning in warnings:
        say(f"warning: {job.source}: {warning}")
    _announce(job.database, scalars, alone)
    renewed = " (made again, as an older version had made it)" if older is not None else ""
    tell(f"{job.source} -> {job.database}{renewed}")


def _announce(database: Path, scalars: bool, alone: bool) -> None:
    from tensorboard_plugin_dlprof.run_metadata.announce import announce

    announce(database, scalars, alone)


def _settings_to_repeat(job: Job, options: ImportOptions) -> UserSettings | None:
    """The settings to repeat if an older version made the database; None if the database is up to date.

    Raises:
        OutputExists: the database may only be replaced with --force.
    """
    from tensorboard_plugin_dlprof.cli.renewing import settings_to_keep
    from tensorboard_plugin_dlprof.database.up_to_date import Standing, standing

    result = Standing.OTHER if _asks_for_other_content(options) else standing(job.database, job.source)
    if result is Standing.OTHER:
        raise OutputExists(f"{job.database} exists; give --force to replace it, or -o DIR for another folder.")
    return settings_to_keep(job.database) if result is Standing.OLDER else None


def _asks_for_other_content(options: ImportOptions) -> bool:
    """Whether the user chose something that an existing database may have been made without."""
    named = options.key_op or options.profile_name or options.kernel_rules or options.counters
    named = named or options.read.rank_expression
    given = options.samples_per_iteration or options.tokens_per_iteration
    return bool(named or given or not options.typical or (options.iter_start, options.iter_stop) != (None, None))
