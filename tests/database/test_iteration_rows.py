"""The order of the rows of kernels by iteration: DLProf's in small tables, by iteration in large ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from benchmarks.serving import TRACE
from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.iteration_rows import MOST_BY_KERNEL
from tensorboard_plugin_dlprof.database.kernel_orders import LARGE_ITERATION
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Results, write_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate, Profile
from tensorboard_plugin_dlprof.queries.iteration_tables import kernels_of_iteration
from tensorboard_plugin_dlprof.queries.pages import page
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.table import Request

_ROWS = "SELECT iter_value, read_only_kernel_id FROM kernel_iteration_node ORDER BY id"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some thousand kernels in a few iterations."""
    path = tmp_path_factory.mktemp("rows") / "small.sqlite"
    import_source(TRACE, path, ImportOptions(), lambda _stage, _fraction: None)
    return path


def _write(path: Path, profile: Profile) -> Path:
    write_database(path, TRACE, profile, lambda: Results([aggregate(profile)]))
    return path


@pytest.fixture(scope="module")
def profile(small: Path) -> Profile:
    """The same again and again, in one iteration, with more kernels than are kept in DLProf's order."""
    with closing(open_database(small)) as con:
        return tile_profile(read_profile(con), MOST_BY_KERNEL + 1, iterations=False)


@pytest.fixture(scope="module")
def large(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """Two large iterations, before and behind a small one."""
    end = profile.info.end_ns
    starts = np.array([0, end // 2, end // 2 + end // 50])
    cut = IterationCandidate("nvtx", "step", np.array([3, 4, 7]), starts, np.append(starts[1:], end))
    path = tmp_path_factory.mktemp("rows") / "large.sqlite"
    with closing(open_database(_write(path, msgspec.structs.replace(profile, iterations=[cut])))) as con:
        yield con


def test_a_small_table_is_in_the_order_of_dlprof(small: Path) -> None:
    """By kernel, whatever iteration they are of."""
    with closing(open_database(small)) as con:
        rows = con.execute(_ROWS).fetchall()
    assert [kernel for _, kernel in rows] == sorted(kernel for _, kernel in rows)
    assert [number for number, _ in rows] != sorted(number for number, _ in rows)


def test_a_large_table_is_by_iteration(large: sqlite3.Connection) -> None:
    """And by kernel in each, so that its rows lie side by side."""
    rows = large.execute(_ROWS).fetchall()
    assert len(rows) > MOST_BY_KERNEL
    assert rows == sorted(rows)


@pytest.mark.parametrize("iteration", [3, 4, 7])
@pytest.mark.parametrize("order", ["timestamp_ns", "-gpu_time_ns", "name", "-kernel_id"])
def test_pages_of_its_iterations_are_those_of_sqlite(large: sqlite3.Connection, iteration: int, order: str) -> None:
    """Small and large ones, at the beginning and in the middle."""
    kernels = large.execute("SELECT count(*) FROM kernel_iteration_node WHERE iter_value = ?", (iteration,)).fetchone()
    assert (kernels[0] > LARGE_ITERATION) == (iteration != 4)
    columns = {
        "timestamp_ns": "kernel.api_start",
        "-gpu_time_ns": "kernel.gpu_stop - kernel.gpu_start",
        "name": "(SELECT string FROM dictionary WHERE id = kernel.name_id)",
        "-kernel_id": "kernel.id",
    }
    direction = "DESC" if order.startswith("-") else "ASC"
    expected = large.execute(
        "SELECT kernel.id FROM kernel_iteration_node AS node JOIN read_only_kernels AS kernel "
        f"ON kernel.id = node.read_only_kernel_id WHERE node.iter_value = {iteration} "
        f"ORDER BY {columns[order]} {direction}, node.id {direction}"
    ).fetchall()
    for offset in (0, kernels[0] // 2, kernels[0] - 5):
        request = Request(offset=offset, limit=30, sort=order, links={"iteration": str(iteration)})
        found = page(large, kernels_of_iteration(True), find_scope(large), request)
        assert found.total == kernels[0]
        assert [row["kernel_id"] for row in found.rows] == [row[0] for row in expected[offset : offset + 30]]
