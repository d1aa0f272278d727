"""Pages of kernels of an iteration: the same rows as sorting and filtering all of them in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.serving import TRACE
from benchmarks.tiled_profile import tile_profile
from tensorboard_plugin_dlprof.aggregation import aggregate
from tensorboard_plugin_dlprof.database.connection import open_database
from tensorboard_plugin_dlprof.database.reader import read_profile
from tensorboard_plugin_dlprof.database.writer import write_database
from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.pipeline import ImportOptions, import_source
from tensorboard_plugin_dlprof.queries import pages
from tensorboard_plugin_dlprof.queries.iteration_tables import KERNELS_OF_ITERATION, KERNELS_OF_ITERATION_OP
from tensorboard_plugin_dlprof.queries.page_answer import page_of
from tensorboard_plugin_dlprof.queries.page_request import PageRequest
from tensorboard_plugin_dlprof.queries.pages import count, page, stream
from tensorboard_plugin_dlprof.queries.rows import Row
from tensorboard_plugin_dlprof.queries.scope import find_scope
from tensorboard_plugin_dlprof.queries.table_query import TableQuery
from tests.imports.traces import write_trace

TABLE, OF_OP = KERNELS_OF_ITERATION, KERNELS_OF_ITERATION_OP

PASSES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "text": ("e", lambda value: "e" in value.lower()),
    "path": ("conv", lambda value: "conv" in value.lower()),
    "kernel_name": ("=volta_sgemm", lambda value: value == "volta_sgemm"),
    "integer": ("<=7", lambda value: value <= 7),
    "boolean": ("no", lambda value: not value),
    "duration_ns": (">= 20 us", lambda value: value >= 20_000),
}


@pytest.fixture(scope="module", params=["an iteration of all kernels", "several iterations"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ResNet-50 three times, with more kernels than rows are sorted at once when ``FEW_ROWS`` is small."""
    small, path = (tmp_path_factory.mktemp("pages") / name for name in ("small.sqlite", "large.sqlite"))
    import_source(TRACE, small, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(small)) as con:
        profile = read_profile(con)
    profile = tile_profile(profile, 3_000, iterations=request.param == "several iterations")
    write_database(path, TRACE, profile, lambda: aggregate(profile))
    return path


