"""Aligns the clocks of ranks by the ends of collectives, which no rank can leave before the others.

Only pairs of ranks that share operations are compared; the pairs with the smallest spread make a tree, along which
offsets add up. A median per rank over all its groups would be wrong: most groups stay within a host.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.units import short_duration

_MOST_POINTS = 101
"""Samples of which the drift is computed, pair by pair."""

_MEASURED, _STREAM, _SAME_HOST, _PAIRED, _DOUBTFUL = range(5)
"""Why a pair is believed, best first: operations that synchronise; what shares a stream, where groups are not recorded;
one clock; sends and receives; operations that scatter, or that contradict the clock of a host."""


class Clocks(msgspec.Struct):
    """Offsets of the ranks' clocks, by place in ``Job.members``."""

    offset_ns: Int64s
    """Against the first rank of the island."""
    drift: npt.NDArray[np.float64]
    """Nanoseconds per nanosecond since ``origin_ns``."""
    origin_ns: int
    island: Int64s
    """Ranks of one island can be compared by time."""
    pairs: int
    samples: int
    warnings: list[str]
    residual_ns: int | None = None
    """Median distance of aligned ends from their median; None without samples."""
    residual_p90_ns: int | None = None

    def aligned(self, members: Int64s, time: Int64s) -> Int64s:
        """Times on the first rank's clock.

        Args:
            members: places of n members.
            time: of each member, shape (n, k).
        """
        aligned = time - self.offset_ns[members][:, None]
        drift = self.drift[members]
        if drift.any():
            aligned = aligned - np.rint((time - self.origin_ns) * drift[:, None]).astype(np.int64)
        return aligned


class _Edge(msgspec.Struct, order=True):
    kind: int
    spread_ns: float
    negative_samples: int
    first: int
    second: int
    offset_ns: int
    drift: float


def align(job: Job, sequences: Sequence[Operations]) -> Clocks:
    """Align the clocks of a job's ranks."""
    count = len(job.members)
    origin = min((int(each.end_ns.min()) for each in sequences), default=0)
    edges = [*_measured(job, sequences, origin), *_same_host(job)]
    parent = np.arange(count)

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = int(parent[place])
        return place

    neighbours: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    samples = 0
    for edge in sorted(edges):
        one, other = root(edge.first), root(edge.second)
        if one != other:
            parent[one] = other
            neighbours[edge.first].append((edge.second, edge.offset_ns, edge.drift))
            neighbours[edge.second].append((edge.first, -edge.offset_ns, -edge.drift))
            samples -= edge.negative_samples
    offset, drift, island = np.zeros(count, np.int64), np.zeros(count), np.full(count, -1, np.int64)
    islands = 0
    for start in range(count):
        if island[start] >= 0:
            continue
        island[start], todo = islands, [start]
        while todo:
            place = todo.pop()
            for other, apart, faster in neighbours[place]:
                if island[other] < 0:
                    island[other] = islands
                    offset[other], drift[other] = offset[place] + apart, drift[place] + faster
                    todo.append(other)
        islands += 1
    pairs = sum(edge.kind in (_MEASURED, _STREAM) for edge in edges)
    clocks = Clocks(offset, drift, origin, island, pairs, samples, [])
    _check_hosts(job, clocks)
    return clocks


def _measured(job: Job, sequences: Sequence[Operations], origin: int) -> list[_Edge]:
    """An edge for each pair of the first member of a group and another that share operations."""
    samples: dict[tuple[int, int, int], list[tuple[Int64s, Int64s]]] = defaultdict(list)
    for each in sequences:
        kind, is_used = _MEASURED, each.synchronises
        if not each.grouped:
            kind = _DOUBTFUL if _contradicts_hosts(job, each) else _STREAM
            is_used = np.ones(len(each.kind), np.bool_)
        elif not is_used.any():
            if not (each.kind == Collective.SEND_RECV).all():
                continue
            kind, is_used = _PAIRED, np.ones(len(each.kind), np.bool_)
        first = int(each.members[0])
        for row in range(1, len(each.members)):
            apart = each.end_ns[row, is_used] - each.end_ns[0, is_used]
            samples[kind, first, int(each.members[row])].append((each.end_ns[0, is_used], apart))
    edges = []
    for (kind, first, second), differences in samples.items():
        time = np.concatenate([times for times, _ in differences])
        apart = np.concatenate([values for _, values in differences])
        middle = float(np.median(apart))
        spread = float(np.median(np.abs(apart - middle)))
        drift = _drift(time - origin, apart, spread)
        if drift:
            level = apart - (time - origin) * drift
            middle = float(np.median(level))
            spread = float(np.median(np.abs(level - middle)))
        if spread > thresholds.BELIEVED_NS:
            kind = _DOUBTFUL
        edges.append(_Edge(kind, spread, -len(apart), first, second, int(middle), drift))
    return edges


