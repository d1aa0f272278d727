"""Work that crosses the border of an iteration is told with the tables of what the iteration launched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.cli.main import main
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries.crossing import ran_late
from tensorboard_plugin_dlprof.queries.page_answer import TablePage, page_of
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.summary import launched_outside
from tensorboard_plugin_dlprof.queries.tables import table_of
from tensorboard_plugin_dlprof.units import short_duration
from tests.queries.events import ON_TENSOR_CORES, PLAIN, database_of_events, event, work
from tests.shared_data import shared_data

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
        "Of 600 µs of kernels, 150 µs run after the iteration ends; a kernel runs for 450 µs of it.",
        "These kernels take 200 µs; with those launched elsewhere, a kernel runs for 250 µs of the iteration.",
    ]


RECORDED = {
    "torch/v100_megatron_tp2_rank0/*.json": "These kernels take 1.35 ms; as some overlap, a kernel runs for 1.25 ms of "
    "the iteration",
    "torch/h100_qwen_bf16/*.gz": "Of 45.1 ms of kernels, 2.10 ms run after the iteration ends; with those launched "
    "elsewhere, a kernel runs for 43.1 ms of it",
    "nsight/a100_cuda_graphs/*.sqlite": "These kernels take 78.3 µs; with CUDA graphs recorded as a whole, a kernel "
    "runs for 7.81 s of the iteration",
    "nsight/h100_2gpu_torchrun_nccl/*.sqlite": "",
}


@pytest.mark.parametrize(("source", "told"), RECORDED.items())
def test_the_way_leads_to_the_gpu_time_of_the_summary(source: str, told: str, tmp_path: Path) -> None:
    """Also from the table of all kernels where one iteration is aggregated, and with several GPUs."""
    (path,) = shared_data().glob(source)
    assert main(["import", str(path), "-o", str(tmp_path)]) == 0
    (database,) = tmp_path.rglob("*.sqlite")
    with closing(open_database(database)) as connection:
        scope = find_scope(connection)
        (row, *_) = page_of(connection, table_of(connection, "iterations"), scope, PageRequest())["rows"]
        for request in (PageRequest(iteration=row["iteration"]), PageRequest(group="")):
            table = "kernels_of_group" if request.group == "" else "kernel_names_of_iteration"
            page = page_of(connection, table_of(connection, table), scope, request)
            assert page["note"] == (told and f"{told}.")
            sums = short_duration(int(page["totals"]["gpu_time_ns"] or 0))
            assert told == "" or sums in told.partition(";")[0]
            assert told == "" or f" runs for {short_duration(row['gpu_time_ns'])} of " in told


@pytest.mark.parametrize("table", OF_ITERATION)
def test_all_tables_of_an_iteration_have_the_same_sum(crossed: UntrustedConnection, table: str) -> None:
    """However its kernels are grouped."""
    totals = _page(crossed, table, 2)["totals"]
    assert totals["gpu_time_ns"] == 600_000
    assert totals.get("kernels", totals.get("calls", 3)) == 3


def test_gpus_are_busy_with_what_was_launched_before(tmp_path: Path) -> None:
    """A union of times cannot exceed their sum, unless kernels ran that the iterations did not launch."""
    step = event("user_annotation", "ProfilerStep#1", 1_000, 1_000, 1)
    own = [step, event("cpu_op", "aten::mm", 1_010, 700, 1), *work(1, "kernel", PLAIN, 1_020, 600, 0)]
    call, kernel = work(2, "kernel", PLAIN, 500, 200, 0)
    kernel["ts"] = 1_700
    for name, events, note in (
        ("alone", own, ""),
        (
            "crossed",
            [*own, call, kernel],
            "Kernels that these iterations did not launch ran in them, too: at least 25.0 % of the busy time.",
        ),
    ):
        (tmp_path / name).mkdir()
        with closing(open_database(database_of_events(tmp_path / name, events))) as connection:
            page = page_of(connection, table_of(connection, "gpus"), find_scope(connection), PageRequest())
        assert page["note"] == note


def test_the_command_line_tells_it_below_the_rows(
    crossed: UntrustedConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page shows it above them."""
    assert main(["table", str(tmp_path / "dldb.sqlite"), "kernels_of_iteration", "--iteration", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Of 600 µs of kernels, 150 µs run")


def test_what_ran_after_the_last_iteration_is_told_with_the_sums(crossed: UntrustedConnection, tmp_path: Path) -> None:
    """Of the second step alone, 150 us run in the third; of all three, none after the last."""
    assert ran_late(crossed, find_scope(crossed)) == ""
    assert main(["aggregate", str(tmp_path / "dldb.sqlite"), "--iterations", "1-2"]) == 0
    with closing(open_database(tmp_path / "dldb.sqlite")) as connection:
        newest = connection.execute("SELECT max(aggr_id) FROM model_summary").fetchone()[0]
        told = ran_late(connection, find_scope(connection, newest))
    assert told == "Of 800 µs of kernels, 150 µs run after the last iteration ends."


def test_work_that_was_launched_outside_is_told_where_the_wall_time_shows_it(
    crossed: UntrustedConnection, tmp_path: Path
) -> None:
    """Of the third step alone, 150 us that the second launched are in the wall time and in no sum."""
    assert launched_outside(crossed, find_scope(crossed)) == ""
    assert main(["aggregate", str(tmp_path / "dldb.sqlite"), "--iterations", "3-3"]) == 0
    with closing(open_database(tmp_path / "dldb.sqlite")) as connection:
        newest = connection.execute("SELECT max(aggr_id) FROM model_summary").fetchone()[0]
        assert launched_outside(connection, find_scope(connection, newest)) == (
            "Sums are of what the iterations launched; the wall clock time holds at least 150 µs of work that was "
            "launched outside them."
        )
