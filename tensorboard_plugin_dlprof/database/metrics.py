"""Collects the rows of the table ``metric``, each distinct one once."""

from __future__ import annotations

import sqlite3

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import alike
from tensorboard_plugin_dlprof.aggregation.tables import Metrics, TimeMetrics
from tensorboard_plugin_dlprof.columns.rows import insert_rows
from tensorboard_plugin_dlprof.events.tables import Int64s


class MetricTable:
    """Collects metrics, each distinct one once, numbered in the order of first use.

    Args:
        last: largest id in use; new ids follow it.
    """

    def __init__(self, last: int = 0) -> None:
        self._last = last
        self._known: dict[tuple[int, int, int, int], int] = {}

    def ids(self, *columns: Metrics) -> list[Int64s]:
        """The ids of the metrics of a table: one array per column. Ids are assigned row by row, as DLProf does."""
        count, high, low, total = (
            np.stack([getattr(column, field) for column in columns], axis=1).reshape(-1)
            for field in ("count", "max", "min", "sum")
        )
        number, first = alike(count, high, low, total)
        keys = zip(*(column[first].tolist() for column in (count, high, low, total)), strict=True)
        new = np.array([self._known.setdefault(key, self._last + len(self._known) + 1) for key in keys], np.int64)
        ids = new[number].reshape(-1, len(columns))
        return [ids[:, column] for column in range(len(columns))]

    def write(self, con: sqlite3.Connection) -> None:
        """Store all metrics that were collected."""
        insert_rows(
            con,
            "metric",
            ("id", "count", "max", "min", "sum", "avg"),
            (
                (number, count, high, low, total, round(total / count, 6) if count else 0.0)
                for (count, high, low, total), number in self._known.items()
            ),
        )


def time_columns(times: TimeMetrics) -> list[Metrics]:
    """The metrics in the order of the columns of ``node_time_metrics``."""
    return [times.cpu, times.gpu, times.api, times.cpu_overhead, times.gpu_idle]
