"""Findings across ranks: what to change, only where the match of collectives is believed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorboard_plugin_dlprof.database.rank_rows import ranks_text
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.verdict import Facts, Verdict, short_rank_name
from tensorboard_plugin_dlprof.units import percentage

_STRAGGLER_FRACTION = 0.05
"""Own delay as a fraction of the median iteration from which a rank is called a straggler."""

_EXPOSED_FRACTION = 0.1
"""Exposed transfer as a fraction of the time from which it is told."""

_SMALL_FRACTION = 0.05
"""Transfer of small messages as a fraction of the time of all ranks from which it is told."""

_SMALL_OPERATIONS = 10
"""Small operations of one rank in an iteration from which merging them is advised."""

_EXPERT_IMBALANCE = 1.2
"""Largest by mean share in an all-to-all from which experts are called unbalanced."""

_ADVICE = {
    "slow GPU": "Look at its clocks, temperature, ECC errors and other jobs (nvidia-smi -q), and swap it with another.",
    "more work": "Compare its shapes, sequence lengths and tokens with those of its peers, and distribute them evenly.",
    "the host launches late": "Look at what its host does before it launches: garbage collection, logging, other "
    "processes, a slower processor.",
    "launched work waits": "See which other processes use its GPU (nvidia-smi), and record all of them.",
    "waits for the data loader": "Give its data loader more workers, prefetch, and look at its storage.",
    "copies take longer": "Look at what it copies that its peers do not, and at its link to the host.",
}


def findings_of(
    facts: Facts, verdict: Verdict, cells: Mapping[str, Int64s], stats: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The findings of a job, the most important first."""
    if not verdict.judged:
        return []
    return [*_of_verdict(facts, verdict), *_exposed(cells), *_small(facts, cells, stats), *_experts(stats)]


def _finding(
    rule: str,
    severity: int,
    title: str,
    told: tuple[str, str],
    ranks: Sequence[int],
    gain_ns: int | None,
    evidence: dict[str, Any],
) -> dict[str, Any]:
    """The row of a finding; ``told`` is what it says, and what to do."""
    return {
        "rule": rule,
        "severity": severity,
        "title": title,
        "text": told[0],
        "action": told[1],
        "ranks": ranks_text(sorted(ranks)),
        "gain_ns": gain_ns,
        "evidence": json.dumps(evidence),
    }


def _of_verdict(facts: Facts, verdict: Verdict) -> list[dict[str, Any]]:
    if not verdict.suspects:
        if "Imbalance moves" in verdict.sentence:
            advice = (
                "Sequence lengths, routing to experts and garbage collection are the usual reasons; make them even."
            )
            told = (verdict.sentence, advice)
            return [_finding("imbalance", 2, "Imbalance moves between ranks", told, [], None, {})]
        return []
    first = verdict.suspects[0]
    ranks = [each.rank for each in verdict.suspects]
    gain = first.cost_ns - (verdict.suspects[1].cost_ns if len(ranks) > 1 and verdict.stage is None else 0)
    evidence = {"own_delay_ns": first.own_delay_ns, "share": first.share, "cause": first.cause, "ratio": first.ratio}
    severity = 3 if first.share >= 2 * thresholds.NAMED_FRACTION else 2
    if verdict.stage is not None:
        told = (verdict.finding, "Move layers from it to the other stages.")
        return [_finding("stage_imbalance", severity, "A pipeline stage is slower", told, ranks, gain, evidence)]
    if first.cause == "link":
        advice = "Look at its network or NVLink counters (nvidia-smi nvlink -e, ibstat), and at what shares the link."
        told = (verdict.finding, advice)
        return [_finding("slow_link", severity, "A link is slow", told, ranks, first.cost_ns, evidence)]
    told = (verdict.finding, _ADVICE.get(first.detail, ""))
    if verdict.host:
        title = f"Host {verdict.host} is slow"
        return [_finding("straggler", severity, title, told, ranks, first.cost_ns, evidence)]
    is_large = first.share >= _STRAGGLER_FRACTION
    title = f"{short_rank_name(facts.job, first.rank)} {'is a straggler' if is_large else 'delays the others a little'}"
    return [_finding("straggler", severity, title, told, ranks, max(gain, 0), evidence)]


def _exposed(cells: Mapping[str, Int64s]) -> list[dict[str, Any]]:
    known = cells["duration"] >= 0
    total = int(cells["duration"][known].sum())
    transfer = int(np.maximum(cells["exposed_transfer"][known], 0).sum())
    if not total or transfer < _EXPOSED_FRACTION * total:
        return []
    compute = int(cells["compute"][known].sum())
    overlapped = int(np.maximum(cells["overlapped"][known], 0).sum())
    count = max(int(known.sum()), 1)
    free = max(compute - overlapped, 0)
    gain = min(transfer, free) // count
    text = (
        f"{percentage(transfer / total)} of the time goes into transfers while nothing is computed; "
        f"{percentage(free / total)} is compute with no communication beside it, which could hide "
        f"{'them' if free >= transfer else 'a part of them'}."
    )
    advice = (
        "Overlap them: larger buckets for gradients, prefetching of parameters, and asynchronous collectives on a "
        "stream of their own."
    )
    evidence = {
        "exposed_transfer_ns": transfer // count,
        "compute_ns": compute // count,
        "overlapped_ns": overlapped // count,
    }
    return [_finding("exposed_communication", 2, "Communication is not overlapped", (text, advice), [], gain, evidence)]


def _small(facts: Facts, cells: Mapping[str, Int64s], stats: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    small = [row for row in stats if row["bytes"] is not None and row["bytes"] < thresholds.LATENCY_BOUND_BYTES]
    small = [row for row in small if row["kind"] not in ("barrier", "send_recv")]
    total = int(np.maximum(cells["duration"], 0).sum())
    spent = sum(row["transfer_ns"] * row["ranks"] for row in small)
    operations = sum(row["operations"] * row["ranks"] for row in small)
    each = operations / max(len(facts.job.members) * max(facts.iterations, 1), 1)
    if not total or spent < _SMALL_FRACTION * total or each < _SMALL_OPERATIONS:
        return []
    text = (
        f"Each rank runs {each:.0f} collectives below 1 MiB in an iteration, which take "
        f"{percentage(spent / total)} of the time and are bound by latency."
    )
    advice = "Merge them: flatten small tensors, coalesce, or raise the bucket size."
    evidence = {"operations": each, "transfer_ns": spent // max(facts.iterations * len(facts.job.members), 1)}
    return [_finding("small_collectives", 2, "Many small collectives", (text, advice), [], None, evidence)]


def _experts(stats: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    uneven = [row for row in stats if (row["imbalance"] or 0) >= _EXPERT_IMBALANCE]
    if not uneven:
        return []
    worst = max(uneven, key=lambda row: float(row["imbalance"]))
    text = (
        f"In all-to-alls, the rank with most sends {worst['imbalance']:.2g} times the mean: experts or shards are "
        "unevenly loaded."
    )
    told = (text, "Balance the router (auxiliary loss, capacity), or place the experts anew.")
    return [
        _finding("expert_imbalance", 1, "Ranks exchange uneven parts", told, [], None, {"ratio": worst["imbalance"]})
    ]
