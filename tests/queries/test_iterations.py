"""Bins and proposals."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
from tensorboard_plugin_dlprof.database.adding import add_aggregation, leave_out_aggregation
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_dlprof_database, import_source
from tensorboard_plugin_dlprof.queries.iteration_bars import (
    MAX_ROWS,
    iteration_bars,
    iteration_rows,
    proposal,
    single_iterations,
)
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tests.database.stranger import drop_extensions
from tests.imports.traces import write_trace


def test_a_database_that_stores_no_proposal_gets_the_same(tmp_path: Path) -> None:
    """As NVIDIA's: one rule for all, by the durations of all iterations."""
    database = tmp_path / "dldb.sqlite"
    source = write_trace(tmp_path / "trace.json", steps=6)
    import_source(source, database, ImportOptions(), lambda _stage, _fraction: None)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE iteration_list SET start_time = start_time - 990000 WHERE iter_value = 0")
    drop_extensions(database)
    imported = tmp_path / "imported.sqlite"
    import_dlprof_database(database, imported, lambda _stage, _fraction: None)
    with closing(open_database(imported)) as connection:
        assert proposal(connection, find_scope(connection)) == {
            "iter_start": 1,
            "iter_stop": 5,
            "reason": "Iterations 1 to 5: 5 of 6 recorded. Iteration 0 took 1.89 ms, 2.1 times the median: warm-up.",
        }


@pytest.mark.parametrize("step", [1, 3], ids=["numbered", "with gaps"])
@pytest.mark.parametrize("aggregated", [(0, 4_999), (1_003, 2_512), (7, 7)])
def test_sums_are_those_of_the_rows(tmp_path: Path, aggregated: tuple[int, int], step: int) -> None:
    """Every iteration is in one row, aggregated ones with their parts; rows are no more than a page draws."""
    source, small, large = (tmp_path / name for name in ("a.json", "small.sqlite", "large.sqlite"))
    write_trace(source, steps=5, adds_per_step=1)
    import_source(source, small, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(small)) as con:
        profile = tile_profile(read_profile(con), 5_000)
    candidate = profile.iterations[0]
    candidate.values = candidate.values * step
    low, high = (number * step for number in aggregated)
    write_database(large, source, profile, lambda: aggregate(profile, Selection(None, low, high)))
    with closing(open_database(large)) as con:
        scope = find_scope(con)
        rows, is_binned = iteration_rows(con, scope)
        single = single_iterations(con, scope)
    assert is_binned
    assert MAX_ROWS // 2 < len(rows) <= MAX_ROWS
    assert len(single) == 5_000
    assert [row["iteration"] for row in rows] == [0, *(row["stop_iteration"] + step for row in rows[:-1])]
    assert rows[-1]["stop_iteration"] == 4_999 * step
    assert sum(row["count"] for row in rows) == 5_000
    assert sum(row["duration_ns"] for row in rows) == sum(row["duration_ns"] for row in single)
    inside = [row for row in rows if row["profiled"]]
    assert (inside[0]["iteration"], inside[-1]["stop_iteration"]) == (low, high)
    assert all(row["parts"] is None for row in rows if not row["profiled"])
    of_aggregation = [row for row in single if low <= row["iteration"] <= high]
    for part in ("memory", "other"):
        assert sum(row["parts"][part] for row in inside) == sum(row["parts"][part] for row in of_aggregation)


@pytest.fixture
def twenty(tmp_path: Path) -> Path:
    """Twenty iterations, the third to the fifteenth aggregated, of which none has a time of I/O that is known."""
    source, database = write_trace(tmp_path / "a.json", steps=20, adds_per_step=1), tmp_path / "a.sqlite"
    import_source(source, database, ImportOptions(iter_start=2, iter_stop=14), lambda _stage, _fraction: None)
    drop_extensions(database)
    with closing(sqlite3.connect(database)) as con, con:
        con.execute("PRAGMA legacy_alter_table = ON")  # views need not find the table meanwhile
        con.execute("CREATE TABLE rows AS SELECT * FROM iteration_aggregation_list")
        con.execute("DROP TABLE iteration_aggregation_list")
        con.execute("ALTER TABLE rows RENAME TO iteration_aggregation_list")
    return database


def test_a_part_that_is_not_stored_is_unknown(twenty: Path) -> None:
    """And never 0."""
    with closing(sqlite3.connect(twenty)) as con, con:
        con.execute("UPDATE iteration_aggregation_list SET io_duration = NULL WHERE iter_value > 3")
    with closing(open_database(twenty)) as con:
        rows, _ = iteration_rows(con, find_scope(con))
    assert [(row["parts"] or {}).get("io") for row in rows[2:6]] == [0, 0, None, None]


@pytest.mark.parametrize("bins", [1, 3, 100])
def test_bars_of_any_range(twenty: Path, bins: int) -> None:
    """Also of one that ends before the first iteration, or begins behind the last."""
    with closing(open_database(twenty)) as con:
        scope = find_scope(con)
        for first, last, count in ((None, None, 20), (0, 5, 6), (3, 3, 1), (7, 99, 13), (-9, -3, 0), (30, 40, 0)):
            rows = iteration_bars(con, scope, first, last, bins)["rows"]
            assert sum(row["count"] or 0 for row in rows) == count


def test_counts_of_kernels_are_found_by_id(tmp_path: Path) -> None:
    """Both tables of iterations have the same ids, also in later aggregations and after one was deleted."""
    source = write_trace(tmp_path / "a.json", steps=5)
    first, second, third = (tmp_path / f"{name}.sqlite" for name in "abc")
    import_source(source, first, ImportOptions(), lambda _stage, _fraction: None)
    for number, (old, new) in enumerate(((first, second), (second, third)), start=1):
        con = open_database(old)
        profile = read_profile(con)
        assert (
            add_aggregation(old, new, con, profile, aggregate(profile, Selection(iter_start=number)), ()) == number + 1
        )
    leave_out_aggregation(third, first, 2)
    for path in (second, third, first):
        with closing(open_database(path)) as con:
            together, apart = con.execute(
                "SELECT count(*), sum(stats.aggr_id <> part.aggr_id OR stats.iter_value <> part.iter_value) "
                "FROM iteration_aggregation_list AS part "
                "LEFT JOIN kernel_iteration_stats AS stats ON stats.id = part.id"
            ).fetchone()
            assert (together > 4, apart) == (True, 0)
