"""The iterations of a job's warm-up, which means leave out, as they do on the pages of a single rank."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.columns.group import are_among
from tensorboard_plugin_dlprof.diagnosis.windows import find_typical
from tensorboard_plugin_dlprof.profile.rank_tables import RankTables
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.thresholds import FEW_ITERATIONS


def without_warm_up(job: Job) -> tuple[Job, list[int]]:
    """The job without the iterations of its warm-up, by their median length over the ranks, and their numbers.

    None is left out where fewer than ``FEW_ITERATIONS`` would be left. Communication of those that are left out is as
    that outside of iterations.
    """
    of_all = np.concatenate([member.tables.iterations for member in job.members])
    length = np.concatenate([_lengths(member.tables) for member in job.members])
    numbers = np.unique(of_all)
    if len(numbers) <= FEW_ITERATIONS:
        return job, []
    wall_ns = [int(np.median(length[of_all == number])) for number in numbers.tolist()]
    typical = find_typical(wall_ns, [True] * len(wall_ns), [False] * len(wall_ns))
    if "warm_up" not in typical.why or len(numbers) - typical.start < FEW_ITERATIONS:
        return job, []
    left_out = numbers[: typical.start].tolist()
    members = [msgspec.structs.replace(each, tables=_without(each.tables, left_out)) for each in job.members]
    return msgspec.structs.replace(job, members=members), left_out


def _lengths(tables: RankTables) -> np.typing.NDArray[np.int64]:
    return tables.parts.stop_ns - tables.parts.start_ns


def _without(tables: RankTables, numbers: list[int]) -> RankTables:
    stays = ~are_among(tables.iterations, numbers)
    rows = tables.communication
    iteration = np.where(are_among(rows.iteration, numbers), -1, rows.iteration)
    return msgspec.structs.replace(
        tables,
        iterations=tables.iterations[stays],
        parts=some_rows(tables.parts, stays),
        communication=msgspec.structs.replace(rows, iteration=iteration),
    )
