"""The whole conversion: source file -> events -> profile -> aggregation -> database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from tensorboard_plugin_dlprof.aggregation import Selection as Selection
from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.aggregation.invariants import broken_rules
from tensorboard_plugin_dlprof.aggregation.selection import fitting
from tensorboard_plugin_dlprof.aggregation.tables import Aggregation
from tensorboard_plugin_dlprof.analysis.as_findings import as_findings
from tensorboard_plugin_dlprof.analysis.dlprof_detectors import detect
from tensorboard_plugin_dlprof.analysis.engine import feedback, judge
from tensorboard_plugin_dlprof.analysis.tables import Feedback, Verdict
from tensorboard_plugin_dlprof.classify.directions import DIRECTIONS
from tensorboard_plugin_dlprof.classify.kernels import DEFAULT, Classifier
from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.classify.rules.rule import Rule
from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.store import release_freed, spill_columns
from tensorboard_plugin_dlprof.counters.matching import apply_counters
from tensorboard_plugin_dlprof.counters.reading import read_report
from tensorboard_plugin_dlprof.database.adding import add_aggregation, same_aggregation
from tensorboard_plugin_dlprof.database.advice_rows import Advice, write_advice, write_device_peaks
from tensorboard_plugin_dlprof.database.connection import (
    is_dlprof_database,
    is_foreign,
    open_database,
)
from tensorboard_plugin_dlprof.database.coverage import why_no_gpu_work
from tensorboard_plugin_dlprof.database.diagnosis_rows import write_activity, write_diagnosis
from tensorboard_plugin_dlprof.database.dlprof_import import aggregations_of, carried_over, ids_of, ids_of_ops
from tensorboard_plugin_dlprof.database.fingerprint import SourceIdentity, identify
from tensorboard_plugin_dlprof.database.rank_files import write_rank_file
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.track_rows import write_tracks
from tensorboard_plugin_dlprof.database.writer import Judgement, write_database
from tensorboard_plugin_dlprof.diagnosis.activity import complete
from tensorboard_plugin_dlprof.diagnosis.answer import Diagnosis, candidate_of, diagnose
from tensorboard_plugin_dlprof.diagnosis.as_data import as_data
from tensorboard_plugin_dlprof.diagnosis.headline import without_gpu
from tensorboard_plugin_dlprof.efficiency.measure import measure
from tensorboard_plugin_dlprof.efficiency.rates import efficiency
from tensorboard_plugin_dlprof.errors import BadRequest, BrokenSource, ProfileError, UnfitDatabase
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.events.cleaning import OF_LAUNCHES, without
from tensorboard_plugin_dlprof.events.tables import Capture, Ranges
from tensorboard_plugin_dlprof.importers import find_importer
from tensorboard_plugin_dlprof.importers.importer import Progress
from tensorboard_plugin_dlprof.importers.importer import ReadOptions as ReadOptions
from tensorboard_plugin_dlprof.memory.answer import answer
from tensorboard_plugin_dlprof.memory.answer import headline as memory_headline
from tensorboard_plugin_dlprof.memory.from_events import histories
from tensorboard_plugin_dlprof.opening.limited_work import limited
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.opening.sqlite_file import reading
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.ranks.rank_step import rank_tables
from tensorboard_plugin_dlprof.throughput.find import find_batches
from tensorboard_plugin_dlprof.timeline.build import build_tracks


class ImportOptions(msgspec.Struct, frozen=True):
    """The options of one import."""

    key_op: str | None = None
    """Name or id of the op that ends each iteration."""
    iter_start: int | None = None
    iter_stop: int | None = None
    """First and last iteration to aggregate, inclusive."""
    typical: bool = True
    """Whether, without these and a key op, only the typical iterations are aggregated (``diagnosis.windows``), not all.
    Captures with DLProf's markers keep DLProf's."""
    profile_name: str = ""
    original_command: str = ""
    """Command line to store, with secrets already masked."""
    lenient: bool = False
    """Whether to ignore, with a warning, a key op or a range of iterations that the profile does not have."""
    kernel_rules: tuple[Rule, ...] = ()
    """The user's kernel rules, tried before ours."""
    counters: Path | None = None
    """Hardware counters of the same program: CSV of Nsight Compute, or a PyTorch trace with counters in place of
    kernels. They take precedence over kernel names."""
    simple: bool = False
    """DLProf's simple mode: one op stands for the whole program."""
    samples_per_iteration: int | None = None
    tokens_per_iteration: int | None = None
    """What an iteration works on; by default what shapes tell."""
    read: ReadOptions = msgspec.field(default_factory=ReadOptions)


