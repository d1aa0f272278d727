"""Iterations with more kernels than SQLite sorts in no time: the stored orders say the same as SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pytest

from benchmarks.serving import TRACE
from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Results, write_database
from tensorboard_plugin_dlprof.errors import UnfitDatabase
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.iteration_tables import kernels_of_iteration, kernels_of_iteration_op
from tensorboard_plugin_dlprof.queries.large_iteration import LargeIteration
from tensorboard_plugin_dlprof.queries.pages import count, page, stream
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.table import Request, Table
from tensorboard_plugin_dlprof.queries.table_query import CountKey
from tests.imports.traces import write_trace

FILTERS = {
    "text": "e",
    "path": "a",
    "kernel_name": "e",
    "integer": "=0",
    "boolean": "no",
    "duration_ns": ">= 2 us",
}


class Made(NamedTuple):
    """A database of one iteration."""

    path: Path
    connection: UntrustedConnection
    kernels: int
    links: dict[str, str]


@pytest.fixture(scope="module", params=["three ops", "many launches"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """One with more kernels than a part of an order has, of three ops, and one of ResNet-50."""
    folder = tmp_path_factory.mktemp("packed")
    if request.param == "three ops":
        source, kernels = write_trace(folder / "a.json", steps=3, adds_per_step=7), 70_000
    else:
        source, kernels = TRACE, 24_000
    small, large = folder / "small.sqlite", folder / "large.sqlite"
    import_source(source, small, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(small)) as con:
        profile = tile_profile(read_profile(con), kernels, iterations=False)
    write_database(large, source, profile, lambda: Results([aggregate(profile)]))
    with closing(open_database(large)) as con:
        op = con.execute(
            "SELECT op.op_id FROM kernel_iteration_node AS node JOIN read_only_ops AS op "
            "ON op.id = node.read_only_ops_id ORDER BY node.total_count DESC LIMIT 1"
        ).fetchone()[0]
        yield Made(large, con, len(profile.kernels.op), {"iteration": "0", "op": op})


@pytest.fixture
def connection(made: Made) -> UntrustedConnection:
    """To the database."""
    made.connection.authorizer_calls = 0
    return made.connection


@pytest.fixture
def scope(connection: UntrustedConnection) -> Scope:
    """The only one."""
    return find_scope(connection)


def alone(table: Table) -> Table:
    """The table without stored orders."""
    return msgspec.structs.replace(table, launches=None)


TABLES = [kernels_of_iteration(True), kernels_of_iteration_op(True)]


def test_the_orders_are_stored(made: Made) -> None:
    """Five kinds, of which those with a row for each kernel are in parts."""
    rows = made.connection.execute("SELECT kind, count(*) FROM ext_kernel_orders GROUP BY kind").fetchall()
    parts = -(-made.kernels // 16_384)
    assert dict(rows) == {"api_start": parts, "duration": parts, "gpu_start": parts, "launch": 1, "node": 1}
    found = LargeIteration.find(made.connection, 1, 0)
    assert found is not None
    assert found.kernels == made.kernels
    assert found.ids(np.array([0, made.kernels - 1])) == [1, made.kernels]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.parametrize("direction", ["", "-"])
@pytest.mark.parametrize("key", [column.key for column in TABLES[0].columns if column.sortable])
def test_every_order_is_that_of_sqlite(
    made: Made, connection: UntrustedConnection, scope: Scope, table: Table, key: str, direction: str
) -> None:
    """First pages, one across the end of a part, and the last; equal values by the order of the rows."""
    if key not in {column.key for column in table.columns}:
        pytest.skip("the table has no such column")
    for offset in (0, 16_370, made.kernels - 10):
        request = Request(sort=f"{direction}{key}", offset=offset, limit=40, links=made.links)
        connection.authorizer_calls = 0
        assert page(connection, table, scope, request) == page(connection, alone(table), scope, request)


@pytest.mark.parametrize("sort", ["timestamp_ns", "-gpu_time_ns", "name", "-stream"])
@pytest.mark.parametrize("key", [column.key for column in TABLES[0].columns if column.filterable])
def test_every_filter_is_that_of_sqlite(
    made: Made, connection: UntrustedConnection, scope: Scope, key: str, sort: str
) -> None:
    """Rows and their number, in any order."""
    table = TABLES[0]
    filters = {key: FILTERS[table.column(key).type]}
    for offset in (0, 5_000):
        request = Request(sort=sort, offset=offset, links=made.links, filters=filters)
        connection.authorizer_calls = 0
        assert page(connection, table, scope, request) == page(connection, alone(table), scope, request)


@pytest.mark.parametrize(
    "filters",
    [
        {"gpu_time_ns": "<2us"},
        {"gpu_time_ns": "=0"},
        {"timestamp_ns": "1s..2s", "gpu_start_ns": ">1.2s"},
        {"timestamp_ns": "2s..1s"},
        {"kernel_id": "10..65600", "name": "a"},
        {"kernel_id": "<= 7", "timestamp_ns": "> 0"},
        {"kernel_id": "> 1e12"},
        {"op": "nothing of this name"},
    ],
)
def test_several_filters_and_limits(
    made: Made, connection: UntrustedConnection, scope: Scope, filters: dict[str, str]
) -> None:
    """Open and closed ranges, empty ones, and more than one condition."""
    request = Request(sort="-timestamp_ns", links=made.links, filters=filters, search="a")
    assert page(connection, TABLES[0], scope, request) == page(connection, alone(TABLES[0]), scope, request)
    assert count(connection, TABLES[0], scope, request) == count(connection, alone(TABLES[0]), scope, request)


@pytest.mark.parametrize("sort", ["-gpu_time_ns", "op", "-name"])
def test_all_rows_are_streamed_in_order(made: Made, connection: UntrustedConnection, scope: Scope, sort: str) -> None:
    """An export has the rows of the pages."""
    request = Request(sort=sort, links=made.links, filters={"kernel_id": "<3000"})
    both = []
    for table in (TABLES[0], alone(TABLES[0])):
        connection.authorizer_calls = 0
        both.append(list(stream(connection, table, scope, request)))
    assert both[0] == both[1]
    assert len(both[0]) == 2_999


def test_counts_are_kept(made: Made, connection: UntrustedConnection, scope: Scope) -> None:
    """A second page counts nothing again, and other filters have their own count."""
    requests = [Request(links=made.links, filters={"kernel_id": f"<{high}"}) for high in (1_000, 2_000)]
    counts: dict[CountKey, int] = {}

    def counted() -> list[int]:
        return [page(connection, TABLES[0], scope, request, counts).filtered for request in requests]

    assert counted() == [999, 1_999]
    assert sorted(counts.values()) == [999, 1_999, made.kernels]
    counts.update({key: number + 5 for key, number in counts.items() if number < made.kernels})
    assert counted() == [1_004, 2_004], "what is kept is told"


@pytest.mark.parametrize(
    ("change", "sort"),
    [
        ("SET data = x'00' WHERE kind = 'launch'", "name"),
        ("SET data = 'text' WHERE kind = 'api_start'", "timestamp_ns"),
        ("SET part = part + 7 WHERE kind = 'api_start'", "timestamp_ns"),
        ("SET data = (SELECT data FROM ext_kernel_orders WHERE kind = 'node') WHERE kind = 'duration'", "gpu_time_ns"),
    ],
)
def test_damaged_orders_are_told(made: Made, tmp_path: Path, change: str, sort: str) -> None:
    """In one sentence."""
    with (
        closing(open_database(damaged(made, tmp_path, change))) as con,
        pytest.raises(UnfitDatabase, match="is damaged in ext_kernel_orders"),
    ):
        page(con, TABLES[0], find_scope(con), Request(sort=sort, links=made.links))


def test_without_the_rows_of_the_kernels_sqlite_is_asked(made: Made, tmp_path: Path) -> None:
    """It takes its time."""
    with closing(open_database(damaged(made, tmp_path, "SET data = x'00' WHERE kind = 'node'"))) as con:
        request = Request(sort="name", links=made.links)
        scope = find_scope(con)
        assert page(con, TABLES[0], scope, request) == page(con, alone(TABLES[0]), scope, request)


def damaged(made: Made, folder: Path, change: str) -> Path:
    """A copy with another ``ext_kernel_orders``."""
    path = folder / "damaged.sqlite"
    path.write_bytes(made.path.read_bytes())
    with closing(sqlite3.connect(path)) as con:
        con.execute(f"UPDATE ext_kernel_orders {change}")
        con.commit()
    return path
