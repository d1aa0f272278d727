"""The job that a profile is a rank of, for the page GPUs and Ranks."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from tensorboard_plugin_dlprof.database.job_places import folders_of, job_databases, rank_place
from tensorboard_plugin_dlprof.database.job_rows import member_stem, opened_job, read_job_members
from tensorboard_plugin_dlprof.errors import NotADatabase, NotFound, ProfileError
from tensorboard_plugin_dlprof.imports.lru_cache import LruCache
from tensorboard_plugin_dlprof.imports.rank_jobs import RankFile, RankJobManager
from tensorboard_plugin_dlprof.opening.regular_file import Identity, shown
from tensorboard_plugin_dlprof.opening.sqlite_file import deadline
from tensorboard_plugin_dlprof.queries import job as queries
from tensorboard_plugin_dlprof.queries.job_waits import wait_fraction
from tensorboard_plugin_dlprof.routes.databases import QUERY_SECONDS, identity
from tensorboard_plugin_dlprof.routes.profiles import ImportProgress, NamedFile
from tensorboard_plugin_dlprof.runs.catalog import Snapshot
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tensorboard_plugin_dlprof.runs.siblings import Siblings, siblings_of

if TYPE_CHECKING:
    from sqlite3 import Connection

    from tensorboard_plugin_dlprof.routes.parameters import (
        JobCellsRequest,
        JobCollectiveRequest,
        JobCollectivesRequest,
        ProfileRequest,
    )

_MOST_KNOWN = 200_000
"""Ranks in all databases of jobs that are cached."""


MOST_RANKS = 64
"""Ranks of a job that the server makes; the command can read those of larger ones in many processes."""

_QUICK_RANKS, _QUICK_BYTES = 32, 8 << 20
"""A job of no more ranks and bytes of sources takes a second or two: databases hold what is compared, sources are read
for it."""


class Place(NamedTuple):
    """The database of a job, the folder that its ranks have in common, and the rank in it that a profile is."""

    path: Path
    identity: Identity
    folder: Path
    rank: int


class Jobs:
    """Finds the jobs of profiles: a job's database lies in the folder of its ranks, or above it, or is in the cache.

    Args:
        made: The jobs in the cache.
        with_ranks: Adds what a profile's database says of its rank, and returns how many ranks it holds.
    """

    def __init__(self, made: RankJobManager, with_ranks: Callable[[ListedProfile], tuple[ListedProfile, int]]) -> None:
        self._made, self._with_ranks = made, with_ranks
        self._known: LruCache[tuple[Path, Identity], dict[str, int]] = LruCache(_MOST_KNOWN, len)
        """The ranks in the databases that were looked into, by the path of the rank without the suffix."""
        self._listed: tuple[tuple[ListedProfile, ...], dict[str, ListedProfile]] = (), {}
        """The last list of profiles, by path without suffix."""
        self._read: tuple[tuple[Path, Identity] | None, dict[str, Any]] = None, {}
        """The job that was read last, which is the same on the pages of all of its ranks."""
        self._siblings: tuple[tuple[ListedProfile, ...], dict[str, Siblings | None]] = (), {}
        """The ranks of the jobs of profiles of the last list."""

    def find(self, profile: ListedProfile, snapshot: Snapshot) -> Place | None:
        """The job of a profile; None if there is none, or none that can be read."""

        def cached(folder: Path) -> Iterable[Path]:
            siblings = self.siblings(profile, snapshot)
            if siblings is None or len(siblings.files) > MOST_RANKS:
                return ()
            return self._made.databases(folder, rank_files(siblings))

        return self._find(profile, job_databases) or self._find(profile, cached)

    def _find(self, profile: ListedProfile, databases_of: Callable[[Path], Iterable[Path]]) -> Place | None:
        file = profile.file
        if file is None:
            return None
        levels = 1 if profile.run == "." else profile.run.count("/") + 2
        for folder, below in folders_of(rank_place(file.path), levels):
            for path in databases_of(folder):
                result = self._ranks(path)
                if result is not None and (rank := result[1].get(below)) is not None:
                    return Place(path, result[0], folder, rank)
        return None

    def siblings(self, profile: ListedProfile, snapshot: Snapshot) -> Siblings | None:
        """What may be the other ranks of a profile's job; None if there are no others."""
        known, siblings = self._siblings
        if known is not snapshot.profiles:
            siblings = {}
            self._siblings = snapshot.profiles, siblings
        if profile.profile_id not in siblings:
            known_rank, processes = self._with_ranks(profile)
            siblings[profile.profile_id] = siblings_of(known_rank, snapshot.profiles, processes)
        return siblings[profile.profile_id]

    def offer(self, profile: ListedProfile, snapshot: Snapshot, import_mode: str) -> JobOffer | None:
        """The ranks that could be compared, and how far that is; None if there are no others."""
        siblings = self.siblings(profile, snapshot)
        if siblings is None:
            return None
        job = self._made.status(siblings.folder, rank_files(siblings))
        return {
            "run": siblings.run,
            "files": len(siblings.files),
            "has_sources": siblings.has_sources,
            "processes": siblings.processes,
            "size_bytes": sum(each.size_bytes for each in siblings.files),
            "is_quick": len(siblings.files) <= _QUICK_RANKS
            and sum(each.size_bytes for each in rank_files(siblings) if not each.is_database) <= _QUICK_BYTES,
            "is_possible": import_mode != "off" and len(siblings.files) <= MOST_RANKS,
            "state": "offered" if job is None or job.state == "cancelled" else job.state,
            "message": "" if job is None else job.message,
            "progress": None
            if job is None or job.state != "running"
            else ImportProgress(stage=job.stage, fraction=job.fraction, elapsed_s=round(job.elapsed_s, 1)),
        }

    def _listed_by_path(self, snapshot: Snapshot) -> Mapping[str, ListedProfile]:
        """Profiles by path without suffix. There may be thousands, and pages of a job ask for them again and again."""
        known, profiles = self._listed
        if known is not snapshot.profiles:
            profiles = {}
            for profile in snapshot.profiles:
                if profile.file is not None:
                    profiles[os.fspath(rank_place(profile.file.path))] = profile
            self._listed = snapshot.profiles, profiles
        return profiles

    def page(self, connection: Connection, place: Place, snapshot: Snapshot) -> dict[str, Any]:
        """The field ``job`` of the body of ``./job``."""
        key = (place.path, place.identity)
        known, read = self._read
        if known != key:
            read = _job(connection)
            self._read = key, read
        profiles, folder = self._listed_by_path(snapshot), os.fspath(place.folder)
        members = [profiles.get(f"{folder}/{stem}") for stem in read["stems"]]
        named = [None if member is None else {"run": member.run, "name": member.name} for member in members]
        exposed = queries.exposed_of(connection, place.rank)
        return {**read["job"], "rank": place.rank, "profiles": named, "exposed_by_iteration": exposed}

    def _ranks(self, path: Path) -> tuple[Identity, dict[str, int]] | None:
        try:
            key = (path, identity(path))
        except NotFound:
            return None
        return key[1], self._known.made(key, lambda: _members(path))


