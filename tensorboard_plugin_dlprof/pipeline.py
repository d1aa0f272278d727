"""The whole conversion: source file -> events -> profile -> aggregation -> database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tensorboard_plugin_dlprof.forking import Beside
from tensorboard_plugin_dlprof.importers.importer import Progress
from tensorboard_plugin_dlprof.importers.importer import ReadOptions as ReadOptions
from tensorboard_plugin_dlprof.many_objects import memory_for_millions
from tensorboard_plugin_dlprof.temporary_files import files_used_again

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.aggregation import Selection
    from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
    from tensorboard_plugin_dlprof.analysis.tables import Feedback
    from tensorboard_plugin_dlprof.classify.rules.rule import Rule
    from tensorboard_plugin_dlprof.database.advice_rows import Advice
    from tensorboard_plugin_dlprof.database.fingerprint import SourceIdentity
    from tensorboard_plugin_dlprof.database.writer import Judgement
    from tensorboard_plugin_dlprof.events.tables import Capture, Int64s
    from tensorboard_plugin_dlprof.profile.tables import Profile


_WHAT_FOLLOWS = tuple(
    f"{__package__}.{name}"
    for name in ("events.build", "aggregation.invariants", "analysis.engine", "efficiency.rates", "database.writer")
)
"""Modules of the steps behind reading."""


class ImportOptions(msgspec.Struct, frozen=True):
    """What the user may choose for one import."""

    key_op: str | None = None
    """Name or id of the op whose end ends an iteration."""
    iter_start: int | None = None
    iter_stop: int | None = None
    """First and last iteration to aggregate, inclusive; default all."""
    profile_name: str = ""
    original_command: str = ""
    """Command line to store, already masked."""
    lenient: bool = False
    """Whether a key op or a range that the profile does not have is left out, with a warning, and is no error."""
    kernel_rules: tuple[Rule, ...] = ()
    """A user's rules for kernels, tried before ours."""
    counters: Path | None = None
    """Counters that were measured beside the source: CSV of Nsight Compute, or a PyTorch trace with counters in place
    of kernels. What they prove overrides the kernels' names."""
    simple: bool = False
    """DLProf's simple mode: one op stands for the whole program."""
    read: ReadOptions = msgspec.field(default_factory=ReadOptions)


class ImportResult(msgspec.Struct, frozen=True):
    """What an import made."""

    database: Path
    warnings: list[str]
    """One sentence each: what was skipped, missing or repaired."""
    key_op: str
    """What ended the iterations; empty where none was named, or it was left out."""