def _contradicts_hosts(job: Job, each: Operations) -> bool:
    """Whether ends of a group are too far apart for members of one host: then these are not the same operations.

    Stages of a pipeline are apart by as much in each iteration, so that their ends do not scatter.
    """
    apart = np.median(each.end_ns - each.end_ns[0], axis=1)
    of_host: dict[str, list[float]] = defaultdict(list)
    for place, offset in zip(each.members.tolist(), apart.tolist(), strict=True):
        if job.members[place].host:
            of_host[job.members[place].host].append(offset)
    return any(max(offsets) - min(offsets) > thresholds.SAME_HOST_NS for offsets in of_host.values())


def _drift(time: Int64s, apart: Int64s, spread: float) -> float:
    """The slope by Theil and Sen, if it halves the spread; else 0."""
    if len(time) < thresholds.DRIFT_SAMPLES or time.max() - time.min() < thresholds.DRIFT_NS:
        return 0.0
    order = np.argsort(time)
    order = order[np.linspace(0, len(order) - 1, min(len(order), _MOST_POINTS)).astype(np.int64)]
    x, y = time[order].astype(np.float64), apart[order].astype(np.float64)
    one, other = np.triu_indices(len(x), 1)
    far = x[other] > x[one]
    slope = float(np.median((y[other] - y[one])[far] / (x[other] - x[one])[far]))
    level = apart - time * slope
    return slope if np.median(np.abs(level - np.median(level))) <= spread / 2 else 0.0


def _same_host(job: Job) -> list[_Edge]:
    """An edge between neighbours of one host, which have one clock."""
    by_host: dict[str, list[int]] = defaultdict(list)
    for place, member in enumerate(job.members):
        if member.host:
            by_host[member.host].append(place)
    return [
        _Edge(_SAME_HOST, 0.0, 0, one, other, 0, 0.0)
        for places in by_host.values()
        for one, other in itertools.pairwise(places)
    ]


def _check_hosts(job: Job, clocks: Clocks) -> None:
    """Set back offsets that one host cannot have, and say so."""
    by_host: dict[str, list[int]] = defaultdict(list)
    for place, member in enumerate(job.members):
        if member.host:
            by_host[member.host].append(place)
    for host, places in by_host.items():
        usual = int(np.median(clocks.offset_ns[places]))
        for place in places:
            apart = int(clocks.offset_ns[place]) - usual
            if abs(apart) > thresholds.SAME_HOST_NS:
                clocks.offset_ns[place] = usual
                clocks.warnings.append(
                    f"The clock or the match of rank {job.members[place].rank} is wrong: it differs by "
                    f"{short_duration(abs(apart))} from the others of {host}, which have the same clock."
                )


def believe(sequences: Sequence[Operations], clocks: Clocks) -> None:
    """Decide for each group whether its match is believed, and of which operations waiting is known."""
    for each in sequences:
        aligned = clocks.aligned(each.members, each.end_ns)
        apart = aligned.max(0) - aligned.min(0)
        shortest = (each.end_ns - each.start_ns).min(0)
        telling = each.synchronises | (each.kind == Collective.SEND_RECV)
        if not telling.any():
            telling[:] = True
        each.spread_ns = _upper_median(apart[telling])
        limit = max(thresholds.BELIEVED_NS, thresholds.BELIEVED_FRACTION * _upper_median(shortest[telling]))
        each.believed = each.spread_ns <= limit
        if not each.believed:
            each.reason = f"ends differ by {short_duration(each.spread_ns)}"
        agree = apart <= np.maximum(thresholds.SAME_END_NS, thresholds.SAME_END_FRACTION * shortest)
        each.used = (each.synchronises | agree) & each.believed


def measure_residual(sequences: Sequence[Operations], clocks: Clocks) -> None:
    """How far aligned ends still are from their median."""
    residuals = [np.zeros(0)]
    for each in sequences:
        is_used = each.synchronises & each.believed
        if is_used.any():
            aligned = clocks.aligned(each.members, each.end_ns[:, is_used]).astype(np.float64)
            residuals.append(np.abs(aligned - np.median(aligned, axis=0)).reshape(-1))
    distances = np.concatenate(residuals)
    if len(distances):
        clocks.residual_ns = int(np.median(distances))
        clocks.residual_p90_ns = int(np.percentile(distances, 90))


def _upper_median(values: Int64s) -> int:
    return int(np.sort(values)[len(values) // 2])
