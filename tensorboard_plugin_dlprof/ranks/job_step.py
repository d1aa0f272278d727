"""The job step: all that follows from the ranks of a job together, from what their imports stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.database.job_rows import (
    JobTables,
    member_stem,
    read_job_info,
    read_job_members,
    write_job,
)
from tensorboard_plugin_dlprof.errors import NotFound, ProfileError
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.metadata import JOB_SUFFIX, JOB_VERSION
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.queries.job import MEASURES
from tensorboard_plugin_dlprof.ranks.answer import answer_of
from tensorboard_plugin_dlprof.ranks.cells import (
    cells_of,
    fraction,
    iteration_rows,
    most_lost,
    packed,
    positions,
)
from tensorboard_plugin_dlprof.ranks.clocks import align, believe, measure_residual
from tensorboard_plugin_dlprof.ranks.evidence import evidence
from tensorboard_plugin_dlprof.ranks.findings import findings_of
from tensorboard_plugin_dlprof.ranks.links import links_of
from tensorboard_plugin_dlprof.ranks.matching import match
from tensorboard_plugin_dlprof.ranks.member_rows import group_rows, rank_rows
from tensorboard_plugin_dlprof.ranks.members import Fingerprint, Job, find_jobs
from tensorboard_plugin_dlprof.ranks.noise import Comparisons
from tensorboard_plugin_dlprof.ranks.operation_rows import collective_rows, stats_of
from tensorboard_plugin_dlprof.ranks.own_delay import Delays, delays_of_iterations, own_delays
from tensorboard_plugin_dlprof.ranks.pairs import pair_rows
from tensorboard_plugin_dlprof.ranks.parallelism import dimensions_of, groups_of, stages_of
from tensorboard_plugin_dlprof.ranks.verdict import Facts, Verdict, judge
from tensorboard_plugin_dlprof.ranks.waiting import exposed_parts, times_of
from tensorboard_plugin_dlprof.ranks.warm_up import without_warm_up


class Made(msgspec.Struct, frozen=True):
    """A job's database."""

    database: Path
    ranks: int
    world_size: int
    is_new: bool
    """False if it was up to date already."""
    sentence: str
    """The verdict."""
    warnings: list[str]


def make_jobs(
    folder: Path,
    force: bool = False,
    progress: Callable[[str, float], None] = lambda _stage, _fraction: None,
    into: Path | None = None,
) -> tuple[list[Made], list[str]]:
    """Make the databases of the jobs below a folder, each beside the databases of its ranks; see ``find_jobs``.

    A job whose ranks have not changed is left alone. Databases below its folder of jobs of none but ranks of it are
    removed: they were made when only some of its ranks were there. ``into`` names another folder for the databases of
    the jobs; then nothing is removed.

    Returns:
        The jobs, and a sentence for each profile that was left out.

    Raises:
        NotFound: there is no such folder, or no profile of more than one rank below it.
        BadRequest: the profiles contradict each other.
        OutputNotWritable: a database cannot be written.
    """
    progress("Reading the ranks", 0.0)
    jobs, unusable = find_jobs(folder)
    if not jobs:
        raise NotFound(
            f"{shown(folder)}: none of the profiles below this folder can be used. {unusable[0]}"
            if unusable
            else f"{shown(folder)}: there is no imported profile below this folder; make one of each rank with dlprof "
            "import DIR --job."
        )
    made = []
    for number, job in enumerate(jobs):
        progress("Comparing the ranks", (number + 0.5) / len(jobs))
        made.append(make_job(job, force, into))
        if into is None:
            _remove_parts_of(job)
    return made, unusable


def _remove_parts_of(job: Job) -> None:
    stems = {job.folder / member_stem(member.database.path) for member in job.members}
    for path in job.folder.rglob(f"*{JOB_SUFFIX}"):
        with suppress(ProfileError, OSError, ValueError, TypeError):  # what cannot be read is left alone
            if path != job.database and {path.parent / stem for stem in read_job_members(path)} <= stems:
                path.unlink()


