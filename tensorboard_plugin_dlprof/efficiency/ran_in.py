"""The iterations that kernels run in. GPUs run behind the host, often in a later iteration than the launch."""

from __future__ import annotations

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.efficiency.tables import Floats
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.tables import IterationCandidate


class Pieces(msgspec.Struct):
    """The parts of kernels within iterations; what is outside all of them is left out."""

    kernel: Int64s
    """Index into the kernels that were asked for."""
    iteration: Int64s
    """Row of the candidate."""
    share: Floats
    """Of the kernel's duration."""


def ran_in(start_ns: Int64s, end_ns: Int64s, candidate: IterationCandidate) -> Pieces:
    """The kernels, divided where iterations begin and end."""
    if candidate.source == "whole_capture":
        return Pieces(np.arange(len(start_ns)), np.zeros(len(start_ns), np.int64), np.ones(len(start_ns)))
    first = np.searchsorted(candidate.stop_ns, start_ns, side="right")
    last = np.searchsorted(candidate.start_ns, end_ns, side="left") - 1
    count = np.maximum(last - first + 1, 0)
    kernel = np.repeat(np.arange(len(start_ns)), count)
    iteration = np.arange(len(kernel)) + np.repeat(first - (np.cumsum(count) - count), count)
    begin = np.maximum(start_ns[kernel], candidate.start_ns[iteration])
    end = np.minimum(end_ns[kernel], candidate.stop_ns[iteration])
    return Pieces(kernel, iteration, (end - begin) / np.maximum(end_ns - start_ns, 1)[kernel])
