"""Makes the tracks of databases that have none, such as NVIDIA's, in a file of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np

from tensorboard_plugin_dlprof.database.activity_rows import write_activity
from tensorboard_plugin_dlprof.database.connection import has_extensions, open_database, opened_database
from tensorboard_plugin_dlprof.database.lookups import integers
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.sql_files import statements
from tensorboard_plugin_dlprof.database.track_rows import Ids, write_tracks
from tensorboard_plugin_dlprof.diagnosis.activity import with_busy_time
from tensorboard_plugin_dlprof.diagnosis.from_profile import idle_causes
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, reading
from tensorboard_plugin_dlprof.opening.temporary import temporary_folder
from tensorboard_plugin_dlprof.timeline.build import build_tracks

_BYTES_A_KERNEL = 20
"""About the size of the file, for the message when the disk is full."""


def write_track_file(target: Path, con: UntrustedConnection) -> None:
    """Write the tracks of a database that has none, such as NVIDIA's, to a file of their own.

    Raises:
        ProfileError: the database cannot be read, or the target's folder is missing, read-only or full.
    """
    profile = read_profile(con)
    with reading(con.shown_name, UnfitDatabase):
        known = {text: number for number, text in con.execute("SELECT id, string FROM dictionary")}
        kernels, memcpys, memsets, ops = (
            integers(con, f"SELECT id FROM read_only_{table} ORDER BY id", 1)[0]
            for table in ("kernels", "memcpys", "memsets", "ops")
        )
    texts = np.array([known.get(profile.strings[text], 0) for text in range(len(profile.strings))], np.int64)
    with published(target, _BYTES_A_KERNEL * len(kernels)) as new:
        for script in ("diagnosis", "timeline"):
            for statement in statements(script):
                new.execute(statement)
        profile.activity = idle_causes(profile)
        profile.activity = with_busy_time(profile)
        write_activity(new, profile.activity)
        write_tracks(new, build_tracks(profile), Ids(lambda rows: kernels[rows], memcpys, memsets, ops, texts))


@contextmanager
def opened_with_tracks(path: Path, name: str) -> Iterator[UntrustedConnection]:
    """``connection.opened_database`` with tracks, which are made in a temporary file if the database has none."""
    with ExitStack() as stack:
        con = stack.enter_context(opened_database(path, name))
        if has_extensions(con):
            yield con
            return
        beside = stack.enter_context(temporary_folder()) / "tracks.sqlite"
        write_track_file(beside, con)
        con = stack.enter_context(closing(open_database(path, tracks=beside)))
        with reading(name, UnfitDatabase):
            yield con
