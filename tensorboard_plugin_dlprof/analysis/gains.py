"""Converts saved times to the gain of an iteration, and combines the gains of several findings.

The wall time of an iteration is divided into pools: the causes of idle time, copies and collectives during which no
kernel runs, and three kinds of kernels. A finding claims a part of one or more pools. Claims of two findings on the
same pool are not added, because each shortens only what the other leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, Final

from tensorboard_plugin_dlprof.aggregation.tables import Bools
from tensorboard_plugin_dlprof.analysis.signals import Signals
from tensorboard_plugin_dlprof.analysis.tables import Claim, Finding, Gain, Pool
from tensorboard_plugin_dlprof.analysis.thresholds import MIN_GAIN_FRACTION
from tensorboard_plugin_dlprof.diagnosis.headline import limiting
from tensorboard_plugin_dlprof.diagnosis.parts import Part
from tensorboard_plugin_dlprof.units import percentage, short_duration, short_range

MOST_TIMES: Final = 3
"""A gain whose upper end is more than this many times its lower end says too little to be shown."""

_MOST_LOST: Final = 0.5
"""Fraction of kernels' time from which what the host takes back is why they gain nothing."""

_LEAST_KEPT: Final = 0.25
"""Fraction of what kernels save below which it is said beside the problem that the rest is lost."""

_LEAST_LIMIT: Final = 0.02
"""Share of the time below which what the GPU waits for most limits nothing."""

Claims = Mapping[Pool, tuple[float, float]]
"""The least and the most nanoseconds saved in all iterations, by pool."""


def wall_gain(signals: Signals, claims: Claims, reasoning: str) -> Gain:
    """The gain from saving wall time; never more than the length of the iterations."""
    return _gain(signals, {pool: claim for pool, claim in claims.items() if claim[1] > 0}, reasoning)


def about_kernels(
    signals: Signals,
    selected: Bools,
    saved: Claims | None,
    reasoning: str,
    cannot_tell: str = "",
    *,
    fewer: bool = False,
) -> dict[str, Any]:
    """The fields of a finding about kernels: part, time, and gain, or why that cannot be told.

    The gain is that of the GPU with most of the time, and never more than this time. Kernels that run during
    collectives are assumed to gain nothing, because the collectives take their time all the same; so are those after
    which the GPU waits for a host that does not wait for it. Those that are not launched any more gain there what
    the host takes to launch them, but no more than their own time, where launching is what limits; at most that where
    anything else does, which need not be on the thread that launches.

    Args:
        signals: Remembers of which kernels was spoken.
        selected: The aggregated kernels that the finding is about.
        saved: The least and the most kernel time (ns) saved, over all GPUs and iterations; None if it is unknown.
        reasoning: How these were found.
        cannot_tell: Why ``saved`` is unknown, and what to record.
        fewer: Whether as large a share of their launches goes as of their time.
    """
    signals.tell_of(selected)
    time_ns, total = signals.kernel_time(selected), signals.time(selected)
    fields: dict[str, Any] = {"part": "compute", "time_ns": time_ns, "device": signals.gpu_of_most(selected)}
    if saved is None or not total:
        return {**fields, "cannot_tell": cannot_tell}
    share = time_ns * signals.iterations / total
    if signals.overlapping_collectives_fraction >= 0.02:
        share *= 1 - signals.overlapping_collectives_fraction
        reasoning += (
            f" {percentage(signals.overlapping_collectives_fraction)} of the kernels' time is beside collectives, "
            "where shorter kernels are taken to gain nothing."
        )
    lost = float((signals.duration * signals.lost_shares)[selected].sum()) / total
    limit = signals.limit(fields["device"])
    limit_share = signals.part_share(limit, fields["device"])
    claims = {pool: (low * share, high * share) for pool, (low, high) in saved.items()}
    if lost >= 0.02 and limit_share < _LEAST_LIMIT:
        reasoning += (
            f" After {percentage(lost)} of these kernels' time the GPU waits for the host, if only for "
            f"{percentage(limit_share)} of the time: part of what shorter ones save may become idle time."
        )
    elif lost >= 0.02:
        least = MIN_GAIN_FRACTION * signals.wall_ns
        low_ns, all_ns = (sum(ends) for ends in zip(*claims.values(), strict=True))
        shorter = short_range(signals.per_iteration(low_ns), min(signals.per_iteration(all_ns), time_ns))
        limits = limiting(limit)
        kept, launches = 1 - lost, ""
        if fewer and limit is Part.LAUNCHING:
            kept += min(lost, _spared(signals, selected) / total)
            launches = "; those that go gain what the host takes to launch them, if that is less than they take"
        claims = {pool: (low * kept, high * kept) for pool, (low, high) in claims.items()}
        kept_ns = sum(high for _, high in claims.values())
        if all_ns >= least > kept_ns and lost >= _MOST_LOST:
            spared_ns = fewer * _spared(signals, selected) * all_ns / total
            if spared_ns >= least:
                most_ns = signals.per_iteration(spared_ns)
                told = f"at most {short_duration(most_ns)}, which the host takes for "
                told += f"launches that could go; shorter kernels alone gain nothing while {limits}."
                return {**fields, "most_ns": most_ns, "cannot_tell": told}
            return {
                **fields,
                "none_while": limits,
                "cannot_tell": f"none while {limits}: kernels get {shorter} shorter, but the GPU then only waits "
                "longer for the host. Mend that first.",
            }
        reasoning += (
            f" After {percentage(lost)} of these kernels' time the GPU waits for the host, which launches no sooner: "
            f"there shorter ones are taken to gain nothing{launches}."
        )
        if kept_ns < _LEAST_KEPT * all_ns:
            fields["beside"] = f"Kernels get {shorter} shorter, but {limits}."
    elif isnan(lost) and signals.busy_while_active_fraction < 0.9:
        reasoning += (
            f" Kernels run in {percentage(signals.busy_while_active_fraction)} of the time of the iterations: as long "
            "as the host is the limit, part of what kernels save becomes idle time."
        )
    gain = wall_gain(signals, claims, reasoning)
    if MIN_GAIN_FRACTION * signals.iteration_ns <= gain.high_ns and gain.high_ns > MOST_TIMES * gain.low_ns:
        ends = f"between {short_duration(gain.low_ns)} and {short_duration(gain.high_ns)}"
        return {**fields, "cannot_tell": cannot_tell or f"{ends}, which is too wide a range to be of use."}
    return {**fields, "gain": gain}


