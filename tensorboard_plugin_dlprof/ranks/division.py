"""Which ranks on one stream belong together, where the source has no groups: those whose operations end together.

Nobody else leaves at the same moments. Ranks of other hosts have other clocks, so ends are compared less an offset.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from tensorboard_plugin_dlprof.events.tables import Int64s
from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks import thresholds
from tensorboard_plugin_dlprof.ranks.ends import AGREED_NS, OfMember, ends_of
from tensorboard_plugin_dlprof.ranks.members import Member
from tensorboard_plugin_dlprof.ranks.stage_pairs import pairs_of, with_partners

_MOST = 512
"""Ranks on one stream that may be divided into groups."""

_CLEARLY = 2.0
"""How many times as far as within groups ends are apart between them, in nine of ten operations."""

_LINE_SAMPLES = 10
"""Operations through whose differences a line is drawn: clocks drift by some microseconds in a tenth of a second."""

_RESOLUTION_NS = 500.0
"""Ends that are closer agree."""

_MOST_WAYS = 4
"""Ways to divide a stream that are tried."""

_STEADIER = 4.0
"""How many times as steady as starts ends must be to show who belongs together beside missing ranks."""

_ODDS = 4.0
"""Common logarithm of the odds against chance at which they do."""

GroupKey: TypeAlias = "tuple[str, tuple[int, ...] | str, int]"
"""Name, ranks (or the text of a cut list), size; or a stream where groups are not recorded."""


Gathered: TypeAlias = "dict[tuple[GroupKey, tuple[int, ...] | None], list[OfMember]]"


class _Known(msgspec.Struct, frozen=True):
    """Ranks that are together in a group of another stream, and so have clocks whose offsets are known."""

    offsets_ns: dict[int, int]
    """Of each place of a member, against the first."""
    is_stage: bool
    """Whether there are other such groups, so that these ranks may be of one stage of a pipeline."""


def _stages(known: Sequence[_Known]) -> list[Set[int]]:
    return [each.offsets_ns.keys() for each in known if each.is_stage]


class _Stream(msgspec.Struct, frozen=True):
    """What is on one stream."""

    key: GroupKey
    pair: tuple[int, ...] | None
    of_members: list[OfMember]
    is_sends: bool
    apart_ns: npt.NDArray[np.float64]
    """How far apart the ends of any two are, in nine of ten operations, less a constant. Empty if nobody can tell."""
    offset_ns: npt.NDArray[np.float64]
    """This constant, likewise."""


class _Way(msgspec.Struct, frozen=True):
    """A way to divide a stream."""

    groups: Gathered
    known: list[_Known]
    is_doubtful: bool = False
    """Whether other streams contradict what this one alone tells."""


def divided(gathered: Gathered, members: Sequence[Member], world_size: int) -> Gathered:
    """Streams of several groups, divided into those whose ends agree.

    Where groups are not recorded, ranks that run the same program may use one stream for groups of their own. A stream
    stays whole if all ends agree, or if the ranks do not fall into groups of one size, but for those that are missing.

    Groups of one stream tell how far apart clocks are. Stages of a pipeline are always as late against each other, so
    that they seem to be one group, with clocks that far apart. If another stream contradicts this, so that it cannot be
    divided itself, the next best way to divide one of them is tried.

    Beside missing ranks, any two that are left alone may end together by chance, as their groups run the same program:
    only those that show more stay together.
    """
    sends = {key for key, of_members in gathered.items() if _only_sends(of_members, members)}
    streams = []
    for key, pair in gathered:
        of_members = gathered[key, pair]
        is_sends = (key, pair) in sends
        if is_sends and len(sends) < len(gathered):
            pair = ()  # stages of a pipeline: nobody's partner is its peer
        streams.append(_Stream(key, pair, of_members, is_sends, *_ends_apart(of_members, members)))
    # What is always as late seems to end together, so streams that are clearly divided come first.
    lacking = max(world_size - len(members), 0)
    streams.sort(key=lambda stream: (stream.is_sends, _clusters(stream, [], members, lacking)[0]))
    chosen = _chosen(streams, members, world_size)

    def contradicted(chosen: Sequence[_Way | None]) -> int:
        return sum(
            way.is_doubtful if way else bool(_ways(stream, [], members, world_size))
            for stream, way in zip(streams, chosen, strict=True)
        )

    for turn, place in itertools.product(range(1, _MOST_WAYS), range(len(streams))):
        if not (most := contradicted(chosen)):
            break
        other = _chosen(streams, members, world_size, place, turn)
        chosen = other if contradicted(other) < most else chosen
    by_group: Gathered = {}
    for stream, way in zip(streams, chosen, strict=True):
        by_group.update(way.groups if way else {(stream.key, stream.pair): stream.of_members})
    return by_group


def _chosen(
    streams: Sequence[_Stream], members: Sequence[Member], world_size: int, other: int = -1, turn: int = 0
) -> list[_Way | None]:
    """The best way to divide each stream, by what those before tell; None without one. An ``other`` takes its next."""
    known: list[_Known] = []
    chosen: list[_Way | None] = []
    for place, stream in enumerate(streams):
        ways = _ways(stream, known, members, world_size)[turn if place == other else 0 :]
        chosen.append(ways[0] if ways else None)
        known += ways[0].known if ways else []
    return chosen


def _ways(stream: _Stream, known: Sequence[_Known], members: Sequence[Member], world_size: int) -> list[_Way]:
    """The ways to divide a stream, best first; beside missing ranks, one at most."""
    lacking = max(world_size - len(members), 0)
    agree, ways_of_clusters = _clusters(stream, known, members, lacking)
    if lacking:
        clusters = ways_of_clusters[0] if ways_of_clusters and not agree else []
        return _beside_missing(stream, known, members, world_size, agree, clusters)
    everyone = [list(range(len(stream.of_members)))]
    ways = [_way(stream, everyone, members, world_size)] if agree else []
    pairs = []
    if stream.is_sends and not agree and (not ways_of_clusters or max(map(len, ways_of_clusters[0])) != 2):
        pairs = pairs_of(stream.of_members, members, _stages(known), world_size)
    if pairs:
        ways.append(_Way({((stream.key[0], ranks, len(ranks)), ranks): pair for ranks, pair in pairs}, []))
    # What two stages exchange ends together in all pipelines; others would have to be as late each time.
    is_doubtful = stream.is_sends and not agree and _clusters(stream, [], members, 0)[0]
    for clusters in ways_of_clusters:
        ways.append(replace(_way(stream, clusters, members, world_size), is_doubtful=is_doubtful))
    return ways[:_MOST_WAYS]


def _beside_missing(
    stream: _Stream,
    known: Sequence[_Known],
    members: Sequence[Member],
    world_size: int,
    agree: bool,
    clusters: list[list[int]],
) -> list[_Way]:
    of_members = stream.of_members
    size = max(map(len, clusters), default=0)
    if clusters and not stream.is_sends:
        # Where groups of more ranks are as many at least, each may lack some: which, nobody knows.
        larger = (each for each in range(size + 1, world_size + 1) if world_size % each == 0)
        size = next((each for each in larger if world_size // each >= len(clusters)), size)
    if stream.is_sends and not agree and size != 2:
        pairs = pairs_of(of_members, members, _stages(known), world_size)
        both = [pair_of for _, pair_of in pairs if len(pair_of) == 2]
        if pairs and all(_belong_together(one, other, members) for one, other in both):
            return [_Way({((stream.key[0], ranks, len(ranks)), ranks): pair for ranks, pair in pairs}, [])]
    everyone = list(range(len(of_members)))
    shown_apart = [part for each in clusters or [everyone] for part in _together(each, of_members, members)]
    if not clusters and shown_apart == [everyone]:
        return []
    return [_way(stream, shown_apart, members, world_size, size or world_size)]


def _way(
    stream: _Stream, clusters: Sequence[Sequence[int]], members: Sequence[Member], world_size: int, size: int = 0
) -> _Way:
    size = size or max(map(len, clusters))
    is_whole = len(clusters[0]) == len(stream.of_members)
    ranks_of = [tuple(members[stream.of_members[place].place].rank for place in cluster) for cluster in clusters]
    if stream.is_sends and size == 2:
        ranks_of = with_partners(ranks_of, members, world_size)
    groups: Gathered = {}
    known = []
    for cluster, ranks in zip(clusters, ranks_of, strict=True):
        some = [stream.of_members[place] for place in cluster]
        is_pair = stream.is_sends or stream.pair is not None
        key = stream.key if is_whole else (stream.key[0], ranks, size)
        groups[key, ranks if is_pair and len(ranks) == 2 and not is_whole else stream.pair] = some
        if len(some) > 1:
            first = ends_of(some[0], members)
            offsets = {each.place: int(np.median(ends_of(each, members) - first)) for each in some}
            known.append(_Known(offsets, len(some) < len(members)))
    return _Way(groups, known)


def _together(cluster: Sequence[int], of_members: Sequence[OfMember], members: Sequence[Member]) -> list[list[int]]:
    """The members of a cluster, divided into those that belong together beyond chance."""
    parts: list[list[int]] = []
    for place in cluster:
        for part in parts:
            if _belong_together(of_members[part[0]], of_members[place], members):
                part.append(place)
                break
        else:
            parts.append([place])
    return parts


def _belong_together(one: OfMember, other: OfMember, members: Sequence[Member]) -> bool:
    """Whether ends of two members are so much steadier than their starts that it is no chance.

    Ranks that do not depend on each other end as unsteadily as they start. What is the same in every iteration shows
    nothing: a stage of a pipeline is always as late against another one.
    """
    count = len(one.rows)
    if count != len(other.rows) or not count:
        return False
    tables = [members[each.place].tables.communication for each in (one, other)]
    starts = tables[1].start_ns[other.rows] - tables[0].start_ns[one.rows]
    ends = (ends_of(other, members) - ends_of(one, members))[None, :]
    free = count - 1
    if count >= _LINE_SAMPLES:
        free -= 1
    apart = _without_drift(ends, ends_of(one, members))[0]
    apart = apart - np.median(apart)
    unsteady = starts.astype(np.float64)
    iteration = tables[0].iteration[one.rows]
    begins = np.flatnonzero(np.concatenate([[True], iteration[1:] != iteration[:-1]]))
    position = np.arange(count) - np.repeat(begins, np.diff(np.append(begins, count)))
    for each in np.unique(position).tolist():
        unsteady[position == each] -= np.median(unsteady[position == each])
    free = min(free, count - len(np.unique(position)))
    if free <= 0:
        return False
    ratio = float(np.abs(unsteady).mean()) / max(float(np.abs(apart).mean()), _RESOLUTION_NS)
    return ratio >= _STEADIER and free * float(np.log10(ratio)) >= _ODDS


def _only_sends(of_members: Sequence[OfMember], members: Sequence[Member]) -> bool:
    tables = [(members[each.place].tables.communication, each.rows) for each in of_members]
    return all((table.kind[rows] == Collective.SEND_RECV).all() for table, rows in tables)


def _ends_apart(
    of_members: Sequence[OfMember], members: Sequence[Member]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """How far apart the ends of any two members are, less a constant, and this; empty if nobody can tell."""
    count = len(of_members)
    if count > _MOST or len({len(each.rows) for each in of_members}) > 1 or not len(of_members[0].rows):
        return np.zeros((0, 0)), np.zeros((0, 0))
    ends = np.stack([ends_of(each, members) for each in of_members])
    apart, constant = np.zeros((count, count)), np.zeros((count, count))
    samples = ends.shape[1]
    for row in range(count):
        offset = _without_drift(ends - ends[row], ends[row])
        middle = np.median(offset, axis=1, keepdims=True)
        # What is left of few differences after their middle was taken away is less than they differ.
        apart[row] = np.percentile(np.abs(offset - middle), 90, axis=1) * samples / max(samples - 1, 1)
        constant[row] = np.median(ends - ends[row], axis=1)
    return apart, constant


def _clusters(
    stream: _Stream, known: Sequence[_Known], members: Sequence[Member], lacking: int
) -> tuple[bool, list[list[list[int]]]]:
    """Whether all ends agree; and the ways to make disjoint groups whose ends clearly agree better than with others.

    The clearest is the first. All groups of a way have one size, but for as many as ranks are ``lacking``. Ranks of one
    host have one clock.
    """
    count = len(stream.of_members)
    if not 4 - lacking <= count <= _MOST or count < 2 or not len(stream.apart_ns):
        return False, []
    hosts = np.array([members[each.place].host for each in stream.of_members])
    expected = np.where((hosts[:, None] == hosts) & (hosts != ""), 0.0, np.nan)
    row_of = {each.place: row for row, each in enumerate(stream.of_members)}
    for each in known:
        both = [(row_of[place], offset) for place, offset in each.offsets_ns.items() if place in row_of]
        if both:
            rows, offsets = (np.array(column) for column in zip(*both, strict=True))
            expected[np.ix_(rows, rows)] = offsets - offsets[:, None]
    distances = np.maximum(np.abs(stream.offset_ns - expected) - thresholds.SAME_HOST_NS, 0)
    apart = stream.apart_ns + np.where(np.isnan(expected), 0, distances)
    ways = []
    for groups in _levels(np.maximum(apart, apart.T)):
        sizes = [len(group) for group in groups]
        if max(sizes) < 2 or sum(max(sizes) - size for size in sizes) > lacking:
            continue
        inside = np.zeros((count, count), np.bool_)
        for group in groups:
            inside[np.ix_(group, group)] = True
        clear = float(apart[~inside].min()) / max(float(apart[inside].max()), _RESOLUTION_NS)
        if clear >= _CLEARLY:
            ways.append((clear, groups))
    ways_of_clusters = [groups for _, groups in sorted(ways, key=lambda way: -way[0])]
    if of_hosts := _of_hosts(apart, hosts, lacking):
        ways_of_clusters += [of_hosts] if of_hosts not in ways_of_clusters else []
    return bool(apart.max() <= AGREED_NS), ways_of_clusters


def _of_hosts(apart: npt.NDArray[np.float64], hosts: npt.NDArray[np.str_], lacking: int) -> list[list[int]]:
    """The ranks of each host, if they are groups: one host ends with no other, and all groups have one size."""
    groups = [np.flatnonzero(hosts == host) for host in np.unique(hosts[hosts != ""])]
    sizes = [len(group) for group in groups]
    if (
        len(groups) < 2
        or sum(sizes) < len(hosts)
        or max(sizes) < 2
        or sum(max(sizes) - size for size in sizes) > lacking
    ):
        return []
    if max(float(apart[np.ix_(group, group)].max()) for group in groups) > AGREED_NS:
        return []
    if max(float(apart[np.ix_(group, hosts != hosts[group[0]])].min()) for group in groups) <= AGREED_NS:
        return []
    return [group.tolist() for group in groups]


def _levels(apart: npt.NDArray[np.float64]) -> list[list[list[int]]]:
    """All ways to divide rows so that those of different groups are farther apart than the links within groups."""
    group = {row: [row] for row in range(len(apart))}
    joined = np.array(list(group))
    near, link = apart[0].copy(), np.zeros(len(apart), np.int64)
    left = np.ones(len(apart), np.bool_)
    left[0] = False
    edges = []
    for _ in range(len(apart) - 1):  # Prim's tree: the shortest links that connect all
        row = int(np.where(left, near, np.inf).argmin())
        edges.append((float(near[row]), row, int(link[row])))
        left[row] = False
        closer = apart[row] < near
        near[closer], link[closer] = apart[row][closer], row
    levels = []
    for _, one, other in sorted(edges)[:-1]:
        remaining, gone = int(joined[one]), int(joined[other])
        joined[joined == gone] = remaining
        group[remaining] += group.pop(gone)
        levels.append(sorted(sorted(rows) for rows in group.values()))
    return levels


def _without_drift(apart: Int64s, time: Int64s) -> npt.NDArray[np.float64]:
    """Differences of times without the line through them, if they are many enough for one."""
    if apart.shape[1] < _LINE_SAMPLES:
        return apart.astype(np.float64)
    x = (time - time[0]).astype(np.float64)
    x -= x.mean()
    slope = (apart - apart.mean(1, keepdims=True)) @ x / max(float(x @ x), 1.0)
    return np.asarray(apart - slope[:, None] * x)
