"""A job of many ranks, as pandas DataFrames."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard_plugin_dlprof.database.job_rows import opened_job
from tensorboard_plugin_dlprof.errors import NotFound
from tensorboard_plugin_dlprof.queries import job as queries

if TYPE_CHECKING:
    import pandas as pd


def open_job(path: str | os.PathLike[str]) -> RankJob:
    """Open a job of many ranks.

    Args:
        path: The job's database, or the folder of its ranks' databases, of which the job is made first if they have
            changed (``dlprof import DIR --job`` makes them).

    Raises:
        ProfileError: There is no job, there are several, or it cannot be read.
    """
    from tensorboard_plugin_dlprof.ranks.job_step import make_jobs

    place = Path(path)
    if not place.is_dir():
        return RankJob(place)
    made, _ = make_jobs(place)
    if len(made) > 1:
        names = ", ".join(each.database.name for each in made)
        raise NotFound(f"{place} has {len(made)} captures; name the database of one: {names}.")
    return RankJob(made[0].database)


class RankJob:
    """A job of many ranks. Times are integer nanoseconds, shares from 0 to 1; unknown is missing (``<NA>``)."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self.answer: dict[str, Any] = self._ask("answer")
        """As ``dlprof distributed --format json`` says it, without ranks, groups and collectives."""

    @property
    def verdict(self) -> dict[str, Any]:
        """Who costs time, and why: rank, cause, detail, own_delay_ns, share, sentence, ..."""
        result: dict[str, Any] = self.answer["verdict"]
        return result

    def ranks(self, iteration: int | None = None) -> pd.DataFrame:
        """One row per rank: parts of the time from its first to its last GPU work, or of an iteration."""
        return _frame(self._ask("ranks", None if iteration is None else (iteration, iteration)), "rank")

    def cells(self, measure: str = "own_delay") -> pd.DataFrame:
        """A measure in nanoseconds: a row per rank, a column per iteration.

        Args:
            measure: duration, compute, exposed_transfer, exposed_wait, exposed_unmatched, copy, idle, overlapped,
                own_delay, cost, or a part of compute or idle as ``ranks`` names it: compute_tensor, launching, ...

        Raises:
            BadRequest: There is no such measure.
        """
        import pandas as pd

        values: pd.DataFrame = pd.DataFrame(
            self._ask("matrix", measure),
            index=pd.Index([row["rank"] for row in self._ask("ranks")], name="rank"),
            columns=pd.Index([row["iteration"] for row in self._ask("iterations")], name="iteration"),
        ).astype("Int64")
        known: pd.DataFrame = values.mask(values < 0)
        return known

    def groups(self) -> pd.DataFrame:
        """One row per process group."""
        return _frame(self._ask("groups"), "id")

    def collectives(self) -> pd.DataFrame:
        """Sums over collectives of one dimension, kind, size and number of ranks; bandwidth in bytes a second."""
        return _frame(self._ask("collective_stats"), "id")

    def pairs(self) -> pd.DataFrame:
        """The communication matrix: one row for each two ranks of which one sends to the other, where that is known."""
        return _frame(self._ask("pairs"), "id")

    def findings(self) -> pd.DataFrame:
        """One row per finding across ranks, the most important first."""
        return _frame(self._ask("findings"), "id")

    def __repr__(self) -> str:
        return f"<job of {self.answer['ranks_present']} ranks: {self.verdict['sentence']}>"

    def _ask(self, question: str, *arguments: Any) -> Any:
        with opened_job(self._database) as connection:
            return getattr(queries, question)(connection, *arguments)


def _frame(rows: list[dict[str, Any]], index: str) -> pd.DataFrame:
    import pandas as pd

    columns = list(rows[0]) if rows else [index]
    frame: pd.DataFrame = pd.DataFrame(rows, columns=columns).convert_dtypes().set_index(index)
    return frame
