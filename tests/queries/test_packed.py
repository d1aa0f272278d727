"""Iterations with more kernels than SQLite sorts in no time: the stored orders say the same as SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest

from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Results, write_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.iteration_tables import kernels_of_iteration, kernels_of_iteration_op
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.table import Request, Table, count, page, stream
from tests.imports.traces import write_trace

KERNELS = 70_000
"""More than a part of an order, and more than the rows that SQLite sorts."""

LINKS = {"iteration": "0", "op": "ADD_1"}

FILTERS = {
    "text": "e",
    "path": "add",
    "kernel_name": "a",
    "integer": "=0",
    "boolean": "no",
    "duration_ns": ">= 2 us",
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UntrustedConnection]:
    """A database of one iteration with ``KERNELS`` kernels of three ops."""
    folder = tmp_path_factory.mktemp("packed")
    source = write_trace(folder / "a.json", steps=3, adds_per_step=7)
    small, large = folder / "small.sqlite", folder / "large.sqlite"
    import_source(source, small, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(small)) as con:
        profile = tile_profile(read_profile(con), KERNELS, iterations=False)
    write_database(large, source, profile, lambda: Results([aggregate(profile)]))
    with closing(open_database(large)) as con:
        yield con


@pytest.fixture
def scope(connection: UntrustedConnection) -> Scope:
    """The only one."""
    connection.authorizer_calls = 0
    return find_scope(connection)


def alone(table: Table) -> Table:
    """The table without stored orders."""
    return msgspec.structs.replace(table, packed=None)


TABLES = [kernels_of_iteration(True), kernels_of_iteration_op(True)]


def test_the_orders_are_stored(connection: UntrustedConnection) -> None:
    """Five orders, in parts."""
    rows = connection.execute("SELECT kind, count(*), sum(length(data)) FROM ext_kernel_orders GROUP BY kind")
    (kernels,) = connection.execute("SELECT count(*) FROM read_only_kernels").fetchone()
    assert kernels >= KERNELS
    assert rows.fetchall() == [
        (kind, 2, 4 * kernels) for kind in ("api_start", "duration", "gpu_start", "launch", "node")
    ]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.parametrize("direction", ["", "-"])
@pytest.mark.parametrize("key", [column.key for column in TABLES[0].columns if column.sortable])
def test_every_order_is_that_of_sqlite(
    connection: UntrustedConnection, scope: Scope, table: Table, key: str, direction: str
) -> None:
    """First pages, one across the end of a part, and the last; equal values by the order of the rows."""
    if key not in {column.key for column in table.columns}:
        pytest.skip("the table has no such column")
    for offset in (0, 65_530, KERNELS - 10):
        request = Request(sort=f"{direction}{key}", offset=offset, limit=40, links=LINKS)
        connection.authorizer_calls = 0
        assert page(connection, table, scope, request) == page(connection, alone(table), scope, request)


@pytest.mark.parametrize("sort", ["timestamp_ns", "-gpu_time_ns", "name", "-stream"])
@pytest.mark.parametrize("key", [column.key for column in TABLES[0].columns if column.filterable])
def test_every_filter_is_that_of_sqlite(connection: UntrustedConnection, scope: Scope, key: str, sort: str) -> None:
    """Rows and their number, in any order."""
    table = TABLES[0]
    filters = {key: FILTERS[table.column(key).type]}
    for offset in (0, 5_000):
        request = Request(sort=sort, offset=offset, links=LINKS, filters=filters)
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
def test_several_filters_and_limits(connection: UntrustedConnection, scope: Scope, filters: dict[str, str]) -> None:
    """Open and closed ranges, empty ones, and more than one condition."""
    request = Request(sort="-timestamp_ns", links=LINKS, filters=filters, search="a")
    assert page(connection, TABLES[0], scope, request) == page(connection, alone(TABLES[0]), scope, request)
    assert count(connection, TABLES[0], scope, request) == count(connection, alone(TABLES[0]), scope, request)


@pytest.mark.parametrize("sort", ["-gpu_time_ns", "op"])
def test_all_rows_are_streamed_in_order(connection: UntrustedConnection, scope: Scope, sort: str) -> None:
    """An export has the rows of the pages."""
    request = Request(sort=sort, links=LINKS, filters={"kernel_id": "<3000"})
    both = []
    for table in (TABLES[0], alone(TABLES[0])):
        connection.authorizer_calls = 0
        both.append(list(stream(connection, table, scope, request)))
    assert both[0] == both[1]
    assert len(both[0]) == 2_999


def test_counts_are_kept(connection: UntrustedConnection, scope: Scope) -> None:
    """A second page counts nothing again, and other filters have their own count."""
    counts: dict[object, int] = {}
    for low in ("1s", "2s", "1s"):
        request = Request(links=LINKS, filters={"timestamp_ns": f">{low}"})
        assert page(connection, TABLES[0], scope, request, counts).filtered == counts[next(reversed(counts))] or low
    assert len(counts) == 3
