"""Where the database of a rank's job lies: in the folder of the rank, or above it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from tensorboard_plugin_dlprof.database.job_rows import read_job_members
from tensorboard_plugin_dlprof.database.naming import database_of, source_stem
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX, JOB_SUFFIX

_MOST_JOBS = 20
"""Databases of jobs in one folder that are looked into."""

_FOLDERS = 4
"""The folders that are looked into where no log directory ends the search: that of the rank, and three above, as of
``job/node/run/rank``."""


def find_job(profile: Path) -> tuple[Path, int] | None:
    """The database of the job of a source or database, and the rank in it that this is; None if there is none.

    Only what lies in the folder of the profile, or in one of the next three above, is found.
    """
    for folder, below in folders_of(rank_place(Path(os.path.abspath(profile))), _FOLDERS):  # noqa: PTH100  keeps links
        for path in job_databases(folder):
            with suppress(ProfileError, OSError, ValueError, TypeError):  # what cannot be read is no job
                rank = read_job_members(path).get(below)
                if rank is not None:
                    return path, rank
    return None


def rank_place(path: Path) -> Path:
    """Where the database of a source lies, or a database without its source, without the suffix."""
    if ".xplane." in path.name:
        return Path(os.fspath(database_of(path)).removesuffix(DATABASE_SUFFIX))
    return path.parent / source_stem(path.name.removesuffix(DATABASE_SUFFIX))


def folders_of(place: Path, count: int) -> Iterator[tuple[Path, str]]:
    """The folder of a rank and those above it, ``count`` in all, with the rank as the database of a job there names it
    (``read_job_members``)."""
    below, folder = PurePosixPath(place.name), place.parent
    for _ in range(count):
        yield folder, str(below)
        below, folder = folder.name / below, folder.parent


def job_databases(folder: Path) -> list[Path]:
    """The databases of jobs in a folder; none if it cannot be read."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(JOB_SUFFIX))  # noqa: PTH208  faster
    except OSError:
        return []
    return [folder / name for name in names[:_MOST_JOBS]]
