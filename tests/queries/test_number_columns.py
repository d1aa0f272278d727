"""Pages of very many iterations: columns read whole say the same as SQLite, which asks every row."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from shutil import copyfile

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Results, write_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries import number_columns, ranking
from tensorboard_plugin_dlprof.queries.filters import condition
from tensorboard_plugin_dlprof.queries.iteration_list import iterations
from tensorboard_plugin_dlprof.queries.number_columns import NumberColumns
from tensorboard_plugin_dlprof.queries.pages import count, page
from tensorboard_plugin_dlprof.queries.ranking import Values, passes, ranked
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.table import Page, Request
from tensorboard_plugin_dlprof.queries.table_query import TableQuery
from tests.imports.traces import write_trace

TABLE = iterations(True)

FILTERS: list[dict[str, str]] = [
    {},
    {"gpu_time_fraction": ">10%"},
    {"tensor_core_time_fraction": "0..1", "kernels": "<=1.5"},
    {"kernels": "=0.5"},
    {"duration_ns": "1us..30us"},
    {"start_ns": ">=3.5ms", "cpu_ns": "<1e30"},
    {"iteration": "=100"},
    {"io_ns": ">1s"},
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 iterations of which 1,301 are aggregated; some of these are of no length, others of any."""
    folder = tmp_path_factory.mktemp("many")
    source, small, large = (folder / name for name in ("a.json", "small.sqlite", "large.sqlite"))
    write_trace(source, steps=5, adds_per_step=1)
    import_source(source, small, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(small)) as con:
        profile = tile_profile(read_profile(con), 1_500)
    low, high = (int(profile.iterations[0].values[row]) for row in (100, 1_400))
    write_database(large, source, profile, lambda: Results([aggregate(profile, Selection(None, low, high))]))
    parts = ", ".join(
        f"{part}_duration = (id * {factor}) % 97 * 311 * (id % 7 <> 0)"
        for factor, part in enumerate(("tc", "non_tc", "memory", "dataloader", "io", "cpu", "other"), 3)
    )
    with closing(sqlite3.connect(large)) as con, con:
        con.execute(f"UPDATE iteration_aggregation_list SET {parts}")
        con.execute("UPDATE kernel_iteration_stats SET total_count = id % 3, uses_tc_count = 200 - id % 400")
    return large


@pytest.fixture
def connection(database: Path) -> Iterator[UntrustedConnection]:
    """To the database."""
    with closing(open_database(database)) as con:
        yield con


def asked(connection: UntrustedConnection, request: Request) -> tuple[Page, int]:
    """A page, and the number of rows that pass as it is told alone; nothing is known before."""
    connection.authorizer_calls = 0
    scope = find_scope(connection)
    return page(connection, TABLE, scope, request, {}), count(connection, TABLE, scope, request, {})