@memory_for_millions()
def import_source(source: Path, database: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    """Converts ``source`` and puts the finished ``database`` in place atomically.

    Raises:
        ProfileError: with the sentence to show.
    """
    from tensorboard_plugin_dlprof.database.fingerprint import identify
    from tensorboard_plugin_dlprof.errors import BrokenSource
    from tensorboard_plugin_dlprof.importers import find_importer
    from tensorboard_plugin_dlprof.opening.regular_file import shown

    importer = find_importer(source)
    counters = _counters(options.counters) if options.counters is not None else None
    before = identify(source)
    profile = _profile([importer.read(source, _reading(database, options.read), progress)], options)
    if identify(source) != before:
        # The database would pass for one of the whole file.
        raise BrokenSource(f"{shown(source)} changed while it was read; import it again when it is complete.")
    left_out = counters(profile) if counters is not None else []
    selection, unfit = _selection(profile, options)
    warnings = _write(profile, selection, source, before, database, options)
    return ImportResult(database, left_out + unfit + warnings, selection.key_op or "")


def _reading(database: Path, options: ReadOptions) -> ReadOptions:
    """Temporary files lie where the database will: the system's folder may be small, or memory itself."""
    folder = options.folder or database.parent
    return msgspec.structs.replace(options, folder=folder, modules=_WHAT_FOLLOWS + options.modules)


def _profile(captures: list[Capture], options: ImportOptions) -> Profile:
    """The profile of one capture, which is taken out, so that its tables are freed as they have served."""
    from tensorboard_plugin_dlprof.classify.kernels import DEFAULT, Classifier
    from tensorboard_plugin_dlprof.events.build import build_profile

    classifier = Classifier(options.kernel_rules) if options.kernel_rules else DEFAULT
    return build_profile(captures.pop(), simple=options.simple, classifier=classifier)


def _selection(profile: Profile, options: ImportOptions) -> tuple[Selection, list[str]]:
    """What to aggregate, and what was left out of the user's wishes."""
    from tensorboard_plugin_dlprof.aggregation import Selection
    from tensorboard_plugin_dlprof.aggregation.selection import fitting

    selection = Selection(options.key_op, options.iter_start, options.iter_stop)
    return fitting(profile, selection) if options.lenient else (selection, [])


def _write(
    profile: Profile,
    selection: Selection,
    source: Path,
    identity: SourceIdentity,
    database: Path,
    options: ImportOptions,
) -> list[str]:
    from tensorboard_plugin_dlprof.database.writer import Results, write_database

    with Beside(lambda: _results(profile, selection), beside=options.read.workers > 1) as results:
        return write_database(
            database,
            source,
            profile,
            lambda: Results([results.next()], results.next),
            profile_name=options.profile_name,
            original_command=options.original_command,
            identity=identity,
        )


def _counters(path: Path) -> Callable[[Profile], list[str]]:
    """Reads counters, which few imports have; what applies them to a profile, and says what it left out."""
    from tensorboard_plugin_dlprof.counters.matching import apply_counters
    from tensorboard_plugin_dlprof.counters.reading import read_report

    report = read_report(path)
    return lambda profile: apply_counters(profile, report, str(path))


def _results(profile: Profile, selection: Selection) -> Iterator[Aggregation | Judgement]:
    """First the one, then the other, which is made while the first is written."""
    from tensorboard_plugin_dlprof.aggregation import aggregate
    from tensorboard_plugin_dlprof.aggregation.invariants import broken_rules
    from tensorboard_plugin_dlprof.database.writer import Judgement

    aggregation = aggregate(profile, selection)
    yield aggregation
    feedback, advice = _advice(profile, aggregation)
    yield Judgement([feedback], [advice], broken_rules(profile, aggregation))


def _advice(profile: Profile, aggregation: Aggregation) -> tuple[list[Feedback], Advice]:
    """What DLProf's table of findings gets, and what our own do.

    With DLProf's markers its table holds what its own detectors say, as it would; elsewhere our findings.
    """
    from tensorboard_plugin_dlprof.analysis.engine import feedback, judge
    from tensorboard_plugin_dlprof.database.advice_rows import Advice
    from tensorboard_plugin_dlprof.efficiency.measure import measure
    from tensorboard_plugin_dlprof.efficiency.rates import efficiency

    found = efficiency(profile, measure(profile), aggregation)
    verdict = judge(profile, aggregation, found)
    if not profile.dlprof_markers:
        return feedback(verdict), Advice(found, verdict)
    from tensorboard_plugin_dlprof.analysis.dlprof_detectors import detect

    return detect(profile, aggregation), Advice(found, verdict)


class Choice(msgspec.Struct, frozen=True):
    """What the user may choose for one aggregation; ``None`` is the default."""

    iter_start: int | None = None
    iter_stop: int | None = None
    """First and last iteration, inclusive."""
    key_op: str | None = None
    """Name or id of the op whose end ends an iteration."""
    candidate: str | None = None
    """Label or kind of one of the ways in which the import found iterations."""


class Aggregated(msgspec.Struct, frozen=True):
    """Which aggregation has what was chosen; ``is_new`` is false where the database had it already."""

    aggregation: int
    is_new: bool


@memory_for_millions()
@files_used_again()
def aggregate_database(database: Path, target: Path, choice: Choice, progress: Progress) -> Aggregated:
    """Puts a copy of ``database``, ours or NVIDIA's, with one more aggregation in place atomically.

    Nothing is written where the database has the same aggregation. ``target`` may be ``database``.

    Raises:
        BadRequest: the choice does not fit the profile.
        ProfileError: with the sentence to show.
    """
    from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
    from tensorboard_plugin_dlprof.aggregation.invariants import broken_rules
    from tensorboard_plugin_dlprof.database.adding import add_aggregation, same_aggregation
    from tensorboard_plugin_dlprof.database.connection import open_database, refuse_other_extensions
    from tensorboard_plugin_dlprof.database.reader import read_profile

    progress("Reading the database", 0.0)
    with closing(open_database(database)) as connection:
        refuse_other_extensions(connection)
        profile = read_profile(connection)
        progress("Aggregating", 0.3)
        selection = Selection(choice.key_op, choice.iter_start, choice.iter_stop, choice.candidate)
        aggregation = aggregate(profile, selection)
        same = same_aggregation(connection, aggregation)
        if same is not None:
            return Aggregated(same, is_new=False)
        profile.coverage.broken_rules += broken_rules(profile, aggregation)
        feedback, advice = _advice(profile, aggregation)
        added = add_aggregation(
            database,
            target,
            connection,
            profile,
            aggregation,
            feedback,
            lambda fraction: progress("Writing the database", 0.5 + fraction / 2),
            advice,
        )
    return Aggregated(added, is_new=True)


def delete_aggregation(database: Path, target: Path, aggregation: int, progress: Progress) -> None:
    """Puts a copy of ``database`` without one of its aggregations in place atomically.

    Raises:
        ProfileError: with the sentence to show.
    """
    from tensorboard_plugin_dlprof.database.adding import leave_out_aggregation

    leave_out_aggregation(database, target, aggregation, lambda fraction: progress("Writing the database", fraction))


def judge_database(database: Path, choice: Choice, progress: Progress) -> dict[str, Any]:
    """What our rules say about iterations of a database, which may be NVIDIA's: ``engine.as_data`` of the verdict.

    Raises:
        ProfileError: with the sentence to show.
    """
    from tensorboard_plugin_dlprof.analysis.engine import as_data

    profile, aggregation, _ = _of_database(database, choice, progress)
    return as_data(_advice(profile, aggregation)[1].verdict)


def measure_database(database: Path, target: Path, aggregation: int, choice: Choice, progress: Progress) -> None:
    """Puts beside a database that has none, such as NVIDIA's, the efficiency of its ops: ``database.measured``.

    Args:
        database: it is not changed.
        target: the file to make.
        aggregation: id of the aggregation there.
        choice: its iterations.
        progress: of the work.

    Raises:
        ProfileError: with the sentence to show.
    """
    from tensorboard_plugin_dlprof.database.measured import write_measured
    from tensorboard_plugin_dlprof.efficiency.measure import measure
    from tensorboard_plugin_dlprof.efficiency.rates import efficiency

    profile, aggregated, op_ids = _of_database(database, choice, progress)
    write_measured(target, aggregation, op_ids, profile, efficiency(profile, measure(profile), aggregated))


def _of_database(database: Path, choice: Choice, progress: Progress) -> tuple[Profile, Aggregation, Int64s]:
    """The profile in a database, its aggregation over the iterations chosen, and the id there of each of its ops."""
    from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
    from tensorboard_plugin_dlprof.database.connection import open_database
    from tensorboard_plugin_dlprof.database.measured import ids_of_ops
    from tensorboard_plugin_dlprof.database.reader import read_profile

    progress("Reading the database", 0.0)
    with closing(open_database(database)) as connection:
        profile = read_profile(connection)
        op_ids = ids_of_ops(connection)
    progress("Aggregating", 0.5)
    selection = Selection(choice.key_op, choice.iter_start, choice.iter_stop, choice.candidate)
    return profile, aggregate(profile, selection), op_ids
