"""Slow links: groups of ranks whose transfers take much longer than those of groups that do the same.

A link can only be slower than others. Where all ranks are in one group, every rank leaves with the slowest, so traces
are the same whosever link is slow.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.database.rank_rows import ranks_text
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.matching import Operations
from tensorboard_plugin_dlprof.ranks.members import Job
from tensorboard_plugin_dlprof.ranks.waiting import Times


class _Group(msgspec.Struct):
    """The transfers of a group, of one kind and size."""

    sequence: int
    members: set[int]
    """Places of its ranks."""
    hosts: int
    """How many hosts it spans; 0 if unknown."""
    median_ns: float
    least_ns: float
    lacks_members: bool
    """Whether ranks are missing: the shortest duration of those present may have some of the wait for them in it, so
    that only the least of all operations is compared."""
    operations: int
    is_bound: bool = False
    """Whether it is a pair that lacks a rank: a receiver waits by design, so it may take less, but never more."""
    usual_ns: float = 0.0
    """How long such groups take that can be compared with it; 0 if there is none."""
    taken_ns: float = 0.0
    """How long it takes itself, likewise."""
    fastest_ns: float = 0.0
    """How long the fastest of those takes, or of groups across more hosts."""

    @property
    def ratio(self) -> float:
        """How many times as long as usual it takes."""
        return self.taken_ns / self.usual_ns if self.usual_ns else 0.0

    @property
    def longer_ns(self) -> float:
        """By how much."""
        return self.taken_ns - self.usual_ns


class SlowLink(msgspec.Struct, frozen=True):
    """Who has a slow link."""

    members: list[int]
    """Places of the ranks."""
    host: str
    """If it is that of a whole host; else empty."""
    ratio: float
    """How many times as long as usual transfers take."""
    lost_ns: float
    """How much longer all of them took."""


class Links(msgspec.Struct, frozen=True):
    """What transfers say about links."""

    slow_sequences: set[int]
    """Places of the groups of operations that take much longer than those that do the same."""
    slow: SlowLink | None
    unjudged: str
    """Why slow links of some or all ranks could not be told, as a sentence; empty if those of all could."""


def links_of(job: Job, sequences: Sequence[Operations], times: Sequence[Times]) -> Links:
    """Compare the transfers of groups that do the same."""
    classes = _classes(job, sequences, times)
    for groups in classes:
        _compare(groups)
    compared = [group for groups in classes for group in groups if group.usual_ns]
    slow = [group for group in compared if group.ratio >= thresholds.SLOW_LINK]
    certain = {group.sequence for group in slow if not group.lacks_members}
    return Links(certain, _slow_link(job, compared, slow), _unjudged(job, classes))


def _compare(groups: Sequence[_Group]) -> None:
    """Say what is usual for each group of a class: groups across more hosts may take longer, and nothing is wrong.

    Groups that lack ranks are compared with all, but others with them only where there is nothing better. Pairs that
    lack one show nothing but that others are slower.
    """
    bounds = [group.least_ns for group in groups if group.is_bound]
    groups = [group for group in groups if not group.is_bound]
    complete = [group for group in groups if not group.lacks_members]
    _compare_by("median_ns", complete, complete)
    _compare_by("least_ns", [group for group in groups if not group.usual_ns], groups)
    for group in complete:
        # The others may be on other hosts, and be slower for it; nothing is faster.
        is_alone = not group.usual_ns and group.hosts == 1
        if is_alone and bounds and group.least_ns >= thresholds.SLOW_LINK * min(bounds):
            group.taken_ns, group.usual_ns, group.fastest_ns = group.least_ns, min(bounds), min(bounds)


def _compare_by(measure: str, asked: Sequence[_Group], groups: Sequence[_Group]) -> None:
    time = {id(group): float(getattr(group, measure)) for group in groups}
    unclear = []
    for group in asked:
        group.taken_ns = time[id(group)]
        others = [each for each in groups if each is not group]
        fair = [time[id(each)] for each in others if each.hosts == group.hosts]
        fair = fair or [time[id(each)] for each in others if each.hosts > group.hosts]
        if fair:
            group.usual_ns = _lower_median(fair)
            group.fastest_ns = min(time[id(each)] for each in others if each.hosts >= group.hosts)
        elif others:
            unclear.append((group, _lower_median([time[id(each)] for each in others])))
    slow = [group for group in asked if group.ratio >= thresholds.SLOW_LINK]
    for group, narrow_ns in unclear:
        # Where it takes as long as groups of fewer hosts, hosts do not matter: neither if these are fast nor if slow.
        if group.taken_ns < thresholds.USUAL_LINK * narrow_ns:
            group.usual_ns = group.fastest_ns = narrow_ns
        for each in slow:
            if each.taken_ns < thresholds.USUAL_LINK * group.taken_ns < thresholds.USUAL_LINK**2 * each.taken_ns:
                group.usual_ns, group.fastest_ns = each.usual_ns, each.fastest_ns


def _lower_median(values: Sequence[float]) -> float:
    """The upper one may be slow for the same reason: the two links of the second of four stages."""
    return sorted(values)[(len(values) - 1) // 2]


def _classes(job: Job, sequences: Sequence[Operations], times: Sequence[Times]) -> list[list[_Group]]:
    """Groups that do the same, by kind and size."""
    by_class: dict[tuple[int, int, str], list[_Group]] = defaultdict(list)
    for number, (each, of) in enumerate(zip(sequences, times, strict=True)):
        is_bound = each.pair and each.lacks_members
        if not each.grouped or (len(each.members) < 2 and not each.lacks_members):
            continue
        if each.pair and not each.ranks and not is_bound:
            continue  # those that end together may all be receivers, which wait by design
        codes = each.kind << 56 | (each.in_bytes + 1)
        members = set(each.members.tolist())
        hosts = {job.members[place].host for place in members}
        for code in np.unique(codes[each.used]).tolist():
            transfer = of.transfer_ns[each.used & (codes == code)]
            if (median := float(np.median(transfer))) > 0:
                spans = 0 if "" in hosts else len(hosts)
                least, lacks = float(transfer.min()), each.lacks_members
                group = _Group(number, members, spans, median, least, lacks, len(transfer), is_bound)
                by_class[code, each.size, each.stream].append(group)
    return list(by_class.values())


def _slow_link(job: Job, compared: Sequence[_Group], slow: Sequence[_Group]) -> SlowLink | None:
    """The ranks that are in all slow groups and in no usual one, or the host of all ranks of slow groups."""
    certain = [group for group in slow if not group.lacks_members]
    if not certain:
        return None
    longer = float(np.median([group.longer_ns for group in certain]))
    # Where all that lack ranks wait for these, they take equally long, but that is not usual.
    usual = [
        group
        for group in compared
        if group.ratio < thresholds.USUAL_LINK
        and group.longer_ns < thresholds.USUAL_LINK_FRACTION * longer
        and not (group.lacks_members and group.taken_ns >= thresholds.USUAL_LINK * group.fastest_ns)
    ]
    normal = {place for group in usual for place in group.members}
    members = set.intersection(*(group.members for group in certain)) - normal
    narrowed = members.intersection(*(group.members for group in slow if group.members & members))
    members = narrowed or members
    concerned = {place for group in slow for place in group.members} - normal
    host = ""
    hosts = {job.members[place].host for place in concerned}
    if len(members) != 1 and len(hosts) == 1 and len(concerned) > 2:
        of_host = {place for place, member in enumerate(job.members) if member.host in hosts}
        if concerned == of_host and len(of_host) < len(job.members):
            members, host = concerned, hosts.pop()
    if not members:
        return None
    affected = [group for group in compared if group not in usual and members & group.members]
    lost = sum(max(group.longer_ns, 0) * group.operations for group in affected) / (len(affected) if host else 1)
    return SlowLink(sorted(members), host, float(np.median([group.ratio for group in certain])), lost)


def _unjudged(job: Job, classes: Sequence[Sequence[_Group]]) -> str:
    classes = [[group for group in groups if not group.is_bound] for groups in classes]
    everyone = {place for groups in classes for group in groups for place in group.members}
    judged = set()
    for groups in classes:
        for hosts in {group.hosts for group in groups}:
            fair = [group for group in groups if group.hosts >= hosts]
            within = Counter(place for group in fair for place in group.members)
            mine = {place for group in fair if group.hosts == hosts for place in group.members}
            judged |= {place for place in mine if within[place] < len(fair)}
    if not judged:
        is_one_group = all(group.members == everyone for groups in classes for group in groups)
        if 1 < len(everyone) == len(job.members) and is_one_group:
            return "A slow link could not be told, as all ranks are in one group: it slows all of them alike."
        return "Slow links could not be told, as no two groups of ranks do the same."
    ranks = sorted(job.members[place].rank for place in everyone - judged)
    if not ranks:
        return ""
    who = (
        f"rank {ranks[0]} could not be told, as it takes"
        if len(ranks) == 1
        else (f"ranks {ranks_text(ranks)} could not be told, as they take")
    )
    return f"Slow links of {who} part in all that is compared."
