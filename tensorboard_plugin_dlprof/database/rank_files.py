"""Small databases with only what the job of a profile needs (``dlprof import --depth job``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.database.extension_rows import write_info
from tensorboard_plugin_dlprof.database.fingerprint import SourceIdentity, identify
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.rank_rows import write_ranks
from tensorboard_plugin_dlprof.database.sql_files import layout_of, run
from tensorboard_plugin_dlprof.errors import NotADatabase, ProfileError
from tensorboard_plugin_dlprof.metadata import CLASSIFICATION_VERSION, EXTENSION_VERSION
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    UntrustedConnection,
    open_untrusted,
    reading,
    require_tables,
    seal,
)
from tensorboard_plugin_dlprof.profile.tables import Profile

_SCRIPTS = ("info", "ranks")


def write_rank_file(path: Path, profile: Profile, source: SourceIdentity) -> None:
    """Create or replace the small database of a profile, atomically.

    Raises:
        OutputNotWritable: the folder is missing, read-only or full.
    """
    with published(path, 100_000) as con:
        run(con, *_SCRIPTS)
        write_info(con, profile, source, "")
        write_ranks(con, profile.ranks)


@contextmanager
def opened_ranks(path: Path) -> Iterator[UntrustedConnection]:
    """Open a small database for reading; it allows nothing but SELECT.

    Raises:
        ProfileError: there is no such file, it is damaged, or something else; also from the block.
    """
    with closing(open_untrusted(path, NotADatabase)) as con, reading(con.shown_name, NotADatabase):
        require_tables(con, layout_of(*_SCRIPTS))
        seal(con)
        yield con


def is_current_rank_file(path: Path, source: Path) -> bool:
    """Whether a small database is what an import of the source would write. Never raises."""
    try:
        with opened_ranks(path) as con:
            info = dict(con.execute("SELECT key, value FROM ext_info").fetchall())
        wanted = {"extension_version": EXTENSION_VERSION, "classification_version": CLASSIFICATION_VERSION}
        is_today = all(info.get(key) == str(value) for key, value in wanted.items())
        return is_today and info.get("source_fingerprint") == identify(source).fingerprint
    except (ProfileError, OSError):
        return False
