"""The iterations of one aggregation, binned if there are too many to draw, and how they were found."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TypedDict

from tensorboard_plugin_dlprof.diagnosis.windows import typical_range
from tensorboard_plugin_dlprof.queries.extension import extension_tables
from tensorboard_plugin_dlprof.queries.iteration_blocks import NotWholeNumbers, bars_by_position, iteration_blocks
from tensorboard_plugin_dlprof.queries.iteration_sums import (
    Bar,
    single,
    single_iterations,
    sums,
    sums_by_number,
    with_unrecorded,
)
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.scope import Scope

MAX_ROWS = 1_000
"""Bars that a page draws; more iterations are summed in bins of equal size."""


class IterationRow(TypedDict):
    """One iteration, or the sum of those from ``iteration`` to ``stop_iteration``."""

    iteration: int | None
    stop_iteration: int | None
    count: int
    """Number of iterations, which does not follow from the numbers if there are gaps between them."""
    start_ns: int | None
    duration_ns: int | None
    profiled: bool
    parts: dict[str, int | None] | None
    """Exclusive times (ns) that add up to the duration; None for iterations that are not aggregated."""


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

    iter_start: int | None
    iter_stop: int | None
    reason: str


def iteration_rows(connection: sqlite3.Connection, scope: Scope) -> tuple[list[IterationRow], bool]:
    """All iterations in order, and whether they were binned."""
    found, is_binned = _all_iterations(connection, scope)
    return [
        IterationRow(
            iteration=row["iteration"],
            stop_iteration=row["stop_iteration"],
            count=row["count"] or 0,
            start_ns=row["start_ns"],
            duration_ns=row["duration_ns"],
            profiled=row["profiled"],
            parts=row["parts"],
        )
        for row in with_unrecorded(connection, found)
    ], is_binned


def _all_iterations(connection: sqlite3.Connection, scope: Scope) -> tuple[list[Bar], bool]:
    blocks = iteration_blocks(connection, scope)
    if blocks is not None:
        count = len(blocks.columns["block"])
        is_binned = blocks.width > 1 or count > MAX_ROWS
        with suppress(NotWholeNumbers):
            return bars_by_position(connection, scope, blocks, _bin_size(count) if is_binned else 1), is_binned
    first, last, count = connection.execute(
        "SELECT min(iter_value), max(iter_value), count(*) FROM iteration_list WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    if count <= MAX_ROWS:
        return single_iterations(connection, scope, first or 0, last or 0), False
    size = _bin_size(count)
    if last - first + 1 == count:
        return sums_by_number(connection, scope, first, last, size, are_all=True), True
    # With gaps between the numbers, iterations are binned by position.
    source = f"SELECT *, dense_rank() OVER (ORDER BY first_value) - 1 AS place FROM ({single(connection)})"
    return sums(connection, scope, source, "place / :size", {"size": size}), True


def _bin_size(count: int) -> int:
    """Iterations per bin, so that there are at most ``MAX_ROWS`` bins: two more arise where the aggregated iterations
    begin and end inside a bin."""
    return -(-count // (MAX_ROWS - 2))


def iteration_source(connection: sqlite3.Connection, scope: Scope) -> IterationSource:
    """How the iterations of the aggregation were found; the kind is empty if the database does not say."""
    tables = extension_tables(connection)
    if not {"ext_aggregations", "ext_iteration_candidates"} <= tables:
        key_op = connection.execute(
            "SELECT key_op FROM view_key_op_name WHERE aggr_id = ?", (scope.aggregation,)
        ).fetchone()
        label = str(key_op[0]) if key_op and key_op[0] else ""
        (several,) = connection.execute(
            "SELECT count(*) FROM model_summary WHERE aggr_id = ? AND iter_total > 1", (scope.aggregation,)
        ).fetchone()
        kind = "key_op" if label else "" if several else "whole_capture"
        return IterationSource(kind=kind, label=label, candidates=[])
    chosen = connection.execute(
        "SELECT candidate_source, candidate_label FROM ext_aggregations WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    cursor = connection.execute("SELECT source, label, iterations FROM ext_iteration_candidates ORDER BY position")
    return IterationSource(
        kind=str(chosen[0]) if chosen else "",
        label=str(chosen[1]) if chosen else "",
        candidates=[
            Candidate(kind=str(row[0]), label=str(row[1]), count=whole(row[2])) for row in cursor.fetchmany(100)
        ],
    )


def proposal(connection: sqlite3.Connection, scope: Scope) -> Proposal | None:
    """The typical iterations; None if all are typical.

    The import has stored them in our databases; for NVIDIA's they are determined here.
    """
    if "ext_aggregations" not in extension_tables(connection):
        return _derived_proposal(connection, scope)
    row = connection.execute(
        "SELECT proposal_start, proposal_stop, proposal_reason FROM ext_aggregations WHERE aggr_id = ?",
        (scope.aggregation,),
    ).fetchone()
    if row is None or whole(row[0]) is None or whole(row[1]) is None:
        return None
    return Proposal(iter_start=whole(row[0]), iter_stop=whole(row[1]), reason=str(row[2] or ""))


def _derived_proposal(connection: sqlite3.Connection, scope: Scope) -> Proposal | None:
    cursor = connection.execute(
        "SELECT iter_value, stop_time - start_time FROM iteration_list WHERE aggr_id = ? ORDER BY iter_value",
        (scope.aggregation,),
    )
    known = [row for row in cursor.fetchall() if isinstance(row[0], int) and isinstance(row[1], int)]
    found = typical_range([number for number, _ in known], [duration_ns for _, duration_ns in known])
    if found is None:
        return None
    return Proposal(iter_start=found.iter_start, iter_stop=found.iter_stop, reason=found.reason)