def _members(path: Path) -> dict[str, int]:
    """The ranks in a database; none in one that is damaged or of another version: its ranks can be compared anew."""
    try:
        return read_job_members(path)
    except (ProfileError, OSError, ValueError, TypeError):
        return {}


def rank_files(siblings: Siblings) -> tuple[RankFile, ...]:
    """The files of the ranks, as a job is made of them."""
    return tuple(
        RankFile(each.path, each.real, each.size_bytes, each.mtime_ns, each.shown_name) for each in siblings.files
    )


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    """A connection to the database of a job for one request.

    Raises:
        NotADatabase: it cannot be read; the message has no path.
    """
    try:
        with opened_job(path) as connection, deadline(connection, QUERY_SECONDS):
            yield connection
    except NotADatabase as error:
        what = str(error).replace(shown(path), path.name)
        if "dlprof job" not in what:
            what = f"The job {path.name} is damaged; make it again with dlprof job."
        raise NotADatabase(what) from error.__cause__


class RankColumns(TypedDict):
    """What the page shows of the ranks, in columns: sums over ``iterations``, those that the rank has; 0 where none are
    in the job: then of the time from its first to its last GPU work."""

    rank: list[int]
    iterations: list[int]
    host: list[str]
    coordinates: list[str]
    window_ns: list[int | None]
    overlapped_ns: list[int | None]
    last: list[int]
    compute_ns: list[int | None]
    exposed_communication_ns: list[int | None]
    exposed_transfer_ns: list[int | None]
    exposed_wait_ns: list[int | None]
    exposed_unmatched_ns: list[int | None]
    exposed_copy_ns: list[int | None]
    idle_ns: list[int | None]
    compute_tensor_ns: list[int | None]
    compute_other_ns: list[int | None]
    compute_unknown_ns: list[int | None]
    data_loader_ns: list[int | None]
    queued_ns: list[int | None]
    blocked_ns: list[int | None]
    launching_ns: list[int | None]
    host_op_ns: list[int | None]
    host_code_ns: list[int | None]
    io_ns: list[int | None]
    launch_unknown_ns: list[int | None]
    unrecorded_ns: list[int | None]
    own_delay_ns: list[int | None]
    cost_ns: list[int | None]


class IterationColumns(TypedDict):
    """The iterations of a job, in columns; empty where none were found."""

    iteration: list[int]
    median_ns: list[int]


class ExposedByIteration(TypedDict):
    """A rank's exposed communication in each of the job's iterations; null where it lacks one."""

    exposed_transfer_ns: list[int | None]
    exposed_wait_ns: list[int | None]
    exposed_unmatched_ns: list[int | None]


