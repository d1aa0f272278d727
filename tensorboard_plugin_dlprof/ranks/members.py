"""Finds the profiles of a job: which databases belong together, and which rank each process in them is."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.database.connection import has_extensions, opened_database
from tensorboard_plugin_dlprof.database.rank_files import opened_ranks
from tensorboard_plugin_dlprof.database.rank_rows import read_ranks
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound, ProfileError
from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX, JOB_SUFFIX, RANK_SUFFIX
from tensorboard_plugin_dlprof.opening.regular_file import shown
from tensorboard_plugin_dlprof.profile.rank_tables import RankTables

_HOST_FOLDER = re.compile(r"(?:host|node)[-_.]?\w+", re.IGNORECASE)
"""Folders that are named after the host that wrote into them."""

_RANK_FOLDER = re.compile(r"\d{1,6}")
"""Folders of ranks, where the files do not say which rank they are: ``0/trace.json``, ``1/trace.json``."""

_MOST_DATABASES = 100_000


class Fingerprint(msgspec.Struct, frozen=True):
    """What changes when a database does."""

    path: str
    """Relative to the job's folder, with slashes."""
    size_bytes: int
    mtime_ns: int


class Member(msgspec.Struct, frozen=True):
    """One rank of a job."""

    rank: int
    database: Fingerprint
    name: str
    """Of the imported file."""
    process_index: int
    host: str
    base_ns: int
    """Time 0 of the rank's own times, on its clock."""
    tables: RankTables
    is_amd: bool

    @property
    def first_ns(self) -> int:
        """When its GPU work begins, on its clock; its base if it has none."""
        starts = [*self.tables.whole.start_ns.tolist(), *self.tables.parts.start_ns[:1].tolist()]
        return self.base_ns + min(starts, default=0)

    @property
    def last_ns(self) -> int:
        """When its GPU work ends."""
        stops = [*self.tables.whole.stop_ns.tolist(), *self.tables.parts.stop_ns[-1:].tolist()]
        return self.base_ns + max(stops, default=0)


class Job(msgspec.Struct, frozen=True):
    """The ranks that worked together in one capture, by rank."""

    folder: Path
    name: str
    members: list[Member]
    world_size: int
    knows_ranks: bool
    """False if the ranks are only numbered in the order of host and process."""
    warnings: list[str]

    @property
    def database(self) -> Path:
        """The job's own database."""
        return self.folder / f"{self.name}{JOB_SUFFIX}"


def databases_below(folder: Path) -> list[list[Path]]:
    """The databases of profiles in a folder and its subfolders, by path: of each the full one, then the small one.

    Raises:
        NotFound: there is no such folder.
    """
    if not folder.is_dir():
        raise NotFound(f"{shown(folder)} is not a folder; name the folder of a job's profiles.")
    databases: dict[Path, list[Path]] = defaultdict(list)
    for suffix in (DATABASE_SUFFIX, RANK_SUFFIX):
        for path in folder.rglob(f"*{suffix}"):
            if path.is_file():
                databases[path.with_name(path.name.removesuffix(suffix))].append(path)
    return sorted(databases.values())[:_MOST_DATABASES]


def fingerprint(folder: Path, database: Path) -> Fingerprint:
    """The fingerprint of a database below a folder."""
    status = database.stat()
    return Fingerprint(database.relative_to(folder).as_posix(), status.st_size, status.st_mtime_ns)


def find_jobs(folder: Path) -> tuple[list[Job], list[str]]:
    """The jobs whose databases lie below a folder, and a sentence for each database that cannot be used.

    Raises:
        NotFound: there is no such folder.
        BadRequest: two databases are of the same rank at the same time, or of GPUs of two vendors.
    """
    members, unusable = [], []
    for databases in databases_below(folder):
        reasons = []
        for database in databases:
            try:
                members += _members(folder, database)
                break
            except (ProfileError, ValueError, OSError) as error:
                is_known = isinstance(error, ProfileError)
                reason = str(error) if is_known else "what it holds of its ranks is damaged; import it again."
                reasons.append(f"{shown(database)} is left out: {reason}")
        else:
            unusable.append(reasons[0])
    jobs = []
    for each in _captures(members, folder):
        jobs += _jobs(each, folder)
    return _named(jobs), unusable


def _members(folder: Path, database: Path) -> list[Member]:
    mark = fingerprint(folder, database)
    opened = opened_ranks if database.name.endswith(RANK_SUFFIX) else opened_database
    with opened(database) as con:
        if not has_extensions(con):
            raise BadRequest("another version of this package made it; import its source again.")
        info = dict(con.execute("SELECT key, value FROM ext_info").fetchall())
        tables = read_ranks(con)
    parent = database.parent.name if database.parent != folder else ""
    alone = len(tables) == 1
    folder_host = parent if _HOST_FOLDER.fullmatch(parent) else ""
    return [
        Member(
            rank=int(parent) if rank.rank < 0 and alone and _RANK_FOLDER.fullmatch(parent) else rank.rank,
            database=mark,
            name=str(info.get("source_name", database.name)),
            process_index=index,
            host=rank.host_name or folder_host,
            base_ns=int(info.get("base_time_ns", 0)),
            tables=rank,
            is_amd=str(info.get("cuda_version", "")).startswith("HIP") or rank.gpu_name.startswith("AMD"),
        )
        for index, rank in enumerate(tables)
    ]


