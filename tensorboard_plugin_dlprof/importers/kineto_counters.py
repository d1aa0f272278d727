"""Samples of the Tensor Cores in a PyTorch trace: Kineto's CUPTI PM sampling (since August 2026).

Kineto writes an event for each metric of each sample, with the sample's start::

    {"ph": "C", "cat": "hardware_counters", "name": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
     "pid": "GPU 0 Counters", "tid": 0, "ts": 5123.000, "args": {"": 37.5}}

(``libkineto/src/CuptiPMSamplingProfiler.cpp`` and ``output_json.cpp``; the interval is one millisecond.) The metrics
are those that the user names in ``CUPTI_PM_SAMPLING_METRICS``. Read is the first of a GPU's that tells of all Tensor
Core work: a percentage of the peak, or a count, which has no peak and stands as a share of the largest sample.

The older ranges of counters (``cuda_profiler_range``) replace the kernels; ``counters.kineto_ranges`` reads them beside
another profile.
"""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.distinct import distinct_values, rows_by_value
from tensorboard_plugin_dlprof.events.tables import Int64s, TensorSamples, no_tensor_samples
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.importers.kineto_events import Event
from tensorboard_plugin_dlprof.importers.kineto_times import Times, usable_start

_METRIC: Final = Expression(
    r"(?:sm|smsp)__(?:(?P<cycles>pipe_tensor_cycles_active|inst_executed_pipe_tensor)\.(?:avg|sum)\.pct_of_peak_sustained_"
    r"(?:active|elapsed)|inst_executed_pipe_tensor\.sum|pipe_tensor_cycles_active\.sum)\Z"
)
_GPU: Final = Expression(r"GPU (\d{1,4})\b")

WHOLE_PERCENT: Final = 1.0


class CounterRows:
    """Samples of the Tensor Cores' counters."""

    def __init__(self) -> None:
        self.count = 0
        self.device = array("i")
        self.metric = array("i")
        self.start_us = array("d")
        self.value = array("d")
        self.metrics: list[str] = []
        """In the order in which they were met."""

    def add(self, events: list[Event]) -> None:
        """Appends events of the category; those of other metrics are left out without a word."""
        for event in events:
            value, gpu = event.args.value, _GPU.match(str(event.pid))
            if event.ph != "C" or gpu is None or not _METRIC.match(event.name):
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
                continue
            if event.name not in self.metrics:
                self.metrics.append(event.name)
            self.count += 1
            self.device.append(int(gpu[1]))
            self.metric.append(self.metrics.index(event.name))
            self.start_us.append(event.ts)
            self.value.append(value)


def tensor_samples(rows: CounterRows, times: Times, middle_us: float) -> TensorSamples:
    """The samples by device and time, each at its end, as ``TensorSamples`` has them.

    A sample ends where the next of its GPU begins. The last, whose end is not recorded, is left out, and so is what
    lies between zero and a whole percent: it proves nothing, and whole numbers cannot tell it from zero.
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
    times.end_ns = end_ns  # the profiler samples on when the program has ended
    if not found:
        return no_tensor_samples()
    devices, stops, percents = (np.concatenate(column) for column in zip(*found, strict=True))
    return TensorSamples(devices.astype(np.int32), stops, percents)


def _is_share(metric: str) -> bool:
    found = _METRIC.match(metric)
    return found is not None and found["cycles"] is not None


def _percent(value: npt.NDArray[np.float64], *, is_share: bool) -> npt.NDArray[np.float64]:
    """Of the peak; of the largest sample where no peak is told."""
    most = value.max(initial=0.0)
    return value if is_share or not most else value / most * 100
