"""Writes the database of a job (``sql/job.sql``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from tensorboard_plugin_dlprof.columns.rows import insert_row, insert_rows, storable
from tensorboard_plugin_dlprof.database.publishing import published
from tensorboard_plugin_dlprof.database.sql_files import layout_of, run
from tensorboard_plugin_dlprof.errors import NotADatabase, ProfileError
from tensorboard_plugin_dlprof.metadata import DATABASE_SUFFIX, JOB_VERSION, RANK_SUFFIX
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    UntrustedConnection,
    open_untrusted,
    reading,
    require_tables,
    seal,
)

CollectiveRows: TypeAlias = "Iterable[tuple[Any, ...]]"
"""Rows of ``job_collectives`` without their ids."""

_COLLECTIVES = (
    *("group_id", "iteration", "kind", "bytes", "ranks", "start_ns", "transfer_ns", "skew_ns", "wait_ns", "last_rank"),
    *("own_delay_ns", "cause", "packed"),
)
_ITERATIONS = ("position", "iteration", "ranks", "median_ns", "min_ns", "max_ns", "own_delay_ns", "own_delay_rank")
_GROUPS = (
    *("id", "name", "description", "kind", "inferred", "ranks", "size", "believed", "reason", "matched"),
    *("transfer_ns", "wait_ns", "spread_ns", "slow"),
)


class JobTables(msgspec.Struct, frozen=True):
    """What the database of a job holds."""

    info: Mapping[str, str]
    ranks: Sequence[Mapping[str, Any]]
    iterations: Sequence[tuple[Any, ...]]
    matrix: Sequence[tuple[str, int, bytes]]
    """Measure, unit, packed numbers."""
    groups: Sequence[tuple[Any, ...]]
    collectives: CollectiveRows
    stats: Sequence[Mapping[str, Any]]
    pairs: Sequence[Mapping[str, Any]]
    findings: Sequence[Mapping[str, Any]]


def write_job(path: Path, tables: JobTables) -> None:
    """Create the database of a job, or replace it, atomically.

    Raises:
        OutputNotWritable: the folder is missing, read-only or full.
    """
    with published(path, 100_000 + 4_000 * len(tables.ranks)) as con:
        run(con, "job")
        insert_rows(con, "job_info", ("key", "value"), [(key, storable(value)) for key, value in tables.info.items()])
        named = {"job_ranks": tables.ranks, "job_collective_stats": tables.stats, "job_pairs": tables.pairs}
        for table, rows in named.items():
            for row in rows:
                insert_row(con, table, {name: _stored(value) for name, value in row.items()})
        insert_rows(con, "job_iterations", _ITERATIONS, tables.iterations)
        insert_rows(con, "job_matrix", ("measure", "unit_ns", "packed"), tables.matrix)
        insert_rows(con, "job_groups", _GROUPS, [[*map(_stored, row)] for row in tables.groups])
        insert_rows(con, "job_collectives", _COLLECTIVES, tables.collectives)
        for row in tables.findings:
            insert_row(con, "job_findings", row)
        run(con, "job_indexes")


def _stored(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def open_job_database(path: Path) -> UntrustedConnection:
    """Open the database of a job for reading; it allows nothing but SELECT.

    Raises:
        ProfileError: there is no such file, it is damaged, of another version, or not the database of a job.
    """
    con = open_untrusted(path, NotADatabase)
    try:
        with reading(con.shown_name, NotADatabase):
            _require_version(con)
            require_tables(con, layout_of("job"))
            seal(con)
    except BaseException:
        con.close()
        raise
    return con


def _require_version(con: UntrustedConnection) -> None:
    require_tables(con, {"job_info": ("key", "value")})
    version = con.execute("SELECT value FROM job_info WHERE key = 'job_version'").fetchone()
    if version is not None and version[0] != str(JOB_VERSION):
        raise NotADatabase(
            f"{con.shown_name} was made by another version of this plugin; make it again with dlprof job."
        )


@contextmanager
def opened_job(path: Path) -> Iterator[UntrustedConnection]:
    """``open_job_database`` as a context manager that turns SQLite's errors into a ``NotADatabase`` naming the file.

    Raises:
        ProfileError: as for ``open_job_database``; also from the block if the file turns out to be damaged.
    """
    with closing(open_job_database(path)) as con, reading(con.shown_name, NotADatabase):
        yield con


def read_job_members(path: Path) -> dict[str, int]:
    """The ranks in the database of a job, by the path of their databases below its folder without the suffix.

    Raises:
        ProfileError: as for ``open_job_database``.
    """
    with closing(open_untrusted(path, NotADatabase)) as con, reading(con.shown_name, NotADatabase):
        _require_version(con)
        require_tables(con, {"job_ranks": ("database", "rank")})
        seal(con)
        rows = con.execute("SELECT database, rank FROM job_ranks").fetchall()
    return {member_stem(str(database)): int(rank) for database, rank in rows}


def member_stem(database: str) -> str:
    """The path of a rank's database without the suffix, which tells whether all of the profile or the rank alone was
    imported."""
    return database.removesuffix(DATABASE_SUFFIX).removesuffix(RANK_SUFFIX)


def read_job_info(path: Path) -> dict[str, str]:
    """The facts in the database of a job; empty if there is none that can be read."""
    try:
        with opened_job(path) as con:
            return dict(con.execute("SELECT key, value FROM job_info").fetchall())
    except (ProfileError, OSError):
        return {}
