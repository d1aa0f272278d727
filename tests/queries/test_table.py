"""Pages of a table, over the real database of a small trace and a made-up table with hand-made rows."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries import pages
from tensorboard_plugin_dlprof.queries.ops import OPS
from tensorboard_plugin_dlprof.queries.page_answer import page_of
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import page, stream
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.table import Column, Table
from tensorboard_plugin_dlprof.queries.table_query import CountKey
from tensorboard_plugin_dlprof.queries.tables import TABLES

SCOPE = Scope(1, 1, "default-domain")

LAUNCHES = Table(
    name="launches",
    key="id",
    base="launches AS launch",
    row_id="launch.id",
    where="launch.aggr_id = :aggregation AND launch.op = :op",
    links=("op",),
    default_sort="-time_ns",
    joins=("JOIN dictionary AS name ON name.id = launch.name_id",),
    columns=(
        Column("id", "Id", "integer", "", "launch.id"),
        Column("name", "Name", "text", "", "name.string", text_id="launch.name_id", searchable=True),
        Column("time_ns", "Time", "duration_ns", "", "launch.time"),
        Column("stream", "Stream", "integer", "", "launch.stream", nullable=True),
        Column("note", "Note", "text", "", "launch.note", searchable=True, sortable=False),
        Column("secret", "Secret", "text", "", "launch.note", filterable=False),
    ),
)

ROWS = [
    # id, aggr, op, name, time, stream, note
    (1, 1, "A", 1, 30, 7, "x"),
    (2, 1, "A", 2, 10, None, "100%"),
    (3, 1, "A", 1, 20, 5, "y"),
    (4, 1, "B", 1, 99, 1, "z"),
    (5, 2, "A", 1, 99, 1, "z"),
]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """``ROWS`` in a database."""
    con = sqlite3.connect(":memory:")
    con.execute("CREATE TABLE dictionary (id INTEGER PRIMARY KEY, string TEXT)")
    con.executemany("INSERT INTO dictionary VALUES (?, ?)", [(1, "sgemm"), (2, "Copy_kernel")])
    con.execute("CREATE TABLE launches (id INTEGER PRIMARY KEY, aggr_id, op, name_id, time, stream, note)")
    con.executemany("INSERT INTO launches VALUES (?, ?, ?, ?, ?, ?, ?)", ROWS)
    yield con
    con.close()


def ids(connection: sqlite3.Connection, **options: object) -> list[object]:
    """Ids of the page, which are those of the stream as well."""
    request = PageRequest(op="A", **options)  # type: ignore[arg-type]
    paged = [row["id"] for row in page(connection, LAUNCHES, SCOPE, request).rows]
    if "offset" not in options and "limit" not in options:
        assert [row["id"] for row in stream(connection, LAUNCHES, SCOPE, request)] == paged
    return paged


def test_the_default_order_and_the_scope(connection: sqlite3.Connection) -> None:
    """Longest first; rows of other ops and aggregations are not there."""
    result = page(connection, LAUNCHES, SCOPE, PageRequest(op="A"))
    assert [row["id"] for row in result.rows] == [1, 3, 2]
    assert (result.total, result.filtered, result.sort) == (3, 3, "-time_ns")
    assert result.rows[0] == {"id": 1, "name": "sgemm", "time_ns": 30, "stream": 7, "note": "x", "secret": "x"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sort": "time_ns"}, [2, 3, 1]),
        ({"sort": "name"}, [2, 1, 3]),
        ({"sort": "-name"}, [3, 1, 2]),
        ({"sort": "stream"}, [3, 1, 2]),
        ({"sort": "-stream"}, [1, 3, 2]),
        ({"offset": 1, "limit": 1}, [3]),
        ({"offset": 99}, []),
        ({"limit": 0}, []),
        ({"search": "GEMM"}, [1, 3]),
        ({"search": "%"}, [2]),
        ({"search": "y_"}, [2]),
        ({"where": {"time_ns": ">10"}}, [1, 3]),
        ({"where": {"time_ns": "10..20", "name": "copy"}}, [2]),
        ({"where": {"note": "100%"}}, [2]),
        ({"where": {"time_ns": "  "}}, [1, 3, 2]),
        ({"search": "' OR 1 --"}, []),
        ({"search": "x" * 300}, []),
        ({"where": {"name": "{}" * 200, "note": "?" * 300}}, []),
    ],
)
def test_sort_page_search_and_filter(
    connection: sqlite3.Connection, options: dict[str, object], expected: list[int]
) -> None:
    """Unknown values are last in both directions; letters of LIKE mean themselves."""
    assert ids(connection, **options) == expected


def test_equal_rows_of_the_default_order_are_sorted_by_another_column(connection: sqlite3.Connection) -> None:
    """The highest first, in both directions; where another order was asked for, equal rows keep that of their ids."""
    table = msgspec.structs.replace(LAUNCHES, default_sort="-stream", default_then="time_ns")
    connection.execute("UPDATE launches SET stream = NULL WHERE id <> 1")
    connection.execute("INSERT INTO launches VALUES (6, 1, 'A', 1, 15, NULL, '')")

    def sorted_by(sort: str) -> list[object]:
        result = page(connection, table, SCOPE, PageRequest(op="A", sort=sort))
        return [row["id"] for row in result.rows]

    assert sorted_by("") == sorted_by("-stream") == [1, 3, 6, 2]
    assert sorted_by("stream") == [1, 3, 6, 2]
    assert sorted_by("-name") == [6, 3, 1, 2]


def test_rows_of_which_a_column_is_unknown_keep_the_default_order(connection: sqlite3.Connection) -> None:
    """Where gains of most ops are unknown, those that take the most time stand before the others."""
    table = msgspec.structs.replace(LAUNCHES, default_sort="-time_ns")
    connection.execute("UPDATE launches SET stream = NULL WHERE id <> 1")
    connection.execute("INSERT INTO launches VALUES (6, 1, 'A', 1, 15, NULL, '')")
    rows = page(connection, table, SCOPE, PageRequest(op="A", sort="-stream")).rows
    assert [row["id"] for row in rows] == [1, 3, 6, 2]


def test_ops_without_gpu_time_are_sorted_by_their_time_on_the_host(tmp_path: Path) -> None:
    """A recording of the CPU alone, whose page of ops would begin with the last of them."""
    trace, database = tmp_path / "run.pt.trace.json", tmp_path / "run.dlprof_dldb.sqlite"
    lengths = {"aten::relu": 20, "aten::linear": 70, "aten::sum": 50}
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 100 * number, "dur": length, "args": {}}
        for number, (name, length) in enumerate(lengths.items())
    ]
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    import_source(trace, database, ImportOptions(), lambda _what, _fraction: None)
    with closing(open_database(database)) as opened:
        result = page(opened, OPS, SCOPE, PageRequest()).rows
    assert [row["op_type"] for row in result] == ["linear", "sum", "relu"]


def test_many_hits_take_the_other_plan_and_give_the_same_rows(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above ``FEW_ROWS`` hits the order comes from the sorted column's index."""
    monkeypatch.setattr(pages, "FEW_ROWS", 0)
    assert ids(connection, search="gemm", sort="time_ns") == [3, 1]


