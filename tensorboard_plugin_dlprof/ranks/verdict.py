"""The verdict: which rank, host, link or stage costs time, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from tensorboard_plugin_dlprof.database.rank_rows import ranks_text
from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.links import Links
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.noise import Comparisons, noise_explains, noise_of_stages
from tensorboard_plugin_dlprof.ranks.own_delay import Delays
from tensorboard_plugin_dlprof.ranks.parallelism import Dimension
from tensorboard_plugin_dlprof.ranks.suspects import Suspect, per_iteration, suspect_of
from tensorboard_plugin_dlprof.units import percentage, short_duration

_HIDDEN = 1.05
"""Own delay by cost, from which a part of it is said to be hidden."""

_MOST_NAMED = 32
"""Ranks that are looked at more closely, those with most delay first."""


class Verdict(msgspec.Struct, frozen=True):
    """The verdict on a job."""

    sentence: str
    suspects: list[Suspect]
    """The first is the one that is named, the others are runners-up; empty if nobody stands out."""
    host: str = ""
    """Of a slow link or of slow ranks, if all of a host are concerned."""
    stage: int | None = None
    """Pipeline stage that takes longer than the others, by its coordinate."""
    judged: bool = True
    """False if nothing could be matched, so that nothing is known."""
    of_share: str = ""
    """What the sentence says of the iteration of the job that is slowed down, and by what share of it."""

    @property
    def finding(self) -> str:
        """The sentence where other shares are told beside it, as of a rank's own iteration."""
        each = " of each iteration" if self.of_share.startswith(" of each ") else ""
        return self.sentence.replace(self.of_share, each) if self.of_share else self.sentence


class Facts(msgspec.Struct, frozen=True):
    """What the verdict is drawn from."""

    job: Job
    sequences: Sequence[Operations]
    links: Links
    delays: Delays
    iteration: Int64s
    """Position of the iteration of each delay among ``iterations``; -1 outside."""
    comparisons: Callable[[Sequence[int]], Comparisons]
    """The comparisons of some ranks and others like them, of which ``delays`` are those above 0."""
    iterations: int
    median_iteration_ns: int
    wait_fraction: float | None
    """Mean exposed wait of ranks as a fraction of their time."""
    unmatched_fraction: float | None
    """Likewise, of communication that could not be matched."""
    dimensions: Sequence[Dimension]
    coordinates: dict[int, tuple[int, ...]]
    compute_ns: Int64s
    """What each rank computes in each iteration: shape (ranks, iterations); below 0 if unknown."""
    most_lost_ns: Int64s
    """Likewise, the most that each can cost the others."""
    whole_iterations: Callable[[], tuple[Delays, Int64s, Comparisons]]
    """Delays of whole iterations, compared within stages of the pipeline, their iterations and comparisons."""
    from_start: Callable[[], tuple[Delays, Int64s, Callable[[Sequence[int]], Comparisons]]]
    """``delays``, ``iteration`` and ``comparisons`` with what ranks did before their first operation, to be asked if
    nobody is named from few iterations."""
    is_of_iterations: bool = False
    """Whether ``delays`` are of whole iterations: too few operations have peers."""
    is_from_start: bool = False
    """Whether ``delays`` are those of ``from_start``."""
    of_iterations: tuple[Delays, Int64s, Comparisons] | None = None
    """Delays of whole iterations, their iterations and comparisons, to be asked if ``delays`` name nobody."""


