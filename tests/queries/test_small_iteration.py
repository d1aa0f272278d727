"""Iterations of some hundred kernels: their stored orders say the same as SQLite, which reads all of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from benchmarks.serving import TRACE
from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Results, write_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.profile.tables import Profile
from tensorboard_plugin_dlprof.queries import small_iteration
from tensorboard_plugin_dlprof.queries.iteration_tables import kernels_of_iteration, kernels_of_iteration_op
from tensorboard_plugin_dlprof.queries.pages import count, page, stream
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.small_iteration import SmallIteration
from tensorboard_plugin_dlprof.queries.table import Request, Table
from tests.imports.traces import write_trace

TABLE, OF_OP = kernels_of_iteration(True), kernels_of_iteration_op(True)

FILTERS = {
    "text": "e",
    "path": "conv",
    "kernel_name": "gemm",
    "integer": "<=7",
    "boolean": "yes",
    "duration_ns": ">= 20 us",
}


def _imported(source: Path, folder: Path, change: Callable[[Profile], Profile] = lambda profile: profile) -> Path:
    first, path = folder / "first.sqlite", folder / "a.sqlite"
    import_source(source, first, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(first)) as con:
        profile = change(read_profile(con))
    write_database(path, source, profile, lambda: Results([aggregate(profile)]))
    return path


def _every_launch_of_its_own(profile: Profile) -> Profile:
    """Each kernel has another grid, as where shapes change all the time."""
    grid = profile.kernels.grid.copy()
    grid[:, 0] = np.arange(len(grid))[::-1] + 1
    return msgspec.structs.replace(profile, kernels=msgspec.structs.replace(profile.kernels, grid=grid))


@pytest.fixture(scope="module", params=["few launches", "many launches", "too many launches"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Iterations of 614 or 1,100 kernels."""
    folder = tmp_path_factory.mktemp("small")
    if request.param == "few launches":
        return _imported(TRACE, folder)
    if request.param == "many launches":
        return _imported(TRACE, folder, _every_launch_of_its_own)
    return _imported(write_trace(folder / "a.json", 5, 1_100), folder, _every_launch_of_its_own)


@pytest.fixture(scope="module")
def connection(database: Path) -> Iterator[UntrustedConnection]:
    """To the database."""
    with closing(open_database(database)) as con:
        yield con


def iterations(connection: sqlite3.Connection) -> list[int]:
    """The first and the last."""
    low, high = connection.execute("SELECT min(iter_value), max(iter_value) FROM kernel_iteration_node").fetchone()
    return [low, high]


def assert_same(connection: UntrustedConnection, table: Table, request: Request) -> None:
    """With and without the stored orders."""
    connection.authorizer_calls = 0
    scope = find_scope(connection)
    plain = msgspec.structs.replace(table, launches=None)
    assert page(connection, table, scope, request) == page(connection, plain, scope, request)
    assert count(connection, table, scope, request) == count(connection, plain, scope, request)


def test_every_kernel_is_stored(connection: UntrustedConnection) -> None:
    """All iterations have more than a few kernels, and each of them is found with all it has."""
    rows = connection.execute("SELECT iter_value, count(*) FROM kernel_iteration_node GROUP BY iter_value").fetchall()
    for iteration, kernels in rows:
        found = SmallIteration.find(connection, 1, iteration)
        assert found is not None
        assert found.kernels == kernels > SmallIteration.few
    assert SmallIteration.find(connection, 1, max(row[0] for row in rows) + 1) is None
    assert SmallIteration.find(connection, 1, min(row[0] for row in rows) - 1) is None
    assert SmallIteration.find(connection, 2, rows[0][0]) is None


