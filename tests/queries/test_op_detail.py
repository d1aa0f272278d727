"""Everything about one op, and bars of iterations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import Results, write_database
from tensorboard_plugin_dlprof.diagnosis.activity import complete
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound
from tensorboard_plugin_dlprof.events.build import build_profile
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.iteration_bins import iteration_bars
from tensorboard_plugin_dlprof.queries.op_detail import OpIterations, op_detail
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tests.imports.traces import write_trace
from tests.queries.profiles import GOLDEN, database_of, ignore
from tests.timeline import draw


def rows_of(iterations: OpIterations, *keys: str) -> list[tuple[Any, ...]]:
    """Some of the columns, row by row; all columns are equally long."""
    columns = cast("dict[str, list[Any]]", iterations)
    assert len({len(column) for column in columns.values()}) == 1
    return list(zip(*(columns[key] for key in keys), strict=True))


def test_an_op_of_ours(ours: UntrustedConnection) -> None:
    """Three calls of 100 µs with a kernel of 40 µs each, one in every step."""
    found = op_detail(ours, find_scope(ours), "ADD_1")
    assert (found["op"]["name"], found["op"]["calls"], found["op"]["kernel_calls"]) == ("/add", 3, 3)
    assert found["times"]["cpu_time"] == {
        "count": 3, "total_ns": 300_000, "average_ns": 100_000.0, "minimum_ns": 100_000, "maximum_ns": 100_000,
    }  # fmt: skip
    assert found["times"]["gpu_time"]["total_ns"] == 120_000
    assert [(variant["calls"], variant["input_shapes"]) for variant in found["calls"]["variants"]] == [
        (3, "[[8,8],[8,8]]")
    ]
    assert rows_of(found["iterations"], "iteration", "calls", "kernels", "kernel_time_ns") == [
        (step, 1, 1, 40_000) for step in range(3)
    ]


def test_what_another_thread_launches_in_a_users_range(tmp_path: Path) -> None:
    """``Backward`` owns it, and it is told how much of it that is."""
    profile = build_profile(
        draw("""
            main annotation 0-500   Backward
            main call       10-20   cudaLaunchKernel ; corr=1
            bw   call       100-110 cudaLaunchKernel ; corr=2
            gpu0 kernel     600-630 first ; corr=1
            gpu0 kernel     700-780 second ; corr=2
        """)
    )
    complete(profile)
    (tmp_path / "trace.json").write_text("{}")
    path = tmp_path / "made.sqlite"
    write_database(path, tmp_path / "trace.json", profile, lambda: Results([aggregate(profile)]))
    with closing(open_database(path)) as connection:
        found = op_detail(connection, find_scope(connection), "BACKWARD_1")
    assert (found["op"]["by_other_threads_ns"], found["times"]["gpu_time"]["total_ns"]) == (80, 110)


@pytest.mark.parametrize("name", GOLDEN)
def test_every_op_of_nvidias_databases(name: str, tmp_path: Path) -> None:
    """Sums are those of the views; what DLProf does not store by iteration is unknown."""
    with closing(open_database(database_of(name, tmp_path))) as connection:
        scope = find_scope(connection)
        view = connection.execute("SELECT op_node_id, cpu_time, gpu_time, kernel_calls FROM view_op_nodes").fetchall()
        for op, cpu_time, gpu_time, kernels in view:
            connection.authorizer_calls = 0
            found = op_detail(connection, scope, op)
            assert found["times"]["cpu_time"]["total_ns"] == cpu_time
            assert found["times"]["gpu_time"]["total_ns"] == gpu_time
            assert sum(found["iterations"]["kernels"]) == kernels
            assert set(found["iterations"]["calls"]) <= {None}


def test_an_op_that_is_not_there(ours: UntrustedConnection) -> None:
    """A sentence."""
    with pytest.raises(NotFound, match="NOTHING_1"):
        op_detail(ours, find_scope(ours), "NOTHING_1")


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UntrustedConnection]:
    """Ten thousand iterations, more than a part of packed columns, with ops that are called once or more in each."""
    folder = tmp_path_factory.mktemp("long")
    source = write_trace(folder / "a.json", steps=3, adds_per_step=2)
    small, large = folder / "small.sqlite", folder / "large.sqlite"
    import_source(source, small, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(small)) as con:
        profile = tile_profile(read_profile(con), 20_000)
    write_database(large, source, profile, lambda: Results([aggregate(profile)]))
    with closing(open_database(large)) as con:
        yield con


def test_sums_are_those_of_the_rows(long: UntrustedConnection) -> None:
    """Sums over bins of iterations are those of the rows of kernels, and the kinds of calls those of the calls."""
    scope = find_scope(long)
    ops = long.execute("SELECT id, op_id FROM read_only_ops WHERE id IN (SELECT read_only_ops_id FROM op_nodes)")
    some = ops.fetchall()
    assert some
    for number, op in some:
        long.authorizer_calls = 0
        found = op_detail(long, scope, op)
        bins = {
            (first, last): rest
            for first, last, *rest in rows_of(
                found["iterations"], "iteration", "stop_iteration", "calls", "kernels", "kernel_time_ns"
            )
        }
        assert 900 < len(bins) <= 1_000
        durations: dict[int, list[int]] = defaultdict(list)
        for iteration, duration_ns in long.execute(
            "SELECT node.iter_value, kernel.gpu_stop - kernel.gpu_start FROM kernel_iteration_node AS node "
            "JOIN read_only_kernels AS kernel ON kernel.id = node.read_only_kernel_id WHERE node.read_only_ops_id = ?",
            (number,),
        ):
            durations[iteration].append(duration_ns)
        for (first, last), (calls, kernels, kernel_ns) in bins.items():
            inside = [one for iteration in range(first, last + 1) for one in durations[iteration]]
            assert (kernels, kernel_ns) == (len(inside), sum(inside))
            assert calls == kernels
        rows = long.execute(
            "SELECT count(*) FROM read_only_op_instances WHERE read_only_ops_id = ? "
            "GROUP BY input_names_id, input_shapes_id, output_names_id, output_shapes_id, parameters_id "
            "ORDER BY 1 DESC",
            (number,),
        ).fetchall()
        assert [(variant["calls"],) for variant in found["calls"]["variants"]] == rows
        assert found["calls"]["total"] == len(rows)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100 steps of 1 ms, of which 30 to 59 are aggregated."""
    folder = tmp_path_factory.mktemp("many")
    source = write_trace(folder / "a.json", steps=100)
    import_source(source, folder / "a.sqlite", ImportOptions(iter_start=30, iter_stop=59), ignore)
    return folder / "a.sqlite"