def test_more_rows_than_one_statement_takes_ids(connection: sqlite3.Connection) -> None:
    """A page and a stream go through several statements."""
    connection.executemany(
        "INSERT INTO launches VALUES (?, 1, 'A', 1, ?, 1, '')", [(number, number) for number in range(100, 1_300)]
    )
    assert len(ids(connection, limit=1_000)) == 1_000
    assert sum(1 for _ in stream(connection, LAUNCHES, SCOPE, PageRequest(op="A"))) == 1_203


def test_counts_are_kept_between_pages(connection: sqlite3.Connection) -> None:
    """The owner of the counts empties them when the database changes."""
    counts: dict[CountKey, int] = {}
    request = PageRequest(op="A", search="gemm", limit=1)
    assert page(connection, LAUNCHES, SCOPE, request, counts).filtered == 2
    connection.execute("DELETE FROM launches WHERE id = 3")
    assert page(connection, LAUNCHES, SCOPE, request, counts).filtered == 2
    counts.clear()
    assert page(connection, LAUNCHES, SCOPE, request, counts).filtered == 1


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (PageRequest(), "needs the parameter op"),
        (PageRequest(op="A", sort="name; --"), "no column"),
        (PageRequest(op="A", sort="note"), "cannot be sorted"),
        (PageRequest(op="A", where={"secret": "x"}), "cannot be filtered"),
        (PageRequest(op="A", where={"nothing": "x"}), "no column"),
    ],
)
def test_wrong_requests_say_what_is_wrong(connection: sqlite3.Connection, request_: PageRequest, message: str) -> None:
    """Columns come from the fixed list only."""
    with pytest.raises(BadRequest, match=message):
        page(connection, LAUNCHES, SCOPE, request_)


