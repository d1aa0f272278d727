"""Tables of the aggregated iterations as means of one iteration."""

from __future__ import annotations

import pytest

from tensorboard_plugin_dlprof.opening.sqlite_file import UntrustedConnection
from tensorboard_plugin_dlprof.queries.page_answer import TablePage, page_of
from tensorboard_plugin_dlprof.queries.page_request import PageRequest, Per
from tensorboard_plugin_dlprof.queries.pages import stream
from tensorboard_plugin_dlprof.queries.per_iteration import divisors, mean
from tensorboard_plugin_dlprof.queries.scope import Scope, find_scope
from tensorboard_plugin_dlprof.queries.tables import TABLES, table_of

ROWS = {
    "ops_of_path": ("op_paths", "key"),
    "ops_of_name": ("op_names", "key"),
    "ops_of_type": ("op_types", "op_type"),
    "kernels_of_path": ("op_paths", "key"),
    "kernels_of_name": ("op_names", "key"),
    "kernels_of_type": ("op_types", "op_type"),
    "ops_of_kernel": ("kernels_of_group", "name"),
}
"""Whose rows a table is about, and the column that names them."""


def request_of(con: UntrustedConnection, name: str, per: Per, where: dict[str, str] | None = None) -> PageRequest:
    """A page of a table, of what the first row of another one stands for."""
    links = {"group": ""} if "group" in TABLES[name].links else {}
    above, key = ROWS.get(name, ("ops", "op_id"))
    if {"row", "op"} & set(TABLES[name].links):
        (link,) = {"row", "op"} & set(TABLES[name].links)
        links[link] = str(asked(con, above, "aggregation")["rows"][0][key])
    return PageRequest(table=name, per=per, where=where or {}, **links)  # type: ignore[arg-type]


def asked(con: UntrustedConnection, name: str, per: Per, where: dict[str, str] | None = None) -> TablePage:
    """The page."""
    return page_of(con, table_of(con, name), find_scope(con), request_of(con, name, per, where))


def test_what_grows_with_the_iterations_is_of_one(ours: UntrustedConnection) -> None:
    """Three steps of two adds with a kernel of 40 µs each; the number of ops and shares stay."""
    (row,) = asked(ours, "op_names", "aggregation")["rows"]
    page = asked(ours, "op_names", "iteration")
    (of_one,) = page["rows"]
    assert (row["ops"], row["calls"], row["gpu_time_ns"], row["kernel_calls"]) == (2, 6, 240_000, 6)
    assert (of_one["ops"], of_one["calls"], of_one["gpu_time_ns"], of_one["kernel_calls"]) == (2, 2, 80_000, 2)
    assert of_one["gpu_time_fraction"] == row["gpu_time_fraction"] == 1
    assert page["totals"] | {"cpu_time_ns": 0} == {
        **{"ops": 2, "calls": 2, "gpu_time_ns": 80_000, "gpu_time_fraction": 1, "kernel_calls": 2},
        **{"cpu_time_ns": 0, "kernel_time_ns": 80_000, "gain_ns": None, "unrated_time_ns": 80_000, "eligible_ops": 0},
    }


@pytest.mark.parametrize(
    ("text", "passing"), [(">79 us", 1), (">81 us", 0), ("80000", 1), ("79us..81us", 1), ("240 us", 0)]
)
def test_filters_are_of_what_is_shown(ours: UntrustedConnection, text: str, passing: int) -> None:
    """Who reads 80 µs filters by 80 µs."""
    assert asked(ours, "op_names", "iteration", {"gpu_time_ns": text})["filtered"] == passing


@pytest.mark.parametrize("name", [name for name in TABLES if divisors(TABLES[name], Scope(1, 1, "", 3), "iteration")])
def test_files_hold_the_same_as_pages(ours: UntrustedConnection, name: str) -> None:
    """Rows of a page and of an export; only declared columns differ from those of the sums."""
    table, scope = table_of(ours, name), find_scope(ours)
    rows = list(stream(ours, table, scope, request_of(ours, name, "iteration")))
    assert rows
    assert rows == asked(ours, name, "iteration")["rows"]
    sums = asked(ours, name, "aggregation")["rows"]
    grown = divisors(table, scope, "iteration")
    for row, total in zip(rows, sums, strict=True):
        for key, value in total.items():
            expected = (
                mean(value, grown[key], whole=key.endswith("_ns")) if key in grown and value is not None else value
            )  # type: ignore[operator]
            assert row[key] == expected, key


def test_where_there_is_one_iteration_nothing_is_divided(ours: UntrustedConnection) -> None:
    """A mean of one is the sum."""
    assert divisors(TABLES["op_names"], Scope(1, 1, ""), "iteration") == {}
    assert divisors(TABLES["iterations"], find_scope(ours), "iteration") == {}
