"""Whether importing a source again would produce the database that is there already."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import is_dlprof_database, opened_database
from tensorboard_plugin_dlprof.database.fingerprint import identify
from tensorboard_plugin_dlprof.database.naming import database_of, is_database_name
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.metadata import CLASSIFICATION_VERSION, EXTENSION_VERSION
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, real_tables


class Standing(Enum):
    """How a database relates to a source."""

    CURRENT = "ours, made from a source with the same content, with this version's layout and classification rules"
    OLDER = "as CURRENT, but with an earlier layout or earlier rules: a new import replaces it without loss"
    OTHER = "NVIDIA's, made from another source or by a later version of this package, or unreadable"


_TODAY = {"extension_version": EXTENSION_VERSION, "classification_version": CLASSIFICATION_VERSION}


def standing(database: Path, source: Path) -> Standing:
    """How the database relates to the source. Never raises."""
    try:
        with opened_database(database) as connection:
            facts = _facts(connection)
        if facts.get("source_fingerprint") != identify(source).fingerprint:
            return Standing.OTHER
    except ProfileError:
        return Standing.OTHER
    versions = {key: facts.get(key, "0") for key in _TODAY}
    if versions == {key: str(today) for key, today in _TODAY.items()}:
        return Standing.CURRENT
    is_older = all(
        version.isdecimal() and len(version) < 5 and int(version) <= _TODAY[key] for key, version in versions.items()
    )
    return Standing.OLDER if is_older else Standing.OTHER


def is_current(database: Path, source: Path) -> bool:
    """Whether the database's standing is ``Standing.CURRENT``. Never raises."""
    return standing(database, source) is Standing.CURRENT


def database_at_hand(profile: Path) -> Path | None:
    """The database for a path from the user: the file itself if it is one, else a current one next to it, else None."""
    if is_database_name(profile.name) or is_dlprof_database(profile):
        return profile
    neighbour = database_of(profile)
    return neighbour if neighbour.exists() and is_current(neighbour, profile) else None


def _facts(connection: UntrustedConnection) -> dict[str, str]:
    """The facts that decide the standing, from one of our databases of any version; empty for NVIDIA's."""
    if "ext_info" not in real_tables(connection):
        return {}
    keys = (*_TODAY, "source_fingerprint")
    rows = connection.execute(f"SELECT key, value FROM ext_info WHERE key IN ({', '.join('?' * len(keys))})", keys)
    return {str(key): str(value) for key, value in rows.fetchmany(len(keys))}
