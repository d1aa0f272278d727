"""Converts the collected counters of a trace to ``TensorSamples``."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.group import distinct_values, rows_by_value
from tensorboard_plugin_dlprof.events.tables import Int64s, TensorSamples, no_tensor_samples
from tensorboard_plugin_dlprof.importers.kineto_counters import METRIC, CounterRows
from tensorboard_plugin_dlprof.importers.kineto_times import Times, usable_start

WHOLE_PERCENT: Final = 1.0


def tensor_samples(rows: CounterRows, times: Times, middle_us: float) -> TensorSamples:
    """The samples ordered by device and time, each with the time of its end.

    A sample ends where the next one of its GPU begins. The last one, whose end is not recorded, is left out. So are
    values between 0 and 1 percent: they prove nothing, and integers cannot distinguish them from 0.
    """
    end_ns = times.end_ns
    start_us = np.frombuffer(rows.start_us, np.float64)
    found: list[tuple[Int64s, Int64s, Int64s]] = []
    device, metric = np.frombuffer(rows.device, np.int32), np.frombuffer(rows.metric, np.int32)
    value, usable = np.frombuffer(rows.value, np.float64), usable_start(start_us, middle_us)
    samples = np.flatnonzero(usable)
    for number, places in rows_by_value(device[samples]):
        here = samples[places]
        best = min(distinct_values(metric[here]).tolist(), key=lambda each: (not _is_share(rows.metrics[each]), each))
        chosen = here[metric[here] == best]
        chosen = chosen[np.argsort(start_us[chosen], kind="stable")]
        percent = _percent(value[chosen], is_share=_is_share(rows.metrics[best]))
        stop = times.points(start_us[chosen])[1:]
        sound = (percent[:-1] == 0) | ((percent[:-1] >= WHOLE_PERCENT) & (percent[:-1] <= 100))
        ended = np.rint(percent[:-1]).astype(np.int64)[sound]
        found.append((np.full(len(ended), number, np.int64), stop[sound], ended))
    times.end_ns = end_ns  # the profiler goes on sampling after the program has ended
    if not found:
        return no_tensor_samples()
    devices, stops, percents = (np.concatenate(column) for column in zip(*found, strict=True))
    return TensorSamples(devices.astype(np.int32), stops, percents)


def _is_share(metric: str) -> bool:
    found = METRIC.match(metric)
    return found is not None and found["cycles"] is not None


def _percent(value: npt.NDArray[np.float64], *, is_share: bool) -> npt.NDArray[np.float64]:
    """The values in percent of the peak, or of the largest sample if the peak is not known."""
    most = value.max(initial=0.0)
    return value if is_share or not most else value / most * 100
