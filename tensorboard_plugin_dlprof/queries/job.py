"""Questions about the database of a job; see ``database/sql/job.sql`` for what its columns mean."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.packing import unpack_from
from tensorboard_plugin_dlprof.errors import BadRequest, NotFound

UNKNOWN_CELL = 0xFFFF_FFFF
"""In packed matrices: the rank lacks the iteration, or the number is unknown."""

DIVIDED = (
    *("compute_tensor", "compute_other", "compute_unknown", "data_loader", "queued", "blocked", "launching", "host_op"),
    *("host_code", "io", "launch_unknown", "unrecorded"),
)
"""The parts of compute and of idle time, as the diagnosis calls them."""

MEASURES = (
    *("duration", "compute", "exposed_transfer", "exposed_wait", "exposed_unmatched", "copy", "idle", "overlapped"),
    *("own_delay", "cost", *DIVIDED),
)
"""Those of ``job_matrix``."""

MOST_ROWS, MOST_COLUMNS = 1_024, 512
"""Cells of a heat map; of larger jobs, the largest of several neighbours is shown."""

_PARTS = (
    *("compute_ns", "exposed_communication_ns", "exposed_transfer_ns", "exposed_wait_ns", "exposed_unmatched_ns"),
    *("exposed_copy_ns", "idle_ns", *(f"{part}_ns" for part in DIVIDED), "own_delay_ns"),
)
_RANK = (
    *("rank", "database", "name", "process_index", "host", "device_id", "gpu_name", "coordinates", "island"),
    *("clock_offset_ns", "clock_drift", "kernels", "window_ns", "overlapped_ns", "last", *_PARTS),
)
_SHOWN = ("rank", "database", "host", "coordinates", "window_ns", "overlapped_ns", "last", *_PARTS)
_COLLECTIVE = (
    *("id", "group_id", "iteration", "kind", "bytes", "ranks", "start_ns", "transfer_ns", "skew_ns", "wait_ns"),
    *("last_rank", "own_delay_ns", "cause"),
)
MOST_COLLECTIVES = 1_000
_MOST_PAIRS = 4_096

_OF_ITERATION = {
    "compute_ns": "compute",
    "exposed_transfer_ns": "exposed_transfer",
    "exposed_wait_ns": "exposed_wait",
    "exposed_unmatched_ns": "exposed_unmatched",
    "exposed_copy_ns": "copy",
    "idle_ns": "idle",
    "own_delay_ns": "own_delay",
    "window_ns": "duration",
    "overlapped_ns": "overlapped",
    **{f"{part}_ns": part for part in DIVIDED},
}


_TEXTS = frozenset(
    {
        *("database", "name", "host", "gpu_name", "coordinates", "description", "kind", "reason", "cause", "rule"),
        *("group_kind", "bandwidth_reason", "title", "text", "action", "evidence"),
    }
)
_REALS = frozenset({"clock_drift", "bus_bandwidth", "peak_bandwidth", "imbalance", "last_fraction", "bandwidth"})
_OTHERS: Mapping[str, set[type]] = {"ranks": {int, str}, "packed": {bytes}}
"""Columns that are no integers. ``ranks`` are a text or how many."""

_WHOLE: set[type] = {int, type(None)}
_REAL: set[type] = {int, float, type(None)}


def _checked(names: Sequence[str], rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows of a query, since no column of a file has a type.

    Raises:
        TypeError: there is a text where a number belongs, or the like.
    """
    for name, values in zip(names, zip(*rows, strict=True), strict=False):
        allowed = _OTHERS.get(name) or ({str} if name in _TEXTS else _REAL if name in _REALS else _WHOLE)
        if not set(map(type, values)) <= allowed:
            raise TypeError(f"{name} holds something else")
    return rows


def _rows(con: sqlite3.Connection, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
    cursor = con.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in _checked(names, cursor.fetchall())]


def info(con: sqlite3.Connection) -> dict[str, str]:
    """The facts about a job, by key."""
    return dict(con.execute("SELECT key, value FROM job_info").fetchall())


def answer(con: sqlite3.Connection) -> dict[str, Any]:
    """What is said about the job as a whole: verdict, clocks, what is missing and left out.

    Raises:
        LookupError or TypeError: it is something else.
    """
    result: dict[str, Any] = json.loads(info(con)["answer"])
    _ = result["verdict"]["sentence"], result["ranks_present"]
    return result