def _captures(members: Sequence[Member], folder: Path, below: str = "") -> list[list[Member]]:
    """Members that recorded at the same time, divided by folder, or by time where a folder has a rank several times."""
    ranks = [member.rank for member in members if member.rank >= 0]
    if len(set(ranks)) == len(ranks):
        return [list(members)] if members else []
    by_folder: dict[str, list[Member]] = defaultdict(list)
    for member in members:
        inside = member.database.path.removeprefix(below)
        child = inside.partition("/")[0] + "/" if "/" in inside else ""
        by_folder[child].append(member)
    full = [_captures(some, folder, below + child) for child, some in by_folder.items()] if len(by_folder) > 1 else []
    if full and all(len(captures) == 1 for captures in full) and _are_whole(by_folder.values()):
        return [capture for captures in full for capture in captures]
    if len(by_folder) == 1 and "" not in by_folder:
        (child,) = by_folder
        return _captures(members, folder, below + child)
    return _by_time(members)


def _are_whole(groups: Iterable[Sequence[Member]]) -> bool:
    """Whether each of the groups has most ranks, so that it is a capture of its own; not so the folders of hosts."""
    sets = [{member.rank for member in group if member.rank >= 0} for group in groups]
    ranks = len(set().union(*sets))
    return all(2 * len(each) > ranks for each in sets)


def _by_time(members: Sequence[Member]) -> list[list[Member]]:
    """The first captures of all ranks, the second ones, ...

    Raises:
        BadRequest: a rank has two captures at the same time.
    """
    by_rank: dict[int, list[Member]] = defaultdict(list)
    for member in sorted(members, key=lambda each: each.first_ns):
        by_rank[member.rank].append(member)
    captures: list[list[Member]] = []
    for rank, of_rank in by_rank.items():
        if rank < 0:
            captures = captures or [[]]
            captures[0] += of_rank
            continue
        for before, after in itertools.pairwise(of_rank):
            if after.first_ns < before.last_ns:
                raise BadRequest(
                    f"{before.database.path} and {after.database.path} both have rank {rank} at the same time; give "
                    "each job a folder of its own."
                )
        for number, member in enumerate(of_rank):
            if number == len(captures):
                captures.append([])
            captures[number].append(member)
    return captures


def _jobs(members: Sequence[Member], folder: Path) -> list[Job]:
    """The jobs of one capture: those that agree about their size.

    Raises:
        BadRequest: GPUs of two vendors.
    """
    if len({member.is_amd for member in members if member.tables.kernels}) > 1:
        amd, other = (next(each for each in members if each.is_amd is kind) for kind in (True, False))
        raise BadRequest(
            f"{amd.database.path} is of an AMD GPU and {other.database.path} is not, so they are not one job; give "
            "each job a folder of its own."
        )
    sizes = {member.tables.world_size for member in members if _states_size(member)}
    if len(sizes) <= 1:
        return [_job(members, folder)]
    by_size: dict[int, list[Member]] = {size: [] for size in sorted(sizes)}
    for member in members:
        by_size[member.tables.world_size if _states_size(member) else max(sizes)].append(member)
    return [_job(some, folder) for some in by_size.values()]


def _states_size(member: Member) -> bool:
    """Whether the profile says how many ranks the job has; its groups alone say how many at least."""
    tables = member.tables
    of_all = any(group.description == "default_pg" and group.size == tables.world_size for group in tables.groups)
    highest = max([tables.rank, *(rank for group in tables.groups for rank in group.ranks)])
    return tables.world_size > 1 and (of_all or tables.world_size > highest + 1)


def _job(members: Sequence[Member], folder: Path) -> Job:
    knows = all(member.rank >= 0 for member in members)
    warnings = []
    if not knows:
        ordered = sorted(members, key=lambda each: (each.host, each.database.path, each.process_index))
        members = [msgspec.structs.replace(member, rank=number) for number, member in enumerate(ordered)]
        warnings.append(
            "The profiles do not say which rank each is, so processes are numbered in the order of host and file."
        )
    members = sorted(members, key=lambda each: each.rank)
    size = max([member.tables.world_size for member in members] + [members[-1].rank + 1, len(members)])
    common = _common_folder(members)
    within = [
        msgspec.structs.replace(member.database, path=member.database.path.removeprefix(f"{common}/"))
        for member in members
    ]
    members = [msgspec.structs.replace(member, database=mark) for member, mark in zip(members, within, strict=True)]
    return Job(folder / common, "", members, size, knows, warnings)


def _common_folder(members: Sequence[Member]) -> str:
    """The deepest folder that holds all databases."""
    parts = [member.database.path.split("/")[:-1] for member in members]
    common = []
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return "/".join(common)


def _named(jobs: Sequence[Job]) -> list[Job]:
    """Jobs named after their folders; further ones in the same folder get a number."""
    jobs = sorted(jobs, key=lambda job: (str(job.folder), job.members[0].first_ns))
    numbers: dict[Path, int] = defaultdict(int)
    named = []
    for job in jobs:
        numbers[job.folder] += 1
        number = numbers[job.folder]
        name = job.folder.resolve().name or "job"
        named.append(msgspec.structs.replace(job, name=name if number == 1 else f"{name}_{number}"))
    return named