@pytest.fixture(params=[0, 20_000], ids=["by index", "sorted"])
def connection(
    database: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[UntrustedConnection]:
    """To the database."""
    monkeypatch.setattr(pages, "FEW_ROWS", request.param)
    with closing(open_database(database)) as con:
        yield con


def iteration(connection: UntrustedConnection) -> int:
    """The last iteration."""
    return int(connection.execute("SELECT max(iteration) FROM iteration_kernels").fetchone()[0])


def every_row(connection: UntrustedConnection) -> list[Row]:
    """The kernels of the iteration, by launch."""
    return list(stream(connection, TABLE, find_scope(connection), PageRequest(iteration=iteration(connection))))


def in_order(rows: list[Row], key: str, descending: bool) -> list[Row]:
    """Python's own sort; ops of one path by their ids, rows with equal values by launch, unknown ones last."""

    def key_of(row: Row) -> tuple[bool, Any]:
        value: Any = f"{row['op']}\0{row['op_id']}" if key == "op" else row[key]
        return (value is None) != descending, (value.encode() if isinstance(value, str) else value or 0)

    numbered = [(key_of(row), number, row) for number, row in enumerate(rows)]
    return [row for _, _, row in sorted(numbered, key=lambda item: item[:2], reverse=descending)]


def test_the_first_rows_are_the_first_launches(connection: UntrustedConnection) -> None:
    """All kernels are there once, by the start of their launch."""
    rows = every_row(connection)
    (kernels,) = connection.execute(
        "SELECT total_count FROM kernel_iteration_stats WHERE iter_value = ?", (iteration(connection),)
    ).fetchone()
    assert len({row["kernel_id"] for row in rows}) == len(rows) == kernels > 500
    starts = [row["timestamp_ns"] for row in rows]
    assert starts == sorted(starts)  # type: ignore[type-var]
    by_id = dict(connection.execute("SELECT id, api_start FROM read_only_kernels").fetchall())
    assert [by_id[row["kernel_id"]] for row in rows] == starts


@pytest.mark.parametrize("direction", ["", "-"])
def test_every_order(connection: UntrustedConnection, direction: str) -> None:
    """First page, one in the second half, which is read from the end, and the last, of every column."""
    scope, links, rows = find_scope(connection), {"iteration": iteration(connection)}, every_row(connection)
    for column in TABLE.columns:
        if not column.sortable:
            continue
        wanted = in_order(rows, column.key, bool(direction))
        for offset in (0, len(rows) * 2 // 3, len(rows) - 7):
            connection.authorizer_calls = 0
            request = PageRequest(sort=direction + column.key, offset=offset, limit=40, **links)
            assert page(connection, TABLE, scope, request).rows == wanted[offset : offset + 40], column.key


@pytest.mark.parametrize("sort", ["timestamp_ns", "-gpu_time_ns", "name", "-stream"])
def test_every_filter(connection: UntrustedConnection, sort: str) -> None:
    """Rows and their number, in any order."""
    scope, links, rows = find_scope(connection), {"iteration": iteration(connection)}, every_row(connection)
    ordered = in_order(rows, sort.removeprefix("-"), sort.startswith("-"))
    for column in TABLE.columns:
        if not column.filterable:
            continue
        text, passes = PASSES[column.type]
        connection.authorizer_calls = 0
        request = PageRequest(sort=sort, where={column.key: text}, limit=50, **links)
        answer = page(connection, TABLE, scope, request)
        wanted = [row for row in ordered if row[column.key] is not None and passes(row[column.key])]
        assert (answer.filtered, answer.rows) == (len(wanted), wanted[:50]), column.key


@pytest.mark.parametrize("operator", [">", ">=", "<", "<=", "=", "..", "> beyond", "< before"])
def test_times_of_launches_are_searched_for(connection: UntrustedConnection, operator: str) -> None:
    """A filter on the time by which rows are ordered, at a time that a launch has."""
    rows = every_row(connection)
    low, high = rows[100]["timestamp_ns"], rows[333]["timestamp_ns"]
    assert isinstance(low, int)
    assert isinstance(high, int)
    text, passes = {
        ">": (f">{low}", lambda time: time > low),
        ">=": (f">={low}", lambda time: time >= low),
        "<": (f"<{high}", lambda time: time < high),
        "<=": (f"<={high}", lambda time: time <= high),
        "=": (f"={low}", lambda time: time == low),
        "..": (f"{low}..{high}", lambda time: low <= time <= high),
        "> beyond": (">99h".replace("h", "000s"), lambda _time: False),
        "< before": ("<-1", lambda _time: False),
    }[operator]
    links = {"iteration": iteration(connection)}
    request = PageRequest(where={"timestamp_ns": text}, limit=1_000, **links)
    answer = page(connection, TABLE, find_scope(connection), request)
    wanted = [row for row in rows if passes(row["timestamp_ns"])]
    assert (answer.filtered, answer.rows) == (len(wanted), wanted[:1_000])


def test_search_and_several_filters(connection: UntrustedConnection) -> None:
    """All must hold; a search looks into op and kernel names."""
    links = {"iteration": iteration(connection)}
    filters = {"gpu_time_ns": ">2us", "device_id": "0", "name": "e"}
    scope, rows = find_scope(connection), every_row(connection)
    wanted = [
        row
        for row in rows
        if any("conv" in str(row[key]).lower() for key in ("op", "op_id", "name"))
        and int(row["gpu_time_ns"] or 0) > 2_000
        and "e" in str(row["name"])
    ]
    request = PageRequest(search="Conv", where=filters, **links, limit=1_000)
    assert page(connection, TABLE, scope, request).rows == wanted[:1_000]
    assert count(connection, TABLE, scope, request) == len(wanted) > 0
    assert list(stream(connection, TABLE, scope, request)) == wanted


def test_the_kernels_of_one_op(connection: UntrustedConnection) -> None:
    """Those of the iteration whose op it is, without the columns of the op."""
    rows, scope = every_row(connection), find_scope(connection)
    op = str(rows[50]["op_id"])
    links = {"iteration": iteration(connection), "op": op}
    wanted = [row["kernel_id"] for row in rows if row["op_id"] == op]
    answer = page(connection, OF_OP, scope, PageRequest(**links, limit=1_000))
    assert [row["kernel_id"] for row in answer.rows] == wanted[:1_000]
    assert answer.total == len(wanted)
    assert "op" not in {column.key for column in OF_OP.columns}


def test_an_iteration_without_kernels_is_empty(tmp_path: Path) -> None:
    """As one that there is not; and what is no number is refused."""
    path = tmp_path / "a.sqlite"
    import_source(write_trace(tmp_path / "a.json"), path, ImportOptions(), lambda _stage, _fraction: None)
    with closing(open_database(path)) as con:
        answer = page(con, TABLE, find_scope(con), PageRequest(iteration=777))
        assert (answer.rows, answer.total, answer.filtered) == ([], 0, 0)


def test_pages_of_ten_million_read_no_whole_table(database: Path) -> None:
    """Time, duration, op and name have an index each, which gives the order and holds what is counted."""
    with closing(open_database(database)) as con:
        con.set_authorizer(None)
        scope = find_scope(con)
        for sort in ("timestamp_ns", "gpu_time_ns", "-op", "name"):
            request = PageRequest(sort=sort, iteration=0)
            sql = TableQuery(TABLE, scope, request).ids(few=False)
            plan = con.execute(f"EXPLAIN QUERY PLAN {sql}", {"aggregation": 1, "iteration": 0}).fetchall()
            assert len(plan) == 1, plan
            assert str(plan[0][3]).startswith("SEARCH node USING"), plan


def test_a_page_of_one_op_reads_only_its_kernels(database: Path) -> None:
    """Also where it says which columns are alike in all of them: an iteration of millions takes a quarter of a second
    for each column."""
    with closing(open_database(database)) as con:
        con.set_authorizer(None)
        (op,) = con.execute(
            "SELECT op.op_id FROM iteration_ops AS node JOIN read_only_ops AS op ON op.id = node.read_only_ops_id "
            "WHERE node.iteration = ? ORDER BY node.kernels DESC LIMIT 1",
            (iteration(con),),
        ).fetchone()
        asked: list[str] = []
        con.set_trace_callback(asked.append)
        page_of(con, OF_OP, find_scope(con), PageRequest(iteration=iteration(con), op=op, limit=1))
        con.set_trace_callback(None)
        plans = [str(row[3]) for sql in asked for row in con.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]
        of_kernels = [plan for plan in plans if plan.startswith(("SEARCH node", "SCAN node"))]
        assert of_kernels
        assert not any(plan.endswith("PRIMARY KEY (aggr_id=? AND iteration=?)") for plan in of_kernels), of_kernels


def test_columns_say_where_they_are_looked_up() -> None:
    """Every column that kernels share with their launch is filtered by the launches."""
    own = {"timestamp_ns", "gpu_start_ns", "gpu_time_ns", "kernel_id", "achieved_occupancy_fraction", "dram_bytes"}
    assert {column.key for column in TABLE.columns if column.lookup is None} == own