def found(connection: UntrustedConnection, request: Request) -> NumberColumns | None:
    """The columns that are read for a request."""
    query = TableQuery(TABLE, find_scope(connection), request)
    return NumberColumns.find(connection, query, 1_301)


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_pages_are_those_of_sqlite(
    connection: UntrustedConnection, filters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every order and direction, from the first page to the last, with many equal keys and unknown shares."""
    assert found(connection, Request(sort="cpu_ns", filters=filters)) is not None
    requests = [
        Request(offset=offset, limit=limit, sort=direction + column.key, filters=filters)
        for column in TABLE.columns
        for direction in ("", "-")
        for offset, limit in ((0, 25), (0, 0), (10, 3), (640, 50), (1_290, 25), (5_000, 25))
    ]
    answers = [asked(connection, request) for request in requests]
    if not filters:
        assert any(row["gpu_time_fraction"] is None for answer, _ in answers for row in answer.rows)
    monkeypatch.setattr(number_columns, "FEW_ROWS", 10_000)
    assert found(connection, Request(sort="cpu_ns", filters=filters)) is None
    for request, answer in zip(requests, answers, strict=True):
        assert answer == asked(connection, request)


def test_each_iteration_has_its_own_start(database: Path, connection: UntrustedConnection) -> None:
    """Also where not all iterations are aggregated, so that the rows of both tables have other ids."""
    with closing(sqlite3.connect(database)) as con:
        starts = dict(con.execute("SELECT iter_value, start_time FROM iteration_list").fetchall())
    answer, number = asked(connection, Request(limit=2_000, filters={"start_ns": ">0"}))
    assert {row["iteration"]: row["start_ns"] for row in answer.rows} == dict(list(starts.items())[100:1_401])
    middle = sorted(starts.values())[700]
    answer, number = asked(connection, Request(limit=2_000, filters={"start_ns": f">={middle}ns"}))
    assert number == 701
    assert {row["iteration"] for row in answer.rows} == set(list(starts)[700:1_401])


def test_columns_are_read_at_once(connection: UntrustedConnection) -> None:
    """What lies in one table: most of the time goes into finding one row after the other."""
    filters = {"start_ns": ">0", "gpu_time_fraction": ">1%"}
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    asked(connection, Request(sort="cpu_ns", filters=filters))
    asked(connection, Request(sort="cpu_ns", filters={**filters, "io_ns": ">0"}))
    asked(connection, Request(sort="cpu_ns", filters={**filters, "kernels": ">0"}))
    read = [statement for statement in statements if "group_concat(value0)" in statement]
    assert len(read) == 3
    assert all(column in read[0] for column in ("start_time", "tc_duration", "cpu_duration"))


def test_indexed_orders_are_left_to_sqlite(connection: UntrustedConnection) -> None:
    """It reads the rows of the page alone; where it has to look for those that pass, columns are faster."""
    for key in ("iteration", "start_ns", "-duration_ns"):
        assert found(connection, Request(sort=key)) is None
        assert found(connection, Request(sort=key, filters={"kernels": "1"})) is not None


def test_search_is_left_to_sqlite(connection: UntrustedConnection) -> None:
    """No column of iterations is a text, so nothing is found."""
    assert found(connection, Request(sort="cpu_ns", search="1")) is None
    assert asked(connection, Request(sort="cpu_ns", search="1"))[0].filtered == 0


def _unknown(con: sqlite3.Connection) -> None:
    con.execute("PRAGMA legacy_alter_table = ON")  # views need not find the table meanwhile
    con.execute("CREATE TABLE rows AS SELECT * FROM iteration_aggregation_list")
    con.execute("DROP TABLE iteration_aggregation_list")
    con.execute("ALTER TABLE rows RENAME TO iteration_aggregation_list")
    con.execute("UPDATE iteration_aggregation_list SET cpu_duration = NULL WHERE id = 77")


@pytest.mark.parametrize(
    "change",
    [
        _unknown,
        lambda con: con.execute("UPDATE iteration_aggregation_list SET cpu_duration = 1.5 WHERE id = 77"),
        lambda con: con.execute("UPDATE iteration_aggregation_list SET cpu_duration = '1,2' WHERE id = 77"),
        lambda con: con.execute("UPDATE iteration_aggregation_list SET cpu_duration = 'many' WHERE id = 77"),
        lambda con: con.execute("UPDATE iteration_aggregation_list SET id = 9000 WHERE id = 77"),
        lambda con: con.execute("DELETE FROM iteration_aggregation_list WHERE id = 77"),
    ],
    ids=["unknown", "fraction", "two numbers", "text", "moved", "lost"],
)
def test_damaged_rows_are_left_to_sqlite(
    database: Path, change: Callable[[sqlite3.Connection], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no whole number, and rows that do not lie side by side."""
    damaged = tmp_path / "damaged.sqlite"
    copyfile(database, damaged)
    with closing(sqlite3.connect(damaged)) as con, con:
        change(con)
    with closing(open_database(damaged)) as untrusted:
        requests = [Request(sort="-cpu_ns", filters=filters) for filters in ({}, {"cpu_ns": ">1us"})]
        answers = [asked(untrusted, request) for request in requests]
        monkeypatch.setattr(number_columns, "FEW_ROWS", 10_000)
        assert answers == [asked(untrusted, request) for request in requests]


def test_little_is_kept(database: Path, connection: UntrustedConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns asked for last, as many as there is room for; answers stay the same."""
    before = [asked(connection, Request(sort=column.key)) for column in TABLE.columns]
    kept = connection.shared["number_columns"]
    assert 6_000 < kept.bytes() < 1_301 * 8 * len(TABLE.columns)
    monkeypatch.setattr(number_columns, "_KEPT_BYTES", 6_000)
    with closing(open_database(database)) as another:
        assert [asked(another, Request(sort=column.key)) for column in TABLE.columns] == before
        assert 0 < another.shared["number_columns"].bytes() <= 6_000


def test_connections_share_columns(database: Path, connection: UntrustedConnection) -> None:
    """What one of them read, the next one need not read."""
    request = Request(sort="cpu_ns", filters={"gpu_time_fraction": ">10%"})
    answer = asked(connection, request)
    with closing(open_database(database)) as another:
        another.shared = connection.shared
        statements: list[str] = []
        another.set_trace_callback(statements.append)
        assert asked(another, request) == answer
    assert statements
    assert not [statement for statement in statements if "group_concat" in statement]


@given(st.lists(st.tuples(st.sampled_from([-math.inf, -2, 0, 0.25, math.inf]), st.booleans()), min_size=1), st.data())
def test_ranked(rows: list[tuple[float, bool]], data: st.DataObject) -> None:
    """Any part of the order of those that count: equal keys are in the order of their rows."""
    expected = sorted((row for row, (_, counts) in enumerate(rows) if counts), key=lambda row: rows[row][0])
    assume(expected)
    first = data.draw(st.integers(0, len(expected) - 1))
    limit = data.draw(st.integers(1, len(expected) - first))
    keys, flags = Values(np.array([float(key) for key, _ in rows])), np.array([counts for _, counts in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_ROWS_AT_ONCE", 3)
        found = ranked(keys, None if flags.all() else flags, first, limit, np.empty(len(expected)))
    assert found.tolist() == expected[first : first + limit]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">9007199254740992", [False, True, True]),
        ("<=9007199254740992", [True, False, False]),
        ("=9007199254740992", [True, False, False]),
        ("9007199254740994..1e30", [False, False, True]),
        (">=-0.5", [True, True, True]),
        ("<9e30", [True, True, True]),
    ],
)
def test_whole_numbers_are_compared_exactly(text: str, expected: list[bool]) -> None:
    """Also those that no double holds, which would be equal to their neighbour."""
    numbers = np.array([2**53, 2**53 + 1, 2**53 + 2])
    assert passes(numbers, condition("a", "integer", text)).tolist() == expected