def test_cells_of_a_hostile_database_are_fit_for_json(connection: sqlite3.Connection) -> None:
    """Blobs, text among numbers, infinity and endless texts."""
    connection.execute("DELETE FROM launches")
    connection.execute(
        "INSERT INTO launches VALUES (1, 1, 'A', 1, 9e999, 'seven', ?), (2, 1, 'A', 1, x'00', NULL, 5)",
        ("x" * 100_000,),
    )
    first, second = sorted(page(connection, LAUNCHES, SCOPE, PageRequest(op="A")).rows, key=lambda row: str(row["id"]))
    assert (first["time_ns"], first["stream"]) == (None, None)
    assert len(str(first["note"])) == 8_193
    assert (second["time_ns"], second["stream"], second["note"]) == (None, None, "5")


@pytest.mark.parametrize(("limit", "search"), [(25, ""), (1, ""), (2, "sgemm")])
def test_columns_in_which_all_rows_are_alike(connection: sqlite3.Connection, limit: int, search: str) -> None:
    """Also those that are not on the page or do not pass; a value beside an unknown one is no constant."""
    connection.execute("UPDATE launches SET note = NULL")
    request = PageRequest(op="A", limit=limit, search=search)
    assert page_of(connection, LAUNCHES, SCOPE, request)["constant"] == ["note", "secret"]
    connection.execute("UPDATE launches SET note = 'x' WHERE id = 2")
    assert page_of(connection, LAUNCHES, SCOPE, request)["constant"] == []
    from_a_query = Column("other", "Other", "text", "", "SELECT 'x'", sortable=False, filterable=False)
    table = msgspec.structs.replace(LAUNCHES, columns=(*LAUNCHES.columns, from_a_query))
    request = PageRequest(op="A", where={"name": "gemm"})
    assert "other" in page_of(connection, table, SCOPE, request)["constant"]


@pytest.mark.parametrize("limit", [25, 1])
def test_calls_that_only_repeat_the_ops(connection: sqlite3.Connection, limit: int) -> None:
    """In each row, on the page or not; of several iterations, calls of one."""
    columns = (
        Column("ops", "Ops", "integer", "", "launch.stream"),
        Column("calls", "Calls", "integer", "", "3 * launch.stream"),
    )
    table = msgspec.structs.replace(LAUNCHES, name="op_paths", columns=(*LAUNCHES.columns, *columns))
    connection.execute("UPDATE launches SET stream = 7 WHERE op = 'A'")
    three, mean = Scope(1, 1, "default-domain", 3), PageRequest(op="A", limit=limit, per="iteration")
    assert page_of(connection, table, three, mean)["repeated"] == {"calls": "ops"}
    assert page_of(connection, table, three, PageRequest(op="A", limit=limit))["repeated"] == {}
    other = msgspec.structs.replace(columns[1], sql="iif(launch.id = 2, 9, 3 * launch.stream)")
    table = msgspec.structs.replace(table, columns=(*LAUNCHES.columns, columns[0], other))
    assert page_of(connection, table, three, mean)["repeated"] == {}, "row 2 comes last"


def test_every_join_has_an_alias_before_its_last_condition() -> None:
    """Of one table, or of a subquery in brackets: a table leaves out the joins whose alias no column names."""
    joins = {join for table in TABLES.values() for join in table.joins}
    assert joins
    one = r"((LEFT|CROSS) )?JOIN (\w+|\(SELECT .*\)) AS [a-z_]+ ON (?!.* ON )"
    assert [join for join in joins if not re.match(one, join)] == []
