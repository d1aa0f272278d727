"""What may be asked of an SQLite file by a stranger: rows, and nothing that runs anything in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, ProfileError
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    UntrustedConnection,
    deadline,
    open_untrusted,
    reading,
    require_tables,
    seal,
)
from tests.opening.sqlite_files import database, filled

HOSTILE_VIEWS = {
    "endless recursion": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT max(i) AS start FROM n",
    "large value": "SELECT hex(zeroblob(900000000)) AS start",
    "extension": "SELECT load_extension('evil') AS start",
    "pragma": "SELECT file AS start FROM pragma_database_list",
}


@pytest.mark.parametrize("body", HOSTILE_VIEWS.values(), ids=HOSTILE_VIEWS)
def test_a_view_of_the_file_is_never_used_where_ours_has_its_name(tmp_path: Path, body: str) -> None:
    """A TEMP view of ours wins over the file's view of the same name, and works after sealing."""
    database(
        tmp_path / "a.sqlite",
        f"CREATE TABLE work(start, name); INSERT INTO work VALUES (7, 'k'); CREATE VIEW v AS {body}",
    )
    with closing(open_untrusted(tmp_path / "a.sqlite")) as con:
        require_tables(con, {"work": ("start",)})
        con.execute("CREATE TEMP VIEW v AS SELECT start FROM main.work")
        seal(con)
        assert con.execute("SELECT start FROM v").fetchall() == [(7,)]


@pytest.fixture
def sealed(tmp_path: Path) -> Iterator[UntrustedConnection]:
    """A sealed connection to a small database with a trigger and a view."""
    path = database(
        tmp_path / "a.sqlite",
        "CREATE TABLE work(start INTEGER, name TEXT); CREATE TABLE log(x); INSERT INTO work VALUES (1, 'k');"
        "CREATE TRIGGER t AFTER INSERT ON work BEGIN INSERT INTO log VALUES (1); END;",
    )
    with closing(open_untrusted(path)) as con:
        require_tables(con, {"work": ("start", "name")})
        seal(con)
        yield con


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO work VALUES (2, 'x')",
        "CREATE TEMP TABLE t2(x)",
        "ATTACH ':memory:' AS other",
        "PRAGMA query_only=OFF",
        "PRAGMA table_info(work)",
        "SELECT * FROM pragma_database_list",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 1",
        "SELECT hex(zeroblob(10))",
        "SELECT load_extension('evil')",
        "SELECT randomblob(10)",
        "BEGIN",
        "VACUUM",
    ],
)
def test_a_sealed_connection_only_selects(sealed: UntrustedConnection, statement: str) -> None:
    """Anything else is denied, and so are functions that are not listed."""
    with pytest.raises(ProfileError, match="it "), reading("it"):
        sealed.execute(statement).fetchall()


def test_a_sealed_connection_calls_the_functions_it_needs(sealed: UntrustedConnection) -> None:
    """Those of the views, and those that the caller adds."""
    sql = "SELECT count(*), max(start), group_concat(upper(name)), ifnull(NULL, 3), substr('abc', 2) FROM work"
    assert sealed.execute(sql).fetchone() == (1, 1, "K", 3, "bc")


def test_a_caller_may_add_functions(tmp_path: Path) -> None:
    """``typeof`` is not among those of the views."""
    with closing(open_untrusted(filled(tmp_path / "a.sqlite"))) as con:
        seal(con, functions=("typeof",))
        assert con.execute("SELECT typeof(start) FROM work LIMIT 1").fetchone() == ("integer",)


def test_a_fan_out_of_nested_views_is_denied(tmp_path: Path) -> None:
    """Twenty-five levels that each read the level below twice are 33 million reads to prepare."""
    levels = " ".join(f"CREATE VIEW v{i + 1} AS SELECT a.start FROM v{i} a, v{i} b;" for i in range(25))
    database(tmp_path / "a.sqlite", f"CREATE TABLE v0(start); {levels}")
    with closing(open_untrusted(tmp_path / "a.sqlite")) as con:
        seal(con)
        with pytest.raises(sqlite3.DatabaseError):
            con.execute("SELECT * FROM v25")


def test_a_deadline_stops_a_query_and_renews_the_budget(tmp_path: Path) -> None:
    """A cross join of billions of rows ends with a sentence; the next query works, long as it is."""
    with closing(open_untrusted(filled(tmp_path / "a.sqlite"))) as con:
        seal(con)
        con.authorizer_calls = 4_999
        with pytest.raises(BrokenSource, match="took too long"), reading("it"), deadline(con, 0.05):
            con.execute("SELECT count(*) FROM work a, work b, work c").fetchone()
        with deadline(con, 60):
            assert con.execute("SELECT count(*) FROM (SELECT 1 FROM work LIMIT 100), work").fetchone() == (200_000,)
