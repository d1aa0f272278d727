"""Finds contradictions between the profiles of one run: ranks that occur twice, are impossible or are missing.

Each profile is valid by itself and is imported, so these are warnings. They matter when ranks are compared: a folder
may hold profiles of two jobs, or lack those of one machine.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tensorboard_plugin_dlprof.errors import ProfileError

_MOST_NAMED = 8

_TIME = re.compile(r"\.\d{10,}(?=\.)")
"""When the capture ended, in the names that PyTorch gives: a rank that records several times has several files."""


class Member(NamedTuple):
    """A profile of a run; ``rank`` and ``world_size`` are None if unknown."""

    name: str
    rank: int | None
    world_size: int | None


def warnings_of(databases: Iterable[Path]) -> list[str]:
    """A sentence for each contradiction, run by run. A run is a folder of databases."""
    runs: dict[Path, list[Member]] = defaultdict(list)
    for database in databases:
        member = _member(database)
        if member is not None:
            runs[database.parent].append(member)
    return [
        f"{folder}: {words}"
        for folder, members in runs.items()
        for words in disagreements(members, [other for path, other in runs.items() if path.parent == folder.parent])
    ]


def _member(database: Path) -> Member | None:
    from tensorboard_plugin_dlprof.database.connection import opened_database
    from tensorboard_plugin_dlprof.queries.headline import source_facts

    try:
        with opened_database(database) as connection:
            facts = source_facts(connection)
    except ProfileError:
        return None
    return Member(facts["source_name"] or database.name, facts["rank"], facts["world_size"])


def disagreements(members: Sequence[Member], neighbours: Iterable[Sequence[Member]] = ()) -> list[str]:
    """A sentence for each contradiction between the profiles of one run.

    Args:
        members: the profiles of the run.
        neighbours: those of the folders beside it: hosts that write into folders of their own record one job.
    """
    by_rank: dict[int, dict[str, Member]] = defaultdict(dict)
    by_size: dict[int, Member] = {}
    for member in members:
        if member.world_size is not None and member.world_size > 1:
            by_size.setdefault(member.world_size, member)
        if member.rank is not None:
            by_rank[member.rank].setdefault(_TIME.sub("", member.name), member)
    result = []
    for rank, of_rank in sorted(by_rank.items()):
        if len(of_rank) > 1:
            first, second, *_ = of_rank.values()
            result.append(
                f"{first.name} and {second.name} both have rank {rank}; they may belong to different jobs: "
                "give each job a folder of its own."
            )
    if len(by_size) > 1:
        (size, member), (other_size, other), *_ = sorted(by_size.items())
        result.append(
            f"{member.name} belongs to a job of {size:,} ranks, but {other.name} to one of {other_size:,}; "
            "give each job a folder of its own."
        )
    elif by_size:
        (size,) = by_size
        result += _beyond(members, size)
        missing = set(range(size)).difference(by_rank, *_ranks_of_hosts(neighbours, size, by_rank))
        if len(by_rank) > 1 and missing:
            noun = "rank" if len(missing) == 1 else "ranks"
            result.append(f"the job has {size:,} ranks, but there is no profile of {noun} {_listed(missing)}.")
    return result


def _ranks_of_hosts(neighbours: Iterable[Sequence[Member]], size: int, own: Iterable[int]) -> list[set[int]]:
    """The ranks in each folder that may be of another host of the job: other ranks of as many."""
    ranks = [
        {each.rank for each in members if each.rank is not None and each.world_size == size} for members in neighbours
    ]
    return [each for each in ranks if each.isdisjoint(own)]


def _beyond(members: Sequence[Member], size: int) -> list[str]:
    return [
        f"{member.name} has rank {member.rank:,}, but its job has only ranks 0 to {size - 1:,}; "
        "set the right rank where it is recorded."
        for member in members
        if member.rank is not None and member.rank >= size
    ]


def _listed(numbers: Iterable[int]) -> str:
    """Numbers as ``1, 3 to 5``; only the first spans if there are many."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = [f"{first:,}" if first == last else f"{first:,} to {last:,}" for first, last in spans[:_MOST_NAMED]]
    return ", ".join(words) + (" and more" if len(spans) > _MOST_NAMED else "")
