"""From times saved to what an iteration gains."""

from __future__ import annotations

from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Gain
from tensorboard_plugin_dlprof.analysis.wording import percentage


def wall_gain(signals: Signals, low_ns: float, high_ns: float, reasoning: str) -> Gain:
    """Of wall time in all iterations; never more than the iterations are long."""
    low, high = (max(0, min(signals.per_iteration(time), signals.iteration_ns)) for time in (low_ns, high_ns))
    return Gain(min(low, high), max(low, high), reasoning)


def kernel_gain(signals: Signals, low_ns: float, high_ns: float, reasoning: str) -> Gain:
    """Of kernel time (plain sum over all GPUs): where a GPU is often idle, shorter kernels may only make it idler."""
    busy = signals.busy_fraction
    if busy < 0.9:
        reasoning += (
            f" A kernel runs in {percentage(busy)} of the time; of shorter kernels at least that share is taken to "
            "shorten the iteration."
        )
        low_ns *= busy
    return wall_gain(signals, signals.on_gpu(low_ns), signals.on_gpu(high_ns), reasoning)
