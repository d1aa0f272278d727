"""SQLite files by strangers: each is refused with a sentence or read as data, and nothing in it runs."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, NotFound, ProfileError, UnfitDatabase, UnsafeFile
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    UntrustedConnection,
    deadline,
    open_untrusted,
    reading,
    real_tables,
    require_tables,
    seal,
)

PAGE_BYTES = 4096


def database(path: Path, script: str = "CREATE TABLE work(start INTEGER, name TEXT)") -> Path:
    """A database made by a script."""
    with closing(sqlite3.connect(path)) as con:
        con.executescript(f"PRAGMA page_size={PAGE_BYTES}; {script}")
    return path


def filled(path: Path) -> Path:
    """A database of some ten pages with a known sum."""
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
    return database(
        path, f"CREATE TABLE work(start INTEGER, name TEXT); {rows} INSERT INTO work SELECT i, 'k' || i FROM n"
    )


def read_all(path: Path) -> list[tuple[object, ...]]:
    """What the package does with a file: open, check, seal, read."""
    with closing(open_untrusted(path)) as con, reading("it"):
        require_tables(con, {"work": ("start", "name")})
        seal(con)
        return list(con.execute("SELECT start, name FROM work"))


def truncate(path: Path, size: int) -> None:
    """Cut a file."""
    with path.open("r+b") as file:
        file.truncate(size)


def empty(path: Path) -> None:
    """No byte."""
    path.write_bytes(b"")


def text(path: Path) -> None:
    """A text file of the same name."""
    path.write_text("not a database at all\n" * 100)


def first_100_bytes(path: Path) -> None:
    """Only the header."""
    truncate(filled(path), 100)


def last_page_cut(path: Path) -> None:
    """SQLite itself would open it and return NULLs."""
    truncate(path, filled(path).stat().st_size - PAGE_BYTES)


def half_a_page_more(path: Path) -> None:
    """A file that is still growing."""
    with filled(path).open("ab") as file:
        file.write(b"\0" * (PAGE_BYTES // 2))


def page_count_too_large(path: Path) -> None:
    """The header promises more pages than there are."""
    with filled(path).open("r+b") as file:
        file.seek(28)
        file.write((1_000_000).to_bytes(4, "big"))


def odd_page_size(path: Path) -> None:
    """A page size that no SQLite writes."""
    with filled(path).open("r+b") as file:
        file.seek(16)
        file.write((1000).to_bytes(2, "big"))


def journal(path: Path) -> None:
    """A writer was killed: the database is half updated."""
    filled(path)
    Path(f"{path}-journal").write_bytes(b"\0" * 512)


def write_ahead_log(path: Path) -> None:
    """Rows stand in the log that are missing in the database."""
    filled(path)
    Path(f"{path}-wal").write_bytes(b"\0" * 512)


def many_views(path: Path) -> None:
    """A schema that takes SQLite seconds of CPU at the first statement."""
    with closing(sqlite3.connect(path)) as con:
        con.execute("PRAGMA writable_schema=ON")
        con.execute("CREATE TABLE work(start INTEGER, name TEXT)")
        rows = ((f"v{i}", f"v{i}", f"CREATE VIEW v{i} AS SELECT 1") for i in range(20_000))
        con.executemany(
            "INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) VALUES ('view', ?, ?, 0, ?)", rows
        )
        con.commit()


def schema_page_loop(path: Path) -> None:
    """An interior page of the schema that names itself as its child."""
    with filled(path).open("r+b") as file:
        file.seek(100)
        file.write(b"\x05" + b"\0\0" + b"\0\0" + b"\0\0" + b"\0" + (1).to_bytes(4, "big"))


def schema_page_of_unknown_kind(path: Path) -> None:
    """Damage in the first page."""
    with filled(path).open("r+b") as file:
        file.seek(100)
        file.write(b"\x77")


def needed_table_is_a_view(path: Path) -> None:
    """Reading it would run the author's SQL."""
    database(path, "CREATE VIEW work AS SELECT 1 AS start, 'x' AS name")


def needed_table_is_virtual(path: Path) -> None:
    """Reading it would run a module."""
    database(path, "CREATE VIRTUAL TABLE work USING rtree(start, name, other)")


def needed_table_is_missing(path: Path) -> None:
    """Another kind of database."""
    database(path, "CREATE TABLE other(start)")


def needed_column_is_missing(path: Path) -> None:
    """Another version."""
    database(path, "CREATE TABLE work(start INTEGER)")


def generated_column(path: Path) -> None:
    """Its expression runs at every reading, unseen by the authorizer."""
    database(path, "CREATE TABLE work(start INTEGER, name TEXT AS (hex(zeroblob(1000)))); INSERT INTO work VALUES (1)")


def many_columns(path: Path) -> None:
    """More columns than any profile has."""
    database(path, f"CREATE TABLE work(start, name, {', '.join(f'c{i}' for i in range(1_990))})")