def _spared(signals: Signals, selected: Bools) -> float:
    """The time (ns) of a host for what it launches before the GPU waits for it, over all iterations."""
    return float((signals.launching_ns * signals.lost_shares)[selected].sum())


def about_span(signals: Signals, selected: Bools, span_ns: float, saved: Claims, reasoning: str) -> dict[str, Any]:
    """``about_kernels`` where the gaps between kernels count, too, and may be most of the time.

    Args:
        signals: The measurements.
        selected: The aggregated kernels.
        span_ns: From the first to the last of them without other kernels, summed over the iterations.
        saved: The least and the most wall time (ns) saved in all iterations.
        reasoning: How these were found.
    """
    signals.tell_of(selected)
    gain = wall_gain(signals, saved, reasoning)
    part = "compute" if 2 * signals.on_gpu(signals.time(selected)) >= span_ns else "launching"
    device = signals.gpu_of_most(selected)
    return {"part": part, "time_ns": signals.per_iteration(span_ns), "device": device, "gain": gain}


def together(signals: Signals, findings: Sequence[Finding]) -> tuple[int, int]:
    """The least and the most nanoseconds of an iteration that all findings gain together.

    Findings in the same area are different ways to the same gain, of which only the best counts. If several areas claim
    the same pool, each saves its share of what the others leave.
    """
    best: dict[tuple[Pool, str], tuple[int, int]] = {}
    for finding in findings:
        for claim in finding.gain.claims if finding.gain is not None else ():
            low, high = best.get((claim.pool, finding.area), (0, 0))
            best[claim.pool, finding.area] = (max(low, claim.low_ns), max(high, claim.high_ns))
    by_pool: dict[Pool, list[tuple[int, int]]] = defaultdict(list)
    for (pool, _), claim_ns in best.items():
        by_pool[pool].append(claim_ns)
    ends = []
    for end in (0, 1):
        total = sum(
            _composed([claim[end] for claim in claims], _size(signals, pool)) for pool, claims in by_pool.items()
        )
        ends.append(min(round(total), signals.iteration_ns))
    return ends[0], ends[1]


def _gain(signals: Signals, claims: Claims, reasoning: str) -> Gain:
    result = []
    for pool, ends in claims.items():
        low, high = (max(0, min(signals.per_iteration(time), signals.iteration_ns)) for time in ends)
        result.append(Claim(pool, min(low, high), max(low, high)))
    low, high = sum(claim.low_ns for claim in result), sum(claim.high_ns for claim in result)
    return Gain(min(low, signals.iteration_ns), min(high, signals.iteration_ns), reasoning, tuple(result))


def _size(signals: Signals, pool: Pool) -> float:
    """Size of a pool in nanoseconds per iteration."""
    return signals.per_iteration(signals.pools[pool])


def _composed(claims: Sequence[int], size: float) -> float:
    """The combined claims on a pool: each is a share of the pool, and saves that share of what is left before it."""
    size = max(size, *claims)
    left = 1.0
    for claim in claims:
        left *= 1 - claim / size if size else 0.0
    return size * (1 - left)
