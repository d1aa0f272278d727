"""The iterations of one aggregation as bars of a chart: sums of neighbouring ones where there are too many to draw.

Aggregated iterations, iterations before them, and iterations after them are never in the same sum. Of very many
iterations, the import stores sums over blocks of them (``database.extension_rows``), which are added up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict, cast

from tensorboard_plugin_dlprof.errors import BadRequest
from tensorboard_plugin_dlprof.queries.numbers import whole
from tensorboard_plugin_dlprof.queries.records import records
from tensorboard_plugin_dlprof.queries.resources import RESOURCE_COLUMNS, RESOURCES, Resource, unrecorded_resources
from tensorboard_plugin_dlprof.queries.scope import Scope
from tensorboard_plugin_dlprof.queries.summary import performance
from tensorboard_plugin_dlprof.queries.unknown_kernels import OF_ITERATION, UNKNOWN_PART, at_least

MOST_SUMS = 4_000
"""More than any chart draws."""

_MOST_SINGLE = 200_000
"""Iterations returned one by one; a limit for damaged databases, which may claim any number."""


class IterationRow(TypedDict):
    """One iteration, or several: sums over ``count`` iterations from ``iteration`` to ``stop_iteration``."""

    iteration: int
    stop_iteration: int
    count: int
    """Number of iterations, which does not follow from the numbers if there are gaps between them."""
    start_ns: int | None
    duration_ns: int
    profiled: bool
    """Whether the iterations are aggregated."""
    parts: dict[Resource, int | None] | None
    """Exclusive times (ns) that add up to the duration; None for iterations that are not aggregated. If
    ``unknown_kernel`` is not 0, ``tensor_core`` is a lower bound, and None instead of 0."""


class Bar(IterationRow):
    """With the extremes of its iterations."""

    shortest_ns: int
    longest_ns: int


def _part(resource: str) -> str:
    """Expression for the time of one of ``RESOURCES``, of ``iteration_aggregation_list AS part``."""
    if resource == "unknown_kernel":
        return UNKNOWN_PART
    column = f"part.{RESOURCE_COLUMNS[resource]}_duration"
    return f"({column} - {UNKNOWN_PART})" if resource == "other_kernel" else column


SINGLE = (
    "SELECT iteration.iter_value AS first_value, iteration.iter_value AS last_value, 1 AS iterations, "
    "iteration.start_time AS start_ns, iteration.stop_time - iteration.start_time AS duration_ns, "
    "iteration.stop_time - iteration.start_time AS shortest_ns, "
    "iteration.stop_time - iteration.start_time AS longest_ns, part.iter_value IS NOT NULL AS is_aggregated, "
    + ", ".join(f"{_part(resource)} AS {resource}_ns" for resource in RESOURCES)
    + " FROM iteration_list AS iteration LEFT JOIN iteration_aggregation_list AS part "
    f"ON part.aggr_id = iteration.aggr_id AND part.iter_value = iteration.iter_value "
    f"{OF_ITERATION} WHERE iteration.aggr_id = :aggregation"
)
"""A SELECT of the iterations of ``:aggregation``, each as a block of one."""

_STORED = {"unknown_kernel": "unknown_part_ns", "other_kernel": "other_kernel_ns - unknown_part_ns"}

BLOCKS = (
    "SELECT first_value, last_value, iterations, start_ns, duration_ns, shortest_ns, longest_ns, is_aggregated, "
    + ", ".join(f"{_STORED.get(resource, f'{resource}_ns')} AS {resource}_ns" for resource in RESOURCES)
    + " FROM ext_iteration_blocks WHERE aggr_id = :aggregation"
)
"""A SELECT of the stored blocks of ``:aggregation``, with the columns of ``SINGLE``."""


def with_unrecorded(connection: sqlite3.Connection, bars: list[Bar]) -> list[Bar]:
    """The bars, with None for the parts that the recording could not contain."""
    unknown = dict.fromkeys(unrecorded_resources(connection))
    for bar in bars if unknown else ():
        if bar["parts"] is not None:
            bar["parts"].update(unknown)
    return bars


def parts_of_bar(times: Iterable[int | None]) -> dict[Resource, int | None]:
    """The parts of a bar, given the time of each of ``RESOURCES`` in order."""
    parts: dict[Resource, int | None] = dict(zip(RESOURCES, times, strict=True))
    return {**parts, "tensor_core": at_least(parts["tensor_core"], parts["unknown_kernel"])}


_BEHIND = "first_value > :last_aggregated"
"""Distinguishes iterations after the aggregated ones from those before them, which may fall into the same bar."""


def last_aggregated(connection: sqlite3.Connection, scope: Scope) -> int:
    """The number of the last aggregated iteration; 0 if there is none."""
    ((last,),) = connection.execute(
        "SELECT max(iter_value) FROM iteration_aggregation_list WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchall()
    return whole(last) or 0


def single_iterations(connection: sqlite3.Connection, scope: Scope) -> list[Bar]:
    """The iterations in order, each by itself."""
    cursor = connection.execute(f"{SINGLE} ORDER BY first_value", {"aggregation": scope.aggregation})
    return _bars(cursor.fetchmany(_MOST_SINGLE))


def sums(connection: sqlite3.Connection, scope: Scope, source: str, bar: str, values: Mapping[str, int]) -> list[Bar]:
    """Sums of iterations, in order.

    Args:
        source: SELECT of iterations or blocks, such as ``SINGLE``.
        bar: expression that has the same value for all rows of one sum.
        values: parameters of both, besides ``:aggregation``.
    """
    parts = ", ".join(f"sum({resource}_ns)" for resource in RESOURCES)
    cursor = connection.execute(
        "SELECT min(first_value), max(last_value), sum(iterations), min(start_ns), sum(duration_ns), "
        f"min(shortest_ns), max(longest_ns), is_aggregated, {parts} FROM ({source}) "
        f"GROUP BY {bar}, is_aggregated, {_BEHIND} ORDER BY min(first_value)",
        {"aggregation": scope.aggregation, "last_aggregated": last_aggregated(connection, scope), **values},
    )
    return _bars(cursor.fetchmany(MOST_SUMS))


def block_width(connection: sqlite3.Connection, scope: Scope) -> int:
    """How many numbers of iterations a stored block spans; 0 if none are stored."""
    row = connection.execute(
        "SELECT width FROM ext_iteration_blocks WHERE aggr_id = ?", (scope.aggregation,)
    ).fetchone()
    return max(0, whole(row[0]) or 0) if row else 0


def _bars(rows: Iterable[Sequence[object]]) -> list[Bar]:
    """Bars from rows: first and last number, count, start, duration, shortest, longest, whether aggregated, parts. What
    has no number or length, as in a damaged database, cannot be drawn."""
    bars = []
    for row in rows:
        first, last, count, start_ns, *lengths = map(whole, row[:7])
        if first is None or last is None or None in lengths:
            continue
        duration_ns, shortest_ns, longest_ns = (length or 0 for length in lengths)
        parts = parts_of_bar(map(whole, row[8:])) if row[7] else None
        bars.append(
            Bar(
                iteration=first,
                stop_iteration=last,
                count=count or 0,
                start_ns=start_ns,
                duration_ns=duration_ns,
                shortest_ns=shortest_ns,
                longest_ns=longest_ns,
                profiled=bool(row[7]),
                parts=parts,
            )
        )
    return bars


DEFAULT_BINS = 1_000
MAX_BINS = 2_000


Bars = TypedDict(
    "Bars",
    {
        "first": "int | None",
        "last": "int | None",
        "total": "int | None",
        "profiled": "int | None",
        "iter_start": "int | None",
        "iter_stop": "int | None",
        "from": "int | None",
        "to": "int | None",
        "bin_size": int,
        "binned": bool,
        "rows": "list[Bar]",
    },
)
"""``first`` to ``last`` are the numbers of all iterations, ``from`` to ``to`` those that the bars cover."""


def iteration_bars(
    connection: sqlite3.Connection,
    scope: Scope,
    start: int | None = None,
    stop: int | None = None,
    bins: int = DEFAULT_BINS,
) -> Bars:
    """The iterations numbered ``start`` to ``stop``, inclusive, summed into about ``bins`` bars.

    All bars span equally many numbers, except that a bar also ends where the aggregated iterations begin or end.

    Args:
        start: number of the first iteration; by default, the first of all.
        stop: number of the last iteration; by default, the last of all.
        bins: wanted number of bars.

    Raises:
        BadRequest: ``start`` is greater than ``stop``.
    """
    if start is not None and stop is not None and start > stop:
        raise BadRequest(f"from={start} is greater than to={stop}; give them in order.")
    # SQLite looks up min or max alone in an index, but would read all rows for both in one statement.
    first, last = (
        whole(value)
        for value in connection.execute(
            "SELECT (SELECT min(iter_value) FROM iteration_list WHERE aggr_id = :aggregation), "
            "(SELECT max(iter_value) FROM iteration_list WHERE aggr_id = :aggregation)",
            {"aggregation": scope.aggregation},
        ).fetchone()
    )
    times = performance(connection, scope)
    if first is None or last is None:
        low = high = size = 0
    else:
        low, high = max(first, first if start is None else start), min(last, last if stop is None else stop)
        size = max(-(-(high - low + 1) // bins), 1)
    rows: list[Bar] = []
    if size:
        width = block_width(connection, scope)
        values = {"low": low, "high": high, "first": low}
        source = f"{SINGLE} AND iteration.iter_value BETWEEN :low AND :high"
        if width and size >= width:
            # Bars span whole blocks; single iterations are read where the range begins or ends inside a block.
            size = max(-(-(high - low // width * width + 1) // (bins * width)), 1) * width
            begin, behind = -(-low // width), (high + 1) // width
            values |= {"first": low - low % width, "begin": begin, "behind": behind}
            values |= {"begin_value": begin * width, "behind_value": max(begin, behind) * width}
            inside = "iteration.iter_value >= :begin_value AND iteration.iter_value < :behind_value"
            source = f"{source} AND NOT ({inside}) UNION ALL {BLOCKS} AND block >= :begin AND block < :behind"
        rows = sums(connection, scope, source, "(first_value - :first) / :size", {**values, "size": size})
    return {
        "first": first,
        "last": last,
        "total": times["total_iterations"],
        "profiled": times["profiled_iterations"],
        "iter_start": times["iter_start"],
        "iter_stop": times["iter_stop"],
        "from": low if size else None,
        "to": high if size else None,
        "bin_size": max(size, 1),
        "binned": size > 1,
        "rows": with_unrecorded(connection, rows),
    }


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
