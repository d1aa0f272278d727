"""Finds the files that may be the other ranks of a profile's job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.database.naming import database_of
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tensorboard_plugin_dlprof.runs.scan import File

_ONE_CAPTURE_S = 24 * 3600
"""By which the times of ranks of one capture may differ: clocks of hosts may be hours apart, other runs are days."""


class Siblings(msgspec.Struct, frozen=True):
    """A profile and those that may be ranks of the same job."""

    folder: Path
    """The folder that they are all below."""
    run: str
    """TensorBoard's name of that folder; ``.`` is the log directory."""
    files: tuple[File, ...]
    """Of each its source; its database where the source is not here."""
    has_sources: bool
    """Whether any of them is a source."""
    processes: int
    """How many ranks are in the profile itself."""


class _Candidate(msgspec.Struct, frozen=True):
    file: File
    is_source: bool
    folder: Path
    """That of its database."""
    rank: int | None


def siblings_of(profile: ListedProfile, profiles: Iterable[ListedProfile], processes: int = 1) -> Siblings | None:
    """The ranks of a profile's job, as far as names and opened profiles tell; None if there are no others.

    ``processes`` of them are in the profile itself, as in a report of Nsight Systems about several. The others lie in
    the nearest folder, from the profile's own upwards, that has all ranks of its world; else in the nearest that has
    most of them. Files in the cloud are left out.
    """
    world, file = profile.world_size or 0, profile.file
    if file is None or file.remote is not None:
        return None
    own = database_of(file.path).parent
    alone = _siblings(own, profile.run, [_candidate(profile, file)], processes) if processes > 1 else None
    if world < 2:
        return alone
    candidates = [
        _candidate(each, each.file)
        for each in profiles
        if each.file is not None and each.file.remote is None and _may_be_of_the_job(profile, each, own)
    ]
    # Of a file whose rank nothing tells yet, only its place says that it belongs here.
    fit = [each for each in candidates if each.rank is not None or each.folder == own]
    best, most, names = alone, processes, [] if profile.run == "." else profile.run.split("/")
    for above, folder in zip(range(len(names) + 1), (own, *own.parents), strict=False):
        below = [each for each in fit if each.folder.is_relative_to(folder)]
        unknown = sum(each.rank is None for each in below)
        ranks = len({each.rank for each in below if each.rank is not None}) + unknown
        if ranks > most:
            run = "/".join(names[: len(names) - above]) or "."
            best, most = _siblings(folder, run, below, processes), ranks
        if ranks >= world:
            break
    return best


def _may_be_of_the_job(profile: ListedProfile, other: ListedProfile, own: Path) -> bool:
    """Whether nothing that is known of another profile speaks against it."""
    if other.profile_id == profile.profile_id:
        return True
    if other.world_size not in (None, profile.world_size):
        return False
    if "dlprof" not in (other.format, profile.format) and other.format != profile.format:
        return False
    if other.file is None or database_of(other.file.path).parent == own:
        return True
    if profile.rank is not None and other.rank == profile.rank:
        return False
    if profile.captured_at is not None and other.captured_at is not None:
        return abs(other.captured_at - profile.captured_at) < _ONE_CAPTURE_S
    # Straight below the log directory lie runs that have nothing to do with each other; folders of ranks are numbered.
    first, of_other = (re.sub(r"\d+", "#", run.partition("/")[0]) for run in (profile.run, other.run))
    return first == of_other


def _siblings(folder: Path, run: str, candidates: Sequence[_Candidate], processes: int) -> Siblings:
    has_sources = any(each.is_source for each in candidates)
    return Siblings(folder, run, tuple(each.file for each in candidates), has_sources, processes)


def _candidate(profile: ListedProfile, file: File) -> _Candidate:
    return _Candidate(file, profile.source is not None, database_of(file.path).parent, _rank(profile, file))


def _rank(profile: ListedProfile, file: File) -> int | None:
    if profile.rank is not None:
        return profile.rank
    named = rank_from_name(file.path)
    if named >= 0:
        return named
    folder = file.path.parent.name
    return int(folder) if folder.isdecimal() and len(folder) <= 6 else None