class JobPage(TypedDict):
    """What the page of a job shows, besides what ``dlprof distributed`` prints."""

    rank: int
    ranks: RankColumns
    profiles: list[NamedFile | None]
    iterations_by_number: IterationColumns
    exposed_by_iteration: ExposedByIteration
    """Of the profile's rank."""
    delayed_at: int | None
    """The row of ``collectives`` at which most of the own delay of the verdict's rank was seen; null where the verdict
    names no rank by its own delay, or the delay was seen at none."""


class JobOffer(TypedDict):
    """The ranks of a job that nobody has compared yet."""

    run: str
    """The folder that they are all below, as TensorBoard names it."""
    files: int
    """How many would be read."""
    has_sources: bool
    """Whether any of them is a source; else all are databases."""
    processes: int
    """How many ranks are in the profile itself."""
    size_bytes: int
    """The sizes of the files together."""
    is_quick: bool
    """Whether comparing them takes a second or two, so that nobody need ask for it."""
    is_possible: bool
    """Whether this server compares them: it may import, and they are not too many."""
    state: Literal["offered", "queued", "running", "done", "failed"]
    """``done`` where they were compared, but the profile is not among those that could be."""
    message: str
    """Why it failed or was cancelled."""
    progress: ImportProgress | None


class RankSummary(TypedDict):
    """What the pages of a single rank say of its job."""

    name: str
    rank: int
    world_size: int
    knows_ranks: bool
    communication_wait_fraction: float | None
    """How much of its exposed communication waits for other ranks."""
    own_delay_ns: int | None
    sentence: str


class JobCells(TypedDict):
    """A measure of all ranks in all iterations."""

    rows: int
    columns: int
    first: int
    """The place of the first column's iteration among all iterations, from 0."""
    ranks: int
    """How many ranks a cell stands for."""
    iterations: int
    """How many iterations a cell stands for."""
    unit_ns: int
    unknown: int
    cells: str
    """Base64 of little-endian 32-bit numbers, row after row."""


class CollectiveMember(TypedDict):
    """A rank in an operation, on the job's common clock."""

    rank: int
    wait_ns: int
    start_ns: int


class CollectiveMembers(TypedDict):
    """The ranks in an operation."""

    members: list[CollectiveMember]


def _job(connection: Connection) -> dict[str, Any]:
    """What the pages of all ranks of a job show of it, and where the profiles of the ranks are."""
    ranks = queries.rank_columns(connection)
    stems = [member_stem(database) for database in ranks.pop("database")]
    ranks["cost_ns"] = tuple(queries.costs_of(connection))
    answer = queries.answer(connection)
    verdict = answer["verdict"]
    is_by_delay = verdict["rank"] is not None and verdict["stage"] is None and verdict["cause"] != "link"
    reported = {
        **answer,
        "delayed_at": queries.most_delayed_at(connection, verdict["rank"]) if is_by_delay else None,
        "ranks": ranks,
        "iterations_by_number": _columns(queries.iterations(connection)),
        "groups": queries.groups(connection),
        "collectives": queries.collective_stats(connection),
        "pairs": queries.pairs(connection),
        "findings": queries.findings(connection),
    }
    return {"stems": stems, "job": reported}


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns, which say their names once."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def summary(connection: Connection, place: Place, _asked: ProfileRequest) -> dict[str, Any]:
    """The body of ``./job_rank``: what the pages of a single rank say of its job."""
    result = queries.answer(connection)
    rank = queries.rank(connection, place.rank)
    reported: RankSummary = {
        "name": result["job"],
        "rank": place.rank,
        "world_size": result["world_size"],
        "knows_ranks": result["knows_ranks"],
        "communication_wait_fraction": wait_fraction(connection, place.rank),
        "own_delay_ns": rank["own_delay_ns"],
        "sentence": result["verdict"]["sentence"],
    }
    return {"job": reported}


def cells(connection: Connection, _place: Place, asked: JobCellsRequest) -> dict[str, Any]:
    """The body of ``./job_cells``."""
    shape, packed = queries.heat_map(connection, asked.measure, asked.start, asked.stop)
    return {**shape, "unknown": queries.UNKNOWN_CELL, "cells": base64.b64encode(packed).decode()}


def collectives(connection: Connection, _place: Place, asked: JobCollectivesRequest) -> dict[str, Any]:
    """The body of ``./job_collectives``."""
    iterations = None if asked.iteration is None else (asked.iteration, asked.iteration)
    return {"collectives": queries.collectives(connection, asked.limit, iterations, asked.stats, asked.rank)}


def collective(connection: Connection, _place: Place, asked: JobCollectiveRequest) -> dict[str, Any]:
    """The body of ``./job_collective``."""
    return {"collective": queries.collective(connection, asked.id)}
