"""The iterations of one aggregation, binned if there are too many to draw, and how they were found."""

from __future__ import annotations

import sqlite3
from typing import TypedDict, cast

from tensorboard_plugin_dlprof.queries.iteration_sums import (
    BLOCKS,
    SINGLE,
    Bar,
    IterationRow,
    block_width,
    single_iterations,
    sums,
    with_unrecorded,
)
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.records import records
from tensorboard_plugin_dlprof.queries.scope import Scope

MAX_ROWS = 1_000
"""Bars that a page draws; more iterations are summed in bins of equal size."""


class Candidate(TypedDict):
    """One way to divide the capture into iterations."""

    kind: str
    label: str
    count: int | None


class IterationSource(TypedDict):
    """How the iterations were found, and the other ways to find them. Texts are empty if the database does not say."""

    kind: str
    label: str
    candidates: list[Candidate]


class Proposal(TypedDict):
    """A range of iterations without warm-up."""

    iter_start: int
    iter_stop: int
    reason: str


def iteration_rows(connection: sqlite3.Connection, scope: Scope) -> tuple[list[IterationRow], bool]:
    """All iterations in order, and whether they were binned."""
    result, is_binned = _all_iterations(connection, scope)
    keys = IterationRow.__annotations__
    return [
        cast("IterationRow", {key: value for key, value in bar.items() if key in keys})
        for bar in with_unrecorded(connection, result)
    ], is_binned


def _all_iterations(connection: sqlite3.Connection, scope: Scope) -> tuple[list[Bar], bool]:
    if block_width(connection, scope):
        count_blocks = "SELECT count(*) FROM ext_iteration_blocks WHERE aggr_id = ?"
        (count,) = connection.execute(count_blocks, (scope.aggregation,)).fetchone()
        source = BLOCKS.replace(" FROM ", ", position AS place FROM ")
    else:
        (count,) = connection.execute(
            "SELECT count(*) FROM iteration_list WHERE aggr_id = ?", (scope.aggregation,)
        ).fetchone()
        if count <= MAX_ROWS:
            return single_iterations(connection, scope), False
        # There may be gaps between the numbers, so iterations are binned by position.
        source = f"SELECT *, dense_rank() OVER (ORDER BY first_value) - 1 AS place FROM ({SINGLE})"
    return sums(connection, scope, source, "place / :size", {"size": _bin_size(count)}), True


def _bin_size(count: int) -> int:
    """Iterations per bin, so that there are at most ``MAX_ROWS`` bins: two more arise where the aggregated iterations
    begin and end inside a bin."""
    return -(-count // (MAX_ROWS - 2))


def iteration_source(connection: sqlite3.Connection, scope: Scope) -> IterationSource:
    """How the iterations of the aggregation were found; the kind is empty if the database does not say."""
    selected = connection.execute(
        "SELECT candidate_source, candidate_label FROM ext_aggregations WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    select = "SELECT source AS kind, label, iterations AS count FROM ext_iteration_candidates ORDER BY position"
    return IterationSource(
        kind=str(selected[0]) if selected else "",
        label=str(selected[1]) if selected else "",
        candidates=records(connection, Candidate, select, most=100),
    )


def proposal(connection: sqlite3.Connection, scope: Scope) -> Proposal | None:
    """The typical iterations, as the import found them; None if all are typical."""
    row = connection.execute(
        "SELECT proposal_start, proposal_stop, proposal_reason FROM ext_aggregations WHERE aggr_id = ?",
        (scope.aggregation,),
    ).fetchone()
    if row is None or (start := whole(row[0])) is None or (stop := whole(row[1])) is None:
        return None
    return Proposal(iter_start=start, iter_stop=stop, reason=str(row[2] or ""))
