"""Facts about a database from ``ext_info``, and which version of this package made it."""

from __future__ import annotations

import sqlite3

from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.metadata import CLASSIFICATION_VERSION, EXTENSION_VERSION


def shown_name(connection: sqlite3.Connection) -> str:
    """How messages name the database."""
    return str(getattr(connection, "shown_name", "The database"))


def is_ours(connection: sqlite3.Connection) -> bool:
    """Whether any version of this package made the database. Facts in ``info`` are the same in all versions."""
    (result,) = connection.execute("SELECT count(*) FROM main.sqlite_master WHERE name = 'ext_info'").fetchone()
    return bool(result)


def is_of_another_version(connection: sqlite3.Connection) -> bool:
    """Whether another version of this package made the database, of which only DLProf's tables are read."""
    return is_ours(connection) and info(connection).get("extension_version") != str(EXTENSION_VERSION)


def maker(connection: sqlite3.Connection) -> str:
    """What made a database that this version does not read whole: the begin of a sentence."""
    if not is_ours(connection):
        return "DLProf"
    version = info(connection).get("extension_version", "")
    is_known = version.isascii() and version.isdecimal() and len(version) < 10
    which = "Another" if not is_known else "A newer" if int(version) > EXTENSION_VERSION else "An older"
    return f"{which} version of this plugin"


def require_kernels(connection: sqlite3.Connection) -> None:
    """Refuse a database of another version, whose kernels are not read, rather than show that it has none.

    Raises:
        UnfitDatabase: another version of this package made the database.
    """
    if is_of_another_version(connection):
        raise UnfitDatabase(
            f"{maker(connection)} made {shown_name(connection)}, so its kernels cannot be listed; import "
            "its source again (dlprof import SOURCE), or choose other reports than iteration."
        )


def has_older_rules(connection: sqlite3.Connection) -> bool:
    """Whether the database is ours, and its kernels were classified by rules of another version."""
    if not is_ours(connection) or is_of_another_version(connection):
        return False
    return info(connection).get("classification_version") != str(CLASSIFICATION_VERSION)


def recorded(connection: sqlite3.Connection) -> list[str] | None:
    """What the capture contains (``CaptureInfo.recorded``); None if the database does not say, as NVIDIA's."""
    words = None if is_of_another_version(connection) else info(connection).get("recorded")
    return None if words is None else sorted(filter(None, words.split(",")))


def info(connection: sqlite3.Connection) -> dict[str, str]:
    """Facts about the file, its source and its capture, as text."""
    rows = connection.execute("SELECT key, value FROM ext_info").fetchmany(1_000)
    return {str(key): str(value) for key, value in rows}
