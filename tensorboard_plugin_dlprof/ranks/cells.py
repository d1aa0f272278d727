"""Measures of ranks in iterations, matched by the numbers of the iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.queries.job import DIVIDED, MEASURES, UNKNOWN_CELL
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.own_delay import Delays
from tensorboard_plugin_dlprof.ranks.waiting import Exposed


class Cells(msgspec.Struct, frozen=True):
    """Measures of ranks in iterations: shape (ranks, iterations); -1 where a rank lacks the iteration."""

    numbers: Int64s
    """Numbers of the iterations, ascending."""
    measures: dict[str, Int64s]


def cells_of(job: Job, exposed: Sequence[Exposed]) -> Cells:
    """All measures but own delay and what it costs, which are unknown until ``own_delay`` is."""
    numbers = np.unique(np.concatenate([member.tables.iterations for member in job.members]))
    cells = {measure: np.full((len(job.members), len(numbers)), -1, np.int64) for measure in MEASURES}
    for row, (member, of) in enumerate(zip(job.members, exposed, strict=True)):
        parts, whole = member.tables.parts, len(member.tables.whole.start_ns)
        at = np.searchsorted(numbers, member.tables.iterations)
        delays_of = {
            "duration": parts.stop_ns - parts.start_ns,
            "compute": parts.compute_ns,
            "exposed_transfer": of.transfer_ns[whole:],
            "exposed_wait": of.wait_ns[whole:],
            "exposed_unmatched": of.unmatched_ns[whole:],
            "copy": parts.exposed_copy_ns,
            "idle": parts.idle_ns,
            "overlapped": parts.communication_ns - parts.exposed_communication_ns,
            **{part: getattr(parts, f"{part}_ns") for part in DIVIDED},
        }
        for measure, values in delays_of.items():
            cells[measure][row, at] = values
    return Cells(numbers, cells)


def positions(job: Job, sequences: Sequence[Operations], delays: Delays, cells: Cells) -> Int64s:
    """Position of the iteration of each delay; -1 outside all of them."""
    position = np.full(len(delays.member), -1, np.int64)
    for number in np.unique(delays.sequence).tolist():
        each = sequences[number]
        rows = np.flatnonzero(delays.sequence == number)
        for row, place in enumerate(each.members.tolist()):
            mine = rows[delays.member[rows] == place]
            if len(mine):
                table = job.members[place].tables.communication
                iteration = table.iteration[each.rows[row, delays.column[mine]]]
                at = np.searchsorted(cells.numbers, iteration)
                position[mine] = np.where(iteration >= 0, at, -1)
    return position


def most_lost(job: Job, waiting: Int64s, unmatched: Int64s) -> Int64s:
    """The most that each rank can cost the others: what any of them waited (ns, the shape of the arguments).

    What others compute while they wait for it is not lost, and the same lag seen at several operations is lost once.
    Communication that could not be matched may be waiting, too; and ranks that are missing may have waited for long.
    """
    if len(job.members) < max(job.world_size, 2):
        return np.full_like(waiting, np.iinfo(np.int64).max)
    lost = np.maximum(waiting, 0) + np.maximum(unmatched, 0)
    second, first = np.sort(lost, axis=0)[-2:]
    result: Int64s = np.where(lost == first, second, first)
    return result


def fraction(cells: Cells, *measures: str) -> float | None:
    """Mean over ranks of measures as a fraction of the time of the iterations."""
    duration = np.maximum(cells.measures["duration"], 0).sum(1)
    spent = sum((np.maximum(cells.measures[name], 0).sum(1) for name in measures), np.zeros(len(duration), np.int64))
    shares = spent[duration > 0] / duration[duration > 0]
    return float(shares.mean()) if len(shares) else None


def packed(measure: str, values: Int64s) -> tuple[str, int, bytes]:
    """A row of ``job_matrix``: measure, unit in ns, and the values in it, with ``UNKNOWN_CELL`` for unknown ones."""
    unit = 1
    while int(values.max(initial=0)) // unit >= UNKNOWN_CELL:
        unit *= 1_000
    known = np.where(values >= 0, (values + unit // 2) // unit, UNKNOWN_CELL)
    return measure, unit, known.astype("<u4").tobytes()


def iteration_rows(job: Job, cells: Cells) -> list[tuple[Any, ...]]:
    """Rows of ``job_iterations``."""
    duration, own = cells.measures["duration"], cells.measures["own_delay"]
    rows = []
    for position, number in enumerate(cells.numbers.tolist()):
        durations = duration[duration[:, position] >= 0, position]
        worst = int(own[:, position].argmax())
        delay = int(own[worst, position])
        rank = job.members[worst].rank if delay > 0 else None
        rows.append(
            (
                *(
                    position,
                    number,
                    len(durations),
                    int(np.median(durations)),
                    int(durations.min()),
                    int(durations.max()),
                ),
                *(delay if delay >= 0 else None, rank),
            )
        )
    return rows