def make_job(job: Job, force: bool = False, into: Path | None = None) -> Made:
    """Make the database of one job, or keep the one that is there if its ranks have not changed.

    Raises:
        OutputNotWritable: it cannot be written.
    """
    target = into / job.database.name if into else job.database
    mark = _fingerprint(member.database for member in job.members)
    if not force:
        known = read_job_info(target)
        if known.get("fingerprint") == mark and known.get("job_version") == str(JOB_VERSION):
            with suppress(ValueError, LookupError, TypeError):  # a damaged one is made anew
                answer = json.loads(known["answer"])
                sentence = answer["verdict"]["sentence"]
                return Made(target, len(job.members), job.world_size, False, sentence, answer["warnings"])
    tables, verdict, warnings = _tables(job, mark)
    write_job(target, tables)
    return Made(target, len(job.members), job.world_size, True, verdict.sentence, warnings)


def _fingerprint(databases: Iterable[Fingerprint]) -> str:
    names = sorted({(each.path, each.size_bytes, each.mtime_ns) for each in databases})
    return hashlib.sha256(repr((JOB_VERSION, names)).encode()).hexdigest()


def _tables(job: Job, mark: str) -> tuple[JobTables, Verdict, list[str]]:
    job, warm_up = without_warm_up(job)
    matches = match(job)
    sequences = matches.sequences
    clocks = align(job, sequences)
    believe(sequences, clocks)
    measure_residual(sequences, clocks)
    times = [times_of(each) for each in sequences]
    exposed = exposed_parts(job, sequences, times)
    delays = own_delays(job, sequences, times)
    cells = cells_of(job, exposed)
    position = positions(job, sequences, delays, cells)
    judged = evidence(job, matches, times, delays, position, cells)
    delays, position = judged.of_operations, judged.of_operations_iteration
    has_waits = any(each.used.any() for each in sequences)
    own = cells.measures["own_delay"]
    if has_waits:
        inside = position >= 0
        own[cells.measures["duration"] >= 0] = 0
        np.add.at(own, (delays.member[inside], position[inside]), delays.own_delay_ns[inside])
    lost = most_lost(job, cells.measures["exposed_wait"], cells.measures["exposed_unmatched"])
    cells.measures["cost"] = np.minimum(own, lost)
    groups = groups_of(job, matches)
    dimensions, coordinates = dimensions_of(job, groups)
    stages = stages_of(job, dimensions, coordinates)

    def whole_iterations() -> tuple[Delays, Int64s, Comparisons]:
        whole, numbers, comparisons = delays_of_iterations(job, judged.sequences, judged.times, stages)
        return whole, np.searchsorted(cells.numbers, numbers), comparisons

    duration = cells.measures["duration"]
    links = links_of(job, judged.sequences, judged.times)
    facts = Facts(
        job=job,
        sequences=judged.sequences,
        links=links,
        delays=judged.delays,
        iteration=judged.iteration,
        comparisons=judged.comparisons,
        from_start=judged.from_start,
        is_of_iterations=judged.is_of_iterations,
        of_iterations=judged.of_iterations,
        whole_iterations=whole_iterations,
        iterations=len(cells.numbers),
        median_iteration_ns=int(np.median(duration[duration >= 0])) if (duration >= 0).any() else 0,
        wait_fraction=fraction(cells, "exposed_wait") if has_waits else None,
        unmatched_fraction=fraction(cells, "exposed_unmatched") if has_waits else None,
        dimensions=dimensions,
        coordinates=coordinates,
        compute_ns=cells.measures["compute"],
        most_lost_ns=lost,
    )
    verdict = judge(facts)
    warnings = [*job.warnings, *clocks.warnings]
    stats = stats_of(job, groups, sequences, times)
    collectives, rows = collective_rows(job, groups, sequences, times, delays, clocks)
    answer = answer_of(job, matches, clocks, facts, verdict, cells, warnings, rows, warm_up)
    findings = findings_of(facts, verdict, cells.measures, stats)
    tables = JobTables(
        info={
            "job_version": str(JOB_VERSION),
            "name": job.name,
            "world_size": str(job.world_size),
            "knows_ranks": str(int(job.knows_ranks)),
            "fingerprint": mark,
            "answer": json.dumps(answer),
        },
        ranks=rank_rows(job, clocks, exposed, sequences, times, delays, coordinates, has_waits),
        iterations=iteration_rows(job, cells),
        matrix=[packed(measure, cells.measures[measure]) for measure in MEASURES],
        groups=group_rows(groups, sequences, times, links.slow_sequences),
        collectives=collectives,
        stats=stats,
        pairs=pair_rows(job, sequences, times, links.slow_sequences),
        findings=findings,
    )
    return tables, verdict, warnings