class ImportResult(msgspec.Struct, frozen=True):
    """The result of an import."""

    database: Path
    warnings: list[str]
    """What was skipped, missing or repaired: one sentence each."""
    key_op: str
    """The key op that was used; empty if none was named, or it was ignored."""


@limited
def import_source(source: Path, database: Path, options: ImportOptions, progress: Progress) -> ImportResult:
    """Convert ``source``, and put the finished ``database`` in place atomically.

    Args:
        source: A trace or database of any format that an importer recognises.
        database: The file to create or replace.

    Raises:
        ProfileError: The source cannot be read, the options do not fit it, or the database cannot be written.
    """
    if is_foreign(source):
        import_dlprof_database(source, database, progress)
        return ImportResult(database, [], "")
    counters = _counters(options.counters) if options.counters is not None else None
    profile, identity = _read_unchanged(source, database, options, progress)
    left_out = counters(profile) if counters is not None else []
    complete(profile)
    selection, unfit = _selection(profile, options)
    warnings = write_database(
        database,
        source,
        profile,
        lambda: aggregate(profile, selection),
        lambda aggregation: judgement(profile, aggregation, source.name),
        profile_name=options.profile_name,
        original_command=options.original_command,
        identity=identity,
    )
    return ImportResult(database, left_out + unfit + warnings, selection.key_op or "")


@limited
def import_ranks_of(source: Path, database: Path, options: ImportOptions, progress: Progress) -> None:
    """Write only what the job of ``source`` needs of it, into a small database, atomically.

    Raises:
        ProfileError: The source cannot be read, or the database cannot be written.
    """
    write_rank_file(database, *_read_unchanged(source, database, options, progress))


def _read_unchanged(
    source: Path, database: Path, options: ImportOptions, progress: Progress
) -> tuple[Profile, SourceIdentity]:
    """The profile in a source, and what identifies the source, which does not change meanwhile."""
    importer = find_importer(source)
    before = identify(source)
    # The system's folder of temporary files may be small, or in memory.
    reading = msgspec.structs.replace(options.read, folder=options.read.folder or database.parent)
    profile = _profile([importer.read(source, reading, progress)], options)
    if identify(source) != before:
        # Otherwise the database would be considered up to date although parts of the file are missing from it.
        raise BrokenSource(f"{shown(source)} changed while it was read; import it again when it is complete.")
    return profile, before


def _profile(captures: list[Capture], options: ImportOptions) -> Profile:
    """The profile of the only capture in a list. It is removed from the list, so that its tables are freed early."""
    classifier = Classifier(options.kernel_rules) if options.kernel_rules else DEFAULT
    of_ranks = msgspec.structs.replace(captures[0], ranges=empty(Ranges), work=without(captures[0].work, *OF_LAUNCHES))
    profile = build_profile(captures.pop(), simple=options.simple, classifier=classifier)
    profile.ranks = rank_tables(of_ranks, profile)
    release_freed()
    profile.memory_histories = of_ranks.memory_histories or histories(profile)
    for history in profile.memory_histories:
        spill_columns(history)
        spill_columns(history.blocks)
    profile.batches = find_batches(profile)
    profile.batches.samples_per_iteration = options.samples_per_iteration
    profile.batches.tokens_per_iteration = options.tokens_per_iteration
    del of_ranks
    release_freed()
    return profile


def _selection(profile: Profile, options: ImportOptions) -> tuple[Selection, list[str]]:
    """What to aggregate, and a warning for each option that was ignored."""
    typical = options.typical and not profile.dlprof_markers and options.key_op is None
    selection = Selection(options.key_op, options.iter_start, options.iter_stop, typical=typical)
    return fitting(profile, selection) if options.lenient else (selection, [])


def _counters(path: Path) -> Callable[[Profile], list[str]]:
    """Read counters; returns a function that applies them to a profile and returns warnings."""
    report = read_report(path)
    return lambda profile: apply_counters(profile, report, str(path))


def judgement(profile: Profile, aggregation: Aggregation, source: str) -> Judgement:
    """What the expert system makes of an aggregation. ``source`` is the name of the imported file."""
    feedback, advice = _advice(profile, aggregation)
    release_freed()
    diagnosis = _diagnosis(profile, aggregation, advice, source)
    result = Judgement(feedback, advice, diagnosis, broken_rules(profile, aggregation))
    release_freed()
    return result


