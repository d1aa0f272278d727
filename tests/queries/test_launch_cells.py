"""What kernels have in common is read once for each launch, and rows are what they are when it is read for each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from benchmarks.serving import TRACE
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries import launch_cells
from tensorboard_plugin_dlprof.queries.iteration_tables import kernels_of_iteration, kernels_of_iteration_op
from tensorboard_plugin_dlprof.queries.pages import page, stream
from tensorboard_plugin_dlprof.queries.rows import IDS_AT_ONCE, Row
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.table import Request, Table

TABLE = kernels_of_iteration(True)
PLAIN = msgspec.structs.replace(TABLE, launches=None)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Iterations of six hundred kernels with four hundred launches."""
    path = tmp_path_factory.mktemp("launches") / "a.sqlite"
    import_source(TRACE, path, ImportOptions(), lambda _stage, _fraction: None)
    return path


@pytest.fixture
def connection(database: Path) -> Iterator[UntrustedConnection]:
    """To the database; nothing is kept with it yet."""
    with closing(open_database(database)) as con:
        yield con


def links(connection: sqlite3.Connection, which: str) -> dict[str, str]:
    """The first iteration or the last."""
    (number,) = connection.execute(f"SELECT {which}(iter_value) FROM kernel_iteration_node").fetchone()
    return {"iteration": str(number)}


def rows(connection: UntrustedConnection, table: Table, request: Request) -> list[Row]:
    """Of one page."""
    connection.authorizer_calls = 0
    return page(connection, table, find_scope(connection), request).rows


def test_rows_have_all_their_cells_in_the_order_of_the_columns(connection: UntrustedConnection) -> None:
    """The first time, when launches are read, and after it."""
    for which in ("min", "max", "min"):
        request = Request(limit=1_000, links=links(connection, which))
        found = rows(connection, TABLE, request)
        assert found == rows(connection, PLAIN, request)
        assert {tuple(row) for row in found} == {tuple(column.key for column in TABLE.columns)}


def test_launches_are_read_once(connection: UntrustedConnection) -> None:
    """The kernels of another iteration were launched as those of the first; another table has other columns."""
    asked: list[str] = []
    connection.set_trace_callback(asked.append)

    def of_launches() -> int:
        found = sum(" WHERE launch.id IN (" in sql for sql in asked)
        asked.clear()
        return found

    first, last = links(connection, "min"), links(connection, "max")
    rows(connection, TABLE, Request(limit=1_000, links=first))
    assert of_launches() > 0
    for request in (Request(limit=1_000, links=last), Request(limit=50, offset=70, sort="name", links=first)):
        rows(connection, TABLE, request)
        assert of_launches() == 0
    (op,) = connection.execute(
        "SELECT op.op_id FROM kernel_iteration_node AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id"
    ).fetchone()
    rows(connection, kernels_of_iteration_op(True), Request(links={**first, "op": op}))
    assert of_launches() > 0


@pytest.mark.parametrize("limit", ["_MOST_KEPT_LAUNCHES", "_MOST_KEPT_LETTERS"])
def test_no_more_are_kept_than_may_be(
    connection: UntrustedConnection, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Page after page with other launches: the rows stay the same."""
    monkeypatch.setattr(launch_cells, limit, 60)
    for offset in range(0, 600, 40):
        request = Request(offset=offset, limit=40, sort="kernel_id", links=links(connection, "min"))
        assert rows(connection, TABLE, request) == rows(connection, PLAIN, request)
        assert 0 < len(connection.kept["launches of kernels_of_iteration"].rows) <= 60


def test_few_statements_are_made(connection: UntrustedConnection) -> None:
    """A number of launches that was never asked for would be another statement, each of which has to be allowed."""
    request = Request(links=links(connection, "min"))
    scope = find_scope(connection)
    assert list(stream(connection, TABLE, scope, request)) == list(stream(connection, PLAIN, scope, request))
    before = connection.authorizer_calls
    assert len({len(launch_cells._repeated(range(number))) % IDS_AT_ONCE for number in range(1, 2_000)}) <= 10
    list(stream(connection, TABLE, scope, request))
    assert connection.authorizer_calls == before


def test_rows_are_there_without_their_launches(database: Path, tmp_path: Path) -> None:
    """A damaged database tells a part of what it held twice."""
    path = tmp_path / "damaged.sqlite"
    path.write_bytes(database.read_bytes())
    with closing(sqlite3.connect(path)) as con:
        con.execute("DELETE FROM ext_launches WHERE id % 5 = 0")
        con.commit()
    with closing(open_database(path)) as connection:
        request = Request(limit=1_000, links=links(connection, "min"))
        assert rows(connection, TABLE, request) == rows(connection, PLAIN, request)