def judge(facts: Facts) -> Verdict:
    """The verdict on a job."""
    are_matched = any(each.used.any() and len(each.members) > 1 for each in facts.sequences)
    if not are_matched and not facts.is_of_iterations:
        return Verdict(_nothing_matched(facts), [], judged=False)
    verdict = _slow_link(facts)
    if verdict is None:
        verdict = _slow_ranks(facts)
        verdict = _slow_host(facts, verdict) or verdict
    if verdict is None and facts.of_iterations is not None:
        delays, iteration, compared = facts.of_iterations
        whole = replace(
            facts, delays=delays, iteration=iteration, is_of_iterations=True, comparisons=lambda _members: compared
        )
        verdict = _slow_ranks(whole)
    if verdict is None and facts.iterations < thresholds.ENOUGH_ITERATIONS:
        delays, iteration, comparisons = facts.from_start()
        longer = replace(facts, delays=delays, iteration=iteration, comparisons=comparisons)
        verdict = _slow_ranks(replace(longer, is_of_iterations=False, is_from_start=True))
    verdict = verdict or _slow_stage(facts)
    return verdict or Verdict(f"{_nobody(facts)} {facts.links.unjudged}".strip(), [])


def _nothing_matched(facts: Facts) -> str:
    if len(facts.job.members) == 1:
        return "There is a profile of one rank only, so ranks cannot be compared."
    if not any(len(member.tables.communication.start_ns) for member in facts.job.members):
        return "Stragglers cannot be judged: no communication between GPUs was recorded."
    if all(each.lacks_members for each in facts.sequences) and facts.sequences:
        return "Stragglers cannot be judged: ranks are missing in every group that communicates."
    return "Stragglers cannot be judged: the collectives of the ranks present do not match."


def _nobody(facts: Facts) -> str:
    share = "" if facts.wait_fraction is None else f"{100 * facts.wait_fraction:.1f} % of the time"
    wait = share and f"waiting is {share}"
    if 2 * facts.delays.compared < facts.delays.asked:
        # The stages of one pipeline, say: each does work of its own.
        return (
            f"Stragglers cannot be judged: most ranks have no peers that do the same; {wait or 'waiting is unknown'}."
        )
    unmatched = ""
    if facts.unmatched_fraction is not None and facts.unmatched_fraction >= thresholds.NAMED_FRACTION:
        unmatched = f", but {100 * facts.unmatched_fraction:.1f} % is communication that could not be matched"
    has_waits = (facts.wait_fraction or 0.0) >= thresholds.NAMED_FRACTION
    if has_waits and facts.iterations < thresholds.FEW_ITERATIONS:
        recorded = f"{facts.iterations} iteration{'' if facts.iterations == 1 else 's'}"
        most = _most_own_delay(facts)
        return (
            f"Ranks wait {share}{unmatched}{most and f'; {most}'}, but {recorded} cannot tell slow ranks from noise. "
            "Record five or more."
        )
    wait += unmatched
    delayed = int(per_iteration(facts, facts.delays.fresh_ns).sum()) / max(facts.iterations, 1)
    if delayed >= thresholds.NAMED_FRACTION * facts.median_iteration_ns > 0 and len(facts.job.members) > 2:
        leaders = _leaders(facts)
        if leaders.max(initial=0) <= 2 / len(facts.job.members) * facts.iterations:
            return f"Imbalance moves between ranks, and no rank leads: {wait}."
    if any(each.lacks_members for each in facts.sequences):
        return f"No rank stands out as far as is known, as ranks are missing: {wait or 'waiting is unknown'}."
    return f"No rank stands out: {wait}." if wait else "No rank stands out."


def _most_own_delay(facts: Facts) -> str:
    """Which rank has the largest own delay, and how much in an iteration; empty if none has any."""
    mean = per_iteration(facts, facts.delays.own_delay_ns).sum(1) / max(facts.iterations, 1)
    place = int(mean.argmax())
    if mean[place] <= 0:
        return ""
    name = short_rank_name(facts.job, facts.job.members[place].rank)
    return f"{name[:1].lower()}{name[1:]} has the largest own delay ({short_duration(float(mean[place]))})"


def _leaders(facts: Facts) -> Int64s:
    """In how many iterations each rank has the largest own delay."""
    cells = per_iteration(facts, facts.delays.fresh_ns)
    return np.bincount(cells.argmax(0)[cells.max(0) > 0], minlength=len(facts.job.members))


