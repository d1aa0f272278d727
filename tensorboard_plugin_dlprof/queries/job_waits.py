"""How much of a rank's exposed communication waits for other ranks, as its job knows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from tensorboard_plugin_dlprof.diagnosis.known_waits import with_job_findings, without_waits
from tensorboard_plugin_dlprof.queries import job


def with_known_waits(con: sqlite3.Connection, rank: int, diagnosis: Mapping[str, Any]) -> dict[str, Any]:
    """The diagnosis of a rank with what its job tells: of the gain of hiding communication, and its findings.

    Args:
        diagnosis: as ``diagnosis.as_data.as_data`` returns it.

    Raises:
        NotFound: the job has no such rank.
    """
    typical = diagnosis["typical"]
    left_out = set(typical["left_out"])
    # Where a page cannot draw all iterations, it is not told which were selected, but which are typical.
    positions = diagnosis["mean"]["selected"] or [
        position for position in range(typical["start"], typical["stop"] + 1) if position not in left_out
    ]
    waits = _of_iterations(con, rank, positions, len(diagnosis["iterations"])) if diagnosis["marked"] else None
    told = without_waits(diagnosis, wait_fraction(con, rank) if waits is None else waits)
    return with_job_findings(told, job.findings(con))


def wait_fraction(con: sqlite3.Connection, rank: int) -> float | None:
    """Of a rank's exposed communication in the job's iterations, or of all where none are marked; None if it is
    unknown, or there is none.

    Raises:
        NotFound: the job has no such rank.
    """
    row = job.rank(con, rank)
    return _fraction(row["exposed_wait_ns"], row["exposed_communication_ns"], row["exposed_unmatched_ns"])


_MOST_UNMATCHED = 0.05
"""Share of the exposed communication above which, unmatched, it leaves unknown how much of all is a wait."""


def _fraction(wait: int | None, exposed: int | None, unmatched: int | None) -> float | None:
    if wait is None or not exposed or (unmatched or 0) > _MOST_UNMATCHED * exposed:
        return None
    return wait / exposed


def _of_iterations(con: sqlite3.Connection, rank: int, positions: list[int], count: int) -> float | None:
    """The fraction in some of the rank's iterations; None where the job has others of it, or does not know.

    Args:
        positions: of the iterations, among those of the rank.
        count: how many the rank has; 0 if that is not known.
    """
    exposed = job.exposed_of(con, rank)
    columns = zip(*(exposed[f"exposed_{part}_ns"] for part in ("wait", "transfer", "unmatched")), strict=True)
    had = [values for values in columns if any(value is not None for value in values)]
    warm_up = len(job.answer(con)["warm_up"])
    had = [(None,) * 3] * warm_up + had
    if not positions or (count and len(had) != count) or max(positions) >= len(had):
        return None
    selected = [had[position] for position in positions]
    if any(None in values for values in selected):
        return None
    wait, transfer, unmatched = map(sum, zip(*selected, strict=True))
    return _fraction(wait, wait + transfer + unmatched, unmatched)
