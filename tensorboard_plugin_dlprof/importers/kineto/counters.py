"""Samples of Tensor Core counters in a PyTorch trace: Kineto's CUPTI PM sampling (since August 2026).

Kineto writes an event for each metric of each sample, with the sample's start::

    {"ph": "C", "cat": "hardware_counters", "name": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
     "pid": "GPU 0 Counters", "tid": 0, "ts": 5123.000, "args": {"": 37.5}}

(``libkineto/src/CuptiPMSamplingProfiler.cpp`` and ``output_json.cpp``; the interval is one millisecond.) The metrics
are those that the user names in ``CUPTI_PM_SAMPLING_METRICS``. Of each GPU, the first one that covers all Tensor Core
work is read: a percentage of the peak, or a count, which is converted to a share of the largest sample.

The older ranges of counters (``cuda_profiler_range``) are recorded in place of kernels; ``counters.kineto_ranges``
reads them as an addition to another profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.columns.empty import empty
from tensorboard_plugin_dlprof.columns.group import rows_by_value
from tensorboard_plugin_dlprof.events.tables import Int64s, TensorSamples
from tensorboard_plugin_dlprof.expressions import Expression
from tensorboard_plugin_dlprof.importers.kineto.events import Event
from tensorboard_plugin_dlprof.importers.kineto.times import Columns

_METRIC: Final = Expression(
    r"(?:sm|smsp)__(?:(?P<cycles>pipe_tensor_cycles_active|inst_executed_pipe_tensor)\.(?:avg|sum)\.pct_of_peak_sustained_"
    r"(?:active|elapsed)|inst_executed_pipe_tensor\.sum|pipe_tensor_cycles_active\.sum)\Z"
)
_GPU: Final = Expression(r"GPU (\d{1,4})\b")

_WHOLE_PERCENT: Final = 1.0


def is_tensor_sample(event: Event, value: object) -> bool:
    """Whether an event of the category is a sample of the Tensor Cores of a GPU, with a usable value."""
    return (
        event.ph == "C"
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
        and value >= 0
        and device_of(event.pid) >= 0
        and _METRIC.match(event.name) is not None
    )


def device_of(process: int | str) -> int:
    """The GPU that samples are of, by the name of their track; -1 if it is no GPU."""
    gpu = _GPU.match(str(process))
    return int(gpu[1]) if gpu else -1


def tensor_samples(columns: Columns, texts: Sequence[str]) -> TensorSamples:
    """The samples ordered by device and time, each with the time of its end.

    A sample ends where the next one of its GPU begins. The last one, whose end is not recorded, is left out. So are
    values between 0 and 1 percent: they prove nothing, and integers cannot distinguish them from 0.
    """
    start_ns, device, metric, value = (columns[name] for name in ("start_ns", "device", "metric", "value"))
    parts: list[tuple[Int64s, Int64s, Int64s]] = []
    for number, here in rows_by_value(device):
        best = min(dict.fromkeys(metric[here].tolist()), key=lambda each: not _is_share(texts[each]))
        rows = here[metric[here] == best]
        rows = rows[np.argsort(start_ns[rows], kind="stable")]
        percent = _percent(value[rows], is_share=_is_share(texts[best]))
        stop = start_ns[rows][1:]
        sound = (percent[:-1] == 0) | ((percent[:-1] >= _WHOLE_PERCENT) & (percent[:-1] <= 100))
        ended = np.rint(percent[:-1]).astype(np.int64)[sound]
        parts.append((np.full(len(ended), number, np.int64), stop[sound], ended))
    if not parts:
        return empty(TensorSamples)
    devices, stops, percents = (np.concatenate(column) for column in zip(*parts, strict=True))
    return TensorSamples(devices.astype(np.int32), stops, percents)


def _is_share(metric: str) -> bool:
    match = _METRIC.match(metric)
    return match is not None and match["cycles"] is not None


def _percent(value: npt.NDArray[np.float64], *, is_share: bool) -> npt.NDArray[np.float64]:
    """The values in percent of the peak, or of the largest sample if the peak is not known."""
    most = value.max(initial=0.0)
    return value if is_share or not most else value / most * 100