def huge_value(path: Path) -> None:
    """A text of 20 MB in a row that is read."""
    database(path, "CREATE TABLE work(start, name); INSERT INTO work VALUES (1, hex(zeroblob(10000000)))")


REFUSED: list[tuple[Callable[[Path], None], str]] = [
    (empty, "is not an SQLite 3 database"),
    (text, "is not an SQLite 3 database"),
    (first_100_bytes, "truncated or still being written"),
    (last_page_cut, "truncated or still being written"),
    (half_a_page_more, "truncated or still being written"),
    (page_count_too_large, "truncated or still being written"),
    (odd_page_size, "page size"),
    (journal, "unfinished transaction"),
    (write_ahead_log, "unfinished transaction"),
    (many_views, "more than 2,000 schema objects"),
    (schema_page_loop, "schema cannot be read"),
    (schema_page_of_unknown_kind, "schema cannot be read"),
    (needed_table_is_a_view, "lacks the table work"),
    (needed_table_is_virtual, "lacks the table work"),
    (needed_table_is_missing, "lacks the table work"),
    (needed_column_is_missing, "lacks name in the table work"),
    (generated_column, "has generated columns in work"),
]


@pytest.mark.parametrize(("spoil", "sentence"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_refuses_with_a_sentence_that_names_the_file(
    tmp_path: Path, spoil: Callable[[Path], None], sentence: str
) -> None:
    """What is wrong, in which file; no text of SQLite's."""
    path = tmp_path / "profile.sqlite"
    spoil(path)
    with pytest.raises(BrokenSource, match=sentence) as caught:
        read_all(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith(".")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="sqlite3 has no limits before Python 3.11")
@pytest.mark.parametrize(("spoil", "sentence"), [(many_columns, "damaged|columns"), (huge_value, "more than 16 MB")])
def test_limits_refuse_what_no_profile_has(tmp_path: Path, spoil: Callable[[Path], None], sentence: str) -> None:
    """A table of 1,992 columns, a text of 20 MB."""
    spoil(tmp_path / "profile.sqlite")
    with pytest.raises(BrokenSource, match=sentence):
        read_all(tmp_path / "profile.sqlite")


def test_what_is_refused_has_the_type_the_caller_names(tmp_path: Path) -> None:
    """A database of profiles is unfit where a source is broken."""
    text(tmp_path / "a.sqlite")
    with pytest.raises(UnfitDatabase):
        open_untrusted(tmp_path / "a.sqlite", UnfitDatabase)


def test_refuses_what_is_no_file(tmp_path: Path) -> None:
    """A folder, a missing file, a loop of links."""
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UnsafeFile):
        open_untrusted(tmp_path)
    with pytest.raises(NotFound):
        open_untrusted(tmp_path / "gone.sqlite")
    with pytest.raises(UnsafeFile):
        open_untrusted(tmp_path / "loop")


NAMES = [
    "a.sqlite?mode=rwc&x=",
    "a#b.sqlite",
    "a%20b.sqlite",
    "two\nlines.sqlite",
    "<img src=x onerror=alert(1)>.sqlite",
    "-leading.sqlite",
    "x" * 240,
    os.fsdecode(b"bad\xff.sqlite"),
]


@pytest.mark.skipif(os.name != "posix", reason="Windows forbids such names")
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_any_file_name_opens_for_reading_only(tmp_path: Path, name: str) -> None:
    """No part of a name becomes an option, and nothing is left beside the file."""
    path = filled(tmp_path / "made.sqlite").rename(tmp_path / name)
    with closing(open_untrusted(path)) as con:
        assert con.execute("SELECT sum(start) FROM work").fetchone() == (2_001_000,)
        with pytest.raises(sqlite3.OperationalError):
            con.execute("DELETE FROM work")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_link_inside_the_folder_works_and_its_targets_journal_counts(tmp_path: Path) -> None:
    """The journal lies beside the target, not beside the link."""
    (tmp_path / "scratch").mkdir()
    filled(tmp_path / "scratch" / "a.sqlite")
    (tmp_path / "link.sqlite").symlink_to("scratch/a.sqlite")
    assert len(read_all(tmp_path / "link.sqlite")) == 2_000
    (tmp_path / "scratch" / "a.sqlite-wal").write_bytes(b"x")
    with pytest.raises(BrokenSource, match="unfinished transaction"):
        read_all(tmp_path / "link.sqlite")


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
    """A cross join of billions of rows ends with a sentence; the next query works."""
    with closing(open_untrusted(filled(tmp_path / "a.sqlite"))) as con:
        seal(con)
        con.authorizer_calls = 4_999
        with pytest.raises(BrokenSource, match="took too long"), reading("it"), deadline(con, 0.05):
            con.execute("SELECT count(*) FROM work a, work b, work c").fetchone()
        with deadline(con, 60):
            assert con.execute("SELECT count(*) FROM work").fetchone() == (2_000,)


def test_text_that_is_not_utf8_is_replaced(tmp_path: Path) -> None:
    """Some values in real exports are not valid UTF-8."""
    database(
        tmp_path / "a.sqlite", "CREATE TABLE work(start, name); INSERT INTO work VALUES (1, CAST(x'61ff62' AS TEXT))"
    )
    assert read_all(tmp_path / "a.sqlite") == [(1, "a�b")]


def test_optional_tables_and_columns_are_reported(tmp_path: Path) -> None:
    """What exists is returned with its columns, views are not."""
    database(
        tmp_path / "a.sqlite", "CREATE TABLE work(start, name, extra); CREATE TABLE o(x); CREATE VIEW v AS SELECT 1"
    )
    with closing(open_untrusted(tmp_path / "a.sqlite")) as con:
        assert real_tables(con) == {"work", "o"}
        found = require_tables(con, {"work": ("start",)}, optional=("o", "v", "none"))
    assert found == {"work": {"start", "name", "extra"}, "o": {"x"}}


def test_damaged_copies_end_in_rows_or_a_sentence(tmp_path: Path) -> None:
    """Three hundred copies with flipped bits: never another exception."""
    whole = filled(tmp_path / "whole.sqlite").read_bytes()
    dice = random.Random(2026)
    outcomes = {"rows": 0, "refused": 0}
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(dice.choice((1, 4, 30))):
            damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        path = tmp_path / "damaged.sqlite"
        path.write_bytes(damaged)
        try:
            read_all(path)
            outcomes["rows"] += 1
        except BrokenSource:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 0


def test_a_message_that_cannot_be_decoded_is_a_sentence_too() -> None:
    """The sqlite3 module raises UnicodeDecodeError when SQLite quotes a damaged name."""
    with pytest.raises(BrokenSource, match="is damaged"), reading("it"):
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    with pytest.raises(BrokenSource, match="more memory"), reading("it"):
        raise MemoryError


def test_a_number_beyond_those_of_sqlite_is_a_sentence_too(tmp_path: Path) -> None:
    """A query may take one that was worked out from the file's own."""
    with (
        closing(open_untrusted(filled(tmp_path / "a.sqlite"))) as con,
        pytest.raises(BrokenSource, match="it holds numbers that no profile has"),
        reading("it"),
    ):
        con.execute("SELECT ?", (2**63,))


SWAPPING = """
import os, sys
from pathlib import Path
from tensorboard_plugin_dlprof.errors import ProfileError
from tensorboard_plugin_dlprof.opening.sqlite_file import open_untrusted

kind, path, other, spare = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
swaps = 0

def swap(event, arguments):
    global swaps
    if event != "sqlite3.connect" or (swaps and kind != "every time"):
        return
    swaps += 1
    if kind == "link":
        spare.symlink_to(other)
    else:
        spare.write_bytes(other.read_bytes() + bytes(0))
        os.utime(spare, ns=(0, swaps))
    os.replace(spare, path)

sys.addaudithook(swap)
try:
    print(open_untrusted(path).execute("SELECT name FROM work").fetchone()[0])
except ProfileError as error:
    print(error)
"""
"""Puts another file in the place of the checked one at the very moment when SQLite is about to open it."""


@pytest.mark.parametrize(
    ("kind", "words"),
    [("link", "leads to another file than when it was found"), ("once", "other"), ("every time", "again and again")],
)
def test_a_file_that_is_swapped_while_it_is_opened(tmp_path: Path, kind: str, words: str) -> None:
    """What SQLite opens is what was checked: a new version is checked again, a link to elsewhere is refused."""
    path, other = (
        database(tmp_path / f"{name}.sqlite", f"CREATE TABLE work(name TEXT); INSERT INTO work VALUES ('{name}')")
        for name in ("mine", "other")
    )
    arguments = [kind, str(path), str(other), str(tmp_path / "spare")]
    done = subprocess.run(
        [sys.executable, "-c", SWAPPING, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    assert words in done.stdout


def test_no_link_is_followed_where_the_path_was_resolved_before(tmp_path: Path) -> None:
    """Someone has put it there since, also in the place of a folder."""
    (tmp_path / "real").mkdir()
    real = filled(tmp_path / "real" / "a.sqlite")
    open_untrusted(real, follow_links=False).close()
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "b.sqlite").symlink_to(real)
    for path in (tmp_path / "folder" / "a.sqlite", tmp_path / "real" / "b.sqlite"):
        open_untrusted(path).close()
        with pytest.raises(NotFound):
            open_untrusted(path, follow_links=False)


def test_no_absolute_path_that_the_caller_did_not_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name the file as the caller named it."""
    monkeypatch.chdir(tmp_path)
    last_page_cut(Path("a.sqlite"))
    with pytest.raises(BrokenSource) as caught:
        read_all(Path("a.sqlite"))
    assert str(tmp_path) not in str(caught.value)
