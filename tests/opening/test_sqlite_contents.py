"""What SQLite files by strangers hold: each is refused with a sentence or read as data."""

from __future__ import annotations

import random
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.errors import BrokenSource, UnfitDatabase
from tensorboard_plugin_dlprof.opening import sqlite_file
from tensorboard_plugin_dlprof.opening.sqlite_file import (
    IMPOSSIBLE,
    deadline,
    forget_texts,
    open_untrusted,
    reading,
    real_tables,
    require_tables,
)
from tests.opening.sqlite_files import PAGE_BYTES, database, filled, read_all, truncate


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
        result = require_tables(con, {"work": ("start",)}, optional=("o", "v", "none"))
    assert result == {"work": {"start", "name", "extra"}, "o": {"x"}}


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


def test_whatever_impossible_values_lead_to_is_a_sentence_too(tmp_path: Path) -> None:
    """A number may be worked out from the file's own, be a text or missing; the cause is kept for the log."""
    attempts: list[Callable[[sqlite3.Connection], object]] = [
        lambda con: con.execute("SELECT ?", (2**63,)),
        lambda con: int(con.execute("SELECT NULL").fetchone()[0]),
        lambda con: {1: 2}[con.execute("SELECT 3").fetchone()[0]],
        lambda con: 1 / con.execute("SELECT 0").fetchone()[0],
        lambda con: con.execute("SELECT 1").fetchone()[0].split(),
    ]
    with closing(open_untrusted(filled(tmp_path / "a.sqlite"))) as con:
        for attempt in attempts:
            with pytest.raises(BrokenSource, match="it holds impossible values") as refused, reading("it"):
                attempt(con)
            assert isinstance(refused.value.__cause__, IMPOSSIBLE)


def test_texts_for_one_answer_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells may share what they refer to, so that their texts together are larger than the file. Streams go on."""
    monkeypatch.setattr(sqlite_file, "MOST_TEXT_BYTES", 5_000)
    with closing(open_untrusted(filled(tmp_path / "a.sqlite"))) as con, reading("it"):
        query = "SELECT name FROM work"
        assert len(con.execute(query).fetchall()) == 2_000
        with deadline(con, 60), pytest.raises(BrokenSource, match="holds more text than any profile"):
            con.execute(query).fetchall()
        with deadline(con, 60):
            for _ in con.execute(query):
                forget_texts(con)