def ranks(con: sqlite3.Connection, iterations: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """The ranks, over the time from their first to their last GPU work, or the sums over some iterations.

    Args:
        iterations: the numbers of the first and the last.

    Raises:
        NotFound: no rank has the first, or the last.
    """
    rows = _rows(con, f"SELECT {', '.join(_RANK)} FROM job_ranks ORDER BY rank")
    if iterations is not None:
        first, last = (_position(con, number) for number in iterations)
        for name, measure in _OF_ITERATION.items():
            for row, values in zip(rows, matrix(con, measure)[:, first : last + 1].tolist(), strict=True):
                row[name] = sum(values) if min(values) >= 0 else None
        for row in rows:
            parts = [row[name] for name in ("exposed_transfer_ns", "exposed_wait_ns", "exposed_unmatched_ns")]
            row["exposed_communication_ns"] = sum(parts) if None not in parts else None
    return rows


def rank_columns(con: sqlite3.Connection) -> dict[str, tuple[Any, ...]]:
    """What the page shows of the ranks, by column: sums over their iterations, which verdict and heat map are of, too.

    ``iterations`` says how many each rank has; without any in the job, sums are from first to last GPU work.
    """
    rows = _checked(_SHOWN, con.execute(f"SELECT {', '.join(_SHOWN)} FROM job_ranks ORDER BY rank").fetchall())
    result = dict(zip(_SHOWN, zip(*rows, strict=True), strict=True))
    had = matrix(con, "duration") >= 0
    result["iterations"] = tuple(had.sum(1).tolist())
    if not had.shape[1]:
        return result
    for name, measure in _OF_ITERATION.items():
        values = matrix(con, measure)
        known = had.any(1) & ~(had & (values < 0)).any(1)
        sums: npt.NDArray[np.int64] = np.where(known, np.where(had, values, 0).sum(1), -1)
        each = zip(result[name], map(int, sums), strict=True)
        result[name] = tuple(total if total >= 0 and whole is not None else None for whole, total in each)
    # Known also where nothing could be matched: what is left of the time.
    parts = zip(*(result[name] for name in ("window_ns", "compute_ns", "exposed_copy_ns", "idle_ns")), strict=True)
    result["exposed_communication_ns"] = tuple(
        None if None in of_rank else max(of_rank[0] - sum(of_rank[1:]), 0) for of_rank in parts
    )
    return result


def costs_of(con: sqlite3.Connection) -> list[int | None]:
    """What of the own delay of each rank others waited for while they computed nothing, at most: sums over the
    iterations. None where nothing could be matched, and without iterations."""
    cells = matrix(con, "cost")
    return [None if not (each >= 0).any() else int(each[each >= 0].sum()) for each in cells]


def mean_ranks(con: sqlite3.Connection, iterations: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """The parts of the time of each rank in a mean iteration, of those that it has or of some (``ranks``); of a job
    without iterations, from first to last GPU work."""
    if iterations is None:
        columns = rank_columns(con)
        counts = columns["iterations"]
        rows = [{name: values[row] for name, values in columns.items()} for row in range(len(counts))]
    else:
        first, last = (_position(con, number) for number in iterations)
        rows = ranks(con, iterations)
        counts = (last - first + 1,) * len(rows)
    for row, count in zip(rows, counts, strict=True):
        row.update({name: row[name] // count for name in _PARTS if row[name] is not None and count})
    return rows


def exposed_of(con: sqlite3.Connection, number: int) -> dict[str, list[int | None]]:
    """A rank's exposed communication in each iteration, by what it was; None is unknown."""
    ranks_before = con.execute("SELECT count(*) FROM job_ranks WHERE rank < ?", (number,)).fetchone()[0]
    return {
        f"{measure}_ns": [None if ns < 0 else ns for ns in matrix(con, measure)[ranks_before].tolist()]
        for measure in ("exposed_transfer", "exposed_wait", "exposed_unmatched")
    }


def rank(con: sqlite3.Connection, number: int) -> dict[str, Any]:
    """One rank of ``rank_columns``.

    Raises:
        NotFound: the job has no such rank, or its profile is missing.
    """
    columns = rank_columns(con)
    if number not in columns["rank"]:
        raise NotFound(f"The job has no profile of rank {number}.")
    row = columns["rank"].index(number)
    return {name: values[row] for name, values in columns.items()}


def _position(con: sqlite3.Connection, iteration: int) -> int:
    result = con.execute("SELECT position FROM job_iterations WHERE iteration = ?", (iteration,)).fetchone()
    if result is None:
        raise NotFound(f"No rank has the iteration {iteration}, or it is of the warm-up.")
    return int(result[0])


def iterations(con: sqlite3.Connection) -> list[dict[str, Any]]:
    """The iterations of the job, by number."""
    return _rows(con, "SELECT * FROM job_iterations ORDER BY position")


def _packed(con: sqlite3.Connection, measure: str) -> tuple[int, npt.NDArray[np.uint32]]:
    if measure not in MEASURES:
        raise BadRequest(f"There is no measure {measure[:40]!r}; there are {', '.join(MEASURES)}.")
    unit, packed = con.execute("SELECT unit_ns, packed FROM job_matrix WHERE measure = ?", (measure,)).fetchone()
    (count,) = con.execute("SELECT count(*) FROM job_ranks").fetchone()
    return int(unit), np.frombuffer(packed, "<u4").reshape(count, -1)


def matrix(con: sqlite3.Connection, measure: str) -> npt.NDArray[np.int64]:
    """A measure in ns: a row per rank, a column per iteration; -1 is unknown.

    Raises:
        BadRequest: there is no such measure.
    """
    unit, cells = _packed(con, measure)
    return np.where(cells == UNKNOWN_CELL, -1, cells.astype(np.int64) * unit)


def heat_map(
    con: sqlite3.Connection, measure: str, start: int | None = None, stop: int | None = None
) -> tuple[dict[str, int], bytes]:
    """A measure as little-endian 32-bit numbers, at most ``MOST_ROWS`` x ``MOST_COLUMNS``, row after row.

    Args:
        measure: one of ``MEASURES``.
        start: the first iteration, by its number; None: the first of all.
        stop: the last; None: the last of all. Where there is none from ``start`` to ``stop``, all are shown.

    Returns:
        What the bytes mean: rows, columns, the position of the first iteration, ranks and iterations of one cell,
        unit_ns; and the bytes. A cell of several ranks or iterations has the largest value of them.

    Raises:
        BadRequest: there is no such measure.
    """
    unit, cells = _packed(con, measure)
    first, last = con.execute(
        "SELECT min(position), max(position) FROM job_iterations WHERE iteration BETWEEN coalesce(?, iteration) AND "
        "coalesce(?, iteration)",
        (start, stop),
    ).fetchone()
    if first is None:
        first, last = 0, cells.shape[1] - 1
    cells = cells[:, first : last + 1]
    rows, columns = cells.shape
    of_rank, of_iteration = -(-rows // MOST_ROWS) or 1, -(-columns // MOST_COLUMNS) or 1
    if of_rank > 1 or of_iteration > 1:
        known = np.where(cells == UNKNOWN_CELL, -1, cells.astype(np.int64))
        known = np.maximum.reduceat(known, np.arange(0, rows, of_rank), axis=0)
        known = np.maximum.reduceat(known, np.arange(0, columns, of_iteration), axis=1)
        cells = np.where(known < 0, UNKNOWN_CELL, known).astype("<u4")
    shape = {"rows": cells.shape[0], "columns": cells.shape[1], "ranks": of_rank, "iterations": of_iteration}
    return {**shape, "first": first, "unit_ns": unit}, cells.tobytes()


def groups(con: sqlite3.Connection) -> list[dict[str, Any]]:
    """The process groups."""
    result = _rows(con, "SELECT * FROM job_groups ORDER BY id")
    for row in result:
        for name in ("inferred", "believed", "slow"):
            row[name] = bool(row[name])
    return result


def collective_stats(con: sqlite3.Connection) -> list[dict[str, Any]]:
    """Sums over operations of one dimension, kind, size and number of ranks, the longest first."""
    return _rows(con, "SELECT * FROM job_collective_stats ORDER BY id")


def most_delayed_at(con: sqlite3.Connection, rank: int) -> int | None:
    """The id in ``collective_stats`` of what most of a rank's own delay in iterations was seen at; None without any."""
    found = con.execute(
        "SELECT s.id FROM (SELECT group_id, kind, bytes, ranks, sum(own_delay_ns) AS delay_ns FROM job_collectives "
        "WHERE last_rank = ? AND own_delay_ns > 0 AND iteration IS NOT NULL GROUP BY group_id, kind, bytes, ranks) c "
        "JOIN job_groups AS g ON g.id = c.group_id JOIN job_collective_stats AS s ON s.group_kind = g.kind AND "
        "s.kind = c.kind AND s.bytes IS c.bytes AND s.ranks = c.ranks "
        "GROUP BY s.id ORDER BY sum(c.delay_ns) DESC, s.id LIMIT 1",
        (rank,),
    ).fetchone()
    return int(found[0]) if found is not None else None


def pairs(con: sqlite3.Connection, limit: int = _MOST_PAIRS) -> list[dict[str, Any]]:
    """The communication matrix: a row for each two ranks of which one sends to the other, those with most bytes."""
    result = _rows(con, "SELECT * FROM job_pairs ORDER BY slow DESC, bytes DESC, id LIMIT ?", [min(limit, _MOST_PAIRS)])
    for row in result:
        row["directed"], row["slow"] = bool(row["directed"]), bool(row["slow"])
    return sorted(result, key=lambda row: (row["source"], row["destination"]))


def collectives(
    con: sqlite3.Connection,
    limit: int = 100,
    iterations: tuple[int, int] | None = None,
    stats: int | None = None,
    rank: int | None = None,
) -> list[dict[str, Any]]:
    """Operations, the longest wait first.

    Args:
        limit: how many, at most 1,000.
        iterations: only those of the first of these numbers to the last.
        stats: only those that this row of ``collective_stats`` sums up.
        rank: only those at which this rank arrived last.
    """
    conditions: list[str] = []
    values: list[int] = []
    if iterations is not None:
        conditions.append("iteration BETWEEN ? AND ?")
        values += iterations
    if rank is not None:
        conditions.append("last_rank = ?")
        values.append(rank)
    if stats is not None:
        conditions.append(
            "EXISTS (SELECT 1 FROM job_collective_stats AS s JOIN job_groups AS g ON g.kind = s.group_kind WHERE "
            "s.id = ? AND g.id = c.group_id AND s.kind = c.kind AND s.bytes IS c.bytes AND s.ranks = c.ranks)"
        )
        values.append(stats)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    select = f"SELECT {', '.join(f'c.{name}' for name in _COLLECTIVE)} FROM job_collectives AS c {where}"
    return _rows(con, f"{select} ORDER BY c.wait_ns DESC, c.id LIMIT ?", [*values, min(limit, MOST_COLLECTIVES)])


def collective(con: sqlite3.Connection, number: int) -> dict[str, Any]:
    """One operation with its members: rank, wait, and start on the job's common clock.

    Raises:
        NotFound: there is no such operation.
    """
    result = _rows(con, f"SELECT {', '.join(_COLLECTIVE)}, packed FROM job_collectives WHERE id = ?", (number,))
    if not result:
        raise NotFound(f"The job has no operation {number}.")
    columns = unpack_from(con, result[0].pop("packed"), 3)
    members = zip(*(column.tolist() for column in columns), strict=True)
    return {
        **result[0],
        "members": [{"rank": rank, "wait_ns": wait, "start_ns": start} for rank, wait, start in members],
    }


def findings(con: sqlite3.Connection) -> list[dict[str, Any]]:
    """Findings across ranks, the most important first."""
    result = _rows(con, "SELECT * FROM job_findings ORDER BY severity DESC, id")
    for row in result:
        row["evidence"] = json.loads(row["evidence"])
    return result


def distributed(con: sqlite3.Connection, iterations: tuple[int, int] | None = None, top: int = 10) -> dict[str, Any]:
    """All of the answer of ``dlprof distributed``: ranks, groups, verdict, missing, clocks, left_out, findings, ...

    Args:
        iterations: numbers of the ranks in these iterations, from the first to the last, instead of from their first
            to their last GPU work.
        top: how many operations with the longest waits.

    Raises:
        NotFound: no rank has the first, or the last.
    """
    first, last = iterations or (None, None)
    return {
        **answer(con),
        "iteration": first if first == last else None,
        "first_iteration": first,
        "last_iteration": last,
        "ranks": ranks(con, iterations),
        "groups": groups(con),
        "collectives": collective_stats(con),
        "pairs": pairs(con),
        "longest_waits": collectives(con, top, iterations),
        "findings": findings(con),
    }


def measured(values: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """What ``--fail-on`` limits: each measure as ns of an iteration and as a fraction of it; None is unknown.

    Args:
        values: from ``answer``.
    """
    iteration = values["median_iteration_ns"] or None
    fractions = {
        "own_delay": values["own_delay_fraction"],
        "exposed_wait": values["wait_fraction"],
        "exposed_communication": values["exposed_communication_fraction"],
    }
    known = {name: None if iteration is None else fraction for name, fraction in fractions.items()}
    return {
        name: {"fraction": fraction, "ns": None if fraction is None else fraction * iteration}
        for name, fraction in known.items()
    }
