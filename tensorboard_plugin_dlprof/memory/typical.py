"""The typical iterations in what is said of memory: the moment of the peak, and what a step costs."""

from __future__ import annotations

import numpy as np

from tensorboard_plugin_dlprof.aggregation.selection import Selection, choose_range
from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.events.memory_tables import History
from tensorboard_plugin_dlprof.memory.peak import Peak, peak_of
from tensorboard_plugin_dlprof.profile.tables import Profile


def typical_iterations(profile: Profile) -> Bools:
    """Which iterations are aggregated at first: what takes time in others says little of a step."""
    return choose_range(profile, profile.iterations[0], Selection(typical=True))


def main_peak(profile: Profile, history: History) -> Peak:
    """The peak of a recording, at its first moment in the typical iterations if they reach it: a warm-up that holds no
    more than each step after it is not the place to look at."""
    peak, candidate = peak_of(history), profile.iterations[0]
    if not len(history.time_ns) or candidate.source == "whole_capture":
        return peak
    own = np.flatnonzero(typical_iterations(profile))
    first = int(np.searchsorted(history.time_ns, candidate.start_ns[own[0]], side="left"))
    last = int(np.searchsorted(history.time_ns, candidate.stop_ns[own[-1]], side="left"))
    typical = peak_of(history, first, last + 1)
    return typical if typical.in_use_bytes == peak.in_use_bytes else peak
