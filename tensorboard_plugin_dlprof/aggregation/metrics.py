"""Combines metrics of rows: of groups of samples, of chosen rows, of two tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups
from tensorboard_plugin_dlprof.aggregation.tables import Metrics, TimeMetrics
from tensorboard_plugin_dlprof.columns.empty import some_rows
from tensorboard_plugin_dlprof.events.tables import Int64s


def no_metrics(size: int) -> Metrics:
    """Of rows without samples."""
    return Metrics(*(np.zeros(size, np.int64) for _ in range(4)))


def no_time_metrics(size: int) -> TimeMetrics:
    """Of rows without samples."""
    return TimeMetrics(*(no_metrics(size) for _ in range(5)))


def time_metrics(groups: Groups, columns: list[Int64s]) -> TimeMetrics:
    """The five metrics of each group of rows."""
    return TimeMetrics(*map(groups.metrics, columns))


def select_times(times: TimeMetrics, rows: Int64s) -> TimeMetrics:
    """Some rows, in the order asked for."""
    return _by_time(lambda metrics: some_rows(metrics, rows), times)


def added(one: Metrics, other: Metrics) -> Metrics:
    """Metrics of the samples of both, for the same rows, each of which has samples in only one of the two."""
    return _by_column(np.add, one, other)


def added_times(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """As ``added``."""
    return _by_time(added, one, other)


def merged_times(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """Metrics of the samples of both, for the same rows, which may have samples in both."""
    return _by_time(_merged, one, other)


def _merged(one: Metrics, other: Metrics) -> Metrics:
    in_both = (one.count > 0) & (other.count > 0)
    largest = np.where(in_both, np.maximum(one.max, other.max), one.max + other.max)
    smallest = np.where(in_both, np.minimum(one.min, other.min), one.min + other.min)
    return Metrics(one.count + other.count, largest, smallest, one.sum + other.sum)


def appended_times(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """The rows of both."""

    def appended(*metrics: Metrics) -> Metrics:
        return _by_column(lambda *columns: np.concatenate(columns), *metrics)

    return _by_time(appended, one, other)


def _by_time(made: Callable[..., Metrics], *times: TimeMetrics) -> TimeMetrics:
    """Each of the five metrics, made of those of some tables."""
    return TimeMetrics(*map(made, *map(msgspec.structs.astuple, times)))


def _by_column(made: Callable[..., Any], *metrics: Metrics) -> Metrics:
    """Each column, made of those of some metrics."""
    return Metrics(*map(made, *map(msgspec.structs.astuple, metrics)))
