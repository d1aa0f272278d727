"""Whether a database is the one that an import of a source would make."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from tensorboard_plugin_dlprof.database.connection import is_dlprof_database, opened_database
from tensorboard_plugin_dlprof.database.fingerprint import source_fingerprint
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.metadata import CLASSIFICATION_VERSION, EXTENSION_VERSION
from tensorboard_plugin_dlprof.naming import database_name, is_database_name
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection, real_tables


class Standing(Enum):
    """What a database is to a source."""

    CURRENT = "ours, of today's layout and rules, and made from a source with the same content"
    OLDER = "the same, but of a layout or of rules before today's: what is in it can be made again, and better"
    OTHER = "NVIDIA's, of another source, of a later version of this package, or unreadable"


_TODAY = {"extension_version": EXTENSION_VERSION, "classification_version": CLASSIFICATION_VERSION}


def standing(database: Path, source: Path) -> Standing:
    """What the database is to the source. Raises nothing."""
    try:
        with opened_database(database) as connection:
            facts = _facts(connection)
        if facts.get("source_fingerprint") != source_fingerprint(source):
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
    """Whether the database is ours, of today's layout and rules, and was made from a source with the same content."""
    return standing(database, source) is Standing.CURRENT


def database_at_hand(profile: Path) -> Path | None:
    """The database of what the user named: itself where it is one, else a current one beside it, else None."""
    if is_database_name(profile.name) or is_dlprof_database(profile):
        return profile
    beside = profile.parent / database_name(profile.name)
    return beside if beside.exists() and is_current(beside, profile) else None


def _facts(connection: UntrustedConnection) -> dict[str, str]:
    """What tells the standing of a database of ours, of whatever version; nothing of NVIDIA's."""
    if "ext_info" not in real_tables(connection):
        return {}
    keys = (*_TODAY, "source_fingerprint")
    rows = connection.execute(f"SELECT key, value FROM ext_info WHERE key IN ({', '.join('?' * len(keys))})", keys)
    return {str(key): str(value) for key, value in rows.fetchmany(len(keys))}
