"""Which link is slow, from transfers alone; and where that cannot be known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from msgspec.structs import replace

from tensorboard_plugin_dlprof.profile.rank_tables import Collective
from tensorboard_plugin_dlprof.ranks.bandwidth import peak_of
from tensorboard_plugin_dlprof.ranks.links import Links, links_of
from tensorboard_plugin_dlprof.ranks.waiting import times_of
from tests.ranks.by_hand import job_of, member, operations

Transfers = Mapping[tuple[int, ...], int]
"""Of each group, in us."""


def judged(hosts: str, transfers: Transfers) -> Links:
    """The links of ranks whose hosts are letters, a space if unknown."""
    job = job_of([member(rank, host.strip()) for rank, host in enumerate(hosts)])
    groups = [
        operations(list(ranks), np.zeros((len(ranks), 3)), np.full((len(ranks), 3), transfer * 1_000))
        for ranks, transfer in transfers.items()
    ]
    return links_of(job, groups, [times_of(group) for group in groups])


@pytest.mark.parametrize(
    ("hosts", "transfers", "ranks", "host"),
    [
        ("aaaa", {(0, 1): 280, (1, 2): 280, (2, 3): 100}, [1], ""),  # the second of four stages
        ("aaa", {(0, 1): 280, (1, 2): 100}, [0], ""),
        ("aabb", {(0, 1): 280, (1, 2): 282, (2, 3): 100}, [1], ""),  # a link between hosts that is as slow
        ("aabb", {(0, 1): 280, (1, 2): 100, (2, 3): 100}, [0], ""),  # one that is as fast as within hosts
        ("abcd", {(0, 1): 100, (2, 3): 280, (0, 2): 101, (1, 3): 280}, [3], ""),
        ("aabbcc", {(0, 1): 100, (2, 3): 280, (4, 5): 100}, [2, 3], ""),  # too few for a host
        ("aaaabbbbcccc", {(0, 1): 9, (2, 3): 9, (4, 5): 28, (6, 7): 28, (8, 9): 9, (10, 11): 9}, [4, 5, 6, 7], "b"),
        ("aaaabbbb", {(0, 1): 9, (2, 3): 9, (4, 5, 6): 28}, None, ""),  # of another size
        ("aab", {(0, 1): 100, (1, 2): 500}, None, ""),  # between hosts: nothing is wrong
        ("aabc", {(0, 1): 100, (1, 2): 500, (2, 3): 500}, None, ""),
        ("aaaa", {(0, 1): 100, (2, 3): 140}, None, ""),
    ],
)
def test_the_rank_or_host_of_all_slow_groups_is_named(
    hosts: str, transfers: Transfers, ranks: list[int] | None, host: str
) -> None:
    """Groups across hosts are slower by nature, so only what is compared fairly names anybody."""
    slow = judged(hosts, transfers).slow
    assert (slow.members if slow else None, slow.host if slow else "") == (ranks, host)


def test_a_host_is_named_only_if_all_of_its_ranks_are_concerned() -> None:
    """One slow group of four ranks says nothing of the four others on their host."""
    groups = {tuple(range(first, first + 4)): 280 if first == 4 else 100 for first in range(0, 16, 4)}
    slow = judged("aaaaaaaabbbbbbbb", groups).slow
    assert slow is not None
    assert (slow.members, slow.host) == ([4, 5, 6, 7], "")


@pytest.mark.parametrize(
    ("host", "least", "ranks"),
    [("a", 100, [0, 1]), ("a", 400, None), ("b", 100, [0, 1]), ("", 100, [0, 1])],
)
def test_a_pair_that_lacks_a_rank_takes_no_longer_than_the_one_that_is_there(
    host: str, least: int, ranks: list[int] | None
) -> None:
    """A receiver waits by design, so that such a pair is no measure of what is usual, but of what is not."""
    job = job_of([member(0, "a"), member(1, "a"), member(2, host)])
    facts = {"pair": True, "kind": np.full(2, int(Collective.SEND_RECV))}
    both = operations([0, 1], np.zeros((2, 2)), np.full((2, 2), 280_000), ranks=(0, 1), **facts)
    alone = operations([2], np.zeros((1, 2)), [[2_000_000, least * 1_000]], ranks=(2, 3), lacks_members=True, **facts)
    links = links_of(job, [both, alone], [times_of(both), times_of(alone)])
    assert (links.slow.members if links.slow else None) == ranks
    assert links.slow_sequences == ({0} if ranks else set())


def test_who_waits_as_long_as_others_for_missing_ranks_has_no_usual_link_for_it() -> None:
    """Of ranks 2 and 3, of which one has a slow link, the other one is in a group that is as fast as any."""
    job = job_of([member(rank, "a") for rank in range(4)])
    groups = [
        operations(ranks, np.zeros((len(ranks), 2)), np.full((len(ranks), 2), 1_000 * took), **facts)
        for ranks, took, facts in (
            ([0, 1], 40, {}),
            ([2, 3], 540, {}),
            *(
                ([rank], took, {"lacks_members": True, "key": (f"{rank}", (rank, rank + 4), 3)})
                for rank, took in enumerate([2_440, 2_450, 450, 2_460])
            ),
        )
    ]
    slow = links_of(job, groups, [times_of(group) for group in groups]).slow
    assert slow is not None
    assert slow.members == [3]
    assert slow.lost_ns >= 2 * 500_000


@pytest.mark.parametrize(
    ("hosts", "transfers", "words"),
    [
        ("aaaa", {(0, 1, 2, 3): 100}, "all ranks are in one group"),
        ("aaa", {(0, 1): 280, (1, 2): 280}, "Slow links of rank 1 could not be told"),  # middle of three stages
        ("aaaa", {(0, 1): 9, (1, 2, 3): 9}, "no two groups"),
        ("aaa", {(0, 1): 9}, "no two groups"),  # rank 2 exchanges with one that is missing
        ("aab", {(0, 1): 100, (1, 2): 500}, "Slow links of ranks 1,2 could not be told"),
        ("aaaa", {(0, 1): 9, (2, 3): 9, (0, 1, 2, 3): 9}, ""),
    ],
)
def test_it_is_said_whose_links_could_not_be_judged(hosts: str, transfers: Transfers, words: str) -> None:
    """The traces of a job in one group are the same, whosever link is slow: nobody may be named."""
    result = judged(hosts, transfers)
    assert result.slow is None
    assert words in result.unjudged
    assert bool(words) == bool(result.unjudged)


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("Tesla V100-SXM2-32GB", 150e9),
        ("Tesla V100-PCIE-16GB", None),
        ("NVIDIA H100 NVL", None),
        ("NVIDIA H800", 200e9),
    ],
)
def test_cards_do_not_have_the_links_of_modules(name: str, peak: float | None) -> None:
    """Nothing is compared with NVLink's peak where there may be none."""
    members = [member(rank, "a") for rank in range(2)]
    job = job_of([replace(each, tables=replace(each.tables, gpu_name=name)) for each in members])
    assert peak_of(job, operations([0, 1], [[0], [0]], [[9], [9]]))[0] == peak
