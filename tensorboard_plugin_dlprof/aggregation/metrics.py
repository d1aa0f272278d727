"""Combines metrics of rows: of groups of samples, of chosen rows, of two tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tensorboard_plugin_dlprof.aggregation.grouping import Groups
from tensorboard_plugin_dlprof.aggregation.tables import Metrics, TimeMetrics
from tensorboard_plugin_dlprof.events.tables import Int64s


def no_metrics(size: int) -> Metrics:
    """Of rows without samples."""
    return Metrics(*(np.zeros(size, np.int64) for _ in range(4)))


def no_time_metrics(size: int) -> TimeMetrics:
    """Of rows without samples."""
    return TimeMetrics(*(no_metrics(size) for _ in range(5)))


def time_metrics(groups: Groups, columns: list[Int64s]) -> TimeMetrics:
    """The five metrics of each group of rows."""
    cpu, gpu, api, overhead, idle = (groups.metrics(column) for column in columns)
    return TimeMetrics(cpu, gpu, api, overhead, idle)


def select(metrics: Metrics, rows: Int64s) -> Metrics:
    """Some rows, in the order asked for."""
    return Metrics(metrics.count[rows], metrics.max[rows], metrics.min[rows], metrics.sum[rows])


def select_times(times: TimeMetrics, rows: Int64s) -> TimeMetrics:
    """Some rows, in the order asked for."""
    return TimeMetrics(
        select(times.cpu, rows),
        select(times.gpu, rows),
        select(times.api, rows),
        select(times.cpu_overhead, rows),
        select(times.gpu_idle, rows),
    )


def added(one: Metrics, other: Metrics) -> Metrics:
    """Metrics of the samples of both, for the same rows, each of which has samples in only one of the two."""
    return _made(one, other, np.add)


def added_times(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """Metrics of the samples of both, for the same rows, each of which has samples in only one of the two."""
    return _by_column(one, other, np.add)


def merged_times(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """Metrics of the samples of both, for the same rows, which may have samples in both."""
    return TimeMetrics(
        _merged(one.cpu, other.cpu),
        _merged(one.gpu, other.gpu),
        _merged(one.api, other.api),
        _merged(one.cpu_overhead, other.cpu_overhead),
        _merged(one.gpu_idle, other.gpu_idle),
    )


def _merged(one: Metrics, other: Metrics) -> Metrics:
    in_one, in_other = one.count > 0, other.count > 0
    largest = np.where(in_one & in_other, np.maximum(one.max, other.max), one.max + other.max)
    smallest = np.where(in_one & in_other, np.minimum(one.min, other.min), one.min + other.min)
    return Metrics(one.count + other.count, largest, smallest, one.sum + other.sum)


def appended_times(one: TimeMetrics, other: TimeMetrics) -> TimeMetrics:
    """The rows of both."""
    return _by_column(one, other, lambda first, second: np.concatenate([first, second]))


def _by_column(one: TimeMetrics, other: TimeMetrics, made: Callable[[Int64s, Int64s], Int64s]) -> TimeMetrics:
    return TimeMetrics(
        _made(one.cpu, other.cpu, made),
        _made(one.gpu, other.gpu, made),
        _made(one.api, other.api, made),
        _made(one.cpu_overhead, other.cpu_overhead, made),
        _made(one.gpu_idle, other.gpu_idle, made),
    )


def _made(one: Metrics, other: Metrics, made: Callable[[Int64s, Int64s], Int64s]) -> Metrics:
    return Metrics(
        made(one.count, other.count), made(one.max, other.max), made(one.min, other.min), made(one.sum, other.sum)
    )