def _slow_ranks(facts: Facts) -> Verdict | None:
    """Ranks are named by what is new in their delays, and told with their whole own delay."""
    median = facts.median_iteration_ns
    if median <= 0:
        return None
    cells = per_iteration(facts, facts.delays.fresh_ns)
    fresh = cells.sum(1) / cells.shape[1]
    often = (cells >= thresholds.NAMED_FRACTION * median).sum(1)
    named = np.flatnonzero(
        (fresh >= thresholds.NAMED_FRACTION * median) & (often >= thresholds.NAMED_ITERATIONS * cells.shape[1])
    )
    if not len(named):
        return None
    named = named[np.argsort(-fresh[named], kind="stable")]
    least = thresholds.RUNNER_UP_FRACTION * fresh[named[0]]
    if _typical(np.delete(fresh, named[0])) >= least:
        return None  # noise delays everybody: the one that it delays most is not far from the others
    named = named[:_MOST_NAMED]
    comparisons = facts.comparisons(named.tolist())
    named = np.array([place for place in named.tolist() if not noise_explains(comparisons, place)], np.int64)
    if not len(named):
        return None
    own = per_iteration(facts, facts.delays.own_delay_ns)
    suspects = {int(place): suspect_of(facts, int(place), own, int(often[place])) for place in named}
    lasting = [suspect for place, suspect in suspects.items() if fresh[place] >= least]
    sentence = _sentence(facts, lasting[0])
    first = lasting[0]
    if not (facts.is_of_iterations or facts.is_from_start) and first.own_delay_ns > _HIDDEN * first.cost_ns:
        sentence += (
            f" Its own delay, counted at each collective, is {short_duration(first.own_delay_ns)}"
            f"{' an iteration' if facts.iterations > 1 else ''}: where the others compute while they wait, it costs "
            "nothing."
        )
    if not (facts.is_of_iterations or facts.is_from_start):
        sentence += _before_the_first(facts, first)
    if facts.is_of_iterations:
        sentence += (
            " Whole iterations were compared, as too few operations have peers that do the same: the own delays of "
            "single operations are only a part of it."
        )
    if facts.is_from_start:
        sentence += (
            " This counts what it did from the start of the first iteration to its first operation, which the own "
            "delays of single operations leave out."
        )
    return Verdict(sentence, lasting, of_share=_of_share(facts, first.cost_ns))


def _before_the_first(facts: Facts, suspect: Suspect) -> str:
    """That others wait for longer in the only iteration than a rank's own delay tells; empty where they do not."""
    (place,) = (place for place, member in enumerate(facts.job.members) if member.rank == suspect.rank)
    waited = int(facts.most_lost_ns[place].sum())
    is_known = len(facts.job.members) >= max(facts.job.world_size, 2)
    if facts.iterations != 1 or not is_known or waited <= _HIDDEN * suspect.own_delay_ns:
        return ""
    more = short_duration(waited - suspect.own_delay_ns)
    return (
        f" Another rank waits {short_duration(waited)} for it: {more} of that are before the first collective and "
        "do not count."
    )


