"""Bars of iterations."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries.iteration_bars import iteration_bars
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tests.imports.traces import write_trace
from tests.queries.profiles import ignore


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
