"""Opens DLProf databases, ours and NVIDIA's of 1.3 to 1.8, without running anything that came in the file."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tensorboard_plugin_dlprof.classify.path_pattern import path_pattern
from tensorboard_plugin_dlprof.database.sql_files import (
    DLPROF_SCRIPTS,
    TABLE_SCRIPTS,
    VIEW_SCRIPTS,
    layout_of,
    statements,
)
from tensorboard_plugin_dlprof.errors import NotADatabase, ProfileError, TooNew, TooOld, UnfitDatabase
from tensorboard_plugin_dlprof.memory.peak import repeated
from tensorboard_plugin_dlprof.metadata import DATABASE_TABLES, DLPROF_VERSION, EXTENSION_VERSION
from tensorboard_plugin_dlprof.opening.limited_work import allowed_for
from tensorboard_plugin_dlprof.opening.regular_file import open_regular
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    UntrustedConnection,
    columns,
    open_untrusted,
    reading,
    real_tables,
    require_tables,
    seal,
)
from tensorboard_plugin_dlprof.opening.sqlite_header import MAGIC

OLDEST_MINOR = 3
"""DLProf 1.3 was the first to write its version into its databases."""

_INDISPENSABLE = frozenset({"aggregations", "db_version", "dictionary", "model_summary"})
"""Tables without which there is nothing to show, not even from an old version."""


def open_database(path: Path, follow_links: bool = True) -> UntrustedConnection:
    """Open a DLProf database for reading.

    The 23 ``view_*`` of the connection are ours, never the file's. A database of NVIDIA's reads as one of ours: a table
    or column that it lacks is empty or NULL (``sql/dlprof_source.sql``). The connection allows nothing but SELECT; use
    it inside ``opening.sqlite_file.reading`` and, where a user waits, ``deadline``.

    Args:
        follow_links: false if the caller has resolved and checked the path, so that no link may be in it any more.

    Raises:
        NotFound: there is no such file, or the path has a link that may not be followed.
        UnsafeFile: it is not a regular file, or may not be read.
        TooOld: of a DLProf before 1.3, or of a smaller major version.
        TooNew: of a later DLProf than this package knows.
        NotADatabase: not SQLite, or not a DLProf database.
        UnfitDatabase: truncated or damaged.
    """
    con = _open_sqlite(path, follow_links)
    try:
        with reading(con.shown_name, UnfitDatabase):
            minor = _checked_minor_version(con)
            if _has_info(con):
                require_tables(con, {"ext_info": ("key", "value")})
            if has_extensions(con):
                require_tables(con, layout_of(*TABLE_SCRIPTS))
                scripts: tuple[str, ...] = VIEW_SCRIPTS
            else:
                _make_tables_fit(con, minor)
                scripts = ("dlprof_source", "op_patterns", "views")
            for statement in statements(*scripts):
                if not _has_info(con) or not statement.startswith("CREATE VIEW ext_info"):
                    con.execute(statement.replace("CREATE VIEW", "CREATE TEMP VIEW", 1))
            if not has_extensions(con):
                _add_empty_tables(con)
            con.create_function("path_pattern", 2, path_pattern, deterministic=True)
            con.create_function("repeated_path", 1, repeated, deterministic=True)
            seal(con, {"path_pattern", "repeated_path"})
    except BaseException:
        con.close()
        raise
    return con


@contextmanager
def opened_database(path: Path, name: str = "") -> Iterator[UntrustedConnection]:
    """``open_database`` as a context manager that turns SQLite's errors into an ``UnfitDatabase`` naming the file, and
    limits the work in its block.

    Raises:
        ProfileError: as for ``open_database``; also from the block if the file turns out to be damaged.
    """
    with allowed_for(path), closing(open_database(path)) as con, reading(name or con.shown_name, UnfitDatabase):
        yield con


def _open_sqlite(path: Path, follow_links: bool) -> UntrustedConnection:
    try:
        return open_untrusted(path, UnfitDatabase, follow_links)
    except UnfitDatabase as error:
        with open_regular(path) as file:
            if file.read(len(MAGIC)) == MAGIC:
                raise
        raise NotADatabase(str(error)) from None


def is_dlprof_database(path: Path) -> bool:
    """Whether the file is a DLProf database, even one of a version that cannot be read. Never raises."""
    try:
        con = open_untrusted(path, UnfitDatabase)
        try:
            with reading(con.shown_name, UnfitDatabase):
                return real_tables(con).issuperset(DATABASE_TABLES)
        finally:
            con.close()
    except ProfileError:
        return False


def is_foreign(path: Path) -> bool:
    """Whether the file is a DLProf database that no version of this package made. Never raises."""
    try:
        with closing(open_untrusted(path, UnfitDatabase)) as con, reading(con.shown_name, UnfitDatabase):
            return real_tables(con).issuperset(DATABASE_TABLES) and not _has_info(con)
    except ProfileError:
        return False


def refuse_other_extensions(con: UntrustedConnection) -> None:
    """Refuse to copy or to read whole a database of another version of this package: our own tables would be lost.

    Raises:
        UnfitDatabase: another version made the database.
    """
    with reading(con.shown_name, UnfitDatabase):
        is_other = _has_info(con) and not has_extensions(con)
    if is_other:
        raise UnfitDatabase(
            f"{con.shown_name} was made by another version of this package; import its source again (dlprof import "
            "SOURCE keeps its aggregations), or use that version."
        )


def has_extensions(con: sqlite3.Connection) -> bool:
    """Whether the database has our own ``ext_*`` tables in the version that this package writes."""
    if not _has_info(con):
        return False
    row = con.execute("SELECT value FROM main.ext_info WHERE key = 'extension_version'").fetchone()
    return row is not None and str(row[0]) == str(EXTENSION_VERSION)


def _has_info(con: sqlite3.Connection) -> bool:
    sql = "SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = 'ext_info'"
    return bool(con.execute(sql).fetchone()[0])


def _checked_minor_version(con: UntrustedConnection) -> int:
    name, tables = con.shown_name, real_tables(con)
    if missing := [table for table in DATABASE_TABLES if table not in tables]:
        if any(table == "db_version" or table.startswith("read_only_") for table in tables):
            raise UnfitDatabase(
                f"{name} is a DLProf database without the table {missing[0]}; it is incomplete: make it again."
            )
        raise NotADatabase(f"{name} is not a DLProf database; open the database, or import the profile it came from.")
    if "db_version" not in tables:
        raise TooOld(
            f"{name} was made by DLProf before 1.{OLDEST_MINOR}; make it again with 1.{OLDEST_MINOR} or later, "
            "or import its Nsight Systems export."
        )
    columns(con, "db_version")
    row = con.execute("SELECT current_version FROM main.db_version").fetchone()
    version = re.match(r"v?(\d{1,4})\.(\d{1,4})", str(row[0])) if row else None
    if version is None:
        raise NotADatabase(f"{name} does not say which version of DLProf made it; it is incomplete or damaged.")
    major, minor = int(version[1]), int(version[2])
    known_major, known_minor = (int(part) for part in DLPROF_VERSION.split(".")[:2])
    if (major, minor) > (known_major, known_minor):
        raise TooNew(
            f"{name} has the layout of DLProf {major}.{minor}; this package reads up to {known_major}.{known_minor}: "
            "update it."
        )
    if major < known_major or minor < OLDEST_MINOR:
        raise TooOld(
            f"{name} has the layout of DLProf {major}.{minor}; this package reads {known_major}.{OLDEST_MINOR} to "
            f"{known_major}.{known_minor}: make it again with one of these, or import its Nsight Systems export."
        )
    return minor


def _make_tables_fit(con: UntrustedConnection, minor: int) -> None:
    """Check that the tables and columns that the views read exist; add empty ones that an older version lacks."""
    layout = layout_of(*DLPROF_SCRIPTS)
    # Another version of ours may have no tables of kernels, but what 1.8 says of the aggregations.
    if f"1.{minor}." in f"{DLPROF_VERSION}." and not _has_info(con):
        require_tables(con, layout)
        return
    result = require_tables(con, dict.fromkeys(_INDISPENSABLE, ()), optional=layout.keys())
    for table, names in layout.items():
        present = result.get(table, frozenset())
        if not present.issuperset(names):
            # TEMP names win over those of the file; every name in the text is one of ours.
            values = ", ".join(name if name in present else f"NULL AS {name}" for name in names)
            origin = f"FROM main.{table}" if table in result else "WHERE 0"
            con.execute(f"CREATE TEMP VIEW {table} AS SELECT {values} {origin}")


def _add_empty_tables(con: UntrustedConnection) -> None:
    """Add what DLProf stores nothing of, as views without rows."""
    made = {str(name) for (name,) in con.execute("SELECT name FROM sqlite_temp_master")}
    for table, names in layout_of(*TABLE_SCRIPTS).items():
        if table not in made and table not in layout_of(*DLPROF_SCRIPTS) and table != "ext_info":
            values = ", ".join(f"NULL AS {name}" for name in names)
            con.execute(f"CREATE TEMP VIEW {table} AS SELECT {values} WHERE 0")
