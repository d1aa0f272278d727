"""What the groups of a job are for: tensor, pipeline, data parallelism, ...; and the coordinates of its ranks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import msgspec
import numpy as np

from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks.division import GroupKey
from tensorboard_plugin_dlprof.ranks.matching import Matches, Operations
from tensorboard_plugin_dlprof.ranks.members import Job

_WORDS = (
    ("ep", r"ep|expert\w*"),
    ("tp", r"tp|tensor\w*"),
    ("pp", r"pp|pipe\w*"),
    ("cp", r"cp|context\w*|sp|sequence\w*"),
    ("dp", r"dp|data\w*|fsdp|hsdp|shard\w*|dp_shard|dp_replicate|replicate\w*"),
)
"""Kinds of parallelism, and the words of descriptions that name them."""

_LARGE_BYTES = 8 << 20
"""Gradients are reduced in messages of this size and more, activations mostly in smaller ones."""


class Group(msgspec.Struct):
    """One process group, or the ranks of one stream where groups are not recorded."""

    key: GroupKey
    name: str
    description: str
    kind: str
    """``tp``, ``pp``, ``dp``, ``ep``, ``cp``, ``world``; empty if unknown."""
    inferred: bool
    ranks: list[int]
    """Those present; for a cut list, those that have it."""
    size: int
    believed: bool
    reason: str
    matched: int
    """Operations."""
    spread_ns: int | None
    sequences: list[int]
    """Places of its groups of operations."""


class Dimension(msgspec.Struct, frozen=True):
    """Disjoint groups of one kind and size that cover all ranks."""

    kind: str
    size: int


def stages_of(job: Job, dimensions: Sequence[Dimension], coordinates: dict[int, tuple[int, ...]]) -> list[int]:
    """The pipeline stage of each rank; if ranks send to each other and stages are unknown, each is one of its own."""
    kinds = [dimension.kind for dimension in dimensions]
    if "pp" in kinds:
        axis = kinds.index("pp")
        return [coordinates[member.rank][axis] for member in job.members]
    sends = any((member.tables.communication.kind == Collective.SEND_RECV).any() for member in job.members)
    return list(range(len(job.members))) if sends else [0] * len(job.members)


def groups_of(job: Job, matches: Matches) -> list[Group]:
    """The groups that are used, with what they are for."""
    by_key: dict[GroupKey, list[int]] = defaultdict(list)
    for number, each in enumerate(matches.sequences):
        by_key[each.key].append(number)
    descriptions = {
        (group.name, group.ranks or group.text, group.size): group.description
        for member in job.members
        for group in member.tables.groups
    }
    groups = []
    for key in dict.fromkeys([*by_key, *matches.left_out.of_groups]):
        numbers = by_key.get(key, [])
        some = [matches.sequences[number] for number in numbers]
        members = sorted({job.members[place].rank for each in some for place in each.members.tolist()})
        wrong = [each for each in some if not each.believed]
        reason = (
            matches.left_out.of_groups.get(key, "") if not some else "; ".join(dict.fromkeys(e.reason for e in wrong))
        )
        text = descriptions.get(key, "")
        kind = described_kind(text)
        spreads = [each.spread_ns for each in some if each.spread_ns >= 0]
        groups.append(
            Group(
                key=key,
                name=key[0],
                description=text,
                kind=kind or _inferred(some),
                inferred=not kind,
                ranks=list(key[1]) if isinstance(key[1], tuple) and key[1] else members,
                size=key[2],
                believed=bool(some) and not wrong,
                reason=reason,
                matched=sum(len(each.kind) for each in some),
                spread_ns=max(spreads, default=None),
                sequences=numbers,
            )
        )
    return sorted(groups, key=lambda group: (group.kind, group.ranks, group.name))


def described_kind(text: str) -> str:
    """What a group's description says it is for; empty if nothing."""
    words = re.sub(r"^(?:mesh_|infer_)+", "", text.strip().lower())
    if words == "default_pg":
        return "world"
    parts = re.split(r"[^a-z]+", words)
    for kind, pattern in _WORDS:
        if any(re.fullmatch(pattern, part) for part in parts):
            return kind
    return ""


def _inferred(sequences: Sequence[Operations]) -> str:
    """What a group without a description is probably for."""
    if not sequences or not sequences[0].grouped:
        return ""
    kinds = set(np.concatenate([each.kind for each in sequences]).tolist())
    if kinds == {Collective.SEND_RECV}:
        return "pp"
    if any(((each.kind == Collective.ALL_TO_ALL) & (each.split > 0)).any() for each in sequences):
        return "ep"
    reducing = kinds & {Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER}
    if not reducing:
        return ""
    sizes = np.concatenate([each.in_bytes[each.kind != Collective.SEND_RECV] for each in sequences])
    if not len(sizes) or (sizes < 0).all():
        return ""
    return "dp" if np.median(sizes[sizes >= 0]) >= _LARGE_BYTES else "tp"


def dimensions_of(job: Job, groups: Sequence[Group]) -> tuple[list[Dimension], dict[int, tuple[int, ...]]]:
    """The dimensions of the job, and the coordinates of each rank in them; both empty if the groups contradict."""
    dimensions: list[Dimension] = []
    places: list[dict[int, int]] = []
    for kind in dict.fromkeys(group.kind for group in groups if group.kind not in ("", "world")):
        sets = sorted({tuple(group.ranks) for group in groups if group.kind == kind})
        sizes = {len(ranks) for ranks in sets}
        members = [rank for ranks in sets for rank in ranks]
        if len(sizes) != 1 or len(set(members)) != len(members) or len(members) != job.world_size:
            continue
        dimensions.append(Dimension(kind, sizes.pop()))
        places.append({rank: place for ranks in sets for place, rank in enumerate(ranks)})
    if not dimensions or int(np.prod([dimension.size for dimension in dimensions])) != job.world_size:
        return [], {}
    coordinates = {rank: tuple(of[rank] for of in places) for rank in range(job.world_size)}
    return (dimensions, coordinates) if len(set(coordinates.values())) == job.world_size else ([], {})
