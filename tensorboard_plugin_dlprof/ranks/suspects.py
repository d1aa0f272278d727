"""What a rank costs the others, and what its delay was spent on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.own_delay import Delays
from tensorboard_plugin_dlprof.ranks.own_times import PARTS

if TYPE_CHECKING:
    from tensorboard_plugin_dlprof.ranks.verdict import Facts

CAUSES = ("compute", "host", "input", "copy", "link", "mixed")


class Suspect(msgspec.Struct, frozen=True):
    """A rank that costs time."""

    rank: int
    cause: str
    """One of ``CAUSES``."""
    detail: str
    """``slow GPU``, ``more work``, ...; empty if unknown."""
    own_delay_ns: int
    """Mean of an iteration."""
    cost_ns: int
    """What of it the others waited for while they computed nothing, at most; mean of an iteration."""
    share: float
    """The own delay, of the median iteration."""
    iterations: int
    """Iterations in which it is delayed that much."""
    ratio: float | None = None
    """How many times as long as those of its peers its kernels, or its link's operations, take."""


def per_iteration(facts: Facts, delay_ns: Int64s) -> Int64s:
    """A delay of each operation, summed for each rank in each iteration, by place."""
    sums = np.zeros((len(facts.job.members), max(facts.iterations, 1)), np.int64)
    delays = facts.delays
    # Time in communication that could not be matched may be waiting for others, so nobody is named for it.
    own = delay_ns - np.clip(delays.excess_ns[:, PARTS.index("communication_ns")], 0, delay_ns)
    inside = facts.iteration >= 0
    np.add.at(sums, (delays.member[inside], facts.iteration[inside]), own[inside])
    return sums


def _costs(facts: Facts, cells: Int64s) -> npt.NDArray[np.float64]:
    """What of the delays of each rank in each iteration others waited for, mean of an iteration: behind overlapped
    collectives peers compute while they wait, and the same lag shows at each of them."""
    lost = np.minimum(cells, facts.most_lost_ns) if facts.iterations else cells
    mean: npt.NDArray[np.float64] = lost.sum(1) / cells.shape[1]
    return mean


def suspect_of(facts: Facts, place: int, own: Int64s, often: int) -> Suspect:
    """A rank by its place; ``own`` are the delays of all in each iteration."""
    delays, mean = facts.delays, float(own[place].sum()) / own.shape[1]
    rows = np.flatnonzero((delays.member == place) & (facts.iteration >= 0))
    later = rows[facts.iteration[rows] > 0]
    if 2 * int(delays.fresh_ns[later].sum()) >= int(delays.fresh_ns[rows].sum()):
        # Of a capture's first iteration, what precedes its first operation is unknown: its causes are one-sided.
        rows = later
    # What it spent less on than its peers does not count as a cause; the rest is made to add up to the own delay.
    more = np.maximum(delays.excess_ns[rows], 0)
    excess = (more * (delays.fresh_ns[rows] / np.maximum(more.sum(1), 1))[:, None]).sum(0)
    parts = dict(zip(PARTS, excess.tolist(), strict=True))
    total = max(sum(parts.values()) - parts["communication_ns"], 1)
    idle = parts["input_ns"] + parts["held_ns"] + parts["host_ns"]
    ratio, detail = None, ""
    if parts["compute_ns"] >= thresholds.CAUSE_FRACTION * total:
        cause = "compute"
        detail, ratio = _of_kernels(delays, rows)
    elif parts["copy_ns"] >= thresholds.CAUSE_FRACTION * total:
        cause, detail = "copy", "copies take longer"
    elif idle >= thresholds.CAUSE_FRACTION * total:
        cause, detail = "host", "the host launches late"
        if parts["input_ns"] >= thresholds.CAUSE_FRACTION * idle:
            cause, detail = "input", "waits for the data loader"
        elif parts["held_ns"] >= thresholds.CAUSE_FRACTION * idle:
            detail = "launched work waits"
    else:
        cause = "mixed"
    cost, share = int(_costs(facts, own)[place]), mean / facts.median_iteration_ns
    return Suspect(facts.job.members[place].rank, cause, detail, int(mean), cost, share, often, ratio)


def _of_kernels(delays: Delays, rows: Int64s) -> tuple[str, float | None]:
    """Whether the same kernels take longer, or there are more or larger ones."""
    weights = delays.fresh_ns[rows]
    same = delays.same_kernels[rows]
    own, peers = int(delays.kernel_ns[rows][same].sum()), int(delays.peer_kernel_ns[rows][same].sum())
    if 2 * int(weights[same].sum()) >= int(weights.sum()) and own >= thresholds.SLOWER_KERNELS * peers > 0:
        return "slow GPU", own / peers
    return "more work", None