def _diagnosis(profile: Profile, aggregation: Aggregation, advice: Advice, source: str) -> dict[str, Any] | None:
    """The diagnosis of the typical iterations as data; None if the advice is not about these."""
    diagnosis = advice.verdict.diagnosis
    if (
        diagnosis is None
        or diagnosis.candidate is not candidate_of(profile)
        or diagnosis.selected != diagnosis.typical.selected
    ):
        return None
    return _as_data(diagnosis, aggregation, source, advice.verdict, of_page=True)


def _as_data(
    diagnosis: Diagnosis, aggregation: Aggregation, source: str, verdict: Verdict, *, of_page: bool
) -> dict[str, Any]:
    data = as_data(diagnosis, source, as_findings(diagnosis.profile, verdict), of_page=of_page)
    if not diagnosis.devices and diagnosis.profile.memory_histories:
        data["headline"] = f"No GPU work was recorded, only memory. {memory_headline(diagnosis.profile)}"
    elif not diagnosis.devices:
        data["headline"] = _of_the_host(diagnosis.profile, aggregation)
        if not of_page:  # which says it in a place of its own
            data["headline"] = f"{data['headline']} {why_no_gpu_work(diagnosis.profile)}".rstrip()
    return data


def _of_the_host(profile: Profile, aggregation: Aggregation) -> str:
    """What takes the time of ops on the CPU, in the groups of the tables."""
    spent: Counter[tuple[str, str]] = Counter()
    nodes = aggregation.op_nodes
    for row, time in zip(nodes.op.tolist(), nodes.times.cpu.sum.tolist(), strict=True):
        op = profile.ops[row]
        spent[path_pattern(op.name), op.direction] += time
    groups = [(path, DIRECTIONS.get(direction, ""), time) for (path, direction), time in spent.items()]
    marked = aggregation.candidate.source != "whole_capture"
    return without_gpu(groups, len(aggregation.iterations.iter_value) if marked else 0, profile.info.end_ns)


def _advice(profile: Profile, aggregation: Aggregation) -> tuple[list[Feedback], Advice]:
    """The rows of DLProf's table of findings, and those of our own tables.

    For profiles with DLProf's markers, DLProf's table has the findings of its own detectors; otherwise it has ours.
    """
    rates = efficiency(profile, measure(profile), aggregation)
    release_freed()
    verdict = judge(profile, aggregation, rates)
    if not profile.dlprof_markers:
        return feedback(verdict), Advice(rates, verdict)
    return detect(profile, aggregation), Advice(rates, verdict)


@limited
def diagnose_source(
    source: Path,
    wanted: str | tuple[int, int],
    options: ImportOptions,
    progress: Progress,
    *,
    by_number: bool = False,
    of_page: bool = False,
) -> dict[str, Any]:
    """Where the time of a source or database goes, as ``diagnosis.as_data.as_data`` returns it. Nothing is written.

    Args:
        source: A trace or export of any format that an importer recognises, or a database, ours or NVIDIA's.
        wanted: The iterations that means and findings are of: ``typical``, ``all``, or their first and last position.
        by_number: Whether these are the numbers that tables and sentences show, not positions from 0.
        of_page: Whether iterations may be left out, as in ``as_data``.
        options: How to read a source.

    Raises:
        BadRequest: There are no iterations there.
        ProfileError: The source cannot be read.
    """
    profile = _of_any_database(source, progress) if is_dlprof_database(source) else _read(source, options, progress)
    diagnosis = diagnose(profile)
    count = len(diagnosis.start_ns)
    if not isinstance(wanted, str):
        first, last = wanted
        numbers = diagnosis.candidate.values.tolist() if by_number else range(count)
        if first not in numbers or last not in numbers:
            held = f"{numbers[0]} to {numbers[-1]}" if count else "none"
            raise BadRequest(f"There are no iterations {first} to {last}; this profile has {held}.")
        diagnosis.selected = [position for position, number in enumerate(numbers) if first <= number <= last]
    elif wanted == "all":
        diagnosis.selected = list(range(count))
    progress("Applying the rules", 0.9)
    candidate = candidate_of(profile)
    values = candidate.values
    bounds: tuple[int | None, int | None] = (None, None)
    if diagnosis.marked and diagnosis.selected:
        bounds = int(values[diagnosis.selected[0]]), int(values[diagnosis.selected[-1]])
    label = None if candidate is profile.iterations[0] else candidate.label
    selection = Selection(None, bounds[0], bounds[1], label)
    aggregation = aggregate(profile, selection)
    verdict = _advice(profile, aggregation)[1].verdict
    return _as_data(diagnosis, aggregation, source.name, verdict, of_page=of_page)


