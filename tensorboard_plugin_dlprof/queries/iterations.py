"""The iterations of one aggregation, binned where they are too many to draw."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, TypedDict

from tensorboard_plugin_dlprof.queries.extension import extension_tables
from tensorboard_plugin_dlprof.queries.numbers import plus, whole
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import RESOURCE_COLUMNS, RESOURCES
from tensorboard_plugin_dlprof.typical_iterations import typical_range

MAX_ROWS = 1_000
"""Bars that a page draws; more iterations are summed in bins of equal size."""


class IterationRow(TypedDict):
    """One iteration, or the sum of those from ``iteration`` to ``stop_iteration``."""

    iteration: int | None
    stop_iteration: int | None
    count: int
    """How many iterations; ``stop_iteration`` does not tell where numbers are left out."""
    start_ns: int | None
    duration_ns: int | None
    profiled: bool
    parts: dict[str, int | None] | None
    """Exclusive times that add up to the duration; unknown for iterations that are not aggregated."""


class Candidate(TypedDict):
    """One way to cut the capture into iterations."""

    kind: str
    label: str
    count: int | None


class IterationSource(TypedDict):
    """How the iterations were found, and how else they could be; empty texts where the database does not say."""

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
    if bins := _bins_of_blocks(connection, scope):
        return bins, True
    first, last, count = connection.execute(
        "SELECT min(iter_value), max(iter_value), count(*) FROM iteration_list WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    if count > MAX_ROWS and last - first + 1 == count:
        # Numbered without gaps: SQLite sums a hundred thousand in the time in which Python reads ten thousand.
        return _bins(connection, scope, first, -(-count // (MAX_ROWS - 2))), True
    rows = _rows(connection, scope, first or 0, last or 0)
    return (rows, False) if count <= MAX_ROWS else (binned(rows), True)


def _bins_of_blocks(connection: sqlite3.Connection, scope: Scope) -> list[IterationRow]:
    """Sums of equally many stored blocks; none where there are no blocks."""
    width = block_width(connection, scope)
    if not width:
        return []
    ((last,),) = connection.execute(
        "SELECT max(position) FROM ext_iteration_blocks WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchall()
    parts = ", ".join(f"sum({resource}_ns)" for resource in RESOURCES)
    cursor = connection.execute(
        "SELECT min(first_value), max(last_value), min(start_ns), sum(duration_ns), is_aggregated, "
        f"{parts}, sum(iterations) FROM ext_iteration_blocks WHERE aggr_id = :aggregation "
        f"GROUP BY position / :size, is_aggregated, {BEHIND} ORDER BY min(position)",
        {"size": -(-(last + 1) // (MAX_ROWS - 2)), **aggregated_values(connection, scope)},
    )
    return [_row(row[:-1], row[-1]) for row in cursor.fetchmany(2 * MAX_ROWS)]


BEHIND = "first_value > :last_aggregated"
"""Tells iterations behind the aggregated ones from those before them, where both are in one bar."""


def aggregated_values(connection: sqlite3.Connection, scope: Scope) -> dict[str, int]:
    """Values for statements: the aggregation, and the number of its last iteration."""
    ((last,),) = connection.execute(
        "SELECT max(iter_value) FROM iteration_aggregation_list WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchall()
    return {"aggregation": scope.aggregation, "last_aggregated": whole(last) or 0}


def block_width(connection: sqlite3.Connection, scope: Scope) -> int:
    """How many numbers there are in each stored block of iterations; 0 where there are no blocks."""
    if "ext_iteration_blocks" not in extension_tables(connection):
        return 0
    row = connection.execute(
        "SELECT width FROM ext_iteration_blocks WHERE aggr_id = ? LIMIT 1", (scope.aggregation,)
    ).fetchone()
    return (whole(row[0]) or 0) if row else 0


def _bins(connection: sqlite3.Connection, scope: Scope, first: int, size: int) -> list[IterationRow]:
    """``size`` iterations to a row; a row ends where aggregated iterations begin or end."""
    # The two tables apart, in the order in which they lie in the file: that is three times as fast as joined.
    sums = ", ".join(f"sum({column}_duration)" for column in RESOURCE_COLUMNS)
    number = "(iter_value - :first) / :size AS number"
    values = {"aggregation": scope.aggregation, "first": first, "size": size}
    aggregated = {
        row[0]: row[1:]
        for row in connection.execute(
            f"SELECT {number}, count(*), {sums} FROM iteration_aggregation_list NOT INDEXED "
            "WHERE aggr_id = :aggregation GROUP BY number",
            values,
        )
    }
    cursor = connection.execute(
        f"SELECT {number}, count(*), min(iter_value), max(iter_value), min(start_time), sum(stop_time - start_time) "
        "FROM iteration_list NOT INDEXED WHERE aggr_id = :aggregation GROUP BY number ORDER BY number",
        values,
    )
    rows: list[IterationRow] = []
    for bin_number, count, low, high, start, duration in cursor.fetchall():
        profiled, *parts = aggregated.get(bin_number, (0,))
        if profiled not in (0, count):
            rows.extend(binned(_rows(connection, scope, low, high), size))
            continue
        rows.append(_row((low, high, start, duration, profiled, *parts), count))
    return rows


def _rows(connection: sqlite3.Connection, scope: Scope, low: int, high: int) -> list[IterationRow]:
    """One row for each iteration with these numbers."""
    parts = ", ".join(f"part.{column}_duration" for column in RESOURCE_COLUMNS)
    cursor = connection.execute(
        "SELECT iteration.iter_value, iteration.iter_value, iteration.start_time, "
        f"iteration.stop_time - iteration.start_time, part.iter_value IS NOT NULL, {parts} "
        "FROM iteration_list AS iteration LEFT JOIN iteration_aggregation_list AS part "
        "ON part.aggr_id = iteration.aggr_id AND part.iter_value = iteration.iter_value "
        "WHERE iteration.aggr_id = ? AND iteration.iter_value BETWEEN ? AND ? ORDER BY iteration.iter_value",
        (scope.aggregation, low, high),
    )
    rows: list[IterationRow] = []
    while some := cursor.fetchmany(1_000):
        rows.extend(map(_row, some))
    return rows


def _row(row: Sequence[Any], count: int = 1) -> IterationRow:
    """First and last number, start, duration, whether aggregated, parts."""
    return IterationRow(
        iteration=whole(row[0]),
        stop_iteration=whole(row[1]),
        count=count,
        start_ns=whole(row[2]),
        duration_ns=whole(row[3]),
        profiled=bool(row[4]),
        parts=dict(zip(RESOURCES, map(whole, row[5:]), strict=True)) if row[4] else None,
    )


def binned(rows: list[IterationRow], size: int = 0) -> list[IterationRow]:
    """At most ``MAX_ROWS`` rows, each the sum of neighbours; a bin ends where aggregated iterations begin or end."""
    size = size or -(-len(rows) // (MAX_ROWS - 2))
    bins: list[IterationRow] = []
    count = 0
    for row in rows:
        last = bins[-1] if bins else None
        if last is None or count == size or last["profiled"] != row["profiled"]:
            bins.append(IterationRow(**{**row, "parts": dict(row["parts"]) if row["parts"] else None}))
            count = 1
            continue
        count += 1
        last["stop_iteration"] = row["stop_iteration"]
        last["count"] += row["count"]
        last["duration_ns"] = plus(last["duration_ns"], row["duration_ns"])
        if last["parts"] is not None and row["parts"] is not None:
            for resource, time_ns in row["parts"].items():
                last["parts"][resource] = plus(last["parts"][resource], time_ns)
    return bins


def iteration_source(connection: sqlite3.Connection, scope: Scope) -> IterationSource:
    """How the iterations of the aggregation were found; an empty kind where the database does not say."""
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
    """The typical iterations, as the import found them; found now in NVIDIA's databases. Nothing where all are."""
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
