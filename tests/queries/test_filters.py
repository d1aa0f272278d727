"""What a user types into a filter."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.filters import (
    LONGEST_PATTERN_BYTES,
    ColumnType,
    Condition,
    condition,
    containing,
)


@pytest.mark.parametrize(
    ("column_type", "text", "sql", "values"),
    [
        ("integer", ">1000", "{} > ?", (1000,)),
        ("integer", " <= 5 ", "{} <= ?", (5,)),
        ("integer", "7", "{} = ?", (7,)),
        ("integer", "10..20", "{} BETWEEN ? AND ?", (10, 20)),
        ("duration_ns", ">1ms", "{} > ?", (1_000_000,)),
        ("duration_ns", "1.5us..2 µs", "{} BETWEEN ? AND ?", (1_500, 2_000)),
        ("duration_ns", ">=1e3", "{} >= ?", (1_000,)),
        ("duration_ns", "=7ns", "{} = ?", (7,)),
        ("duration_ns", "1.5μs", "{} = ?", (1_500,)),
        ("duration_ns", "<2s", "{} < ?", (2_000_000_000,)),
        ("bytes", "<1KiB", "{} < ?", (1_024,)),
        ("bytes", "3 B..4", "{} BETWEEN ? AND ?", (3, 4)),
        ("bytes", "1kB..1MB", "{} BETWEEN ? AND ?", (1_000, 1_000_000)),
        ("bytes", "2MiB..2GiB", "{} BETWEEN ? AND ?", (2_097_152, 2_147_483_648)),
        ("bytes", ">2GB", "{} > ?", (2_000_000_000,)),
        ("number", "5..2k", "{} BETWEEN ? AND ?", (5, 2_000)),
        ("number", "1.5M..2G", "{} BETWEEN ? AND ?", (1_500_000, 2_000_000_000)),
        ("number", ">1T", "{} > ?", (1_000_000_000_000,)),
        ("fraction", ">.25", "{} > ?", (0.25,)),
        ("fraction", ">10%", "{} > ?", (0.1,)),
        ("boolean", "Yes", "{} = 1", ()),
        ("boolean", "0", "{} = 0", ()),
        ("boolean", "unknown", "{} IS NULL", ()),
    ],
)
def test_filters(column_type: ColumnType, text: str, sql: str, values: tuple[float, ...]) -> None:
    """Comparisons, ranges with both ends, units, yes and no."""
    result = condition("c", column_type, text)
    assert result.sql == sql
    assert result.values == pytest.approx(values)


@pytest.mark.parametrize(
    ("column_type", "text", "value"),
    [
        ("duration_ns", "=1.001us", 1_001),
        ("duration_ns", "<=4.111111ms", 4_111_111),
        ("bytes", "=1.001kB", 1_001),
        ("fraction", ">=57%", 0.57),
        ("fraction", "=0.7 %", 0.007),
        ("integer", "=9007199254740993", 9_007_199_254_740_993),
    ],
)
def test_a_value_is_found_by_what_the_table_shows_of_it(column_type: ColumnType, text: str, value: float) -> None:
    """To the last digit, whatever the unit: not by a double beside it."""
    assert condition("c", column_type, text).values == (value,)


def test_a_text_is_a_part_or_all_after_an_equals_sign() -> None:
    """ADD_1 is in the id of ADD_10."""
    assert condition("c", "text", "=ADD_1") == Condition("{} = ?", ("ADD_1",))
    assert condition("c", "text", "ADD_1") == containing("ADD_1")


def test_a_whole_value_may_end_with_a_space() -> None:
    """As the key of a group without a direction does; what a user typed is found all the same."""
    assert condition("c", "text", "=/a ") == Condition("{} IN (?, ?)", ("/a", "/a "))
    assert condition("c", "text", "=/a") == Condition("{} = ?", ("/a",))


@pytest.mark.parametrize(
    ("column_type", "text"),
    [
        ("integer", "many"),
        ("integer", ">"),
        ("integer", "1;drop table x"),
        ("integer", "5ms"),
        ("integer", "nan"),
        ("integer", "1..2..3"),
        ("duration_ns", "1 hour"),
        ("duration_ns", "1e999"),
        ("boolean", "maybe"),
    ],
)
def test_what_is_not_understood_is_said_with_an_example(column_type: ColumnType, text: str) -> None:
    """Never an SQL error, never ignored."""
    with pytest.raises(BadRequest, match=r"c: "):
        condition("c", column_type, text)


def test_wildcards_in_a_search_are_letters() -> None:
    """The user means the letters themselves."""
    assert containing("100%_\\").values == ("%100\\%\\_\\\\%",)


@pytest.mark.parametrize("length", [1, 150, 197, 198, 199, 250, 2_000])
def test_a_search_of_any_length_finds_what_contains_it(length: int) -> None:
    """Names of kernels are longer than the patterns that a hardened connection takes."""
    text = ("aB_%'" * 400)[:length]
    result = containing(text)
    with closing(sqlite3.connect(":memory:")) as con:
        if hasattr(con, "setlimit"):
            con.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN_BYTES)
        con.execute("CREATE TABLE names (name)")
        names = [f"before {text.swapcase()} after", f"before {text[1:]}", None]
        con.executemany("INSERT INTO names VALUES (?)", [(name,) for name in names])
        rows = con.execute(f"SELECT name FROM names WHERE {result.sql.format('name')}", result.values).fetchall()
    assert rows == [(names[0],)]
