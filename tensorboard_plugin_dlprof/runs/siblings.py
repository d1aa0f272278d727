"""Finds the files that may be the other ranks of a profile's job."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from tensorboard_plugin_dlprof.database.naming import database_of
from tensorboard_plugin_dlprof.importers.rank_names import rank_from_name
from tensorboard_plugin_dlprof.runs.profile import ListedProfile
from tensorboard_plugin_dlprof.runs.scan import File


class Siblings(msgspec.Struct, frozen=True):
    """A profile and those that may be ranks of the same job."""

    folder: Path
    """The folder that they are all below."""
    run: str
    """TensorBoard's name of that folder; ``.`` is the log directory."""
    sources: tuple[File, ...]
    processes: int
    """How many ranks are in the profile itself."""


class _Candidate(msgspec.Struct, frozen=True):
    source: File
    folder: Path
    """Where its database goes."""
    rank: int | None


def siblings_of(profile: ListedProfile, profiles: Iterable[ListedProfile], processes: int = 1) -> Siblings | None:
    """The ranks of a profile's job, as far as names and opened profiles tell; None if there are no others.

    ``processes`` of them are in the profile itself, as in a report of Nsight Systems about several. The others lie in
    the nearest folder, from the profile's own upwards, that has all ranks of its world; else in the nearest that has
    most of them.
    """
    world = profile.world_size or 0
    if profile.source is None:
        return None
    own = database_of(profile.source.path).parent
    alone = Siblings(own, profile.run, (profile.source,), processes) if processes > 1 else None
    if world < 2:
        return alone
    candidates = [
        _Candidate(each.source, database_of(each.source.path).parent, _rank(each, each.source))
        for each in profiles
        if each.source is not None and each.source.remote is None and each.world_size in (None, world)
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
            best, most = Siblings(folder, run, tuple(each.source for each in below), processes), ranks
        if ranks >= world:
            break
    return best


def _rank(profile: ListedProfile, source: File) -> int | None:
    if profile.rank is not None:
        return profile.rank
    named = rank_from_name(source.path)
    if named >= 0:
        return named
    folder = source.path.parent.name
    return int(folder) if folder.isdecimal() and len(folder) <= 6 else None
