"""Whether a database is the one that an import of a source would make."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import has_extensions, open_database
from tensorboard_plugin_dlprof.database.fingerprint import source_fingerprint
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.metadata import CLASSIFICATION_VERSION


def is_current(database: Path, source: Path) -> bool:
    """Whether the database is ours, of today's layout and rules, and was made from a source with the same content."""
    try:
        with closing(open_database(database)) as connection:
            if not has_extensions(connection):
                return False
            keys = "('source_fingerprint', 'classification_version')"
            facts = dict(connection.execute(f"SELECT key, value FROM ext_info WHERE key IN {keys}").fetchmany(2))
        if facts.get("classification_version") != str(CLASSIFICATION_VERSION):
            return False
        return facts.get("source_fingerprint") == source_fingerprint(source)
    except ProfileError:
        return False
