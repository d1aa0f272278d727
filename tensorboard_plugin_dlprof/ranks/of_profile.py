"""What its job tells of a rank, where nothing but the rank is named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tensorboard_plugin_dlprof.database.job_places import find_job, rank_place
from tensorboard_plugin_dlprof.database.job_rows import opened_job
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.queries.job_waits import with_known_waits


def place_of(profile: Path) -> str:
    """What people know a profile by besides its file, as the list of profiles has it: its folder, with those up to that
    of its job where that is known (``eight_ranks/host0``), else up to the current folder if it is in there."""
    folder = rank_place(profile.absolute()).parent
    found = find_job(profile)
    if found is None and folder != Path.cwd() and folder.is_relative_to(Path.cwd()):
        return folder.relative_to(Path.cwd()).as_posix()
    job = folder if found is None else found[0].parent
    return (Path(job.name) / os.path.relpath(folder, job)).as_posix()


def as_its_job_tells(diagnosis: Mapping[str, Any], profile: Path) -> dict[str, Any]:
    """A diagnosis with the findings of its job, and without gains that this excludes, if it is known (``find_job``).

    Args:
        diagnosis: as ``diagnosis.as_data.as_data`` returns it.
        profile: the source or database that it is of, as the user names it.
    """
    found = find_job(profile)
    if found is not None:
        # One that is damaged, or of another version, tells nothing.
        with suppress(ProfileError, LookupError, ValueError, TypeError), opened_job(found[0]) as connection:
            return with_known_waits(connection, found[1], diagnosis)
    return {**diagnosis}
