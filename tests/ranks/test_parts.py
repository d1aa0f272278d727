"""Modules of the job step alone, on operations made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tensorboard_plugin_dlprof.profile.rank_tables import Collective, Parts
from tensorboard_plugin_dlprof.ranks.clocks import align
from tensorboard_plugin_dlprof.ranks.division import Gathered, divided
from tensorboard_plugin_dlprof.ranks.ends import OfMember
from tensorboard_plugin_dlprof.ranks.own_delay import delays_of_iterations, own_delays
from tensorboard_plugin_dlprof.ranks.own_times import PARTS
from tensorboard_plugin_dlprof.ranks.waiting import times_of
from tests.ranks.by_hand import job_of, member, operations


def test_a_wrong_match_of_a_stream_does_not_set_clocks() -> None:
    """Stages of a pipeline that share a stream are apart by as much in each iteration; one host has one clock."""
    job = job_of([member(rank, host) for rank, host in enumerate("aabb")])
    true_ends = np.array([[10, 20, 30, 40]]) * 1_000_000
    ahead = np.array([[0], [0], [7_000], [7_000]])
    tensor = [operations([0, 1], true_ends + ahead[:2] - 50_000, true_ends + ahead[:2])]
    tensor += [operations([2, 3], true_ends + ahead[2:] - 50_000, true_ends + ahead[2:])]
    data = operations([1, 2], true_ends + ahead[1:3] - 50_000, true_ends + ahead[1:3])
    lag = np.array([[0], [3_000_000], [6_000_000], [9_000_000]])
    wrong = operations(
        [0, 1, 2, 3], true_ends + lag - 50_000, true_ends + lag, grouped=False, stream="1", number=np.arange(4)
    )
    clocks = align(job, [wrong, *tensor, data])
    assert clocks.offset_ns.tolist() == [0, 0, 7_000, 7_000]
    assert not clocks.warnings


def test_a_lag_that_is_carried_over_is_told_from_a_new_one() -> None:
    """A peer that computes while it waits is ahead when it is released: the same lag delays every operation."""
    ends = np.array([1_000, 2_000, 3_000, 4_000])
    late = ends - 100
    early = late - 300
    first = member(0, start_ns=late, end_ns=ends)
    # The peer computes while it waits, so that it is as much ahead at each operation.
    second = member(1, start_ns=early, end_ns=ends, overlap_start_ns=early, overlap_stop_ns=late)
    each = operations([0, 1], np.stack([late, early]), np.stack([ends, ends]))
    delays = own_delays(job_of([first, second]), [each], [times_of(each)])
    assert delays.member.tolist() == [0, 0, 0]
    assert delays.own_delay_ns.tolist() == [300, 300, 300]
    assert delays.fresh_ns.tolist() == [0, 0, 0]
    assert (delays.asked, delays.compared) == (3, 3)


def test_a_peer_that_had_run_ahead_operations_ago_waits_in_the_queue() -> None:
    """Nothing is left to compute for it, so it is as early at the last operation, and this is no new lag."""
    late, early = np.array([1_200, 1_700, 2_200, 2_700]), np.array([500, 1_550, 2_050, 2_550])
    ends = late + 350
    done, more = np.array([1, 2, 3, 4]), np.array([1, 3, 4, 4])
    first = member(0, start_ns=late, end_ns=ends, kernels_before=done, kernel_ns_before=500 * done)
    busy = {"overlap_start_ns": np.array([500, 1_550]), "overlap_stop_ns": np.array([1_500, 2_000])}
    second = member(1, start_ns=early, end_ns=ends, kernels_before=more, kernel_ns_before=500 * more, **busy)
    each = operations([0, 1], np.stack([late, early]), np.stack([ends, ends]))
    delays = own_delays(job_of([first, second]), [each], [times_of(each)])
    assert delays.own_delay_ns.tolist() == [150, 150, 150]
    assert delays.fresh_ns.tolist() == [0, 0, 0]


def test_hosts_are_groups_if_one_of_them_ends_with_no_other() -> None:
    """Two operations say little of ranks whose clocks are unknown, but all groups have one size."""
    ends = {"a": [1_000, 3_502], "b": [7_000, 9_503], "c": [4_000, 7_226]}
    members = [member(rank, host, end_ns=np.array(ends[host]) * 1_000) for rank, host in enumerate("aabbcc")]
    key = ("stream 0", "", 6)
    gathered: Gathered = {(key, None): [OfMember(place, np.arange(2)) for place in range(6)]}
    result = divided(gathered, members, 6)
    assert sorted(ranks for (_, ranks, _), _ in result) == [(0, 1), (2, 3), (4, 5)]
    together = members[:4]  # the intervals of both hosts are the same
    assert list(divided({(key, None): gathered[key, None][:4]}, together, 4)) == [(key, None)]


def test_groups_may_lack_ranks_if_as_many_larger_ones_are_possible() -> None:
    """Two pairs of six ranks may be two groups of three; three pairs of eight can be nothing else."""
    steps = np.arange(6) * np.array([[1_000], [1_100], [1_270]]) * 1_000
    for world, pairs, size in ((6, 2, 3), (8, 3, 2)):
        members = [member(rank, end_ns=steps[rank // 2]) for rank in range(2 * pairs)]
        gathered: Gathered = {
            (("stream 0", "", world), None): [OfMember(place, np.arange(6)) for place in range(len(members))]
        }
        assert {key[2] for key, _ in divided(gathered, members, world)} == {size}


def test_groups_are_told_apart_by_clocks_that_drift() -> None:
    """By ten microseconds and more in the whole recording: as much as the ends of the two groups differ."""
    steps = np.arange(14) * 5_000_000
    jitter = np.array([0, 13_000, -9_000, 4_000, 11_000, -12_000, 6_000] * 2)
    members = []
    for rank in range(4):
        ends = steps + (jitter if rank < 2 else 0)
        members.append(member(rank, f"host{rank}", end_ns=ends + np.rint(300e-6 * rank * ends).astype(np.int64)))
    gathered: Gathered = {(("stream 0", "", 4), None): [OfMember(place, np.arange(14)) for place in range(4)]}
    assert {key[1] for key, _ in divided(gathered, members, 4)} == {(0, 1), (2, 3)}


@pytest.mark.parametrize(
    ("host", "starts", "ends", "together"),
    [
        ("", [0], [5_000], False),
        ("a", [0], [5_000], False),  # both may wait for others that are released by one operation
        ("a", [0, 40_000, 70_000, 20_000, 90_000, 5_000], [5_000] * 6, True),
        ("", [0, 40_000, 70_000, 20_000, 90_000, 5_000], [7_000_000] * 6, True),
        ("", [0, 3_000, 1_000, 4_000, 2_000, 0], [5_000, 7_000, 6_000, 8_000, 6_000, 5_000], False),  # as its starts
        ("", [0, 40_000] * 3, [5_000] * 6, False),  # as in every other iteration: its stage is as late always
    ],
)
@pytest.mark.parametrize("kind", [Collective.SEND_RECV, Collective.ALL_REDUCE])
def test_ends_that_agree_by_chance_say_nothing_beside_missing_ranks(
    kind: Collective, host: str, starts: list[int], ends: list[int], together: bool
) -> None:
    """Two ranks of many: they belong together only if their ends are much steadier than their starts."""
    count, steps = len(starts), np.arange(len(starts)) * 5_000_000
    place = np.arange(count) % 2 if starts[:2] * 3 == starts else np.zeros(count, np.int64)
    members = [
        member(
            rank,
            host,
            start_ns=steps + late,
            end_ns=steps + 300_000 + end,
            kind=np.full(count, int(kind)),
            iteration=np.arange(count) - place,
        )
        for rank, (late, end) in enumerate([(np.array(starts), np.array(ends)), (0, 0)])
    ]
    key = ("stream 0", "", 128)
    gathered: Gathered = {(key, None): [OfMember(place, np.arange(count)) for place in range(2)]}
    largest = max(len(of_members) for of_members in divided(gathered, members, 128).values())
    assert largest == (2 if together else 1)


def test_stages_are_paired_by_the_clocks_of_ranks_that_are_together_elsewhere() -> None:
    """Ends of all four agree up to a clock each, but not with the clocks that the groups of the other stream tell."""
    steps = np.array([0, 2_012, 4_000, 6_005]) * 1_000
    drawn = np.array([0, 2_003, 4_011, 5_998]) * 1_000
    clocks = [3_000_000, 9_000_000, 5_000_000, 1_000_000]
    slow = [0, 400_000, 0, 400_000]
    members = [
        member(
            rank,
            f"host{rank}",
            end_ns=clocks[rank] + np.concatenate([steps if rank < 2 else drawn, steps + 10_000 + slow[rank]]),
            kind=np.repeat([int(Collective.ALL_REDUCE), int(Collective.SEND_RECV)], 4),
        )
        for rank in range(4)
    ]
    gathered: Gathered = {
        ((f"stream {number}", "", 4), None): [
            OfMember(place, np.arange(4 * number, 4 * number + 4)) for place in range(4)
        ]
        for number in range(2)
    }
    result = {key[:2] for key, _ in divided(gathered, members, 4)}
    assert result == {("stream 0", (0, 1)), ("stream 0", (2, 3)), ("stream 1", (0, 2)), ("stream 1", (1, 3))}


def test_what_is_computed_while_a_missing_rank_may_be_waited_for_is_no_delay() -> None:
    """Nobody knows when the operation released its members, so that all of it may be waiting."""
    starts, ends = np.array([[0, 100], [0, 100], [0, 1_000]]), np.array([[100, 200], [100, 200], [1_000, 1_100]])
    members = [
        member(
            rank,
            start_ns=start,
            end_ns=end,
            iteration=np.array([-1, 0]),
            compute_ns_before=start,
            overlap_start_ns=start[:1],
            overlap_stop_ns=end[:1],
        )
        for rank, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]
    whole = operations([0, 1], starts[:2], ends[:2])
    lacking = operations([2], starts[2:], ends[2:], lacks_members=True, key=("2", (2, 3), 2))
    job, sequences = job_of(members), [whole, lacking]
    delays = own_delays(job, sequences, [times_of(each) for each in sequences])
    assert delays.own_delay_ns.tolist() == [900]
    assert delays.excess_ns[0, PARTS.index("communication_ns")] >= 900
    # In whole iterations, what each computes counts, at whatever time: all of them do the same.
    same = Parts(*(np.full(1, 1_000) for _ in Parts.__struct_fields__))
    members = [
        replace(each, tables=replace(each.tables, iterations=np.zeros(1, np.int64), parts=same)) for each in members
    ]
    delays, *_ = delays_of_iterations(job_of(members), sequences, [times_of(each) for each in sequences])
    assert delays.compared == 3
    assert not len(delays.member)


@pytest.mark.parametrize(("stream", "delayed"), [("", [200]), ("stream 1", [])])
def test_who_runs_other_kernels_is_no_peer_where_ranks_are_missing_and_groups_are_not_recorded(
    stream: str, delayed: list[int]
) -> None:
    """It may be of another stage, whose ends agree by chance; where groups are recorded, it has more work."""
    starts, ends = np.array([[0, 300], [0, 500]]), np.array([[100, 600], [100, 600]])
    members = [
        member(rank, start_ns=start, end_ns=end, kernels_before=np.array([0, 3 + rank]))
        for rank, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]
    sequences = [operations([0, 1], starts, ends, stream=stream, lacks_members=True, key=("2", (0, 1), 4))]
    delays = own_delays(job_of(members), sequences, [times_of(each) for each in sequences])
    assert delays.own_delay_ns.tolist() == delayed