def test_the_last_iterations_are_kept(connection: UntrustedConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    """For their next pages; no more of them than may be."""
    low, high = iterations(connection)
    (kernels,) = connection.execute(
        "SELECT count(*) FROM kernel_iteration_node WHERE iter_value = ?", (low,)
    ).fetchone()
    monkeypatch.setattr(small_iteration, "_MOST_KEPT_KERNELS", kernels + 1)
    connection.kept.pop("small_iterations", None)
    for _ in range(2):
        for iteration in (low, high):
            for offset in (0, 100):
                assert_same(connection, TABLE, Request(offset=offset, links={"iteration": str(iteration)}))
            assert list(connection.kept["small_iterations"]) == [(1, iteration)]


@pytest.mark.parametrize("direction", ["", "-"])
@pytest.mark.parametrize("key", [column.key for column in TABLE.columns if column.sortable])
def test_every_order_is_that_of_sqlite(connection: UntrustedConnection, key: str, direction: str) -> None:
    """Equal values by the order of the rows; first pages, one in the middle, and one that ends behind the last row."""
    for iteration in iterations(connection):
        for offset in (0, 300, 600):
            links = {"iteration": str(iteration)}
            assert_same(connection, TABLE, Request(sort=f"{direction}{key}", offset=offset, limit=50, links=links))


@pytest.mark.parametrize("sort", ["timestamp_ns", "-gpu_time_ns", "name", "-grid"])
@pytest.mark.parametrize("key", [column.key for column in TABLE.columns if column.filterable])
def test_every_filter_is_that_of_sqlite(connection: UntrustedConnection, key: str, sort: str) -> None:
    """Rows and their number, in any order."""
    filters = {key: FILTERS[TABLE.column(key).type]}
    for iteration in iterations(connection):
        assert_same(connection, TABLE, Request(sort=sort, links={"iteration": str(iteration)}, filters=filters))


@pytest.mark.parametrize(
    "filters",
    [
        {"gpu_time_ns": "<50us", "name": "gemm"},
        {"gpu_time_ns": "=0"},
        {"timestamp_ns": "1ms..200ms", "gpu_start_ns": ">20ms"},
        {"timestamp_ns": "2s..1s"},
        {"kernel_id": "10..2000", "op": "layer"},
        {"kernel_id": "> 1e12"},
        {"op": "nothing of this name"},
    ],
)
def test_several_filters_and_a_search(connection: UntrustedConnection, filters: dict[str, str]) -> None:
    """Open and closed ranges, empty ones, and more than one condition."""
    for iteration in iterations(connection):
        links = {"iteration": str(iteration)}
        for search in ("", "a", "conv"):
            assert_same(connection, TABLE, Request(sort="-timestamp_ns", links=links, filters=filters, search=search))


def test_the_kernels_of_one_op(connection: UntrustedConnection) -> None:
    """Few or many of them."""
    ops = connection.execute(
        "SELECT op.op_id, max(node.total_count) FROM kernel_iteration_node AS node "
        "JOIN read_only_ops AS op ON op.id = node.read_only_ops_id GROUP BY op.id ORDER BY 2 DESC, 1"
    ).fetchall()
    for op, _ in (ops[0], ops[-1]):
        for sort in ("timestamp_ns", "-gpu_time_ns", "grid", "kernel_id"):
            for iteration in iterations(connection):
                assert_same(connection, OF_OP, Request(sort=sort, links={"iteration": str(iteration), "op": op}))


@pytest.mark.parametrize("sort", ["-gpu_time_ns", "op", "-kernel_id"])
def test_all_rows_are_streamed_in_order(connection: UntrustedConnection, sort: str) -> None:
    """An export has the rows of the pages."""
    request = Request(sort=sort, links={"iteration": str(iterations(connection)[0])}, search="a")
    both = []
    for table in (TABLE, msgspec.structs.replace(TABLE, launches=None)):
        connection.authorizer_calls = 0
        both.append(list(stream(connection, table, find_scope(connection), request)))
    assert both[0] == both[1]
    assert len(both[0]) > 100


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE ext_iteration_kernels SET data = x'00'",
        "UPDATE ext_iteration_kernels SET data = 'text'",
        "UPDATE ext_iteration_kernels SET first_value = first_value - 100, last_value = last_value + 100",
        "DELETE FROM ext_iteration_kernels",
        "DELETE FROM kernel_iteration_node WHERE id % 7 = 0",
    ],
)
def test_a_damaged_part_is_done_without(database: Path, tmp_path: Path, damage: str) -> None:
    """What is stored twice may be lost: the rows are still there."""
    path = tmp_path / "damaged.sqlite"
    path.write_bytes(database.read_bytes())
    with closing(sqlite3.connect(path)) as con:
        con.execute(damage)
        con.commit()
    with closing(open_database(path)) as con:
        for iteration in [*iterations(con), 1_000]:
            assert_same(con, TABLE, Request(sort="name", links={"iteration": str(iteration)}))