def test_bars_hold_equally_many_and_end_with_the_aggregation(many: Path) -> None:
    """Eight to a bar, so that 30 and 60 cut two of them in halves; nothing is lost."""
    with closing(open_database(many)) as connection:
        bars = iteration_bars(connection, find_scope(connection), bins=13)
        single = iteration_bars(connection, find_scope(connection))
    assert (bars["bin_size"], bars["binned"], bars["total"], bars["profiled"]) == (8, True, 100, 30)
    edges = [(bar["iteration"], bar["stop_iteration"], bar["profiled"]) for bar in bars["rows"]]
    assert edges[3:5] == [(24, 29, False), (30, 31, True)]
    assert [edge for edge in edges if edge[0] == 60] == [(60, 63, False)]
    assert sum(bar["count"] or 0 for bar in bars["rows"]) == len(single["rows"]) == 100
    assert sum(bar["duration_ns"] or 0 for bar in bars["rows"]) == sum(
        bar["duration_ns"] or 0 for bar in single["rows"]
    )
    for bar in bars["rows"]:
        assert (bar["parts"] is not None) is bar["profiled"]
        if bar["parts"]:
            assert sum(part or 0 for part in bar["parts"].values()) == bar["duration_ns"]
            assert (
                (bar["shortest_ns"] or 0) <= (bar["duration_ns"] or 0) / (bar["count"] or 1) <= (bar["longest_ns"] or 0)
            )


def test_a_range_of_iterations(many: Path) -> None:
    """For zooming; beyond the ends there is nothing."""
    with closing(open_database(many)) as connection:
        scope = find_scope(connection)
        bars = iteration_bars(connection, scope, 20, 29, 5)
        assert [(bar["iteration"], bar["stop_iteration"]) for bar in bars["rows"]] == [
            (20, 21), (22, 23), (24, 25), (26, 27), (28, 29),
        ]  # fmt: skip
        assert (bars["from"], bars["to"], bars["first"], bars["last"]) == (20, 29, 0, 99)
        assert len(iteration_bars(connection, scope, 95, 10**9)["rows"]) == 5
        assert iteration_bars(connection, scope, 500, 600)["rows"] == []
        with pytest.raises(BadRequest, match="in order"):
            iteration_bars(connection, scope, 9, 3)
