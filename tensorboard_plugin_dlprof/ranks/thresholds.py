"""The limits by which ranks are judged, in one place; the page names them in tooltips."""

from __future__ import annotations

BELIEVED_NS = 100_000
BELIEVED_FRACTION = 0.1
"""A match is believed if the ends of its collectives agree: median spread up to the larger of these, the second as a
fraction of the median shortest duration. Right matches agree to some microseconds, wrong ones not to milliseconds."""

SAME_END_NS = 20_000
SAME_END_FRACTION = 0.1
"""Kinds that a rank may leave early (broadcast, send) say something about waiting only where the ends of that one
operation agree so well."""

LATE_NS = 10_000
LATE_FRACTION = 0.05
"""A rank is called late if it arrives later than the next by more than the larger of these, one of the transfer."""

NAMED_FRACTION = 0.03
"""Own delay as a fraction of the median iteration from which a rank is named."""

NAMED_ITERATIONS = 0.5
"""Fraction of the iterations in which it must be delayed so."""

RUNNER_UP_FRACTION = 1 / 3
"""Others are named too if their own delay is at least this fraction of the largest. If that of most of them is, nobody
stands out."""

BEYOND_NOISE = 5.0
FEW_SAMPLES = 7.0
"""A delay is no noise from so many standard deviations on of what ranks differ by anyway; with n samples of this, one
more than the second by n**1.5 times as much, so that with any n as few delays are beyond by chance (Student's t)."""

ENOUGH_ITERATIONS = 5
"""With fewer, what ranks did from the start of the first one to its first operation counts, too, if nobody is named
without it."""

FEW_ITERATIONS = 3
"""Where nobody is named and ranks wait, fewer iterations are said to be too few."""

CAUSE_FRACTION = 0.6
"""A part of own delay that names its cause; without one, the cause is mixed."""

SLOWER_KERNELS = 1.05
"""Ratio of the durations of the same kernels from which a GPU is called slow."""

SLOW_LINK = 1.5
"""Ratio of the median transfer of a group to that of its siblings from which it is slow."""

USUAL_LINK = 1.1
USUAL_LINK_FRACTION = 0.5
"""Below this ratio, and less than this fraction of what slow groups take longer, a group is as fast as its siblings, so
that its members are not to blame. In between, nothing follows."""

STAGE_FRACTION = 0.8
"""A pipeline stage is named if this fraction of its ranks computes so much longer than the ranks of other stages."""

SAME_HOST_NS = 50_000
"""Clocks of one host cannot differ by more: then a clock or a match is wrong."""

UNALIGNED_NS = 1_000_000
"""Residual beyond which times of different hosts are not compared."""

DRIFT_SAMPLES = 20
DRIFT_NS = 1_000_000_000
"""Least samples, and least time from the first to the last, from which the drift of a clock is estimated."""

LATENCY_BOUND_BYTES = 1 << 20
"""Smaller messages take as long as an empty one: their bandwidth says nothing."""

MOST_COLLECTIVES = 1_000_000
COLLECTIVES_BY_WAIT = 200_000
"""Beyond the first number, only the rows of so many with the largest wait are kept; statistics cover all."""