def diagnosis_or_none(database: Path, positions: tuple[int, int] | None) -> dict[str, Any] | None:
    """The diagnosis of a database, by default of its typical iterations, as pages get it; None after an error."""
    try:
        return diagnose_source(
            database, positions or "typical", ImportOptions(), lambda _stage, _fraction: None, of_page=True
        )
    except ProfileError:
        return None


@limited
def memory_of_source(source: Path, at_ns: int | None, progress: Progress) -> dict[str, Any]:
    """What holds the memory of GPUs, as ``memory.answer.answer`` returns it. Nothing is written.

    Args:
        source: A trace, a memory snapshot, or a database of either.
        at_ns: The moment to list; by default each GPU's peak.

    Raises:
        ProfileError: The source cannot be read.
    """
    is_database = is_dlprof_database(source)
    profile = _of_any_database(source, progress) if is_database else _read(source, ImportOptions(), progress)
    return answer(profile, source.name, at_ns)


def _read(source: Path, options: ImportOptions, progress: Progress) -> Profile:
    profile = _profile([find_importer(source).read(source, options.read, progress)], options)
    complete(profile)
    return profile


def _of_any_database(database: Path, progress: Progress) -> Profile:
    """The profile in a database, with the activity that it stores or tells."""
    progress("Reading the database", 0.0)
    with closing(open_database(database)) as connection:
        profile = read_profile(connection)
    complete(profile)
    return profile


class Aggregated(msgspec.Struct, frozen=True):
    """The aggregation that fulfils a ``Selection``."""

    aggregation: int
    """``aggregations.id`` in the database."""
    is_new: bool
    """False if the database had the same aggregation already."""


@limited
def import_dlprof_database(source: Path, database: Path, progress: Progress) -> None:
    """Carry a database of NVIDIA's DLProf over into our schema: its aggregates as they are, and with them efficiency,
    findings and tracks, which DLProf does not store.

    Args:
        source: the database, which is only read.
        database: the file to create or replace, atomically.

    Raises:
        ProfileError: The source cannot be read, or the database cannot be written.
    """
    progress("Reading the database", 0.0)
    with closing(open_database(source)) as connection, reading(connection.shown_name, UnfitDatabase):
        profile = read_profile(connection)
        complete(profile)
        progress("Writing the database", 0.3)
        with carried_over(connection, source, database) as new:
            ids, op_ids = ids_of(new, profile), ids_of_ops(new)
            write_activity(new, profile.activity)
            write_tracks(new, build_tracks(profile), ids)
            for number, start, stop, key_op in aggregations_of(connection):
                progress("Working out the efficiency", 0.6)
                try:
                    aggregation = aggregate(profile, Selection(key_op, start, stop))
                except BadRequest:
                    continue  # iterations that the profile does not hold any more
                advice = _advice(profile, aggregation)[1]
                if not new.execute("SELECT 1 FROM ext_device_peaks").fetchone():
                    write_device_peaks(new, advice.efficiency.peaks)
                write_advice(new, number, profile, aggregation, advice, ids.texts, op_ids)
                diagnosis = _diagnosis(profile, aggregation, advice, source.name)
                if diagnosis is not None and not new.execute("SELECT 1 FROM ext_diagnosis").fetchone():
                    write_diagnosis(new, diagnosis)


def in_our_schema(database: Path, target: Path, progress: Progress) -> Path:
    """The database itself if it is ours, else ``target``, into which it is imported.

    If it cannot be imported, the database again: what DLProf's tables say can still be read.
    """
    if not is_foreign(database):
        return database
    try:
        import_dlprof_database(database, target, progress)
    except UnfitDatabase:
        return database
    return target


@limited
def aggregate_database(database: Path, target: Path, selection: Selection, progress: Progress) -> Aggregated:
    """Copy a database with one more aggregation, and put the copy in place atomically.

    Args:
        database: The database to copy, ours or NVIDIA's.
        target: Where the copy goes; if this is ``database``, the copy replaces it. Nothing is written if the database
            has the same aggregation already.

    Raises:
        BadRequest: The selection does not fit the profile.
        ProfileError: The database cannot be read, or the copy cannot be written.
    """
    if is_foreign(database):
        with TemporaryDirectory(prefix=".dlprof-", dir=target.parent, ignore_cleanup_errors=True) as folder:
            imported = Path(folder, database.name)
            import_dlprof_database(database, imported, progress)
            return aggregate_database(imported, target, selection, progress)
    progress("Reading the database", 0.0)
    with closing(open_database(database)) as connection:
        profile = read_profile(connection)
        progress("Aggregating", 0.3)
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
