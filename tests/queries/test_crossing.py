"""Work that crosses the border of an iteration is told with the tables of what the iteration launched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries.page_answer import TablePage, page_of
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.tables import table_of
from tests.queries.events import ON_TENSOR_CORES, PLAIN, database_of_events, event, work

OF_ITERATION = ("kernels_of_iteration", "ops_of_iteration", "kernel_names_of_iteration", "op_paths_of_iteration")


@pytest.fixture
def crossed(tmp_path: Path) -> Iterator[UntrustedConnection]:
    """Three steps of 1 ms. A kernel of the second runs for 400 us, of which 150 us are in the third."""
    events = []
    for step in (1, 2, 3):
        start = step * 1_000
        events += [
            event("user_annotation", f"ProfilerStep#{step}", start, 1_000, 1),
            event("cpu_op", "aten::mm", start + 10, 700, 1),
            *work(2 * step, "kernel", PLAIN, start + 20, 100, 0),
            *work(2 * step + 1, "kernel", ON_TENSOR_CORES, start + 500, 100, 0),
        ]
    call, kernel = work(9, "kernel", ON_TENSOR_CORES, 2_700, 400, 0)
    kernel["ts"] = 2_750
    with closing(open_database(database_of_events(tmp_path, [*events, call, kernel]))) as connection:
        yield connection


def _page(connection: UntrustedConnection, table: str, iteration: int) -> TablePage:
    scope = find_scope(connection)
    return page_of(connection, table_of(connection, table), scope, PageRequest(iteration=iteration))


@pytest.mark.parametrize("table", OF_ITERATION)
def test_kernels_that_run_after_their_iteration_are_told(crossed: UntrustedConnection, table: str) -> None:
    """Both in the iteration that launched them and in the one that they run in."""
    notes = [_page(crossed, table, iteration)["note"] for iteration in (1, 2, 3)]
    assert notes == [
        "",
        "150 µs of these 600 µs of kernels run after the iteration ends.",
        "150 µs of kernels that iteration 2 launched run in this iteration.",
    ]


@pytest.mark.parametrize("table", OF_ITERATION)
def test_all_tables_of_an_iteration_have_the_same_sum(crossed: UntrustedConnection, table: str) -> None:
    """However its kernels are grouped."""
    totals = _page(crossed, table, 2)["totals"]
    assert totals["gpu_time_ns"] == 600_000
    assert totals.get("kernels", totals.get("calls", 3)) == 3


def test_the_command_line_tells_it_below_the_rows(
    crossed: UntrustedConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page shows it above them."""
    assert main(["table", str(tmp_path / "dldb.sqlite"), "kernels_of_iteration", "--iteration", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("150 µs of these 600 µs")
