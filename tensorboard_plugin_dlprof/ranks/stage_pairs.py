"""Which stages of a pipeline exchange what, where the source has no groups: a send and its receive end together."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.ranks.ends import AGREED_NS, OfMember, ends_of
from tensorboard_plugin_dlprof.ranks.members import Member

_MOST, _MOST_SENDS = 64, 1_024
"""Ranks on one stream, and operations of each, that may be divided into pairs."""

_PAIRED = 0.9
"""Fraction of sends and receives whose partner must be found, else nothing is said of any."""


def pairs_of(
    of_members: Sequence[OfMember], members: Sequence[Member], stages: Sequence[Set[int]], world_size: int
) -> list[tuple[tuple[int, ...], list[OfMember]]]:
    """Sends and receives of a pipeline of several stages, divided by who ends with whom; none if that is not clear.

    A rank exchanges with the stage before and the one after it, so its operations are those of several pairs. Stages
    are equally far apart in ranks. What is left of a rank whose neighbours are missing was exchanged with these.

    Args:
        of_members: the members on the stream, and their rows.
        members: all members of the job.
        stages: places of members that are together in a group of another stream, and so belong to one stage.
        world_size: the number of ranks, missing ones included.

    Returns:
        The ranks of each pair, and the rows of those present.
    """
    lacking = max(world_size - len(members), 0)
    if not 3 - lacking <= len(of_members) <= _MOST or max(len(each.rows) for each in of_members) > _MOST_SENDS:
        return []
    ends = [ends_of(each, members) for each in of_members]
    place_of = {members[each.place].rank: place for place, each in enumerate(of_members)}
    present = {member.rank for member in members}
    best: list[tuple[tuple[int, ...], list[OfMember]]] = []
    most = clear = 0
    for distance in range(1, max(place_of) - min(place_of) + 1):
        free = [np.ones(len(each), np.bool_) for each in ends]
        pairs: list[tuple[tuple[int, ...], list[OfMember]]] = []
        candidates = []
        for rank, one in place_of.items():
            other = place_of.get(rank + distance)
            if other is None:
                continue
            both = {of_members[one].place, of_members[other].place}
            if not any(both <= stage for stage in stages):
                host = members[of_members[one].place].host
                has_one_clock = host != "" and host == members[of_members[other].place].host
                candidates.append((not has_one_clock, one, other))
        for has_offset, one, other in sorted(candidates):
            rows, others = np.flatnonzero(free[one]), np.flatnonzero(free[other])
            first, second = ends[one][rows], ends[other][others]
            mine, theirs = _coincide(first, second - (_offset(first, second) if has_offset else 0))
            # Where the clocks' offset is unknown, any one end fits: it is another that shows who ends with whom.
            if len(mine) < 1 + has_offset or 2 * len(mine) < min(len(ends[one]), len(ends[other])):
                continue
            free[one][rows[mine]] = free[other][others[theirs]] = False
            pair = ((of_members[one], rows[mine]), (of_members[other], others[theirs]))
            first_of, second_of = (OfMember(each.place, each.rows[some]) for each, some in pair)
            ranks = members[first_of.place].rank, members[second_of.place].rank
            pairs.append((ranks, [first_of, second_of]))
        paired = sum(2 * len(first_of.rows) for _, (first_of, _) in pairs)
        clear += paired >= _PAIRED * sum(map(len, ends))
        if paired > most:
            best, most = pairs, paired
            for rank, place in place_of.items():
                around = {each for each in (rank - distance, rank + distance) if 0 <= each < world_size}
                if (missing := around - present) and free[place].any():
                    rest = OfMember(of_members[place].place, of_members[place].rows[free[place]])
                    best.append((tuple(sorted({rank, *missing})), [rest]))
    return best if lacking or clear == 1 else []


def with_partners(
    ranks_of: Sequence[tuple[int, ...]], members: Sequence[Member], world_size: int
) -> list[tuple[int, ...]]:
    """Pairs, with the missing partner of ranks that are alone, where it is certain: all pairs are equally far apart."""
    present = {member.rank for member in members}
    distances = {ranks[-1] - ranks[0] for ranks in ranks_of if len(ranks) == 2}
    groups = []
    for ranks in ranks_of:
        around = {ranks[0] + sign * distance for distance in distances for sign in (-1, 1)}
        missing = {each for each in around if 0 <= each < world_size} - present
        alone = len(ranks) == 1 and len(distances) == 1 and len(missing) == 1
        groups.append(tuple(sorted({*ranks, *missing})) if alone else ranks)
    return groups


def _offset(one: Int64s, other: Int64s) -> int:
    """The clock offset at which most ends coincide."""
    if not len(one) or not len(other):
        return 0
    apart = np.sort((other[:, None] - one[None, :]).reshape(-1))
    last = np.searchsorted(apart, apart + AGREED_NS, side="right")
    begin = int((last - np.arange(len(apart))).argmax())
    return int(np.median(apart[begin : last[begin]]))


def _coincide(one: Int64s, other: Int64s) -> tuple[Int64s, Int64s]:
    """Places of ascending times that are the nearest of each other, and agree."""
    if not len(one) or not len(other):
        nothing = np.zeros(0, np.int64)
        return nothing, nothing

    def nearest(times: Int64s, wanted: Int64s) -> Int64s:
        after = np.clip(np.searchsorted(times, wanted), 1, max(len(times) - 1, 1))
        after = np.minimum(after, len(times) - 1)
        before = np.maximum(after - 1, 0)
        return np.where(np.abs(times[before] - wanted) <= np.abs(times[after] - wanted), before, after)

    at = nearest(other, one)
    mutual = (nearest(one, other)[at] == np.arange(len(one))) & (np.abs(other[at] - one) <= AGREED_NS)
    mine = np.flatnonzero(mutual)
    return mine, at[mine]