def _typical(values: npt.NDArray[np.float64]) -> float:
    """The lower median: half of the ranks, a stage of two say, may be delayed; 0 without values."""
    return float(np.sort(values)[(len(values) - 1) // 2]) if len(values) else 0.0


def _slow_host(facts: Facts, named: Verdict | None) -> Verdict | None:
    """The host all of whose ranks are slow: those that wait for each other only have no delay at their operations."""
    members = facts.job.members
    by_host: dict[str, list[int]] = defaultdict(list)
    for place, member in enumerate(members):
        by_host[member.host].append(place)
    hosts = {members[place].host for place in _places(facts, named)} if named else {*by_host}
    hosts = {host for host in hosts if len(by_host[host]) > 1}
    has_waits = (facts.wait_fraction or 0.0) >= thresholds.NAMED_FRACTION
    if len(by_host) < 2 or "" in by_host or not hosts or (len(hosts) > 1 and named) or not has_waits:
        return None
    delays, iteration, comparisons = facts.whole_iterations()
    whole = replace(facts, delays=delays, iteration=iteration, is_of_iterations=True)
    cells = per_iteration(whole, delays.fresh_ns)
    mean = cells.sum(1) / cells.shape[1]
    often = (cells >= thresholds.NAMED_FRACTION * facts.median_iteration_ns).sum(1)
    late = (mean >= thresholds.NAMED_FRACTION * facts.median_iteration_ns) & (
        often >= thresholds.NAMED_ITERATIONS * cells.shape[1]
    )
    places = np.flatnonzero(late).tolist()
    slow = {members[place].host for place in places}
    if len(slow) != 1 or not slow <= hosts or places != by_host[(host := slow.pop())]:
        return None
    if any(noise_explains(comparisons, place, places) for place in places):
        return None
    suspects = [suspect_of(whole, place, cells, int(often[place])) for place in places]
    causes = {each.cause for each in suspects}
    details = {each.detail for each in suspects}
    cause = causes.pop() if len(causes) == 1 else "mixed"
    detail = details.pop() if len(details) == 1 else ""
    own, cost = (float(np.mean(each)) for each in zip(*((of.own_delay_ns, of.cost_ns) for of in suspects), strict=True))
    share = own / facts.median_iteration_ns
    suspects = [
        replace(each, cause=cause, detail=detail, own_delay_ns=int(own), cost_ns=int(cost), share=share)
        for each in suspects
    ]
    ratios = [each.ratio for each in suspects if each.ratio is not None]
    reason = {**_OF_HOSTS, "slow GPU": "their kernels run longer than the same kernels elsewhere"}.get(
        detail, _OF_HOSTS[cause]
    )
    if detail == "slow GPU" and ratios:
        reason = f"their kernels run {float(np.median(ratios)):.2g} times as long as the same kernels elsewhere"
    of_share = _of_share(facts, cost)
    sentence = (
        f"Host {host} costs about {short_duration(cost)}{of_share}, with all of its {len(places)} ranks: {reason}. "
        "Whole iterations were compared, as its ranks wait for each other."
    )
    return Verdict(sentence, suspects, host=host, of_share=of_share)


def _places(facts: Facts, verdict: Verdict) -> list[int]:
    named = {each.rank for each in verdict.suspects}
    return [place for place, member in enumerate(facts.job.members) if member.rank in named]


_OF_HOSTS = {
    "compute": "they compute longer than the others",
    "host": "they launch work later than the others",
    "input": "they wait for their data loaders",
    "copy": "their copies take longer than those of the others",
    "mixed": "for several reasons",
}

_REASONS = {
    "compute": "its GPU computes longer than those of its peers",
    "host": "its host launches work later than those of its peers",
    "input": "it waits for its data loader",
    "copy": "its copies take longer than those of its peers",
    "mixed": "for several reasons",
}


def _sentence(facts: Facts, suspect: Suspect) -> str:
    reason = _REASONS[suspect.cause]
    if suspect.detail == "slow GPU" and suspect.ratio:
        reason = f"its kernels run {suspect.ratio:.2g} times as long as the same kernels of its peers"
    elif suspect.detail == "launched work waits":
        reason = "work that its host has launched waits, though nothing that was recorded runs on its GPU"
    elif suspect.detail == "more work":
        reason = "it runs more or larger kernels than its peers"
    return (
        f"{rank_name(facts.job, suspect.rank)} costs about {short_duration(suspect.cost_ns)}"
        f"{_of_share(facts, suspect.cost_ns)}: {reason}."
    )


def _of_share(facts: Facts, cost_ns: float) -> str:
    time = short_duration(facts.median_iteration_ns)
    iteration = f"each {time} iteration" if facts.iterations > 1 else f"the {time} recorded"
    return f" of {iteration} ({percentage(cost_ns / facts.median_iteration_ns)})"


def short_rank_name(job: Job, rank: int) -> str:
    """``Rank 3``; ``Process 4`` where nobody knows the ranks."""
    return f"Rank {rank}" if job.knows_ranks else f"Process {rank + 1}"


def rank_name(job: Job, rank: int) -> str:
    """``Rank 3 (host gpu-03, GPU 1)``, as far as known; the host where there are several."""
    member = next(each for each in job.members if each.rank == rank)
    several = len({each.host for each in job.members}) > 1
    known = [f"host {member.host}"] if member.host and several else []
    known += [f"GPU {member.tables.device}"] if member.tables.device >= 0 else []
    name = short_rank_name(job, rank) + ("" if job.knows_ranks else f" of {len(job.members)}")
    return f"{name} ({', '.join(known)})" if known else name


def _mean(values: Int64s) -> npt.NDArray[np.float64]:
    """Mean over the iterations of each rank; -1 of those without any."""
    known = values >= 0
    sums = np.where(known, values, 0).sum(1)
    return np.where(known.any(1), sums / np.maximum(known.sum(1), 1), -1.0)


def _slow_stage(facts: Facts) -> Verdict | None:
    """The pipeline stage of which nearly all ranks compute longer than those of the others.

    Ranks are compared with others of their stage, so that none of them is delayed.
    """
    kinds = [dimension.kind for dimension in facts.dimensions]
    compute = _mean(facts.compute_ns)
    if "pp" not in kinds or facts.median_iteration_ns <= 0 or (compute < 0).any():
        return None
    axis = kinds.index("pp")
    stages: dict[int, list[int]] = defaultdict(list)
    for place, member in enumerate(facts.job.members):
        stages[facts.coordinates[member.rank][axis]].append(place)
    mean = {stage: float(compute[places].mean()) for stage, places in stages.items()}
    slowest = max(mean, key=lambda stage: mean[stage])
    typical = _typical(np.array([time for stage, time in mean.items() if stage != slowest]))
    longer = compute[stages[slowest]] - typical
    if longer.mean() <= noise_of_stages(facts.compute_ns, list(stages.values()), len(stages[slowest])):
        return None
    least = thresholds.NAMED_FRACTION * facts.median_iteration_ns
    if not typical or longer.mean() < least or (longer >= least).mean() < thresholds.STAGE_FRACTION:
        return None
    of_share = _of_share(facts, float(longer.mean()))
    sentence = (
        f"Pipeline stage {slowest} computes {percentage(mean[slowest] / typical - 1)} longer than the others: "
        f"about {short_duration(int(longer.mean()))}{of_share}."
    )
    suspects = [
        Suspect(
            facts.job.members[place].rank,
            "compute",
            "stage",
            int(time),
            int(time),
            time / facts.median_iteration_ns,
            facts.iterations,
        )
        for place, time in zip(stages[slowest], longer.tolist(), strict=True)
    ]
    return Verdict(sentence, suspects, stage=slowest, of_share=of_share)


def _slow_link(facts: Facts) -> Verdict | None:
    """The ranks or the host with a slow link, if it costs enough."""
    slow = facts.links.slow
    if slow is None:
        return None
    mean = slow.lost_ns / max(facts.iterations, 1)
    share = mean / facts.median_iteration_ns if facts.median_iteration_ns > 0 else 0.0
    if share < thresholds.NAMED_FRACTION:
        return None
    ranks = [facts.job.members[place].rank for place in slow.members]
    if slow.host:
        name = f"host {slow.host}"
    elif len(ranks) > 1:
        name = f"one of the ranks {ranks_text(ranks)}"
    else:
        name = rank_name(facts.job, ranks[0])
        name = name[0].lower() + name[1:]
    of_share = _of_share(facts, mean)
    sentence = (
        f"The link of {name} is slow: its collectives take {slow.ratio:.2g} times as long as those of other groups, "
        f"about {short_duration(mean)}{of_share}."
    )
    suspects = [
        Suspect(rank, "link", "slow link", int(mean), int(mean), share, facts.iterations, slow.ratio) for rank in ranks
    ]
    return Verdict(sentence, suspects, host=slow.host, of_share=of_share)
