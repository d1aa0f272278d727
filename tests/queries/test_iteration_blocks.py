"""Bars of very many iterations: sums of stored blocks, and of single iterations at their edges."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import Selection, aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.extension_rows import MANY_ITERATIONS
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.iteration_bars import (
    MAX_ROWS,
    Bar,
    IterationRow,
    iteration_bars,
    iteration_rows,
    single_iterations,
)
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tests.imports.traces import write_trace

COUNT = 6 * MANY_ITERATIONS + 11
"""Makes blocks of eight numbers."""


@pytest.fixture(scope="module", params=[1, 3], ids=["numbered", "with gaps"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of many iterations, of which some in the middle are aggregated; every number, or every third."""
    folder = tmp_path_factory.mktemp("blocks")
    source, small, large = (folder / name for name in ("a.json", "small.sqlite", "large.sqlite"))
    write_trace(source, steps=5, adds_per_step=1)
    import_source(source, small, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(small)) as con:
        profile = tile_profile(read_profile(con), COUNT)
    candidate = profile.iterations[0]
    candidate.values = candidate.values * request.param + 2
    low, high = (int(candidate.values[row]) for row in (1_003, 40_001))
    write_database(large, source, profile, lambda: aggregate(profile, Selection(None, low, high)))
    return large


@pytest.fixture(scope="module")
def opened(database: Path) -> Iterator[tuple[sqlite3.Connection, Scope, list[Bar]]]:
    """The database, its only aggregation, and all iterations one by one."""
    with closing(open_database(database)) as con:
        scope = find_scope(con)
        yield con, scope, single_iterations(con, scope)


def check_sums(bars: list[Bar] | list[IterationRow], single: list[Bar]) -> None:
    """Each bar is the sum of the iterations from its first to its last, aggregated ones apart; none is left out."""
    position = 0
    for bar in bars:
        count = bar["count"] or 0
        inside = single[position : position + count]
        position += count
        assert (bar["iteration"], bar["stop_iteration"]) == (inside[0]["iteration"], inside[-1]["iteration"])
        assert {row["profiled"] for row in inside} == {bar["profiled"]}
        assert bar["start_ns"] == inside[0]["start_ns"]
        assert bar["duration_ns"] == sum(row["duration_ns"] or 0 for row in inside)
        if bar["parts"] is not None:
            for part, time_ns in bar["parts"].items():
                assert (time_ns or 0) == sum((row["parts"] or {})[part] or 0 for row in inside)
        assert (bar["parts"] is not None) is bar["profiled"]
    assert position == len(single)


def test_rows_of_the_dashboard(opened: tuple[sqlite3.Connection, Scope, list[Bar]]) -> None:
    """As many as a page draws, each of equally many blocks."""
    con, scope, single = opened
    rows, is_binned = iteration_rows(con, scope)
    assert is_binned
    assert MAX_ROWS // 2 < len(rows) <= MAX_ROWS
    check_sums(rows, single)


@pytest.mark.parametrize("bins", [1, 7, 300, 1_000, 2_000])
@pytest.mark.parametrize(("first", "last"), [(None, None), (17, 39_999), (1_006, 1_300), (40_003, 41_021)])
def test_bars_of_a_range(
    opened: tuple[sqlite3.Connection, Scope, list[Bar]], first: int | None, last: int | None, bins: int
) -> None:
    """The same sums whether blocks, single iterations or both are added up, with their shortest and longest."""
    con, scope, single = opened
    result = iteration_bars(con, scope, first, last, bins)
    inside = [row for row in single if (first or 0) <= (row["iteration"] or 0) <= (last or 10**9)]
    check_sums(result["rows"], inside)
    assert len(result["rows"]) <= bins + 2  # where the aggregation begins and ends within a bar
    longest = max(row["duration_ns"] or 0 for row in inside)
    shortest = min(row["duration_ns"] or 0 for row in inside)
    assert max(bar["longest_ns"] or 0 for bar in result["rows"]) == longest
    assert min(bar["shortest_ns"] or 0 for bar in result["rows"]) == shortest
