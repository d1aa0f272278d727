"""Whether a database is the one that an import of a source would make."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import has_extensions, open_database
from tensorboard_plugin_dlprof.database.fingerprint import source_fingerprint
from tensorboard_plugin_dlprof.errors import ProfileError


def is_current(database: Path, source: Path) -> bool:
    """Whether the database is ours, of today's layout, and was made from a source with the same content."""
    try:
        with closing(open_database(database)) as connection:
            if not has_extensions(connection):
                return False
            row = connection.execute("SELECT value FROM ext_info WHERE key = 'source_fingerprint'").fetchone()
        return row is not None and bool(row[0] == source_fingerprint(source))
    except ProfileError:
        return False
