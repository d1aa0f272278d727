"""What is said of a job as a whole: verdict, clocks, what is missing and what was left out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.cells import Cells, fraction
from tensorboard_plugin_dlprof.ranks.clocks import Clocks
from tensorboard_plugin_dlprof.ranks.matching import Matches
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.suspects import Suspect
from tensorboard_plugin_dlprof.ranks.verdict import Facts, Verdict
from tensorboard_plugin_dlprof.units import short_duration

_MOST_RANKS_NAMED = 4_096
"""Missing ranks that are listed."""


def answer_of(
    job: Job,
    matches: Matches,
    clocks: Clocks,
    facts: Facts,
    verdict: Verdict,
    cells: Cells,
    warnings: Sequence[str],
    operations: int,
    warm_up: Sequence[int],
) -> dict[str, Any]:
    """The answer of ``dlprof distributed`` without its ranks and groups.

    Args:
        job: the ranks.
        matches: their operations.
        clocks: their clocks.
        facts: what the verdict is drawn from.
        verdict: who costs time.
        cells: the iterations.
        warnings: what is doubtful about the profiles.
        operations: how many are stored.
        warm_up: numbers of the iterations that are left out.
    """
    present = {member.rank for member in job.members}
    # A profile may claim any number of ranks, so no list is made of all.
    absent = (rank for rank in itertools.count() if rank not in present)
    count = max(job.world_size - len(present), 0)
    missing = list(itertools.islice(absent, min(count, _MOST_RANKS_NAMED)))
    first = verdict.suspects[0] if verdict.suspects else None
    of_host = verdict.host != "" and first is not None and first.cause != "link"
    several = verdict.stage is not None or of_host or (first is not None and first.cause == "link")
    alone = first is not None and not (several and len(verdict.suspects) > 1)
    left_out = _left_out(matches, job)
    islands = int(clocks.island.max(initial=-1)) + 1
    hosts = {member.host for member in job.members}
    one_host = len(hosts) == 1 and "" not in hosts
    is_aligned = islands == 1 and (
        one_host if clocks.residual_ns is None else clocks.residual_ns <= thresholds.UNALIGNED_NS
    )
    return {
        "job": job.name,
        "world_size": job.world_size,
        "ranks_present": len(present),
        "knows_ranks": job.knows_ranks,
        "hosts": len(hosts - {""}) if "" not in hosts else None,
        "gpus": sorted({member.tables.gpu_name for member in job.members} - {""}),
        "iterations": len(cells.numbers),
        "warm_up": list(warm_up),
        "median_iteration_ns": facts.median_iteration_ns,
        "wait_fraction": facts.wait_fraction,
        "exposed_communication_fraction": fraction(cells, "exposed_transfer", "exposed_wait", "exposed_unmatched"),
        "own_delay_fraction": _own_fraction(cells, facts, first),
        "dimensions": [{"kind": each.kind, "size": each.size} for each in facts.dimensions],
        "matched_by": matches.how,
        "operations": operations,
        "verdict": {
            "rank": first.rank if first is not None and alone else None,
            "cause": first.cause if first is not None else None,
            "detail": first.detail or None if first is not None else None,
            "own_delay_ns": first.own_delay_ns if first is not None else None,
            "cost_ns": first.cost_ns if first is not None else None,
            "share": first.share if first is not None else None,
            "sentence": verdict.sentence,
            "judged": verdict.judged,
            "unjudged_links": facts.links.unjudged,
            "stage": verdict.stage,
            "host": verdict.host or None,
            "ratio": first.ratio if first is not None else None,
            "runners_up": [
                msgspec.to_builtins(each) for each in verdict.suspects[1:3] if verdict.stage is None and not of_host
            ],
        },
        "missing": {"ranks": missing, "count": count},
        "clocks": {
            "aligned": is_aligned,
            "islands": islands,
            "pairs": clocks.pairs,
            "samples": clocks.samples,
            "residual_ns": clocks.residual_ns,
            "residual_p90_ns": clocks.residual_p90_ns,
            "sentence": _clock_sentence(clocks, islands, is_aligned, len(hosts - {""}) if "" not in hosts else None),
        },
        "left_out": left_out,
        "left_out_texts": [f"{count:,} {_LEFT_OUT[name]}" for name, count in left_out.items() if count],
        "warnings": list(warnings),
    }


_LEFT_OUT = {
    "without_group": "communication kernels that say nothing of their process group (CUDA graphs do not)",
    "missing_ranks": "kernels of groups of which ranks are missing",
    "incomplete": "operations that only some members recorded",
    "inconsistent": "operations whose kind, type or size differs between members",
    "not_paired": "sends and receives whose partners are not recorded",
    "not_believed": "operations of groups whose ends do not agree",
    "not_synchronising": "broadcasts, sends and the like, which ranks may leave early",
    "unknown_type": "operations of an unknown element type, which have no bandwidth",
    "graphs": "CUDA graphs recorded as a whole, which count as compute",
    "fused": "kernels that communicate while they multiply matrices, which count as compute",
}


def _left_out(matches: Matches, job: Job) -> dict[str, int]:
    """How many kernels or operations were left out, by reason."""
    sequences, left_out = matches.sequences, matches.left_out
    return {
        "without_group": left_out.without_group,
        "missing_ranks": left_out.missing_ranks,
        "incomplete": left_out.incomplete,
        "inconsistent": left_out.inconsistent,
        "not_paired": left_out.not_paired,
        "not_believed": sum(len(each.kind) for each in sequences if not each.believed),
        "not_synchronising": sum(int(np.count_nonzero(~each.used)) for each in sequences if each.believed),
        "unknown_type": sum(int(np.count_nonzero((each.elements >= 0) & (each.in_bytes < 0))) for each in sequences),
        "graphs": sum(member.tables.graphs for member in job.members),
        "fused": sum(member.tables.fused for member in job.members),
    }


def _clock_sentence(clocks: Clocks, islands: int, is_aligned: bool, hosts: int | None) -> str:
    if is_aligned and clocks.residual_ns is not None and clocks.residual_p90_ns is not None:
        of = f"{hosts} {'host' if hosts == 1 else 'hosts'}, aligned" if hosts else "aligned"
        residual, p90 = short_duration(clocks.residual_ns), short_duration(clocks.residual_p90_ns)
        beside = "" if residual == p90 else f" (p90 {p90})"
        return f"Clocks: {of} on {clocks.samples:,} collectives, residual {residual}{beside}."
    if is_aligned:
        return "Clocks: 1 host, and so one clock, though no collective suits a check of it."
    if clocks.residual_ns is None or islands == 1:
        return "Clocks: not aligned; times of different hosts cannot be compared."
    return (
        f"Clocks: {islands} islands of ranks that share no collective; times of different islands cannot be compared."
    )


def _own_fraction(cells: Cells, facts: Facts, first: Suspect | None) -> float | None:
    """The largest mean own delay of a rank, or what a slow link or stage costs, by the median iteration."""
    own = cells.measures["own_delay"]
    if not (own >= 0).any() or not facts.median_iteration_ns:
        return None
    mean = np.maximum(own, 0).sum(1) / max(facts.iterations, 1)
    return max(float(mean.max()) / facts.median_iteration_ns, first.share if first is not None else 0.0)
