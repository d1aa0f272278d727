"""The whole conversion: source file -> events -> profile -> aggregation -> database."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tensorboard_plugin_dlprof.importers.importer import Progress, ReadOptions


@dataclass(slots=True, frozen=True)
class ImportOptions:
    """What the user may choose for one import."""

    key_op: str | None = None
    """Name or id of the op whose end ends an iteration."""
    iter_start: int | None = None
    iter_stop: int | None = None
    """First and last iteration to aggregate, inclusive; default all."""
    profile_name: str = ""
    original_command: str = ""
    """Command line to store, already masked."""
    read: ReadOptions = field(default_factory=ReadOptions)


@dataclass(slots=True, frozen=True)
class ImportResult:
    """What an import made."""

    database: Path
    warnings: list[str]
    """One sentence each: what was skipped, missing or repaired."""


def import_source(source: Path, database: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    """Converts ``source`` and puts the finished ``database`` in place atomically.

    Raises:
        ProfileError: with the sentence to show.
    """
    from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
    from tensorboard_plugin_dlprof.analysis.dlprof_detectors import detect
    from tensorboard_plugin_dlprof.database.writer import write_database
    from tensorboard_plugin_dlprof.events.build import build_profile
    from tensorboard_plugin_dlprof.importers import find_importer

    importer = find_importer(source)
    profile = build_profile(importer.read(source, options.read, progress))
    aggregation = aggregate(profile, Selection(options.key_op, options.iter_start, options.iter_stop))
    warnings = write_database(
        database,
        source,
        profile,
        [aggregation],
        [detect(profile, aggregation)],
        profile_name=options.profile_name,
        original_command=options.original_command,
    )
    return ImportResult(database, warnings)
